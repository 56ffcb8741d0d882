"""What to know before working on a project: the focus area's memories first, then the project's, then everybody's."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

from weft.errors import Invalid, StoreError
from weft.instants import parse_instant
from weft.kinds import RECORD_KINDS, STRUCTURAL_KINDS, VIEWS
from weft.loom import Loom
from weft.operations.bounds import bounded
from weft.operations.fields import Label, Query
from weft.operations.registry import Operation
from weft.operations.scoping import ScopeFound, ScopeState, find_project, scope_of
from weft.operations.showing import NodeShown, flagged, show_nodes
from weft.retrieval import recipes
from weft.retrieval.pipeline import Ask, run
from weft.types import Find, NodeVersion, When

LevelName = Literal["focus", "project", "global"]
ReadStatus = Literal["succeeded", "empty", "timed_out", "failed", "conflicted"]

MOST_OF: Final[dict[LevelName, int]] = {"focus": 10, "project": 10, "global": 5}
TIMEOUT_S: Final = 5.0
ATTEMPTS: Final = 2
HYGIENE_DAYS: Final = 30
DAY_US: Final = 86_400_000_000
REACHES: Final = (3, 30, 100)  # times as many as are wanted are looked at, until enough of them still stand
# Without a question, only what somebody said or decided: neither where things stand, nor the things themselves.
NOT_SAID: Final = tuple(
    sorted(STRUCTURAL_KINDS | RECORD_KINDS | VIEWS["entity"] | VIEWS["code"] | {"Message", "Chunk", "Briefing"})
)
PLACES: Final = frozenset({"Project", "Focus"})


class ProjectContextInput(Struct, frozen=True, kw_only=True):
    """Input of `project_context`."""

    query: Annotated[Query, Meta(description="what the work is about; without it the newest come first")] | None = None
    project: Annotated[Label | None, Meta(description="another project than this directory's")] = None
    focus: Annotated[Label | None, Meta(description="a focus area of the project")] = None


class ContextItem(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A memory and the level it comes from; its score, if there was a question."""

    level: LevelName
    node: NodeShown
    score: float | None = None


class ProjectContext(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What to know, in the order of levels. `truncated` names the levels that hold more than is shown.

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
    """What one level gave: nodes that still stand, best first, with scores; one more than is shown, if there is."""

    name: LevelName
    nodes: tuple[NodeVersion, ...]
    scores: tuple[float | None, ...]
    notes: tuple[str, ...] = ()

    @property
    def truncated(self) -> bool:
        return len(self.nodes) > MOST_OF[self.name]


def project_context(loom: Loom, given: ProjectContextInput) -> ProjectContext:
    """Reads what to know before working: of the focus area up to 10 memories, of the project 10, of all projects 5.

    What was replaced is left out. With a question each level is ranked by it, without one the newest come first. The
    status says whether the answer is whole, and whether what it shows contradicts itself.
    """
    if given.query is not None and "\x00" in given.query:
        raise Invalid("the query holds a NUL character", hint="remove it: NUL is not text")
    problem = ""
    for _ in range(ATTEMPTS):
        try:
            return _attempt(loom, given, time.monotonic() + TIMEOUT_S)
        except _Late:
            status: ReadStatus = "timed_out"
            problem = f"the store took more than {TIMEOUT_S:g} s, {ATTEMPTS} times: ask again, or a smaller project"
        except StoreError as failed:
            status, problem = "failed", f"the store could not serve this: {failed}"
    return ProjectContext(
        status=status,
        scope_state="unresolved",
        project=given.project or loom.settings.project or None,
        focus=given.focus,
        items=(),
        hygiene_due=False,
        notes=(problem,),
    )


def _attempt(loom: Loom, given: ProjectContextInput, until_s: float) -> ProjectContext:
    when = loom.store.pin(loom.viewer, When())
    scope = scope_of(loom, project=given.project, focus=given.focus)
    found = tuple(_read(loom, given.query, scope, name, when, until_s) for name in _levels(scope))
    shown = [
        (level.name, node, score)
        for level in found
        for node, score in list(zip(level.nodes, level.scores, strict=True))[: MOST_OF[level.name]]
    ]
    _check_time(until_s)
    nodes = show_nodes(loom, [node for _, node, _ in shown])
    conflicts, near = _conflicts(loom, when, [node.id for node in nodes])
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
        hygiene_due=scope.project is not None and _hygiene_due(loom, scope.project),
        truncated=tuple(level.name for level in found if level.truncated),
        conflicts=conflicts,
        notes=(*notes, *near, *flagged(nodes)),
    )
    return bounded(told, "items")


