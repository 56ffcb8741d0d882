"""What a citation of a file's line points at, as it was ingested, and where that stands in the file today."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from weft.code.languages import language_of
from weft.documents.forms import form_of
from weft.documents.lines import split_lines
from weft.errors import WeftError
from weft.instants import to_iso
from weft.log.citation import FileCitation, file_citation
from weft.loom import Loom
from weft.operations.code_records import SYMBOL_KINDS, file_id, spans_of, symbol_prefix
from weft.operations.document_parts import (
    covers,
    first_line,
    heading_line,
    is_markdown,
    last_line,
    parts_of,
    words_by_line,
)
from weft.retrieval.subscriptions import as_subscriber, fits_a_topic
from weft.types import NOW, Find, NodeVersion

MAX_CITED_BYTES: Final = 10_000_000
MAX_CITED_LINES: Final = 200
MAX_SYMBOLS: Final = 10_000
MAX_NODES: Final = 20  # parts of a document that one citation of several lines names
BEGINNING: Final = 3  # lines of a passage by which it is found again where it was changed
DISTINCT_CHARACTERS: Final = 12  # a shorter line may stand anywhere by chance


class FileLines(Struct, frozen=True, kw_only=True):
    """Lines of a file as they were ingested: `known` by number, the passage that they belong to as `numbers`.

    `shown` are the first and the last that are told. `nodes` are what was cited; `cut` says where it was cut.
    """

    loom: Loom
    nodes: tuple[NodeVersion, ...]
    known: Mapping[int, str]
    numbers: tuple[int, ...]
    shown: tuple[int, int]
    headings: Mapping[int, str] = {}
    cut: str = ""

    @property
    def place(self) -> str:
        """Where a reader finds it in a file that has no lines of its own; nothing for others."""
        node = self.nodes[0]
        form = form_of(str(node.props.get("source", "")))
        if node.kind not in ("Chunk", "Section") or form is None or not form.extracted:
            return ""
        page = node.props.get("page")
        on = f" of page {page}" if isinstance(page, int) else ""
        return f"lines are counted in the text that was taken out of the file{on}"

    @property
    def lines(self) -> tuple[str, ...]:
        """What is told: every line of a document, of source code those that are the symbol's own."""
        first, last = self.shown
        every = range(first, last + 1)
        if self.nodes[0].kind in ("Chunk", "Section"):
            return tuple(self.known.get(number, self.headings.get(number, "")) for number in every)
        return tuple(self.known[number] for number in every if number in self.known)


class Compared(Struct, frozen=True, kw_only=True):
    """Whether the file still says so where it was cited; else where it says so now, if anywhere."""

    matches: bool
    now_at: str = ""
    notes: tuple[str, ...] = ()


def cited_lines(loom: Loom, citation: FileCitation) -> FileLines | None:
    """What was ingested of the lines cited, by what the caller may see or follows; None where that is nothing."""
    read = _of_code if language_of(citation.path) is not None else _of_document
    nodes = _nodes_of(loom, citation.path)
    if not any(covers(node, citation.line) for node in nodes) and loom.settings.keywords:
        topics, loom = loom, as_subscriber(loom)
        nodes = tuple(node for node in _nodes_of(loom, citation.path) if fits_a_topic(topics, node))
    return read(loom, citation, nodes)


def node_at(loom: Loom, citation: FileCitation) -> str | None:
    """The id of the chunk, section or symbol that holds a line."""
    found = cited_lines(loom, citation)
    return None if found is None else found.nodes[0].id


def _nodes_of(loom: Loom, path: str) -> tuple[NodeVersion, ...]:
    """The sections and chunks of a document; the symbols of a source file, and what stands outside them."""
    project = loom.settings.project
    if language_of(path) is None:
        return parts_of(loom, file_id(project, path), path)
    find = Find(kinds=SYMBOL_KINDS, id_prefix=symbol_prefix(project, path))
    symbols = loom.store.find(loom.viewer, NOW, find, limit=MAX_SYMBOLS).nodes
    files = loom.store.nodes(loom.viewer, NOW, [file_id(project, path)])
    return tuple(node for node in (*files, *symbols) if node.props.get("source") == path)


def _of_document(loom: Loom, citation: FileCitation, parts: Sequence[NodeVersion]) -> FileLines | None:
    """The chunk that holds the line, else the section; with a range, all chunks that it touches."""
    around = [node for node in parts if covers(node, citation.line)]
    if not around:
        return None
    best = max(around, key=lambda node: (node.kind == "Chunk", bool(node.text), first_line(node)))
    last = max(citation.end_line or last_line(best), citation.line)
    end = min(last, citation.line + MAX_CITED_LINES - 1)
    texts = [node for node in parts if node.text]
    touched = [node for node in texts if first_line(node) <= end and last_line(node) >= citation.line]
    others = [node for node in touched if node.id != best.id] if citation.end_line is not None else []
    nodes = (best, *others)
    known = words_by_line(texts)
    numbers = sorted({n for each in nodes for n in range(first_line(each), last_line(each) + 1) if n in known})
    end = min(end, max([last_line(each) for each in nodes]))
    return FileLines(
        loom=loom,
        nodes=nodes[:MAX_NODES],
        known=known,
        numbers=tuple(numbers),
        shown=(citation.line, end),
        headings={
            first_line(node): heading_line(node, markdown=is_markdown(citation.path))
            for node in parts
            if node.kind == "Section"
        },
        cut=_cut(citation, end, last, "nothing was ingested of what comes after it"),
    )


