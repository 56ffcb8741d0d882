"""Memories that are only proposed, or were rejected: found like any other, and marked."""

from __future__ import annotations

from typing import Final

from weft.core.types import NodeVersion

# States of proposals, findings and rejected items.
UNSETTLED: Final = frozenset(
    {"pending", "proposed", "draft", "rejected", "deferred", "stale", "unpromoted", "unreviewed"}
)


def state_of(node: NodeVersion) -> str:
    """The state in a node's properties; none for tasks, every state of which is settled."""
    said = node.props.get("state") or node.props.get("status")
    return said.casefold() if isinstance(said, str) and node.kind != "Task" else ""


def is_unsettled(node: NodeVersion) -> bool:
    """Whether it is only proposed, or was rejected."""
    return state_of(node) in UNSETTLED
