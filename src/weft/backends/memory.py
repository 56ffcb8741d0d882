"""The reference model: a store in plain Python lists, written to be obviously right rather than fast.

Every read walks all rows and asks each guard in turn. Other backends are compared with this one. Nothing survives
the process.
"""

from __future__ import annotations

import struct
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from msgspec.structs import replace

from weft import lexical
from weft.errors import Forbidden, Invalid, StoreError
from weft.instants import Clock, SystemClock
from weft.ports import Batch, Changes, FoldLog, LexedText, Plan
from weft.types import (
    DAMPING,
    DEFAULT_RELATION_WEIGHT,
    RECORD_KINDS,
    RELATION_WEIGHTS,
    STRUCTURAL_KINDS,
    Commit,
    Diff,
    Direction,
    EdgeVersion,
    Event,
    Find,
    Found,
    Guard,
    Head,
    Identity,
    Interval,
    KindStat,
    Neighbour,
    NodeVersion,
    SessionHead,
    StoreStats,
    TextHit,
    TextMatches,
    TextQuery,
    Tx,
    Vector,
    VectorHit,
    VectorMatches,
    VectorQuery,
    Viewer,
    Walked,
    When,
    views_of,
)

GenesisDigest = Callable[[str], bytes]
Key = TypeVar("Key", bound=tuple[str, ...])
Sides = tuple[bool, bool, bool]  # held before, holds after, touched in between

_ADDED: Sides = (False, True, True)
_REMOVED: Sides = (True, False, True)
_MODIFIED: Sides = (True, True, True)


class _Graph:
    """The derived half of an account: what a fold makes, and nothing else."""

    def __init__(self) -> None:
        self.identities: dict[str, Identity] = {}
        self.edge_guards: dict[tuple[str, str, str], Guard] = {}
        self.nodes: dict[int, NodeVersion] = {}
        self.edges: dict[int, EdgeVersion] = {}
        self.texts: dict[bytes, LexedText] = {}
        self.transactions: dict[str, Tx] = {}

    def apply(self, changes: Changes) -> None:
        for identity in changes.identities:
            self.identities[identity.id] = identity
        for text in changes.texts:
            self.texts[text.content_hash] = text
        for node in changes.nodes:
            self.nodes[node.row] = node
        for edge in changes.edges:
            self.edges[edge.row] = edge
            if edge.born == edge.event:  # a copy of an older version must not bring its rights back
                self.edge_guards[edge.src, edge.rel, edge.dst] = edge.guard
        for gone in changes.nodes_retired:
            self.nodes[gone.row] = replace(
                self.nodes[gone.row], retired_at=gone.at, retired_pos=gone.pos, retired_tx=gone.tx
            )
        for gone in changes.edges_retired:
            self.edges[gone.row] = replace(
                self.edges[gone.row], retired_at=gone.at, retired_pos=gone.pos, retired_tx=gone.tx
            )
        for tx in changes.transactions:
            self.transactions[tx.id] = tx

    def today(self, row: NodeVersion) -> NodeVersion:
        """A row with what guards judge today."""
        identity = self.identities[row.id]
        return replace(row, guard=identity.guard, deleted_at=identity.deleted_at)


