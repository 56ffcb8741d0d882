"""The state of one account: its log, and the graph projected from it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import islice

from msgspec.structs import replace

from weft.core.commits import Batch, Changes, LexedText, Scrub
from weft.core.errors import Invalid
from weft.core.queries import Space, TextVector
from weft.core.types import AccountHead, Commit, EdgeVersion, Event, Guard, Identity, NodeVersion, SessionHead, Tx

EdgeKey = tuple[str, str, str]
SEPARATOR = "\x1f"  # joins the parts of an edge's own slot


class Graph:
    """The derived half of an account: the projection of the log and nothing else."""

    def __init__(self) -> None:
        self.identities: dict[str, Identity] = {}
        self.changed: dict[str, int] = {}  # position of a node's last identity change
        self.edge_guards: dict[tuple[str, str, str], Guard] = {}
        self.nodes: dict[int, NodeVersion] = {}
        self.edges: dict[int, EdgeVersion] = {}
        self.texts: dict[bytes, LexedText] = {}
        self.transactions: dict[str, Tx] = {}

    def apply(self, changes: Changes, pos: int) -> None:
        """Applies all changes of a commit. `pos` is its last position."""
        for identity in changes.identities:
            self.identities[identity.id] = identity
            self.changed[identity.id] = pos
        for text in changes.texts:
            self.texts[text.content_hash] = text
        for node in changes.nodes:
            self.nodes[node.row] = node
        for edge in changes.edges:
            self.edges[edge.row] = edge
            if edge.born == edge.event:  # a copy of an older version must not restore its rights
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

    def is_finished(self, row: NodeVersion) -> bool:
        """Whether the change that made the row is closed."""
        return self.transactions[row.tx].closed_pos is not None

    def without_open_changes(self, row: NodeVersion) -> NodeVersion:
        """A row as it is before the open change that retires it."""
        if row.retired_tx is None or self.transactions[row.retired_tx].closed_pos is not None:
            return row
        return replace(row, retired_at=None, retired_pos=None, retired_tx=None)

    def today(self, row: NodeVersion) -> NodeVersion:
        """A row with the guard and deletion of today."""
        identity = self.identities[row.id]
        return replace(row, guard=identity.guard, deleted_at=identity.deleted_at)


class Account:
    """One account. Implements `weft.core.commits.LockedView`, which plans use."""

    def __init__(self, genesis: bytes) -> None:
        self.genesis = genesis
        self.commits: list[Commit] = []
        self.log: list[Event] = []
        self.heads: dict[str, SessionHead] = {}
        self.vectors: dict[tuple[str, bytes], TextVector] = {}
        self.space: Space | None = None
        self.embedding: set[str] = set()  # models whose missing vectors a caller is adding
        self.graph = Graph()
        self._nodes_expected: dict[str, list[NodeVersion]] = {}  # rows announced by a plan, found in one scan
        self._edges_expected: dict[tuple[str, ...], list[EdgeVersion]] = {}

    # Writing

    def apply(self, batch: Batch) -> None:
        self.expect((), (), ())
        if batch.scrub is not None:
            for new in batch.scrub.payloads:
                before = self.log[new.pos - 1]
                self.log[new.pos - 1] = replace(before, payload=new.payload, salt=new.salt, rewritten=True)
            scrub(self.graph, batch.scrub)
        if batch.commit is None:
            return
        self.graph.apply(batch.changes, batch.events[-1].pos)
        self.put_vectors(self.fitting(batch.vectors))
        self.commits.append(batch.commit)
        self.log.extend(batch.events)
        for event in batch.events:
            self.heads.pop(event.session, None)  # the latest comes last
            self.heads[event.session] = SessionHead(session=event.session, seq=event.seq, hash=event.hash)

    def fitting(self, vectors: Sequence[TextVector]) -> tuple[TextVector, ...]:
        """Vectors with the dimension of their model; for a new model, that of its first vector."""
        sizes: dict[str, int] = {}
        for vector in vectors:
            sizes.setdefault(vector.model, 2 * (self.dimensions(vector.model) or len(vector.data) // 2))
        return tuple(vector for vector in vectors if len(vector.data) == sizes[vector.model])

    def dimensions(self, model: str) -> int | None:
        """The dimension of a model's vectors; None without vectors."""
        return next((len(made.data) // 2 for (name, _), made in self.vectors.items() if name == model), None)

    def put_vectors(self, vectors: Sequence[TextVector]) -> None:
        if len(self.fitting(vectors)) < len(vectors):
            raise Invalid(
                "vectors have another dimension than their model here",
                hint="vector spaces are never mixed: give another model another name",
            )
        for vector in vectors:
            if vector.content_hash in self.graph.texts:  # it may have been erased while its vector was made
                self.vectors.setdefault((vector.model, vector.content_hash), vector)

    def sweep(self) -> None:
        """Drops texts that no version refers to, and their vectors."""
        used = {row.content_hash for row in self.graph.nodes.values()}
        self.graph.texts = {key: text for key, text in self.graph.texts.items() if key in used}
        self.vectors = {key: made for key, made in self.vectors.items() if key[1] in self.graph.texts}

    # The log

    def head(self) -> AccountHead:
        if not self.commits:
            return AccountHead(pos=0, at=0, digest=self.genesis)
        last = self.commits[-1]
        return AccountHead(pos=last_pos(last), at=last.at, digest=last.digest)

    def position_at(self, at: int) -> int:
        """The last position at a time."""
        return max((last_pos(commit) for commit in self.commits if commit.at <= at), default=0)

    def whole_commits(self, pos: int) -> int:
        """The end of the last commit that is complete at a position."""
        return max((last_pos(commit) for commit in self.commits if last_pos(commit) <= pos), default=0)

    def events_of(self, commit: Commit) -> tuple[Event, ...]:
        return tuple(self.log[commit.first_pos - 1 : last_pos(commit)])

    def session_head(self, session: str) -> SessionHead | None:
        return self.heads.get(session)

    def event_hash(self, session: str, seq: int) -> bytes | None:
        return next((event.hash for event in self.log if (event.session, event.seq) == (session, seq)), None)

    def event(self, session: str, seq: int) -> Event | None:
        return next((event for event in self.log if (event.session, event.seq) == (session, seq)), None)

    def events_since(self, pos: int, *, limit: int) -> tuple[Event, ...]:
        return tuple(self.log[pos : pos + limit])

    def request(self, request_id: str) -> tuple[Event, ...]:
        return tuple(event for event in self.log if event.request_id == request_id)

    # The graph

    def identity(self, node_id: str) -> Identity | None:
        return self.graph.identities.get(node_id)

    def live_nodes(self, slot: str, after: int) -> tuple[NodeVersion, ...]:
        rows = (row for row in self._nodes_expected.get(slot, self.graph.nodes.values()) if row.slot == slot)
        return tuple(sorted((row for row in rows if _live_after(row, after)), key=_begins))

    def live_versions(self, node_id: str) -> tuple[NodeVersion, ...]:
        among = self._nodes_expected.get(node_id, self.graph.nodes.values())
        rows = (row for row in among if row.id == node_id and row.retired_pos is None)
        return tuple(sorted(rows, key=_begins))

    def live_edge_versions(self, src: str, rel: str, dst: str) -> tuple[EdgeVersion, ...]:
        among = self._edges_expected.get((src, rel, dst), self.graph.edges.values())
        rows = (row for row in among if (row.src, row.rel, row.dst) == (src, rel, dst))
        return tuple(sorted((row for row in rows if row.retired_pos is None), key=_begins))

    def live_edges(self, slot: str, after: int) -> tuple[EdgeVersion, ...]:
        among = self._edges_expected.get(tuple(slot.split("\x1f")), self.graph.edges.values())
        rows = (row for row in among if row.slot == slot)
        return tuple(sorted((row for row in rows if _live_after(row, after)), key=_begins))

    def transaction(self, tx_id: str) -> Tx | None:
        return self.graph.transactions.get(tx_id)

    def open_changes(self) -> tuple[str, ...]:
        return tuple(tx.id for tx in self.graph.transactions.values() if tx.closed_pos is None)

    def toucher_of_nodes(self, slot: str, changes: Sequence[str]) -> str | None:
        return _toucher((row for row in self.graph.nodes.values() if row.slot == slot), changes)

    def toucher_of_edges(self, slot: str, changes: Sequence[str]) -> str | None:
        return _toucher((row for row in self.graph.edges.values() if row.slot == slot), changes)

    def touched_since(
        self, pos: int, *, kinds: Sequence[str] = (), slots: Sequence[str] = (), limit: int
    ) -> tuple[NodeVersion, ...]:
        graph = self.graph

        def landed(tx: str | None) -> int:
            """Where a change became visible; before the beginning if it has not."""
            return -1 if tx is None else graph.transactions[tx].closed_pos or -1

        rows = (row for row in graph.nodes.values() if row.kind in kinds or row.slot in slots)
        touched = (
            row
            for row in rows
            if max(landed(row.tx), landed(row.retired_tx)) > pos
            or (landed(row.tx) > 0 and row.retired_pos is None and graph.changed.get(row.id, 0) > pos)
        )
        return tuple(map(graph.today, islice(touched, limit)))

    def node_rows(self, node_ids: Sequence[str]) -> tuple[NodeVersion, ...]:
        wanted = set(node_ids)
        return tuple(row for row in self.graph.nodes.values() if row.id in wanted)

    def edge_rows(self, edges: Sequence[tuple[str, str, str]]) -> tuple[EdgeVersion, ...]:
        wanted = set(edges)
        return tuple(row for row in self.graph.edges.values() if (row.src, row.rel, row.dst) in wanted)

    def rows_since(self, node_row: int, edge_row: int) -> tuple[tuple[NodeVersion, ...], tuple[EdgeVersion, ...]]:
        nodes = tuple(row for row in self.graph.nodes.values() if row.row >= node_row)
        return nodes, tuple(row for row in self.graph.edges.values() if row.row >= edge_row)

    def next_rows(self) -> tuple[int, int]:
        return len(self.graph.nodes) + 1, len(self.graph.edges) + 1

    def expect(
        self, nodes: Sequence[str], edges: Sequence[tuple[str, str, str]], texts: Sequence[bytes]
    ) -> Collection[tuple[str, str, str]]:
        self._nodes_expected = {node: [] for node in nodes}
        self._edges_expected = {edge: [] for edge in edges}
        for row in self.graph.nodes.values() if nodes else ():
            if row.id in self._nodes_expected:  # a slot that is an id is that node's own
                self._nodes_expected[row.id].append(row)
        for edge in self.graph.edges.values() if edges else ():
            if (name := (edge.src, edge.rel, edge.dst)) in self._edges_expected:
                self._edges_expected[name].append(edge)
        return {edge for edge in edges if not self._edges_expected[edge]}

    def has_text(self, content_hash: bytes) -> bool:
        return content_hash in self.graph.texts


def scrub(graph: Graph, what: Scrub) -> None:
    """Replaces the content of rows, and the names of nodes and relations, everywhere at once."""
    ids, relations = dict(what.nodes), dict(what.edges)
    for text in what.texts:
        graph.texts[text.content_hash] = text
    for new in what.node_rows:
        words = {"name": new.name, "summary": new.summary, "text": new.text, "content_hash": new.content_hash}
        graph.nodes[new.row] = replace(graph.nodes[new.row], props=new.props, slot=new.slot, **words)
    for new_edge in what.edge_rows:
        graph.edges[new_edge.row] = replace(graph.edges[new_edge.row], props=new_edge.props, slot=new_edge.slot)

    def renamed(key: EdgeKey) -> EdgeKey:
        return ids.get(key[0], key[0]), relations.get(key, key[1]), ids.get(key[2], key[2])

    for row in list(graph.nodes.values()):
        if row.id in ids:
            slot = ids[row.id] if row.slot == row.id else row.slot
            graph.nodes[row.row] = replace(row, id=ids[row.id], slot=slot)
    for edge in list(graph.edges.values()):
        key = (edge.src, edge.rel, edge.dst)
        if (new_key := renamed(key)) != key:
            slot = SEPARATOR.join(new_key) if edge.slot == SEPARATOR.join(key) else edge.slot
            graph.edges[edge.row] = replace(edge, src=new_key[0], rel=new_key[1], dst=new_key[2], slot=slot)
    graph.edge_guards = {renamed(key): guard for key, guard in graph.edge_guards.items()}
    for old, new_id in what.nodes:
        graph.identities[new_id] = replace(graph.identities.pop(old), id=new_id)
        graph.changed[new_id] = graph.changed.pop(old)
    for tx, files in what.files:
        graph.transactions[tx] = replace(graph.transactions[tx], files=files)


def last_pos(commit: Commit) -> int:
    """The position of a commit's last event."""
    return commit.first_pos + commit.count - 1


def _toucher(rows: Iterable[NodeVersion] | Iterable[EdgeVersion], changes: Sequence[str]) -> str | None:
    touched = (tx for row in rows for tx in (row.tx, row.retired_tx) if tx in changes)
    return next(touched, None)


def _begins(row: NodeVersion | EdgeVersion) -> int:
    return row.interval.valid_from


def _live_after(row: NodeVersion | EdgeVersion, after: int) -> bool:
    ends = row.interval.valid_to
    return row.retired_pos is None and (ends is None or ends > after)
