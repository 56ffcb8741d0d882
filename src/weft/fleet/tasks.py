"""`work_create`, `work_update`, `work_complete`: tasks of workflows, to which their products are joined.

    open · running · blocked        in progress
    succeeded · failed · cancelled  completed: accepts no more products

Every change of state is a version: a query as of a time returns the state at that time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta, Struct, field
from msgspec.structs import asdict, replace

from weft.append.append import Fence
from weft.core.errors import Conflict, Invalid, NotFound
from weft.core.types import NOW, Guard, NodeVersion
from weft.fleet.fences import every
from weft.fleet.work.completion import Completion, completion
from weft.log.draft import Draft
from weft.log.kinds.graph import Asserted, EdgeAssertion, NodeAssertion
from weft.runtime.call_context import CallContext
from weft.runtime.fields import Name, NodeName, RequestId
from weft.runtime.operation import Operation
from weft.writing.build.commit import WriteDecision, commit, decide_and_commit
from weft.writing.build.entity_builder import check_text_field
from weft.writing.build.planned_write import asserts, earlier_result
from weft.writing.build.references import assertion_of, covers
from weft.writing.build.versions import node_fence, result_of
from weft.writing.checks.provenance import (
    DONE,
    RAISED_DURING,
    TASK,
    conversation_key,
    conversation_named,
    status_of,
    task_closed,
    task_named,
)
from weft.writing.write_contract import WriteOptions, WriteResult, focus_of, guard_of, props_of

MAX_WORDS: Final = 20_000  # characters of a description, a note or a result
MAX_JSON_BYTES: Final = 20_000  # of inputs, and of outputs

Words = Annotated[str, Meta(max_length=MAX_WORDS)]
Flow = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=64,
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._:-]*$",
        description="the kind of workflow, such as tunnel-login",
    ),
]
Values = Annotated[dict[str, Any], Meta(max_length=64)]
TaskName = Annotated[NodeName, Meta(description="the task's id, or its title")]


class WorkCreate(WriteOptions, frozen=True, kw_only=True):
    """Input of `work_create`."""

    kind: Flow
    title: Annotated[Name, Meta(description="the title, in one line")]
    description: Annotated[Words, Meta(description="a longer description")] = ""
    inputs: Annotated[Values, Meta(description="its inputs")] = field(default_factory=dict)
    conversation: Annotated[
        Name | None, Meta(description="the conversation it was created in; the current one if unset")
    ] = None


def work_create(ctx: CallContext, given: WorkCreate) -> WriteResult:
    """Opens a task for a workflow, and returns its id.

    Pass that id as produced_by_task_id to every write of the workflow: each is joined to the task. `weft work-update`
    records progress, `weft work-complete` the outcome. The task is joined to the conversation it was created in.
    """
    check_text_field(given.title, field="title")
    _check_size(given.inputs, "inputs")
    if before := earlier_result(ctx, given.request_id, lambda payload: asserts(payload, TASK, given.title)):
        return before
    guard = guard_of(ctx, given)
    raised = _raised(ctx, given.conversation, guard)
    node = NodeAssertion(
        id=ctx.new_id(given.request_id),
        kind=TASK,
        name=given.title.strip(),
        text=given.description,
        props={
            **props_of(ctx, given),
            "task_kind": given.kind,
            "status": "open",
            **({"inputs": given.inputs} if given.inputs else {}),
            **({"conversation": raised.key} if raised.shown else {}),
        },
        focus=focus_of(ctx, given),
        **asdict(guard),
    )
    edges = () if raised.node is None else (_raised_edge(node.id, raised.node.id, guard),)
    draft = Draft(kind="graph.asserted", payload=Asserted(nodes=(node,), edges=edges), conversation=raised.key or None)
    done = commit(ctx, [draft], request_id=given.request_id)
    linked = () if raised.node is None else (raised.node.id,)
    notes = (
        (f"the conversation {raised.key!r} is not recorded yet: the task names it and is joined to it later",)
        if raised.unmet
        else ()
    )
    return WriteResult(
        status=done.status, id=node.id, citation=done.citation, linked=linked, notes=(*notes, *done.notes)
    )


class _Raised(Struct, frozen=True, kw_only=True):
    """The conversation of a task; `shown` if everybody who may see the task may see it."""

    key: str = ""
    node: NodeVersion | None = None
    shown: bool = False

    @property
    def unmet(self) -> bool:
        return bool(self.key) and self.node is None


def _raised(ctx: CallContext, written: str | None, guard: Guard) -> _Raised:
    """Raises NotFound for an unknown conversation that the caller names; the current one may not be recorded yet."""
    named = written or ctx.settings.conversation
    if not named:
        return _Raised()
    node = conversation_named(ctx, named)
    if node is None:
        if written is not None:
            raise no_conversation(written)
        return _Raised(key=conversation_key(ctx, named), shown=True)
    return _Raised(key=node.id, node=node, shown=covers(node.guard, guard))


def no_conversation(written: str) -> NotFound:
    """The error for a conversation that does not exist or is hidden from the caller."""
    return NotFound(
        f"there is no conversation {written[:80]!r} that you may see",
        hint="use the name given to record_turns; `weft conversation-search` finds messages",
    )


def _raised_edge(task: str, conversation: str, guard: Guard) -> EdgeAssertion:
    return EdgeAssertion(src=task, rel=RAISED_DURING, dst=conversation, **asdict(guard))


class WorkUpdate(Struct, frozen=True, kw_only=True):
    """Input of `work_update`."""

    id: TaskName
    status: Annotated[
        Literal["open", "running", "blocked"] | None, Meta(description="its status; unchanged if unset")
    ] = None
    note: Annotated[Words, Meta(description="its progress, or what it waits for")] = ""
    outputs: Annotated[Values, Meta(description="outputs so far; added to earlier ones")] = field(default_factory=dict)
    request_id: RequestId = None


def work_update(ctx: CallContext, given: WorkUpdate) -> WriteResult:
    """Records the progress of a task: its status, a note, outputs so far.

    Earlier states stay in its history. A completed task accepts no more updates.
    """
    if given.status is None and not given.note.strip() and not given.outputs:
        raise Invalid("no change to the task was given", hint="give a status, a note or outputs")
    _check_size(given.outputs, "outputs")

    def props(task: NodeVersion) -> dict[str, Any]:
        told = {"note": given.note.strip()} if given.note.strip() else {}
        return {**told, "status": given.status or status_of(task), **with_outputs(task, given.outputs)}

    return changed_task(ctx, given.id, given.request_id, props, cannot="be updated").told


class WorkComplete(Struct, frozen=True, kw_only=True):
    """Input of `work_complete`."""

    id: TaskName
    status: Annotated[Literal["succeeded", "failed", "cancelled"], Meta(description="the outcome")] = "succeeded"
    result: Annotated[Words, Meta(description="the result, or why it failed")] = ""
    outputs: Annotated[Values, Meta(description="outputs; added to earlier ones")] = field(default_factory=dict)
    request_id: RequestId = None


def work_complete(ctx: CallContext, given: WorkComplete) -> WriteResult:
    """Completes a task as succeeded, failed or cancelled, with its result, by which it can be found.

    This is final: a completed task is not completed again, accepts no updates and no more products. Claims for it end,
    its outcome is kept as a decision and its episodes are reflected on, all at once.
    """
    _check_size(given.outputs, "outputs")

    def props(task: NodeVersion) -> dict[str, Any]:
        told = {"result": given.result.strip()} if given.result.strip() else {}
        return {**told, "status": given.status, **with_outputs(task, given.outputs)}

    return changed_task(ctx, given.id, given.request_id, props, cannot="be completed again").told


class Transition(Struct, frozen=True, kw_only=True):
    """A change of a task's state, and what ended with it."""

    told: WriteResult
    end: Completion = Completion()


