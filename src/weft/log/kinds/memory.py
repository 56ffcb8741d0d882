"""Family `memory`: what agents tell weft in their own words."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from weft.log.kinds.graph import EdgeAssertion, NodeAssertion
from weft.types import Scope


class Remembered(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One memory, verbatim, with what was resolved about it when it was written.

    `entities` are nodes it names (asserted if new); `supersedes` are older memories it replaces.
    """

    id: str
    text: str
    node_kind: str = "Memory"
    name: str = ""
    summary: str = ""
    props: dict[str, Any] = field(default_factory=dict)
    project: str | None = None
    focus: str | None = None
    scope: Scope = "admin"
    agents: tuple[str, ...] = ()
    sensitive: bool = False
    valid_from: str | None = None
    valid_to: str | None = None
    slot: str | None = None
    entities: tuple[NodeAssertion, ...] = ()
    edges: tuple[EdgeAssertion, ...] = ()
    supersedes: tuple[str, ...] = ()
