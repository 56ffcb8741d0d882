"""The contents of a commit, and what a plan reads inside the write lock. Docstrings are the contract, as in `ports`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from weft.core.queries import TextVector
from weft.core.types import (
    AccountHead,
    Commit,
    EdgeVersion,
    Event,
    Identity,
    NodeVersion,
    RewriteRecord,
    SessionHead,
    Tx,
)


class Retirement(Struct, frozen=True, kw_only=True, gc=False):
    """Ends the record time of one version row: the only update a row ever gets."""

    row: int
    at: int
    pos: int
    tx: str


class LexedText(Struct, frozen=True, kw_only=True, gc=False):
    """A text ready for the index: words by field, counted stems. Made outside the write lock.

    `vector` packs the CRC-32 of each stem (sorted) and its counts by field (see `weft.text.lexical`); `aliases` are the
    names of the text, with weights (see `weft.text.names`).
    """

    content_hash: bytes
    name: str
    name_key: str
    summary: str
    body: str
    stems: tuple[str, ...]
    vector: bytes
    length: int
    aliases: tuple[tuple[str, float], ...] = ()


class Changes(Struct, frozen=True, kw_only=True):
    """The graph changes of one commit, applied in this order: all of them or none."""

    identities: tuple[Identity, ...] = ()
    texts: tuple[LexedText, ...] = ()
    nodes: tuple[NodeVersion, ...] = ()
    nodes_retired: tuple[Retirement, ...] = ()
    edges: tuple[EdgeVersion, ...] = ()
    edges_retired: tuple[Retirement, ...] = ()
    transactions: tuple[Tx, ...] = ()


class NewPayload(Struct, frozen=True, kw_only=True):
    """The new payload and salt of an event."""

    pos: int
    payload: bytes
    salt: bytes


class NewNodeRow(Struct, frozen=True, kw_only=True):
    """The new content of a node version: its text by content hash, its properties, its slot."""

    row: int
    name: str
    summary: str
    text: str
    content_hash: bytes
    props: Mapping[str, Any]
    slot: str


class NewEdgeRow(Struct, frozen=True, kw_only=True):
    """The new content of an edge version."""

    row: int
    props: Mapping[str, Any]
    slot: str


class Scrub(Struct, frozen=True, kw_only=True):
    """Replacements of content that earlier commits wrote. Applied before the changes of its batch; no row is added or
    removed.

    `nodes` are (id, new id), `edges` ((src, rel, dst), new relation) with the old ids. `files` are ids of transactions
    with the files they keep. `texts` are the texts of the new rows that are not stored yet.
    """

    payloads: tuple[NewPayload, ...] = ()
    nodes: tuple[tuple[str, str], ...] = ()
    edges: tuple[tuple[tuple[str, str, str], str], ...] = ()
    node_rows: tuple[NewNodeRow, ...] = ()
    edge_rows: tuple[NewEdgeRow, ...] = ()
    texts: tuple[LexedText, ...] = ()
    files: tuple[tuple[str, tuple[str, ...]], ...] = ()


class Batch(Struct, frozen=True, kw_only=True):
    """One commit: chained events, their commit record, and their graph changes.

    `scrub` replaces stored content; a batch may be a scrub without a commit.
    """

    commit: Commit | None
    events: tuple[Event, ...]
    changes: Changes
    vectors: tuple[TextVector, ...] = ()
    scrub: Scrub | None = None


class LockedView(Protocol):
    """Reads inside the write lock, without visibility checks: by key, never by search."""

    def expect(
        self, nodes: Sequence[str], edges: Sequence[tuple[str, str, str]], texts: Sequence[bytes]
    ) -> Collection[tuple[str, str, str]]:
        """Announces the node ids, edges by (src, rel, dst) and text hashes that will be read next; replaces the last
        announcement.

        A store may read them all at once. It changes no answer, and the next write ends it. Returns edges that are
        known to have no version; the others may have any.
        """
        ...

    def head(self) -> AccountHead: ...

    def session_head(self, session: str) -> SessionHead | None: ...

    def event_hash(self, session: str, seq: int) -> bytes | None:
        """The hash of one event, or None where there is none."""
        ...

    def request(self, request_id: str) -> tuple[Event, ...]:
        """Events written under this request id, in order; empty if none."""
        ...

    def identity(self, node_id: str) -> Identity | None: ...

    def live_nodes(self, slot: str, after: int) -> tuple[NodeVersion, ...]:
        """Unretired versions in a slot that hold at some time later than `after`, by `valid_from`."""
        ...

    def live_versions(self, node_id: str) -> tuple[NodeVersion, ...]:
        """Unretired versions of one node, by `valid_from`."""
        ...

    def live_edge_versions(self, src: str, rel: str, dst: str) -> tuple[EdgeVersion, ...]:
        """Unretired versions of one edge, by `valid_from`."""
        ...

    def live_edges(self, slot: str, after: int) -> tuple[EdgeVersion, ...]:
        """The same for a slot of edges."""
        ...

    def transaction(self, tx_id: str) -> Tx | None: ...

    def open_changes(self) -> tuple[str, ...]:
        """The ids of transactions that are not closed."""
        ...

    def toucher_of_nodes(self, slot: str, changes: Sequence[str]) -> str | None:
        """One of these transactions that made or retired a version in a slot of nodes; None if none did."""
        ...

    def toucher_of_edges(self, slot: str, changes: Sequence[str]) -> str | None:
        """The same for a slot of edges."""
        ...

    def touched_since(
        self, pos: int, *, kinds: Sequence[str] = (), slots: Sequence[str] = (), limit: int
    ) -> tuple[NodeVersion, ...]:
        """Versions of nodes of these kinds, or in these slots, that were made, retired or got other rights after a
        position.

        By row, at most `limit`. An open change does not count until it is closed; then all of it counts.
        """
        ...

    def event(self, session: str, seq: int) -> Event | None:
        """One event, or None where there is none."""
        ...

    def events_since(self, pos: int, *, limit: int) -> tuple[Event, ...]:
        """Events past a position, in order."""
        ...

    def node_rows(self, node_ids: Sequence[str]) -> tuple[NodeVersion, ...]:
        """Every version of these nodes, retired ones and those of open changes included, by row."""
        ...

    def edge_rows(self, edges: Sequence[tuple[str, str, str]]) -> tuple[EdgeVersion, ...]:
        """The same for edges, by (src, rel, dst)."""
        ...

    def rows_since(self, node_row: int, edge_row: int) -> tuple[tuple[NodeVersion, ...], tuple[EdgeVersion, ...]]:
        """Versions of nodes and of edges with these row numbers or later ones, by row."""
        ...

    def next_rows(self) -> tuple[int, int]:
        """The next free row numbers: of node versions, of edge versions."""
        ...

    def has_text(self, content_hash: bytes) -> bool: ...


Plan = Callable[[LockedView], Batch]
ApplyEvents = Callable[[LockedView, Sequence[Event]], Changes]


def rewriting_of(telling: Event, event: Event) -> RewriteRecord | None:
    """What a `log.rewritten` event says of another event; None if it does not name it."""
    told = msgspec.json.decode(telling.payload or b"{}")
    hashes = (digest for session, seq, digest in told.get("events", ()) if (session, seq) == (event.session, event.seq))
    digest = next(hashes, None)
    if digest is None:
        return None
    return RewriteRecord(
        why=told["why"],
        what=told["what"],
        at=telling.recorded_at,
        actor=telling.actor,
        citation=telling.citation,
        payload_hash=digest,
    )
