"""The graph that structured writes made."""

from __future__ import annotations

import weft


def edges(memory: weft.Memory, node: str, **when: str) -> set[tuple[str, str, str]]:
    """What a node is joined to: direction, relation, the other's id."""
    return {(edge.direction, edge.rel, edge.id) for edge in memory.show(node, **when).edges}


def held(memory: weft.Memory) -> int:
    return memory.ctx.store.head(memory.ctx.viewer).pos
