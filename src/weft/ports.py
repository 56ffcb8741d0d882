"""The contracts between weft and what it stands on. Docstrings here are the contract; `weft.testing` checks it.

A store keeps many accounts. **Each account is its own log and graph**: positions, record times, chains and term
statistics never cross accounts, so nothing of one tenant can be inferred from another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from weft.commits import Batch, FoldLog, Plan
from weft.queries import (
    Deletion,
    Holding,
    LoggedPayload,
    Named,
    NodeWords,
    TextMatches,
    TextQuery,
    Which,
)
from weft.types import (
    Census,
    Commit,
    Diff,
    Direction,
    EdgeVersion,
    Ends,
    Event,
    Find,
    Found,
    Head,
    KindStat,
    Neighbour,
    NodeVersion,
    Rewriting,
    SessionHead,
    StoreStats,
    Tx,
    Viewer,
    Walked,
    Way,
    When,
)
from weft.vector_store import VectorStore

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Store(VectorStore, Protocol):
    """A place for logs and graphs. Every read takes a viewer, and a moment where the answer depends on one.

    A plan runs inside the write lock and returns the batch to apply. One commit is one transaction: after an
    error or a crash either all of it is there or none. Whatever a plan raises leaves the store untouched.
    Drivers' exceptions never leave a backend.
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
        """Replaces 'now' by the present, so that several reads answer from one state.

        `valid_at` becomes at least the log's last time: a write is visible to the next read even if the clock
        stepped back.
        """
        ...

    def head(self, viewer: Viewer) -> Head: ...

    def position_at(self, viewer: Viewer, at: int) -> int:
        """The last position known at a moment; 0 before the beginning."""
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
        """Events the viewer may read: those all of whose nodes it may see, or might see if they were not erased.

        Events that made no node, and those of changes still open, are for operators.
        """
        ...

    def rewriting(self, viewer: Viewer, event: Event) -> Rewriting | None:
        """By what an event that the viewer may read was rewritten last; None if it is as it was sealed."""
        ...

    def citations(self, viewer: Viewer, positions: Sequence[int]) -> Mapping[int, str]:
        """The citations of these events, as far as the viewer may see a node that each made. None of open changes."""
        ...

    def nodes(self, viewer: Viewer, when: When, ids: Sequence[str]) -> tuple[NodeVersion, ...]:
        """The visible versions of these nodes, in the order of `ids`; missing ones are left out."""
        ...

    def history(self, viewer: Viewer, node_id: str, *, limit: int) -> tuple[NodeVersion, ...]:
        """Every version of a node the viewer may see, retired ones included, by record time.

        What a change still open made or retired does not count yet.
        """
        ...

    def standing(self, viewer: Viewer, slot: str, *, after: int, limit: int) -> tuple[NodeVersion, ...]:
        """Versions in a shared slot that stand today and hold at some moment later than `after`, by `valid_from`.

        What a change still open made or retired does not count yet.
        """
        ...

    def asserted_by(self, viewer: Viewer, pos: int, *, limit: int) -> tuple[NodeVersion, ...]:
        """The first versions that the event at `pos` made; none while its change is open."""
        ...

    def last_versions(self, viewer: Viewer, which: Which, *, limit: int) -> tuple[NodeVersion, ...]:
        """The newest version of each node that fits, by id: of nodes that ended and of deleted ones too.

        For taking nodes out of sight and bringing them back, never for answering: only the viewer's rights are asked.
        What a change still open made does not count yet. What was erased is not there.
        """
        ...

    def deletions(self, viewer: Viewer, *, before: int | None = None, limit: int) -> tuple[Deletion, ...]:
        """What commits deleted, of nodes that the viewer's rights admit; the latest first, those before a moment."""
        ...

    def find(self, viewer: Viewer, when: When, find: Find, *, limit: int) -> Found: ...

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

        By the relations in `rels` (all if None) but those in `without`. Records of weft's own working are reached only
        by relations that are named.
        """
        ...

    def edges(
        self, viewer: Viewer, when: When, node_id: str, *, rel: str, direction: Way, before: int | None, limit: int
    ) -> tuple[EdgeVersion, ...]:
        """A node's edges of one relation, latest row first, from those before a row on.

        The edges hold at that moment; what they join need not, be it of another time or superseded since. Both ends
        and the edge pass the guards.
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
        """All edges of some relations that hold, by row, from those past a row on.

        What they join holds too, unless any `ends` will do: then it need not, as in `edges`. Both ends and the edge
        pass the guards. With `projects`, edges from nodes of these projects.
        """
        ...

    def backlinks(self, viewer: Viewer, when: When, ids: Sequence[str], *, most: int = 1000) -> Mapping[str, int]:
        """How many other nodes point at each of these, counted up to `most`; those with none are left out.

        Both ends and the edge pass the guards. Records of weft's own working do not count, nor do the relations that
        only place a node (see `weft.kinds.UNCOUNTED_RELATIONS`).
        """
        ...

    def sealed(self, viewer: Viewer, when: When, *, limit: int) -> tuple[NodeVersion, ...]:
        """The visible versions whose words are sealed, newest first. No index tells of what they say."""
        ...

    def search_text(self, viewer: Viewer, when: When, query: TextQuery, *, limit: int) -> TextMatches:
        """Best nodes by words, parts of a whole one by one. Scores use only what the viewer may see."""
        ...

    def named(
        self, viewer: Viewer, when: When, keys: Sequence[str], *, projects: tuple[str | None, ...] | None = None
    ) -> tuple[Named, ...]:
        """Nodes that go by these names (see `weft.names`), by name, newest first; a bounded number of each."""
        ...

    def holding(
        self,
        viewer: Viewer,
        when: When,
        phrases: Sequence[str],
        *,
        projects: tuple[str | None, ...] | None = None,
        limit: int = 100,
    ) -> tuple[Holding, ...]:
        """For each phrase (stems in a row, see `weft.lexical.stems`) the nodes whose text holds it, newest first.

        Where there are more than `limit`, any of them.
        """
        ...

    def spellings(
        self, viewer: Viewer, when: When, word: str, *, projects: tuple[str | None, ...] | None = None
    ) -> tuple[str, ...]:
        """Words in names of visible nodes that `word` may be a misspelling of, sorted."""
        ...

    def walk(self, viewer: Viewer, when: When, seeds: Mapping[str, float], *, limit: int) -> Walked:
        """Personalised PageRank from the seeds over what the viewer may step on, by forward push."""
        ...

    def reindex(self, viewer: Viewer, *, progress: Callable[[int, int], None]) -> tuple[str, ...]:
        """Publishes new generations of the derived indexes; says what it made. Operators only."""
        ...

    def reindex_due(self, viewer: Viewer) -> bool:
        """Whether `reindex` would make vectors quicker to search: many are in no published index. Operators only."""
        ...

    def sweep(self, viewer: Viewer, *, progress: Callable[[int, int], None]) -> tuple[str, ...]:
        """Removes every derived copy of texts that no version has any more, so that none is left in the store's files.

        Texts, names, words and how often they are counted, vectors, index files; then what is left of them in bytes
        that the store no longer uses. Vectors of texts that are there stay, and no answer changes. Others read and
        write meanwhile. Returns a note for each thing that could not be done now, as where a long read keeps the old
        state; another sweep then does it. Stopped at any moment, another sweep goes on. Copies that backups and exports
        made are not the store's. Raises Forbidden unless `viewer.operator`.
        """
        ...

    def sweep_due(self, viewer: Viewer) -> bool:
        """Whether copies are left that `sweep` would remove, as far as a quick look tells. Operators only."""
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
        """What holds now, as known at `since_pos` against as known now.

        With `agent`, only what that agent's changes touched; with `projects`, nodes of these and edges from them.
        """
        ...

    def stats(self, viewer: Viewer) -> StoreStats: ...

    def indexes(self, viewer: Viewer) -> tuple[KindStat, ...]:
        """The kinds and properties that can be searched, discovered from what is there."""
        ...

    def census(self, viewer: Viewer, projects: tuple[str | None, ...]) -> Census:
        """Counts what holds now in these projects: nodes by kind, and edges that begin there by relation.

        Both ends and the edge pass the guards.
        """
        ...

    def graph_rows(self, viewer: Viewer) -> Iterator[NodeVersion | EdgeVersion]:
        """Every version row, in row order, for digests. Raises Forbidden unless `viewer.operator`."""
        ...

    def node_words(
        self, viewer: Viewer, *, ids: Sequence[str] | None = None, of_kind: Callable[[str], bool] | None = None
    ) -> Iterator[NodeWords]:
        """What every version row says, in row order, whoever may see it; only of some nodes or kinds if asked for.

        For looking through all of them: it costs less than half of `graph_rows`. Raises Forbidden but for operators.
        """
        ...

    def edge_names(self, viewer: Viewer) -> Iterator[tuple[str, str, str]]:
        """(source, relation, target) of every edge that there ever was, once. Raises Forbidden but for operators."""
        ...

    def payloads(self, viewer: Viewer, *, after: int, limit: int) -> tuple[LoggedPayload, ...]:
        """Payloads past a position, in order, at most `limit`. Raises Forbidden unless `viewer.operator`."""
        ...

    def caused(self, viewer: Viewer) -> tuple[tuple[int, tuple[str, ...]], ...]:
        """(position, citations) of the events that name what brought them about. Raises Forbidden but for operators."""
        ...

    def header_names(self, viewer: Viewer) -> Iterator[tuple[str, str]]:
        """("session", its name) and so on for each name in headers, once; raises Forbidden but for operators."""
        ...

    def cited(self, viewer: Viewer, citations: Sequence[str]) -> Mapping[str, int]:
        """Where the events stand that these citations name; those that name none are left out. Operators only."""
        ...

    def events_at(self, viewer: Viewer, positions: Sequence[int]) -> tuple[Event, ...]:
        """The events at these positions, in order, each once. Raises Forbidden unless `viewer.operator`."""
        ...

    def rebuild(self, viewer: Viewer, fold: FoldLog, *, progress: Callable[[int, int], None]) -> None:
        """Folds graph and text index again from the log, then swaps. Readers see the old or the new."""
        ...

    def backup(self, viewer: Viewer, target: Path) -> Path:
        """A consistent copy of the account, made while others read and write."""
        ...

    def check(self, viewer: Viewer) -> tuple[str, ...]:
        """Problems found in the files themselves, one line each; empty when sound."""
        ...

    def close(self) -> None: ...


class Embedder(Protocol):
    """Turns texts into unit vectors of one named space."""

    @property
    def model(self) -> str:
        """Names the space. Vectors of different names are never compared."""
        ...

    @property
    def dimensions(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One unit row per text, in order. Raises ModelError; the caller goes on without vectors then."""
        ...


@runtime_checkable
class PartEmbedder(Embedder, Protocol):
    """An embedder that also tells where parts of a text lie, from the same reading."""

    def embed_with_parts(
        self, texts: Sequence[str], spans: Sequence[Sequence[tuple[int, int]]]
    ) -> tuple[NDArray[np.float32], list[NDArray[np.float32]]]:
        """Rows as of `embed`, and for each text a unit row per span (in order, apart) of its characters."""
        ...


class Reranker(Protocol):
    """Reads a question beside at `most` so many texts that may answer it; `strategy` says how, as "cross-encoder"."""

    name: str
    strategy: str
    weight: float  # of its word, against the order so far: 0 nothing, 1 alone
    most: int

    def rank(self, query: str, texts: Sequence[str]) -> Sequence[float | None]:
        """One finite score per text, in order, more is better; None for a text it said nothing of.

        On any scale: only texts of one call are compared. Raises ModelError; the order so far stands then.
        """
        ...
