"""What an event does to the graph, before the interval rules: five moves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from weft.log.canonical import canonical
from weft.types import Guard


class PutNode(Struct, frozen=True, kw_only=True, gc=False):
    """A node holds from `valid_from`; without `valid_to` until the slot says otherwise."""

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
    """A relation holds."""

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
    """A node stops holding at `at`: for good, or until what is told of it from `until` on."""

    id: str
    at: int
    until: int | None = None


class EndEdge(Struct, frozen=True, kw_only=True, gc=False):
    """A relation stops holding at `at`: for good, or until what is told of it from `until` on."""

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


SEPARATOR: Final = "\x1f"  # in no id: keeps a slot that several share apart from every id


def edge_slot(src: str, rel: str, dst: str) -> str:
    """The slot of an edge that shares it with no other. A node alone has its id for a slot."""
    return SEPARATOR.join((src, rel, dst))


def shared_slot(name: str, guard: Guard) -> str:
    """A slot by name, in which several nodes or edges take turns.

    Each guard has its own: what a viewer may not see must neither end what it sees, nor be ended by what it writes.
    """
    parts = (guard.project, guard.scope, guard.agents, guard.sensitive, name)
    return SEPARATOR + canonical(parts).decode()
