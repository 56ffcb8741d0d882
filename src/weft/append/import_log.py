"""Import of an exported log.

An empty store, or one that holds the start of the same log, continues it exactly: same positions, times, heads, graph.
A store with its own history gets the sessions it lacks: those events are known from now on, and keep their own times,
hashes and citations.

The file is checked completely before the first write; the graph is not, so applying a commit may fail midway. Commits
imported until then stay, and a repeated import continues from there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec import Struct
from msgspec.structs import replace

from weft.core.clock import Clock
from weft.core.commits import Batch, Changes, LockedView
from weft.core.errors import Conflict, Corrupt, Invalid
from weft.core.ports import Store
from weft.core.types import SCOPES, Event, Viewer
from weft.graph.apply_moves import apply_events
from weft.graph.digest import graph_digest
from weft.graph.rewrite import EventRewrite, change_of, scrub_here
from weft.log.chain import make_commit
from weft.log.jsonl import LogItem, read_checked, write_lines
from weft.log.kinds import kind_named, payload_of
from weft.log.verify import read_commits


class ImportResult(Struct, frozen=True, kw_only=True):
    """The outcome of an import."""

    events: int
    already_there: int
    exact: bool
    digest: str


def import_log(store: Store, viewer: Viewer, read: Callable[[], Iterable[bytes]], *, clock: Clock) -> ImportResult:
    """Imports a log. `read` opens the lines anew: the whole file is checked before anything is written.

    Raises Corrupt for a damaged file, Invalid for another account's, Conflict where a session diverged.
    """
    digests = {bytes(store.head(viewer).digest)}
    exact = False
    for account, (commit, events) in read_checked(read()):
        if account != viewer.account:
            raise Invalid(
                f"the log belongs to account {account}, you are {viewer.account}", hint=f"set WEFT_ACCOUNT={account}"
            )
        for event in events:
            kind_named(event.kind)
            payload_of(event)
        exact = exact or commit.digest in digests
    head = store.head(viewer)
    exact = exact or head.pos == 0
    if not exact:
        _check_sessions(store, viewer, (item for _, item in read_checked(read())))
    elif _rewrite(store, viewer, (item for _, item in read_checked(read())), head.pos):
        store.sweep(viewer, progress=lambda _done, _total: None)
    added = there = 0
    for _, item in read_checked(read()):
        taken = _continue(store, viewer, item) if exact else _append_foreign(store, viewer, item, clock)
        added += taken
        there += len(item[1]) - taken
    return ImportResult(events=added, already_there=there, exact=exact, digest=store.head(viewer).digest.hex())


def _continue(store: Store, viewer: Viewer, item: LogItem) -> int:
    """Writes a commit unchanged, unless it is there."""
    commit, events = item

    def plan(view: LockedView) -> Batch:
        head = view.head()
        if commit.first_pos <= head.pos:
            return Batch(commit=None, events=(), changes=Changes())
        if commit.first_pos != head.pos + 1 or make_commit(head.digest, commit.at, events).digest != commit.digest:
            raise Conflict("the store changed while the log was imported", hint="import again")
        return Batch(commit=commit, events=events, changes=apply_events(view, events))

    return len(store.commit(viewer.account, plan).events)


def _rewrite(store: Store, viewer: Viewer, items: Iterable[LogItem], upto: int) -> bool:
    """Replaces payloads of this store that were erased later in the imported log. Returns whether there were any.

    All at once, before the log continues here: the projection of later events depends on them.
    """
    theirs = [
        (event, change_of(events))
        for commit, events in items
        for event in events
        if commit.first_pos <= upto and event.rewritten
    ]

    def plan(view: LockedView) -> Batch:
        ours = ((view.event(event.session, event.seq), event, tx) for event, tx in theirs)
        rewrites = [
            EventRewrite(before=before, after=after, tx=tx)
            for before, after, tx in ours
            if before is not None and (before.payload, before.salt) != (after.payload, after.salt)
        ]
        scrub = scrub_here(view, rewrites) if rewrites else None
        return Batch(commit=None, events=(), changes=Changes(), scrub=scrub)

    return bool(theirs) and store.commit(viewer.account, plan).scrub is not None


def _check_sessions(store: Store, viewer: Viewer, items: Iterable[LogItem]) -> None:
    """Raises Conflict, before anything is written, where a session of the log diverged from the store's."""
    for _, events in items:

        def plan(view: LockedView, events: tuple[Event, ...] = events) -> Batch:
            for event in events:
                _missing(view, event)
            return Batch(commit=None, events=(), changes=Changes())

        store.commit(viewer.account, plan)


