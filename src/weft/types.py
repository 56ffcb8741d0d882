"""The few frozen values everything speaks.

Times are integers of microseconds (see `weft.instants`). Intervals are half open: `valid_from` is in,
`valid_to` is out, None never ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from msgspec import Struct

from weft.errors import Forbidden

Scope = Literal["public", "shared", "admin"]
Audience = Literal["internal", "public"]
Direction = Literal["out", "in", "both"]
Way = Literal["out", "in"]
Ends = Literal["held", "any"]  # whether what edges join has to hold as well

SCOPES: Final[tuple[Scope, ...]] = ("public", "shared", "admin")

# Bounds, stated once.
MAX_PAYLOAD_BYTES: Final = 1_000_000
MAX_EVENTS_PER_COMMIT: Final = 10_000
MAX_QUERY_CHARACTERS: Final = 32_768
MAX_LIMIT: Final = 100
MAX_READ_EVENTS: Final = 10_000
MAX_IDS_PER_READ: Final = 1_000

# How readily a walk follows a relation, either way; others count as much as CONTAINS.
RELATION_WEIGHTS: Final[Mapping[str, float]] = {
    "CALLS": 0.9,
    "IMPORTS": 0.7,
    "DEFINED_IN": 0.6,
    "CONTAINS": 0.5,
    "TESTS": 0.4,
    "APPLIES_TO": 0.4,
    "INVOLVES": 0.3,
    # Where a thing came from says nothing about what it is about: no walk goes that way.
    "PRODUCED": 0.0,
    "RAISED_DURING": 0.0,
}
DEFAULT_RELATION_WEIGHT: Final = 0.5
DAMPING: Final = 0.85  # the probability that a walk goes on


class Guard(Struct, frozen=True, kw_only=True, gc=False):
    """What decides who may see a node or an edge. Nodes with equal guards share a ward of the store."""

    project: str | None = None
    scope: Scope = "admin"
    agents: tuple[str, ...] = ()
    sensitive: bool = False


class Viewer(Struct, frozen=True, kw_only=True):
    """Who is asking. Comes from the environment or an authenticated connection, never from an argument.

    `subscribes` is set while an agent's own keywords are looked up: then what is tagged for nobody may be found too.
    """

    account: str
    scopes: frozenset[str]
    agent: str | None = None
    audience: Audience = "internal"
    sensitive: bool = False
    subscribes: bool = False

    @property
    def tagged_only(self) -> bool:
        """A named public agent sees only what is tagged for it."""
        return self.audience == "public" and self.agent is not None

    def admits(self, guard: Guard) -> bool:
        """Layers 2, 3 and 6: scope, agent tag, sensitivity."""
        in_scope = guard.scope in self.scopes and (self.sensitive or not guard.sensitive)
        untagged = self.subscribes and not guard.agents
        return in_scope and (not self.tagged_only or untagged or self.agent in guard.agents)

    @property
    def operator(self) -> bool:
        """May read the whole log: every scope, sensitive rows included."""
        return self.audience == "internal" and self.sensitive and self.scopes >= set(SCOPES)

    def must_be_operator(self, what: str) -> None:
        """Raises Forbidden unless the viewer may see everything."""
        if not self.operator:
            raise Forbidden(f"only an operator may {what}", hint="needs all scopes and the right to sensitive rows")

    def must_be_internal(self, what: str) -> None:
        """Raises Forbidden for public viewers and those without scope admin."""
        if self.audience != "internal" or "admin" not in self.scopes:
            raise Forbidden(f"only an internal viewer with scope admin may {what}")


class Actor(Struct, frozen=True, kw_only=True):
    """Who writes: the agent's name and its role."""

    agent: str
    role: str = "agent"


class When(Struct, frozen=True, kw_only=True):
    """The two clocks of a read. None means now; `Store.pin` replaces None by the present, once per answer."""

    valid_at: int | None = None
    known_at: int | None = None


NOW: Final = When()


class Event(Struct, frozen=True, kw_only=True, gc=False):
    """One immutable entry of the log.

    `recorded_at` is when weft first recorded it and part of its hash; `known_at` is when this store learnt it:
    the same, except for events imported into a store that had a history of its own. `rewritten`: payload and salt are
    not those that were sealed; a later `log.rewritten` event says what they are.
    """

    pos: int
    account: str
    session: str
    seq: int
    kind: str
    actor: Actor
    recorded_at: int
    known_at: int
    occurred_at: int | None
    caused_by: tuple[str, ...]
    task: str | None
    conversation: str | None
    request_id: str | None
    payload: bytes | None
    salt: bytes | None
    payload_hash: bytes
    prev_hash: bytes
    hash: bytes
    rewritten: bool = False

    @property
    def citation(self) -> str:
        return f"weft://{self.session}/events/{self.seq}#{self.hash.hex()[:8]}"


class Rewriting(Struct, frozen=True, kw_only=True):
    """That an event's payload was replaced: why, when, by whom, and the hash of what stands there since."""

    why: str
    what: str
    at: int
    actor: Actor
    citation: str
    payload_hash: str


class Commit(Struct, frozen=True, kw_only=True):
    """One transaction of the log: its events' positions, its time, and the digest that chains it to the one before."""

    first_pos: int
    count: int
    at: int
    digest: bytes


class Head(Struct, frozen=True, kw_only=True):
    """Where an account's log stands."""

    pos: int
    at: int
    digest: bytes


