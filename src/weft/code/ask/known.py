"""Decisions that involve code, and passages of documents that name it."""

from __future__ import annotations

from typing import Final

from weft.code.ask.lookup import joined
from weft.code.index.document_mentions import MENTIONS_CODE
from weft.context.code_pack import Known
from weft.core.clock import to_iso
from weft.core.types import NodeVersion, When
from weft.documents.keep.source_lines import line_of
from weft.log.citation import file_citation
from weft.runtime.call_context import CallContext
from weft.text.one_line import flat

DECISION_KINDS: Final = ("Decision", "Pattern")
KNOWN_LISTED: Final = 5


def linked_to(ctx: CallContext, when: When, ids: list[str]) -> tuple[tuple[Known, ...], tuple[Known, ...]]:
    """Decisions that involve these nodes, and passages of documents that name them."""
    steps = joined(ctx, when, ids, ("INVOLVES", MENTIONS_CODE), "in", limit=2 * KNOWN_LISTED)
    nodes = {step.node.id: step.node for found in steps.values() for step in found}
    cited = ctx.store.citations(ctx.viewer, [node.event for node in nodes.values()])
    decisions = [known_of(node, cited.get(node.event, "")) for node in nodes.values() if node.kind in DECISION_KINDS]
    documents = [_passage(node) for node in nodes.values() if node.kind == "Chunk"]
    return tuple(decisions[:KNOWN_LISTED]), tuple(documents[:KNOWN_LISTED])


def _passage(node: NodeVersion) -> Known:
    source = node.props.get("source")
    where = file_citation(source, line_of(node)) if isinstance(source, str) and source else node.id
    return Known(id=node.id, kind=node.kind, title=flat(node.summary)[:200], citation=where, text=flat(node.text)[:400])


def known_of(node: NodeVersion, citation: str) -> Known:
    """A short form of a decision, an episode or a task."""
    status = node.props.get("status")
    return Known(
        id=node.id,
        kind=node.kind,
        title=flat(node.name or node.text)[:200],
        citation=citation,
        text=flat(node.text),
        at=to_iso(node.interval.valid_from),
        status=status if isinstance(status, str) and status.isidentifier() else "",
    )
