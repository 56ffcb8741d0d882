"""`feature_create`, `task_create`, `plan_save`: what is to be done, and in which order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal

from msgspec import Meta, Struct
from msgspec.structs import asdict, replace

from weft.append.append import Fence
from weft.core.errors import Invalid, NotFound
from weft.core.types import NOW, Guard, NodeVersion
from weft.fleet.work.dependencies import DEPENDS_ON, check_no_cycle, tasks_named
from weft.log.draft import Draft
from weft.log.kinds.graph import Asserted, EdgeAssertion, NodeAssertion
from weft.runtime.call_context import CallContext
from weft.runtime.fields import Label, Name, NodeName
from weft.runtime.operation import Operation
from weft.writing.build.commit import WriteDecision, decide_and_commit
from weft.writing.build.entity_builder import check_text_field
from weft.writing.build.planned_write import asserts, earlier_result
from weft.writing.build.references import resolve_reference
from weft.writing.build.versions import result_of
from weft.writing.checks.provenance import TASK
from weft.writing.write_contract import WriteOptions, WriteResult, focus_of, guard_of, props_of

FEATURE: Final = "Feature"
PLAN: Final = "Plan"
PART_OF: Final = "PART_OF"
CODING: Final = "task"  # the kind of a task that no workflow made
MAX_STEPS: Final = 200

Priority = Annotated[
    Literal["critical", "high", "medium", "low"] | None, Meta(description="how urgent; medium if unset")
]
Words = Annotated[str, Meta(max_length=20_000)]
Dependencies = Annotated[
    tuple[NodeName, ...], Meta(max_length=64, description="tasks that must succeed first, by id or title")
]


class FeatureCreate(WriteOptions, frozen=True, kw_only=True):
    """Input of `feature_create`."""

    title: Annotated[Name, Meta(description="the feature, in one line")]
    description: Annotated[Words, Meta(description="what it is to do")] = ""


def feature_create(ctx: CallContext, given: FeatureCreate) -> WriteResult:
    """Creates a feature: tasks and plans can be part of it, and `weft fleet feature` shows its progress."""
    check_text_field(given.title, field="title")
    if before := earlier_result(ctx, given.request_id, lambda payload: asserts(payload, FEATURE, given.title)):
        return before
    guard = guard_of(ctx, given)
    node = NodeAssertion(
        id=ctx.new_id(given.request_id),
        kind=FEATURE,
        name=given.title.strip(),
        text=given.description,
        props={**props_of(ctx, given), "status": "open"},
        focus=focus_of(ctx, given),
        **asdict(guard),
    )
    draft = Draft(kind="graph.asserted", payload=Asserted(nodes=(node,)))

    def decide(pos: int) -> WriteDecision[WriteResult]:
        if (known := _feature(ctx, given.title)) is not None:
            note = "a feature of this title exists already"
            return WriteDecision(answer=WriteResult(status="duplicate_skip", id=known.id, notes=(note,)))
        told = WriteResult(status="saved", id=node.id)
        return WriteDecision(answer=told, drafts=(draft,), fence=Fence(pos=pos, kinds=(FEATURE,)))

    return result_of(*decide_and_commit(ctx, decide, request_id=given.request_id))


class TaskCreate(WriteOptions, frozen=True, kw_only=True):
    """Input of `task_create`."""

    title: Annotated[Name, Meta(description="what is to be done, in one line")]
    description: Annotated[Words, Meta(description="what was asked, and what it takes")] = ""
    feature: Annotated[NodeName | None, Meta(description="the feature it is part of, by id or title")] = None
    depends_on: Dependencies = ()
    priority: Priority = None
    assignee: Annotated[Label | None, Meta(description="the agent that is to do it")] = None


def task_create(ctx: CallContext, given: TaskCreate) -> WriteResult:
    """Creates a task, with what it waits for and the feature it is part of.

    Claim it (`weft agent-claim`) before you begin. It is the same kind of task that `weft work-create` makes.
    """
    check_text_field(given.title, field="title")
    if before := earlier_result(ctx, given.request_id, lambda payload: asserts(payload, TASK, given.title)):
        return before
    node_id = ctx.new_id(given.request_id)

    def decide(pos: int) -> WriteDecision[WriteResult]:
        feature = None if given.feature is None else feature_named(ctx, given.feature)
        wanted = tasks_named(ctx, given.depends_on, new=given.title)
        walked = check_no_cycle(ctx, node_id, given.title, wanted)
        guard = guard_of(ctx, given)
        node = _task(ctx, given, node_id, guard)
        edges = [_edge(node_id, DEPENDS_ON, each.id, guard) for each in wanted]
        edges += [_edge(node_id, PART_OF, feature.id, guard)] if feature is not None else []
        linked = (*(each.id for each in wanted), *((feature.id,) if feature is not None else ()))
        draft = Draft(kind="graph.asserted", payload=Asserted(nodes=(node,), edges=tuple(edges)))
        fence = Fence(pos=pos, slots=walked.slots) if wanted else None
        return WriteDecision(
            answer=WriteResult(status="saved", id=node_id, linked=linked), drafts=(draft,), fence=fence
        )

    return result_of(*decide_and_commit(ctx, decide, request_id=given.request_id))


def _task(ctx: CallContext, given: TaskCreate, node_id: str, guard: Guard, **props: Any) -> NodeAssertion:
    return NodeAssertion(
        id=node_id,
        kind=TASK,
        name=given.title.strip(),
        text=given.description,
        props={
            **props_of(ctx, given),
            "task_kind": CODING,
            "status": "open",
            **({"priority": given.priority} if given.priority else {}),
            **({"assignee": given.assignee} if given.assignee else {}),
            **props,
        },
        focus=focus_of(ctx, given),
        **asdict(guard),
    )


def _edge(src: str, rel: str, dst: str, guard: Guard, **fields: Any) -> EdgeAssertion:
    return EdgeAssertion(src=src, rel=rel, dst=dst, **asdict(guard), **fields)


def feature_named(ctx: CallContext, written: str) -> NodeVersion:
    """A feature by id, citation or title. Raises NotFound, with the next step."""
    found = _feature(ctx, written)
    if found is None:
        raise NotFound(
            f"there is no feature {written[:80]!r} that you may see here",
            hint="`weft feature-create` creates one; `weft fleet progress` lists tasks and their features",
        )
    return found


def _feature(ctx: CallContext, written: str) -> NodeVersion | None:
    return resolve_reference(ctx, written, kinds={FEATURE})


# Plans


class PlanStep(Struct, frozen=True, kw_only=True):
    """A step of a plan: a task to be, and the earlier steps it waits for, by number from 1."""

    title: Annotated[Name, Meta(description="what is to be done, in one line")]
    description: Words = ""
    after: Annotated[
        tuple[Annotated[int, Meta(ge=1, le=MAX_STEPS)], ...] | None,
        Meta(description="numbers of the steps it waits for; the one before it if unset"),
    ] = None
    priority: Priority = None
    assignee: Label | None = None


class PlanSave(WriteOptions, frozen=True, kw_only=True):
    """Input of `plan_save`."""

    title: Annotated[Name, Meta(description="the plan, in one line")]
    steps: Annotated[tuple[PlanStep, ...], Meta(min_length=1, max_length=MAX_STEPS, description="its steps, in order")]
    description: Annotated[Words, Meta(description="what it is for")] = ""
    feature: Annotated[NodeName | None, Meta(description="the feature it is part of, by id or title")] = None


class PlanSaved(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The plan, and its tasks in order."""

    status: Literal["saved", "duplicate_skip", "pending_retry"]
    id: str
    tasks: tuple[str, ...] = ()
    citation: str = ""
    notes: tuple[str, ...] = ()


