"""`work_show`, `work_list`, `work_made`: tasks and their products."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Final, Literal

from msgspec import Meta, Struct, field
from msgspec.structs import replace

from weft.core.clock import to_iso
from weft.core.errors import NotFound
from weft.core.types import NOW, EdgeVersion, Find, NodeVersion, Way
from weft.fleet.tasks import Flow, TaskName, no_conversation
from weft.recall.answer_limits import bounded
from weft.runtime.call_context import CallContext
from weft.runtime.fields import Limit, Name
from weft.runtime.operation import Operation
from weft.writing.build.versions import MAX_VERSIONS
from weft.writing.checks.provenance import (
    PRODUCED,
    RAISED_DURING,
    TASK,
    conversation_key,
    conversation_named,
    status_of,
    task_named,
)

MAX_PRODUCTS: Final = 10_000  # of one task, or of one conversation
MAX_TASKS: Final = 10_000  # read for one answer
TASKS_OF_ONE: Final = 1_000  # of one conversation
LEAD_CHARACTERS: Final = 160

Status = Literal["open", "running", "blocked", "succeeded", "failed", "cancelled"]
Offset = Annotated[int, Meta(ge=0, le=MAX_PRODUCTS, description="how many to skip")]


class TaskShown(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A task in its current state."""

    id: str
    kind: str
    title: str
    status: str
    citation: str
    changed_at: str
    description: str = ""
    note: str = ""
    result: str = ""
    inputs: dict[str, Any] = field(default_factory=dict)
    outputs: dict[str, Any] = field(default_factory=dict)
    conversation: str | None = None
    project: str | None = None


