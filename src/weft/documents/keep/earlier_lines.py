"""Earlier content of a document's line: in previous versions, or before it was deleted."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

from msgspec import Struct

from weft.context.wording import cut, quoted
from weft.core.clock import to_iso
from weft.core.errors import WeftError
from weft.core.queries import NodeFilter
from weft.core.types import NOW, Find, NodeVersion, When
from weft.documents.keep.file_now import lines_of, place_in, read_bytes
from weft.files.languages import language_of
from weft.log.citation import FileCitation, file_citation
from weft.retrieval.citations.cited_lines import MAX_CITED_LINES, FileLines, lines_among
from weft.retrieval.citations.document_parts import KINDS, covers, parts_of, words_by_line
from weft.retrieval.citations.file_ids import file_id
from weft.retrieval.scoring.passages import is_of
from weft.runtime.call_context import CallContext
from weft.text.lines import split_lines
from weft.writing.build.deletions import pages

MAX_VERSIONS: Final = 8  # earlier versions that are compared, the latest first
MAX_READ: Final = 2_000  # parts of those versions, if no chunk begins on the line
MAX_STEPS: Final = 64  # including versions that were not complete
MAX_DELETED: Final = 10_000
QUOTED_CHARACTERS: Final = 120


class EarlierLines(Struct, frozen=True, kw_only=True):
    """An earlier content of a line: the lines of that version, where they are now, and a note."""

    lines: FileLines
    now_at: str
    note: str


def said_earlier(ctx: CallContext, citation: FileCitation, found: FileLines | None) -> EarlierLines | None:
    """The last earlier version of a document with other words on the cited line; None if none is near.

    A citation does not name the version it was taken from. `found` is the current content of the line.
    """
    if language_of(citation.path) is not None:
        return None
    today = "" if found is None or found.gap else _said(found, citation.line)
    left = MAX_READ
    for until, when in _versions(ctx, citation.path):
        beginning = _beginning_at(ctx, citation, when)
        if not beginning and left <= 0:
            continue
        parts = beginning or parts_of(ctx, file_id(ctx.settings.project, citation.path), citation.path, when=when)
        left -= 0 if beginning else len(parts)
        before = lines_among(ctx, citation, parts)
        said = "" if before is None or before.gap else before.known.get(citation.line, "").strip()
        if before is None or not said or said == today:
            continue
        place = _place_now(ctx, citation.path, before)
        now_at = "" if place is None else file_citation(citation.path, place[0])
        where = "which is no longer in it"
        if place is not None:
            where = f"which is now at {now_at}" if place[1] else f"whose beginning is now at {now_at}"
        words = quoted(cut(said, QUOTED_CHARACTERS))
        return EarlierLines(lines=before, now_at=now_at, note=f"until {to_iso(until)} this line was {words}, {where}")
    return None


def _beginning_at(ctx: CallContext, citation: FileCitation, when: When) -> tuple[NodeVersion, ...]:
    """The chunk that began on the line, as most cited ones do: an indexed lookup, however long the document is."""
    document = file_id(ctx.settings.project, citation.path)
    on_line = {"line": citation.line, "source": citation.path}
    find = Find(kinds=("Chunk",), projects=(ctx.settings.project,), props=on_line)
    nodes = ctx.store.find(ctx.viewer, when, find, limit=MAX_VERSIONS).nodes
    return tuple(node for node in nodes if is_of(node, document, citation.path))


def _said(found: FileLines, line: int) -> str:
    return found.known.get(line, found.headings.get(line, "")).strip()


def _versions(ctx: CallContext, path: str) -> Iterator[tuple[int, When]]:
    """(until when it was current, a time at which it was) of each earlier version, the latest first."""
    document = file_id(ctx.settings.project, path)
    given, until = 0, None
    when = NOW
    for _ in range(MAX_STEPS):
        node = next(iter(ctx.store.nodes(ctx.viewer, when, [document])), None)
        if node is None or given > MAX_VERSIONS:
            return
        if node.props.get("sha256"):  # not an incomplete version
            if until is not None:
                yield until, when
            given += 1
            until = node.recorded_at
        when = When(known_at=node.recorded_at - 1)


def _place_now(ctx: CallContext, path: str, before: FileLines) -> tuple[int, bool] | None:
    """Where an earlier passage is in the document as last read."""
    known = words_by_line(parts_of(ctx, file_id(ctx.settings.project, path), path))
    return place_in([known.get(n, "") for n in range(1, max(known, default=0) + 1)], before)


# ---- deleted lines


def deleted_note(ctx: CallContext, citation: FileCitation, found: FileLines | None) -> tuple[str, bool]:
    """A note if a cited line was deleted, and whether it is the first one; ("", False) if none was.

    Visible lines are not checked: a deleted part keeps the line numbers of its time.
    """
    if language_of(citation.path) is not None:
        return "", False
    shown = citation.line if found is None or found.gap else found.shown[1]
    last = min(citation.end_line or shown, citation.line + MAX_CITED_LINES)
    missing = [n for n in range(citation.line, last + 1) if found is None or not _said(found, n)]
    parts = _deleted_parts(ctx, citation.path) if missing else []
    if not parts:
        return "", False
    raw = read_bytes(ctx.settings.root, citation.path)
    try:
        lines = lines_of(ctx, citation.path, raw) if raw is not None else None
    except WeftError:  # compare by line numbers
        lines = None
    for n in missing:
        for part in parts:
            if _stood(part, n, lines):
                assert part.deleted_at is not None
                day = to_iso(part.deleted_at)[:10]
                note = f"the content of line {n} was deleted on {day}: `weft restore {part.id}` brings it back"
                return note, n == citation.line
    return "", False


def _stood(part: NodeVersion, line: int, lines: list[str] | None) -> bool:
    """Whether a deleted part contains the file's text on a line; without the file, whether it covered the line."""
    if lines is None:
        return covers(part, line)
    said = lines[line - 1].strip() if line <= len(lines) else ""
    heading = part.kind == "Section" and bool(part.name) and said.strip("# ") == part.name
    return bool(said) and (heading or said in map(str.strip, split_lines(part.text)))


def _deleted_parts(ctx: CallContext, path: str) -> list[NodeVersion]:
    document = file_id(ctx.settings.project, path)
    found = pages(ctx, NodeFilter(id_prefix=f"{document}#", kinds=KINDS, deleted=True))
    return [node for node in islice(found, MAX_DELETED) if is_of(node, document, path)]
