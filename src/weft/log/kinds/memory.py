"""Family `memory`: what agents tell weft in their own words."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct, field

from weft.log.kinds.graph import EdgeAssertion, NodeAssertion
from weft.types import Scope


class Gate(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How new a memory was when it was written: the nearest one that stood, and the share of words they have."""

    tag: Literal["novel", "reinforcing", "redundant"]
    nearest: str | None = None
    jaccard: float = 0.0


class Extracted(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was read out of a memory's words besides what became nodes: places in its text, and what they say.

    `extractor` is what read it, with its version: another one later makes a new event, and changes nothing here.
    """

    extractor: str
    dates: tuple[tuple[int, int, str, str], ...] = ()  # start, end, from, until
    quantities: tuple[tuple[int, int, float, str], ...] = ()  # start, end, value, unit
    marks: tuple[tuple[int, int, str], ...] = ()  # start, end, kind: url, path, identifier, …


class Remembered(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One memory, verbatim, with what was resolved about it when it was written.

    `entities` are nodes it names (asserted if new); `supersedes` are older memories it replaces; `gate` says how new
    it was, `extracted` what was read out of it.
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
    gate: Gate | None = None
    extracted: Extracted | None = None
