"""The current parts of a document: sections and chunks in the order of its lines, and its words by line.

The words of a section are in its chunks; a section of an early version has a text of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from weft.core.types import NOW, Find, NodeVersion, When
from weft.files.document_suffixes import form_of
from weft.retrieval.scoring.passages import first_line, is_of
from weft.runtime.call_context import CallContext
from weft.text.lines import split_lines

MAX_PARTS: Final = 50_000  # of one document
MAX_DEPTH: Final = 12  # sections inside sections
KINDS: Final = ("Section", "Chunk")


def parts_of(ctx: CallContext, document_id: str, source: object, *, when: When = NOW) -> tuple[NodeVersion, ...]:
    """Sections and chunks of a document that the viewer may see, by line; a section comes before its chunks.

    `source` is the path of the document's file, None where it was given as a text.
    """
    below = Find(kinds=KINDS, id_prefix=f"{document_id}#")
    found = ctx.store.find(ctx.viewer, when, below, limit=MAX_PARTS).nodes
    return in_order(node for node in found if is_of(node, document_id, source))


def in_order(parts: Iterable[NodeVersion]) -> tuple[NodeVersion, ...]:
    """By line; a section comes before its chunks."""
    return tuple(sorted(parts, key=lambda node: (first_line(node), node.kind != "Section", node.id)))


def wholes_around(
    ctx: CallContext, chunks: Sequence[NodeVersion], when: When = NOW
) -> dict[str, tuple[NodeVersion, ...]]:
    """The sections around each chunk or section, nearest first, and its document last. Uses few reads for all."""
    above: dict[str, NodeVersion] = {}
    ids = [node.id for node in chunks]
    for _ in range(MAX_DEPTH):
        steps = ctx.store.neighbours(ctx.viewer, when, ids, rels=("CONTAINS",), direction="in", limit=1) if ids else ()
        found = {step.start: step.node for step in steps if step.node.kind in ("Document", "Section")}
        above |= found
        ids = list(dict.fromkeys(n.id for n in found.values() if n.kind == "Section" and n.id not in above))
        if not ids:
            break
    around: dict[str, tuple[NodeVersion, ...]] = {}
    for node in chunks:
        way: list[NodeVersion] = []
        at = node.id
        while at in above and len(way) < MAX_DEPTH:
            way.append(above[at])
            at = above[at].id
        around[node.id] = tuple(way)
    return around


def beside(ctx: CallContext, chunk: NodeVersion, when: When = NOW) -> tuple[str, str]:
    """The ids of the chunks before and after a chunk of a document, by line; empty if there is none."""
    around = wholes_around(ctx, [chunk], when)[chunk.id] if chunk.kind == "Chunk" else ()
    if not around or around[-1].kind != "Document":
        return "", ""
    parts = parts_of(ctx, around[-1].id, chunk.props.get("source"), when=when)
    ids = [node.id for node in parts if node.kind == "Chunk"]
    if chunk.id not in ids:
        return "", ""
    at = ids.index(chunk.id)
    return ids[at - 1] if at else "", ids[at + 1] if at + 1 < len(ids) else ""


def last_line(node: NodeVersion) -> int:
    """Its last line; 0 where that is unknown."""
    line = node.props.get("end_line")
    return line if isinstance(line, int) else 0


def covers(node: NodeVersion, line: int) -> bool:
    """Whether a line is between its first and its last, inclusive."""
    return first_line(node) <= line <= last_line(node)


def words_by_line(parts: Iterable[NodeVersion]) -> dict[int, str]:
    """The text of each line, as far as the parts have words."""
    lines: dict[int, str] = {}
    for node in parts:
        if node.text:
            lines |= dict(enumerate(split_lines(node.text), start=first_line(node)))
    return lines


def as_written(parts: Iterable[NodeVersion], *, markdown: bool) -> str:
    """The words of a document in their order, with its headings; gaps are blank lines."""
    return "\n\n".join(_pieces(tuple(parts), markdown=markdown))


def _pieces(parts: tuple[NodeVersion, ...], *, markdown: bool) -> Iterator[str]:
    told = {first_line(node) for node in parts if node.text}
    for node in parts:
        if node.text:
            yield node.text
        elif node.name and first_line(node) not in told:  # a heading that no chunk begins with
            yield heading_line(node, markdown=markdown)


def heading_line(section: NodeVersion, *, markdown: bool) -> str:
    """A section's heading as a line of its document."""
    level = section.props.get("level")
    depth = min(max(level, 1), 6) if isinstance(level, int) else 1
    return f"{'#' * depth} {section.name}" if markdown and section.name else section.name


def is_markdown(source: str) -> bool:
    """Whether a text is Markdown: as written, or as extracted from another format."""
    form = form_of(source)
    return form is not None and form.name in ("markdown", "docx", "html")
