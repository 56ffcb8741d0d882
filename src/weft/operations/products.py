"""What tasks made: one task with its products, tasks by state, and all that the actions of a conversation made."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Final, Literal

from msgspec import Meta, Struct, field
from msgspec.structs import replace

from weft.instants import to_iso
from weft.loom import Loom
from weft.operations.bounds import bounded
from weft.operations.fields import Limit, Name
from weft.operations.registry import Operation
from weft.operations.stamping import (
    PRODUCED,
    RAISED_DURING,
    TASK,
    conversation_key,
    conversation_named,
    status_of,
)
from weft.operations.tasks import task_named
from weft.operations.versions import MAX_VERSIONS
from weft.operations.work import Flow, TaskName, no_conversation
from weft.types import NOW, EdgeVersion, Find, NodeVersion, Way

MAX_PRODUCTS: Final = 10_000  # of one task, or of one conversation
MAX_TASKS: Final = 10_000  # that are looked through
TASKS_OF_ONE: Final = 1_000  # raised in one conversation
LEAD_CHARACTERS: Final = 160

Status = Literal["open", "running", "blocked", "succeeded", "failed", "cancelled"]
Offset = Annotated[int, Meta(ge=0, le=MAX_PRODUCTS, description="how many to pass over")]


class TaskShown(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A task as it stands."""

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
    """A state of a task, and for how long it stood so."""

    status: str
    since: str
    citation: str
    until: str | None = None
    note: str = ""


