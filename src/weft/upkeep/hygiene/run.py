"""`run_hygiene`: checks for duplicates, outdated memories and stuck writes. It proposes fixes and applies none."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct
from msgspec.structs import asdict, replace

from weft.append.append import Fence
from weft.core.clock import to_iso
from weft.core.errors import NotFound, StoreError, WeftError
from weft.core.types import MAX_LIMIT, When
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.recall.answer_limits import OUTPUT_CHARACTERS, size
from weft.runtime.call_context import CallContext
from weft.runtime.fields import Label
from weft.runtime.operation import Operation
from weft.upkeep.hygiene import checks
from weft.upkeep.hygiene.checks import Check, CheckResult, HygieneRun, ProjectReading
from weft.upkeep.hygiene.findings import CHECKS, CheckName
from weft.upkeep.hygiene.near_duplicates import find_pairs
from weft.writing.build.commit import WriteDecision, decide_and_commit
from weft.writing.build.versions import new_versions, node_fence, version_draft
from weft.writing.checks.rights import write_guard
from weft.writing.checks.scope import PROJECT_KIND, find_project, project_id, scope_of

LAST_HYGIENE = "last_hygiene_at"


class RunHygiene(Struct, frozen=True, kw_only=True):
    """Input of `run_hygiene`."""

    project: Annotated[Label | None, Meta(description="another project than this directory's")] = None
    level: Annotated[
        Literal["project", "global"], Meta(description="project: one project; global: what is kept for all projects")
    ] = "project"
    limit: Annotated[int, Meta(ge=1, le=MAX_LIMIT, description="how many findings of each check at most")] = 20


class HygieneReport(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The findings by check. `last_hygiene_at` is the last complete run, including this one.

    With status `failed` a check could not be completed, and the run does not count.
    """

    status: Literal["succeeded", "failed"]
    project: str | None
    nodes: int
    checks: tuple[CheckResult, ...]
    last_hygiene_at: str = ""
    notes: tuple[str, ...] = ()


def run_hygiene(ctx: CallContext, given: RunHygiene) -> HygieneReport:
    """Checks a project for what should be fixed, and shows the command for each fix; it changes nothing itself.

    Duplicates (over 0.9 of their words in common, or a cosine above 0.9); decisions older than 180 days that nothing
    superseded; patterns that nobody confirmed for 90 days; entities with the same name; writes that wait or were
    refused. `weft hygiene apply` takes the ids of chosen findings. Only the time of the run is written, to the project.
    """
    scope = scope_of(ctx, project=given.project, level=given.level)
    if not scope.resolved:
        raise NotFound(scope.problem, hint=scope.next_step)
    when = ctx.store.pin(ctx.viewer, When())
    now = ctx.clock.now_us()
    run = HygieneRun(ctx=ctx, when=when, now=now, limit=given.limit)
    read, results = _project_checks(run, (scope.project,))
    entities = tuple(dict.fromkeys((scope.project, None)))
    results += (
        _attempt("entity", lambda: checks.check_same_names(run, entities)),
        _attempt("write", lambda: checks.check_stuck_writes(run)),
    )
    done = tuple(map(_within_bounds, results))
    failed = any(each.problem for each in done)
    last, notes = _last(ctx, scope.project, at=None if failed else now)
    if failed:
        notes = (
            "a check could not be completed, so this run does not count; `weft doctor` diagnoses the store",
            *notes,
        )
    if read is not None and not read.whole:
        notes += (f"only the newest {checks.MAX_LOOKED_AT:,} nodes were checked",)
    return HygieneReport(
        status="failed" if failed else "succeeded",
        project=scope.project,
        nodes=0 if read is None else read.nodes,
        checks=done,
        last_hygiene_at=last,
        notes=notes,
    )


