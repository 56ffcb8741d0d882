"""Changing one's mind: editing, correcting, invalidating and forgetting what was written. The log keeps it all."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

from weft.errors import Invalid, NotFound
from weft.instants import parse_instant, to_iso
from weft.kinds import RECORD_KINDS
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.loom import Loom
from weft.operations.committing import Choice, decided
from weft.operations.compiled import truths_from
from weft.operations.deleting import Delete, bring_back, deleted_again, take_out
from weft.operations.deletions import deleted_node, going_with
from weft.operations.fields import GovernanceToken, Label, Moment, NodeName, ProducedBy
from weft.operations.registry import Operation
from weft.operations.remembered import Remembered
from weft.operations.remembering import Props
from weft.operations.standing import FACT
from weft.operations.taking_back import TAKEN_BACK, take_back
from weft.operations.versions import (
    MAX_VERSIONS,
    answer_of,
    last_end,
    missing,
    must_be_told,
    new_versions,
    node_fence,
    pieces_of,
    standing_node,
    told_alike,
    version_draft,
)
from weft.types import NodeVersion

OWN_PROPS = frozenset({"subject", "predicate", "object", "slot"})  # what a fact says, in fields
WHOLES = frozenset({"Document", "File", "Session", "Conversation"})

Reason = Annotated[str, Meta(max_length=2_000, description="why, in a few words")]
RequestId = Annotated[Label | None, Meta(description="repeat a call with the same id and it is written once")]
Words = Annotated[str, Meta(min_length=1, max_length=1_000_000)]


class EditMemory(Struct, frozen=True, kw_only=True):
    """Input of `memory_edit`."""

    id: NodeName
    text: Annotated[Words | None, Meta(description="what it says from now on; the older words stay in its history")] = (
        None
    )
    name: Annotated[Annotated[str, Meta(max_length=512)] | None, Meta(description="its title")] = None
    props: Annotated[Props, Meta(max_length=64, description="properties to set; null removes one")] | None = None
    reason: Reason = ""
    request_id: RequestId = None
    governance_token: GovernanceToken = None
    produced_by_task_id: ProducedBy = None


def memory_edit(loom: Loom, given: EditMemory) -> Remembered:
    """Gives a memory a new version: other words, another title, other properties. Its id stays.

    The older version stays in its history and can be asked for with --known-at. A fact's value is not edited but
    corrected (`weft correct`), or superseded by a newer fact.
    """
    if given.text is None and given.name is None and given.props is None:
        raise Invalid("there is nothing to change", hint="give a text, a name or props")
    if given.text is not None and not given.text.strip():
        raise Invalid("the text is empty", hint="`weft forget` takes a memory out of sight")

    def choose(pos: int) -> Choice[Remembered]:
        node = standing_node(loom, given.id)
        must_be_told(node, to="edit")
        _check_fact(node, given)
        changes = _edits(node, given)
        if not changes:
            return Choice(told=Remembered(status="duplicate_skip", id=node.id, notes=("it says so already",)))
        draft = version_draft(loom, node, new_versions(loom, node, **changes), reason=given.reason)
        stale = truths_from(loom, node)
        gone = take_back(loom, node.id, "edited") if "text" in changes else ()
        told = Remembered(status="saved", id=node.id, notes=((TAKEN_BACK,) if gone else ()) + stale.notes)
        drafts = (*gone, draft, *stale.drafts)
        return Choice(told=told, drafts=drafts, fence=stale.fence(node_fence(node, pos)))

    with told_alike(given.id):
        return answer_of(*decided(loom, choose, request_id=given.request_id))


def _check_fact(node: NodeVersion, given: EditMemory) -> None:
    if node.kind != FACT:
        return
    if given.text is not None or given.name is not None:
        raise Invalid("a fact's words follow from what it says", hint=f"`weft correct {node.id} <the right value>`")
    if OWN_PROPS & (given.props or {}).keys():
        raise Invalid("what a fact says is not edited", hint=f"`weft correct {node.id} <the right value>`")


def _edits(node: NodeVersion, given: EditMemory) -> dict[str, Any]:
    """The fields that become something else."""
    told: dict[str, Any] = {}
    if given.text is not None and given.text != node.text:
        told["text"] = given.text
    if given.name is not None and given.name != node.name:
        told["name"] = given.name
    if given.props is not None:
        merged = {key: value for key, value in {**node.props, **given.props}.items() if value is not None}
        told |= {"props": merged} if merged != dict(node.props) else {}
    return told


class Correct(Struct, frozen=True, kw_only=True):
    """Input of `correct`."""

    id: NodeName
    text: Annotated[Words, Meta(description="what is right: the words, or of a fact its value")]
    reason: Reason = ""
    request_id: RequestId = None
    governance_token: GovernanceToken = None
    produced_by_task_id: ProducedBy = None


def correct(loom: Loom, given: Correct) -> Remembered:
    """Says that a memory was wrong all along, and what is right. It keeps its id and the time for which it holds.

    What stood before stays in its history, with the reason in the log. A fact takes the right value for its text:
    `weft correct <fact> Oslo`. What was right once and is not any more is a new fact instead.
    """
    if not given.text.strip():
        raise Invalid("there is nothing that would be right", hint="`weft forget` takes a memory out of sight")

    def choose(pos: int) -> Choice[Remembered]:
        node = standing_node(loom, given.id)
        must_be_told(node, to="correct")
        changes = _corrected(node, given.text)
        if not changes:
            return Choice(told=Remembered(status="duplicate_skip", id=node.id, notes=("it says so already",)))
        draft = version_draft(loom, node, new_versions(loom, node, **changes), reason=given.reason or "corrected")
        stale = truths_from(loom, node)
        gone = take_back(loom, node.id, "corrected")
        told = Remembered(status="saved", id=node.id, notes=((TAKEN_BACK,) if gone else ()) + stale.notes)
        drafts = (*gone, draft, *stale.drafts)
        return Choice(told=told, drafts=drafts, fence=stale.fence(node_fence(node, pos)))

    with told_alike(given.id):
        return answer_of(*decided(loom, choose, request_id=given.request_id))


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
    at: Annotated[Moment | None, Meta(description="since when it does not hold; now if unset")] = None
    reason: Reason = ""
    request_id: RequestId = None
    governance_token: GovernanceToken = None
    produced_by_task_id: ProducedBy = None


def memory_invalidate(loom: Loom, given: Invalidate) -> Remembered:
    """Says that a memory stops being true at a moment. Asked as of an earlier one, it still answers.

    With a moment before it began, it never held. What was wrong from the start is rather corrected, or forgotten.
    """
    at = None if given.at is None else parse_instant(given.at, field="at")

    def choose(pos: int) -> Choice[Remembered]:
        node = standing_node(loom, given.id)
        if node.kind in RECORD_KINDS:
            raise Invalid(f"{node.kind} is weft's own kind of record", hint="invalidate the memory that it is about")
        end = last_end(loom, node)
        moment = loom.clock.now_us() if at is None else at
        if end is not None and end <= moment:
            told = Remembered(status="duplicate_skip", id=node.id, notes=(f"it ended on {to_iso(end)[:10]} already",))
            return Choice(told=told)
        payload = graph.Ended(nodes=(node.id,), at=None if at is None else to_iso(at), reason=given.reason)
        draft = Draft(kind="graph.ended", payload=payload)
        stale = truths_from(loom, node)
        stays = _stays_ended(loom, node) if moment <= pieces_of(loom, node)[0].interval.valid_from else ()
        gone = take_back(loom, node.id, "its source ended")
        told = Remembered(status="saved", id=node.id, notes=((TAKEN_BACK,) if gone else ()) + stale.notes + stays)
        drafts = (*gone, draft, *stale.drafts)
        return Choice(told=told, drafts=drafts, fence=stale.fence(node_fence(node, pos)))

    with told_alike(given.id):
        return answer_of(*decided(loom, choose, request_id=given.request_id))


class Forget(Struct, frozen=True, kw_only=True):
    """Input of `forget`."""

    id: NodeName
    reason: Reason = ""
    undo: Annotated[bool, Meta(description="bring back what was forgotten; needs its id")] = False
    request_id: RequestId = None
    governance_token: GovernanceToken = None
    produced_by_task_id: ProducedBy = None


def forget(loom: Loom, given: Forget) -> Remembered:
    """Takes a memory out of sight, at every moment asked about. With --undo, and its id, it comes back.

    The log keeps it: this is no erasure. What is still true but not of use is better left, or told so with
    `weft memory-feedback`.
    """
    if given.undo:
        return _restore(loom, given)
    try:
        node = standing_node(loom, given.id)
    except NotFound:
        if given.request_id is None:
            raise
        return _forgotten_again(loom, given)
    if node.kind in RECORD_KINDS:
        raise Invalid(f"{node.kind} is weft's own kind of record", hint="forget the memory that it is about")
    if node.kind in WHOLES:
        raise Invalid(
            f"{node.id[:80]!r} is a {node.kind}: its parts would stay behind", hint=f"`weft delete {node.id}`"
        )
    stale, stays = truths_from(loom, node), _stays_ended(loom, node)
    nodes = going_with(loom, [node])
    notes = (f"`weft forget {node.id} --undo` undoes it", *((TAKEN_BACK,) if len(nodes) > 1 else ()), *stays)
    told = Remembered(status="saved", id=node.id, notes=(*notes, *stale.notes))
    with told_alike(given.id):
        done = take_out(loom, nodes, stale, reason=given.reason, request_id=given.request_id)
    return answer_of(told, done)


def _forgotten_again(loom: Loom, given: Forget) -> Remembered:
    """A repeated request finds its first writing, though there is nothing left to see."""
    again = deleted_again(loom, Delete(target=given.id, reason=given.reason, request_id=given.request_id))
    return Remembered(status=again.status, id=again.id, citation=again.citation, notes=again.notes)


def _stays_ended(loom: Loom, node: NodeVersion) -> tuple[str, ...]:
    """What a fact that goes had ended, which does not hold again by itself."""
    if node.kind != FACT or node.slot == node.id:
        return ()
    begin = pieces_of(loom, node)[0].interval.valid_from
    rows = loom.store.standing(loom.viewer, node.slot, after=begin - 1, limit=MAX_VERSIONS)
    ended = [row for row in rows if row.interval.valid_to == begin != row.interval.asserted_to and row.id != node.id]
    return tuple(
        f"what it ended stays ended: {row.text[:120]!r} until {to_iso(begin)[:10]}: add the fact again to bring it back"
        for row in ended
    )


def _restore(loom: Loom, given: Forget) -> Remembered:
    """What was forgotten comes back with all that went with it."""
    if loom.store.history(loom.viewer, given.id, limit=1):
        return Remembered(status="duplicate_skip", id=given.id, notes=("it is not forgotten",))
    if (node := deleted_node(loom, given.id)) is None:
        raise missing(given.id)
    done = bring_back(loom, node, reason=given.reason)
    return Remembered(status=done.status, id=given.id, citation=done.citation, notes=done.notes)


OPERATIONS = (
    Operation(
        name="memory_edit",
        summary="give a memory other words, another title or other properties: a new version, the older one is kept",
        input=EditMemory,
        output=Remembered,
        effect="write",
        toolset="memory",
        run=memory_edit,
        arguments=("id",),
    ),
    Operation(
        name="correct",
        summary="say that a memory was wrong all along, and what is right",
        input=Correct,
        output=Remembered,
        effect="write",
        toolset="memory",
        run=correct,
        arguments=("id", "text"),
    ),
    Operation(
        name="memory_invalidate",
        summary="say that a memory stops being true at a moment",
        input=Invalidate,
        output=Remembered,
        effect="write",
        toolset="memory",
        run=memory_invalidate,
        arguments=("id",),
    ),
    Operation(
        name="forget",
        summary="take a memory out of sight, or bring it back",
        input=Forget,
        output=Remembered,
        effect="destructive",
        toolset="memory",
        run=forget,
        arguments=("id",),
    ),
)
