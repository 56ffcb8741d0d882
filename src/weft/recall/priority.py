"""Memories to read before working on a project: the focus area's first, then the project's, then those for all
projects.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

from weft.core.clock import parse_instant
from weft.core.errors import Invalid, StoreError
from weft.core.kinds import RECORD_KINDS, STRUCTURAL_KINDS, VIEWS
from weft.core.types import Find, NodeVersion, When
from weft.recall.answer_limits import bounded
from weft.recall.show_values import NodeShown, flagged, show_nodes
from weft.retrieval import recipes
from weft.retrieval.judging.superseded import replaced_among
from weft.retrieval.pipeline import Ask, run
from weft.runtime.call_context import CallContext
from weft.runtime.fields import Label, Query
from weft.runtime.operation import Operation
from weft.writing.checks.scope import ResolvedScope, ScopeState, find_project, scope_of

LevelName = Literal["focus", "project", "global"]
ReadStatus = Literal["succeeded", "empty", "timed_out", "failed", "conflicted"]

MOST_OF: Final[dict[LevelName, int]] = {"focus": 10, "project": 10, "global": 5}
TIMEOUT_S: Final = 5.0
ATTEMPTS: Final = 2
HYGIENE_DAYS: Final = 30
DAY_US: Final = 86_400_000_000
REACHES: Final = (3, 30, 100)  # times as many as wanted are read, until enough of them are not replaced
# Without a question, only statements and decisions: no structure, records, entities or code.
NOT_SAID: Final = tuple(
    sorted(STRUCTURAL_KINDS | RECORD_KINDS | VIEWS["entity"] | VIEWS["code"] | {"Message", "Chunk", "Briefing"})
)
PLACES: Final = frozenset({"Project", "Focus"})


class ProjectContextInput(Struct, frozen=True, kw_only=True):
    """Input of `project_context`."""

    query: Annotated[Query, Meta(description="the subject of the work; without it the newest come first")] | None = None
    project: Annotated[Label | None, Meta(description="another project than this directory's")] = None
    focus: Annotated[Label | None, Meta(description="a focus area of the project")] = None


class ContextItem(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A memory and the level it comes from; its score, if there was a question."""

    level: LevelName
    node: NodeShown
    score: float | None = None


