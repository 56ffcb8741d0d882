"""Moves: the five elementary changes of the graph, before the interval rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from weft.core.types import Guard
from weft.log.canonical import canonical


class PutNode(Struct, frozen=True, kw_only=True, gc=False):
    """A node holds from `valid_from`; without `valid_to`, until the slot's next assertion."""

    id: str
    kind: str
    name: str
    summary: str
    text: str
    props: Mapping[str, Any]
    focus: str | None
    slot: str
    guard: Guard
    valid_from: int
    valid_to: int | None


class PutEdge(Struct, frozen=True, kw_only=True, gc=False):
    """An edge holds from `valid_from`; without `valid_to`, until the slot's next assertion."""

    src: str
    rel: str
    dst: str
    props: Mapping[str, Any]
    weight: float
    slot: str
    guard: Guard
    valid_from: int
    valid_to: int | None


class EndNode(Struct, frozen=True, kw_only=True, gc=False):
    """A node stops holding at `at`: for good, or until the versions that start at `until` or later."""

    id: str
    at: int
    until: int | None = None


class EndEdge(Struct, frozen=True, kw_only=True, gc=False):
    """An edge stops holding at `at`: for good, or until the versions that start at `until` or later."""

    src: str
    rel: str
    dst: str
    at: int
    until: int | None = None


class SetDeleted(Struct, frozen=True, kw_only=True, gc=False):
    """A node becomes invisible, or (with None) visible again."""

    id: str
    deleted_at: int | None


Move = PutNode | PutEdge | EndNode | EndEdge | SetDeleted


SEPARATOR: Final = "\x1f"  # in no id: tells shared slots from ids


def edge_slot(src: str, rel: str, dst: str) -> str:
    """The slot of an edge that shares it with no other. A node without a shared slot has its id as slot."""
    return SEPARATOR.join((src, rel, dst))


def shared_slot(name: str, guard: Guard) -> str:
    """A named slot, in which several nodes or edges replace one another.

    Each guard has its own: content that a viewer may not see must neither end what it sees, nor be ended by its writes.
    """
    parts = (guard.project, guard.scope, guard.agents, guard.sensitive, name)
    return SEPARATOR + canonical(parts).decode()
