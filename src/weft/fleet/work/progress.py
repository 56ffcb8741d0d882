"""`progress_query`, `feature_status`: how far the work is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Annotated, Final

from msgspec import Meta, Struct

from weft.core.clock import to_iso
from weft.core.types import MAX_LIMIT, NOW, Find, NodeVersion
from weft.documents.keep.source_lines import path_of
from weft.fleet.episodes.contracts import files_of, type_of_episode
from weft.fleet.episodes.involved import known_file
from weft.fleet.reflecting.reflect import episodes_of_task
from weft.fleet.tasks import by_priority
from weft.fleet.work.creating import FEATURE, PART_OF, PLAN, feature_named
from weft.fleet.work.dependencies import unfinished, waits_for
from weft.fleet.work_products import Status
from weft.recall.answer_limits import bounded
from weft.runtime.call_context import CallContext
from weft.runtime.fields import Anywhere, Label, Limit, NodeName, OtherProject, projects_asked
from weft.runtime.operation import Operation
from weft.text.one_line import flat
from weft.writing.checks.provenance import DONE, TASK, status_of
from weft.writing.claims.claim import claim_id
from weft.writing.claims.held import Held, judged

MAX_TASKS: Final = 10_000
MAX_FILES: Final = 200
NOTE_CHARACTERS: Final = 300
Offset = Annotated[int, Meta(ge=0, le=MAX_TASKS, description="how many to skip")]


class TaskRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A task as a row: its state, who is at it, what it waits for."""

    id: str
    title: str
    status: str
    changed_at: str
    citation: str = ""
    kind: str = ""
    priority: str = ""
    assignee: str = ""
    held_by: str = ""
    held_since: str = ""
    waits_for: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    note: str = ""


class ProgressQuery(Struct, frozen=True, kw_only=True):
    """Input of `progress_query`."""

    status: Annotated[Status | None, Meta(description="only with this status")] = None
    feature: Annotated[NodeName | None, Meta(description="only tasks of this feature or plan, by id or title")] = None
    assignee: Annotated[Label | None, Meta(description="only tasks that this agent is to do, or holds")] = None
    open_only: Annotated[bool, Meta(description="only tasks that are not completed")] = False
    limit: Limit = 20
    offset: Offset = 0
    project: OtherProject = None
    everywhere: Anywhere = False


