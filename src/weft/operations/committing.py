"""The one way in which operations write: every memory goes through here, whatever it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Generic, Literal, TypeVar

from msgspec import Struct

from weft.append import Appended, Fence, Moved, written_under
from weft.errors import Away, Busy, Conflict, StoreError
from weft.log.draft import Draft
from weft.loom import Loom
from weft.operations.hidden import check_key
from weft.operations.stamping import Stamped, TaskClosed, both, stamped, stamped_unseen
from weft.tally import is_sensitive

WriteStatus = Literal[
    "saved",
    "duplicate_skip",
    "superseded",
    "manual_review",
    "partial",
    "pending_retry",
    "failed",
    "blocked_scope",
]


REPEATED: Final = "this request was written before; nothing was written again"
DELIVERED_BEFORE_A_WRITE: Final = 200  # of what waits: a write takes no longer than these do
MAX_DECISIONS: Final = 20  # of one write, where others keep touching what it was decided from

Told = TypeVar("Told")


class Choice(Struct, Generic[Told], frozen=True, kw_only=True):
    """What was decided from how things stand: what to write (nothing, if there are no drafts) and what to say.

    `fence` names what the decision rests on.
    """

    told: Told
    drafts: Sequence[Draft] = ()
    fence: Fence | None = None


class Committed(Appended, frozen=True, kw_only=True):
    """What became of a commit. One that `waits` (its request id) has no events yet: it is in the outbox.

    `warnings` are about what was asked, not about what became of it.
    """

    waits: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def status(self) -> Literal["saved", "duplicate_skip", "pending_retry"]:
        return "pending_retry" if self.waits else "duplicate_skip" if self.repeated else "saved"

    @property
    def citation(self) -> str:
        """Of its first event; none while it waits."""
        return self.events[0].citation if self.events else ""

    @property
    def notes(self) -> tuple[str, ...]:
        """What the caller should know: that it was written before, that it waits, that it has no vectors."""
        repeated = (REPEATED,) if self.repeated else ()
        return (*repeated, *self.warnings, self.note) if self.note else (*repeated, *self.warnings)


def commit(
    loom: Loom,
    drafts: Sequence[Draft],
    *,
    request_id: str | None = None,
    expected_head: int | None = None,
    fence: Fence | None = None,
) -> Committed:
    """Writes drafts as this caller: all of them or none. Raises what `append` raises.

    What waits in the outbox goes first. Where the store is Busy or Away, so that surely nothing was written, the write
    waits there too and is delivered later, once; but one that depends on how things stand (`expected_head`, `fence`) or
    on an approval fails, as one does for any other error: a full or read-only disk or a damaged file do not mend by
    waiting.

    What it came of is written with it, as `weft.operations.stamping` says.
    """
    try:
        _deliver_first(loom)
        return append_stamped(loom, drafts, request_id=request_id, expected_head=expected_head, fence=fence)
    except (Busy, Away) as problem:
        depends = expected_head is not None or fence is not None or loom.approval is not None
        if loom.outbox is None or depends:
            raise
        return _put_off(loom, drafts, request_id, problem)


def append_stamped(
    loom: Loom,
    drafts: Sequence[Draft],
    *,
    request_id: str | None = None,
    expected_head: int | None = None,
    fence: Fence | None = None,
) -> Committed:
    """The same for what never waits: it is written now, or fails. Raises what `append` and `stamped` raise."""
    if any(is_sensitive(draft.payload) for draft in drafts):
        check_key(loom)
    for _ in range(MAX_DECISIONS):
        stamp = _stamp(loom, drafts, request_id)
        try:
            done = loom.append(
                stamp.drafts, request_id=request_id, expected_head=expected_head, fence=both(fence, stamp.fence)
            )
        except Moved:
            if fence is not None:
                raise  # whoever decided looks again
            continue  # the task was touched meanwhile: is it still open?
        warnings = () if done.repeated else stamp.warnings
        return Committed(events=done.events, repeated=done.repeated, note=done.note, warnings=warnings)
    raise _outrun()


def _stamp(loom: Loom, drafts: Sequence[Draft], request_id: str | None) -> Stamped:
    """Where drafts came from. What this request wrote before stands, though its task be completed by now."""
    try:
        return stamped(loom, drafts)
    except TaskClosed:
        if request_id is None or not written_under(loom.store, loom.writer.account, request_id):
            raise
        return stamped_unseen(loom, drafts)


def _deliver_first(loom: Loom) -> None:
    """Delivers what waits. Raises the store's error, or Busy while more waits than one write delivers."""
    if loom.outbox is None or not loom.outbox.waits():
        return
    delivery = loom.outbox.deliver(
        loom.store, clock=loom.clock, embedding=loom.embedding, most=DELIVERED_BEFORE_A_WRITE, screen=loom.screen
    )
    if delivery.problem is not None:
        raise delivery.problem
    if delivery.left:
        raise Busy(f"{delivery.left} writes wait before this one", hint="`weft deliver-pending` delivers them all")


def _put_off(loom: Loom, drafts: Sequence[Draft], request_id: str | None, problem: StoreError) -> Committed:
    assert loom.outbox is not None
    try:
        stamp = stamped(loom, drafts)
    except (Busy, Away):  # not even to be read: what it came of is looked for when it is delivered
        stamp = stamped_unseen(loom, drafts)
    kept = loom.outbox.put(
        stamp.drafts,
        writer=loom.writer,
        viewer=loom.viewer,
        request_id=request_id,
        at=loom.clock.now_us(),
        problem=problem,
        screen=loom.screen,
    )
    note = f"not written yet: {problem.message}; it is kept on this disk and delivered when the store takes it"
    return Committed(events=(), repeated=False, note=note, waits=kept, warnings=stamp.warnings)


def decided(
    loom: Loom, decide: Callable[[int], Choice[Told]], *, request_id: str | None = None
) -> tuple[Told, Committed | None]:
    """Decides from what stands and writes that, so that nobody comes in between; what was told, and what was written.

    `decide` gets the log's position, reads, and names in its fence what it read. Where another writer touched that
    before the write, it is asked again. It may be asked several times: it must not write. Raises Conflict where others
    were faster each time, and what `append` raises.
    """
    for _ in range(MAX_DECISIONS):
        choice = decide(loom.store.head(loom.viewer).pos)
        if not choice.drafts:
            return choice.told, None
        try:
            return choice.told, commit(loom, choice.drafts, request_id=request_id, fence=choice.fence)
        except Moved:
            continue
    raise _outrun()


def _outrun() -> Conflict:
    return Conflict(
        f"others changed what this write depends on {MAX_DECISIONS} times in a row; nothing was written",
        hint="repeat the call",
    )
