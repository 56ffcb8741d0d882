"""Seals payloads of the log anew, with another key, and the rows that came of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from weft.append import Writer
from weft.instants import Clock
from weft.log.verify import read_commits
from weft.ports import Store
from weft.projection.rewrite import Rewrite, change_of, check_only_sealed
from weft.rewriting import Overtaken, Rewriter, rewrite_of
from weft.types import Event, Viewer

Progress = Callable[[str, int, int], None]
Change = Callable[[bytes], bytes | None]

MAX_EVENTS: Final = 50  # rewritten in one commit
MAX_PASSES: Final = 10  # over what is written while everything is sealed anew


class Resealed(Struct, frozen=True, kw_only=True):
    """What a change of payloads did. `late` are those of its events that were written while it went on."""

    events: int = 0
    late: int = 0
    commits: int = 0
    longest_hold_ms: float = 0.0
    upto: int = 0  # the position of the log up to which nothing is left to change


def reseal(
    store: Store,
    writer: Writer,
    *,
    viewer: Viewer,
    change: Change,
    clock: Clock,
    progress: Progress,
) -> Resealed:
    """Replaces payloads by what `change` makes of their bytes (None: leave it), and the rows that came of them.

    For sealed strings only: anything else that `change` changes in a payload raises Invalid, and that commit is not
    written. Each commit is complete in itself: a call repeated after a crash gives `change` payloads of both sorts.
    What others write meanwhile is changed too, for MAX_PASSES rounds at most; `upto` says how far it got.
    """
    viewer.must_be_operator("seal payloads anew")
    resealing = _Resealing(store, viewer, Rewriter(store, writer, clock), change, progress)
    for _ in range(MAX_PASSES):
        if not resealing.read_on():
            break
    return resealing.done


class _Resealing:
    """One change of payloads, as far as it is done."""

    def __init__(self, store: Store, viewer: Viewer, rewriter: Rewriter, change: Change, progress: Progress) -> None:
        self._store, self._viewer, self._rewriter = store, viewer, rewriter
        self._change, self._progress = change, progress
        self.done = Resealed()

    def read_on(self) -> bool:
        """Changes what the log holds by now and was not looked at. Says whether there was anything to change."""
        before, total = self.done, self._store.head(self._viewer).pos
        waiting: list[Rewrite] = []
        for event, tx in _events(self._store, self._viewer, after=before.upto, upto=total):
            waiting += self._rewrites(event, tx)
            if waiting and (len(waiting) == MAX_EVENTS or event.pos == total):
                self._write(waiting)
                waiting = []
                self._progress("sealing anew", event.pos, total)
        wrote = self.done.events - before.events
        self.done = replace(self.done, upto=total, late=self.done.late + (wrote if before.upto else 0))
        return wrote > 0

    def _rewrites(self, event: Event, tx: str) -> list[Rewrite]:
        changed = None if event.payload is None or event.kind == "log.rewritten" else self._change(event.payload)
        return [] if changed is None or changed == event.payload else [rewrite_of(event, changed, tx)]

    def _write(self, waiting: list[Rewrite]) -> None:
        """One commit; what others replaced since it was read is looked at again first."""
        while waiting:
            check_only_sealed(waiting)
            try:
                wrote = self._rewriter.write(waiting, why="resealed", what="key")
            except Overtaken:
                waiting = self._again(waiting)
                continue
            self.done = replace(
                self.done,
                events=self.done.events + len(waiting),
                commits=self.done.commits + 1,
                longest_hold_ms=max(self.done.longest_hold_ms, wrote.hold_ms),
            )
            return

    def _again(self, waiting: Sequence[Rewrite]) -> list[Rewrite]:
        found = self._store.events_at(self._viewer, [each.before.pos for each in waiting])
        stands = {event.pos: event for event in found}
        same = [each for each in waiting if stands[each.before.pos] == each.before]
        others = [each for each in waiting if stands[each.before.pos] != each.before]
        return [*same, *(new for each in others for new in self._rewrites(stands[each.before.pos], each.tx))]


def _events(store: Store, viewer: Viewer, *, after: int = 0, upto: int) -> Iterator[tuple[Event, str]]:
    """Events past a position, each with the change that its commit belongs to."""
    for commit, events in read_commits(store, viewer, after=after):
        if commit.first_pos > upto:
            return
        tx = change_of(events)
        yield from ((event, tx) for event in events)