class _Account:
    """One account: its log, and the view of it that plans see."""

    def __init__(self, genesis: bytes) -> None:
        self.genesis = genesis
        self.commits: list[Commit] = []
        self.log: list[Event] = []
        self.heads: dict[str, SessionHead] = {}
        self.vectors: dict[tuple[str, bytes], bytes] = {}
        self.graph = _Graph()

    def head(self) -> Head:
        if not self.commits:
            return Head(pos=0, at=0, digest=self.genesis)
        last = self.commits[-1]
        return Head(pos=last.first_pos + last.count - 1, at=last.at, digest=last.digest)

    def session_head(self, session: str) -> SessionHead | None:
        return self.heads.get(session)

    def event_hash(self, session: str, seq: int) -> bytes | None:
        return next((event.hash for event in self.log if (event.session, event.seq) == (session, seq)), None)

    def request(self, request_id: str) -> tuple[Event, ...]:
        return tuple(event for event in self.log if event.request_id == request_id)

    def identity(self, node_id: str) -> Identity | None:
        return self.graph.identities.get(node_id)

    def live_nodes(self, slot: str, after: int) -> tuple[NodeVersion, ...]:
        rows = (row for row in self.graph.nodes.values() if row.slot == slot)
        return tuple(sorted((row for row in rows if _live_after(row, after)), key=_begins))

    def live_versions(self, node_id: str) -> tuple[NodeVersion, ...]:
        rows = (row for row in self.graph.nodes.values() if row.id == node_id and row.retired_pos is None)
        return tuple(sorted(rows, key=_begins))

    def live_edge_versions(self, src: str, rel: str, dst: str) -> tuple[EdgeVersion, ...]:
        rows = (row for row in self.graph.edges.values() if (row.src, row.rel, row.dst) == (src, rel, dst))
        return tuple(sorted((row for row in rows if row.retired_pos is None), key=_begins))

    def live_edges(self, slot: str, after: int) -> tuple[EdgeVersion, ...]:
        rows = (row for row in self.graph.edges.values() if row.slot == slot)
        return tuple(sorted((row for row in rows if _live_after(row, after)), key=_begins))

    def transaction(self, tx_id: str) -> Tx | None:
        return self.graph.transactions.get(tx_id)

    def open_changes(self) -> tuple[str, ...]:
        return tuple(tx.id for tx in self.graph.transactions.values() if tx.closed_pos is None)

    def toucher_of_nodes(self, slot: str, changes: Sequence[str]) -> str | None:
        return _toucher((row for row in self.graph.nodes.values() if row.slot == slot), changes)

    def toucher_of_edges(self, slot: str, changes: Sequence[str]) -> str | None:
        return _toucher((row for row in self.graph.edges.values() if row.slot == slot), changes)

    def next_rows(self) -> tuple[int, int]:
        return len(self.graph.nodes) + 1, len(self.graph.edges) + 1

    def has_text(self, content_hash: bytes) -> bool:
        return content_hash in self.graph.texts

    def put_vectors(self, vectors: Sequence[Vector]) -> None:
        for vector in vectors:
            sizes = {len(data) for (model, _), data in self.vectors.items() if model == vector.model}
            if sizes and len(vector.data) not in sizes:
                raise Invalid(f"vectors of {vector.model} have another dimension here", hint="spaces are never mixed")
            self.vectors.setdefault((vector.model, vector.content_hash), vector.data)

    def apply(self, batch: Batch) -> None:
        if batch.commit is None:
            return
        self.graph.apply(batch.changes)
        self.put_vectors(batch.vectors)
        self.commits.append(batch.commit)
        self.log.extend(batch.events)
        for event in batch.events:
            self.heads.pop(event.session, None)  # the latest stands last
            self.heads[event.session] = SessionHead(session=event.session, seq=event.seq, hash=event.hash)


def _toucher(rows: Iterable[NodeVersion] | Iterable[EdgeVersion], changes: Sequence[str]) -> str | None:
    touched = (tx for row in rows for tx in (row.tx, row.retired_tx) if tx in changes)
    return next(touched, None)


def _begins(row: NodeVersion | EdgeVersion) -> int:
    return row.interval.valid_from


def _live_after(row: NodeVersion | EdgeVersion, after: int) -> bool:
    ends = row.interval.valid_to
    return row.retired_pos is None and (ends is None or ends > after)


def _holds(interval: Interval, at: int) -> bool:
    return interval.valid_from <= at and (interval.valid_to is None or at < interval.valid_to)


def _steps_on(viewer: Viewer, identity: Identity) -> bool:
    """Layer 3 for expansion: untagged structure may be stepped on by an agent limited to its tags."""
    if viewer.admits(identity.guard):
        return True
    untagged = replace(viewer, audience="internal")
    return not identity.guard.agents and identity.kind in STRUCTURAL_KINDS and untagged.admits(identity.guard)


