"""Conditions of one write that depends on several things."""

from __future__ import annotations

from weft.append.append import Fence
from weft.core.types import NodeVersion


def every(*fences: Fence | None) -> Fence | None:
    """The condition that all of these hold."""
    some = [fence for fence in fences if fence is not None]
    if len(some) < 2:
        return some[0] if some else None

    def concerns(node: NodeVersion) -> bool:
        return any(
            (node.kind in fence.kinds or node.slot in fence.slots) and (fence.concerns is None or fence.concerns(node))
            for fence in some
        )

    return Fence(
        pos=min(fence.pos for fence in some),
        kinds=tuple(dict.fromkeys(kind for fence in some for kind in fence.kinds)),
        slots=tuple(dict.fromkeys(slot for fence in some for slot in fence.slots)),
        concerns=concerns,
    )
