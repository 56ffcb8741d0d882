"""Takes words out of the log and the graph for good, and leaves both as sound as they were.

An event's header and hash never change. Its payload is replaced by a residue (see `weft.projection.residue`), which a
`log.rewritten` event binds; the rows that came of it are replaced in the same commit. Every erased node gets a random
name in place of its id: the fold has the same shape as before, and tells nothing.

Most of the work is done outside the write lock: the log is read through, residues are made, rows are looked up. Inside,
only what came since is looked at, and what was made is written. Events that share an erased id are rewritten in one
commit; whatever stops an erasure, calling it again finishes it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from weft.append import Writer
from weft.commits import LockedView
from weft.errors import Busy, Conflict
from weft.instants import Clock
from weft.log.canonical import canonical
from weft.log.kinds.rewriting import What
from weft.ports import Store
from weft.projection.components import sort_into
from weft.projection.concern import Concern, Needles, Reveal
from weft.projection.residue import residue
from weft.projection.rewrite import Reworded, Rewrite, change_of
from weft.projection.tokens import Tokens
from weft.rewriting import Behind, Overtaken, Rewriter, rewrite_of
from weft.types import Event, Viewer

Progress = Callable[[str, int, int], None]

MAX_EVENTS: Final = 50  # rewritten in one commit, unless more cannot be parted
MAX_TRIES: Final = 100  # in a row, that others wrote about the same nodes meanwhile
MAX_SINCE: Final = 1_000  # events that are looked at inside the lock
READ_AT_ONCE: Final = 1_000  # events
INGESTED: Final = "document.ingested"
FILE_LISTS: Final = frozenset({"tx.noted", "tx.opened", "tx.closed"})
MARKS: Final = frozenset({"tx.continued", "tx.closed"})  # events that say which change their commit belongs to


class StandsAgain(Conflict):
    """What was to go because it is deleted was brought back meanwhile. Nothing was written."""


class _BroughtBack(Behind):
    """The same, where something may be written already."""


class Erased(Struct, frozen=True, kw_only=True):
    """What an erasure did: events rewritten, nodes that became tombstones, commits, and notes of the sweep.

    `tokens` are the tombstones' new ids, `citations` the `log.rewritten` events. All are empty where nothing was left
    to erase.
    """

    events: int = 0
    nodes: int = 0
    commits: int = 0
    longest_hold_ms: float = 0.0
    tokens: tuple[str, ...] = ()
    citations: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class Preview(Struct, frozen=True, kw_only=True):
    """What an erasure would do. `nodes` are the ids that would go, those that only `names` brought in as well."""

    events: tuple[str, ...] = ()  # citations, by position
    nodes: tuple[str, ...] = ()
    files: tuple[str, ...] = ()  # as they are named in the project, of what goes
    joined: tuple[str, ...] = ()  # of `nodes`, those that were not asked for: they hold a name, or are part of another


def erase(
    store: Store,
    writer: Writer,
    *,
    viewer: Viewer,
    ids: Collection[str],
    names: Collection[str] = (),
    what: What,
    clock: Clock,
    progress: Progress,
    reveal: Reveal | None = None,
) -> Erased:
    """Makes tombstones of the nodes in `ids`, in the log and in the graph, then sweeps the store.

    The caller has closed the set: what was made of these nodes is in it. `names` are words of the subject that nothing
    may hold afterwards: any other node whose words hold one joins the set (whole words, in capitals or not), as do the
    sections of a document that goes, the turns of a conversation, the symbols of a file. Projects and focus areas,
    and kinds and guards, keep their words. `reveal` opens the sealed words of an event, so that names are found there.

    Ids that are not there are passed over, so that a call repeated after a crash finishes the work. Raises Forbidden
    unless `viewer` is an operator, Busy where others write about the same nodes faster than they can be erased.
    """
    concern = Concern(ids, names, reveal)
    return Erasing(store, writer, viewer=viewer, concern=concern, clock=clock, progress=progress).run(what)


def preview(
    store: Store,
    *,
    viewer: Viewer,
    ids: Collection[str],
    names: Collection[str] = (),
    reveal: Reveal | None = None,
) -> Preview:
    """What `erase` would rewrite. Reads the whole log, and writes nothing. Raises Forbidden but for operators."""
    viewer.must_be_operator("preview an erasure")
    reader = _Reader(store, viewer, Concern(ids, names, reveal), lambda *_: None)
    return _previewed(reader, ids)


def _previewed(reader: _Reader, asked: Collection[str]) -> Preview:
    reader.catch_up()
    rewrites = list(_residues(reader.concern, reader.concern.tokens()))
    renamed = Reworded(rewrites).renamed()
    return Preview(
        events=tuple(each.before.citation for each in rewrites),
        nodes=tuple(sorted(renamed)),
        files=tuple(sorted(reader.concern.files)),
        joined=tuple(sorted(set(renamed) - set(asked))),
    )


def swept(store: Store, viewer: Viewer, progress: Progress) -> tuple[str, ...]:
    """Sweeps what erasures left in the store's files; notes on what could not be done now."""
    return tuple(store.sweep(viewer, progress=lambda so_far, total: progress("sweeping", so_far, total)))


