"""`task_update`: a task's way from open to its end."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from msgspec import Meta, Struct, field
from msgspec.structs import asdict

from weft.append.append import Fence
from weft.core.errors import Invalid
from weft.core.types import NodeVersion
from weft.fleet.tasks import TaskName, Transition, Values, Words, changed_task, with_outputs
from weft.fleet.work.creating import Dependencies, Priority
from weft.fleet.work.dependencies import DEPENDS_ON, check_no_cycle, tasks_named, unfinished, waits_for
from weft.log.kinds.graph import EdgeAssertion
from weft.runtime.call_context import CallContext
from weft.runtime.fields import Label, RequestId
from weft.runtime.operation import Operation
from weft.writing.build.commit import WriteStatus
from weft.writing.checks.provenance import DONE, status_of, task_named

Given = Literal["open", "running", "blocked", "succeeded", "failed", "cancelled", "pending", "in_progress", "completed"]
MEANT: Final = {"pending": "open", "in_progress": "running", "completed": "succeeded"}  # as other systems say it


class TaskUpdate(Struct, frozen=True, kw_only=True):
    """Input of `task_update`."""

    task: TaskName
    status: Annotated[
        Given | None,
        Meta(description="open, running, blocked; or its end: succeeded (completed), failed, cancelled"),
    ] = None
    note: Annotated[Words, Meta(description="its progress, what it waits for, or its result where it ends")] = ""
    outputs: Annotated[Values, Meta(description="outputs so far; added to earlier ones")] = field(default_factory=dict)
    assignee: Annotated[Label | None, Meta(description="the agent that is to do it")] = None
    priority: Priority = None
    depends_on: Dependencies = ()
    request_id: RequestId = None


class TaskUpdated(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The task's new state. At its end: the claims that ended with it, the decision that keeps the outcome, and what
    was learnt, all written at once.
    """

    status: WriteStatus
    id: str
    state: str = ""
    citation: str = ""
    released: tuple[str, ...] = ()
    decision: str = ""
    reflection: str = ""
    learnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def task_update(ctx: CallContext, given: TaskUpdate) -> TaskUpdated:
    """Moves a task on: its status, a note, outputs, who does it, what it waits for.

    An end (succeeded, failed, cancelled) is final. With it every claim for the task ends, its outcome is kept as a
    decision and its episodes are reflected on, in one transaction.
    """
    state = MEANT.get(given.status or "", given.status)
    if state is None and not (
        given.note.strip() or given.outputs or given.assignee or given.priority or given.depends_on
    ):
        raise Invalid("no change to the task was given", hint="give a status, a note, outputs, assignee or depends_on")
    task = task_named(ctx, given.task)
    wanted = tasks_named(ctx, given.depends_on)
    edges = tuple(EdgeAssertion(src=task.id, rel=DEPENDS_ON, dst=each.id, **asdict(task.guard)) for each in wanted)

    def props(now: NodeVersion) -> dict[str, Any]:
        said = given.note.strip()
        ends = state in DONE
        changes = {
            "result" if ends else "note": said or None,
            "assignee": given.assignee,
            "priority": given.priority,
            "waits": _marks(now, len(wanted)),
        }
        told = {name: value for name, value in changes.items() if value is not None}
        return {**told, "status": state or status_of(now), **with_outputs(now, given.outputs)}

    def fences(pos: int) -> tuple[Fence, ...]:
        return (Fence(pos=pos, slots=check_no_cycle(ctx, task.id, task.name, wanted).slots),) if wanted else ()

    done = changed_task(
        ctx,
        task.id,
        given.request_id,
        props,
        cannot="be updated" if state not in DONE else "be completed again",
        edges=edges,
        fences=fences,
    )
    return _told(ctx, done, state or status_of(task), task)


def _marks(task: NodeVersion, more: int) -> int | None:
    """How many dependencies were added to it: a new one is a new version of the task, on which others can depend."""
    held = task.props.get("waits")
    before = held if isinstance(held, int) else 0
    return before + more if more else held if isinstance(held, int) else None


def _told(ctx: CallContext, done: Transition, state: str, task: NodeVersion) -> TaskUpdated:
    notes = done.told.notes
    if state == "running" and (open_ones := unfinished(waits_for(ctx, [task.id]).get(task.id, []))):
        named = ", ".join(f"{each.name} ({status_of(each)})" for each in open_ones[:5])
        notes = (*notes, f"it depends on tasks that have not succeeded: {named}")
    return TaskUpdated(
        status=done.told.status,
        id=done.told.id,
        state=state,
        citation=done.told.citation,
        released=tuple(claim.target for claim in done.end.released),
        decision=done.end.decision,
        reflection=done.end.reflection.id,
        learnings=tuple(each.id for each in done.end.reflection.learnt),
        notes=notes,
    )


OPERATIONS = (
    Operation(
        name="task_update",
        summary="move a task on; at its end claims end, the outcome is kept and something is learnt",
        input=TaskUpdate,
        output=TaskUpdated,
        effect="write",
        toolset="fleet",
        run=task_update,
        arguments=("task", "status"),
        priorities={"state": "required", "released": "high", "decision": "medium", "learnings": "medium"},
    ),
)
