"""The relations of a memory to what its words name, after its words were changed."""

from __future__ import annotations

from msgspec import Struct

from weft.core.clock import MIN_INSTANT_US, to_iso
from weft.core.kinds import MENTION
from weft.core.types import MAX_LIMIT, NOW, NodeVersion
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.runtime.call_context import CallContext
from weft.writing.build.extracted_facts import LINKED_KINDS, ExtractionResult, SourceText, extract_one
from weft.writing.build.versions import version_pieces
from weft.writing.checks.current_value import FACT

NAMES = "INVOLVES"


class NamedAgain(Struct, frozen=True, kw_only=True):
    """Mentions and relations to assert with the new words, and the end of relations that came of the old ones."""

    nodes: tuple[graph.NodeAssertion, ...] = ()
    edges: tuple[graph.EdgeAssertion, ...] = ()
    ended: tuple[Draft, ...] = ()


def named_again(ctx: CallContext, node: NodeVersion, text: str, *, reason: str) -> NamedAgain:
    """What the new words of a memory name. Relations that were made by hand stay, whatever the words say."""
    if node.kind == FACT or node.kind in LINKED_KINDS or node.guard.sensitive:
        return NamedAgain()
    first = version_pieces(ctx, node)[0].interval

    def read(words: str) -> ExtractionResult:
        said = SourceText(
            id=node.id,
            text=words,
            guard=node.guard,
            at=first.asserted_from,
            until=first.asserted_to,
            focus=node.focus,
        )
        return extract_one(ctx, said)

    old, new = read(node.text), read(text)
    joined = ctx.store.neighbours(ctx.viewer, NOW, [node.id], rels=(NAMES,), direction="out", limit=MAX_LIMIT)
    there = {step.node.id for step in joined}
    gone = tuple(
        graph.EdgeName(src=node.id, rel=NAMES, dst=thing)
        for thing in sorted(there & {edge.dst for edge in _names(node, old)} - {edge.dst for edge in _names(node, new)})
    )
    ended = graph.Ended(edges=gone, at=to_iso(MIN_INSTANT_US), reason=reason)
    return NamedAgain(
        nodes=tuple(each for each in new.nodes if each.kind == MENTION),
        edges=tuple(edge for edge in _names(node, new) if edge.dst not in there),
        ended=(Draft(kind="graph.ended", payload=ended),) if gone else (),
    )


def _names(node: NodeVersion, found: ExtractionResult) -> tuple[graph.EdgeAssertion, ...]:
    return tuple(edge for edge in found.edges if (edge.src, edge.rel) == (node.id, NAMES))
