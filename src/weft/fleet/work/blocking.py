"""`blocking_issues`: what blocks the work, and the next step."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

from weft.core.clock import to_iso
from weft.core.types import NOW, Find, NodeVersion
from weft.fleet.episodes.contracts import type_of_episode
from weft.fleet.overview import RefusedShown, is_open, refusals_of
from weft.fleet.reflecting.reflect import episodes_of_task
from weft.fleet.work.dependencies import unfinished, waits_for
from weft.fleet.work.progress import MAX_TASKS
from weft.recall.answer_limits import bounded
from weft.runtime.call_context import CallContext
from weft.runtime.fields import Anywhere, Limit, NodeName, OtherProject, projects_asked
from weft.runtime.operation import Operation
from weft.text.one_line import flat
from weft.writing.checks.provenance import TASK, status_of, task_named
from weft.writing.claims.held import Held, held_in

LOOKED: Final = 30  # episodes of a task in which an open failure is looked for
MAX_READ: Final = 300  # open tasks whose episodes are read

IssueKind = Literal["blocked", "waits", "conflict", "stale_claim", "failing"]


class Issue(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something that blocks the work: its kind, its task or target, since when, and the next step."""

    kind: IssueKind
    subject: str
    reason: str
    next_step: str
    since: str = ""
    id: str = ""
    citation: str = ""


class BlockingIssues(Struct, frozen=True, kw_only=True):
    """Input of `blocking_issues`."""

    task: Annotated[NodeName | None, Meta(description="only what blocks this task, by id or title")] = None
    limit: Limit = 20
    project: OtherProject = None
    everywhere: Anywhere = False


class Issues(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What blocks the work, the most direct first."""

    issues: tuple[Issue, ...]
    total: int
    notes: tuple[str, ...] = ()


def blocking_issues(ctx: CallContext, given: BlockingIssues) -> Issues:
    """Lists what blocks the work: blocked tasks, tasks that wait for others, claims that two agents want, stale
    claims, and failures that nothing mended.
    """
    projects = projects_asked(ctx, given.project, everywhere=given.everywhere)
    if given.task is not None:
        tasks = [task_named(ctx, given.task)]
    else:
        tasks = list(ctx.store.find(ctx.viewer, NOW, Find(kinds=(TASK,), projects=projects), limit=MAX_TASKS).nodes)
    tasks = [task for task in tasks if is_open(task)]
    held = held_in(ctx, projects)
    mine = {task.id for task in tasks}
    if given.task is not None:
        held = tuple(each for each in held if mine & {each.claim.task, each.claim.target})
    refused = refusals_of(ctx, projects, held)
    if given.task is not None:
        targets = {each.claim.target for each in held} | mine
        refused = [each for each in refused if each.target in targets]
    found = [
        *_blocked(ctx, tasks),
        *_conflicts(refused, held),
        *_stale(ctx, held),
        *_failing(ctx, tasks[:MAX_READ]),
        *_waiting(ctx, tasks),
    ]
    notes = (f"failures were looked for in the first {MAX_READ} tasks only",) if len(tasks) > MAX_READ else ()
    return bounded(Issues(issues=tuple(found[: given.limit]), total=len(found), notes=notes), "issues")


def _blocked(ctx: CallContext, tasks: list[NodeVersion]) -> list[Issue]:
    blocked = [task for task in tasks if status_of(task) == "blocked"]
    cited = ctx.store.citations(ctx.viewer, [task.event for task in blocked])
    return [
        Issue(
            kind="blocked",
            subject=flat(task.name),
            reason=flat(str(task.props.get("note") or "no reason was given"))[:500],
            next_step="set its status to running once it can go on",
            since=to_iso(task.recorded_at),
            id=task.id,
            citation=cited.get(task.event, ""),
        )
        for task in blocked
    ]


def _waiting(ctx: CallContext, tasks: list[NodeVersion]) -> list[Issue]:
    waiting = waits_for(ctx, [task.id for task in tasks])
    found = []
    for task in tasks:
        behind = unfinished(waiting.get(task.id, []))
        if behind:
            named = ", ".join(f"{flat(each.name)} ({status_of(each)})" for each in behind[:5])
            ended = [each for each in behind if status_of(each) in ("failed", "cancelled")]
            step = f"{flat(behind[0].name)!r} comes first: take it unless somebody is on it"
            if ended:
                step = f"{flat(ended[0].name)!r} ended as {status_of(ended[0])}: plan this task anew"
            found.append(
                Issue(kind="waits", subject=flat(task.name), reason=f"waits for {named}", next_step=step, id=task.id)
            )
    return found


def _conflicts(refused: list[RefusedShown], held: tuple[Held, ...]) -> list[Issue]:
    now = {each.claim.target: each for each in held if not each.stale}
    found = []
    for each in refused:
        if each.target not in now or now[each.target].claim.holder.agent != each.holder:
            continue
        wanting, step = each.agent, f"{each.holder} releases it, or {each.agent} takes other work"
        if each.agent == each.holder:
            wanting = f"another session of {each.agent}"
            step = "give each running agent a name of its own, or resume the claim if the other session is over"
        held_for = flat(now[each.target].claim.intent)[:200]
        reason = f"{wanting} wants it ({flat(each.intent)[:200]}); {each.holder} holds it ({held_for})"
        found.append(
            Issue(
                kind="conflict",
                subject=each.target,
                reason=reason,
                next_step=step,
                since=each.at,
                citation=each.citation,
            )
        )
    return found


def _stale(ctx: CallContext, held: tuple[Held, ...]) -> list[Issue]:
    stale = [each for each in held if each.stale]
    cited = ctx.store.citations(ctx.viewer, [each.claim.node.event for each in stale])
    return [
        Issue(
            kind="stale_claim",
            subject=each.claim.target,
            reason=f"{each.claim.holder.agent}'s claim no longer counts: {each.stale}",
            next_step=f"{each.claim.holder.agent} looks at the change and claims it again, or anybody else does",
            since=to_iso(each.claim.since),
            id=each.claim.id,
            citation=cited.get(each.claim.node.event, ""),
        )
        for each in stale
    ]


def _failing(ctx: CallContext, tasks: list[NodeVersion]) -> list[Issue]:
    """Tasks whose last test result failed, or whose last error nothing followed that passed."""
    found = []
    for task in tasks:
        episodes = episodes_of_task(ctx, task.id, LOOKED)
        told = [node for node in episodes if type_of_episode(node) in ("TEST_RESULT", "ERROR")]
        last = max(told, key=lambda node: node.event, default=None)
        if last is None or (type_of_episode(last) == "TEST_RESULT" and not last.props.get("failed")):
            continue
        cited = ctx.store.citations(ctx.viewer, [last.event]).get(last.event, "")
        found.append(
            Issue(
                kind="failing",
                subject=flat(task.name),
                reason=flat(last.name or last.text)[:300],
                next_step="mend it and record the next test result as an episode of the task",
                since=to_iso(last.recorded_at),
                id=task.id,
                citation=cited,
            )
        )
    return found


OPERATIONS = (
    Operation(
        name="blocking_issues",
        summary="what blocks the work: blocked tasks, conflicts, stale claims, failures",
        input=BlockingIssues,
        output=Issues,
        effect="read",
        toolset="fleet",
        run=blocking_issues,
        arguments=("task",),
        rare=("everywhere", "project"),
        priorities={
            "issues.subject": "required",
            "issues.next_step": "high",
            "issues.id": "low",
            "issues.citation": "low",
        },
    ),
)