def plan_save(ctx: CallContext, given: PlanSave) -> PlanSaved:
    """Keeps a plan: an ordered list of tasks, each waiting for the one before it unless it says otherwise.

    All tasks are created at once; `weft fleet progress` lists them, `weft task-update` moves them on.
    """
    check_text_field(given.title, field="title")
    if before := earlier_result(ctx, given.request_id, lambda payload: asserts(payload, PLAN, given.title)):
        return PlanSaved(
            status="duplicate_skip",
            id=before.id,
            tasks=_tasks_of(ctx, before.id),
            citation=before.citation,
            notes=before.notes,
        )
    _check_order(given.steps)
    guard = guard_of(ctx, given)
    plan_id = ctx.new_id(given.request_id)
    ids = [ctx.new_id() for _ in given.steps]
    plan = NodeAssertion(
        id=plan_id,
        kind=PLAN,
        name=given.title.strip(),
        text=given.description,
        props=props_of(ctx, given),
        focus=focus_of(ctx, given),
        **asdict(guard),
    )
    nodes, edges = [plan], []
    options = {name: value for name, value in asdict(given).items() if name in WriteOptions.__struct_fields__}
    for number, (step, node_id) in enumerate(zip(given.steps, ids, strict=True), 1):
        told = TaskCreate(**{**options, **{name: getattr(step, name) for name in ("title", "description")}})
        told = replace(told, priority=step.priority, assignee=step.assignee, request_id=None)
        nodes.append(_task(ctx, told, node_id, guard, plan=plan_id, step=number))
        edges.append(_edge(node_id, PART_OF, plan_id, guard, props={"step": number}))
        edges += [_edge(node_id, DEPENDS_ON, ids[each - 1], guard) for each in _after(step, number)]
    if given.feature is not None:
        feature = feature_named(ctx, given.feature)
        edges += [_edge(each.id, PART_OF, feature.id, guard) for each in nodes]
    draft = Draft(kind="graph.asserted", payload=Asserted(nodes=tuple(nodes), edges=tuple(edges)))

    def decide(pos: int) -> WriteDecision[None]:
        return WriteDecision(answer=None, drafts=(draft,))

    _, done = decide_and_commit(ctx, decide, request_id=given.request_id)
    assert done is not None
    return PlanSaved(status=done.status, id=plan_id, tasks=tuple(ids), citation=done.citation, notes=done.notes)