class TaskProgress(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Tasks of a page, the most urgent first, and counts by status of all that fit."""

    tasks: tuple[TaskRow, ...]
    total: int
    counts: dict[str, int] = {}
    next_offset: int | None = None
    notes: tuple[str, ...] = ()


def progress_query(ctx: CallContext, given: ProgressQuery) -> TaskProgress:
    """Lists tasks with their state, who holds them and what they wait for; the most urgent first, page by page."""
    if given.feature is not None:
        tasks = tasks_of(ctx, _group(ctx, given.feature))
    else:
        projects = projects_asked(ctx, given.project, everywhere=given.everywhere)
        tasks = list(ctx.store.find(ctx.viewer, NOW, Find(kinds=(TASK,), projects=projects), limit=MAX_TASKS).nodes)
    full = len(tasks) >= MAX_TASKS
    holders = _holders(ctx, tasks) if given.assignee else {}
    kept = [
        task
        for task in tasks
        if (given.status is None or status_of(task) == given.status)
        and not (given.open_only and status_of(task) in DONE)
        and (given.assignee is None or given.assignee in (task.props.get("assignee"), _holder(holders.get(task.id))))
    ]
    kept.sort(key=lambda task: (status_of(task) in DONE, *by_priority(task)))
    page = kept[given.offset : given.offset + given.limit]
    further = given.offset + len(page)
    made = TaskProgress(
        tasks=task_rows(ctx, page),
        total=len(kept),
        counts=dict(Counter(map(status_of, kept))),
        next_offset=further if page and further < len(kept) else None,
        notes=(f"only the latest {MAX_TASKS:,} tasks were read",) if full else (),
    )
    return bounded(made, "tasks")


def _group(ctx: CallContext, written: str) -> NodeVersion:
    from weft.writing.build.references import resolve_reference

    found = resolve_reference(ctx, written, kinds={FEATURE, PLAN})
    return found if found is not None else feature_named(ctx, written)


def tasks_of(ctx: CallContext, group: NodeVersion) -> list[NodeVersion]:
    """The tasks of a feature or a plan, in the order of the plan; those of a feature's plans too."""
    edges = ctx.store.edges(ctx.viewer, NOW, group.id, rel=PART_OF, direction="in", before=None, limit=MAX_LIMIT * 10)
    ids = list(dict.fromkeys(edge.src for edge in edges))
    nodes = [node for node in ctx.store.nodes(ctx.viewer, NOW, ids) if node.kind == TASK]
    return sorted(nodes, key=lambda node: (str(node.props.get("plan", "")), _step(node), node.id))


def _step(node: NodeVersion) -> int:
    said = node.props.get("step")
    return said if isinstance(said, int) else 0


def task_rows(ctx: CallContext, tasks: Sequence[NodeVersion]) -> tuple[TaskRow, ...]:
    """Tasks as rows, with a few reads for all of them."""
    ids = [task.id for task in tasks]
    if not ids:
        return ()
    holders, waiting = _holders(ctx, tasks), waits_for(ctx, ids)
    parts = ctx.store.neighbours(ctx.viewer, NOW, ids, rels=(PART_OF,), direction="out", limit=20)
    groups: dict[str, list[str]] = {}
    for step in parts:
        groups.setdefault(step.start, []).append(flat(step.node.name))
    cited = ctx.store.citations(ctx.viewer, [task.event for task in tasks])
    return tuple(
        _row(task, holders.get(task.id), waiting.get(task.id, []), groups.get(task.id, []), cited.get(task.event, ""))
        for task in tasks
    )


def _row(
    task: NodeVersion, held: Held | None, waiting: Iterable[NodeVersion], groups: Sequence[str], citation: str
) -> TaskRow:
    props = task.props
    note = str(props.get("result") or props.get("note") or "")
    kind = str(props.get("task_kind", ""))
    return TaskRow(
        id=task.id,
        title=flat(task.name or task.text)[:200],
        status=status_of(task),
        changed_at=to_iso(task.recorded_at),
        citation=citation,
        kind="" if kind == "task" else kind,
        priority=str(props.get("priority", "")),
        assignee=str(props.get("assignee", "")),
        held_by=_holder(held),
        held_since=to_iso(held.claim.since) if held is not None and not held.stale else "",
        waits_for=tuple(flat(each.name)[:120] for each in unfinished(waiting)),
        features=tuple(groups),
        note=flat(note)[:NOTE_CHARACTERS],
    )


def _holders(ctx: CallContext, tasks: Sequence[NodeVersion]) -> dict[str, Held]:
    found: dict[str, Held] = {}
    for start in range(0, len(tasks), 500):
        ids = [claim_id(task.id) for task in tasks[start : start + 500]]
        found |= {each.claim.target: each for each in judged(ctx, ctx.store.nodes(ctx.viewer, NOW, ids))}
    return found


def _holder(held: Held | None) -> str:
    return held.claim.holder.agent if held is not None and not held.stale else ""


# Features


class FeatureStatus(Struct, frozen=True, kw_only=True):
    """Input of `feature_status`."""

    feature: Annotated[NodeName, Meta(description="the feature, by id or title")]


class FileCovered(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A file that the feature's tasks changed, and the tests that reach it in the graph."""

    file: str
    tests: tuple[str, ...] = ()


class FeatureShown(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How far a feature is: its tasks, the code they changed, which of it tests reach, the last test results."""

    id: str
    title: str
    status: str
    done: int
    total: int
    tasks: tuple[TaskRow, ...] = ()
    files: tuple[FileCovered, ...] = ()
    covered: int = 0
    tests_passed: int = 0
    tests_failed: int = 0
    blockers: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def feature_status(ctx: CallContext, given: FeatureStatus) -> FeatureShown:
    """Shows the progress of a feature: tasks done and open, the code that they changed, and the tests that reach it.

    The files are those of the tasks' recorded edits and decisions; tests reach a file if one of its symbols is tested.
    """
    feature = feature_named(ctx, given.feature)
    tasks = tasks_of(ctx, feature)
    episodes = [node for task in tasks for node in episodes_of_task(ctx, task.id, MAX_LIMIT)]
    paths = [path for node in episodes if type_of_episode(node) in ("EDIT", "DECISION") for path in _changed(node)]
    files = _covered(ctx, list(dict.fromkeys(paths))[:MAX_FILES])
    results = [node for node in episodes if type_of_episode(node) == "TEST_RESULT"]
    last = max(results, key=lambda node: node.event, default=None)
    done = [task for task in tasks if status_of(task) in DONE]
    rows = task_rows(ctx, tasks[:MAX_LIMIT])
    made = FeatureShown(
        id=feature.id,
        title=feature.name,
        status=_state(tasks),
        done=len(done),
        total=len(tasks),
        tasks=rows,
        files=files,
        covered=sum(bool(each.tests) for each in files),
        tests_passed=_number(last, "passed"),
        tests_failed=_number(last, "failed"),
        blockers=tuple(
            f"{row.title}: {_why_not(row)}"
            for row in rows
            if row.status == "blocked" or (row.waits_for and row.status not in DONE)
        ),
        notes=(f"only the first {MAX_LIMIT} tasks are listed",) if len(tasks) > MAX_LIMIT else (),
    )
    return bounded(made, "tasks")


def _why_not(row: TaskRow) -> str:
    return f"waits for {', '.join(row.waits_for)}" if row.waits_for else row.note or "blocked"


def _changed(node: NodeVersion) -> tuple[str, ...]:
    tests = node.props.get("test_files", ())
    return tuple(path for path in files_of(node) if path not in tests)


def _covered(ctx: CallContext, paths: Sequence[str]) -> tuple[FileCovered, ...]:
    covered = []
    for path in paths:
        file = known_file(ctx, path)
        if file is None:
            covered.append(FileCovered(file=path))
            continue
        symbols = ctx.store.find(ctx.viewer, NOW, Find(id_prefix=f"{file.id}::"), limit=MAX_LIMIT * 5).nodes
        ids = [file.id, *(symbol.id for symbol in symbols)]
        steps = ctx.store.neighbours(ctx.viewer, NOW, ids, rels=("TESTS",), direction="in", limit=20)
        tests = dict.fromkeys(path_of(step.node) for step in steps)
        covered.append(FileCovered(file=path_of(file), tests=tuple(tests)))
    return tuple(covered)


def _state(tasks: Sequence[NodeVersion]) -> str:
    states = {status_of(task) for task in tasks}
    if not states:
        return "empty"
    if states <= DONE:
        return "done" if states == {"succeeded"} else "ended"
    return "blocked" if "blocked" in states and "running" not in states else "running" if states != {"open"} else "open"


def _number(node: NodeVersion | None, name: str) -> int:
    said = None if node is None else node.props.get(name)
    return said if isinstance(said, int) else 0


OPERATIONS = (
    Operation(
        name="progress_query",
        summary="tasks with their state, who holds them and what they wait for",
        input=ProgressQuery,
        output=TaskProgress,
        effect="read",
        toolset="fleet",
        run=progress_query,
        rare=("everywhere", "project"),
        priorities={
            "tasks.id": "medium",
            "tasks.waits_for": "high",
            "tasks.held_by": "required",
            "tasks.features": "low",
            "tasks.citation": "low",
            "tasks.changed_at": "low",
        },
    ),
    Operation(
        name="feature_status",
        summary="progress of a feature: tasks, changed code, tests that reach it",
        input=FeatureStatus,
        output=FeatureShown,
        effect="read",
        toolset="fleet",
        run=feature_status,
        arguments=("feature",),
        priorities={"done": "required", "total": "required", "tasks.id": "low", "tasks.citation": "low"},
    ),
)