class SessionHead(Struct, frozen=True, kw_only=True):
    """Where one session's chain stands."""

    session: str
    seq: int
    hash: bytes


class Interval(Struct, frozen=True, kw_only=True, gc=False):
    """When a version holds, and what its author asserted: versions are pieces of assertions."""

    valid_from: int
    valid_to: int | None
    asserted_from: int
    asserted_to: int | None


class NodeVersion(Struct, frozen=True, kw_only=True, gc=False):
    """One version of one node. Only `retired_at` (with `retired_pos`, `retired_tx`) ever changes, once.

    `event` is the position of the event that asserted the content; `born` that of the event that made this row
    (later, for a copy with a shorter interval). `deleted_at` and `guard` tell today's state of the identity;
    `recorded_guard` is what the row was written with.
    """

    row: int
    id: str
    kind: str
    name: str
    summary: str
    text: str
    props: Mapping[str, Any]
    focus: str | None
    slot: str
    guard: Guard
    recorded_guard: Guard
    interval: Interval
    recorded_at: int
    born: int
    tx: str
    retired_at: int | None
    retired_pos: int | None
    retired_tx: str | None
    deleted_at: int | None
    event: int
    content_hash: bytes


class EdgeVersion(Struct, frozen=True, kw_only=True, gc=False):
    """One version of one edge. Edges join identities, not versions."""

    row: int
    src: str
    rel: str
    dst: str
    props: Mapping[str, Any]
    weight: float
    slot: str
    guard: Guard
    interval: Interval
    recorded_at: int
    born: int
    tx: str
    retired_at: int | None
    retired_pos: int | None
    retired_tx: str | None
    event: int


class Identity(Struct, frozen=True, kw_only=True, gc=False):
    """Today's state of a node: what guards judge, whatever moment is asked about."""

    id: str
    kind: str
    guard: Guard
    deleted_at: int | None = None


class Tx(Struct, frozen=True, kw_only=True):
    """One logical change. `closed_pos` is None while its later slices are still to come."""

    id: str
    kind: str
    agent: str
    session: str
    at: int
    opened_pos: int
    closed_pos: int | None
    git_commit: str | None = None
    files: tuple[str, ...] = ()
    counts: Mapping[str, int] = {}
    duration_ms: int | None = None


class Neighbour(Struct, frozen=True, kw_only=True):
    """One step from a node: the edge walked and the node reached."""

    start: str
    edge: EdgeVersion
    node: NodeVersion


class Walked(Struct, frozen=True, kw_only=True):
    """Nodes by how much of a walk from the seeds stays with them, most first; scores add up to at most 1."""

    scores: tuple[tuple[str, float], ...]
    notes: tuple[str, ...] = ()


class Find(Struct, frozen=True, kw_only=True):
    """A filter over nodes. Every part given must hold; `props` compares properties for equality.

    `keywords` keeps nodes whose property of that name lists one of them, in capitals or not. `focuses` are focus areas;
    None among them is what belongs to none. `without_kinds` leaves kinds out. `before` is a row: what came before it,
    to read on from the last of what was found, at one moment (see `Store.pin`).

    Names, shared slots and the beginning of an id are looked up; kinds and properties are read through.
    """

    names: tuple[str, ...] | None = None
    kinds: tuple[str, ...] | None = None
    projects: tuple[str | None, ...] | None = None
    slots: tuple[str, ...] | None = None
    id_prefix: str | None = None
    props: Mapping[str, Any] = {}
    keywords: tuple[str, ...] | None = None
    focuses: tuple[str | None, ...] | None = None
    without_kinds: tuple[str, ...] = ()
    before: int | None = None


class Found(Struct, frozen=True, kw_only=True):
    """Nodes that pass a filter, newest first, and the property names no visible node has."""

    nodes: tuple[NodeVersion, ...]
    unknown_props: tuple[str, ...] = ()


class Diff(Struct, frozen=True, kw_only=True):
    """What changed between two moments: (kind, id) of nodes, (src, rel, dst) of edges."""

    added: tuple[tuple[str, str], ...]
    removed: tuple[tuple[str, str], ...]
    modified: tuple[tuple[str, str], ...]
    edges_added: tuple[tuple[str, str, str], ...]
    edges_removed: tuple[tuple[str, str, str], ...]
    truncated: bool


class KindStat(Struct, frozen=True, kw_only=True):
    """A kind the viewer can find: how many nodes, and which properties they carry."""

    kind: str
    views: tuple[str, ...]
    nodes: int
    props: tuple[str, ...]


class Census(Struct, frozen=True, kw_only=True):
    """How many nodes of each kind there are, and edges of each relation between them."""

    kinds: Mapping[str, int] = {}
    relations: Mapping[str, int] = {}


class FileSchema(Struct, frozen=True, kw_only=True):
    """The schema that a file of a store has, and the one that this weft writes.

    One that is `upgradable` is brought up to date where it is, by being opened; what is older still, or newer, is not.
    """

    account: str
    audit: bool
    path: str
    found: int
    wanted: int
    upgradable: bool


class StoreStats(Struct, frozen=True, kw_only=True):
    """Counts of what the viewer may see, and the size of what is on disk."""

    nodes: int
    edges: int
    node_versions: int
    events: int
    sessions: int
    texts: int
    bytes_on_disk: int
    backend: str
    schema_version: int