def _tasks_of(ctx: CallContext, plan: str) -> tuple[str, ...]:
    edges = ctx.store.edges(ctx.viewer, NOW, plan, rel=PART_OF, direction="in", before=None, limit=MAX_STEPS)
    return tuple(edge.src for edge in sorted(edges, key=lambda edge: edge.props.get("step", 0)))


def _after(step: PlanStep, number: int) -> tuple[int, ...]:
    return tuple(dict.fromkeys(step.after)) if step.after is not None else (number - 1,) if number > 1 else ()


def _check_order(steps: Sequence[PlanStep]) -> None:
    for number, step in enumerate(steps, 1):
        check_text_field(step.title, field=f"the title of step {number}")
        if number in _after(step, number):
            raise Invalid(f"step {number} waits for itself", hint="give numbers of earlier steps in after")
        if late := [each for each in _after(step, number) if each > number]:
            raise Invalid(
                f"step {number} waits for step {late[0]}, which comes later or is none of the {len(steps)}",
                hint="put steps in the order in which they are done; after gives numbers of earlier ones",
            )


OPERATIONS = (
    Operation(
        name="feature_create",
        summary="create a feature, which tasks are part of",
        input=FeatureCreate,
        output=WriteResult,
        effect="write",
        toolset="fleet",
        run=feature_create,
        arguments=("title",),
    ),
    Operation(
        name="task_create",
        summary="create a task, with what it waits for",
        input=TaskCreate,
        output=WriteResult,
        effect="write",
        toolset="fleet",
        run=task_create,
        arguments=("title", "description"),
    ),
    Operation(
        name="plan_save",
        summary="keep a plan: an ordered list of tasks",
        input=PlanSave,
        output=PlanSaved,
        effect="write",
        toolset="fleet",
        run=plan_save,
        arguments=("title",),
    ),
)
