"""Idempotent writing of texts: the same occasion gives the same node id, in whichever process."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import asdict

from weft.append.append import Fence
from weft.core.clock import to_iso
from weft.core.types import NOW, Guard, NodeVersion
from weft.log.canonical import canonical
from weft.log.draft import Draft
from weft.log.kinds import memory
from weft.runtime.call_context import CallContext
from weft.writing.build.commit import WriteDecision, decide_and_commit
from weft.writing.build.planned_write import earlier_result
from weft.writing.build.versions import result_of
from weft.writing.write_contract import WriteOptions, WriteResult, focus_of, guard_of, props_of

MINUTE_US: Final = 60_000_000
_OCCASIONS: Final = uuid.UUID("0d2b7f0e-3c5a-5e53-8d0c-6a0f7b1d9e42")


class TextOnce(Struct, frozen=True, kw_only=True):
    """A text to write: `id` is the same for the same occasion, `at` is its time."""

    id: str
    kind: str
    name: str
    text: str
    guard: Guard
    at: int
    props: dict[str, Any] = {}
    focus: str | None = None


def occasion_id(ctx: CallContext, guard: Guard, *parts: str) -> str:
    """An id derived from what identifies an occasion, within one account and guard.

    Sensitive texts get a random id, which nobody can derive from their words, and are written each time.
    """
    if guard.sensitive:
        return ctx.new_id()
    told = canonical([ctx.writer.account, guard.project, guard.scope, list(guard.agents), *parts])
    return str(uuid.uuid5(_OCCASIONS, told.decode()))


class TimedText(Struct, frozen=True, kw_only=True):
    """A text of a kind that is written once a minute for each title."""

    kind: str
    title: str
    text: str
    at: int
    props: dict[str, Any] = {}


def once_a_minute(ctx: CallContext, given: WriteOptions, written: TimedText) -> TextOnce:
    """The text with an id that is the same for its kind and title within a minute."""
    guard = guard_of(ctx, given)
    return TextOnce(
        id=occasion_id(ctx, guard, written.kind, written.title, str(written.at // MINUTE_US)),
        kind=written.kind,
        name=written.title,
        text=written.text,
        guard=guard,
        at=written.at,
        props=props_of(ctx, given) | written.props,
        focus=focus_of(ctx, given),
    )


def write_once(
    ctx: CallContext,
    piece: TextOnce,
    *,
    request_id: str | None,
    stands: Callable[[], NodeVersion | None] | None = None,
    note: str,
) -> WriteResult:
    """Writes a text, or answers with the existing one and `note`.

    `stands` returns the existing node, visible to the caller; by default the one with the text's id. If two processes
    write the same text at once, one of them gets this answer.
    """
    if before := earlier_result(ctx, request_id, lambda payload: _wrote(payload, piece)):
        return before
    look = stands or (lambda: next(iter(ctx.store.nodes(ctx.viewer, NOW, [piece.id])), None))

    def decide(pos: int) -> WriteDecision[WriteResult]:
        if (there := look()) is not None:
            citation = ctx.store.citations(ctx.viewer, [there.event]).get(there.event, "")
            return WriteDecision(
                answer=WriteResult(status="duplicate_skip", id=there.id, citation=citation, notes=(note,))
            )
        # With `stands`, the decision depends on every node of the kind: reports and alerts are few.
        fence = Fence(pos=pos, kinds=(piece.kind,), concerns=None if stands else lambda node: node.id == piece.id)
        return WriteDecision(answer=WriteResult(status="saved", id=piece.id), drafts=(_draft(piece),), fence=fence)

    told, done = decide_and_commit(ctx, decide, request_id=request_id)
    return result_of(told, done)


def _wrote(payload: Any, piece: TextOnce) -> str | None:
    """The id of what an earlier call wrote, if it wrote the same, at whatever time."""
    same = isinstance(payload, memory.Remembered) and (payload.node_kind, payload.name, payload.text) == (
        piece.kind,
        piece.name,
        piece.text,
    )
    return payload.id if same else None


def _draft(piece: TextOnce) -> Draft:
    payload = memory.Remembered(
        id=piece.id,
        text=piece.text,
        node_kind=piece.kind,
        name=piece.name,
        props=piece.props,
        focus=piece.focus,
        valid_from=to_iso(piece.at),
        **asdict(piece.guard),
    )
    return Draft(kind="memory.remembered", payload=payload, occurred_at=piece.at)