class StateShown(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A state of a task, and when it held."""

    status: str
    since: str
    citation: str
    until: str | None = None
    note: str = ""


class ProductShown(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A product, cited as it was made, by `task` or by the conversation itself."""

    id: str
    kind: str
    name: str
    citation: str
    made_at: str
    task: str | None = None


class WorkShow(Struct, frozen=True, kw_only=True):
    """Input of `work_show`."""

    id: TaskName
    limit: Limit = 20
    offset: Offset = 0


class WorkShown(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A task, its states in order, and its products, latest first; `next_offset` is the offset of the next page."""

    task: TaskShown
    states: tuple[StateShown, ...]
    products: tuple[ProductShown, ...]
    total: int
    next_offset: int | None = None
    notes: tuple[str, ...] = ()


def work_show(ctx: CallContext, given: WorkShow) -> WorkShown:
    """Shows a task: its state and history, and all its products, with citations."""
    task = task_named(ctx, given.id)
    made = _made_by(ctx, task.id)
    page = made[given.offset : given.offset + given.limit]
    further = given.offset + len(page)
    notes = (f"only the latest {MAX_PRODUCTS:,} products were read",) if len(made) >= MAX_PRODUCTS else ()
    return WorkShown(
        task=_tasks_shown(ctx, [task])[0],
        states=_states(ctx, task),
        products=_products_shown(ctx, page, {}),
        total=len(made),
        next_offset=further if page and further < len(made) else None,
        notes=notes,
    )


class WorkList(Struct, frozen=True, kw_only=True):
    """Input of `work_list`."""

    kind: Annotated[Flow | None, Meta(description="only this kind of workflow")] = None
    status: Annotated[Status | None, Meta(description="only with this status")] = None
    conversation: Annotated[Name | None, Meta(description="only tasks of this conversation")] = None
    limit: Limit = 20
    offset: Offset = 0
    everywhere: Annotated[bool, Meta(description="from every project")] = False


class WorkListed(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Tasks, last changed first; `total` is how many match, `next_offset` the offset of the next page."""

    tasks: tuple[TaskShown, ...]
    total: int
    next_offset: int | None = None
    notes: tuple[str, ...] = ()


def work_list(ctx: CallContext, given: WorkList) -> WorkListed:
    """Lists tasks, last changed first."""
    projects = None if given.everywhere else (ctx.settings.project, None)
    find = Find(kinds=(TASK,), projects=projects, props={} if given.kind is None else {"task_kind": given.kind})
    found = ctx.store.find(ctx.viewer, NOW, find, limit=MAX_TASKS).nodes
    if given.status is not None:
        found = tuple(node for node in found if status_of(node) == given.status)
    if given.conversation is not None:
        raised = {node.id for node in _raised_during(ctx, given.conversation)}
        found = tuple(node for node in found if node.id in raised)
    page = found[given.offset : given.offset + given.limit]
    further = given.offset + len(page)
    notes = () if found else ("there are no such tasks: `weft work-create` opens one",)
    listed = WorkListed(
        tasks=_tasks_shown(ctx, page),
        total=len(found),
        next_offset=further if page and further < len(found) else None,
        notes=notes,
    )
    told = bounded(listed, "tasks")
    return told if len(told.tasks) == len(page) else replace(told, next_offset=given.offset + len(told.tasks))


class WorkMade(Struct, frozen=True, kw_only=True):
    """Input of `work_made`."""

    conversation: Annotated[
        Name | None, Meta(description="the conversation, as named in record_turns; the current one if unset")
    ] = None
    limit: Limit = 20
    offset: Offset = 0


class WorkMadeShown(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The tasks of a conversation, and the products of the tasks and the conversation, latest first."""

    conversation: str
    tasks: tuple[TaskShown, ...]
    products: tuple[ProductShown, ...]
    total: int
    next_offset: int | None = None
    notes: tuple[str, ...] = ()


def work_made(ctx: CallContext, given: WorkMade) -> WorkMadeShown:
    """Lists the tasks of a conversation and everything that they produced, with citations."""
    named = given.conversation or ctx.settings.conversation
    if not named:
        raise NotFound("no conversation was named and none is current", hint="name one with --conversation")
    node, tasks = conversation_named(ctx, named), _raised_during(ctx, named)
    if node is None and not tasks:
        raise no_conversation(named)
    sources = [*(task.id for task in tasks), *(() if node is None else (node.id,))]
    made = sorted((edge for source in sources for edge in _made_by(ctx, source)), key=lambda edge: -edge.row)
    page = made[given.offset : given.offset + given.limit]
    further = given.offset + len(page)
    shown = WorkMadeShown(
        conversation=conversation_key(ctx, named) if node is None else node.id,
        tasks=_tasks_shown(ctx, tasks),
        products=_products_shown(ctx, page, {task.id: task.id for task in tasks}),
        total=len(made),
        next_offset=further if page and further < len(made) else None,
        notes=() if made else ("nothing was produced",),
    )
    return bounded(shown, "tasks") if tasks else shown


def _made_by(ctx: CallContext, source: str) -> list[EdgeVersion]:
    """The products of a task or conversation, each once, latest first."""
    return _joined(ctx, source, PRODUCED, "out", MAX_PRODUCTS)


def _raised_during(ctx: CallContext, written: str) -> tuple[NodeVersion, ...]:
    """The tasks of a conversation, joined to it or naming it, latest first."""
    node = conversation_named(ctx, written)
    ids = [] if node is None else [edge.src for edge in _joined(ctx, node.id, RAISED_DURING, "in", TASKS_OF_ONE)]
    joined = ctx.store.nodes(ctx.viewer, NOW, ids)
    keys = dict.fromkeys((conversation_key(ctx, written), written) if node is None else (node.id,))
    naming = (
        each
        for key in keys
        for each in ctx.store.find(
            ctx.viewer, NOW, Find(kinds=(TASK,), props={"conversation": key}), limit=TASKS_OF_ONE
        ).nodes
    )
    found = {each.id: each for each in (*joined, *naming)}
    return tuple(sorted(found.values(), key=lambda each: -each.row))


def _joined(ctx: CallContext, node: str, rel: str, way: Way, limit: int) -> list[EdgeVersion]:
    """Edges by their other end, the first of each."""
    found = ctx.store.edges(ctx.viewer, NOW, node, rel=rel, direction=way, before=None, limit=limit)
    first = {edge.dst if way == "out" else edge.src: edge for edge in found}  # edges come latest first: the oldest wins
    return sorted(first.values(), key=lambda edge: -edge.row)


def _tasks_shown(ctx: CallContext, tasks: Sequence[NodeVersion]) -> tuple[TaskShown, ...]:
    citations = ctx.store.citations(ctx.viewer, [task.event for task in tasks])
    return tuple(
        TaskShown(
            id=task.id,
            kind=_text(task, "task_kind"),
            title=task.name,
            status=status_of(task),
            citation=citations.get(task.event, ""),
            changed_at=to_iso(task.interval.valid_from),
            description=task.text,
            note=_text(task, "note"),
            result=_text(task, "result"),
            inputs=_values(task, "inputs"),
            outputs=_values(task, "outputs"),
            conversation=_text(task, "conversation") or None,
            project=task.guard.project,
        )
        for task in tasks
    )


def _states(ctx: CallContext, task: NodeVersion) -> tuple[StateShown, ...]:
    """The states of a task in order."""
    versions = [row for row in ctx.store.history(ctx.viewer, task.id, limit=MAX_VERSIONS) if row.retired_at is None]
    versions.sort(key=lambda row: row.interval.valid_from)
    citations = ctx.store.citations(ctx.viewer, [row.event for row in versions])
    return tuple(
        StateShown(
            status=status_of(row),
            since=to_iso(row.interval.valid_from),
            until=None if row.interval.valid_to is None else to_iso(row.interval.valid_to),
            citation=citations.get(row.event, ""),
            note=_text(row, "result") or _text(row, "note"),
        )
        for row in versions
    )


def _products_shown(ctx: CallContext, edges: Iterable[EdgeVersion], tasks: dict[str, str]) -> tuple[ProductShown, ...]:
    """Products in the version that was written when they were joined."""
    made = [(edge, row) for edge in edges if (row := _version_made(ctx, edge)) is not None]
    citations = ctx.store.citations(ctx.viewer, [row.event for _, row in made])
    return tuple(
        ProductShown(
            id=row.id,
            kind=row.kind,
            name=_lead(row),
            citation=citations.get(row.event, ""),
            made_at=to_iso(edge.interval.asserted_from),
            task=tasks.get(edge.src),
        )
        for edge, row in made
    )


def _version_made(ctx: CallContext, edge: EdgeVersion) -> NodeVersion | None:
    """The last version before the join, which is the last event of its commit; else the first one."""
    versions = ctx.store.history(ctx.viewer, edge.dst, limit=MAX_VERSIONS)
    before = [row for row in versions if row.event <= edge.event]
    return max(before, key=lambda row: row.event) if before else versions[0] if versions else None


def _lead(node: NodeVersion) -> str:
    words = " ".join((node.name or node.text or node.summary).split())
    return words if len(words) <= LEAD_CHARACTERS else words[: LEAD_CHARACTERS - 1] + "…"


def _text(task: NodeVersion, name: str) -> str:
    value = task.props.get(name)
    return value if isinstance(value, str) else ""


def _values(task: NodeVersion, name: str) -> dict[str, Any]:
    value = task.props.get(name)
    return dict(value) if isinstance(value, dict) else {}


OPERATIONS = (
    Operation(
        name="work_show",
        summary="show a task, its states and its products",
        input=WorkShow,
        output=WorkShown,
        effect="read",
        toolset="work",
        run=work_show,
        arguments=("id",),
        priorities={"products": "high", "states": "medium"},
    ),
    Operation(
        name="work_list",
        summary="list tasks by kind, status and conversation",
        input=WorkList,
        output=WorkListed,
        effect="read",
        toolset="work",
        run=work_list,
    ),
    Operation(
        name="work_made",
        summary="list the products of a conversation and its tasks",
        input=WorkMade,
        output=WorkMadeShown,
        effect="read",
        toolset="work",
        run=work_made,
        arguments=("conversation",),
        priorities={"products": "high"},
    ),
)
