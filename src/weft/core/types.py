"""The frozen values that every package uses.

Times are integers of microseconds (see `weft.core.clock`). Intervals are half open: `valid_from` is included,
`valid_to` is excluded, None is unbounded.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from msgspec import Struct

from weft.core.clock import parse_instant
from weft.core.errors import Forbidden, Invalid
from weft.core.kinds import HAPPENS_AT

Scope = Literal["public", "shared", "admin"]
Audience = Literal["internal", "public"]
Direction = Literal["out", "in", "both"]
Way = Literal["out", "in"]
Ends = Literal["held", "any"]  # whether the end nodes of edges must hold as well

SCOPES: Final[tuple[Scope, ...]] = ("public", "shared", "admin")

# Bounds, stated once.
MAX_PAYLOAD_BYTES: Final = 1_000_000
MAX_EVENTS_PER_COMMIT: Final = 10_000
MAX_QUERY_CHARACTERS: Final = 32_768
MAX_LIMIT: Final = 100
MAX_READ_EVENTS: Final = 10_000
MAX_IDS_PER_READ: Final = 1_000

# Transition weights of a walk, in both directions; other relations count as much as CONTAINS.
RELATION_WEIGHTS: Final[Mapping[str, float]] = {
    "CALLS": 0.9,
    "IMPORTS": 0.7,
    "DEFINED_IN": 0.6,
    "CONTAINS": 0.5,
    "TESTS": 0.4,
    "APPLIES_TO": 0.4,
    "INVOLVES": 0.3,
    # Provenance says nothing about the subject of a node: walks do not follow it.
    "PRODUCED": 0.0,
    "RAISED_DURING": 0.0,
}
DEFAULT_RELATION_WEIGHT: Final = 0.5
DAMPING: Final = 0.85  # the probability that a walk goes on


class Guard(Struct, frozen=True, kw_only=True, gc=False):
    """Decides who may see a node or an edge. Nodes with equal guards form one visibility group of the store."""

    project: str | None = None
    scope: Scope = "admin"
    agents: tuple[str, ...] = ()
    sensitive: bool = False


class Viewer(Struct, frozen=True, kw_only=True):
    """The caller of a read. Comes from the environment or an authenticated connection, never from an argument.

    `subscribes` is set while an agent's own keywords are looked up: untagged nodes may then be found too.
    """

    account: str
    scopes: frozenset[str]
    agent: str | None = None
    audience: Audience = "internal"
    sensitive: bool = False
    subscribes: bool = False

    @property
    def tagged_only(self) -> bool:
        """A named public agent sees only nodes that are tagged for it."""
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
    """The author of a write: the agent's name and its role."""

    agent: str
    role: str = "agent"


class Writer(Struct, frozen=True, kw_only=True):
    """The author of events: the actor, and the session and account that its events belong to."""

    account: str
    session: str
    actor: Actor


class When(Struct, frozen=True, kw_only=True):
    """The valid time and the record time of a read. None means now; `Store.pin` replaces None by the current time, once
    per answer.
    """

    valid_at: int | None = None
    known_at: int | None = None


NOW: Final = When()


class Event(Struct, frozen=True, kw_only=True, gc=False):
    """One immutable entry of the log.

    `recorded_at` is when weft first recorded it, and part of its hash; `known_at` is when this store received it: the
    same, except for events imported into a store that had its own history. `rewritten`: payload and salt are not the
    hashed ones; a later `log.rewritten` event holds their hash.
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


class RewriteRecord(Struct, frozen=True, kw_only=True):
    """The replacement of an event's payload: why, when, by whom, and the hash of the new payload."""

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


class AccountHead(Struct, frozen=True, kw_only=True):
    """The end of an account's log: last position, time, digest."""

    pos: int
    at: int
    digest: bytes


class SessionHead(Struct, frozen=True, kw_only=True):
    """The end of one session's chain."""

    session: str
    seq: int
    hash: bytes