def _added(done: Erased, more: Erased) -> Erased:
    return Erased(
        events=done.events + more.events,
        nodes=done.nodes + more.nodes,
        commits=done.commits + more.commits,
        longest_hold_ms=max(done.longest_hold_ms, more.longest_hold_ms),
        tokens=done.tokens + more.tokens,
        citations=done.citations + more.citations,
    )


# ---- reading


class _Reader:
    """Reads the log for an erasure, as far as it goes."""

    def __init__(self, store: Store, viewer: Viewer, concern: Concern, progress: Progress) -> None:
        self._store, self._viewer, self.concern, self._progress = store, viewer, concern, progress
        self.pos = 0
        self.own: set[int] = set()  # where it was told what this erasure replaced

    def catch_up(self) -> None:
        """Reads what is new, and what others replaced; and all of it again for what turns out to go too."""
        head = self._store.head(self._viewer).pos
        self._read(self.concern.needles, self.pos, head)
        self.pos = max(self.pos, head)
        while (added := self.concern.close()) is not None:
            self._read(added, 0, self.pos)

    def _read(self, needles: Needles, after: int, upto: int) -> None:
        """Looks at payloads only, until one is wanted: most never are."""
        wanted: list[tuple[int, int]] = []
        marks: dict[int, int] = {}
        replaced: set[tuple[str, int]] = set()
        while after < upto and (page := self._store.payloads(self._viewer, after=after, limit=READ_AT_ONCE)):
            for pos, first_pos, kind, payload in page:
                if kind in MARKS:
                    marks.setdefault(first_pos, pos)
                if kind == "log.rewritten" and self.pos < pos <= upto and pos not in self.own:
                    replaced |= _named(payload)
                if pos <= upto and self.concern.wants(pos, kind, payload, needles):
                    wanted.append((pos, first_pos))
            after = page[-1].pos
            self._progress("reading the log", min(after, upto), upto)
        for start in range(0, len(wanted), READ_AT_ONCE):
            self._hold(wanted[start : start + READ_AT_ONCE], marks)
        self._hold_again(replaced)

    def _hold(self, wanted: Sequence[tuple[int, int]], marks: Mapping[int, int]) -> None:
        """Reads events, and what tells which change each belongs to: the mark in its commit, or its first event."""
        telling = {first_pos: marks.get(first_pos, first_pos) for _, first_pos in wanted}
        positions = {*telling.values(), *(pos for pos, _ in wanted)}
        events = {event.pos: event for event in self._store.events_at(self._viewer, tuple(positions))}
        for pos, first_pos in wanted:
            self.concern.hold(events[pos], change_of((events[telling[first_pos]],)))

    def _hold_again(self, replaced: Collection[tuple[str, int]]) -> None:
        """Reads what others replaced of the events that are held."""
        held = [each for each in self.concern.held.values() if (each.event.session, each.event.seq) in replaced]
        for start in range(0, len(held), READ_AT_ONCE):
            some = {each.event.pos: each.tx for each in held[start : start + READ_AT_ONCE]}
            for event in self._store.events_at(self._viewer, tuple(some)):
                self.concern.hold(event, some[event.pos])

    def overtaken_by(self, event: Event) -> bool:
        """Whether an event says that somebody else replaced one that is held."""
        if event.kind != "log.rewritten" or event.pos in self.own:
            return False
        replaced = _named(event.payload)
        return any((each.event.session, each.event.seq) in replaced for each in self.concern.held.values())


def _named(payload: bytes | None) -> set[tuple[str, int]]:
    """The events that a `log.rewritten` names."""
    told = msgspec.json.decode(payload or b"{}", type=_Named)
    return {(session, seq) for session, seq, _ in told.events}


class _Named(Struct, frozen=True):
    events: tuple[tuple[str, int, str], ...] = ()


def _residues(concern: Concern, tokens: Tokens, positions: Iterable[int] | None = None) -> Iterator[Rewrite]:
    """What is to be rewritten, in order of the log; of these positions, or of all."""
    for pos in sorted(concern.held if positions is None else positions):
        held = concern.held[pos]
        left = residue(held.event.kind, held.left, tokens)
        if left is not held.payload:
            yield rewrite_of(held.event, canonical(msgspec.to_builtins(left)), held.tx)


def _summaries(concern: Concern, tokens: Tokens) -> Iterator[Rewrite]:
    """What sums up an erased chunk. It goes first: once the chunk is gone, nobody knows what it summed up."""
    for pos in sorted(concern.held):
        held = concern.held[pos]
        left = residue(held.event.kind, held.payload, tokens) if held.event.kind == INGESTED else held.payload
        if left is not held.payload:
            yield rewrite_of(held.event, canonical(msgspec.to_builtins(left)), held.tx)


