"""The embedded store: a directory with one database file per account."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from weft.backends.sqlite import rows
from weft.backends.sqlite.files.backup import back_up
from weft.backends.sqlite.files.directory import ACCOUNTS
from weft.backends.sqlite.files.write_lock import alone
from weft.backends.sqlite.query import every
from weft.backends.sqlite.read import deletions, encrypted
from weft.backends.sqlite.read import diff as differ
from weft.backends.sqlite.read import find as finding
from weft.backends.sqlite.read import reads as reading
from weft.backends.sqlite.read.steps import Following, links, neighbours
from weft.backends.sqlite.schema import SCHEMA_VERSION
from weft.backends.sqlite.search import names as naming
from weft.backends.sqlite.search import words
from weft.backends.sqlite.search.past_walk import walk_then
from weft.backends.sqlite.search.vector_rows import fitting, write_vectors
from weft.backends.sqlite.search.vector_spaces import SqliteVectorSpaces
from weft.backends.sqlite.write import replace as replacing
from weft.backends.sqlite.write.apply import GraphWriter, write_log
from weft.backends.sqlite.write.plan_view import SqliteView, position_at, read_head
from weft.backends.sqlite.write.rebuild import SideTableRebuild, drop_side, read_log
from weft.core.commits import ApplyEvents, Batch, Plan
from weft.core.errors import StoreError
from weft.core.queries import (
    Deletion,
    NameMatch,
    Near,
    NodeFilter,
    PhraseMatch,
    TextMatches,
    TextQuery,
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

MAX_PROBLEMS = 20  # of each kind that a check lists
NEAR_THE_END = 200  # events: a rebuild this close takes the lock for the rest


class SqliteStore(SqliteVectorSpaces):
    """Implements `weft.core.ports.Store`. Opening touches nothing: files appear with the first write."""

    # Writing

    def commit(self, account: str, plan: Plan) -> Batch:
        with self._writing(account) as db:
            view = SqliteView(db, account, self._genesis(account))
            batch = plan(view)
            if batch.scrub is not None:
                replacing.scrub_log(db, batch.scrub)
                drop_side(db)  # a running rebuild has read erased content: it stops with a Conflict
            if batch.commit is not None:
                write_log(db, batch.commit, batch.events)
            if batch.commit is not None or batch.scrub is not None:
                expected = view.expected if batch.scrub is None else None  # a scrub renames nodes
                GraphWriter(db, expected=expected).apply(batch.changes, view.head().pos, batch.scrub)
                batch = replace(batch, vectors=fitting(db, batch.vectors))
                write_vectors(db, batch.vectors)
            return batch

    def rebuild(self, viewer: Viewer, fold: ApplyEvents, *, progress: Callable[[int, int], None]) -> None:
        viewer.must_be_operator("rebuild the graph")
        file = self._file(viewer.account)
        if not file.exists():
            return
        # A custom VFS may lock in other ways, and goes without, as in `_turn`.
        only_one = nullcontext() if self._vfs is not None else alone(file.with_suffix(".rebuild"), "rebuilding")
        with only_one:
            with self._writing(viewer.account) as db:
                work = SideTableRebuild(db, viewer.account, self._genesis(viewer.account), fold)
                work.begin()
            while (left := self.head(viewer).pos - work.done_pos) > NEAR_THE_END:
                with self._writing(viewer.account):
                    work.slice()
                progress(work.done_pos, work.done_pos + left)
            with self._writing(viewer.account):
                while work.slice():
                    pass
                work.swap()
        progress(work.done_pos, work.done_pos)

    # The log

    def accounts(self) -> tuple[str, ...]:
        return tuple(sorted(file.stem for file in (self._path / ACCOUNTS).glob("*.db")))

    def pin(self, viewer: Viewer, when: When) -> When:
        head = self.head(viewer)
        return When(
            valid_at=max(self._clock.now_us(), head.at) if when.valid_at is None else when.valid_at,
            known_at=head.at if when.known_at is None else when.known_at,
        )

    def head(self, viewer: Viewer) -> AccountHead:
        with self._reading(viewer) as db:
            genesis = self._genesis(viewer.account)
            return AccountHead(pos=0, at=0, digest=genesis) if db is None else read_head(db, genesis)

    def position_at(self, viewer: Viewer, at: int) -> int:
        with self._reading(viewer) as db:
            return 0 if db is None else position_at(db, at)

    def session_heads(self, viewer: Viewer, *, limit: int) -> tuple[SessionHead, ...]:
        with self._reading(viewer) as db:
            return () if db is None else reading.session_heads(db, viewer, limit)

    def log(self, viewer: Viewer, *, after: int, limit: int) -> tuple[tuple[Commit, tuple[Event, ...]], ...]:
        viewer.must_be_operator("read the whole log")
        with self._reading(viewer) as db:
            return () if db is None else tuple(read_log(db, viewer.account, after=after, limit=limit))

    def events(
        self, viewer: Viewer, *, session: str | None, after_seq: int, limit: int, newest_first: bool = False
    ) -> tuple[Event, ...]:
        with self._reading(viewer) as db:
            if db is None:
                return ()
            return reading.events(db, viewer, session, after_seq, limit, "DESC" if newest_first else "ASC")

    def rewriting(self, viewer: Viewer, event: Event) -> RewriteRecord | None:
        with self._reading(viewer) as db:
            return None if db is None or not event.rewritten else replacing.rewriting(db, event)

    def citations(self, viewer: Viewer, positions: Sequence[int]) -> Mapping[int, str]:
        with self._reading(viewer) as db:
            return {} if db is None else reading.citations(db, viewer, positions)

    # The graph

    def nodes(self, viewer: Viewer, when: When, ids: Sequence[str]) -> tuple[NodeVersion, ...]:
        with self._reading(viewer) as db:
            return () if db is None else reading.nodes(db, viewer, self._moment(db, when), ids)

    def history(self, viewer: Viewer, node_id: str, *, limit: int) -> tuple[NodeVersion, ...]:
        with self._reading(viewer) as db:
            return () if db is None else reading.versions(db, viewer, "n.id = ?", (node_id,), limit)

    def current_in_slot(self, viewer: Viewer, slot: str, *, after: int, limit: int) -> tuple[NodeVersion, ...]:
        with self._reading(viewer) as db:
            return (
                () if db is None else reading.current_in_slot(db, viewer, self._moment(db, When()), slot, after, limit)
            )

    def asserted_by(self, viewer: Viewer, pos: int, *, limit: int) -> tuple[NodeVersion, ...]:
        with self._reading(viewer) as db:
            return () if db is None else reading.versions(db, viewer, "v.born = ? AND v.event = ?", (pos, pos), limit)

    def last_versions(self, viewer: Viewer, which: NodeFilter, *, limit: int) -> tuple[NodeVersion, ...]:
        with self._reading(viewer) as db:
            return () if db is None else deletions.last_versions(db, viewer, which, limit)

    def deletions(self, viewer: Viewer, *, before: int | None = None, limit: int) -> tuple[Deletion, ...]:
        with self._reading(viewer) as db:
            return () if db is None else deletions.deletions(db, viewer, before, limit)

    def find(self, viewer: Viewer, when: When, find: Find, *, limit: int) -> FindResult:
        with self._reading(viewer) as db:
            if db is None:
                return FindResult(nodes=(), unknown_props=tuple(sorted(find.props)))
            return finding.find(db, viewer, self._moment(db, when), find, limit)

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
        with self._reading(viewer) as db:
            if db is None:
                return ()
            following = Following(
                viewer=viewer,
                moment=self._moment(db, when),
                rels=rels,
                without=without,
                direction=direction,
                limit=limit,
                hubs=lambda following, side: self._indexes(viewer.account).hubs(db, following, side),
            )
            return neighbours(db, following, ids)

    def links(
        self, viewer: Viewer, when: When, ids: Sequence[str], *, rels: tuple[str, ...], direction: Way, limit: int
    ) -> tuple[LeanStep, ...]:
        with self._reading(viewer) as db:
            if db is None:
                return ()
            following = Following(
                viewer=viewer,
                moment=self._moment(db, when),
                rels=rels,
                direction=direction,
                limit=limit,
                hubs=lambda following, side: self._indexes(viewer.account).hubs(db, following, side),
            )
            return links(db, following, ids)

    def edges(
        self, viewer: Viewer, when: When, node_id: str, *, rel: str, direction: Way, before: int | None, limit: int
    ) -> tuple[EdgeVersion, ...]:
        with self._reading(viewer) as db:
            if db is None:
                return ()
            return reading.edges(db, viewer, self._moment(db, when), node_id, rel, direction, before, limit)

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
        with self._reading(viewer) as db:
            if db is None:
                return ()
            return reading.relations(db, viewer, self._moment(db, when), rels, projects, ends, after, limit)

    def backlinks(self, viewer: Viewer, when: When, ids: Sequence[str], *, most: int = 1000) -> Mapping[str, int]:
        with self._reading(viewer) as db:
            return {} if db is None else reading.backlinks(db, viewer, self._moment(db, when), ids, most)

    def encrypted(self, viewer: Viewer, when: When, *, limit: int) -> tuple[NodeVersion, ...]:
        with self._reading(viewer) as db:
            return () if db is None else encrypted.encrypted(db, viewer, self._moment(db, when), limit)

    def search_text(self, viewer: Viewer, when: When, query: TextQuery, *, limit: int) -> TextMatches:
        with self._reading(viewer) as db:
            if db is None:
                return TextMatches(hits=(), used=(), dropped=(), population=0, mean_length=0.0, truncated=False)
            return words.search(db, viewer, self._moment(db, when), query, limit=limit)

    def search_vector(self, viewer: Viewer, when: When, query: VectorQuery, *, limit: int) -> VectorMatches:
        with self._reading(viewer) as db:
            if db is None:
                return VectorMatches(hits=())
            moment = self._moment(db, when)
            return self._indexes(viewer.account).search_vector(db, viewer, moment, query, limit=limit)

    def near(
        self, viewer: Viewer, query: VectorQuery, hashes: Sequence[bytes], *, parts: bool = False
    ) -> Mapping[bytes, Near]:
        with self._reading(viewer) as db:
            return {} if db is None else self._indexes(viewer.account).near(db, viewer, query, hashes, parts=parts)

    def vectors(self, viewer: Viewer, model: str, hashes: Sequence[bytes]) -> Mapping[bytes, bytes]:
        with self._reading(viewer) as db:
            return {} if db is None else reading.vectors(db, viewer, model, hashes)

    def by_name(
        self, viewer: Viewer, when: When, keys: Sequence[str], *, projects: tuple[str | None, ...] | None = None
    ) -> tuple[NameMatch, ...]:
        with self._reading(viewer) as db:
            return () if db is None else naming.by_name(db, viewer, self._moment(db, when), keys, projects)

    def by_phrase(
        self,
        viewer: Viewer,
        when: When,
        phrases: Sequence[str],
        *,
        projects: tuple[str | None, ...] | None = None,
        limit: int = 100,
    ) -> tuple[PhraseMatch, ...]:
        with self._reading(viewer) as db:
            if db is None:
                return tuple(PhraseMatch(phrase=phrase, nodes=()) for phrase in phrases)
            return words.by_phrase(db, viewer, self._moment(db, when), phrases, projects, limit)

    def spellings(
        self, viewer: Viewer, when: When, word: str, *, projects: tuple[str | None, ...] | None = None
    ) -> tuple[str, ...]:
        with self._reading(viewer) as db:
            return () if db is None else naming.spellings(db, viewer, self._moment(db, when), word, projects)

    def walk(self, viewer: Viewer, when: When, seeds: Mapping[str, float], *, limit: int) -> WalkResult:
        with self._reading(viewer) as db:
            if db is None:
                return WalkResult(scores=())
            moment = self._moment(db, when)
            found = self._indexes(viewer.account).walk(db, viewer, moment, seeds, limit=limit)
            return found or walk_then(db, viewer, moment, seeds, limit)

    def reindex(self, viewer: Viewer, *, progress: Callable[[int, int], None]) -> tuple[str, ...]:
        viewer.must_be_operator("make the indexes again")
        with self._reading(viewer) as db:
            if db is None:
                return ()
            made = self._indexes(viewer.account).publish(db, progress)
        from weft.backends.sqlite.scrub import sweep as sweeping

        # A sweep may have removed vectors that this transaction still saw.
        sweeping.sweep_indexes(self._access(viewer), partial(self._indexes, viewer.account))
        return made

    def publish_relations(self, viewer: Viewer) -> str | None:
        viewer.must_be_operator("publish the relations")
        with self._reading(viewer) as db:
            return None if db is None else self._indexes(viewer.account).publish_relations(db)

    def sweep(self, viewer: Viewer, *, progress: Callable[[int, int], None]) -> tuple[str, ...]:
        viewer.must_be_operator("remove what was erased from the files")
        from weft.backends.sqlite.scrub import sweep as sweeping

        return sweeping.sweep(self._access(viewer), partial(self._indexes, viewer.account), progress)

    # Transactions

    def transactions(self, viewer: Viewer, *, limit: int, git_commit: str | None = None) -> tuple[Tx, ...]:
        viewer.must_be_internal("list transactions")
        with self._reading(viewer) as db:
            return () if db is None else differ.transactions(db, limit, git_commit)

    def transaction(self, viewer: Viewer, tx_id: str) -> Tx | None:
        viewer.must_be_internal("read a transaction")
        with self._reading(viewer) as db:
            return None if db is None else SqliteView(db, viewer.account, b"").transaction(tx_id)

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
        with self._reading(viewer) as db:
            if db is None:
                return Diff(added=(), removed=(), modified=(), edges_added=(), edges_removed=(), truncated=False)
            return differ.diff(db, viewer, self._moment(db, When()), since_pos, agent, projects, limit)

    # Figures and upkeep

    def stats(self, viewer: Viewer) -> StoreStats:
        with self._reading(viewer) as db:
            counts = (0,) * 6 if db is None else reading.counts(db, viewer, self._moment(db, When()))
        nodes, edges, versions, events, sessions, texts = counts
        size = sum(file.stat().st_size for file in (self._path / ACCOUNTS).glob(f"{viewer.account}.db*"))
        return StoreStats(
            nodes=nodes,
            edges=edges,
            node_versions=versions,
            events=events,
            sessions=sessions,
            texts=texts,
            bytes_on_disk=size if viewer.operator else 0,
            backend="sqlite",
            schema_version=SCHEMA_VERSION,
        )

    def indexes(self, viewer: Viewer) -> tuple[KindStat, ...]:
        with self._reading(viewer) as db:
            return () if db is None else reading.indexes(db, viewer, self._moment(db, When()))

    def census(self, viewer: Viewer, projects: tuple[str | None, ...]) -> Census:
        with self._reading(viewer) as db:
            return Census() if db is None else reading.census(db, viewer, self._moment(db, When()), projects)

    def graph_rows(self, viewer: Viewer) -> Iterator[NodeVersion | EdgeVersion]:
        viewer.must_be_operator("read every version")
        with self._reading(viewer) as db:
            if db is not None:
                yield from map(rows.node_of, db.execute(f"{rows.select_nodes()} ORDER BY v.row"))
                yield from map(rows.edge_of, db.execute(f"{rows.select_edges()} ORDER BY v.row"))

    def backup(self, viewer: Viewer, target: Path) -> Path:
        viewer.must_be_operator("back up the store")
        with self._reading(viewer) as source:
            if source is None:
                raise StoreError(f"account {viewer.account} has nothing to back up yet")
            back_up(source, viewer.account, target)
        return target

    def check(self, viewer: Viewer) -> tuple[str, ...]:
        viewer.must_be_operator("check the files")
        with self._reading(viewer) as db:
            if db is None:
                return ()
            found = [line for (line,) in every(db, f"PRAGMA integrity_check({MAX_PROBLEMS})") if line != "ok"]
            return tuple(found) or words.damaged_texts(db, limit=MAX_PROBLEMS)
