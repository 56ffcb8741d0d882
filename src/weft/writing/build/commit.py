"""The commit of every write operation: provenance, the outbox, and optimistic retries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Generic, Literal, TypeVar

from msgspec import Struct

from weft.append.append import AppendResult, Fence, FenceMoved, written_under
from weft.core.errors import Away, Busy, Conflict, StoreError
from weft.log.draft import Draft
from weft.runtime.call_context import CallContext
from weft.runtime.call_stats import is_sensitive
from weft.writing.build.pseudonyms import check_key
from weft.writing.checks.provenance import Stamped, TaskClosed, both, stamped, stamped_unseen

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


REPEATED: Final = "this request was already written; nothing was written again"
DELIVERED_BEFORE_A_WRITE: Final = 200  # from the outbox, before a write: they bound its latency
MAX_DECISIONS: Final = 20  # attempts of one write, while others keep changing what it depends on

Answer = TypeVar("Answer")


class WriteDecision(Struct, Generic[Answer], frozen=True, kw_only=True):
    """The events to write (none, if there is nothing to write) and the answer to give.

    `fence` names what the decision depends on.
    """

    answer: Answer
    drafts: Sequence[Draft] = ()
    fence: Fence | None = None


class Committed(AppendResult, frozen=True, kw_only=True):
    """The outcome of a commit. While it `waits` in the outbox (the request id), it has no events yet.

    `warnings` concern the request, not its outcome.
    """

    waits: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def status(self) -> Literal["saved", "duplicate_skip", "pending_retry"]:
        return "pending_retry" if self.waits else "duplicate_skip" if self.repeated else "saved"

    @property
    def citation(self) -> str:
        """The citation of the first event; empty while it waits."""
        return self.events[0].citation if self.events else ""

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for the caller: that it was written before, that it waits, that vectors are missing."""
        repeated = (REPEATED,) if self.repeated else ()
        return (*repeated, *self.warnings, self.note) if self.note else (*repeated, *self.warnings)


def commit(
    ctx: CallContext,
    drafts: Sequence[Draft],
    *,
    request_id: str | None = None,
    expected_head: int | None = None,
    fence: Fence | None = None,
) -> Committed:
    """Writes drafts as this caller, all or none. Raises what `append` raises.

    Entries in the outbox are delivered first. If the store is Busy or Away, so that certainly nothing was written, the
    write goes to the outbox and is delivered later, once. A write that depends on the state of the store
    (`expected_head`, `fence`) or on an approval fails instead, as does one that meets a full or read-only disk or a
    damaged file.

    Provenance is written with it: see `weft.writing.checks.provenance`.
    """
    try:
        _deliver_first(ctx)
        return append_stamped(ctx, drafts, request_id=request_id, expected_head=expected_head, fence=fence)
    except (Busy, Away) as problem:
        depends = expected_head is not None or fence is not None or ctx.approval is not None
        if ctx.outbox is None or depends:
            raise
        return _put_off(ctx, drafts, request_id, problem)


def append_stamped(
    ctx: CallContext,
    drafts: Sequence[Draft],
    *,
    request_id: str | None = None,
    expected_head: int | None = None,
    fence: Fence | None = None,
) -> Committed:
    """Like `commit`, for writes that never go to the outbox. Raises what `append` and `stamped` raise."""
    if any(is_sensitive(draft.payload) for draft in drafts):
        check_key(ctx)
    for _ in range(MAX_DECISIONS):
        stamp = _stamp(ctx, drafts, request_id)
        try:
            done = ctx.append(
                stamp.drafts, request_id=request_id, expected_head=expected_head, fence=both(fence, stamp.fence)
            )
        except FenceMoved:
            if fence is not None:
                raise  # the caller decides again
            continue  # the task changed meanwhile: check whether it is still open
        warnings = () if done.repeated else stamp.warnings
        return Committed(events=done.events, repeated=done.repeated, note=done.note, warnings=warnings)
    raise _outrun()


def _stamp(ctx: CallContext, drafts: Sequence[Draft], request_id: str | None) -> Stamped:
    """Drafts with their provenance. A repeat of an earlier request is accepted though its task is completed by now."""
    try:
        return stamped(ctx, drafts)
    except TaskClosed:
        if request_id is None or not written_under(ctx.store, ctx.writer.account, request_id):
            raise
        return stamped_unseen(ctx, drafts)


def _deliver_first(ctx: CallContext) -> None:
    """Delivers the outbox. Raises the store's error, or Busy if more waits than one write delivers."""
    if ctx.outbox is None or not ctx.outbox.waits():
        return
    delivery = ctx.outbox.deliver(
        ctx.store, clock=ctx.clock, embedding=ctx.embedding, most=DELIVERED_BEFORE_A_WRITE, privacy=ctx.privacy
    )
    if delivery.problem is not None:
        raise delivery.problem
    if delivery.left:
        raise Busy(
            f"{delivery.left} earlier writes are still in the outbox", hint="`weft deliver-pending` delivers them all"
        )


def _put_off(ctx: CallContext, drafts: Sequence[Draft], request_id: str | None, problem: StoreError) -> Committed:
    assert ctx.outbox is not None
    try:
        stamp = stamped(ctx, drafts)
    except (Busy, Away):  # the store cannot be read either: provenance is checked on delivery
        stamp = stamped_unseen(ctx, drafts)
    kept = ctx.outbox.put(
        stamp.drafts,
        writer=ctx.writer,
        viewer=ctx.viewer,
        request_id=request_id,
        at=ctx.clock.now_us(),
        problem=problem,
        privacy=ctx.privacy,
    )
    note = f"not written yet: {problem.message}. It waits in the outbox on this disk and is delivered later"
    return Committed(events=(), repeated=False, note=note, waits=kept, warnings=stamp.warnings)


def decide_and_commit(
    ctx: CallContext, decide: Callable[[int], WriteDecision[Answer]], *, request_id: str | None = None
) -> tuple[Answer, Committed | None]:
    """Decides from the current state and writes the decision atomically. Returns the answer and the commit.

    `decide` gets the log's position, reads, and returns a fence that names what it read. If another writer changed that
    before the write, `decide` is called again: it must not write. Raises Conflict after MAX_DECISIONS attempts, and
    what `append` raises.
    """
    for _ in range(MAX_DECISIONS):
        choice = decide(ctx.store.head(ctx.viewer).pos)
        if not choice.drafts:
            return choice.answer, None
        try:
            return choice.answer, commit(ctx, choice.drafts, request_id=request_id, fence=choice.fence)
        except FenceMoved:
            continue
    raise _outrun()


def _outrun() -> Conflict:
    return Conflict(
        f"others changed what this write depends on {MAX_DECISIONS} times in a row; nothing was written",
        hint="repeat the call",
    )
