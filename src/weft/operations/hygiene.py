"""Hygiene: what to look at in a project so that its memory stays of use. It reads, and proposes; nothing is mended."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct
from msgspec.structs import asdict, replace

from weft.append import Fence
from weft.errors import NotFound, StoreError, WeftError
from weft.instants import to_iso
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.loom import Loom
from weft.operations import hygiene_checks as checks
from weft.operations.bounds import OUTPUT_CHARACTERS, size
from weft.operations.committing import Choice, decided
from weft.operations.fields import Label
from weft.operations.findings import CHECKS, CheckName
from weft.operations.hygiene_checks import Check, Checked, LookedThrough
from weft.operations.near_duplicates import find_pairs
from weft.operations.registry import Operation
from weft.operations.rights import write_guard
from weft.operations.scoping import PROJECT_KIND, find_project, project_id, scope_of
from weft.operations.versions import new_versions, node_fence, version_draft
from weft.types import MAX_LIMIT, When

LAST_HYGIENE = "last_hygiene_at"


class RunHygiene(Struct, frozen=True, kw_only=True):
    """Input of `run_hygiene`."""

    project: Annotated[Label | None, Meta(description="another project than this directory's")] = None
    level: Annotated[Literal["project", "global"], Meta(description="one project, or what is kept for all of them")] = (
        "project"
    )
    limit: Annotated[int, Meta(ge=1, le=MAX_LIMIT, description="how many findings of each check at most")] = 20


class HygieneReport(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was found, check by check. `last_hygiene_at` is when hygiene was last done, this time included if it was.

    With status `failed` some check could not be done, so the last hygiene is still the one before.
    """

    status: Literal["succeeded", "failed"]
    project: str | None
    nodes: int
    checks: tuple[Checked, ...]
    last_hygiene_at: str = ""
    notes: tuple[str, ...] = ()


def run_hygiene(loom: Loom, given: RunHygiene) -> HygieneReport:
    """Looks for what should be mended in a project, and says with which command; it changes nothing itself.

    Pairs that say the same (over 0.9 of their words are, or the cosine of their meanings is more); decisions older than
    180 days that nothing superseded; patterns that nobody confirmed for 90 days; things of one name that are several
    nodes; writes that wait or were refused. `weft hygiene apply` takes the ids of chosen findings. Only when hygiene
    was done is written, to the project.
    """
    scope = scope_of(loom, project=given.project, level=given.level)
    if not scope.resolved:
        raise NotFound(scope.problem, hint=scope.next_step)
    when = loom.store.pin(loom.viewer, When())
    now = loom.clock.now_us()
    read, problem = _read(loom, when, (scope.project,), now)
    told = _of_what_was_told(loom, when, read, problem, now, given.limit)
    things = tuple(dict.fromkeys((scope.project, None)))
    told += (
        _tried("entity", lambda: checks.same_names(loom, when, things, given.limit)),
        _tried("write", lambda: checks.stuck_writes(loom, given.limit)),
    )
    done = tuple(map(_within_bounds, told))
    failed = any(each.problem for each in done)
    last, notes = _last(loom, scope.project, at=None if failed else now)
    if failed:
        notes = ("a check could not be done: this does not count as hygiene; `weft doctor` looks further", *notes)
    if read is not None and not read.whole:
        notes += (f"only the newest {checks.MAX_LOOKED_AT:,} nodes were looked at",)
    return HygieneReport(
        status="failed" if failed else "succeeded",
        project=scope.project,
        nodes=0 if read is None else read.nodes,
        checks=done,
        last_hygiene_at=last,
        notes=notes,
    )


def _within_bounds(checked: Checked) -> Checked:
    """A check with as many findings as there is room for beside those of the others."""
    room, kept = OUTPUT_CHARACTERS // (len(CHECKS) + 1), 0
    for finding in checked.findings:
        room -= size(finding)
        kept += room >= 0
    return replace(checked, findings=checked.findings[:kept], left_out=checked.found - kept)


