"""How the relations and documents of a workspace's code read to a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft.retrieval.views.ground import flat
from weft.surfaces.mcp.words import QUOTED, Rendered, block, counted, facts, flag, node_id, said

if TYPE_CHECKING:
    from weft.operations.code_diff import CodeChanged, NodeDelta
    from weft.operations.code_docs import DocsFound
    from weft.operations.code_history import CommitIndexed
    from weft.operations.graph_edges import EdgesListed


def edges(answer: EdgesListed) -> Rendered:
    """Relations, one a line."""
    more = f" The rest goes on after {answer.next}." if answer.next is not None else ""
    lines = [f"{node_id(each.src)} {each.rel} {node_id(each.dst)}" for each in answer.edges]
    return Rendered(
        summary=f"{counted(len(answer.edges), 'relation')} of this workspace's code.{more}",
        blocks=("\n".join(lines),) if lines else (),
    )


def docs(answer: DocsFound) -> Rendered:
    """Passages, each under its headings."""
    if not answer.passages:
        return Rendered(summary="No passage of this workspace's documents fits.")
    blocks = [
        f"{facts(said(each.heading), flat(each.citation), flag(each.flags))}\n{block(each.text)}"
        for each in answer.passages
    ]
    count = counted(len(answer.passages), "passage")
    return Rendered(summary=f"{count} of this workspace's documents. {QUOTED}", blocks=tuple(blocks))


def changed(answer: CodeChanged) -> Rendered:
    """What came, went and is another now."""
    sides = (("added", answer.added), ("removed", answer.removed), ("modified", answer.modified))
    blocks = ["\n".join([f"{word}:", *map(_delta, side)]) for word, side in sides if side]
    return Rendered(summary=f"{answer.summary[:1].upper()}{answer.summary[1:]}.", blocks=tuple(blocks))


def _delta(delta: NodeDelta) -> str:
    place = f"{delta.path}:{delta.line}" if delta.line else delta.path
    return (
        f"  {delta.type} {node_id(delta.symbol)} · {node_id(place)}"
        if delta.symbol
        else f"  {delta.type} {node_id(place)}"
    )


def commit(answer: CommitIndexed) -> Rendered:
    """What was read of a commit."""
    lines = [f"  {node_id(each.path)}: {said(each.reason)}" for each in answer.skipped]
    blocks = ("\n".join(["without symbols:", *lines]),) if lines else ()
    return Rendered(summary=f"{answer.summary[:1].upper()}{answer.summary[1:]}.", blocks=blocks)