class MemoryStore:
    """Implements `weft.ports.Store` for one process."""

    def __init__(self, genesis: GenesisDigest, *, clock: Clock | None = None) -> None:
        self._genesis = genesis
        self._clock = clock or SystemClock()
        self._accounts: dict[str, _Account] = {}
        self._lock = threading.RLock()

    # Writing

    def commit(self, account: str, plan: Plan) -> Batch:
        with self._lock:
            place = self._accounts.get(account) or _Account(self._genesis(account))
            batch = plan(place)
            place.apply(batch)
            if batch.commit is not None:
                self._accounts[account] = place
            return batch

    def rebuild(self, viewer: Viewer, fold: FoldLog, *, progress: Callable[[int, int], None]) -> None:
        _operator_only(viewer, "rebuild the graph")
        with self._lock:
            place = self._account(viewer)
            side = _Account(place.genesis)
            for commit in place.commits:
                events = tuple(place.log[commit.first_pos - 1 : commit.first_pos - 1 + commit.count])
                side.apply(Batch(commit=commit, events=events, changes=fold(side, events)))
                progress(commit.first_pos - 1 + commit.count, len(place.log))
            place.graph = side.graph

    # The log

    def accounts(self) -> tuple[str, ...]:
        with self._lock:
            return tuple(sorted(self._accounts))

    def _account(self, viewer: Viewer) -> _Account:
        return self._accounts.get(viewer.account) or _Account(self._genesis(viewer.account))

    def pin(self, viewer: Viewer, when: When) -> When:
        with self._lock:
            head = self._account(viewer).head()
        present = max(self._clock.now_us(), head.at)
        return When(
            valid_at=present if when.valid_at is None else when.valid_at,
            known_at=head.at if when.known_at is None else when.known_at,
        )

    def head(self, viewer: Viewer) -> Head:
        with self._lock:
            return self._account(viewer).head()

    def position_at(self, viewer: Viewer, at: int) -> int:
        with self._lock:
            commits = self._account(viewer).commits
            return max((commit.first_pos + commit.count - 1 for commit in commits if commit.at <= at), default=0)

    def session_heads(self, viewer: Viewer, *, limit: int) -> tuple[SessionHead, ...]:
        with self._lock:
            place = self._account(viewer)
            if viewer.operator:  # every session, also one whose events are gone: that is what verify looks for
                return tuple(reversed(place.heads.values()))[:limit]
            latest = {event.session: event.pos for event in place.log if self._event_visible(viewer, place, event)}
            order = sorted(latest, key=lambda session: -latest[session])
            return tuple(place.heads[session] for session in order[:limit])

    def log(self, viewer: Viewer, *, after: int, limit: int) -> tuple[tuple[Commit, tuple[Event, ...]], ...]:
        _operator_only(viewer, "read the whole log")
        with self._lock:
            place = self._account(viewer)
            found: list[tuple[Commit, tuple[Event, ...]]] = []
            taken = 0
            for commit in place.commits:
                if commit.first_pos > after and taken < limit:
                    start = commit.first_pos - 1
                    found.append((commit, tuple(place.log[start : start + commit.count])))
                    taken += commit.count
            return tuple(found)

    def _event_visible(self, viewer: Viewer, place: _Account, event: Event) -> bool:
        rows = [row for row in place.graph.nodes.values() if row.born == event.pos and row.event == event.pos]
        if not rows:
            return viewer.operator
        return all(self._node_visible(viewer, place.graph, row, structural=False) for row in rows)

    def events(
        self, viewer: Viewer, *, session: str | None, after_seq: int, limit: int, newest_first: bool = False
    ) -> tuple[Event, ...]:
        with self._lock:
            place = self._account(viewer)
            ordered = reversed(place.log) if newest_first else iter(place.log)
            wanted = (e for e in ordered if session in (None, e.session) and e.seq > after_seq)
            found = [event for event in wanted if self._event_visible(viewer, place, event)]
            return tuple(found[:limit])

    def citations(self, viewer: Viewer, positions: Sequence[int]) -> Mapping[int, str]:
        with self._lock:
            place = self._account(viewer)
            made = {
                row.event
                for row in place.graph.nodes.values()
                if self._node_visible(viewer, place.graph, row, structural=True)
            }
            return {pos: place.log[pos - 1].citation for pos in positions if pos in made}

    # The graph

    def _node_visible(self, viewer: Viewer, graph: _Graph, row: NodeVersion, *, structural: bool) -> bool:
        identity = graph.identities[row.id]
        admitted = _steps_on(viewer, identity) if structural else viewer.admits(identity.guard)
        return identity.deleted_at is None and admitted

    def _known(self, graph: _Graph, row: NodeVersion | EdgeVersion, pos: int) -> bool:
        """Record time: made by then, not retired by then; changes still open at that position do not count."""

        def landed(made: int, tx_id: str) -> bool:
            tx = graph.transactions[tx_id]
            if tx.opened_pos <= made and tx.closed_pos is not None:
                return made <= pos and (tx.closed_pos <= pos)
            return False

        if not landed(row.born, row.tx):
            return False
        return row.retired_pos is None or row.retired_tx is None or not landed(row.retired_pos, row.retired_tx)

    def _moment(self, viewer: Viewer, place: _Account, when: When) -> tuple[int, int]:
        pinned = self.pin(viewer, when)
        known = pinned.known_at if pinned.known_at is not None else 0
        return pinned.valid_at or 0, self.position_at(viewer, known)

    def _visible_nodes(self, viewer: Viewer, when: When, *, structural: bool = False) -> Iterator[NodeVersion]:
        place = self._account(viewer)
        valid_at, pos = self._moment(viewer, place, when)
        for row in place.graph.nodes.values():
            if (
                self._node_visible(viewer, place.graph, row, structural=structural)
                and self._known(place.graph, row, pos)
                and _holds(row.interval, valid_at)
            ):
                yield place.graph.today(row)

    def nodes(self, viewer: Viewer, when: When, ids: Sequence[str]) -> tuple[NodeVersion, ...]:
        with self._lock:
            found = {row.id: row for row in self._visible_nodes(viewer, when)}
            return tuple(found[each] for each in dict.fromkeys(ids) if each in found)

    def history(self, viewer: Viewer, node_id: str, *, limit: int) -> tuple[NodeVersion, ...]:
        with self._lock:
            graph = self._account(viewer).graph
            rows = [row for row in graph.nodes.values() if row.id == node_id]
            visible = [row for row in rows if self._node_visible(viewer, graph, row, structural=False)]
            return tuple(graph.today(row) for row in visible[:limit])

    def asserted_by(self, viewer: Viewer, pos: int, *, limit: int) -> tuple[NodeVersion, ...]:
        with self._lock:
            graph = self._account(viewer).graph
            rows = [row for row in graph.nodes.values() if row.born == pos and row.event == pos]
            visible = [row for row in rows if self._node_visible(viewer, graph, row, structural=False)]
            return tuple(graph.today(row) for row in visible[:limit])

    def find(self, viewer: Viewer, when: When, find: Find, *, limit: int) -> Found:
        with self._lock:
            rows = list(self._visible_nodes(viewer, when))
            keys = None if find.names is None else {lexical.name_key(name) for name in find.names}
            kept = [
                row
                for row in rows
                if (keys is None or lexical.name_key(row.name) in keys)
                and (find.kinds is None or row.kind in find.kinds)
                and (find.projects is None or row.guard.project in find.projects)
                and all(key in row.props and _same_json(row.props[key], value) for key, value in find.props.items())
            ]
            kept.sort(key=lambda row: -row.row)
            present = {key for row in rows for key in row.props}
            unknown = tuple(sorted(key for key in find.props if key not in present))
            return Found(nodes=tuple(kept[:limit]), unknown_props=unknown)

    def neighbours(
        self,
        viewer: Viewer,
        when: When,
        ids: Sequence[str],
        *,
        rels: tuple[str, ...] | None = None,
        direction: Direction = "both",
        limit: int = 20,
    ) -> tuple[Neighbour, ...]:
        with self._lock:
            place = self._account(viewer)
            valid_at, pos = self._moment(viewer, place, when)
            nodes = {row.id: row for row in self._visible_nodes(viewer, when, structural=True)}
            starts = {row.id for row in self._visible_nodes(viewer, when)}
            steps: list[Neighbour] = []
            edges = [
                edge
                for edge in place.graph.edges.values()
                if self._known(place.graph, edge, pos)
                and _holds(edge.interval, valid_at)
                and self._edge_visible(viewer, place.graph, edge)
                and (rels is None or edge.rel in rels)
            ]
            edges.sort(key=lambda edge: (-edge.weight, edge.row))
            for start in dict.fromkeys(ids):
                found = []
                for edge in edges:
                    other = _other_end(edge, start, direction)
                    if start in starts | _structural_starts(nodes, start) and other in nodes:
                        found.append(Neighbour(start=start, edge=edge, node=nodes[other]))
                steps.extend(found[:limit])
            return tuple(steps)

    def _edge_visible(self, viewer: Viewer, graph: _Graph, edge: EdgeVersion) -> bool:
        guard = graph.edge_guards[edge.src, edge.rel, edge.dst]
        untagged = replace(viewer, audience="internal")
        return viewer.admits(guard) or (not guard.agents and untagged.admits(guard))

    def search_text(self, viewer: Viewer, when: When, query: TextQuery, *, limit: int) -> TextMatches:
        with self._lock:
            graph = self._account(viewer).graph
            live = [
                row
                for row in graph.nodes.values()
                if row.retired_pos is None
                and self._node_visible(viewer, graph, row, structural=False)
                and (query.projects is None or graph.identities[row.id].guard.project in query.projects)
            ]
            texts = [graph.texts[row.content_hash] for row in live]
            held = [set(lexical.term_hashes(text.vector)) for text in texts]
            frequencies = {term: sum(lexical.term_hash(term) in one for one in held) for term, _ in query.terms}
            used, dropped = lexical.choose_terms(query.terms, frequencies, len(live))
            mean_length = sum(text.length for text in texts) / len(texts) if texts else 0.0
            bm25 = lexical.Bm25(used, mean_length=mean_length, k1=query.k1, b=query.b)
            hits = []
            for row in self._visible_nodes(viewer, when):
                if query.projects is not None and row.guard.project not in query.projects:
                    continue
                if query.kinds is not None and row.kind not in query.kinds:
                    continue
                text = graph.texts[row.content_hash]
                score, parts = bm25.score(text.vector, text.length)
                if parts:
                    hits.append(TextHit(node=row, score=score, parts=parts))
            hits.sort(key=lambda hit: (-hit.score, -hit.node.row))
            return TextMatches(
                hits=tuple(hits[:limit]), used=used, dropped=dropped, population=len(live), truncated=False
            )

    def put_vectors(self, account: str, vectors: Sequence[Vector]) -> None:
        with self._lock:
            place = self._accounts.get(account)
            if place is not None:
                place.put_vectors(vectors)

    def search_vector(self, viewer: Viewer, when: When, query: VectorQuery, *, limit: int) -> VectorMatches:
        with self._lock:
            place = self._account(viewer)
            rows = [
                row
                for row in self._visible_nodes(viewer, when)
                if (query.projects is None or row.guard.project in query.projects)
                and (query.kinds is None or row.kind in query.kinds)
            ]
            known = self.cosines(viewer, query, [row.content_hash for row in rows])
            hits = [VectorHit(node=row, cosine=known[row.content_hash]) for row in rows if row.content_hash in known]
            hits.sort(key=lambda hit: (-hit.cosine, -hit.node.row))
            made = sum(model == query.model for model, _ in place.vectors)
            return VectorMatches(hits=tuple(hits[:limit]), pending=max(0, len(place.graph.texts) - made))

    def cosines(self, viewer: Viewer, query: VectorQuery, hashes: Sequence[bytes]) -> Mapping[bytes, float]:
        wanted = struct.unpack(f"{len(query.data) // 4}f", query.data)
        found = {}
        with self._lock:
            vectors = self._account(viewer).vectors
            for each in hashes:
                data = vectors.get((query.model, each))
                if data is not None:
                    values = struct.unpack(f"<{len(data) // 2}e", data)
                    found[each] = sum(a * b for a, b in zip(values, wanted, strict=True))
        return found

    def without_vectors(self, viewer: Viewer, model: str, hashes: Sequence[bytes]) -> tuple[bytes, ...]:
        with self._lock:
            vectors = self._account(viewer).vectors
            return tuple(each for each in hashes if (model, each) not in vectors)

    def unembedded(self, viewer: Viewer, model: str, *, after: int, limit: int) -> tuple[tuple[int, bytes, str], ...]:
        _operator_only(viewer, "read every text")
        with self._lock:
            place = self._account(viewer)
            found = [
                (at, key, lexical.text_to_embed(text.name, text.summary, text.body))
                for at, (key, text) in enumerate(place.graph.texts.items(), start=1)
                if at > after and (model, key) not in place.vectors
            ]
            return tuple(found[:limit])

    def walk(self, viewer: Viewer, when: When, seeds: Mapping[str, float], *, limit: int) -> Walked:
        """The same random walk, worked out by iterating until nothing moves."""
        with self._lock:
            place = self._account(viewer)
            valid_at, pos = self._moment(viewer, place, when)
            nodes = {
                row.id for row in self._visible_nodes(viewer, when, structural=True) if row.kind not in RECORD_KINDS
            }
            steps: dict[str, list[tuple[str, float]]] = {node: [] for node in nodes}
            for edge in place.graph.edges.values():
                weight = edge.weight * RELATION_WEIGHTS.get(edge.rel, DEFAULT_RELATION_WEIGHT)
                if (
                    {edge.src, edge.dst} <= nodes
                    and weight > 0
                    and self._known(place.graph, edge, pos)
                    and _holds(edge.interval, valid_at)
                    and self._edge_visible(viewer, place.graph, edge)
                ):
                    steps[edge.src].append((edge.dst, weight))
                    steps[edge.dst].append((edge.src, weight))
        started = {node: weight for node, weight in seeds.items() if node in nodes and weight > 0}
        order = sorted(_iterate(steps, started).items(), key=lambda each: (-each[1], each[0]))
        return Walked(scores=tuple(order[:limit]))

    def reindex(self, viewer: Viewer, *, progress: Callable[[int, int], None]) -> tuple[str, ...]:
        _operator_only(viewer, "make the indexes again")
        return ()

    # Transactions

    def transactions(self, viewer: Viewer, *, limit: int, git_commit: str | None = None) -> tuple[Tx, ...]:
        _internal_only(viewer, "list transactions")
        with self._lock:
            every = self._account(viewer).graph.transactions.values()
            found = [tx for tx in every if git_commit is None or _same_commit(tx.git_commit, git_commit)]
            return tuple(sorted(found, key=lambda tx: -tx.opened_pos)[:limit])

    def transaction(self, viewer: Viewer, tx_id: str) -> Tx | None:
        _internal_only(viewer, "read a transaction")
        with self._lock:
            return self._account(viewer).graph.transactions.get(tx_id)

    def diff(self, viewer: Viewer, *, since_pos: int, agent: str | None, limit: int) -> Diff:
        _internal_only(viewer, "compare moments")
        with self._lock:
            graph = self._account(viewer).graph
            present, head = self._moment(viewer, self._account(viewer), When())
            ends = (commit.first_pos + commit.count - 1 for commit in self._account(viewer).commits)
            since_pos = max((end for end in ends if end <= since_pos), default=0)

            def counts(made: int | None, tx_id: str | None) -> bool:
                """The change landed since: it was made, and what it is part of was complete, by now and not then."""
                if made is None or tx_id is None:
                    return False
                tx = graph.transactions[tx_id]
                if tx.closed_pos is None or max(made, tx.closed_pos) <= since_pos:
                    return False
                return agent is None or tx.agent == agent

            def sides(rows: list[NodeVersion] | list[EdgeVersion]) -> Sides:
                holding = [row for row in rows if _holds(row.interval, present)]
                before = any(self._known(graph, row, since_pos) for row in holding)
                after = any(self._known(graph, row, head) for row in holding)
                touched = any(counts(row.born, row.tx) or counts(row.retired_pos, row.retired_tx) for row in rows)
                return before, after, touched

            by_node: dict[tuple[str, str], list[NodeVersion]] = {}
            for row in graph.nodes.values():
                if self._node_visible(viewer, graph, row, structural=False):
                    by_node.setdefault((row.kind, row.id), []).append(row)
            by_edge: dict[tuple[str, str, str], list[EdgeVersion]] = {}
            visible = {node_id for _, node_id in by_node}
            for edge in graph.edges.values():
                if self._edge_visible(viewer, graph, edge) and {edge.src, edge.dst} <= visible:
                    by_edge.setdefault((edge.src, edge.rel, edge.dst), []).append(edge)
            nodes = {key: sides(rows) for key, rows in by_node.items()}
            edges = {key: sides(rows) for key, rows in by_edge.items()}
            return _make_diff(nodes, edges, limit)

    # Figures and upkeep

    def stats(self, viewer: Viewer) -> StoreStats:
        with self._lock:
            place = self._account(viewer)
            nodes = list(self._visible_nodes(viewer, When()))
            ids = {row.id for row in nodes}
            valid_at, pos = self._moment(viewer, place, When())
            edges = [
                edge
                for edge in place.graph.edges.values()
                if self._known(place.graph, edge, pos)
                and _holds(edge.interval, valid_at)
                and self._edge_visible(viewer, place.graph, edge)
                and {edge.src, edge.dst} <= ids
            ]
            versions = [
                r for r in place.graph.nodes.values() if self._node_visible(viewer, place.graph, r, structural=False)
            ]
            events = [event for event in place.log if self._event_visible(viewer, place, event)]
            return StoreStats(
                nodes=len(nodes),
                edges=len(edges),
                node_versions=len(versions),
                events=len(events),
                sessions=len({event.session for event in events}),
                texts=len({row.content_hash for row in versions}),
                bytes_on_disk=0,
                backend="memory",
                schema_version=0,
            )

    def indexes(self, viewer: Viewer) -> tuple[KindStat, ...]:
        with self._lock:
            kinds: dict[str, list[NodeVersion]] = {}
            for row in self._visible_nodes(viewer, When()):
                kinds.setdefault(row.kind, []).append(row)
            return tuple(
                KindStat(
                    kind=kind,
                    views=views_of(kind),
                    nodes=len(rows),
                    props=tuple(sorted({key for row in rows for key in row.props})),
                )
                for kind, rows in sorted(kinds.items())
            )

    def graph_rows(self, viewer: Viewer) -> Iterator[NodeVersion | EdgeVersion]:
        _operator_only(viewer, "read every version")
        with self._lock:
            graph = self._account(viewer).graph
            rows: list[NodeVersion | EdgeVersion] = [graph.today(row) for row in graph.nodes.values()]
            rows.extend(graph.edges.values())
        yield from rows

    def backup(self, viewer: Viewer, target: Path) -> Path:
        raise StoreError("a store in memory has no files to back up", hint="use `weft log export`, or a sqlite store")

    def check(self, viewer: Viewer) -> tuple[str, ...]:
        return ()

    def close(self) -> None:
        """Nothing to release."""


