"""What a line of a document said before: in versions that were read earlier, or until it was deleted."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

from msgspec import Struct

from weft.code.languages import language_of
from weft.context.wording import cut, quoted
from weft.documents.lines import split_lines
from weft.errors import WeftError
from weft.instants import to_iso
from weft.log.citation import FileCitation, file_citation
from weft.loom import Loom
from weft.operations.code_records import file_id
from weft.operations.deletions import pages
from weft.operations.document_parts import KINDS, covers, parts_of, words_by_line
from weft.operations.file_lines import MAX_CITED_LINES, FileLines, lines_among
from weft.operations.file_now import lines_of, place_in, read_bytes
from weft.queries import Which
from weft.retrieval.passages import is_of
from weft.types import NOW, Find, NodeVersion, When

MAX_VERSIONS: Final = 8  # of the document that are looked at, the latest first
MAX_READ: Final = 2_000  # parts of those versions, where no chunk begins on the line
MAX_STEPS: Final = 64  # of versions that were not whole, too
MAX_DELETED: Final = 10_000
QUOTED_CHARACTERS: Final = 120


class Earlier(Struct, frozen=True, kw_only=True):
    """What a line said in a version before: the lines of that time, where they stand now, and a note on it."""

    lines: FileLines
    now_at: str
    note: str


def said_earlier(loom: Loom, citation: FileCitation, found: FileLines | None) -> Earlier | None:
    """The last version of a document before today's with other words on the line cited; None if none is near.

    A citation does not tell which version it was taken from. `found` is what the line says today.
    """
    if language_of(citation.path) is not None:
        return None
    today = "" if found is None or found.gap else _said(found, citation.line)
    left = MAX_READ
    for until, when in _versions(loom, citation.path):
        beginning = _beginning_at(loom, citation, when)
        if not beginning and left <= 0:
            continue
        parts = beginning or parts_of(loom, file_id(loom.settings.project, citation.path), citation.path, when=when)
        left -= 0 if beginning else len(parts)
        before = lines_among(loom, citation, parts)
        said = "" if before is None or before.gap else before.known.get(citation.line, "").strip()
        if before is None or not said or said == today:
            continue
        place = _place_now(loom, citation.path, before)
        now_at = "" if place is None else file_citation(citation.path, place[0])
        where = "which is gone"
        if place is not None:
            where = f"which now stands at {now_at}" if place[1] else f"of which the beginning now stands at {now_at}"
        words = quoted(cut(said, QUOTED_CHARACTERS))
        return Earlier(lines=before, now_at=now_at, note=f"until {to_iso(until)} this line said {words}, {where}")
    return None


def _beginning_at(loom: Loom, citation: FileCitation, when: When) -> tuple[NodeVersion, ...]:
    """The chunk that began on the line, as most that are cited do: found at once, however long the document is."""
    document = file_id(loom.settings.project, citation.path)
    on_line = {"line": citation.line, "source": citation.path}
    find = Find(kinds=("Chunk",), projects=(loom.settings.project,), props=on_line)
    nodes = loom.store.find(loom.viewer, when, find, limit=MAX_VERSIONS).nodes
    return tuple(node for node in nodes if is_of(node, document, citation.path))


def _said(found: FileLines, line: int) -> str:
    return found.known.get(line, found.headings.get(line, "")).strip()


def _versions(loom: Loom, path: str) -> Iterator[tuple[int, When]]:
    """The versions of a document before the one that stands, the latest first: until when each stood, and a moment."""
    document = file_id(loom.settings.project, path)
    given, until = 0, None
    when = NOW
    for _ in range(MAX_STEPS):
        node = next(iter(loom.store.nodes(loom.viewer, when, [document])), None)
        if node is None or given > MAX_VERSIONS:
            return
        if node.props.get("sha256"):  # not one that was still being written
            if until is not None:
                yield until, when
            given += 1
            until = node.recorded_at
        when = When(known_at=node.recorded_at - 1)


def _place_now(loom: Loom, path: str, before: FileLines) -> tuple[int, bool] | None:
    """Where a passage of before stands in the document as it was read last."""
    known = words_by_line(parts_of(loom, file_id(loom.settings.project, path), path))
    return place_in([known.get(n, "") for n in range(1, max(known, default=0) + 1)], before)


# What was deleted


def deleted_note(loom: Loom, citation: FileCitation, found: FileLines | None) -> tuple[str, bool]:
    """That something on the lines cited was deleted, and whether on the first of them; nothing where it was not.

    Of what stays in sight no line is looked at: a deleted part has the lines that it had then.
    """
    if language_of(citation.path) is not None:
        return "", False
    shown = citation.line if found is None or found.gap else found.shown[1]
    last = min(citation.end_line or shown, citation.line + MAX_CITED_LINES)
    missing = [n for n in range(citation.line, last + 1) if found is None or not _said(found, n)]
    parts = _deleted_parts(loom, citation.path) if missing else []
    if not parts:
        return "", False
    raw = read_bytes(loom.settings.root, citation.path)
    try:
        lines = lines_of(loom, citation.path, raw) if raw is not None else None
    except WeftError:  # then by their numbers
        lines = None
    for n in missing:
        for part in parts:
            if _stood(part, n, lines):
                assert part.deleted_at is not None
                day = to_iso(part.deleted_at)[:10]
                note = f"what stood on line {n} was deleted on {day}: `weft restore {part.id}` brings it back"
                return note, n == citation.line
    return "", False


def _stood(part: NodeVersion, line: int, lines: list[str] | None) -> bool:
    """Whether a deleted part says what the file says on a line; without the file, whether it stood there."""
    if lines is None:
        return covers(part, line)
    said = lines[line - 1].strip() if line <= len(lines) else ""
    heading = part.kind == "Section" and bool(part.name) and said.strip("# ") == part.name
    return bool(said) and (heading or said in map(str.strip, split_lines(part.text)))


def _deleted_parts(loom: Loom, path: str) -> list[NodeVersion]:
    document = file_id(loom.settings.project, path)
    found = pages(loom, Which(id_prefix=f"{document}#", kinds=KINDS, deleted=True))
    return [node for node in islice(found, MAX_DELETED) if is_of(node, document, path)]