def _append_foreign(store: Store, viewer: Viewer, item: LogItem, clock: Clock) -> int:
    """Appends the events of a commit that this store lacks, known from now on."""

    def plan(view: LockedView) -> Batch:
        missing = [event for event in item[1] if _missing(view, event)]
        if not missing:
            return Batch(commit=None, events=(), changes=Changes())
        head = view.head()
        at = max(clock.now_us(), head.at + 1)
        events = tuple(replace(event, pos=head.pos + 1 + n, known_at=at) for n, event in enumerate(missing))
        return Batch(commit=make_commit(head.digest, at, events), events=events, changes=apply_events(view, events))

    return len(store.commit(viewer.account, plan).events)


def _missing(view: LockedView, event: Event) -> bool:
    """Whether the event is not here yet. Raises Conflict where the session diverged."""
    known = view.event_hash(event.session, event.seq)
    if known is None:
        before = view.event_hash(event.session, event.seq - 1)
        if event.seq == 1 or before in (None, event.prev_hash):
            return True
    elif known == event.hash:
        _check_not_erased(view, event)
        return False
    raise Conflict(
        f"session {event.session} diverged: event {event.seq} differs here",
        hint="two stores wrote the same session; import into an empty store instead",
    )


def _check_not_erased(view: LockedView, event: Event) -> None:
    """Raises Conflict where the imported log erased words that are still stored here, and that other
    events here may repeat.
    """
    here = view.event(event.session, event.seq) if event.rewritten else None
    if here is not None and (here.payload, here.salt) != (event.payload, event.salt):
        raise Conflict(
            f"event {event.seq} of session {event.session} was erased in the file and not in this store",
            hint="erase the same here, with `weft erase`; or import into an empty store",
        )


class CopiedAccount(Struct, frozen=True, kw_only=True):
    """An account in its new store: events that came, those that were there, the digests of log and graph."""

    account: str
    events: int
    already_there: int
    head: str
    graph: str


def copy_account(source: Store, target: Store, account: str, *, clock: Clock) -> CopiedAccount:
    """Copies an account's log to a store, of any backend, that has none or the beginning of it, and compares both.

    May be interrupted and repeated: what is there is not written again. Raises Corrupt if log or graph differ in the
    end, Conflict if the target has a history of its own.
    """
    viewer = Viewer(account=account, scopes=frozenset(SCOPES), sensitive=True)
    head = target.head(viewer)
    if head.pos and all(commit.digest != head.digest for commit, _ in read_commits(source, viewer)):
        raise Conflict(f"account {account} has a history of its own in the other store", hint="name an empty store")
    done = import_log(target, viewer, lambda: write_lines(account, read_commits(source, viewer)), clock=clock)
    heads = [store.head(viewer).digest.hex() for store in (source, target)]
    graphs = [graph_digest(store.graph_rows(viewer)) for store in (source, target)]
    if heads[0] != heads[1] or graphs[0] != graphs[1]:
        raise Corrupt(
            f"account {account} differs in its new store: {'the log' if heads[0] != heads[1] else 'the graph'}",
            hint="stop what writes to either store and repeat it; the old store is unchanged",
        )
    return CopiedAccount(
        account=account, events=done.events, already_there=done.already_there, head=heads[1], graph=graphs[1]
    )
