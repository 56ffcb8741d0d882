"""The in-memory store: accounts behind one lock."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from msgspec.structs import replace

from weft.backends.memory import changes, deletions, search
from weft.backends.memory import counts as figures
from weft.backends.memory import names as naming
from weft.backends.memory import reads as reading
from weft.backends.memory.account import Account, last_pos
from weft.backends.memory.vector_spaces import MemoryVectorSpaces
from weft.backends.memory.walk import walk
from weft.core.commits import ApplyEvents, Batch, Plan
from weft.core.errors import StoreError
from weft.core.queries import (
    Deletion,
    LoggedPayload,
    NameMatch,
    NodeFilter,
    NodeWords,
    PhraseMatch,
    TextMatches,
    TextQuery,
)
from weft.core.types import (
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


class MemoryStore(MemoryVectorSpaces):
    """Implements `weft.core.ports.Store` for one process."""

    # Writing

    def commit(self, account: str, plan: Plan) -> Batch:
        with self._lock:
            place = self._accounts.get(account) or Account(self._genesis(account))
            batch = plan(place)
            batch = replace(batch, vectors=place.fitting(batch.vectors))
            place.apply(batch)
            if batch.commit is not None:
                self._accounts[account] = place
            return batch

    def rebuild(self, viewer: Viewer, fold: ApplyEvents, *, progress: Callable[[int, int], None]) -> None:
        viewer.must_be_operator("rebuild the graph")
        with self._lock:
            place = self._account(viewer)
            side = Account(place.genesis)
            for commit in place.commits:
                events = place.events_of(commit)
                side.apply(Batch(commit=commit, events=events, changes=fold(side, events)))
                progress(last_pos(commit), len(place.log))
            place.graph = side.graph

    def reindex(self, viewer: Viewer, *, progress: Callable[[int, int], None]) -> tuple[str, ...]:
        viewer.must_be_operator("make the indexes again")
        return ()

    def reindex_due(self, viewer: Viewer) -> bool:
        viewer.must_be_operator("ask for the indexes")
        return False

    def publish_relations(self, viewer: Viewer) -> str | None:
        viewer.must_be_operator("publish the relations")
        return None

    def sweep(self, viewer: Viewer, *, progress: Callable[[int, int], None]) -> tuple[str, ...]:
        viewer.must_be_operator("remove what was erased from the files")
        with self._lock:
            self._account(viewer).sweep()
        progress(1, 1)
        return ()

    def sweep_due(self, viewer: Viewer) -> bool:
        viewer.must_be_operator("ask what is left to sweep")
        with self._lock:
            graph = self._account(viewer).graph
            return graph.texts.keys() > {row.content_hash for row in graph.nodes.values()}

    # The log

    def one_state(self, viewer: Viewer) -> AbstractContextManager[None]:
        return nullcontext()

    def accounts(self) -> tuple[str, ...]:
        with self._lock:
            return tuple(sorted(self._accounts))

    def session_heads(self, viewer: Viewer, *, limit: int) -> tuple[SessionHead, ...]:
        with self._lock:
            return reading.session_heads(self._sight(viewer), limit)

    def log(self, viewer: Viewer, *, after: int, limit: int) -> tuple[tuple[Commit, tuple[Event, ...]], ...]:
        viewer.must_be_operator("read the whole log")
        with self._lock:
            return reading.whole_log(self._account(viewer), after, limit)

    def events(
        self, viewer: Viewer, *, session: str | None, after_seq: int, limit: int, newest_first: bool = False
    ) -> tuple[Event, ...]:
        with self._lock:
            sight = self._sight(viewer)
            ordered = reversed(sight.account.log) if newest_first else iter(sight.account.log)
            return reading.events(sight, ordered, session, after_seq, limit)

    def rewriting(self, viewer: Viewer, event: Event) -> RewriteRecord | None:
        with self._lock:
            return reading.rewriting(self._sight(viewer), event)

    def citations(self, viewer: Viewer, positions: Sequence[int]) -> Mapping[int, str]:
        with self._lock:
            return reading.citations(self._sight(viewer), positions)

    # The graph

    def nodes(self, viewer: Viewer, when: When, ids: Sequence[str]) -> tuple[NodeVersion, ...]:
        with self._seeing(viewer, when) as (sight, moment):
            return reading.nodes(sight, moment, ids)

    def history(self, viewer: Viewer, node_id: str, *, limit: int) -> tuple[NodeVersion, ...]:
        with self._lock:
            return reading.versions(self._sight(viewer), lambda row: row.id == node_id, limit)

    def current_in_slot(self, viewer: Viewer, slot: str, *, after: int, limit: int) -> tuple[NodeVersion, ...]:
        with self._seeing(viewer, When()) as (sight, moment):
            return reading.current_in_slot(sight, moment, slot, after, limit)

    def asserted_by(self, viewer: Viewer, pos: int, *, limit: int) -> tuple[NodeVersion, ...]:
        with self._lock:
            return reading.versions(self._sight(viewer), lambda row: row.born == pos and row.event == pos, limit)

    def last_versions(self, viewer: Viewer, which: NodeFilter, *, limit: int) -> tuple[NodeVersion, ...]:
        with self._lock:
            return deletions.last_versions(self._sight(viewer), which, limit)

    def deletions(self, viewer: Viewer, *, before: int | None = None, limit: int) -> tuple[Deletion, ...]:
        with self._lock:
            return deletions.deletions(self._sight(viewer), before, limit)

    def find(self, viewer: Viewer, when: When, find: Find, *, limit: int) -> FindResult:
        with self._seeing(viewer, when) as (sight, moment):
            return reading.find(sight, moment, find, limit)

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
        with self._seeing(viewer, when) as (sight, moment):
            return reading.neighbours(sight, moment, ids, rels, without, direction, limit)

    def links(
        self, viewer: Viewer, when: When, ids: Sequence[str], *, rels: tuple[str, ...], direction: Way, limit: int
    ) -> tuple[LeanStep, ...]:
        with self._seeing(viewer, when) as (sight, moment):
            steps = reading.neighbours(sight, moment, ids, rels, (), direction, limit)
            return tuple(reading.link_of(each, direction) for each in steps)

    def edges(
        self, viewer: Viewer, when: When, node_id: str, *, rel: str, direction: Way, before: int | None, limit: int
    ) -> tuple[EdgeVersion, ...]:
        with self._seeing(viewer, when) as (sight, moment):
            return reading.edges(sight, moment, node_id, rel, direction, before, limit)

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
        with self._seeing(viewer, when) as (sight, moment):
            return reading.relations(sight, moment, rels, projects, ends, after, limit)

    def backlinks(self, viewer: Viewer, when: When, ids: Sequence[str], *, most: int = 1000) -> Mapping[str, int]:
        with self._seeing(viewer, when) as (sight, moment):
            return reading.backlinks(sight, moment, ids, most)

    def walk(self, viewer: Viewer, when: When, seeds: Mapping[str, float], *, limit: int) -> WalkResult:
        with self._seeing(viewer, when) as (sight, moment):
            return walk(sight, moment, seeds, limit)

    def encrypted(self, viewer: Viewer, when: When, *, limit: int) -> tuple[NodeVersion, ...]:
        with self._seeing(viewer, when) as (sight, moment):
            return search.encrypted(sight, moment, limit)

    def search_text(self, viewer: Viewer, when: When, query: TextQuery, *, limit: int) -> TextMatches:
        with self._seeing(viewer, when) as (sight, moment):
            return search.search_text(sight, moment, query, limit)

    def by_name(
        self, viewer: Viewer, when: When, keys: Sequence[str], *, projects: tuple[str | None, ...] | None = None
    ) -> tuple[NameMatch, ...]:
        with self._seeing(viewer, when) as (sight, moment):
            return naming.by_name(sight, moment, keys, projects)

    def by_phrase(
        self,
        viewer: Viewer,
        when: When,
        phrases: Sequence[str],
        *,
        projects: tuple[str | None, ...] | None = None,
        limit: int = 100,
    ) -> tuple[PhraseMatch, ...]:
        with self._seeing(viewer, when) as (sight, moment):
            return search.by_phrase(sight, moment, phrases, projects, limit)

    def spellings(
        self, viewer: Viewer, when: When, word: str, *, projects: tuple[str | None, ...] | None = None
    ) -> tuple[str, ...]:
        with self._seeing(viewer, when) as (sight, moment):
            return naming.spellings(sight, moment, word, projects)

    # Transactions

    def transactions(self, viewer: Viewer, *, limit: int, git_commit: str | None = None) -> tuple[Tx, ...]:
        viewer.must_be_internal("list transactions")
        with self._lock:
            return changes.transactions(self._account(viewer), limit, git_commit)

    def transaction(self, viewer: Viewer, tx_id: str) -> Tx | None:
        viewer.must_be_internal("read a transaction")
        with self._lock:
            return self._account(viewer).transaction(tx_id)

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
        with self._seeing(viewer, When()) as (sight, now):
            return changes.diff(sight, now, since_pos, agent, projects, limit)

    # Figures and upkeep

    def stats(self, viewer: Viewer) -> StoreStats:
        with self._seeing(viewer, When()) as (sight, now):
            return figures.stats(sight, now)

    def indexes(self, viewer: Viewer) -> tuple[KindStat, ...]:
        with self._seeing(viewer, When()) as (sight, now):
            return figures.kinds(sight, now)

    def census(self, viewer: Viewer, projects: tuple[str | None, ...]) -> Census:
        with self._seeing(viewer, When()) as (sight, now):
            return figures.census(sight, now, projects)

    def graph_rows(self, viewer: Viewer) -> Iterator[NodeVersion | EdgeVersion]:
        viewer.must_be_operator("read every version")
        with self._lock:
            graph = self._account(viewer).graph
            rows: list[NodeVersion | EdgeVersion] = [graph.today(row) for row in graph.nodes.values()]
            rows.extend(graph.edges.values())
        yield from rows

    def node_words(
        self, viewer: Viewer, *, ids: Sequence[str] | None = None, of_kind: Callable[[str], bool] | None = None
    ) -> Iterator[NodeWords]:
        viewer.must_be_operator("read every version")
        with self._lock:
            found = reading.node_words(self._account(viewer).graph, ids, of_kind)
        yield from found

    def edge_names(self, viewer: Viewer) -> Iterator[tuple[str, str, str]]:
        viewer.must_be_operator("read every edge")
        with self._lock:
            found = dict.fromkeys((row.src, row.rel, row.dst) for row in self._account(viewer).graph.edges.values())
        yield from found

    def payloads(self, viewer: Viewer, *, after: int, limit: int) -> tuple[LoggedPayload, ...]:
        viewer.must_be_operator("read the whole log")
        with self._lock:
            return reading.payloads(self._account(viewer), after, limit)

    def caused(self, viewer: Viewer) -> tuple[tuple[int, tuple[str, ...]], ...]:
        viewer.must_be_operator("read the whole log")
        with self._lock:
            return tuple((event.pos, event.caused_by) for event in self._account(viewer).log if event.caused_by)

    def header_names(self, viewer: Viewer) -> Iterator[tuple[str, str]]:
        viewer.must_be_operator("read the whole log")
        with self._lock:
            yield from reading.header_names(self._account(viewer))

    def cited(self, viewer: Viewer, citations: Sequence[str]) -> Mapping[str, int]:
        viewer.must_be_operator("read the whole log")
        wanted = frozenset(citations)
        with self._lock:
            log = self._account(viewer).log
            names = ((name, event.pos) for event in log for name in (event.citation, event.citation.partition("#")[0]))
            return {name: pos for name, pos in names if name in wanted}

    def events_at(self, viewer: Viewer, positions: Sequence[int]) -> tuple[Event, ...]:
        viewer.must_be_operator("read the whole log")
        with self._lock:
            log = self._account(viewer).log
            return tuple(log[pos - 1] for pos in sorted(set(positions)) if 0 < pos <= len(log))

    def backup(self, viewer: Viewer, target: Path) -> Path:
        raise StoreError("a store in memory has no files to back up", hint="use `weft log export`, or a sqlite store")

    def check(self, viewer: Viewer) -> tuple[str, ...]:
        return ()

    def close(self) -> None:
        """Nothing to release."""