def _within_bounds(checked: CheckResult) -> CheckResult:
    """A check with as many findings as fit beside those of the others."""
    room, kept = OUTPUT_CHARACTERS // (len(CHECKS) + 1), 0
    for finding in checked.findings:
        room -= size(finding)
        kept += room >= 0
    return replace(checked, findings=checked.findings[:kept], left_out=checked.found - kept)


def _project_checks(
    run: HygieneRun, projects: checks.Projects
) -> tuple[ProjectReading | None, tuple[CheckResult, ...]]:
    """The three checks that share one reading of the project; without a reading if the store cannot be read."""
    try:
        read = checks.read_project(run, projects)
    except StoreError as problem:
        names: tuple[CheckName, ...] = ("duplicate", "decision", "pattern")
        return None, tuple(CheckResult(check=name, found=0, problem=str(problem)) for name in names)
    return read, (
        _attempt("duplicate", lambda: _duplicates(run, read)),
        _attempt("decision", lambda: checks.check_age(run, "decision", read.decisions)),
        _attempt("pattern", lambda: checks.check_age(run, "pattern", read.patterns)),
    )


def _attempt(name: CheckName, check: Check) -> CheckResult:
    """The result of a check, or why it failed."""
    try:
        return check()
    except StoreError as problem:
        return CheckResult(check=name, found=0, problem=str(problem))


def _duplicates(run: HygieneRun, read: ProjectReading) -> CheckResult:
    ctx, when = run.ctx, run.when
    found = find_pairs(
        ctx,
        when,
        read.texts,
        progress=lambda done, total: ctx.progress("comparing", done, total),
        stands=lambda ids: checks.not_superseded(ctx, when, ids),
    )
    return CheckResult(
        check="duplicate",
        found=len(found.pairs),
        findings=tuple(checks.pair_finding(pair) for pair in found.pairs[: run.limit]),
        at_least=not found.whole,
    )


# ---- the time of the last run


def _last(ctx: CallContext, project: str | None, *, at: int | None) -> tuple[str, tuple[str, ...]]:
    """The time of the last hygiene run, now (`at`) if this one counts, and notes."""
    if project is None:
        return "", ("the time of this run is not recorded: there is no project node for level global",)
    if at is not None:
        try:
            _record(ctx, project, at)
            return to_iso(at), ()
        except WeftError as problem:
            notes: tuple[str, ...] = (f"the time of this run could not be recorded: {problem.message}",)
    else:
        notes = ()
    try:
        node = find_project(ctx, project)
    except StoreError:
        return "", notes
    told = None if node is None else node.props.get(LAST_HYGIENE)
    return (told if isinstance(told, str) else ""), notes


def _record(ctx: CallContext, project: str, at: int) -> None:
    """Writes the time of the run to the project's node. It neither uses the outbox nor delivers it."""

    def choose(pos: int) -> WriteDecision[None]:
        node = find_project(ctx, project)
        if node is not None:
            versions = new_versions(ctx, node, props={**node.props, LAST_HYGIENE: to_iso(at)})
            return WriteDecision(answer=None, drafts=(version_draft(ctx, node, versions),), fence=node_fence(node, pos))
        guard = write_guard(ctx, scope=None, agents=(), project=project)
        made = graph.NodeAssertion(
            id=project_id(project, guard),
            kind=PROJECT_KIND,
            name=project,
            props={LAST_HYGIENE: to_iso(at)},
            **asdict(guard),
        )
        draft = Draft(kind="graph.asserted", payload=graph.Asserted(nodes=(made,)))
        return WriteDecision(answer=None, drafts=(draft,), fence=Fence(pos=pos, slots=(made.id,)))

    decide_and_commit(replace(ctx, outbox=None), choose)


OPERATIONS = (
    Operation(
        name="run_hygiene",
        summary="check a project for duplicates, outdated memories and stuck writes, with a fix for each",
        input=RunHygiene,
        output=HygieneReport,
        effect="write",
        toolset="hygiene",
        run=run_hygiene,
        arguments=("project",),
        priorities={"checks.check": "required", "checks.found": "required"},
    ),
)