def _iterate(steps: Mapping[str, list[tuple[str, float]]], seeds: Mapping[str, float]) -> dict[str, float]:
    """What stays with each node of a walk that goes on with probability DAMPING and ends where there is no way on."""
    total = sum(seeds.values())
    held = {node: weight / total for node, weight in seeds.items()}
    stays: dict[str, float] = {}
    while held and max(held.values()) > 1e-12:
        moved: dict[str, float] = {}
        for node, share in held.items():
            degree = sum(weight for _, weight in steps[node])
            stays[node] = stays.get(node, 0.0) + share * (1.0 - DAMPING if degree else 1.0)
            for other, weight in steps[node]:
                moved[other] = moved.get(other, 0.0) + DAMPING * share * weight / degree
        held = moved
    return stays


def _structural_starts(nodes: dict[str, NodeVersion], start: str) -> set[str]:
    return {start} if start in nodes and nodes[start].kind in STRUCTURAL_KINDS else set()


def _other_end(edge: EdgeVersion, start: str, direction: Direction) -> str | None:
    if edge.src == start and direction in ("out", "both"):
        return edge.dst
    if edge.dst == start and direction in ("in", "both"):
        return edge.src
    return None


def _same_json(left: object, right: object) -> bool:
    """Equal as JSON: 1 and 1.0 are the same number, true and 1 are not the same value."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_same_json(left[key], right[key]) for key in left)
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(_same_json, left, right))
    return left == right


def _same_commit(written: str | None, asked: str) -> bool:
    return written is not None and len(asked) >= 7 and written.startswith(asked)


def _keys(table: dict[Key, Sides], wanted: Sides) -> tuple[Key, ...]:
    return tuple(sorted(key for key, sides in table.items() if sides == wanted))


def _make_diff(
    nodes: dict[tuple[str, str], Sides],
    edges: dict[tuple[str, str, str], Sides],
    limit: int,
) -> Diff:
    added, removed, modified = (_keys(nodes, sides) for sides in (_ADDED, _REMOVED, _MODIFIED))
    edges_added, edges_removed = (_keys(edges, sides) for sides in (_ADDED, _REMOVED))
    lists = (added, removed, modified, edges_added, edges_removed)
    return Diff(
        added=added[:limit],
        removed=removed[:limit],
        modified=modified[:limit],
        edges_added=edges_added[:limit],
        edges_removed=edges_removed[:limit],
        truncated=any(len(each) > limit for each in lists),
    )


def _operator_only(viewer: Viewer, what: str) -> None:
    if not viewer.operator:
        raise Forbidden(f"only an operator may {what}", hint="needs all scopes and the right to sensitive rows")


def _internal_only(viewer: Viewer, what: str) -> None:
    if viewer.audience != "internal" or "admin" not in viewer.scopes:
        raise Forbidden(f"only an internal viewer with scope admin may {what}")
