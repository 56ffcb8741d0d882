"""Reads one row of a file of records: its fields and its shape, which decides the node it becomes (see `Shape`)."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from pathlib import PurePosixPath
from typing import Any, Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from weft.core.errors import Invalid
from weft.text.extract.speakers import TranscriptTurn, read_speaker, split_at, split_transcript, spoken_by
from weft.text.extract.time.dates import MAX_NUMBER, DateRead, read_date

# passage: a text with a title · turn: one turn of a conversation · session: a conversation as a whole ·
# file: a source file · snippet: a piece of code without a path · memory: any other text
Shape = Literal["passage", "turn", "session", "file", "snippet", "memory"]

MAX_TEXT_CHARACTERS: Final = 900_000  # an event holds a million bytes
MAX_NAME_CHARACTERS: Final = 512
UNIT_SEPARATOR: Final = "\x1f"  # not allowed in ids: see `weft.graph.moves`
_DEFINITION = re.compile(r"^[ \t]*(?:async[ \t]+def|def|class)[ \t]+\w+", re.MULTILINE)


class InputRecord(Struct, frozen=True, kw_only=True):
    """A parsed row. `at` is its date in microseconds; `notes` name the parts that were not understood.

    `text` is the content of a passage, turn, file, snippet or memory; a session's content is its `turns`. `speaker` is
    a name, `role` a plain role (user, assistant, …); both only for turns.
    """

    id: str
    shape: Shape
    text: str
    title: str = ""
    at: int | None = None
    session: str = ""
    path: str = ""
    speaker: str = ""
    role: str = ""
    turns: tuple[TranscriptTurn, ...] = ()
    notes: tuple[str, ...] = ()


def read_record(row: Any, *, source_suffixes: Collection[str] = ()) -> InputRecord:
    """One row as a record; a path with one of these suffixes is source code.

    Raises Invalid with the reason for a row that is not a record.
    """
    if not isinstance(row, Mapping):
        raise Invalid("the row is not an object", hint='write one {"id": "1", "text": "…"} per line')
    text = row.get("text")
    if not isinstance(text, str) or not text.strip():
        raise Invalid("the row has no text", hint="put the words to keep into `text`")
    if len(text) > MAX_TEXT_CHARACTERS:
        raise Invalid(f"the text is longer than {MAX_TEXT_CHARACTERS:,} characters", hint="split it")
    _check_characters(text, "text")
    fields = {name: _name(row, name) for name in ("id", "session", "title", "path", "speaker", "role")}
    if not fields["id"].strip():
        raise Invalid("the row has no id", hint="give it one: it identifies the record when the file is read again")
    read = DateRead(at=None) if row.get("date") in (None, "") else read_date(row["date"])
    record = InputRecord(
        id=fields["id"],
        shape="memory",
        text=text,
        title=fields["title"],
        at=read.at,
        session=fields["session"],
        path=fields["path"],
        notes=(read.note,) if read.note else (),
    )
    if record.session:
        return _turn(record, fields["speaker"] or fields["role"])
    if record.path and PurePosixPath(record.path).suffix.lower() in source_suffixes:
        return replace(record, shape="file")
    return _whole(record, row.get("turn_offsets"))


def _turn(record: InputRecord, who: str) -> InputRecord:
    spoken = spoken_by(who, record.text) if who else read_speaker(record.text)
    if not spoken.text.strip():
        raise Invalid("the turn has a speaker but no words", hint="put the words to keep into `text`")
    return replace(record, shape="turn", text=spoken.text, speaker=spoken.speaker, role=spoken.role)


def _whole(record: InputRecord, offsets: Any) -> InputRecord:
    """A whole conversation, if the row gives the offsets of its turns or the text looks like one; else by its other
    fields.
    """
    if offsets is not None:
        try:
            if not isinstance(offsets, list | tuple):
                raise ValueError("turn_offsets is not a list")
            return replace(record, shape="session", turns=split_at(record.text, offsets))
        except ValueError as problem:
            record = replace(record, notes=(*record.notes, f"its turn_offsets are ignored: {problem}"))
    turns = () if record.title or record.path else split_transcript(record.text)
    return replace(record, shape="session", turns=turns) if turns else _by_looks(record)


def _by_looks(record: InputRecord) -> InputRecord:
    if title := record.title or record.path:
        first, _, rest = record.text.partition("\n")
        body = rest.strip("\r\n") if first.strip() == title else record.text
        return replace(record, shape="passage", title=title, text=body)
    return replace(record, shape="snippet" if _DEFINITION.search(record.text) else "memory")


def _name(row: Mapping[str, Any], name: str) -> str:
    """A short string or whole number of a row, as text; "" if it is absent."""
    value = row.get(name)
    if value is None:
        return ""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < MAX_NUMBER:
        return str(value)
    if not isinstance(value, str):
        raise Invalid(f"{name} is neither a string nor a whole number", hint=f'write "{name}": "…"')
    if len(value) > MAX_NAME_CHARACTERS:
        raise Invalid(f"{name} is longer than {MAX_NAME_CHARACTERS} characters", hint="shorten it")
    _check_characters(value, name)
    return value if name == "id" else value.strip()


def _check_characters(text: str, name: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as problem:
        raise Invalid(f"{name} has a lone surrogate, which is not valid text", hint="write it as UTF-8") from problem
    if UNIT_SEPARATOR in text[: MAX_NAME_CHARACTERS + 1] and name != "text":
        raise Invalid(f"{name} has a unit separator (U+001F)", hint="remove it")
