"""Work: a flow that does something durable says so as a task, and what it makes is joined to it.

    open · running · blocked        a task is going on
    succeeded · failed · cancelled  it is completed, and makes nothing more

Every change of state is a version that holds from then on: asked as of a moment, a task answers with its state of then.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta, Struct, field
from msgspec.structs import asdict, replace

from weft.errors import Conflict, Invalid, NotFound
from weft.log.draft import Draft
from weft.log.kinds.graph import Asserted, EdgeAssertion, NodeAssertion
from weft.loom import Loom
from weft.operations.committing import Choice, commit, decided
from weft.operations.fields import Label, Name, NodeName
from weft.operations.making import check_words
from weft.operations.planned import answered, asserts
from weft.operations.references import assertion_of, covers
from weft.operations.registry import Operation
from weft.operations.remembered import Remembered
from weft.operations.stamping import (
    DONE,
    RAISED_DURING,
    TASK,
    conversation_key,
    conversation_named,
    status_of,
    task_closed,
)
from weft.operations.tasks import task_named
from weft.operations.versions import answer_of, node_fence
from weft.operations.write_options import WriteOptions, focus_of, guard_of, props_of
from weft.types import NOW, Guard, NodeVersion

MAX_WORDS: Final = 20_000  # characters of a description, a note or a result
MAX_JSON_BYTES: Final = 20_000  # of inputs, and of outputs

Words = Annotated[str, Meta(max_length=MAX_WORDS)]
Flow = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=64,
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._:-]*$",
        description="which sort of flow it is, such as tunnel-login",
    ),
]
Values = Annotated[dict[str, Any], Meta(max_length=64)]
TaskName = Annotated[NodeName, Meta(description="the task's id, or its title")]
RequestId = Annotated[Label | None, Meta(description="repeat a call with the same id and it is written once")]


class WorkCreate(WriteOptions, frozen=True, kw_only=True):
    """Input of `work_create`."""

    kind: Flow
    title: Annotated[Name, Meta(description="what is to be done, in one line")]
    description: Annotated[Words, Meta(description="what it is about, in more words")] = ""
    inputs: Annotated[Values, Meta(description="what it was started with")] = field(default_factory=dict)
    conversation: Annotated[
        Name | None, Meta(description="in which conversation it was raised; the current if unset")
    ] = None


def work_create(loom: Loom, given: WorkCreate) -> Remembered:
    """Opens a task for a flow that does something durable, and answers its id.

    Give that id as produced_by_task_id to every write of the flow: each is joined to the task. `weft work-update` says
    how it goes, `weft work-complete` how it ended. It is joined to the conversation in which it was raised.
    """
    check_words(given.title, field="title")
    _check_size(given.inputs, "inputs")
    if before := answered(loom, given.request_id, lambda payload: asserts(payload, TASK, given.title)):
        return before
    guard = guard_of(loom, given)
    raised = _raised(loom, given.conversation, guard)
    node = NodeAssertion(
        id=loom.new_id(given.request_id),
        kind=TASK,
        name=given.title.strip(),
        text=given.description,
        props={
            **props_of(given),
            "task_kind": given.kind,
            "status": "open",
            **({"inputs": given.inputs} if given.inputs else {}),
            **({"conversation": raised.key} if raised.shown else {}),
        },
        focus=focus_of(loom, given),
        **asdict(guard),
    )
    edges = () if raised.node is None else (_raised_edge(node.id, raised.node.id, guard),)
    draft = Draft(kind="graph.asserted", payload=Asserted(nodes=(node,), edges=edges), conversation=raised.key or None)
    done = commit(loom, [draft], request_id=given.request_id)
    linked = () if raised.node is None else (raised.node.id,)
    notes = (
        (f"nothing was recorded of conversation {raised.key!r} yet: it is named, not joined",) if raised.unmet else ()
    )
    return Remembered(
        status=done.status, id=node.id, citation=done.citation, linked=linked, notes=(*notes, *done.notes)
    )


class _Raised(Struct, frozen=True, kw_only=True):
    """The conversation in which a task was raised; `shown` if all who may see the task may know of it."""

    key: str = ""
    node: NodeVersion | None = None
    shown: bool = False

    @property
    def unmet(self) -> bool:
        return bool(self.key) and self.node is None


def _raised(loom: Loom, written: str | None, guard: Guard) -> _Raised:
    """Raises NotFound for a conversation that a caller names and does not see; the current one may be yet to come."""
    named = written or loom.settings.conversation
    if not named:
        return _Raised()
    node = conversation_named(loom, named)
    if node is None:
        if written is not None:
            raise no_conversation(written)
        return _Raised(key=conversation_key(loom, named), shown=True)
    return _Raised(key=node.id, node=node, shown=covers(node.guard, guard))


def no_conversation(written: str) -> NotFound:
    """The error for a conversation that is not there, or not for the caller to see."""
    return NotFound(
        f"there is no conversation {written[:80]!r} that you may see",
        hint="name it as record_turns does; `weft conversation-search` finds what was said",
    )


def _raised_edge(task: str, conversation: str, guard: Guard) -> EdgeAssertion:
    return EdgeAssertion(src=task, rel=RAISED_DURING, dst=conversation, **asdict(guard))


class WorkUpdate(Struct, frozen=True, kw_only=True):
    """Input of `work_update`."""

    id: TaskName
    status: Annotated[
        Literal["open", "running", "blocked"] | None, Meta(description="how it stands; as before if unset")
    ] = None
    note: Annotated[Words, Meta(description="how far it got, or what it waits for")] = ""
    outputs: Annotated[Values, Meta(description="what has come out so far; added to what is there")] = field(
        default_factory=dict
    )
    request_id: RequestId = None


def work_update(loom: Loom, given: WorkUpdate) -> Remembered:
    """Says how a task goes: its state, a note on its progress, what has come out so far.

    Earlier states stay in its history. A completed task takes no more updates.
    """
    if given.status is None and not given.note.strip() and not given.outputs:
        raise Invalid("there is nothing to say of the task", hint="give a status, a note or outputs")
    _check_size(given.outputs, "outputs")

    def props(task: NodeVersion) -> dict[str, Any]:
        told = {"note": given.note.strip()} if given.note.strip() else {}
        return {**told, "status": given.status or status_of(task), **_outputs(task, given.outputs)}

    return _changed(loom, given.id, given.request_id, props, cannot="be updated")


class WorkComplete(Struct, frozen=True, kw_only=True):
    """Input of `work_complete`."""

    id: TaskName
    status: Annotated[Literal["succeeded", "failed", "cancelled"], Meta(description="how it ended")] = "succeeded"
    result: Annotated[Words, Meta(description="what came of it, or why it failed")] = ""
    outputs: Annotated[Values, Meta(description="what came out; added to what is there")] = field(default_factory=dict)
    request_id: RequestId = None


def work_complete(loom: Loom, given: WorkComplete) -> Remembered:
    """Completes a task: succeeded, failed or cancelled, with its result. It is found by the words of its result, too.

    That is final: a completed task is not completed again, takes no updates and makes nothing more.
    """
    _check_size(given.outputs, "outputs")

    def props(task: NodeVersion) -> dict[str, Any]:
        told = {"result": given.result.strip()} if given.result.strip() else {}
        return {**told, "status": given.status, **_outputs(task, given.outputs)}

    return _changed(loom, given.id, given.request_id, props, cannot="be completed again")


def _changed(
    loom: Loom,
    written: str,
    request_id: str | None,
    props: Callable[[NodeVersion], dict[str, Any]],
    *,
    cannot: str,
) -> Remembered:
    """A new state of a task. Of several who change it at once each sees what the one before made of it."""
    task_id = task_named(loom, written).id

    def is_it(payload: Any) -> str | None:
        nodes = payload.nodes if isinstance(payload, Asserted) else ()
        return next((node.id for node in nodes if node.id == task_id), None)

    def choose(pos: int) -> Choice[Remembered]:
        task = task_named(loom, task_id)
        if status_of(task) in DONE:
            raise task_closed(task, cannot=cannot)
        after = {**task.props, **props(task)}
        if after == dict(task.props):
            told = Remembered(status="duplicate_skip", id=task.id, notes=("it stands like this already",))
            return Choice(told=told)
        told = Remembered(status="saved", id=task.id)
        return Choice(told=told, drafts=(_version(loom, task, after),), fence=node_fence(task, pos))

    if before := answered(loom, request_id, is_it):
        return before
    try:
        return answer_of(*decided(loom, choose, request_id=request_id))
    except Conflict:
        if before := answered(loom, request_id, is_it):  # by the same request, at the same time
            return before
        raise


def _version(loom: Loom, task: NodeVersion, props: dict[str, Any]) -> Draft:
    """The task from now on. A conversation that it names and that has come to be is joined to it."""
    summary = str(props.get("result") or task.summary)
    again = replace(assertion_of(task), props=props, summary=summary, valid_from=None, valid_to=None)
    cited = loom.store.citations(loom.viewer, [task.event]).get(task.event)
    key = props.get("conversation")
    edges: tuple[EdgeAssertion, ...] = ()
    if isinstance(key, str) and (node := conversation_named(loom, key)) is not None:
        joined = loom.store.edges(loom.viewer, NOW, task.id, rel=RAISED_DURING, direction="out", before=None, limit=1)
        edges = () if joined else (_raised_edge(task.id, node.id, task.guard),)
    payload = Asserted(nodes=(again,), edges=edges)
    return Draft(kind="graph.asserted", payload=payload, caused_by=() if cited is None else (cited,))


def _outputs(task: NodeVersion, more: dict[str, Any]) -> dict[str, Any]:
    """Outputs with those that come, within their bound."""
    before = task.props.get("outputs")
    after = {**(before if isinstance(before, dict) else {}), **more}
    _check_size(after, "outputs")
    return {"outputs": after} if after else {}


def _check_size(values: dict[str, Any], what: str) -> None:
    size = len(msgspec.json.encode(values))
    if size > MAX_JSON_BYTES:
        raise Invalid(
            f"the {what} are {size:,} bytes; the limit is {MAX_JSON_BYTES:,}",
            hint="keep what is long as a memory that names the task, and its id here",
        )


OPERATIONS = (
    Operation(
        name="work_create",
        summary="open a task, to which what a flow makes is joined",
        input=WorkCreate,
        output=Remembered,
        effect="write",
        toolset="work",
        run=work_create,
        arguments=("kind", "title"),
    ),
    Operation(
        name="work_update",
        summary="say how a task goes",
        input=WorkUpdate,
        output=Remembered,
        effect="write",
        toolset="work",
        run=work_update,
        arguments=("id",),
    ),
    Operation(
        name="work_complete",
        summary="complete a task, with its result",
        input=WorkComplete,
        output=Remembered,
        effect="write",
        toolset="work",
        run=work_complete,
        arguments=("id",),
    ),
)
