"""What is known about code beside the code itself: decisions that involve it, passages of documents that name it."""

from __future__ import annotations

from typing import Final

from weft.context.code_pack import Known
from weft.instants import to_iso
from weft.log.citation import file_citation
from weft.loom import Loom
from weft.operations.code_lookup import joined
from weft.operations.code_slices import line_of
from weft.operations.doc_links import MENTIONS_CODE
from weft.retrieval.views.ground import flat
from weft.types import NodeVersion, When

DECISION_KINDS: Final = ("Decision", "Pattern")
KNOWN_LISTED: Final = 5


def linked_to(loom: Loom, when: When, ids: list[str]) -> tuple[tuple[Known, ...], tuple[Known, ...]]:
    """Decisions that involve these, and passages of documents that name them."""
    steps = joined(loom, when, ids, ("INVOLVES", MENTIONS_CODE), "in", limit=2 * KNOWN_LISTED)
    nodes = {step.node.id: step.node for found in steps.values() for step in found}
    cited = loom.store.citations(loom.viewer, [node.event for node in nodes.values()])
    decisions = [known_of(node, cited.get(node.event, "")) for node in nodes.values() if node.kind in DECISION_KINDS]
    documents = [_passage(node) for node in nodes.values() if node.kind == "Chunk"]
    return tuple(decisions[:KNOWN_LISTED]), tuple(documents[:KNOWN_LISTED])


def _passage(node: NodeVersion) -> Known:
    source = node.props.get("source")
    where = file_citation(source, line_of(node)) if isinstance(source, str) and source else node.id
    return Known(id=node.id, kind=node.kind, title=flat(node.summary)[:200], citation=where, text=flat(node.text)[:400])


def known_of(node: NodeVersion, citation: str) -> Known:
    """A decision, an episode or a task in a few words."""
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
