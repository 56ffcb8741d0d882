"""The store in a Neo4j database."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Final

from weft.backends.neo4j import database as schema
from weft.backends.neo4j.bolt import Address, BoltServer
from weft.backends.neo4j.cypher_guards import BothClocks
from weft.backends.neo4j.read import edge_queries as steps
from weft.backends.neo4j.read import log_queries as logs
from weft.backends.neo4j.read import node_queries as reading
from weft.backends.neo4j.read.reading import Reading
from weft.backends.neo4j.search import name_queries as names
from weft.backends.neo4j.search import vector_queries as vectors
from weft.backends.neo4j.search import word_queries as words
from weft.backends.neo4j.search.walk_elsewhen import walk_then
from weft.backends.neo4j.search.walked_graph import WalkedGraphs
from weft.backends.neo4j.write import unused_rows as sweeping
from weft.backends.neo4j.write.locked_account import LockedAccount
from weft.backends.neo4j.write.side_graph import SideGraph, remove_some, stale_graphs
from weft.backends.neo4j.write.write_transactions import Writers
from weft.core.clock import Clock, SystemClock
from weft.core.commits import ApplyEvents, Batch, Plan
from weft.core.errors import Conflict, StoreError
from weft.core.queries import (
    Deletion,
    LoggedPayload,
    NameMatch,
    Near,
    NodeFilter,
    NodeWords,
    PhraseMatch,
    Space,
    SpaceCounts,
    TextMatches,
    TextQuery,
    TextVector,
    VectorMatches,
    VectorQuery,
)
from weft.core.types import (
    AccountHead,
    Census,
    Commit,
    Diff,
    Direction,
    EdgeVersion,
    Ends,
    Event,
    Find,
    FindResult,
    KindStat,
    LeanStep,
    Neighbour,
    NodeVersion,
    RewriteRecord,
    SessionHead,
    StoreStats,
    Tx,
    Viewer,
    WalkResult,
    Way,
    When,
)

NEAR_THE_END: Final = 500  # events: a rebuild this close takes the lock for the rest
STEPS: Final = 3

GenesisDigest = Callable[[str], bytes]


class Neo4jStore:
    """Implements `weft.core.ports.Store`. Opening touches nothing: the server is asked at the first use."""

    def __init__(self, address: Address, genesis: GenesisDigest, *, clock: Clock | None = None) -> None:
        self._server = BoltServer(address)
        self._genesis = genesis
        self._clock = clock or SystemClock()
        self._writers = Writers(self._server, genesis)
        self._adjacency = WalkedGraphs()
        self._lock = threading.Lock()
        self._prepared = False
        self._text_index: str | None = None
        self._vector_indexes: dict[str, str] = {}
        self._embedding: set[tuple[str, str]] = set()

    def _prepare(self) -> None:
        with self._lock:
            if not self._prepared:
                schema.prepare(self._server)
                self._text_index = schema.text_index(self._server)
                self._vector_indexes = schema.vector_indexes(self._server)
                self._prepared = True

    def _reading(self, viewer: Viewer) -> Reading | None:
        """The account's state; None before its first commit."""
        self._prepare()
        return Reading.of(self._server, viewer, self._writers.key(viewer.account))

    def _moment(self, reading: Reading, when: When) -> BothClocks:
        return reading.moment(when, self._clock.now_us())

    # Writing

    def commit(self, account: str, plan: Plan) -> Batch:
        self._prepare()
        batch = self._writers.commit(account, plan)
        self._index_vectors(account, batch.vectors)
        return batch

    def rebuild(self, viewer: Viewer, fold: ApplyEvents, *, progress: Callable[[int, int], None]) -> None:
        viewer.must_be_operator("rebuild the graph")
        if self._reading(viewer) is None:
            return
        account = viewer.account
        work = SideGraph(fold)
        self._writers.run(account, work.begin)
        while (left := self.head(viewer).pos - work.done_pos) > NEAR_THE_END:
            self._writers.run(account, work.slice)
            progress(work.done_pos, work.done_pos + left)

        def finish(place: LockedAccount) -> None:
            while work.slice(place):
                pass
            work.swap(place)

        self._writers.run(account, finish)
        self._remove_stale(account)
        progress(work.done_pos, work.done_pos)

    def _remove_stale(self, account: str) -> None:
        for g in self._writers.run(account, stale_graphs):
            while self._writers.run(account, lambda place, g=g: remove_some(place, g)):  # type: ignore[misc]
                pass

    # The log

    def one_state(self, viewer: Viewer) -> AbstractContextManager[None]:
        return nullcontext()

    def accounts(self) -> tuple[str, ...]:
        self._prepare()
        query = "MATCH (x:WeftAccount {space: $space}) WHERE x.pos IS NOT NULL RETURN x.name ORDER BY x.name"
        return tuple(name for (name,) in self._server.read(query, {"space": self._server.address.space}))

    def pin(self, viewer: Viewer, when: When) -> When:
        head = self.head(viewer)
        return When(
            valid_at=max(self._clock.now_us(), head.at) if when.valid_at is None else when.valid_at,
            known_at=head.at if when.known_at is None else when.known_at,
        )

    def head(self, viewer: Viewer) -> AccountHead:
        state = self._reading(viewer)
        return AccountHead(pos=0, at=0, digest=self._genesis(viewer.account)) if state is None else state.head

    def position_at(self, viewer: Viewer, at: int) -> int:
        state = self._reading(viewer)
        return 0 if state is None else state.position_at(at)

    def session_heads(self, viewer: Viewer, *, limit: int) -> tuple[SessionHead, ...]:
        state = self._reading(viewer)
        return () if state is None else logs.session_heads(state, limit)

    def log(self, viewer: Viewer, *, after: int, limit: int) -> tuple[tuple[Commit, tuple[Event, ...]], ...]:
        viewer.must_be_operator("read the whole log")
        state = self._reading(viewer)
        return () if state is None else logs.whole_log(state.rows, viewer.account, after, limit)

    def events(
        self, viewer: Viewer, *, session: str | None, after_seq: int, limit: int, newest_first: bool = False
    ) -> tuple[Event, ...]:
        state = self._reading(viewer)
        return () if state is None else logs.events(state, session, after_seq, limit, newest_first=newest_first)

    def rewriting(self, viewer: Viewer, event: Event) -> RewriteRecord | None:
        if not event.rewritten:
            return None
        state = self._reading(viewer)
        return None if state is None else logs.rewriting(state, event)

    def citations(self, viewer: Viewer, positions: Sequence[int]) -> Mapping[int, str]:
        state = self._reading(viewer)
        return {} if state is None else logs.citations(state, positions)

    # The graph

    def nodes(self, viewer: Viewer, when: When, ids: Sequence[str]) -> tuple[NodeVersion, ...]:
        state = self._reading(viewer)
        return () if state is None else reading.nodes(state, self._moment(state, when), ids)

    def history(self, viewer: Viewer, node_id: str, *, limit: int) -> tuple[NodeVersion, ...]:
        state = self._reading(viewer)
        return () if state is None else reading.history(state, node_id, limit)

    def current_in_slot(self, viewer: Viewer, slot: str, *, after: int, limit: int) -> tuple[NodeVersion, ...]:
        state = self._reading(viewer)
        return () if state is None else reading.current_in_slot(state, self._moment(state, When()), slot, after, limit)

    def asserted_by(self, viewer: Viewer, pos: int, *, limit: int) -> tuple[NodeVersion, ...]:
        state = self._reading(viewer)
        return () if state is None else reading.asserted_by(state, pos, limit)

    def last_versions(self, viewer: Viewer, which: NodeFilter, *, limit: int) -> tuple[NodeVersion, ...]:
        state = self._reading(viewer)
        return () if state is None else reading.last_versions(state, which, limit)

    def deletions(self, viewer: Viewer, *, before: int | None = None, limit: int) -> tuple[Deletion, ...]:
        state = self._reading(viewer)
        return () if state is None else reading.deletions(state, before, limit)

    def find(self, viewer: Viewer, when: When, find: Find, *, limit: int) -> FindResult:
        state = self._reading(viewer)
        if state is None:
            return FindResult(nodes=(), unknown_props=tuple(sorted(find.props)))
        return reading.find(state, self._moment(state, when), find, limit)

    def neighbours(
        self,
        viewer: Viewer,
        when: When,
        ids: Sequence[str],
        *,
        rels: tuple[str, ...] | None = None,
        without: tuple[str, ...] = (),
        direction: Direction = "both",
        limit: int = 20,
    ) -> tuple[Neighbour, ...]:
        state = self._reading(viewer)
        if state is None:
            return ()
        moment = self._moment(state, when)
        following = steps.EdgesFollowed(moment=moment, rels=rels, without=without, direction=direction, limit=limit)
        return steps.neighbours(state, following, ids)

    def links(
        self, viewer: Viewer, when: When, ids: Sequence[str], *, rels: tuple[str, ...], direction: Way, limit: int
    ) -> tuple[LeanStep, ...]:
        state = self._reading(viewer)
        if state is None:
            return ()
        following = steps.EdgesFollowed(moment=self._moment(state, when), rels=rels, direction=direction, limit=limit)
        return steps.links(state, following, ids)

    def edges(
        self, viewer: Viewer, when: When, node_id: str, *, rel: str, direction: Way, before: int | None, limit: int
    ) -> tuple[EdgeVersion, ...]:
        state = self._reading(viewer)
        if state is None:
            return ()
        return steps.edges(state, self._moment(state, when), node_id, rel, direction, before, limit)

    def relations(
        self,
        viewer: Viewer,
        when: When,
        rels: Sequence[str],
        *,
        projects: tuple[str | None, ...] | None = None,
        ends: Ends = "held",
        after: int = 0,
        limit: int,
    ) -> tuple[EdgeVersion, ...]:
        state = self._reading(viewer)
        if state is None:
            return ()
        return steps.relations(state, self._moment(state, when), rels, projects, ends, after, limit)

    def backlinks(self, viewer: Viewer, when: When, ids: Sequence[str], *, most: int = 1000) -> Mapping[str, int]:
        state = self._reading(viewer)
        return {} if state is None else steps.backlinks(state, self._moment(state, when), ids, most)

    def encrypted(self, viewer: Viewer, when: When, *, limit: int) -> tuple[NodeVersion, ...]:
        state = self._reading(viewer)
        return () if state is None else reading.encrypted(state, self._moment(state, when), limit)

    # Search

    def search_text(self, viewer: Viewer, when: When, query: TextQuery, *, limit: int) -> TextMatches:
        state = self._reading(viewer)
        if state is None or self._text_index is None:
            return TextMatches(hits=(), used=(), dropped=(), population=0, mean_length=0.0, truncated=False)
        return words.search(state, self._text_index, self._moment(state, when), query, limit)

    def by_name(
        self, viewer: Viewer, when: When, keys: Sequence[str], *, projects: tuple[str | None, ...] | None = None
    ) -> tuple[NameMatch, ...]:
        state = self._reading(viewer)
        return () if state is None else names.by_name(state, self._moment(state, when), keys, projects)

    def by_phrase(
        self,
        viewer: Viewer,
        when: When,
        phrases: Sequence[str],
        *,
        projects: tuple[str | None, ...] | None = None,
        limit: int = 100,
    ) -> tuple[PhraseMatch, ...]:
        state = self._reading(viewer)
        if state is None or self._text_index is None:
            return tuple(PhraseMatch(phrase=phrase, nodes=()) for phrase in phrases)
        return words.by_phrase(state, self._text_index, self._moment(state, when), phrases, projects, limit)

    def spellings(
        self, viewer: Viewer, when: When, word: str, *, projects: tuple[str | None, ...] | None = None
    ) -> tuple[str, ...]:
        state = self._reading(viewer)
        return () if state is None else names.spellings(state, self._moment(state, when), word, projects)

    def walk(self, viewer: Viewer, when: When, seeds: Mapping[str, float], *, limit: int) -> WalkResult:
        state = self._reading(viewer)
        if state is None:
            return WalkResult(scores=())
        moment = self._moment(state, when)
        found = self._adjacency.walk(state, moment, seeds, limit)
        return walk_then(state, moment, seeds, limit) if found is None else WalkResult(scores=tuple(found))

    # Vectors

    def search_vector(self, viewer: Viewer, when: When, query: VectorQuery, *, limit: int) -> VectorMatches:
        state = self._reading(viewer)
        if state is None:
            return VectorMatches(hits=())
        return vectors.search(state, self._vector_indexes, self._moment(state, when), query, limit)

    def near(
        self, viewer: Viewer, query: VectorQuery, hashes: Sequence[bytes], *, parts: bool = False
    ) -> Mapping[bytes, Near]:
        state = self._reading(viewer)
        return {} if state is None else vectors.near(state, query, hashes, parts=parts)

    def vectors(self, viewer: Viewer, model: str, hashes: Sequence[bytes]) -> Mapping[bytes, bytes]:
        state = self._reading(viewer)
        return {} if state is None else vectors.vectors(state, model, hashes)

    def without_vectors(self, viewer: Viewer, model: str, hashes: Sequence[bytes]) -> tuple[bytes, ...]:
        state = self._reading(viewer)
        return tuple(hashes) if state is None else vectors.without_vectors(state, model, hashes)

    def unembedded(
        self, viewer: Viewer, model: str, *, after: int, limit: int
    ) -> tuple[tuple[int, bytes, str, str], ...]:
        viewer.must_be_operator("read every text")
        state = self._reading(viewer)
        return () if state is None else vectors.unembedded(state, model, after, limit)

    def put_vectors(self, account: str, vectors: Sequence[TextVector]) -> None:
        self._prepare()
        if vectors:
            self._writers.run(account, lambda place: _put(place, vectors))
            self._index_vectors(account, vectors)

    def _index_vectors(self, account: str, made: Sequence[TextVector]) -> None:
        """Creates the index of a model that has many vectors by now, once."""
        a = self._writers.key(account)
        for model in {vector.model for vector in made}:
            label = vectors.label_of(a, model)
            if label in self._vector_indexes:
                continue
            query = "MATCH (m:WeftModel {a: $a, name: $model}) RETURN m.dimensions, m.count"
            ((dimensions, count),) = self._server.read(query, {"a": a, "model": model}) or [[0, 0]]
            if count > vectors.INDEX_AT:
                schema.create_vector_index(self._server, label, dimensions)
                self._vector_indexes = schema.vector_indexes(self._server)

    def space(self, viewer: Viewer) -> Space | None:
        self._prepare()
        return vectors.space(self._server.read(vectors.SPACE, {"a": self._writers.key(viewer.account)}))

    def space_counts(self, viewer: Viewer) -> SpaceCounts:
        viewer.must_be_operator("count every text")
        state = self._reading(viewer)
        return SpaceCounts(texts=0, vectors={}) if state is None else vectors.space_counts(state)

    def use_space(self, account: str, space: Space, *, instead_of: Space | None, but: Sequence[bytes] = ()) -> bool:
        self._prepare()

        def use(place: LockedAccount) -> bool:
            place.idle = True
            if place.is_new or vectors.space(place.rows(vectors.SPACE)) != instead_of:
                return False
            changes = instead_of is None or instead_of.model != space.model
            if changes and vectors.lacks(place, space.model, but):
                return False
            place.idle = False
            place.run(
                "MATCH (x:WeftAccount {a: $a}) SET x.model = $model, x.embedder = $embedder, x.url = $url",
                model=space.model,
                embedder=space.embedder,
                url=space.url,
            )
            return True

        return self._writers.run(account, use)

    def drop_vectors(self, viewer: Viewer, model: str, *, progress: Callable[[int, int], None]) -> int:
        viewer.must_be_operator("drop vectors")
        state = self._reading(viewer)
        found = None if state is None else vectors.model_of(state, model)
        if found is None:
            return 0

        def drop(place: LockedAccount) -> int:
            used = vectors.space(place.rows(vectors.SPACE))
            if used is not None and used.model == model:
                raise Conflict(
                    f"{model} is in use", hint="queries are compared with its vectors: switch to another first"
                )
            return vectors.drop_some(place, model)

        dropped = 0
        while gone := self._writers.run(viewer.account, drop):
            dropped += gone
            progress(dropped, max(found[1], dropped))
        return dropped

    @contextmanager
    def embedding_turn(self, viewer: Viewer, model: str) -> Iterator[bool]:
        viewer.must_be_operator("embed every text")
        turn = (viewer.account, model)
        with self._lock:
            mine = turn not in self._embedding
            self._embedding.add(turn)
        try:
            yield mine
        finally:
            if mine:
                with self._lock:
                    self._embedding.discard(turn)

    # Upkeep of what is derived

    def reindex(self, viewer: Viewer, *, progress: Callable[[int, int], None]) -> tuple[str, ...]:
        viewer.must_be_operator("make the indexes again")
        if self._reading(viewer) is None:
            return ()
        self._server.define(schema.STATEMENTS)
        progress(1, 1)
        return ("the server keeps its indexes up to date; missing ones were created",)

    def reindex_due(self, viewer: Viewer) -> bool:
        viewer.must_be_operator("ask for the indexes")
        return False

    def publish_relations(self, viewer: Viewer) -> str | None:
        viewer.must_be_operator("publish the relations")
        return None  # each process reads them from the server

    def sweep(self, viewer: Viewer, *, progress: Callable[[int, int], None]) -> tuple[str, ...]:
        viewer.must_be_operator("remove what was erased from the files")
        if self._reading(viewer) is None:
            return ()
        self._remove_stale(viewer.account)
        for number, step in enumerate((sweeping.remove_texts, sweeping.remove_words, sweeping.remove_vectors)):
            progress(number, STEPS)
            while self._writers.run(viewer.account, step):
                pass
        progress(STEPS, STEPS)
        return ()

    def sweep_due(self, viewer: Viewer) -> bool:
        viewer.must_be_operator("ask what is left to sweep")
        state = self._reading(viewer)
        if state is None:
            return False
        return any(state.rows(f"{which} RETURN 1 LIMIT 1") for which in (sweeping.UNUSED, sweeping.ORPHANS))

    # Transactions

    def transactions(self, viewer: Viewer, *, limit: int, git_commit: str | None = None) -> tuple[Tx, ...]:
        viewer.must_be_internal("list transactions")
        state = self._reading(viewer)
        return () if state is None else reading.transactions(state, limit, git_commit)

    def transaction(self, viewer: Viewer, tx_id: str) -> Tx | None:
        viewer.must_be_internal("read a transaction")
        state = self._reading(viewer)
        return None if state is None else reading.transaction(state, tx_id)

    def diff(
        self,
        viewer: Viewer,
        *,
        since_pos: int,
        agent: str | None,
        projects: tuple[str | None, ...] | None = None,
        limit: int,
    ) -> Diff:
        viewer.must_be_internal("compare moments")
        state = self._reading(viewer)
        if state is None:
            return Diff(added=(), removed=(), modified=(), edges_added=(), edges_removed=(), truncated=False)
        return reading.diff(state, self._moment(state, When()), since_pos, agent, projects, limit)

    # Figures

    def stats(self, viewer: Viewer) -> StoreStats:
        state = self._reading(viewer)
        nodes, edges, versions, texts, events, sessions = (0,) * 6
        if state is not None:
            nodes, edges, versions, texts = reading.counts(state, self._moment(state, When()))
            events, sessions = logs.counts(state)
        return StoreStats(
            nodes=nodes,
            edges=edges,
            node_versions=versions,
            events=events,
            sessions=sessions,
            texts=texts,
            bytes_on_disk=0,  # the server's files are out of reach
            backend="neo4j",
            schema_version=schema.SCHEMA_VERSION,
        )

    def indexes(self, viewer: Viewer) -> tuple[KindStat, ...]:
        state = self._reading(viewer)
        return () if state is None else reading.indexes(state, self._moment(state, When()))

    def census(self, viewer: Viewer, projects: tuple[str | None, ...]) -> Census:
        state = self._reading(viewer)
        return Census() if state is None else reading.census(state, self._moment(state, When()), projects)

    # Everything, for operators

    def graph_rows(self, viewer: Viewer) -> Iterator[NodeVersion | EdgeVersion]:
        viewer.must_be_operator("read every version")
        state = self._reading(viewer)
        if state is not None:
            yield from reading.graph_rows(state)

    def node_words(
        self, viewer: Viewer, *, ids: Sequence[str] | None = None, of_kind: Callable[[str], bool] | None = None
    ) -> Iterator[NodeWords]:
        viewer.must_be_operator("read every version")
        state = self._reading(viewer)
        if state is not None:
            yield from reading.node_words(state, ids, of_kind)

    def edge_names(self, viewer: Viewer) -> Iterator[tuple[str, str, str]]:
        viewer.must_be_operator("read every edge")
        state = self._reading(viewer)
        if state is not None:
            yield from reading.edge_names(state)

    def payloads(self, viewer: Viewer, *, after: int, limit: int) -> tuple[LoggedPayload, ...]:
        viewer.must_be_operator("read the whole log")
        state = self._reading(viewer)
        return () if state is None else logs.payloads(state, after, limit)

    def caused(self, viewer: Viewer) -> tuple[tuple[int, tuple[str, ...]], ...]:
        viewer.must_be_operator("read the whole log")
        state = self._reading(viewer)
        return () if state is None else logs.caused(state)

    def header_names(self, viewer: Viewer) -> Iterator[tuple[str, str]]:
        viewer.must_be_operator("read the whole log")
        state = self._reading(viewer)
        if state is not None:
            yield from logs.header_names(state)

    def cited(self, viewer: Viewer, citations: Sequence[str]) -> Mapping[str, int]:
        viewer.must_be_operator("read the whole log")
        state = self._reading(viewer)
        return {} if state is None else logs.cited(state, citations)

    def events_at(self, viewer: Viewer, positions: Sequence[int]) -> tuple[Event, ...]:
        viewer.must_be_operator("read the whole log")
        state = self._reading(viewer)
        return () if state is None else logs.events_at(state, positions)

    def backup(self, viewer: Viewer, target: Path) -> Path:
        viewer.must_be_operator("back up the store")
        raise StoreError(
            "a store in Neo4j has no files that weft can copy",
            hint="use `weft log export`, or the server's own `neo4j-admin database backup`",
        )

    def check(self, viewer: Viewer) -> tuple[str, ...]:
        viewer.must_be_operator("check the files")
        return ()

    def close(self) -> None:
        """Closes the connections."""
        self._server.close()


def _put(place: LockedAccount, made: Sequence[TextVector]) -> None:
    if place.is_new:
        place.idle = True
        return
    vectors.write_vectors(place, made)
