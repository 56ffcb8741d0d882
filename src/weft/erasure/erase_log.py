"""Erasure of nodes from the log and the graph, which stay verifiable and consistent.

Headers and hashes of events never change. A payload is replaced by its residue (see `weft.erasure.residue`), which a
`log.rewritten` event binds; rows derived from it are replaced in the same commit. Erased nodes get random ids, so that
the graph keeps its shape and reveals nothing.

The log is read, residues are made and rows looked up outside the write lock. Inside it, only events since then are
checked, and the result is written. Events that share an erased id are rewritten in one commit; an interrupted erasure
is finished by calling it again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from weft.core.commits import LockedView
from weft.core.errors import Busy, Conflict
from weft.core.ports import Store
from weft.core.slices import in_slices
from weft.core.types import Event, Viewer
from weft.erasure.affected import Affected, Needles, Reveal
from weft.erasure.residue import residue
from weft.erasure.rewrite_log import Behind, Overtaken, Progress, RewriteAccess, Rewriter, rewrite_of
from weft.graph.commit_batches import rewrite_groups
from weft.graph.placeholders import Tokens
from weft.graph.rewrite import EventRewrite, RowChanges, change_of
from weft.log.canonical import canonical
from weft.log.kinds.rewriting import What

MAX_EVENTS: Final = 50  # per commit, unless more belong together
MAX_TRIES: Final = 100  # consecutive attempts while others write about the same nodes
MAX_SINCE: Final = 1_000  # events that are checked inside the lock
READ_AT_ONCE: Final = 1_000  # events
INGESTED: Final = "document.ingested"
FILE_LISTS: Final = frozenset({"tx.noted", "tx.opened", "tx.closed"})
MARKS: Final = frozenset({"tx.continued", "tx.closed"})  # events that name the change of their commit


class RestoredMeanwhile(Conflict):
    """A node that was to be erased because it is deleted was restored meanwhile. Nothing was written."""


class _BroughtBack(Behind):
    """Like RestoredMeanwhile, when something may have been written already."""


class ErasureCounts(Struct, frozen=True, kw_only=True):
    """The outcome of an erasure: rewritten events, tombstones, commits, and notes of the sweep.

    `tokens` are the tombstones' ids, `citations` the `log.rewritten` events. All are empty if nothing was left to
    erase.
    """

    events: int = 0
    nodes: int = 0
    commits: int = 0
    longest_hold_ms: float = 0.0
    tokens: tuple[str, ...] = ()
    citations: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class Preview(Struct, frozen=True, kw_only=True):
    """What an erasure would do. `nodes` are the ids to erase, including those added because of `names`."""

    events: tuple[str, ...] = ()  # citations, by position
    nodes: tuple[str, ...] = ()
    files: tuple[str, ...] = ()  # paths in the project of what is erased
    joined: tuple[str, ...] = ()  # of `nodes`, those that were not asked for: they contain a name or are parts


def erase(
    access: RewriteAccess,
    *,
    ids: Collection[str],
    names: Collection[str] = (),
    what: What,
    reveal: Reveal | None = None,
) -> ErasureCounts:
    """Turns the nodes `ids` into tombstones, in the log and in the graph, then sweeps the store.

    `ids` is a closed set: what was made from these nodes is in it. No other node may contain one of `names`
    afterwards: nodes whose words contain one (whole words, any case) join the set, as do the sections of a document
    in it, the messages of a conversation and the symbols of a file. Projects and focus areas, kinds and guards keep
    their words. `reveal` decrypts an event, so that names are found in it.

    Unknown ids are skipped, so that a repeated call finishes an interrupted one. Raises Forbidden unless the viewer is
    an operator, Busy if others write about the same nodes faster than they can be erased.
    """
    return Erasing(access, Affected(ids, names, reveal)).run(what)


def swept(store: Store, viewer: Viewer, progress: Progress) -> tuple[str, ...]:
    """Removes erased words from the store's files; notes on what could not be done now."""
    return tuple(store.sweep(viewer, progress=lambda so_far, total: progress("sweeping", so_far, total)))


def _added(done: ErasureCounts, more: ErasureCounts) -> ErasureCounts:
    return ErasureCounts(
        events=done.events + more.events,
        nodes=done.nodes + more.nodes,
        commits=done.commits + more.commits,
        longest_hold_ms=max(done.longest_hold_ms, more.longest_hold_ms),
        tokens=done.tokens + more.tokens,
        citations=done.citations + more.citations,
    )


# ---- reading


