"""Contracts between weft and its stores and models. Docstrings here are the contract; `weft.testing` checks it.

A store holds many accounts. **Each account is its own log and graph**: positions, record times, chains and term
statistics never cross accounts, so one tenant can infer nothing about another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from weft.core.commits import ApplyEvents, Batch, Plan
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
from weft.core.vector_store import VectorStore

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Store(VectorStore, Protocol):
    """A place for logs and graphs. Every read takes a viewer, and a time where the answer depends on one.

    A plan runs inside the write lock and returns the batch to apply. One commit is one transaction: after an error or a
    crash, either all of it is stored or none. A plan that raises leaves the store untouched. Drivers' exceptions never
    leave a backend.
    """

    def commit(self, account: str, plan: Plan) -> Batch:
        """Runs `plan` under the account's write lock and applies its batch durably.

        A batch without a commit is a no-op.
        """
        ...

    def accounts(self) -> tuple[str, ...]:
        """Accounts that have a log here, sorted."""
        ...

    def pin(self, viewer: Viewer, when: When) -> When:
        """Replaces 'now' by the current time, so that several reads answer from one state.

        `valid_at` is at least the log's last time: a write is visible to the next read even if the clock stepped back.
        """
        ...

    def one_state(self, viewer: Viewer) -> AbstractContextManager[None]:
        """Reads of this thread inside cost less: they may share one state of the account, until this thread writes.

        Never raises: where there is no state to share, each read says so.
        """
        ...

    def head(self, viewer: Viewer) -> AccountHead: ...

    def position_at(self, viewer: Viewer, at: int) -> int:
        """The last position known at a time; 0 before the first commit."""
        ...

    def session_heads(self, viewer: Viewer, *, limit: int) -> tuple[SessionHead, ...]:
        """Heads of the sessions the viewer can see an event of, latest first."""
        ...

    def log(self, viewer: Viewer, *, after: int, limit: int) -> tuple[tuple[Commit, tuple[Event, ...]], ...]:
        """Whole commits with first position > `after`, in order, about `limit` events.

        Raises Forbidden unless `viewer.operator`.
        """
        ...

    def events(
        self, viewer: Viewer, *, session: str | None, after_seq: int, limit: int, newest_first: bool = False
    ) -> tuple[Event, ...]:
        """Events the viewer may read: those whose nodes are all visible to it, or would be if they were not erased.

        Events that made no node, and events of open changes, are for operators.
        """
        ...

    def rewriting(self, viewer: Viewer, event: Event) -> RewriteRecord | None:
        """The last rewrite of an event that the viewer may read; None if the event is unchanged."""
        ...

    def citations(self, viewer: Viewer, positions: Sequence[int]) -> Mapping[int, str]:
        """The citations of events that made a node visible to the viewer. None of open changes."""
        ...

    def nodes(self, viewer: Viewer, when: When, ids: Sequence[str]) -> tuple[NodeVersion, ...]:
        """The visible versions of these nodes, in the order of `ids`; missing ones are omitted."""
        ...

    def history(self, viewer: Viewer, node_id: str, *, limit: int) -> tuple[NodeVersion, ...]:
        """Every version of a node the viewer may see, retired ones included, by record time.

        Versions that an open change made or retired do not count yet.
        """
        ...

    def current_in_slot(self, viewer: Viewer, slot: str, *, after: int, limit: int) -> tuple[NodeVersion, ...]:
        """Current versions in a shared slot that hold at some time later than `after`, by `valid_from`.

        Versions that an open change made or retired do not count yet.
        """
        ...

    def asserted_by(self, viewer: Viewer, pos: int, *, limit: int) -> tuple[NodeVersion, ...]:
        """The first versions made by the event at `pos`; none while its change is open."""
        ...

    def last_versions(self, viewer: Viewer, which: NodeFilter, *, limit: int) -> tuple[NodeVersion, ...]:
        """The newest version of each node that fits, by id; ended and deleted nodes included.

        For deleting and restoring, never for answers: only the viewer's rights are checked. Versions of open changes do
        not count yet. Erased nodes are absent.
        """
        ...

    def deletions(self, viewer: Viewer, *, before: int | None = None, limit: int) -> tuple[Deletion, ...]:
        """Deletions by commit, of nodes that the viewer's rights admit; latest first, those before a time."""
        ...

    def find(self, viewer: Viewer, when: When, find: Find, *, limit: int) -> FindResult: ...

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
        """One step from each node, at most `limit` each, heaviest first. Both ends and the edge pass the guards.

        By the relations in `rels` (all if None) except those in `without`. Record kinds are reached only by relations
        that are named.
        """
        ...

    def links(
        self, viewer: Viewer, when: When, ids: Sequence[str], *, rels: tuple[str, ...], direction: Way, limit: int
    ) -> tuple[LeanStep, ...]:
        """The same steps as `neighbours`, for a choice among very many: no more is read than a LeanStep holds."""
        ...

    def edges(
        self, viewer: Viewer, when: When, node_id: str, *, rel: str, direction: Way, before: int | None, limit: int
    ) -> tuple[EdgeVersion, ...]:
        """A node's edges of one relation, latest row first; `before` continues below a row.

        The edges hold at that time; their end nodes need not, and may be superseded. Both ends and the edge pass the
        guards.
        """
        ...

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
        """All edges of some relations that hold, by row; `after` continues past a row.

        With `ends="held"` both end nodes hold too, with "any" they need not, as in `edges`. Both ends and the edge pass
        the guards. With `projects`, only edges from nodes of these projects.
        """
        ...

    def backlinks(self, viewer: Viewer, when: When, ids: Sequence[str], *, most: int = 1000) -> Mapping[str, int]:
        """The number of other nodes that point at each of these, counted up to `most`; zeros are omitted.

        Both ends and the edge pass the guards. Record kinds do not count, nor do relations that only place a node (see
        `weft.core.kinds.UNCOUNTED_RELATIONS`).
        """
        ...

    def encrypted(self, viewer: Viewer, when: When, *, limit: int) -> tuple[NodeVersion, ...]:
        """The visible versions whose words are encrypted, newest first. No index holds their words."""
        ...

    def search_text(self, viewer: Viewer, when: When, query: TextQuery, *, limit: int) -> TextMatches:
        """Best nodes by words; parts of a whole are separate hits. Scores use only what the viewer may see."""
        ...

    def by_name(
        self, viewer: Viewer, when: When, keys: Sequence[str], *, projects: tuple[str | None, ...] | None = None
    ) -> tuple[NameMatch, ...]:
        """Nodes with these names (see `weft.text.names`), by name, newest first; a bounded number of each."""
        ...

    def by_phrase(
        self,
        viewer: Viewer,
        when: When,
        phrases: Sequence[str],
        *,
        projects: tuple[str | None, ...] | None = None,
        limit: int = 100,
    ) -> tuple[PhraseMatch, ...]:
        """For each phrase (adjacent stems, see `weft.text.lexical.stems`) the nodes whose text contains it, newest
        first.

        If there are more than `limit`, any of them.
        """
        ...

    def spellings(
        self, viewer: Viewer, when: When, word: str, *, projects: tuple[str | None, ...] | None = None
    ) -> tuple[str, ...]:
        """Words in names of visible nodes that `word` may be a misspelling of, sorted."""
        ...

    def walk(self, viewer: Viewer, when: When, seeds: Mapping[str, float], *, limit: int) -> WalkResult:
        """Personalised PageRank from the seeds, by forward push, over nodes and edges the viewer may step on."""
        ...

    def reindex(self, viewer: Viewer, *, progress: Callable[[int, int], None]) -> tuple[str, ...]:
        """Publishes new generations of the derived indexes; returns a line for each. Operators only."""
        ...

    def reindex_due(self, viewer: Viewer) -> bool:
        """Whether `reindex` would make vector search faster: many vectors are in no published index. Operators only."""
        ...

    def publish_relations(self, viewer: Viewer) -> str | None:
        """Publishes what walks read of the graph, if it is large and has grown much since the last time.

        A process that walks for the first time then maps it, and need not read every edge. Returns what was published;
        None if nothing was due, or another process publishes now. Operators only.
        """
        ...

    def sweep(self, viewer: Viewer, *, progress: Callable[[int, int], None]) -> tuple[str, ...]:
        """Removes every derived copy of texts that no version refers to, so that none is left in the store's files.

        Texts, names, words and their counts, vectors, index files; then their remains in unused bytes of the files.
        Vectors of stored texts stay, and no answer changes. Others read and write meanwhile. Returns a note for each
        step that could not finish, for example because a long read holds the old state; another sweep finishes it. It
        may be interrupted at any time and resumed. Backups and exports are not part of the store. Raises Forbidden
        unless `viewer.operator`.
        """
        ...

    def sweep_due(self, viewer: Viewer) -> bool:
        """Whether `sweep` would remove copies, judged by a quick check. Operators only."""
        ...

    def transactions(self, viewer: Viewer, *, limit: int, git_commit: str | None = None) -> tuple[Tx, ...]:
        """Latest first. Raises Forbidden unless the viewer is internal."""
        ...

    def transaction(self, viewer: Viewer, tx_id: str) -> Tx | None: ...

    def diff(
        self,
        viewer: Viewer,
        *,
        since_pos: int,
        agent: str | None,
        projects: tuple[str | None, ...] | None = None,
        limit: int,
    ) -> Diff:
        """What holds now as known at `since_pos`, against what holds now as known now.

        With `agent`, only changes by that agent; with `projects`, nodes of these and edges from them.
        """
        ...

    def stats(self, viewer: Viewer) -> StoreStats: ...

    def indexes(self, viewer: Viewer) -> tuple[KindStat, ...]:
        """The kinds and properties that can be searched, discovered from the stored nodes."""
        ...

    def census(self, viewer: Viewer, projects: tuple[str | None, ...]) -> Census:
        """Counts of what holds now in these projects: nodes by kind, and edges that start there by relation.

        Both ends and the edge pass the guards.
        """
        ...

    def graph_rows(self, viewer: Viewer) -> Iterator[NodeVersion | EdgeVersion]:
        """Every version row, in row order, for digests. Raises Forbidden unless `viewer.operator`."""
        ...

    def node_words(
        self, viewer: Viewer, *, ids: Sequence[str] | None = None, of_kind: Callable[[str], bool] | None = None
    ) -> Iterator[NodeWords]:
        """The content of every version row, in row order, visible or not; optionally only of some nodes or kinds.

        For full scans: less than half the cost of `graph_rows`. Raises Forbidden unless `viewer.operator`.
        """
        ...

    def edge_names(self, viewer: Viewer) -> Iterator[tuple[str, str, str]]:
        """(source, relation, target) of every edge ever stored, once. Raises Forbidden unless `viewer.operator`."""
        ...

    def payloads(self, viewer: Viewer, *, after: int, limit: int) -> tuple[LoggedPayload, ...]:
        """Payloads past a position, in order, at most `limit`. Raises Forbidden unless `viewer.operator`."""
        ...

    def caused(self, viewer: Viewer) -> tuple[tuple[int, tuple[str, ...]], ...]:
        """(position, citations) of the events that name their causes. Raises Forbidden unless `viewer.operator`."""
        ...

    def header_names(self, viewer: Viewer) -> Iterator[tuple[str, str]]:
        """Every name in event headers, once: ("session", name) and so on. Raises Forbidden unless `viewer.operator`."""
        ...

    def cited(self, viewer: Viewer, citations: Sequence[str]) -> Mapping[str, int]:
        """The positions of the events that these citations name, with or without the start of their hash.

        Unknown citations are omitted. Operators only.
        """
        ...

    def events_at(self, viewer: Viewer, positions: Sequence[int]) -> tuple[Event, ...]:
        """The events at these positions, in order, each once. Raises Forbidden unless `viewer.operator`."""
        ...

    def rebuild(self, viewer: Viewer, fold: ApplyEvents, *, progress: Callable[[int, int], None]) -> None:
        """Applies the whole log again to a new graph and text index, then swaps. Readers see the old or the new one."""
        ...

    def backup(self, viewer: Viewer, target: Path) -> Path:
        """A consistent copy of the account, made while others read and write."""
        ...

    def check(self, viewer: Viewer) -> tuple[str, ...]:
        """Problems found in the files themselves, one line each; empty if there are none."""
        ...

    def close(self) -> None: ...


