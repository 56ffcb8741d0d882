"""`memory_edit`, `correct`, `memory_invalidate`: changing a memory. Its earlier versions stay in the log."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct
from msgspec.structs import replace

from weft.core.clock import parse_instant, to_iso
from weft.core.errors import Invalid
from weft.core.kinds import RECORD_KINDS
from weft.core.types import NodeVersion
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.runtime.call_context import CallContext
from weft.runtime.fields import GovernanceToken, Moment, NodeName, ProducedBy, Reason, RequestId
from weft.runtime.operation import Operation
from weft.writing.build.compiled_truth import stale_truths_from
from weft.writing.build.extracted_facts import EXTRACTED_RETRACTED, extracted_from, retracted
from weft.writing.build.versions import (
    MAX_VERSIONS,
    NodeChange,
    change_node,
    check_editable,
    last_end,
    new_versions,
    version_draft,
    version_pieces,
)
from weft.writing.checks.current_value import FACT
from weft.writing.read_again import read_again
from weft.writing.write_contract import Props, WriteResult

OWN_PROPS = frozenset({"subject", "predicate", "object", "slot"})  # the fields of a fact
UNCHANGED = "it says the same already: nothing was written"
TO_REMOVE = "`weft forget` removes a memory from view"

Words = Annotated[str, Meta(min_length=1, max_length=1_000_000)]


class EditMemory(Struct, frozen=True, kw_only=True):
    """Input of `memory_edit`."""

    id: NodeName
    text: Annotated[Words | None, Meta(description="the new text; the earlier one stays in the history")] = None
    name: Annotated[Annotated[str, Meta(max_length=512)] | None, Meta(description="the new title")] = None
    props: Annotated[Props, Meta(max_length=64, description="properties to set; null removes one")] | None = None
    reason: Reason = ""
    request_id: RequestId = None
    governance_token: GovernanceToken = None
    produced_by_task_id: ProducedBy = None


def memory_edit(ctx: CallContext, given: EditMemory) -> WriteResult:
    """Gives a memory a new version with another text, title or properties. Its id stays.

    The earlier version stays in the history; --known-at shows it. The value of a fact is not edited: use
    `weft correct` if it was wrong, or add a newer fact.
    """
    if given.text is None and given.name is None and given.props is None:
        raise Invalid("nothing to change was given", hint="give a text, a name or props")
    if given.text is not None and not given.text.strip():
        raise Invalid("the text is empty", hint=TO_REMOVE)

    def decide(node: NodeVersion) -> NodeChange | str:
        check_editable(node, to="edit")
        _check_fact(node, given)
        changes = _edits(node, given)
        if not changes:
            return UNCHANGED
        return _changed(ctx, node, changes, reason=given.reason, retract="edited")

    return change_node(ctx, given.id, decide, request_id=given.request_id)


def _changed(ctx: CallContext, node: NodeVersion, changes: dict[str, Any], *, reason: str, retract: str) -> NodeChange:
    """A new version; new words are read like those of a new memory, and what only the old ones state is removed."""
    assertions = new_versions(ctx, node, **changes)
    if "text" not in changes:
        return _with_dependents(ctx, node, version_draft(ctx, node, assertions, reason=reason))
    read = read_again(ctx, node, changes["text"], reason=retract)
    draft = version_draft(ctx, node, (*read.nodes, *assertions), reason=reason, edges=read.edges)
    change = _with_dependents(ctx, node, draft, *read.after)
    return replace(change, notes=(*read.notes, *change.notes), claims=read.claims)


def _with_dependents(ctx: CallContext, node: NodeVersion, *drafts: Draft) -> NodeChange:
    """A change, with the compiled truths that it makes stale."""
    stale = stale_truths_from(ctx, node)
    return NodeChange(drafts=(*drafts, *stale.drafts), notes=stale.notes, slots=stale.slots)


def _check_fact(node: NodeVersion, given: EditMemory) -> None:
    if node.kind != FACT:
        return
    hint = f"`weft correct {node.id} <the right value>`"
    if given.text is not None or given.name is not None:
        raise Invalid("the text and title of a fact follow from its value and cannot be edited", hint=hint)
    if OWN_PROPS & (given.props or {}).keys():
        raise Invalid("subject, predicate, object and slot of a fact cannot be edited", hint=hint)


def _edits(node: NodeVersion, given: EditMemory) -> dict[str, Any]:
    """The fields that change."""
    changes: dict[str, Any] = {}
    if given.text is not None and given.text != node.text:
        changes["text"] = given.text
    if given.name is not None and given.name != node.name:
        changes["name"] = given.name
    if given.props is not None:
        merged = {key: value for key, value in {**node.props, **given.props}.items() if value is not None}
        changes |= {"props": merged} if merged != dict(node.props) else {}
    return changes


class Correct(Struct, frozen=True, kw_only=True):
    """Input of `correct`."""

    id: NodeName
    text: Annotated[Words, Meta(description="the right text; for a fact, its right value")]
    reason: Reason = ""
    request_id: RequestId = None
    governance_token: GovernanceToken = None
    produced_by_task_id: ProducedBy = None


def correct(ctx: CallContext, given: Correct) -> WriteResult:
    """Corrects a memory that was wrong from the start. It keeps its id and its valid time.

    The wrong version stays in the history, with the reason in the log. For a fact give its right value:
    `weft correct <fact> Oslo`. If it was right once and has changed since, add a new fact instead.
    """
    if not given.text.strip():
        raise Invalid("the correction is empty", hint=TO_REMOVE)

    def decide(node: NodeVersion) -> NodeChange | str:
        check_editable(node, to="correct")
        changes = _corrected(node, given.text)
        if not changes:
            return UNCHANGED
        return _changed(ctx, node, changes, reason=given.reason or "corrected", retract="corrected")

    return change_node(ctx, given.id, decide, request_id=given.request_id)


def _corrected(node: NodeVersion, text: str) -> dict[str, Any]:
    if node.kind != FACT or "object" not in node.props:
        return {} if text == node.text else {"text": text}
    old, value = str(node.props["object"]), text.strip()
    if value == old:
        return {}
    words = node.text.removesuffix(old) if node.text.endswith(old) else f"{node.name} "
    return {"text": f"{words}{value}", "props": {**node.props, "object": value}}


class Invalidate(Struct, frozen=True, kw_only=True):
    """Input of `memory_invalidate`."""

    id: NodeName
    at: Annotated[Moment | None, Meta(description="when it stopped being true; now if unset")] = None
    reason: Reason = ""
    request_id: RequestId = None
    governance_token: GovernanceToken = None
    produced_by_task_id: ProducedBy = None


def memory_invalidate(ctx: CallContext, given: Invalidate) -> WriteResult:
    """Ends a memory: it is no longer true from a given time on. Queries as of an earlier time still return it.

    A time before its beginning means that it was never true. If it was wrong from the start, correct or forget it.
    """
    at = None if given.at is None else parse_instant(given.at, field="at")

    def decide(node: NodeVersion) -> NodeChange | str:
        if node.kind in RECORD_KINDS:
            raise Invalid(f"weft keeps {node.kind} records itself", hint="invalidate the memory that it is about")
        end = last_end(ctx, node)
        when = ctx.clock.now_us() if at is None else at
        if end is not None and end <= when:
            return f"it ended on {to_iso(end)[:10]} already"
        payload = graph.Ended(nodes=(node.id,), at=None if at is None else to_iso(at), reason=given.reason)
        never = when <= version_pieces(ctx, node)[0].interval.valid_from
        stays = stays_ended(ctx, node) if never else ()
        out = extracted_from(ctx, node.id, version_pieces(ctx, node)[0].interval.asserted_from)
        gone = retracted(out, "its source ended")
        change = _with_dependents(ctx, node, Draft(kind="graph.ended", payload=payload), *gone)
        drafts = change.drafts
        if never and given.reason:  # a last version carries the reason: only operators see events that end nodes
            drafts = (version_draft(ctx, node, new_versions(ctx, node), reason=given.reason), *drafts)
        notes = ((EXTRACTED_RETRACTED,) if gone else ()) + change.notes + stays
        return NodeChange(drafts=drafts, notes=notes, slots=change.slots)

    return change_node(ctx, given.id, decide, request_id=given.request_id)


def stays_ended(ctx: CallContext, node: NodeVersion) -> tuple[str, ...]:
    """Notes on the facts that a removed fact had ended: they do not become current again by themselves."""
    if node.kind != FACT or node.slot == node.id:
        return ()
    begin = version_pieces(ctx, node)[0].interval.valid_from
    rows = ctx.store.current_in_slot(ctx.viewer, node.slot, after=begin - 1, limit=MAX_VERSIONS)
    ended = [row for row in rows if row.interval.valid_to == begin != row.interval.asserted_to and row.id != node.id]
    return tuple(
        f"a fact that it replaced stays ended: {row.text[:120]!r} until {to_iso(begin)[:10]};"
        " add the fact again to restore it"
        for row in ended
    )


OPERATIONS = (
    Operation(
        name="memory_edit",
        summary="change a memory's text, title or properties: a new version, the earlier one is kept",
        input=EditMemory,
        output=WriteResult,
        effect="write",
        toolset="memory",
        run=memory_edit,
        arguments=("id",),
    ),
    Operation(
        name="correct",
        summary="correct a memory that was wrong from the start",
        input=Correct,
        output=WriteResult,
        effect="write",
        toolset="memory",
        run=correct,
        arguments=("id", "text"),
    ),
    Operation(
        name="memory_invalidate",
        summary="end a memory: it is no longer true from a given time on",
        input=Invalidate,
        output=WriteResult,
        effect="write",
        toolset="memory",
        run=memory_invalidate,
        arguments=("id",),
    ),
)
