"""Appends a great many drafts as one logical change, in commits short enough that others hardly wait.

The first commit opens the change, each later one carries a slice of the drafts and how many are done by then, the
last closes it: only then does any of it become visible. After a crash the same drafts, given again in the same order,
go on where the log says they stopped.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from itertools import islice

import msgspec
from msgspec import Struct

from weft.append import Writer, append
from weft.embedding import Embedding
from weft.errors import Conflict, Invalid, NotFound
from weft.instants import Clock
from weft.log.draft import Draft
from weft.log.kinds import payload_of, transaction
from weft.ports import Store
from weft.screen import Screen
from weft.types import MAX_EVENTS_PER_COMMIT, SCOPES, Event, Viewer

SLICE_MS = 50
FIRST_SLICE_WEIGHT = 16_384
DRAFT_WEIGHT = 512  # bytes of payload that cost about as much as one more event does
MOST_GROWTH = 2.0  # from one slice to the next
AIM = 0.5  # of the time allowed: the next slice may be dearer than the last
FORGETTING = 0.2  # a cheap slice counts this much against dearer ones before it
READ_EVENTS = 1_000


class Sliced(Struct, frozen=True, kw_only=True):
    """What became of a sliced append. `skipped` drafts were there from before a crash."""

    tx: str
    drafts: int
    skipped: int
    commits: int
    longest_hold_ms: float


def append_in_slices(
    store: Store,
    writer: Writer,
    drafts: Iterable[Draft],
    *,
    clock: Clock,
    viewer: Viewer | None,
    embedding: Embedding | None = None,
    tx_kind: transaction.TxKind,
    git_commit: str | None = None,
    files: tuple[str, ...] = (),
    slice_ms: int = SLICE_MS,
    resume: str | None = None,
    screen: Screen | None = None,
) -> Sliced:
    """Writes all drafts as one change, each commit holding the write lock for about `slice_ms` at most.

    Encoding, lexing and embedding happen outside the lock; one draft is never split. Whatever stops this (an error in
    a draft, a crash, Busy) leaves the change open and invisible: call again with `resume=` its id and the same drafts
    from the beginning. Raises what `append` does; NotFound or Conflict for a change to resume that is not there or not
    open.
    """
    began_s = time.monotonic()
    lock = _LockClock(clock)
    skipped = 0
    if resume is None:
        opening = Draft(
            kind="tx.opened", payload=transaction.Opened(tx_kind=tx_kind, git_commit=git_commit, files=files)
        )
        tx = tx_id(append(store, writer, [opening], clock=lock, viewer=viewer, screen=screen).events[0])
    else:
        tx, skipped = resume, _cursor(store, writer, resume)
    feed = _Feed(drafts, skipped)
    pace = _Pace(slice_ms)
    done, commits, longest_ms, open_still = skipped, int(resume is None), 0.0, True
    while open_still:
        taken = feed.take(pace.weight)
        open_still = not feed.ended
        start, done = done, done + len(taken)
        last = transaction.Closed(tx=tx, duration_ms=round((time.monotonic() - began_s) * 1000))
        mark = (
            Draft(kind="tx.continued", payload=transaction.Continued(tx=tx, cursor=str(done)))
            if open_still
            else Draft(kind="tx.closed", payload=last)
        )
        # Two that resume the same change at once: the second finds its slice written, or a Conflict.
        done_now = append(
            store,
            writer,
            [mark, *taken],
            clock=lock,
            viewer=viewer,
            embedding=embedding,
            request_id=f"{tx}.{start}",
            screen=screen,
        )
        if not done_now.repeated:
            pace.learn(feed.weight, lock.held_ms())
            commits, longest_ms = commits + 1, max(longest_ms, lock.held_ms())
    return Sliced(tx=tx, drafts=done - skipped, skipped=skipped, commits=commits, longest_hold_ms=round(longest_ms, 2))


def tx_id(opening: Event) -> str:
    """The name of the change that an event opens."""
    return f"tx-{opening.hash.hex()[:16]}"


class _LockClock:
    """The caller's clock. Sealing looks at it first thing inside the lock: what passes since is time held."""

    def __init__(self, clock: Clock) -> None:
        self._clock, self._looked_s = clock, 0.0

    def now_us(self) -> int:
        self._looked_s = time.perf_counter()
        return self._clock.now_us()

    def held_ms(self) -> float:
        return (time.perf_counter() - self._looked_s) * 1000


class _Pace:
    """How much the next slice may weigh, learnt from how long the ones before held the lock."""

    def __init__(self, slice_ms: int) -> None:
        if slice_ms < 1:
            raise Invalid("slice_ms must be at least 1")
        self.weight = float(FIRST_SLICE_WEIGHT)
        self._aim_ms, self._ms_per_weight = slice_ms * AIM, 0.0

    def learn(self, weight: int, held_ms: float) -> None:
        cost = held_ms / max(weight, DRAFT_WEIGHT)
        self._ms_per_weight = max(cost, self._ms_per_weight + FORGETTING * (cost - self._ms_per_weight))
        self.weight = min(self.weight * MOST_GROWTH, self._aim_ms / self._ms_per_weight)


class _Feed:
    """The drafts that are left, by weight."""

    def __init__(self, drafts: Iterable[Draft], skip: int) -> None:
        self._drafts: Iterator[Draft] = iter(drafts)
        self.ended = False
        self.weight = 0
        if sum(1 for _ in islice(self._drafts, skip)) < skip:
            raise Invalid(
                f"the change stopped after {skip} drafts, and there are fewer now",
                hint="give the same drafts again, in the same order",
            )

    def take(self, most: float) -> list[Draft]:
        """At least one draft, unless there are no more; then as many as weigh no more than `most` together."""
        taken: list[Draft] = []
        self.weight = 0
        for draft in self._drafts:
            if draft.kind.startswith("tx."):
                raise Invalid(f"a {draft.kind} inside a sliced change", hint="the change writes its own")
            taken.append(draft)
            self.weight += DRAFT_WEIGHT + len(msgspec.json.encode(draft.payload))
            if self.weight >= most or len(taken) == MAX_EVENTS_PER_COMMIT - 1:
                return taken
        self.ended = True
        return taken


def _cursor(store: Store, writer: Writer, tx: str) -> int:
    """How many drafts of an open change are in the log."""
    # Not the caller's rights: marks of a change make no node, so only an operator sees them, and they hold no words.
    reader = Viewer(account=writer.account, scopes=frozenset(SCOPES), sensitive=True)
    found = store.transaction(reader, tx)
    if found is None:
        raise NotFound(f"there is no change {tx!r} to resume", hint="leave out `resume` to begin a new one")
    if found.closed_pos is not None:
        raise Conflict(f"{tx} is closed already", hint="it is complete and visible; nothing is left to resume")
    cursor, after = 0, found.opened_pos
    while page := store.log(reader, after=after, limit=READ_EVENTS):
        for commit, events in page:
            after = commit.first_pos + commit.count - 1
            for event in events:
                mark = payload_of(event) if event.kind == "tx.continued" else None
                if isinstance(mark, transaction.Continued) and mark.tx == tx:
                    cursor = _number(mark.cursor, event)
    return cursor


def _number(written: str, event: Event) -> int:
    try:
        return int(written)
    except ValueError as problem:
        raise Conflict(
            f"the change was written by other means: {event.citation} has the cursor {written[:60]!r}, not a number",
            hint="resume it with what began it",
        ) from problem
