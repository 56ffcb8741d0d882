"""`previous_context`: the state of a project for an agent that comes back: last digest, open tasks, alerts of a day."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final

from msgspec import Meta, Struct
from msgspec.structs import replace

from weft.checkout.report import unsourced
from weft.context.arrange import ContextLine
from weft.context.assemble import ContextFrame, ContextSection, assemble, under
from weft.context.budget import CONTEXT_TOKENS
from weft.context.relations import Ties
from weft.context.wording import plain
from weft.core.types import NOW, Find, NodeVersion
from weft.fleet.alerts import DIGEST, active_alerts
from weft.fleet.tasks import by_priority
from weft.recall.answer_limits import bounded
from weft.recall.show_values import NodeShown, flagged, show_nodes
from weft.retrieval.sources.subscriptions import cited_by_id
from weft.runtime.call_context import CallContext
from weft.runtime.fields import Label, Limit
from weft.runtime.operation import Operation
from weft.writing.checks.provenance import DONE, TASK, status_of

ALERTS_SHOWN: Final = 5
PAGE: Final = 1_000  # tasks that are read at once
MAX_TASKS: Final = 20_000  # that are read, finished ones among them


class PreviousContextInput(Struct, frozen=True, kw_only=True):
    """Input of `previous_context`."""

    project: Annotated[Label | None, Meta(description="another project than this directory's")] = None
    limit: Annotated[Limit, Meta(description="how many tasks at most")] = 10
    max_tokens: Annotated[int, Meta(ge=50, le=100_000, description="the most tokens of the block")] = CONTEXT_TOKENS


class PreviousContext(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The block in `context`, and its nodes: the last digest, tasks by priority, alerts, newest first.

    `open_tasks` is how many there are.
    """

    status: str
    context: str
    digest: NodeShown | None = None
    tasks: tuple[NodeShown, ...] = ()
    alerts: tuple[NodeShown, ...] = ()
    open_tasks: int = 0
    tokens: int = 0
    notes: tuple[str, ...] = ()


def previous_context(ctx: CallContext, given: PreviousContextInput) -> PreviousContext:
    """Shows the state of a project: the last digest, open tasks by priority, up to 5 alerts of the last 24 hours."""
    projects = (given.project or ctx.settings.project, None)
    digests = ctx.store.find(ctx.viewer, NOW, Find(kinds=(DIGEST,), projects=projects), limit=1).nodes
    going, unread = _open_tasks(ctx, projects)
    tasks, alerts = going[: given.limit], active_alerts(ctx, projects)[:ALERTS_SHOWN]
    lines = _lines(ctx, [*digests, *tasks, *alerts])
    sections = (
        _section("alerts", "Alerts of the last 24 hours", [lines[node.id] for node in alerts], 0.25),
        _section("digest", "The last digest", [lines[node.id] for node in digests], 0.35),
        _section("tasks", "Open tasks, by priority", [lines[node.id] for node in tasks], 0.4),
    )
    frame = ContextFrame(head=f"State of project {plain(projects[0] or 'none')}.")
    made = assemble(sections, Ties(), frame, given.max_tokens)
    shown = show_nodes(ctx, [*digests, *tasks, *alerts])
    by_id = {node.id: node for node in shown}
    more = (f"there are {len(going)} open tasks: `weft work-list` lists all",) if len(going) > len(tasks) else ()
    answer = PreviousContext(
        status="succeeded" if shown else "empty",
        context=made.text if shown else "",
        digest=by_id[digests[0].id] if digests else None,
        tasks=tuple(by_id[node.id] for node in tasks),
        alerts=tuple(by_id[node.id] for node in alerts),
        open_tasks=len(going),
        tokens=made.tokens if shown else 0,
        notes=(*_empty(digests, going, alerts), *more, *unread, *unsourced(list(lines.values())), *flagged(shown)),
    )
    return bounded(answer, "tasks")


def _open_tasks(ctx: CallContext, projects: tuple[str | None, ...]) -> tuple[list[NodeVersion], tuple[str, ...]]:
    """By priority; a note where there are more tasks than are read."""
    when, find = ctx.store.pin(ctx.viewer, NOW), Find(kinds=(TASK,), projects=projects)
    going: list[NodeVersion] = []
    read = 0
    while read < MAX_TASKS:
        page = ctx.store.find(ctx.viewer, when, find, limit=PAGE).nodes
        going += [node for node in page if status_of(node) not in DONE]
        read += len(page)
        if len(page) < PAGE:
            return sorted(going, key=by_priority), ()
        find = replace(find, before=page[-1].row)
    return sorted(going, key=by_priority), (f"only the newest {read:,} tasks were searched for open ones",)


def _lines(ctx: CallContext, nodes: Sequence[NodeVersion]) -> dict[str, ContextLine]:
    citations = cited_by_id(ctx, nodes)
    return {node.id: ContextLine(node=node, score=1.0, citation=citations.get(node.id, "")) for node in nodes}


def _section(name: str, heading: str, lines: Sequence[ContextLine], share: float) -> ContextSection:
    return ContextSection(name=name, lines=lines, share=share, groups=under(heading))


def _empty(digests: Sequence[Any], tasks: Sequence[Any], alerts: Sequence[Any]) -> tuple[str, ...]:
    if digests or tasks or alerts:
        return ()
    return ("there is no digest, no open task and no alert here: `weft digest-write` and `weft work-create` make them",)


OPERATIONS = (
    Operation(
        name="previous_context",
        summary="show the state of a project: the last digest, open tasks, alerts",
        input=PreviousContextInput,
        output=PreviousContext,
        effect="read",
        toolset="memory",
        run=previous_context,
        budget="max_tokens",
        told=("digest", "tasks", "alerts"),
    ),
)
