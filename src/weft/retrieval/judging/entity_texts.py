"""Sentences that say what is known of an entity, for the answer judge: its description and its own relations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from weft.core.kinds import MENTION, VIEWS
from weft.core.types import NodeVersion
from weft.retrieval.pipeline import Answer
from weft.retrieval.views.shared import NOT_BETWEEN_ENTITIES
from weft.runtime.call_context import CallContext

MAX_RELATIONS: Final = 8  # of one entity, the heaviest
MAX_ENTITIES: Final = 8
DESCRIBED_KINDS: Final = VIEWS["entity"] - {MENTION}


def entity_texts(ctx: CallContext, answer: Answer, entities: Sequence[NodeVersion]) -> Mapping[str, str]:
    """By id: "Ines Calder: An engineer. Ines Calder maintains Lantern." Entities of which nothing is known have none.

    One guarded read for all of them: a relation that the viewer may not see, or that does not hold then, is not told.
    """
    apart = tuple(sorted(NOT_BETWEEN_ENTITIES))
    ids = [node.id for node in entities]
    if not ids:
        return {}
    steps = ctx.store.neighbours(ctx.viewer, answer.ask.when, ids, without=apart, direction="out", limit=MAX_RELATIONS)
    names = {node.id: node.name for node in entities}
    told = {node.id: [f"{node.name}: {node.text}"] if node.text else [] for node in entities}
    for step in steps:
        if step.node.kind not in DESCRIBED_KINDS or not step.node.name:
            continue
        relation = step.edge.rel.replace("_", " ").lower()
        told[step.start].append(f"{names[step.start]} {relation} {step.node.name}.")
    return {each: " ".join(parts) for each, parts in told.items() if parts}