class _Reader:
    """Reads the log for an erasure."""

    def __init__(self, store: Store, viewer: Viewer, affected: Affected, progress: Progress) -> None:
        self._store, self._viewer, self.affected, self._progress = store, viewer, affected, progress
        self.pos = 0
        self.own: set[int] = set()  # positions of this erasure's own `log.rewritten` events

    def catch_up(self) -> None:
        """Reads new and replaced events, and the whole log again for nodes that were added."""
        head = self._store.head(self._viewer).pos
        self._read(self.affected.needles, self.pos, head)
        self.pos = max(self.pos, head)
        while (added := self.affected.close()) is not None:
            self._read(added, 0, self.pos)

    def _read(self, needles: Needles, after: int, upto: int) -> None:
        """Searches payload bytes and decodes only those that match."""
        wanted: list[tuple[int, int]] = []
        marks: dict[int, int] = {}
        replaced: set[tuple[str, int]] = set()
        while after < upto and (page := self._store.payloads(self._viewer, after=after, limit=READ_AT_ONCE)):
            for pos, first_pos, kind, payload in page:
                if kind in MARKS:
                    marks.setdefault(first_pos, pos)
                if kind == "log.rewritten" and self.pos < pos <= upto and pos not in self.own:
                    replaced |= _named(payload)
                if pos <= upto and self.affected.wants(pos, kind, payload, needles):
                    wanted.append((pos, first_pos))
            after = page[-1].pos
            self._progress("reading the log", min(after, upto), upto)
        for few in in_slices(wanted, READ_AT_ONCE):
            self._hold(few, marks)
        self._hold_again(replaced)

    def _hold(self, wanted: Sequence[tuple[int, int]], marks: Mapping[int, int]) -> None:
        """Reads events and what names their change: the mark in their commit, or its first event."""
        telling = {first_pos: marks.get(first_pos, first_pos) for _, first_pos in wanted}
        positions = {*telling.values(), *(pos for pos, _ in wanted)}
        events = {event.pos: event for event in self._store.events_at(self._viewer, tuple(positions))}
        for pos, first_pos in wanted:
            self.affected.hold(events[pos], change_of((events[telling[first_pos]],)))

    def _hold_again(self, replaced: Collection[tuple[str, int]]) -> None:
        """Reads held events that others have replaced."""
        held = [each for each in self.affected.held.values() if (each.event.session, each.event.seq) in replaced]
        for few in in_slices(held, READ_AT_ONCE):
            some = {each.event.pos: each.tx for each in few}
            for event in self._store.events_at(self._viewer, tuple(some)):
                self.affected.hold(event, some[event.pos])

    def overtaken_by(self, event: Event) -> bool:
        """Whether an event says that somebody else replaced a held event."""
        if event.kind != "log.rewritten" or event.pos in self.own:
            return False
        replaced = _named(event.payload)
        return any((each.event.session, each.event.seq) in replaced for each in self.affected.held.values())


def _named(payload: bytes | None) -> set[tuple[str, int]]:
    """The events that a `log.rewritten` names."""
    told = msgspec.json.decode(payload or b"{}", type=_RewrittenEvents)
    return {(session, seq) for session, seq, _ in told.events}


class _RewrittenEvents(Struct, frozen=True):
    events: tuple[tuple[str, int, str], ...] = ()


def _residues(affected: Affected, tokens: Tokens, positions: Iterable[int] | None = None) -> Iterator[EventRewrite]:
    """The rewrites to make, in log order; of these positions, or of all."""
    for pos in sorted(affected.held if positions is None else positions):
        held = affected.held[pos]
        left = residue(held.event.kind, held.left, tokens)
        if left is not held.payload:
            yield rewrite_of(held.event, canonical(msgspec.to_builtins(left)), held.tx)


def _summaries(affected: Affected, tokens: Tokens) -> Iterator[EventRewrite]:
    """Rewrites of what sums up an erased chunk. They go first, while the chunk still has its words."""
    for pos in sorted(affected.held):
        held = affected.held[pos]
        left = residue(held.event.kind, held.payload, tokens) if held.event.kind == INGESTED else held.payload
        if left is not held.payload:
            yield rewrite_of(held.event, canonical(msgspec.to_builtins(left)), held.tx)


def _carried(affected: Affected) -> Iterator[EventRewrite]:
    """Rewrites of events that repeat words of others. They go first, while the others' words can still be compared."""
    for pos in sorted(affected.retraction.carried & affected.held.keys()):
        held = affected.held[pos]
        if held.left is not held.payload:
            yield rewrite_of(held.event, canonical(msgspec.to_builtins(held.left)), held.tx)


