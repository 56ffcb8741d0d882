"""`forget`: removes one memory from view, or brings it back."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from weft.core.errors import Invalid, NotFound
from weft.core.kinds import RECORD_KINDS
from weft.erasure.delete import Delete, repeated_deletion, restore_node, write_deletion
from weft.runtime.call_context import CallContext
from weft.runtime.fields import GovernanceToken, NodeName, ProducedBy, Reason, RequestId
from weft.runtime.operation import Operation
from weft.writing.build.compiled_truth import stale_truths_from
from weft.writing.build.deletions import WHOLES, deleted_node, with_dependents
from weft.writing.build.extracted_facts import EXTRACTED_RETRACTED
from weft.writing.build.versions import current_node, hidden_as_missing, result_of
from weft.writing.revise import stays_ended
from weft.writing.write_contract import WriteResult


class Forget(Struct, frozen=True, kw_only=True):
    """Input of `forget`."""

    id: NodeName
    reason: Reason = ""
    undo: Annotated[bool, Meta(description="bring back a forgotten memory, by its id or a citation")] = False
    request_id: RequestId = None
    governance_token: GovernanceToken = None
    produced_by_task_id: ProducedBy = None


class Forgotten(WriteResult, frozen=True, kw_only=True, omit_defaults=True):
    """The outcome: with `undone` the memory is in view again."""

    undone: bool = False


def forget(ctx: CallContext, given: Forget) -> Forgotten:
    """Removes a memory from view, at every point in time. With --undo it comes back.

    The log keeps it: this is no erasure. If a memory is true but was not useful, use `weft memory-feedback` instead.
    """
    if given.undo:
        return _undo(ctx, given)
    try:
        node = current_node(ctx, given.id)
    except NotFound:
        if given.request_id is None:
            raise
        again = repeated_deletion(ctx, Delete(target=given.id, reason=given.reason, request_id=given.request_id))
        return Forgotten(status=again.status, id=again.id, citation=again.citation, notes=again.notes)
    if node.kind in RECORD_KINDS:
        raise Invalid(f"weft keeps {node.kind} records itself", hint="forget the memory that the record is about")
    if node.kind in WHOLES:
        raise Invalid(
            f"{node.id[:80]!r} is a {node.kind} with parts: forget removes single memories",
            hint=f"`weft delete {node.id}` removes it with its parts",
        )
    stale, stays = stale_truths_from(ctx, node), stays_ended(ctx, node)
    nodes = with_dependents(ctx, [node])
    extracted = (EXTRACTED_RETRACTED,) if len(nodes) > 1 else ()
    notes = (f"`weft forget {node.id} --undo` brings it back", *extracted, *stays, *stale.notes)
    with hidden_as_missing(given.id):
        done = write_deletion(ctx, nodes, stale, reason=given.reason, request_id=given.request_id)
    return result_of(Forgotten(status="saved", id=node.id, notes=notes), done)


def _undo(ctx: CallContext, given: Forget) -> Forgotten:
    """Brings back what was forgotten, with all that was removed with it."""
    if (node := deleted_node(ctx, given.id)) is not None:
        done = restore_node(ctx, node, reason=given.reason)
        return Forgotten(status=done.status, id=node.id, citation=done.citation, notes=done.notes, undone=True)
    try:
        node = current_node(ctx, given.id)
    except NotFound as problem:
        raise NotFound(
            f"nothing that was forgotten and that you may see has the id or citation {given.id[:80]!r}",
            hint="`weft deletion-list` lists what was deleted, with ids",
        ) from problem
    return Forgotten(status="duplicate_skip", id=node.id, notes=("it is not forgotten",), undone=True)


OPERATIONS = (
    Operation(
        name="forget",
        summary="remove a memory from view, or bring it back",
        input=Forget,
        output=Forgotten,
        effect="destructive",
        toolset="memory",
        run=forget,
        arguments=("id",),
    ),
)