class ProjectContext(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Memories in the order of levels. `truncated` names the levels that hold more than is shown.

    `conflicts` are pairs of ids among the items that contradict each other.
    """

    status: ReadStatus
    scope_state: ScopeState
    project: str | None
    focus: str | None
    items: tuple[ContextItem, ...]
    hygiene_due: bool
    truncated: tuple[LevelName, ...] = ()
    conflicts: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()


class _Late(Exception):
    """The time for this attempt is over. Private: it never leaves this module."""


class _Level(Struct, frozen=True, kw_only=True):
    """The current nodes of one level, best first, with scores; one more than is shown, if there is."""

    name: LevelName
    nodes: tuple[NodeVersion, ...]
    scores: tuple[float | None, ...]
    notes: tuple[str, ...] = ()

    @property
    def truncated(self) -> bool:
        return len(self.nodes) > MOST_OF[self.name]


def project_context(ctx: CallContext, given: ProjectContextInput) -> ProjectContext:
    """Reads the memories to know before working: up to 10 of the focus area, 10 of the project, 5 for all projects.

    Replaced memories are left out. With a question each level is ranked by it, without one the newest come first. The
    status says whether the answer is complete, and whether its items contradict each other.
    """
    if given.query is not None and "\x00" in given.query:
        raise Invalid("the query holds a NUL character", hint="remove it: NUL is not text")
    problem = ""
    for _ in range(ATTEMPTS):
        try:
            return _attempt(ctx, given, time.monotonic() + TIMEOUT_S)
        except _Late:
            status: ReadStatus = "timed_out"
            problem = f"the store took more than {TIMEOUT_S:g} s, {ATTEMPTS} times: ask again, or a smaller project"
        except StoreError as failed:
            status, problem = "failed", f"the store could not serve this: {failed}"
    return ProjectContext(
        status=status,
        scope_state="unresolved",
        project=given.project or ctx.settings.project or None,
        focus=given.focus,
        items=(),
        hygiene_due=False,
        notes=(problem,),
    )


def _attempt(ctx: CallContext, given: ProjectContextInput, until_s: float) -> ProjectContext:
    when = ctx.store.pin(ctx.viewer, When())
    scope = scope_of(ctx, project=given.project, focus=given.focus)
    found = tuple(_read(ctx, given.query, scope, name, when, until_s) for name in _levels(scope))
    shown = [
        (level.name, node, score)
        for level in found
        for node, score in list(zip(level.nodes, level.scores, strict=True))[: MOST_OF[level.name]]
    ]
    _check_time(until_s)
    nodes = show_nodes(ctx, [node for _, node, _ in shown])
    conflicts, near = _conflicts(ctx, when, [node.id for node in nodes])
    notes = tuple(note for level in found for note in level.notes)
    for level in found:
        if level.truncated:
            notes += (f"there is more at the level of {level.name} than the {MOST_OF[level.name]} shown",)
    if not scope.resolved:
        notes = (f"{scope.problem}: {_reads(scope)}; {scope.next_step}", *notes)
    elif not nodes:
        notes += (f"nothing is kept for project {scope.project} yet: `weft remember` begins",)
    told = ProjectContext(
        status="empty" if not nodes else "conflicted" if conflicts else "succeeded",
        scope_state=scope.state,
        project=scope.project,
        focus=scope.focus,
        items=tuple(
            ContextItem(level=level, node=node, score=score)
            for (level, _, score), node in zip(shown, nodes, strict=True)
        ),
        hygiene_due=scope.project is not None and _hygiene_due(ctx, scope.project),
        truncated=tuple(level.name for level in found if level.truncated),
        conflicts=conflicts,
        notes=(*notes, *near, *flagged(nodes)),
    )
    return bounded(told, "items")


def _levels(scope: ResolvedScope) -> tuple[LevelName, ...]:
    """The read gate: which levels may be read from here."""
    match scope.state:
        case "unresolved":
            return ()
        case "uncertain":
            return ("project",)
        case "resolved_focus":
            return ("focus", "project", "global")
        case _:
            return ("project", "global")


def _reads(scope: ResolvedScope) -> str:
    return "nothing is read" if scope.state == "unresolved" else "only the project's own level is read"


def _read(
    ctx: CallContext, query: str | None, scope: ResolvedScope, level: LevelName, when: When, until_s: float
) -> _Level:
    projects = (None,) if level == "global" else (scope.project,)
    focuses = (scope.focus,) if level == "focus" else (None,) if level == "project" else None
    if query is None:
        return _newest(ctx, level, Find(projects=projects, focuses=focuses, without_kinds=NOT_SAID), when, until_s)
    left_s = _check_time(until_s)
    most = MOST_OF[level]
    ask = Ask(query=query, when=when, limit=3 * most, projects=projects, focuses=focuses, deadline_s=left_s)
    answer = run(recipes.DEFAULT, ctx, ask)
    _check_time(until_s)
    ranked = [
        each
        for each in answer.ranked or ()
        if each.node.kind not in PLACES and (focuses is None or each.node.focus in focuses)
    ]
    gone = replaced_among(ctx, when, [each.node.id for each in ranked])
    kept = [each for each in ranked if each.node.id not in gone][: most + 1]
    notes = tuple(f"{level}: {note}" for note in dict.fromkeys(answer.notes)) if kept or answer.degraded else ()
    if answer.skip:
        notes += (f"{level}: {answer.skip}",)
    return _Level(
        name=level,
        nodes=tuple(each.node for each in kept),
        scores=tuple(each.score for each in kept),
        notes=notes,
    )


def _newest(ctx: CallContext, level: LevelName, find: Find, when: When, until_s: float) -> _Level:
    most = MOST_OF[level]
    kept: tuple[NodeVersion, ...] = ()
    for times in REACHES:
        _check_time(until_s)
        nodes = ctx.store.find(ctx.viewer, when, find, limit=times * most).nodes
        gone = replaced_among(ctx, when, [node.id for node in nodes])
        kept = tuple(node for node in nodes if node.id not in gone)[: most + 1]
        if len(kept) > most or len(nodes) < times * most:
            break
    return _Level(name=level, nodes=kept, scores=(None,) * len(kept))


def _conflicts(ctx: CallContext, when: When, ids: Sequence[str]) -> tuple[tuple[tuple[str, str], ...], tuple[str, ...]]:
    """Pairs among these that contradict each other, and notes on those that contradict something not shown."""
    among = set(ids)
    steps = ctx.store.neighbours(ctx.viewer, when, ids, rels=("CONFLICTS_WITH",), direction="both")
    pairs = {(step.edge.src, step.edge.dst) for step in steps if step.node.id in among and step.node.id != step.start}
    other = {(step.start, step.node.id) for step in steps if step.node.id not in among}
    return tuple(sorted(pairs)), tuple(
        f"{here} conflicts with {there}, which is not shown" for here, there in sorted(other)
    )


def _hygiene_due(ctx: CallContext, project: str) -> bool:
    node = find_project(ctx, project)
    last = None if node is None else node.props.get("last_hygiene_at")
    if not isinstance(last, str):
        return True
    try:
        return ctx.clock.now_us() - parse_instant(last) > HYGIENE_DAYS * DAY_US
    except Invalid:
        return True


def _check_time(until_s: float) -> float:
    """Seconds left. Raises _Late if there are none."""
    left_s = until_s - time.monotonic()
    if left_s <= 0:
        raise _Late
    return left_s


OPERATIONS = (
    Operation(
        name="project_context",
        summary="read the memories that matter before work: of the focus area, the project, all projects",
        input=ProjectContextInput,
        output=ProjectContext,
        effect="read",
        toolset="memory",
        run=project_context,
        arguments=("query",),
    ),
)