class Embedder(Protocol):
    """Maps texts to unit vectors of one named space."""

    @property
    def model(self) -> str:
        """The name of the space. Vectors of different names are never compared."""
        ...

    @property
    def dimensions(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One unit row per text, in order. Raises ModelError; the caller then goes on without vectors."""
        ...


@runtime_checkable
class PartEmbedder(Embedder, Protocol):
    """An embedder that also returns vectors for parts of a text, from the same run of the model."""

    def embed_with_parts(
        self, texts: Sequence[str], spans: Sequence[Sequence[tuple[int, int]]]
    ) -> tuple[NDArray[np.float32], list[NDArray[np.float32]]]:
        """Rows as of `embed`, and for each text one unit row per span of characters (in order, disjoint)."""
        ...


class AnswerJudge(Protocol):
    """Reads a question and notes together."""

    def begin(self) -> None:
        """Starts loading what it needs, in the background: it will be asked soon."""
        ...

    def judge(self, question: str, notes: Sequence[str]) -> NDArray[np.float32]:
        """A row per note: the probabilities that it tells what is asked, and that it belongs to an answer at all.

        A row depends on its own note alone. Raises ModelError; the notes are then ordered without it.
        """
        ...


class Reranker(Protocol):
    """Scores up to `most` texts against a question; `strategy` names the method, for example "cross-encoder"."""

    name: str
    strategy: str
    weight: float  # of its scores against the order so far: 0 ignores them, 1 uses them alone
    most: int

    def rank(self, query: str, texts: Sequence[str]) -> Sequence[float | None]:
        """One finite score per text, in order, higher is better; None for a text without a score.

        On any scale: only texts of one call are compared. Raises ModelError; the order so far is then kept.
        """
        ...
