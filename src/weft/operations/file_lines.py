"""What a citation of a file's line points at, as it was ingested."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from weft.code.languages import language_of
from weft.documents.forms import form_of
from weft.documents.lines import split_lines
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
from weft.types import NOW, Find, NodeVersion, When

MAX_CITED_LINES: Final = 200
MAX_SYMBOLS: Final = 10_000
MAX_NODES: Final = 20  # parts of a document that one citation of several lines names


class FileLines(Struct, frozen=True, kw_only=True):
    """Lines of a file as they were ingested: `known` by number, the passage that they belong to as `numbers`.

    `shown` are the first and the last that are told. `nodes` are what was cited; `cut` says where it was cut, `gap`
    that these are not the lines cited, but the nearest of which something is kept.
    """

    loom: Loom
    nodes: tuple[NodeVersion, ...]
    known: Mapping[int, str]
    numbers: tuple[int, ...]
    shown: tuple[int, int]
    headings: Mapping[int, str] = {}
    cut: str = ""
    gap: str = ""

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
            told = tuple(self.known.get(number, self.headings.get(number, "")) for number in every)
            return told if any(told) else ()
        return tuple(self.known[number] for number in every if number in self.known)


def cited_lines(loom: Loom, citation: FileCitation, when: When = NOW) -> FileLines | None:
    """What was ingested of the lines cited, by what the caller may see or follows; None where that is nothing.

    Of a line between the passages of a document, it is the nearest.
    """
    read = _of_code if language_of(citation.path) is not None else lines_among
    nodes = _nodes_of(loom, citation.path, when)
    if not any(covers(node, citation.line) for node in nodes) and loom.settings.keywords:
        follower = as_subscriber(loom)
        followed = tuple(node for node in _nodes_of(follower, citation.path, when) if fits_a_topic(loom, node))
        if any(covers(node, citation.line) for node in followed):
            return read(follower, citation, followed)
    return read(loom, citation, nodes)


def node_at(loom: Loom, citation: FileCitation) -> str | None:
    """The id of the chunk, section or symbol that holds a line."""
    found = cited_lines(loom, citation)
    return None if found is None else found.nodes[0].id


def _nodes_of(loom: Loom, path: str, when: When) -> tuple[NodeVersion, ...]:
    """The sections and chunks of a document; the symbols of a source file, and what stands outside them."""
    project = loom.settings.project
    if language_of(path) is None:
        return parts_of(loom, file_id(project, path), path, when=when)
    find = Find(kinds=SYMBOL_KINDS, id_prefix=symbol_prefix(project, path))
    symbols = loom.store.find(loom.viewer, when, find, limit=MAX_SYMBOLS).nodes
    files = loom.store.nodes(loom.viewer, when, [file_id(project, path)])
    return tuple(node for node in (*files, *symbols) if node.props.get("source") == path)


def lines_among(loom: Loom, citation: FileCitation, parts: Sequence[NodeVersion]) -> FileLines | None:
    """The chunk that holds the line, else the section; with a range, all chunks that it touches."""
    around = [node for node in parts if covers(node, citation.line)]
    if not around:
        return _nearest(loom, citation, parts)
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


def _nearest(loom: Loom, citation: FileCitation, parts: Sequence[NodeVersion]) -> FileLines | None:
    """The part that is nearest to a line of which nothing is kept, such as a blank one; none after the last line."""
    if citation.line > max(map(last_line, parts), default=0):
        return None
    before = [node for node in parts if last_line(node) < citation.line]
    # The innermost that ends before it; of what stands before all of them, the first.
    best = max(before, key=lambda node: (last_line(node), node.kind == "Chunk")) if before else parts[0]
    at = first_line(best)
    found = lines_among(loom, FileCitation(path=citation.path, line=at, end_line=None), parts)
    told = f"nothing is kept of line {citation.line}; the nearest passage is at {file_citation(citation.path, at)}"
    return None if found is None else replace(found, gap=told)


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
