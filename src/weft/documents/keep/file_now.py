"""Comparison of ingested lines with the file as it is today."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from weft.core.clock import to_iso
from weft.core.errors import WeftError
from weft.core.types import NOW, When
from weft.files.document_suffixes import form_of
from weft.files.languages import language_of
from weft.log.citation import FileCitation, file_citation
from weft.retrieval.citations.cited_lines import FileLines
from weft.retrieval.citations.file_ids import file_id
from weft.runtime.call_context import CallContext
from weft.text.lines import split_lines

MAX_CITED_BYTES: Final = 10_000_000
BEGINNING: Final = 3  # lines of a changed passage by which it is found again
DISTINCT_CHARACTERS: Final = 12  # a shorter line may match by chance


class LineComparison(Struct, frozen=True, kw_only=True):
    """Whether the file still has the cited lines there, else where they are now, if anywhere. `lines` are shown."""

    matches: bool
    lines: tuple[str, ...]
    now_at: str = ""
    notes: tuple[str, ...] = ()


def compared(ctx: CallContext, citation: FileCitation, found: FileLines, when: When = NOW) -> LineComparison:
    """Compares the ingested lines of the cited passage with the file, line by line."""
    raw = read_bytes(ctx.settings.root, citation.path)
    if raw is None:
        gone = "the file is missing or unreadable; these are the lines as ingested"
        return LineComparison(matches=False, lines=found.lines, notes=(gone,))
    if _is_same_file(found.ctx, citation.path, raw, when):
        return LineComparison(matches=True, lines=_with_adornments(ctx, citation.path, raw, found))
    day = to_iso(found.nodes[0].recorded_at)[:10]
    try:
        lines = lines_of(ctx, citation.path, raw)
    except WeftError as problem:
        told = f"the file changed since it was ingested on {day}, and cannot be compared: {problem.message}"
        return LineComparison(matches=False, lines=found.lines, notes=(f"{told}; these are the lines as ingested",))
    if found.numbers and all(lines[n - 1 : n] == [found.known[n]] for n in found.numbers):
        return LineComparison(matches=True, lines=found.lines)
    changed = f"the file changed since it was ingested on {day}; these are the lines as ingested"
    place = place_in(lines, found)
    if place is None:
        return LineComparison(matches=False, lines=found.lines, notes=(changed,))
    line, whole = place
    now_at = file_citation(citation.path, line)
    told = f"now at {now_at}" if whole else f"changed; its beginning is now at {now_at}"
    return LineComparison(matches=False, lines=found.lines, now_at=now_at, notes=(changed, told))


def _is_same_file(ctx: CallContext, path: str, raw: bytes, when: When) -> bool:
    """Whether these are the ingested bytes. Source code is compared by lines, as versions may be records."""
    if language_of(path) is not None or len(raw) >= MAX_CITED_BYTES:
        return False
    nodes = ctx.store.nodes(ctx.viewer, when, [file_id(ctx.settings.project, path)])
    known = next((node.props.get("sha256") for node in nodes if node.kind == "Document"), None)
    return bool(known) and known == hashlib.sha256(raw).hexdigest()


def lines_of(ctx: CallContext, path: str, raw: bytes) -> list[str]:
    """The lines of a file's text, numbered as when it is ingested. Raises WeftError if it has no text."""
    form = form_of(path) if language_of(path) is None else None
    if form is not None:
        from weft.documents.formats.read import read_text  # its parsers load slowly

        text = read_text(raw, form)
    else:
        text = raw.decode("utf-8-sig", errors="replace")
    return split_lines(ctx.privacy.fresh().redact(text))


def _with_adornments(ctx: CallContext, path: str, raw: bytes, found: FileLines) -> tuple[str, ...]:
    """The lines for display, with heading adornments, which are not stored, from the unchanged file.

    Adornments have no words, so nothing deleted is revealed.
    """
    form = form_of(path)
    asked = [n for n in found.headings if found.shown[0] <= n + 2 and n <= found.shown[1]]
    if not asked or form is None or form.extracted or language_of(path) is not None:
        return found.lines
    lines = lines_of(ctx, path, raw)
    headings = dict(found.headings)
    for first in asked:
        title = headings.pop(first)
        for n in range(first, min(first + 3, len(lines) + 1)):
            said = lines[n - 1]
            if not said.strip():
                break
            if not any(map(str.isalnum, said)):
                headings[n] = said
            elif title:
                headings[n], title = said if title.lstrip("# ") in said else title, ""
    return replace(found, headings=headings).lines


def place_in(lines: Sequence[str], found: FileLines) -> tuple[int, bool] | None:
    """(line, whole passage found) of the cited line in these lines, the nearest of several.

    Searched by the whole passage, then by the cited lines, then by the beginning of the passage.
    """
    if not found.numbers:
        return None
    first, cited = found.numbers[0], found.shown[0]
    passage = [found.known.get(n, "") for n in range(first, found.numbers[-1] + 1)]
    told = [found.known.get(n, "") for n in range(cited, found.shown[1] + 1)]
    for sought, offset, whole in ((passage, cited - first, True), (told, 0, True), (passage[:BEGINNING], 0, False)):
        if len("".join(sought).strip()) < DISTINCT_CHARACTERS:
            continue
        starts = _starts(lines, sought)
        if starts:
            wanted = cited if whole else first
            return min((at + 1 + offset for at in starts), key=lambda line: abs(line - wanted)), whole
    begins = next((line for line in passage if len(line.strip()) >= DISTINCT_CHARACTERS), "")
    starts = _starts(lines, [begins]) if begins else []
    return (starts[0] + 1, False) if len(starts) == 1 else None


def _starts(lines: Sequence[str], sought: list[str]) -> list[int]:
    """Positions at which these lines occur consecutively, from 0."""
    size = len(sought)
    return [at for at, line in enumerate(lines) if line == sought[0] and list(lines[at : at + size]) == sought]


def read_bytes(root: Path, path: str) -> bytes | None:
    """The file's bytes, or None if unreadable. Never reads outside the project's directory."""
    try:
        target = (root / path).resolve()
        if not target.is_relative_to(root.resolve()) or not target.is_file():
            return None
        with target.open("rb") as file:
            return file.read(MAX_CITED_BYTES)
    except (OSError, RuntimeError):  # reported in a note; a loop of links is a RuntimeError
        return None