def _of_code(loom: Loom, citation: FileCitation, nodes: Sequence[NodeVersion]) -> FileLines | None:
    """The symbol that holds the line, or the file around it: a class does not hold the lines of its methods."""
    around = [node for node in nodes if covers(node, citation.line)]
    if not around:
        return None
    best = max(around, key=lambda node: (_holds(node, citation.line), first_line(node)))
    spans = spans_of(best.props)
    numbers = [number for first, last in spans for number in range(first, last + 1)]
    last = next((last for first, last in spans if first <= citation.line <= last), citation.line)
    end = min(citation.end_line or last, last, citation.line + MAX_CITED_LINES - 1)
    return FileLines(
        loom=loom,
        nodes=(best,),
        known=dict(zip(numbers, split_lines(best.text), strict=False)),
        numbers=tuple(numbers),
        shown=(citation.line, end),
        cut=_cut(citation, end, citation.end_line or last, "there it ends, or another begins that stands in it"),
    )


def _cut(citation: FileCitation, end: int, asked: int, why: str) -> str:
    """That not all was told that was asked for, and why."""
    if end >= asked:
        return ""
    full = end - citation.line + 1 == MAX_CITED_LINES
    return f"cut after line {end}: {f'{MAX_CITED_LINES} lines are shown at most' if full else why}"


def _holds(node: NodeVersion, line: int) -> bool:
    """The line is in the node's own text, not only between its ends."""
    return any(first <= line <= last for first, last in spans_of(node.props))


# The file as it is now


def compared(loom: Loom, citation: FileCitation, found: FileLines) -> Compared:
    """Whether the file still says, line by line, what was ingested of the passage cited."""
    raw = _read(loom.settings.root, citation.path)
    if raw is None:
        gone = "the file cannot be read or is gone; these are the lines as they were ingested"
        return Compared(matches=False, notes=(gone,))
    if _is_same_file(found.loom, citation.path, raw):
        return Compared(matches=True)
    day = to_iso(found.nodes[0].recorded_at)[:10]
    try:
        lines = _lines_of(loom, citation.path, raw)
    except WeftError as problem:
        told = f"the file is not the one that was ingested on {day}, and cannot be compared with it: {problem.message}"
        return Compared(matches=False, notes=(f"{told}; these are the lines as they were ingested",))
    if found.numbers and all(lines[n - 1 : n] == [found.known[n]] for n in found.numbers):
        return Compared(matches=True)
    changed = f"the file changed since it was ingested on {day}; these are the lines as they were then"
    place = _place_now(found, lines)
    if place is None:
        return Compared(matches=False, notes=(changed,))
    line, whole = place
    now_at = file_citation(citation.path, line)
    told = f"now at {now_at}" if whole else f"changed itself; its beginning is now at {now_at}"
    return Compared(matches=False, now_at=now_at, notes=(changed, told))


def _is_same_file(loom: Loom, path: str, raw: bytes) -> bool:
    """Whether these are the bytes that were ingested. Of source code, lines are compared: versions may be records."""
    if language_of(path) is not None or len(raw) >= MAX_CITED_BYTES:
        return False
    nodes = loom.store.nodes(loom.viewer, NOW, [file_id(loom.settings.project, path)])
    known = next((node.props.get("sha256") for node in nodes if node.kind == "Document"), None)
    return bool(known) and known == hashlib.sha256(raw).hexdigest()


def _lines_of(loom: Loom, path: str, raw: bytes) -> list[str]:
    """The lines of a file's text, as they are counted when it is ingested. Raises WeftError where it has none."""
    form = form_of(path)
    if form is not None and form.extracted:
        from weft.documents.reading import read_text  # its parsers take a while to load

        text = read_text(raw, form)
    else:
        text = raw.decode("utf-8-sig", errors="replace")
    return split_lines(loom.screen.fresh().redact(text))


def _place_now(found: FileLines, lines: list[str]) -> tuple[int, bool] | None:
    """Where the line that was cited stands now, and whether by all of its passage; the nearest place of several.

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


def _starts(lines: list[str], sought: list[str]) -> list[int]:
    """Where these lines stand, one after the other: places from 0."""
    size = len(sought)
    return [at for at, line in enumerate(lines) if line == sought[0] and lines[at : at + size] == sought]


def _read(root: Path, path: str) -> bytes | None:
    """The file's bytes, or None if it cannot be read. Never reads outside the project's directory."""
    try:
        target = (root / path).resolve()
        if not target.is_relative_to(root.resolve()) or not target.is_file():
            return None
        with target.open("rb") as file:
            return file.read(MAX_CITED_BYTES)
    except (OSError, RuntimeError):  # the answer says so in a note; a loop of links is a RuntimeError
        return None