def _levels(scope: ScopeFound) -> tuple[LevelName, ...]:
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


def _reads(scope: ScopeFound) -> str:
    return "nothing is read" if scope.state == "unresolved" else "only the project's own level is read"


def _read(loom: Loom, query: str | None, scope: ScopeFound, level: LevelName, when: When, until_s: float) -> _Level:
    projects = (None,) if level == "global" else (scope.project,)
    focuses = (scope.focus,) if level == "focus" else (None,) if level == "project" else None
    if query is None:
        return _newest(loom, level, Find(projects=projects, focuses=focuses, without_kinds=NOT_SAID), when, until_s)
    left_s = _check_time(until_s)
    most = MOST_OF[level]
    ask = Ask(query=query, when=when, limit=3 * most, projects=projects, focuses=focuses, deadline_s=left_s)
    answer = run(recipes.DEFAULT, loom, ask)
    _check_time(until_s)
    ranked = [
        each
        for each in answer.ranked or ()
        if each.node.kind not in PLACES and (focuses is None or each.node.focus in focuses)
    ]
    stands = _standing(loom, when, [each.node for each in ranked])
    kept = [each for each in ranked if each.node.id in stands][: most + 1]
    notes = tuple(f"{level}: {note}" for note in dict.fromkeys(answer.notes)) if kept or answer.degraded else ()
    if answer.skip:
        notes += (f"{level}: {answer.skip}",)
    return _Level(
        name=level,
        nodes=tuple(each.node for each in kept),
        scores=tuple(each.score for each in kept),
        notes=notes,
    )


def _newest(loom: Loom, level: LevelName, find: Find, when: When, until_s: float) -> _Level:
    most = MOST_OF[level]
    kept: tuple[NodeVersion, ...] = ()
    for times in REACHES:
        _check_time(until_s)
        nodes = loom.store.find(loom.viewer, when, find, limit=times * most).nodes
        stands = _standing(loom, when, nodes)
        kept = tuple(node for node in nodes if node.id in stands)[: most + 1]
        if len(kept) > most or len(nodes) < times * most:
            break
    return _Level(name=level, nodes=kept, scores=(None,) * len(kept))


def _standing(loom: Loom, when: When, nodes: Sequence[NodeVersion]) -> set[str]:
    """Those that nothing the caller may see has replaced."""
    ids = [node.id for node in nodes]
    steps = loom.store.neighbours(loom.viewer, when, ids, rels=("SUPERSEDES",), direction="in")
    return set(ids) - {step.start for step in steps if step.node.id != step.start}


def _conflicts(loom: Loom, when: When, ids: Sequence[str]) -> tuple[tuple[tuple[str, str], ...], tuple[str, ...]]:
    """Pairs among these that contradict each other, and notes on those that contradict something not shown."""
    among = set(ids)
    steps = loom.store.neighbours(loom.viewer, when, ids, rels=("CONFLICTS_WITH",), direction="both")
    pairs = {(step.edge.src, step.edge.dst) for step in steps if step.node.id in among and step.node.id != step.start}
    other = {(step.start, step.node.id) for step in steps if step.node.id not in among}
    return tuple(sorted(pairs)), tuple(
        f"{here} conflicts with {there}, which is not shown" for here, there in sorted(other)
    )


def _hygiene_due(loom: Loom, project: str) -> bool:
    node = find_project(loom, project)
    last = None if node is None else node.props.get("last_hygiene_at")
    if not isinstance(last, str):
        return True
    try:
        return loom.clock.now_us() - parse_instant(last) > HYGIENE_DAYS * DAY_US
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
        summary="read what to know before working: the focus area's memories, the project's, everybody's",
        input=ProjectContextInput,
        output=ProjectContext,
        effect="read",
        toolset="memory",
        run=project_context,
        arguments=("query",),
    ),
)
