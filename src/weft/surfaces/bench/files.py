"""Files of a bench, as JSON lines: corpus, questions, run. The first bad line is an error.

Only `id`, `scope`, `query` and `asked_at` of a question are read, so that gold answers beside it cannot leak.
"""

from __future__ import annotations

import codecs
import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta, Struct

from weft.core.errors import Invalid, NotFound, StoreError, TooLarge
from weft.files.paths import read_path
from weft.runtime.fields import Label

MAX_LINES = 1_000_000
MAX_LINE_BYTES = 16_000_000

Id = Annotated[str, Meta(min_length=1, max_length=512)]
Row = dict[str, Any]


class BenchQuestion(Struct, frozen=True, kw_only=True):
    """The fields of a question that a bench may use."""

    id: Id
    scope: Label
    query: str
    asked_at: str | None = None


class Corpus(Struct, frozen=True, kw_only=True):
    """Rows by scope in file order, and the identity of the file."""

    rows: Mapping[str, list[Row]]
    sha256: str
    text_bytes: int

    @property
    def count(self) -> int:
        return sum(map(len, self.rows.values()))


class _Key(Struct, frozen=True, kw_only=True):
    """The required fields of a corpus row; ingestion reads the rest."""

    id: Id
    scope: Label
    text: str


Kept = TypeVar("Kept", bound=Struct)


def read_corpus(path: Path) -> Corpus:
    """All rows. Raises Invalid with the line number for a bad row or a repeated id in a scope."""
    digest = hashlib.sha256()
    rows: dict[str, list[Row]] = {}
    text_bytes = 0
    seen: dict[tuple[str, str], int] = {}
    for number, line in _lines(path):
        digest.update(line)
        key = _decoded(line, _Key, path, number)
        _only_once(seen, (key.scope, key.id), path, number)
        row: Row = msgspec.json.decode(line)
        del row["scope"]
        rows.setdefault(key.scope, []).append(row)
        text_bytes += len(key.text.encode())
    if not rows:
        raise Invalid(f"{path} holds no rows", hint='a row is {"id": …, "scope": …, "text": …}, one a line')
    return Corpus(rows=rows, sha256=digest.hexdigest(), text_bytes=text_bytes)


def read_questions(path: Path) -> tuple[BenchQuestion, ...]:
    """All questions in order. Raises Invalid with the line number for a bad or repeated one."""
    found = []
    seen: dict[tuple[str, str], int] = {}
    for number, line in _lines(path):
        question = _decoded(line, BenchQuestion, path, number)
        _only_once(seen, ("", question.id), path, number)
        found.append(question)
    if not found:
        raise Invalid(f"{path} holds no questions", hint='a question is {"id": …, "scope": …, "query": …}, one a line')
    return tuple(found)


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Lines with numbers from 1, without blank ones."""
    try:
        with path.open("rb") as file:
            for number, line in enumerate(iter(lambda: file.readline(MAX_LINE_BYTES + 1), b""), start=1):
                if len(line) > MAX_LINE_BYTES:
                    raise TooLarge(f"{path}, line {number}: over {MAX_LINE_BYTES:,} bytes", hint="split its text")
                if number > MAX_LINES:
                    raise TooLarge(f"{path} has over {MAX_LINES:,} lines", hint="split the file")
                plain = line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
                if plain.strip():
                    yield number, plain
    except FileNotFoundError as problem:
        raise NotFound(f"there is no {path}", hint="give a file of JSON lines") from problem
    except OSError as problem:
        raise StoreError(f"{path} cannot be read: {problem.strerror}", hint="check its name and rights") from problem


def _decoded(line: bytes, kind: type[Kept], path: Path, number: int) -> Kept:
    try:
        return msgspec.json.decode(line, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        needs = ", ".join(field.name for field in msgspec.structs.fields(kind) if field.required)
        raise Invalid(f"{path}, line {number}: {problem}", hint=f"each line is a JSON object with {needs}") from problem


def _only_once(seen: dict[tuple[str, str], int], key: tuple[str, str], path: Path, number: int) -> None:
    if key in seen:
        raise Invalid(f"{path}, line {number}: the id {key[1]!r} is on line {seen[key]} too", hint="ids are told apart")
    seen[key] = number


class RunFile:
    """The output file of a run, checked at the start rather than after an hour's work."""

    def __init__(self, written: str) -> None:
        self.path = read_path(written)
        self._part = self.path.with_name(self.path.name + ".part")
        if self.path.is_dir():
            raise Invalid(f"{self.path} is a directory", hint="name a file, such as run.json")
        self._put(b"")

    def write(self, ranked: Mapping[str, list[str]]) -> None:
        """Writes the run atomically."""
        self._put(msgspec.json.encode(ranked))
        self._part.replace(self.path)

    def drop(self) -> None:
        """Removes the draft of an unfinished run."""
        self._part.unlink(missing_ok=True)

    def _put(self, content: bytes) -> None:
        try:
            self._part.write_bytes(content)
        except OSError as problem:
            raise StoreError(
                f"{self.path} cannot be written: {problem.strerror}", hint="name a file in a directory you may write to"
            ) from problem
