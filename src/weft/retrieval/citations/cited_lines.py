"""Resolving a citation of a file's line to the ingested text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from weft.core.types import NOW, Find, NodeVersion, When
from weft.files.document_suffixes import form_of
from weft.files.languages import language_of
from weft.log.citation import FileCitation, file_citation
from weft.retrieval.citations.document_parts import (
    covers,
    heading_line,
    is_markdown,
    last_line,
    parts_of,
    words_by_line,
)
from weft.retrieval.citations.file_ids import MAX_SYMBOLS, SYMBOL_KINDS, file_id, spans_of, symbol_prefix
from weft.retrieval.scoring.passages import first_line
from weft.retrieval.sources.subscriptions import as_subscriber, fits_a_topic
from weft.runtime.call_context import CallContext
from weft.text.lines import split_lines

MAX_CITED_LINES: Final = 200
MAX_NODES: Final = 20  # parts of a document that one citation of several lines names


class FileLines(Struct, frozen=True, kw_only=True):
    """Lines of a file as they were ingested: `known` by number, `numbers` of their passage.

    `shown` are the first and the last line. `nodes` are the cited ones; `cut` says where the lines were cut, `gap` that
    these are the nearest known lines instead of the cited ones.
    """

    ctx: CallContext
    nodes: tuple[NodeVersion, ...]
    known: Mapping[int, str]
    numbers: tuple[int, ...]
    shown: tuple[int, int]
    headings: Mapping[int, str] = {}
    cut: str = ""
    gap: str = ""

    @property
    def place(self) -> str:
        """How lines are numbered in a file without lines of its own; empty for others."""
        node = self.nodes[0]
        form = form_of(str(node.props.get("source", "")))
        if node.kind not in ("Chunk", "Section") or form is None or not form.extracted:
            return ""
        page = node.props.get("page")
        on = f" of page {page}" if isinstance(page, int) else ""
        return f"lines are counted in the text that was taken out of the file{on}"

    @property
    def lines(self) -> tuple[str, ...]:
        """The shown lines: every line of a document; for source code those of the symbol itself."""
        first, last = self.shown
        every = range(first, last + 1)
        if self.nodes[0].kind in ("Chunk", "Section"):
            told = tuple(self.known.get(number, self.headings.get(number, "")) for number in every)
            return told if any(told) else ()
        return tuple(self.known[number] for number in every if number in self.known)


def cited_lines(ctx: CallContext, citation: FileCitation, when: When = NOW) -> FileLines | None:
    """The ingested text of the cited lines, by nodes that the caller may see or follows; None where there is none.

    For a line between the passages of a document, the nearest passage.
    """
    read = _of_code if language_of(citation.path) is not None else lines_among
    nodes = _nodes_of(ctx, citation.path, when)
    if not any(covers(node, citation.line) for node in nodes) and ctx.settings.keywords:
        follower = as_subscriber(ctx)
        followed = tuple(node for node in _nodes_of(follower, citation.path, when) if fits_a_topic(ctx, node))
        if any(covers(node, citation.line) for node in followed):
            return read(follower, citation, followed)
    return read(ctx, citation, nodes)


def node_at(ctx: CallContext, citation: FileCitation) -> str | None:
    """The id of the chunk, section or symbol that holds a line."""
    found = cited_lines(ctx, citation)
    return None if found is None else found.nodes[0].id


def _nodes_of(ctx: CallContext, path: str, when: When) -> tuple[NodeVersion, ...]:
    """The sections and chunks of a document; the symbols of a source file, and the file itself."""
    project = ctx.settings.project
    if language_of(path) is None:
        return parts_of(ctx, file_id(project, path), path, when=when)
    find = Find(kinds=SYMBOL_KINDS, id_prefix=symbol_prefix(project, path))
    symbols = ctx.store.find(ctx.viewer, when, find, limit=MAX_SYMBOLS).nodes
    files = ctx.store.nodes(ctx.viewer, when, [file_id(project, path)])
    return tuple(node for node in (*files, *symbols) if node.props.get("source") == path)


def lines_among(ctx: CallContext, citation: FileCitation, parts: Sequence[NodeVersion]) -> FileLines | None:
    """The chunk that holds the line, else the section; with a range, all chunks that it touches."""
    around = [node for node in parts if covers(node, citation.line)]
    if not around:
        return _nearest(ctx, citation, parts)
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
        ctx=ctx,
        nodes=nodes[:MAX_NODES],
        known=known,
        numbers=tuple(numbers),
        shown=(citation.line, end),
        headings={
            first_line(node): heading_line(node, markdown=is_markdown(citation.path))
            for node in parts
            if node.kind == "Section"
        },
        cut=_cut(citation, end, last, "the lines after it were not ingested"),
    )


def _nearest(ctx: CallContext, citation: FileCitation, parts: Sequence[NodeVersion]) -> FileLines | None:
    """The nearest part to a line that is not stored, such as a blank one; none after the last line."""
    if citation.line > max(map(last_line, parts), default=0):
        return None
    before = [node for node in parts if last_line(node) < citation.line]
    # The innermost that ends before it; else the first.
    best = max(before, key=lambda node: (last_line(node), node.kind == "Chunk")) if before else parts[0]
    at = first_line(best)
    found = lines_among(ctx, FileCitation(path=citation.path, line=at, end_line=None), parts)
    told = f"nothing is kept of line {citation.line}; the nearest passage is at {file_citation(citation.path, at)}"
    return None if found is None else replace(found, gap=told)


def _of_code(ctx: CallContext, citation: FileCitation, nodes: Sequence[NodeVersion]) -> FileLines | None:
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
        ctx=ctx,
        nodes=(best,),
        known=dict(zip(numbers, split_lines(best.text), strict=False)),
        numbers=tuple(numbers),
        shown=(citation.line, end),
        cut=_cut(citation, end, citation.end_line or last, "the symbol ends there, or another one begins inside it"),
    )


def _cut(citation: FileCitation, end: int, asked: int, why: str) -> str:
    """A note if fewer lines are shown than were requested, with the reason."""
    if end >= asked:
        return ""
    full = end - citation.line + 1 == MAX_CITED_LINES
    return f"cut after line {end}: {f'{MAX_CITED_LINES} lines are shown at most' if full else why}"


def _holds(node: NodeVersion, line: int) -> bool:
    """The line is in the node's own text, not only between its ends."""
    return any(first <= line <= last for first, last in spans_of(node.props))
