"""Family `memory`: what agents write in their own words."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct, field

from weft.core.types import Scope
from weft.log.kinds.graph import EdgeAssertion, NodeAssertion


class Novelty(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The novelty of a memory when it was written: the nearest current one, and the share of words they
    have in common.
    """

    tag: Literal["novel", "reinforcing", "redundant"]
    nearest: str | None = None
    jaccard: float = 0.0


class Extracted(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Values extracted from a memory's words that did not become nodes: offsets in its text, and values.

    `extractor` is the extractor and its version: a newer one makes a new event, and changes nothing here.
    """

    extractor: str
    dates: tuple[tuple[int, int, str, str], ...] = ()  # start, end, from, until
    quantities: tuple[tuple[int, int, float, str], ...] = ()  # start, end, value, unit
    marks: tuple[tuple[int, int, str], ...] = ()  # start, end, kind: url, path, identifier, …


class Remembered(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One memory, verbatim, with everything resolved when it was written.

    `entities` are nodes it names (asserted if new); `supersedes` are older memories it replaces; `gate` is its novelty,
    `extracted` the values extracted from it.
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
    gate: Novelty | None = None
    extracted: Extracted | None = None
