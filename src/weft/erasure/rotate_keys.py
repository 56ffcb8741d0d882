"""Re-encryption of the log's payloads with another key, and of the rows derived from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from weft.core.ports import Store
from weft.core.types import Event, Viewer
from weft.erasure.rewrite_log import Overtaken, RewriteAccess, Rewriter, rewrite_of
from weft.graph.rewrite import EventRewrite, change_of, check_only_sealed
from weft.log.verify import read_commits

Change = Callable[[bytes], bytes | None]

MAX_EVENTS: Final = 50  # per commit
MAX_PASSES: Final = 10  # over events written meanwhile


class ReencryptResult(Struct, frozen=True, kw_only=True):
    """The outcome of a re-encryption. `late` events were written while it ran."""

    events: int = 0
    late: int = 0
    commits: int = 0
    longest_hold_ms: float = 0.0
    upto: int = 0  # the log position up to which it is complete


def reencrypt(access: RewriteAccess, change: Change) -> ReencryptResult:
    """Replaces payloads by the result of `change` on their bytes (None: unchanged), and the rows derived from them.

    Only encrypted strings may change: anything else raises Invalid, and that commit is not written. Each commit is
    complete in itself, so that a repeated call meets payloads of both sorts. Events written meanwhile are changed too,
    in at most MAX_PASSES passes; `upto` says how far it got.
    """
    access.viewer.must_be_operator("re-encrypt payloads")
    reencryption = _Reencryption(access, change)
    for _ in range(MAX_PASSES):
        if not reencryption.read_on():
            break
    return reencryption.done


class _Reencryption:
    """One re-encryption in progress."""

    def __init__(self, access: RewriteAccess, change: Change) -> None:
        self._store, self._viewer, self._rewriter = access.store, access.viewer, Rewriter(access)
        self._change, self._progress = change, access.progress
        self.done = ReencryptResult()

    def read_on(self) -> bool:
        """Changes the events that were added since the last pass. Returns whether there was anything to change."""
        before, total = self.done, self._store.head(self._viewer).pos
        waiting: list[EventRewrite] = []
        for event, tx in _events(self._store, self._viewer, after=before.upto, upto=total):
            waiting += self._rewrites(event, tx)
            if waiting and (len(waiting) == MAX_EVENTS or event.pos == total):
                self._write(waiting)
                waiting = []
                self._progress("encrypting again", event.pos, total)
        wrote = self.done.events - before.events
        self.done = replace(self.done, upto=total, late=self.done.late + (wrote if before.upto else 0))
        return wrote > 0

    def _rewrites(self, event: Event, tx: str) -> list[EventRewrite]:
        changed = None if event.payload is None or event.kind == "log.rewritten" else self._change(event.payload)
        return [] if changed is None or changed == event.payload else [rewrite_of(event, changed, tx)]

    def _write(self, waiting: list[EventRewrite]) -> None:
        """Writes one commit; events that others replaced since are changed again first."""
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

    def _again(self, waiting: Sequence[EventRewrite]) -> list[EventRewrite]:
        found = self._store.events_at(self._viewer, [each.before.pos for each in waiting])
        stands = {event.pos: event for event in found}
        same = [each for each in waiting if stands[each.before.pos] == each.before]
        others = [each for each in waiting if stands[each.before.pos] != each.before]
        return [*same, *(new for each in others for new in self._rewrites(stands[each.before.pos], each.tx))]


def _events(store: Store, viewer: Viewer, *, after: int = 0, upto: int) -> Iterator[tuple[Event, str]]:
    """Events after a position, each with the change that its commit belongs to."""
    for commit, events in read_commits(store, viewer, after=after):
        if commit.first_pos > upto:
            return
        tx = change_of(events)
        yield from ((event, tx) for event in events)