def changed_task(
    ctx: CallContext,
    written: str,
    request_id: str | None,
    props: Callable[[NodeVersion], dict[str, Any]],
    *,
    cannot: str,
    edges: tuple[EdgeAssertion, ...] = (),
    fences: Callable[[int], tuple[Fence, ...]] = lambda pos: (),
) -> Transition:
    """Writes a new state of a task; the last one together with what ends with it. Of concurrent changes each sees the
    one before.
    """
    task_id = task_named(ctx, written).id

    def is_it(payload: Any) -> str | None:
        nodes = payload.nodes if isinstance(payload, Asserted) else ()
        return next((node.id for node in nodes if node.id == task_id), None)

    def choose(pos: int) -> WriteDecision[Transition]:
        task = task_named(ctx, task_id)
        if status_of(task) in DONE:
            raise task_closed(task, cannot=cannot)
        after = {**task.props, **props(task)}
        if after == dict(task.props):
            told = WriteResult(
                status="duplicate_skip", id=task.id, notes=("nothing was written: its state is the same already",)
            )
            return WriteDecision(answer=Transition(told=told))
        end = Completion()
        if after["status"] in DONE:
            end = completion(ctx, task, status=after["status"], result=str(after.get("result", "")), pos=pos)
        ended_with = _ended_with(ctx, end)
        told = WriteResult(status="saved", id=task.id, notes=ended_with)
        reason = f"the task {after['status']}; {'; '.join(ended_with)}" if end.decision else ""
        drafts = (task_version(ctx, task, after, edges, reason=reason), *end.drafts)
        fence = every(node_fence(task, pos), end.fence, *fences(pos))
        return WriteDecision(answer=Transition(told=told, end=end), drafts=drafts, fence=fence)

    if before := earlier_result(ctx, request_id, is_it):
        return Transition(told=before)
    try:
        done, made = decide_and_commit(ctx, choose, request_id=request_id)
        return replace(done, told=result_of(done.told, made))
    except Conflict:
        if before := earlier_result(ctx, request_id, is_it):  # by a concurrent call with the same request id
            return Transition(told=before)
        raise