class Erasing:
    """One erasure: preview and execution share one reading of the log. Raises what `erase` raises.

    Events are rewritten group by group, including those that others write meanwhile.
    """

    def __init__(self, access: RewriteAccess, affected: Affected) -> None:
        access.viewer.must_be_operator("erase")
        self._access, self._asked = access, frozenset(affected.gone)
        self._reader = _Reader(access.store, access.viewer, affected, access.progress)
        self._rewriter = Rewriter(access, check=self._check_since)
        self._affected, self._progress = affected, access.progress
        self._tokens = Tokens({})
        self._rewritten: set[int] = set()
        self._deleted: set[str] = set()
        self._spared: set[str] = set()

    def preview(self) -> Preview:
        """What it would rewrite. Writes nothing."""
        self._reader.catch_up()
        rewrites = list(_residues(self._affected, self._affected.tokens()))
        renamed = RowChanges(rewrites).renamed()
        return Preview(
            events=tuple(each.before.citation for each in rewrites),
            nodes=tuple(sorted(renamed)),
            files=tuple(sorted(self._affected.files)),
            joined=tuple(sorted(set(renamed) - self._asked)),
        )

    def only_while_deleted(self, ids: Collection[str]) -> None:
        """Restricts these nodes: they are erased only while deleted. Raises RestoredMeanwhile if one is not."""
        self._deleted = set(ids)
        if standing := self._rewriter.standing(ids):
            raise RestoredMeanwhile(
                f"{min(standing)} was restored meanwhile", hint="repeat the call: restored nodes stay"
            )

    def run(self, what: What) -> ErasureCounts:
        """Rewrites until nothing is left, then sweeps the store, also after an earlier interrupted call."""
        done = self._rewrite_all(what)
        back = (f"{len(self._spared)} nodes were restored meanwhile and stay",) if self._spared else ()
        return replace(done, notes=(*back, *swept(self._access.store, self._access.viewer, self._progress)))

    def _rewrite_all(self, what: What) -> ErasureCounts:
        done, tries = ErasureCounts(), 0
        self._reader.catch_up()
        while groups := self._groups():
            for nth, rewrites in enumerate(groups, start=1):
                try:
                    done = _added(done, self._write(rewrites, what))
                    tries = 0
                except Overtaken:
                    break
                except _BroughtBack:
                    self._spare()
                    break
                except Behind as problem:
                    tries += 1
                    if tries > MAX_TRIES:
                        raise Busy(
                            "other writers add events about the same nodes faster than these can be erased",
                            hint="stop them and repeat the erasure; what was erased stays erased",
                        ) from problem
                    break
                self._progress("erasing", nth, len(groups))
            self._reader.catch_up()
        return done

    def _groups(self) -> list[list[EventRewrite]]:
        tokens = self._tokens = self._affected.tokens()
        if first := (
            list(_carried(self._affected))
            or list(_residues(self._affected, tokens, self._affected.of_kinds(FILE_LISTS)))
            or list(_summaries(self._affected, tokens.summed_up()))
        ):
            return [first[start : start + MAX_EVENTS] for start in range(0, len(first), MAX_EVENTS)]
        rewrites = {each.before.pos: each for each in _residues(self._affected, tokens)}
        groups = [
            [rewrites[pos] for pos in group.positions]
            if group.tokens is None
            else list(_residues(self._affected, tokens.only(group.tokens), group.positions))
            for group in rewrite_groups(tuple(rewrites.values()), tokens, most=MAX_EVENTS)
        ]
        # If no group can go first, all are rewritten at once.
        return [group for group in groups if group] or ([list(rewrites.values())] if rewrites else [])

    def _write(self, rewrites: Sequence[EventRewrite], what: What) -> ErasureCounts:
        wrote = self._rewriter.write(rewrites, why="erased", what=what)
        self._reader.own.update(wrote.positions)
        self._affected.settled([each.after for each in rewrites], wrote.renamed)
        fresh = {each.before.pos for each in rewrites} - self._rewritten  # some events are rewritten more than once
        self._rewritten |= fresh
        return ErasureCounts(
            events=len(fresh),
            nodes=len(wrote.tombstones),
            commits=1,
            longest_hold_ms=wrote.hold_ms,
            tokens=wrote.tombstones,
            citations=wrote.citations,
        )

    def _check_since(self, view: LockedView, ids: Collection[str]) -> None:
        self._check_deleted(view, ids)
        since = view.events_since(self._reader.pos, limit=MAX_SINCE)
        if any(map(self._reader.overtaken_by, since)):
            raise Overtaken
        if len(since) == MAX_SINCE or any(self._affected.touches(event, self._tokens) for event in since):
            raise Behind

    def _check_deleted(self, view: LockedView, ids: Collection[str]) -> None:
        known = (view.identity(each) for each in self._deleted.intersection(ids))
        if any(each is not None and each.deleted_at is None for each in known):
            raise _BroughtBack

    def _spare(self) -> None:
        """Drops nodes that are no longer deleted."""
        back = self._rewriter.standing(self._deleted)
        self._deleted -= back
        self._spared |= back
        self._affected.settled((), back)