def _file_lists(concern: Concern, tokens: Tokens) -> Iterator[Rewrite]:
    """What names an erased file only by its path. It goes first: by the file's own events it is known."""
    for pos in sorted(concern.held):
        held = concern.held[pos]
        left = residue(held.event.kind, held.left, tokens) if held.event.kind in FILE_LISTS else held.payload
        if left is not held.payload:
            yield rewrite_of(held.event, canonical(msgspec.to_builtins(left)), held.tx)


def _carried(concern: Concern) -> Iterator[Rewrite]:
    """What repeats words that others brought. It goes first: by what they brought it is known."""
    for pos in sorted(concern.unsaid.carried & concern.held.keys()):
        held = concern.held[pos]
        if held.left is not held.payload:
            yield rewrite_of(held.event, canonical(msgspec.to_builtins(held.left)), held.tx)


class Erasing:
    """One erasure: what it would do, and doing it, with the log read once for both.

    Rewrites all that is concerned, group by group, and what others write meanwhile. Raises as `erase` does.
    """

    def __init__(
        self, store: Store, writer: Writer, *, viewer: Viewer, concern: Concern, clock: Clock, progress: Progress
    ) -> None:
        viewer.must_be_operator("erase")
        self._store, self._viewer, self._asked = store, viewer, frozenset(concern.gone)
        self._reader = _Reader(store, viewer, concern, progress)
        self._rewriter = Rewriter(store, writer, clock, check=self._check_since)
        self._concern, self._progress = concern, progress
        self._tokens = Tokens({})
        self._rewritten: set[int] = set()
        self._deleted: set[str] = set()
        self._spared: set[str] = set()

    def preview(self) -> Preview:
        """What it would rewrite. Writes nothing."""
        return _previewed(self._reader, self._asked)

    def only_while_deleted(self, ids: Collection[str]) -> None:
        """These go only because they are deleted. Raises StandsAgain if one is not; one brought back later stays."""
        self._deleted = set(ids)
        if standing := self._rewriter.standing(ids):
            raise StandsAgain(
                f"{min(standing)} was brought back meanwhile", hint="repeat it: what is not deleted any more stays"
            )

    def run(self, what: What) -> Erased:
        """Rewrites until nothing is left, then sweeps the store: also where an earlier call was stopped before that."""
        done = self._rewrite_all(what)
        back = (f"{len(self._spared)} were brought back meanwhile, and stay",) if self._spared else ()
        return replace(done, notes=(*back, *swept(self._store, self._viewer, self._progress)))

    def _rewrite_all(self, what: What) -> Erased:
        done, tries = Erased(), 0
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
                            "others write about what is to be erased, faster than it can be erased",
                            hint="stop them, and repeat the erasure: what is done stays done",
                        ) from problem
                    break
                self._progress("erasing", nth, len(groups))
            self._reader.catch_up()
        return done

    def _groups(self) -> list[list[Rewrite]]:
        tokens = self._tokens = self._concern.tokens()
        if first := (
            list(_carried(self._concern))
            or list(_file_lists(self._concern, tokens))
            or list(_summaries(self._concern, tokens.summed_up()))
        ):
            return [first[start : start + MAX_EVENTS] for start in range(0, len(first), MAX_EVENTS)]
        rewrites = {each.before.pos: each for each in _residues(self._concern, tokens)}
        groups = [
            [rewrites[pos] for pos in group.positions]
            if group.tokens is None
            else list(_residues(self._concern, tokens.only(group.tokens), group.positions))
            for group in sort_into(tuple(rewrites.values()), tokens, most=MAX_EVENTS)
        ]
        # Where nothing can go before the rest, all of it goes at once.
        return [group for group in groups if group] or ([list(rewrites.values())] if rewrites else [])

    def _write(self, rewrites: Sequence[Rewrite], what: What) -> Erased:
        wrote = self._rewriter.write(rewrites, why="erased", what=what)
        self._reader.own.update(wrote.positions)
        self._concern.settled([each.after for each in rewrites], wrote.renamed)
        fresh = {each.before.pos for each in rewrites} - self._rewritten  # some are rewritten more than once
        self._rewritten |= fresh
        return Erased(
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
        if len(since) == MAX_SINCE or any(self._concern.touches(event, self._tokens) for event in since):
            raise Behind

    def _check_deleted(self, view: LockedView, ids: Collection[str]) -> None:
        known = (view.identity(each) for each in self._deleted.intersection(ids))
        if any(each is not None and each.deleted_at is None for each in known):
            raise _BroughtBack

    def _spare(self) -> None:
        """Leaves out what is not deleted any more."""
        back = self._rewriter.standing(self._deleted)
        self._deleted -= back
        self._spared |= back
        self._concern.settled((), back)