def _ended_with(ctx: CallContext, end: Completion) -> tuple[str, ...]:
    """What ended with a task, and what was learnt, in words."""
    me = ctx.writer.actor.agent
    named = [
        claim.label if claim.holder.agent == me else f"{claim.label} (of {claim.holder.agent})"
        for claim in end.released
    ]
    claims = f"claims released: {', '.join(named)}" if named else ""
    learnt = "; ".join(f"{each.change} learning: {each.title}" for each in end.reflection.learnt)
    return tuple(filter(None, (claims, learnt)))


def task_version(
    ctx: CallContext,
    task: NodeVersion,
    props: dict[str, Any],
    more: tuple[EdgeAssertion, ...] = (),
    *,
    reason: str = "",
) -> Draft:
    """The task from now on, with more relations; joined to its conversation if that has been recorded since."""
    summary = str(props.get("result") or task.summary)
    again = replace(assertion_of(task), props=props, summary=summary, valid_from=None, valid_to=None)
    cited = ctx.store.citations(ctx.viewer, [task.event]).get(task.event)
    key = props.get("conversation")
    edges: tuple[EdgeAssertion, ...] = ()
    if isinstance(key, str) and (node := conversation_named(ctx, key)) is not None:
        joined = ctx.store.edges(ctx.viewer, NOW, task.id, rel=RAISED_DURING, direction="out", before=None, limit=1)
        edges = () if joined else (_raised_edge(task.id, node.id, task.guard),)
    payload = Asserted(nodes=(again,), edges=(*edges, *more), reason=reason)
    return Draft(kind="graph.asserted", payload=payload, caused_by=() if cited is None else (cited,))


def with_outputs(task: NodeVersion, more: dict[str, Any]) -> dict[str, Any]:
    """A task's outputs with more of them, within their size limit."""
    before = task.props.get("outputs")
    after = {**(before if isinstance(before, dict) else {}), **more}
    _check_size(after, "outputs")
    return {"outputs": after} if after else {}


def _check_size(values: dict[str, Any], what: str) -> None:
    size = len(msgspec.json.encode(values))
    if size > MAX_JSON_BYTES:
        raise Invalid(
            f"the {what} are {size:,} bytes; the limit is {MAX_JSON_BYTES:,}",
            hint="write long values as a memory with produced_by_task_id, and give its id here",
        )


PRIORITIES: Final = {"critical": 4.0, "urgent": 4.0, "high": 3.0, "medium": 2.0, "normal": 2.0, "low": 1.0}
STATES: Final = ("blocked", "running", "open")  # order within a priority


def by_priority(task: NodeVersion) -> tuple[float, int, int]:
    """A sort key: the highest priority (or importance) first, then by status, then the newest."""
    state = status_of(task)
    place = STATES.index(state) if state in STATES else len(STATES)
    return (-_priority(task.props), place, -task.row)


def _priority(props: Any) -> float:
    said = props.get("priority", props.get("importance", 1.0))
    if isinstance(said, str):
        return PRIORITIES.get(said.casefold(), 1.0)
    return float(said) if isinstance(said, int | float) and not isinstance(said, bool) else 1.0


OPERATIONS = (
    Operation(
        name="work_create",
        summary="open a task of a workflow, to which its products are joined",
        input=WorkCreate,
        output=WriteResult,
        effect="write",
        toolset="work",
        run=work_create,
        arguments=("kind", "title"),
    ),
    Operation(
        name="work_update",
        summary="record the progress of a task",
        input=WorkUpdate,
        output=WriteResult,
        effect="write",
        toolset="work",
        run=work_update,
        arguments=("id",),
    ),
    Operation(
        name="work_complete",
        summary="complete a task, with its result",
        input=WorkComplete,
        output=WriteResult,
        effect="write",
        toolset="work",
        run=work_complete,
        arguments=("id",),
    ),
)