class Interval(Struct, frozen=True, kw_only=True, gc=False):
    """The valid time of a version, and the interval its author asserted: versions are pieces of assertions."""

    valid_from: int
    valid_to: int | None
    asserted_from: int
    asserted_to: int | None


class NodeVersion(Struct, frozen=True, kw_only=True, gc=False):
    """One version of one node. Only `retired_at` (with `retired_pos`, `retired_tx`) ever changes, once.

    `event` is the position of the event that asserted the content; `born` that of the event that made this row (later,
    for a copy with a shorter interval). `deleted_at` and `guard` are today's state of the identity; `recorded_guard` is
    the guard the row was written with.
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

    @property
    def happens_at(self) -> int:
        """When it happens, of a memory of something that lay ahead when it was kept; else since when it holds."""
        ahead = self.props.get(HAPPENS_AT)
        try:
            return parse_instant(ahead) if isinstance(ahead, str) else self.interval.valid_from
        except Invalid:  # a property of that name from elsewhere
            return self.interval.valid_from


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
    """Today's state of a node. Guards are checked against it, whatever time is asked about."""

    id: str
    kind: str
    guard: Guard
    deleted_at: int | None = None


class Tx(Struct, frozen=True, kw_only=True):
    """One logical change. `closed_pos` is None while further commits of it are to come."""

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


class LeanStep(Struct, frozen=True, kw_only=True, gc=False):
    """One step from a node without its words: where it leads, and what decides whether to go there."""

    start: str
    rel: str
    inward: bool
    id: str
    kind: str
    guard: Guard
    edge_project: str | None
    valid_from: int
    valid_to: int | None


class WalkResult(Struct, frozen=True, kw_only=True):
    """Nodes by their PageRank score, highest first; scores add up to at most 1."""

    scores: tuple[tuple[str, float], ...]
    notes: tuple[str, ...] = ()


class Find(Struct, frozen=True, kw_only=True):
    """A filter over nodes. Every part given must hold; `props` compares properties for equality.

    `keywords` keeps nodes whose property of that name lists one of them, ignoring case. `focuses` are focus areas; None
    among them means no focus area. `without_kinds` excludes kinds. `begins` keeps versions that began to hold in that
    interval. `before` is a row: results below it, to continue from the last one at the same pinned time (see
    `Store.pin`).

    Names, shared slots and id prefixes use an index; kinds and properties are scanned.
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
    begins: tuple[int, int] | None = None
    before: int | None = None


class FindResult(Struct, frozen=True, kw_only=True):
    """Nodes that pass a filter, newest first, and the properties in the filter that no visible node has."""

    nodes: tuple[NodeVersion, ...]
    unknown_props: tuple[str, ...] = ()


class Diff(Struct, frozen=True, kw_only=True):
    """Changes between two positions: (kind, id) of nodes, (src, rel, dst) of edges."""

    added: tuple[tuple[str, str], ...]
    removed: tuple[tuple[str, str], ...]
    modified: tuple[tuple[str, str], ...]
    edges_added: tuple[tuple[str, str, str], ...]
    edges_removed: tuple[tuple[str, str, str], ...]
    truncated: bool


class KindStat(Struct, frozen=True, kw_only=True):
    """A kind that the viewer can find: the number of nodes and their properties."""

    kind: str
    views: tuple[str, ...]
    nodes: int
    props: tuple[str, ...]


class Census(Struct, frozen=True, kw_only=True):
    """The number of nodes of each kind, and of edges of each relation between them."""

    kinds: Mapping[str, int] = {}
    relations: Mapping[str, int] = {}


class FileSchema(Struct, frozen=True, kw_only=True):
    """The schema version of a store's file, and the version this weft writes.

    An `upgradable` file is upgraded in place when it is opened; older and newer ones are not.
    """

    account: str
    audit: bool
    path: str
    found: int
    wanted: int
    upgradable: bool


class StoreStats(Struct, frozen=True, kw_only=True):
    """Counts of what the viewer may see, and the size on disk."""

    nodes: int
    edges: int
    node_versions: int
    events: int
    sessions: int
    texts: int
    bytes_on_disk: int
    backend: str
    schema_version: int
