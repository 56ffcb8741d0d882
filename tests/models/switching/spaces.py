"""What is in the store of each embedding model, and who was asked."""

from __future__ import annotations

from typing import Any, cast

import weft
from tests.stand_ins import EmbeddingServer
from weft.core.queries import Space
from weft.upkeep.reindex import Reindexed

FACTS = (
    "The ferry to Bergen leaves at nine.",
    "Postgres was chosen for its transactional schema changes.",
    "The cache is cold after each deployment.",
)


def reindex(memory: weft.Memory, **given: Any) -> Reindexed:
    return cast("Reindexed", memory.call("reindex", **given))


def models(memory: weft.Memory) -> dict[str, int]:
    ctx = memory.ctx
    return dict(ctx.store.space_counts(ctx.operator("look")).vectors)


def in_use(memory: weft.Memory) -> Space | None:
    return memory.ctx.store.space(memory.ctx.viewer)


def told(answer: Any) -> list[str]:
    """What an answer says of vectors."""
    return [note for note in answer.notes if "vector" in note or "embedder" in note]


def asked_of(server: EmbeddingServer, model: str, question: str) -> bool:
    return question in server.embedded(model)


def filled(memory: weft.Memory) -> None:
    for fact in FACTS:
        memory.remember(fact)