class ProductShown(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was made, cited as it was made. `task` made it, or else the conversation itself."""

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
    """A task, its states in order, and what it made, the latest first; `next_offset` is where to go on."""

    task: TaskShown
    states: tuple[StateShown, ...]
    products: tuple[ProductShown, ...]
    total: int
    next_offset: int | None = None
    notes: tuple[str, ...] = ()


def work_show(loom: Loom, given: WorkShow) -> WorkShown:
    """Shows a task: how it stands and how it came to that, and everything that it made, with citations."""
    task = task_named(loom, given.id)
    made = _made_by(loom, task.id)
    page = made[given.offset : given.offset + given.limit]
    further = given.offset + len(page)
    notes = (f"only the latest {MAX_PRODUCTS:,} were looked at",) if len(made) >= MAX_PRODUCTS else ()
    return WorkShown(
        task=_tasks_shown(loom, [task])[0],
        states=_states(loom, task),
        products=_products_shown(loom, page, {}),
        total=len(made),
        next_offset=further if page and further < len(made) else None,
        notes=notes,
    )


class WorkList(Struct, frozen=True, kw_only=True):
    """Input of `work_list`."""

    kind: Annotated[Flow | None, Meta(description="only this sort of flow")] = None
    status: Annotated[Status | None, Meta(description="only those that stand so")] = None
    conversation: Annotated[Name | None, Meta(description="only those raised in this conversation")] = None
    limit: Limit = 20
    offset: Offset = 0
    everywhere: Annotated[bool, Meta(description="from every project")] = False


class WorkListed(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Tasks, those that changed last first; `total` is how many fit, `next_offset` where to go on."""

    tasks: tuple[TaskShown, ...]
    total: int
    next_offset: int | None = None
    notes: tuple[str, ...] = ()


def work_list(loom: Loom, given: WorkList) -> WorkListed:
    """Lists tasks, those that changed last first."""
    projects = None if given.everywhere else (loom.settings.project, None)
    find = Find(kinds=(TASK,), projects=projects, props={} if given.kind is None else {"task_kind": given.kind})
    found = loom.store.find(loom.viewer, NOW, find, limit=MAX_TASKS).nodes
    if given.status is not None:
        found = tuple(node for node in found if status_of(node) == given.status)
    if given.conversation is not None:
        raised = {node.id for node in _raised_during(loom, given.conversation)}
        found = tuple(node for node in found if node.id in raised)
    page = found[given.offset : given.offset + given.limit]
    further = given.offset + len(page)
    notes = () if found else ("no task fits: `weft work-create` opens one",)
    listed = WorkListed(
        tasks=_tasks_shown(loom, page),
        total=len(found),
        next_offset=further if page and further < len(found) else None,
        notes=notes,
    )
    told = bounded(listed, "tasks")
    return told if len(told.tasks) == len(page) else replace(told, next_offset=given.offset + len(told.tasks))


class WorkMade(Struct, frozen=True, kw_only=True):
    """Input of `work_made`."""

    conversation: Annotated[
        Name | None, Meta(description="which one, as record_turns names it; the current if unset")
    ] = None
    limit: Limit = 20
    offset: Offset = 0


class WorkMadeShown(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The tasks that were raised in a conversation, and what they and it made, the latest first."""

    conversation: str
    tasks: tuple[TaskShown, ...]
    products: tuple[ProductShown, ...]
    total: int
    next_offset: int | None = None
    notes: tuple[str, ...] = ()


def work_made(loom: Loom, given: WorkMade) -> WorkMadeShown:
    """Tells what the actions of a conversation made: the tasks raised in it, and everything they produced, cited."""
    named = given.conversation or loom.settings.conversation
    node = conversation_named(loom, named) if named else None
    tasks = _raised_during(loom, named) if named else ()
    if node is None and not tasks:
        raise no_conversation(named)
    sources = [*(task.id for task in tasks), *(() if node is None else (node.id,))]
    made = sorted((edge for source in sources for edge in _made_by(loom, source)), key=lambda edge: -edge.row)
    page = made[given.offset : given.offset + given.limit]
    further = given.offset + len(page)
    shown = WorkMadeShown(
        conversation=conversation_key(loom, named) if node is None else node.id,
        tasks=_tasks_shown(loom, tasks),
        products=_products_shown(loom, page, {task.id: task.id for task in tasks}),
        total=len(made),
        next_offset=further if page and further < len(made) else None,
        notes=() if made else ("nothing was made",),
    )
    return bounded(shown, "tasks") if tasks else shown


def _made_by(loom: Loom, source: str) -> list[EdgeVersion]:
    """What a task or a conversation made: each thing once, by when it was first made, the latest first."""
    return _joined(loom, source, PRODUCED, "out", MAX_PRODUCTS)


def _raised_during(loom: Loom, written: str) -> tuple[NodeVersion, ...]:
    """The tasks that were raised in a conversation, joined to it or only naming it, the latest first."""
    node = conversation_named(loom, written)
    ids = [] if node is None else [edge.src for edge in _joined(loom, node.id, RAISED_DURING, "in", TASKS_OF_ONE)]
    joined = loom.store.nodes(loom.viewer, NOW, ids)
    keys = dict.fromkeys((conversation_key(loom, written), written) if node is None else (node.id,))
    naming = (
        each
        for key in keys
        for each in loom.store.find(
            loom.viewer, NOW, Find(kinds=(TASK,), props={"conversation": key}), limit=TASKS_OF_ONE
        ).nodes
    )
    found = {each.id: each for each in (*joined, *naming)}
    return tuple(sorted(found.values(), key=lambda each: -each.row))


def _joined(loom: Loom, node: str, rel: str, way: Way, limit: int) -> list[EdgeVersion]:
    """Edges by their other end, each once: of those made again, the first."""
    found = loom.store.edges(loom.viewer, NOW, node, rel=rel, direction=way, before=None, limit=limit)
    first = {edge.dst if way == "out" else edge.src: edge for edge in found}  # the latest come first: the oldest stays
    return sorted(first.values(), key=lambda edge: -edge.row)


def _tasks_shown(loom: Loom, tasks: Sequence[NodeVersion]) -> tuple[TaskShown, ...]:
    citations = loom.store.citations(loom.viewer, [task.event for task in tasks])
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


def _states(loom: Loom, task: NodeVersion) -> tuple[StateShown, ...]:
    """What stands of a task's history: one state after the other."""
    versions = [row for row in loom.store.history(loom.viewer, task.id, limit=MAX_VERSIONS) if row.retired_at is None]
    versions.sort(key=lambda row: row.interval.valid_from)
    citations = loom.store.citations(loom.viewer, [row.event for row in versions])
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


def _products_shown(loom: Loom, edges: Iterable[EdgeVersion], tasks: dict[str, str]) -> tuple[ProductShown, ...]:
    """Products as they were when they were made: the version that was written along with the join."""
    made = [(edge, row) for edge in edges if (row := _version_made(loom, edge)) is not None]
    citations = loom.store.citations(loom.viewer, [row.event for _, row in made])
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


def _version_made(loom: Loom, edge: EdgeVersion) -> NodeVersion | None:
    """The last version told before the join, which is the last event of its commit; else the first there is."""
    versions = loom.store.history(loom.viewer, edge.dst, limit=MAX_VERSIONS)
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
        summary="show a task, its states, and what it made",
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
        summary="list tasks by kind, state and conversation",
        input=WorkList,
        output=WorkListed,
        effect="read",
        toolset="work",
        run=work_list,
    ),
    Operation(
        name="work_made",
        summary="tell what the actions of a conversation made",
        input=WorkMade,
        output=WorkMadeShown,
        effect="read",
        toolset="work",
        run=work_made,
        arguments=("conversation",),
        priorities={"products": "high"},
    ),
)
