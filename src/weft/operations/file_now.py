"""Where lines that were ingested stand in the file as it is today."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from weft.code.languages import language_of
from weft.documents.forms import form_of
from weft.documents.lines import split_lines
from weft.errors import WeftError
from weft.instants import to_iso
from weft.log.citation import FileCitation, file_citation
from weft.loom import Loom
from weft.operations.code_records import file_id
from weft.operations.file_lines import FileLines
from weft.types import NOW, When

MAX_CITED_BYTES: Final = 10_000_000
BEGINNING: Final = 3  # lines of a passage by which it is found again where it was changed
DISTINCT_CHARACTERS: Final = 12  # a shorter line may stand anywhere by chance


class Compared(Struct, frozen=True, kw_only=True):
    """Whether the file still says so where it was cited; else where it says so now, if anywhere. `lines` are told."""

    matches: bool
    lines: tuple[str, ...]
    now_at: str = ""
    notes: tuple[str, ...] = ()


def compared(loom: Loom, citation: FileCitation, found: FileLines, when: When = NOW) -> Compared:
    """Whether the file still says, line by line, what was ingested of the passage cited."""
    raw = read_bytes(loom.settings.root, citation.path)
    if raw is None:
        gone = "the file cannot be read or is gone; these are the lines as they were ingested"
        return Compared(matches=False, lines=found.lines, notes=(gone,))
    if _is_same_file(found.loom, citation.path, raw, when):
        return Compared(matches=True, lines=_with_adornments(loom, citation.path, raw, found))
    day = to_iso(found.nodes[0].recorded_at)[:10]
    try:
        lines = lines_of(loom, citation.path, raw)
    except WeftError as problem:
        told = f"the file is not the one that was ingested on {day}, and cannot be compared with it: {problem.message}"
        return Compared(matches=False, lines=found.lines, notes=(f"{told}; these are the lines as they were ingested",))
    if found.numbers and all(lines[n - 1 : n] == [found.known[n]] for n in found.numbers):
        return Compared(matches=True, lines=found.lines)
    changed = f"the file changed since it was ingested on {day}; these are the lines as they were then"
    place = place_in(lines, found)
    if place is None:
        return Compared(matches=False, lines=found.lines, notes=(changed,))
    line, whole = place
    now_at = file_citation(citation.path, line)
    told = f"now at {now_at}" if whole else f"changed itself; its beginning is now at {now_at}"
    return Compared(matches=False, lines=found.lines, now_at=now_at, notes=(changed, told))


def _is_same_file(loom: Loom, path: str, raw: bytes, when: When) -> bool:
    """Whether these are the bytes that were ingested. Of source code, lines are compared: versions may be records."""
    if language_of(path) is not None or len(raw) >= MAX_CITED_BYTES:
        return False
    nodes = loom.store.nodes(loom.viewer, when, [file_id(loom.settings.project, path)])
    known = next((node.props.get("sha256") for node in nodes if node.kind == "Document"), None)
    return bool(known) and known == hashlib.sha256(raw).hexdigest()


def lines_of(loom: Loom, path: str, raw: bytes) -> list[str]:
    """The lines of a file's text, as they are counted when it is ingested. Raises WeftError where it has none."""
    form = form_of(path) if language_of(path) is None else None
    if form is not None:
        from weft.documents.reading import read_text  # its parsers take a while to load

        text = read_text(raw, form)
    else:
        text = raw.decode("utf-8-sig", errors="replace")
    return split_lines(loom.screen.fresh().redact(text))


def _with_adornments(loom: Loom, path: str, raw: bytes, found: FileLines) -> tuple[str, ...]:
    """The lines that are told, with those over and under headings, which are not kept, from the same file as it is.

    They hold no word: what was deleted is not told in this way.
    """
    form = form_of(path)
    asked = [n for n in found.headings if found.shown[0] <= n + 2 and n <= found.shown[1]]
    if not asked or form is None or form.extracted or language_of(path) is not None:
        return found.lines
    lines = lines_of(loom, path, raw)
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
    """Where the line that was cited stands in these, and whether by all of its passage; the nearest place of several.

    By the whole passage, else by the lines that were cited, else by how the passage begins.
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
    """Where these lines stand, one after the other: places from 0."""
    size = len(sought)
    return [at for at, line in enumerate(lines) if line == sought[0] and list(lines[at : at + size]) == sought]


def read_bytes(root: Path, path: str) -> bytes | None:
    """The file's bytes, or None if it cannot be read. Never reads outside the project's directory."""
    try:
        target = (root / path).resolve()
        if not target.is_relative_to(root.resolve()) or not target.is_file():
            return None
        with target.open("rb") as file:
            return file.read(MAX_CITED_BYTES)
    except (OSError, RuntimeError):  # the answer says so in a note; a loop of links is a RuntimeError
        return None
