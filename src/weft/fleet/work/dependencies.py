"""Dependencies: a task waits for other tasks, never for itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct

from weft.core.errors import Invalid, NotFound
from weft.core.types import NOW, NodeVersion
from weft.runtime.call_context import CallContext
from weft.writing.checks.provenance import TASK, task_named

DEPENDS_ON: Final = "DEPENDS_ON"
MAX_WALKED: Final = 2_000  # tasks behind one, of which a cycle is looked for
SUCCEEDED: Final = "succeeded"


class Walked(Struct, frozen=True, kw_only=True):
    """The tasks that a new dependency leads to, whose slots the check depends on."""

    slots: tuple[str, ...]


def tasks_named(ctx: CallContext, written: Iterable[str], *, new: str = "") -> tuple[NodeVersion, ...]:
    """Tasks by id or title, each once. Raises NotFound for one that does not exist, Invalid if it is the `new` one."""
    found: dict[str, NodeVersion] = {}
    for each in written:
        try:
            task = task_named(ctx, each)
        except NotFound:
            if new and each.strip() == new.strip():
                raise _of_itself(new) from None
            raise
        found[task.id] = task
    return tuple(found.values())


def _of_itself(title: str) -> Invalid:
    return Invalid(f"the task {title[:80]!r} cannot depend on itself", hint="leave it out of depends_on")


def check_no_cycle(ctx: CallContext, task: str, title: str, wanted: Sequence[NodeVersion]) -> Walked:
    """Raises Invalid where a task would wait for itself, directly or through others, with the way round."""
    for one in wanted:
        if one.id == task:
            raise _of_itself(title)
    names = {one.id: one.name for one in wanted}
    before: dict[str, str | None] = {one.id: None for one in wanted}
    frontier = [one.id for one in wanted]
    while frontier and len(before) < MAX_WALKED:
        steps = ctx.store.neighbours(ctx.viewer, NOW, frontier, rels=(DEPENDS_ON,), direction="out", limit=100)
        frontier = []
        for step in steps:
            names[step.node.id] = step.node.name
            if step.node.id == task:
                raise Invalid(
                    f"the task {title[:80]!r} would wait for itself: {_way(step.start, before, names)} waits for it",
                    hint="leave that dependency out, or cancel a task on the way",
                )
            if step.node.id not in before:
                before[step.node.id] = step.start
                frontier.append(step.node.id)
    return Walked(slots=(task, *before))


def _way(last: str, before: dict[str, str | None], names: dict[str, str]) -> str:
    way = [last]
    while (earlier := before.get(way[-1])) is not None:
        way.append(earlier)
    return " -> ".join(repr(names.get(each, each)[:60]) for each in reversed(way))


def waits_for(ctx: CallContext, tasks: Sequence[str]) -> dict[str, list[NodeVersion]]:
    """What each task depends on."""
    found: dict[str, list[NodeVersion]] = {}
    for start in range(0, len(tasks), 500):
        some = list(tasks[start : start + 500])
        for step in ctx.store.neighbours(ctx.viewer, NOW, some, rels=(DEPENDS_ON,), direction="out", limit=100):
            if step.node.kind == TASK:
                found.setdefault(step.start, []).append(step.node)
    return found


def unfinished(tasks: Iterable[NodeVersion]) -> list[NodeVersion]:
    """Those that did not succeed yet: what depends on them waits."""
    return [task for task in tasks if task.props.get("status") != SUCCEEDED]