def _read(loom: Loom, when: When, projects: tuple[str | None, ...], now: int) -> tuple[LookedThrough | None, str]:
    try:
        return checks.look_through(loom, when, projects, now), ""
    except StoreError as problem:
        return None, str(problem)


def _of_what_was_told(
    loom: Loom, when: When, read: LookedThrough | None, problem: str, now: int, limit: int
) -> tuple[Checked, ...]:
    """The three checks that rest on one reading of the project."""
    if read is None:
        names: tuple[CheckName, ...] = ("duplicate", "decision", "pattern")
        return tuple(Checked(check=name, found=0, problem=problem) for name in names)
    return (
        _tried("duplicate", lambda: _duplicates(loom, when, read, limit)),
        _tried("decision", lambda: checks.aged(loom, when, "decision", read.decisions, now, limit)),
        _tried("pattern", lambda: checks.aged(loom, when, "pattern", read.patterns, now, limit)),
    )


def _tried(name: CheckName, check: Check) -> Checked:
    """A check, or that it could not be done, and why."""
    try:
        return check()
    except StoreError as problem:
        return Checked(check=name, found=0, problem=str(problem))


def _duplicates(loom: Loom, when: When, read: LookedThrough, limit: int) -> Checked:
    found = find_pairs(
        loom,
        when,
        read.texts,
        progress=lambda done, total: loom.progress("comparing", done, total),
        stands=lambda ids: checks.standing(loom, when, ids),
    )
    return Checked(
        check="duplicate",
        found=len(found.pairs),
        findings=tuple(checks.pair_finding(pair) for pair in found.pairs[:limit]),
        at_least=not found.whole,
    )


# ---- that it was done


def _last(loom: Loom, project: str | None, *, at: int | None) -> tuple[str, tuple[str, ...]]:
    """When hygiene was last done, `at` being now if it was; and notes."""
    if project is None:
        return "", ("what is kept for all projects has no node of its own: when this was done is not recorded",)
    if at is not None:
        try:
            _record(loom, project, at)
            return to_iso(at), ()
        except WeftError as problem:
            notes: tuple[str, ...] = (f"that hygiene was done could not be recorded: {problem.message}",)
    else:
        notes = ()
    try:
        node = find_project(loom, project)
    except StoreError:
        return "", notes
    told = None if node is None else node.props.get(LAST_HYGIENE)
    return (told if isinstance(told, str) else ""), notes


def _record(loom: Loom, project: str, at: int) -> None:
    """Writes when hygiene was done to the project's node. It neither waits nor delivers what waits, which was found."""

    def choose(pos: int) -> Choice[None]:
        node = find_project(loom, project)
        if node is not None:
            versions = new_versions(loom, node, props={**node.props, LAST_HYGIENE: to_iso(at)})
            return Choice(told=None, drafts=(version_draft(loom, node, versions),), fence=node_fence(node, pos))
        guard = write_guard(loom, scope=None, agents=(), project=project)
        made = graph.NodeAssertion(
            id=project_id(project, guard),
            kind=PROJECT_KIND,
            name=project,
            props={LAST_HYGIENE: to_iso(at)},
            **asdict(guard),
        )
        draft = Draft(kind="graph.asserted", payload=graph.Asserted(nodes=(made,)))
        return Choice(told=None, drafts=(draft,), fence=Fence(pos=pos, slots=(made.id,)))

    decided(replace(loom, outbox=None), choose)


OPERATIONS = (
    Operation(
        name="run_hygiene",
        summary="look for what should be mended in a project: duplicates, what is old, writes that are stuck",
        input=RunHygiene,
        output=HygieneReport,
        effect="write",
        toolset="hygiene",
        run=run_hygiene,
        arguments=("project",),
        priorities={"checks.check": "required", "checks.found": "required"},
    ),
)
