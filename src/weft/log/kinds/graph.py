"""Family `graph`: assertions about nodes and edges in general. Kinds of nodes and relations are open."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from weft.core.types import Scope


class NodeAssertion(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A node holds from `valid_from` (the event's own time if absent) until `valid_to` or the slot's next assertion."""

    id: str
    kind: str
    name: str = ""
    summary: str = ""
    text: str = ""
    props: dict[str, Any] = field(default_factory=dict)
    project: str | None = None
    focus: str | None = None
    scope: Scope = "admin"
    agents: tuple[str, ...] = ()
    sensitive: bool = False
    valid_from: str | None = None
    valid_to: str | None = None
    slot: str | None = None


class EdgeAssertion(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An edge between two nodes that exist."""

    src: str
    rel: str
    dst: str
    props: dict[str, Any] = field(default_factory=dict)
    weight: float = 1.0
    project: str | None = None
    scope: Scope = "admin"
    agents: tuple[str, ...] = ()
    sensitive: bool = False
    valid_from: str | None = None
    valid_to: str | None = None
    slot: str | None = None


class Asserted(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Nodes first, then edges; `reason` is the reason if one was given."""

    nodes: tuple[NodeAssertion, ...] = ()
    edges: tuple[EdgeAssertion, ...] = ()
    reason: str = ""


class EdgeName(Struct, frozen=True, kw_only=True):
    """Names an edge by what it joins."""

    src: str
    rel: str
    dst: str


class Ended(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """These stop holding at `at` (the event's own time if absent): for good, or until the versions from `until` on."""

    nodes: tuple[str, ...] = ()
    edges: tuple[EdgeName, ...] = ()
    at: str | None = None
    until: str | None = None
    reason: str = ""


class Deleted(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """These become invisible. Events of several commits that delete one thing together share the name `deletion`."""

    nodes: tuple[str, ...]
    reason: str = ""
    deletion: str = ""


class Restored(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """These become visible again."""

    nodes: tuple[str, ...]
    reason: str = ""
