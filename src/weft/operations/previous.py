"""`previous_context`: where things stand for who comes back: the last digest, open tasks, alerts of the last day."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Final

from msgspec import Meta, Struct
from msgspec.structs import replace

from weft.context.arrange import Group, Line
from weft.context.linearise import QUOTED
from weft.context.packing import Section, pack
from weft.context.ties import Ties
from weft.context.wording import plain
from weft.loom import Loom
from weft.operations.alerts import DIGEST, active_alerts
from weft.operations.bounds import bounded
from weft.operations.checkout_around import cited_by_id
from weft.operations.checkout_asked import BUDGET_TOKENS
from weft.operations.checkout_told import unsourced
from weft.operations.fields import Label, Limit
from weft.operations.registry import Operation
from weft.operations.showing import NodeShown, flagged, show_nodes
from weft.operations.stamping import DONE, TASK, status_of
from weft.operations.task_order import by_priority
from weft.types import NOW, Find, NodeVersion

ALERTS_SHOWN: Final = 5
PAGE: Final = 1_000  # tasks that are read at once
MAX_TASKS: Final = 20_000  # that are looked through, finished ones among them


class PreviousContextInput(Struct, frozen=True, kw_only=True):
    """Input of `previous_context`."""

    project: Annotated[Label | None, Meta(description="another project than this directory's")] = None
    limit: Annotated[Limit, Meta(description="how many tasks at most")] = 10
    max_tokens: Annotated[int, Meta(ge=50, le=100_000, description="what the block may cost")] = BUDGET_TOKENS


class PreviousContext(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The block in `context`, and what it is of: the last digest, tasks by priority, alerts, newest first.

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


def previous_context(loom: Loom, given: PreviousContextInput) -> PreviousContext:
    """Tells where things stand: the last digest, open tasks by priority, and up to 5 alerts of the last 24 hours."""
    projects = (given.project or loom.settings.project, None)
    digests = loom.store.find(loom.viewer, NOW, Find(kinds=(DIGEST,), projects=projects), limit=1).nodes
    going, unread = _open_tasks(loom, projects)
    tasks, alerts = going[: given.limit], active_alerts(loom, projects)[:ALERTS_SHOWN]
    lines = _lines(loom, [*digests, *tasks, *alerts])
    sections = (
        _section("alerts", "Alerts of the last 24 hours", [lines[node.id] for node in alerts], 0.25),
        _section("digest", "The last digest", [lines[node.id] for node in digests], 0.35),
        _section("tasks", "Open tasks, by priority", [lines[node.id] for node in tasks], 0.4),
    )
    head = f"Where project {plain(projects[0] or 'none')} stands. {QUOTED}"
    packed = pack(sections, Ties(), head, given.max_tokens)
    shown = show_nodes(loom, [*digests, *tasks, *alerts])
    by_id = {node.id: node for node in shown}
    more = (f"there are {len(going)} open tasks: `weft work-list` lists all",) if len(going) > len(tasks) else ()
    told = PreviousContext(
        status="succeeded" if shown else "empty",
        context=packed.text if shown else "",
        digest=by_id[digests[0].id] if digests else None,
        tasks=tuple(by_id[node.id] for node in tasks),
        alerts=tuple(by_id[node.id] for node in alerts),
        open_tasks=len(going),
        tokens=packed.tokens if shown else 0,
        notes=(*_empty(digests, going, alerts), *more, *unread, *unsourced(list(lines.values())), *flagged(shown)),
    )
    return bounded(told, "tasks")


def _open_tasks(loom: Loom, projects: tuple[str | None, ...]) -> tuple[list[NodeVersion], tuple[str, ...]]:
    """By priority, however much was finished since; a note where there are more than are looked through."""
    when, find = loom.store.pin(loom.viewer, NOW), Find(kinds=(TASK,), projects=projects)
    going: list[NodeVersion] = []
    read = 0
    while read < MAX_TASKS:
        page = loom.store.find(loom.viewer, when, find, limit=PAGE).nodes
        going += [node for node in page if status_of(node) not in DONE]
        read += len(page)
        if len(page) < PAGE:
            return sorted(going, key=by_priority), ()
        find = replace(find, before=page[-1].row)
    return sorted(going, key=by_priority), (f"only the newest {read:,} tasks were looked through",)


def _lines(loom: Loom, nodes: Sequence[NodeVersion]) -> dict[str, Line]:
    citations = cited_by_id(loom, nodes)
    return {node.id: Line(node=node, score=1.0, citation=citations.get(node.id, "")) for node in nodes}


def _section(name: str, heading: str, lines: Sequence[Line], share: float) -> Section:
    groups: Callable[[Sequence[Line]], Sequence[Group]] = lambda kept: [Group(heading=heading, lines=tuple(kept))]  # noqa: E731
    return Section(name=name, lines=lines, share=share, groups=groups)


def _empty(digests: Sequence[Any], tasks: Sequence[Any], alerts: Sequence[Any]) -> tuple[str, ...]:
    if digests or tasks or alerts:
        return ()
    return ("there is no digest, no open task and no alert here: `weft digest-write` and `weft work-create` make them",)


OPERATIONS = (
    Operation(
        name="previous_context",
        summary="tell where things stand: the last digest, open tasks, alerts",
        input=PreviousContextInput,
        output=PreviousContext,
        effect="read",
        toolset="memory",
        run=previous_context,
        budget="max_tokens",
        told=("digest", "tasks", "alerts"),
    ),
)
