"""The files a bench reads and writes: a corpus, questions, a run. One JSON object a line, one bad line is one error.

Of a question only `id`, `scope`, `query` and `asked_at` are read, so that an answer written beside it cannot help.
"""

from __future__ import annotations

import codecs
import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta, Struct

from weft.errors import Invalid, NotFound, StoreError, TooLarge
from weft.operations.fields import Label
from weft.operations.paths import read_path

MAX_LINES = 1_000_000
MAX_LINE_BYTES = 16_000_000

Id = Annotated[str, Meta(min_length=1, max_length=512)]
Row = dict[str, Any]


class Question(Struct, frozen=True, kw_only=True):
    """What a bench may know of a question."""

    id: Id
    scope: Label
    query: str
    asked_at: str | None = None


class Corpus(Struct, frozen=True, kw_only=True):
    """Rows by scope, in the order of the file, and what file it was."""

    rows: Mapping[str, list[Row]]
    sha256: str
    text_bytes: int

    @property
    def count(self) -> int:
        return sum(map(len, self.rows.values()))


class _Key(Struct, frozen=True, kw_only=True):
    """What every row of a corpus must have; the rest is for ingestion to read."""

    id: Id
    scope: Label
    text: str


Kept = TypeVar("Kept", bound=Struct)


def read_corpus(path: Path) -> Corpus:
    """All rows. Raises Invalid with the line's number for one that is no row, or whose id its scope has already."""
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


def read_questions(path: Path) -> tuple[Question, ...]:
    """All questions, in order. Raises Invalid with the line's number for one that is none, or asked before."""
    found = []
    seen: dict[tuple[str, str], int] = {}
    for number, line in _lines(path):
        question = _decoded(line, Question, path, number)
        _only_once(seen, ("", question.id), path, number)
        found.append(question)
    if not found:
        raise Invalid(f"{path} holds no questions", hint='a question is {"id": …, "scope": …, "query": …}, one a line')
    return tuple(found)


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Numbered lines from 1, blank ones passed over."""
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
    """Where a run goes. Tried at the start, so that an hour's work never ends at a directory that is not there."""

    def __init__(self, written: str) -> None:
        self.path = read_path(written)
        self._part = self.path.with_name(self.path.name + ".part")
        if self.path.is_dir():
            raise Invalid(f"{self.path} is a directory", hint="name a file, such as run.json")
        self._put(b"")

    def write(self, ranked: Mapping[str, list[str]]) -> None:
        """The whole run, or nothing of it."""
        self._put(msgspec.json.encode(ranked))
        self._part.replace(self.path)

    def drop(self) -> None:
        """Takes away what an unfinished run left."""
        self._part.unlink(missing_ok=True)

    def _put(self, content: bytes) -> None:
        try:
            self._part.write_bytes(content)
        except OSError as problem:
            raise StoreError(
                f"{self.path} cannot be written: {problem.strerror}", hint="name a file in a directory you may write to"
            ) from problem
