"""Records that are source code: a file, or a piece of Python."""

from __future__ import annotations

import hashlib

from msgspec.structs import asdict, replace

from weft.code.languages import language_of
from weft.extract.records import Record
from weft.log.draft import Draft
from weft.log.kinds import memory
from weft.loom import Loom
from weft.operations.code_reader import reader_of
from weft.operations.code_records import Source, file_id, index, is_version
from weft.operations.conversations import LATEST
from weft.types import Guard


def file_draft(loom: Loom, guard: Guard, record: Record) -> Draft | None:
    """The event of a record with a path to source code; None where the graph says all of it already.

    Raises TooLarge for a file that is too long, Invalid for one that is in no known language or takes too much to read.
    """
    digest = hashlib.sha256(record.text.encode()).hexdigest()
    source = Source(path=record.path, sha256=digest, at=record.at, record=record.id)
    language = language_of(record.path)
    known = next(iter(loom.store.nodes(loom.viewer, LATEST, [file_id(guard.project, record.path)])), None)
    if known is not None and language is not None and is_version(known, guard, source, language.name):
        return None
    return index(loom, guard, replace(source, read=reader_of(loom).source(record.text, record.path)), known).draft


def snippet_draft(loom: Loom, node_id: str, guard: Guard, record: Record) -> Draft | None:
    """The event of a record whose text is a piece of Python that defines something; None where it is not."""
    snippet = reader_of(loom).snippet(record.text)
    if snippet is None:
        return None
    payload = memory.Remembered(
        id=node_id,
        node_kind=snippet.kind,
        name=snippet.name,
        summary=snippet.docstring,
        text=record.text,
        props={"record": record.id},
        **asdict(guard),
    )
    return Draft(kind="memory.remembered", payload=payload, occurred_at=record.at)
