"""How work, upkeep and counts read to a model: tasks, hygiene, calls, statistics."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from weft.retrieval.views.ground import flat
from weft.surfaces.mcp.words import QUOTED, Rendered, block, counted, facts, kind, line, node_id, said

if TYPE_CHECKING:
    from weft.operations.auditing import ToolCallShown, ToolCallsShown
    from weft.operations.hygiene import HygieneReport
    from weft.operations.hygiene_apply import HygieneApplied
    from weft.operations.hygiene_checks import Checked
    from weft.operations.products import ProductShown, TaskShown, WorkListed, WorkMadeShown, WorkShown
    from weft.operations.statistics import Statistics


def tasks(answer: WorkListed) -> Rendered:
    """Tasks, each with how it stands."""
    if not answer.tasks:
        return Rendered(summary="There is no such task.")
    summary = f"{counted(answer.total, 'task')}; {len(answer.tasks)} shown.{_more(answer.next_offset)} {QUOTED}"
    return Rendered(summary=summary, blocks=tuple(map(_task, answer.tasks)))


def task(answer: WorkShown) -> Rendered:
    """One task: its states, and what it made."""
    states = [
        facts(each.status, f"since {each.since[:16]}", said(each.note) if each.note else "", flat(each.citation))
        for each in answer.states
    ]
    blocks = [_task(answer.task), *(["\n".join(["states:", *states])] if states else []), *_products(answer.products)]
    summary = f"{answer.task.status}; it made {counted(answer.total, 'thing')}.{_more(answer.next_offset)} {QUOTED}"
    return Rendered(summary=summary, blocks=tuple(blocks))


def made(answer: WorkMadeShown) -> Rendered:
    """The tasks of a conversation and what they made."""
    summary = f"{counted(len(answer.tasks), 'task')} made {counted(answer.total, 'thing')}.{_more(answer.next_offset)}"
    return Rendered(summary=f"{summary} {QUOTED}", blocks=(*map(_task, answer.tasks), *_products(answer.products)))


def _task(shown: TaskShown) -> str:
    head = facts(
        f"{node_id(shown.id)} {kind(shown.kind)} {said(shown.title)}",
        shown.status,
        f"since {shown.changed_at[:16]}",
        flat(shown.citation),
    )
    parts = [head]
    for name, words in (("", shown.description), ("note:", shown.note), ("result:", shown.result)):
        parts += [*([name] if name else []), block(words)] if words else []
    for name, held in (("inputs", shown.inputs), ("outputs", shown.outputs)):
        parts += [f"{name}:", block(msgspec.json.encode(held).decode())] if held else []
    return "\n".join(parts)


def _products(products: tuple[ProductShown, ...]) -> list[str]:
    lines = [
        facts(
            f"{node_id(each.id)} {kind(each.kind)} {said(each.name)}", f"made {each.made_at[:16]}", flat(each.citation)
        )
        for each in products
    ]
    return ["\n".join(["made:", *lines])] if lines else []


def _more(offset: int | None) -> str:
    return f" The next begin at offset {offset}." if offset is not None else ""


def hygiene(answer: HygieneReport) -> Rendered:
    """What each check found, with the fix."""
    where = f"project {line(answer.project)}" if answer.project else "what is kept for all projects"
    found = sum(each.found for each in answer.checks)
    summary = f"{counted(found, 'finding')} among {counted(answer.nodes, 'node')} of {where}; nothing was changed."
    return Rendered(summary=f"{summary} {QUOTED}", blocks=tuple(map(_check, answer.checks)))


def _check(checked: Checked) -> str:
    least = "at least " if checked.at_least else ""
    left = f", {checked.left_out} not shown" if checked.left_out else ""
    lines = [f"{checked.check}: {least}{checked.found}{left}"]
    lines += [f"  could not be checked: {said(checked.problem, 500)}"] if checked.problem else []
    for each in checked.findings:
        alike = f"{each.measure} {each.similarity:.2f}".strip() if each.similarity is not None else ""
        lines.append(f"  {facts(node_id(each.id), said(each.why, 500), f'fix: {said(each.fix, 500)}', alike)}")
        lines += [f"    {line}" for shows in each.shows for line in block(shows).split("\n")]
    return "\n".join(lines)


def hygiene_applied(answer: HygieneApplied) -> Rendered:
    """Which findings were put right, and how each is undone."""
    lines = [
        facts(
            f"{node_id(each.id)}: {each.status}",
            said(each.why, 500) if each.why else "",
            f"undo: {said(each.undo, 500)}" if each.undo else "",
            flat(each.citation),
            "; ".join(line(note, 500) for note in each.notes),
        )
        for each in answer.findings
    ]
    summary = f"{answer.done:,} of {counted(len(answer.findings), 'finding')} put right. {QUOTED}"
    return Rendered(summary=summary, blocks=("\n".join(lines),) if lines else ())


def calls(answer: ToolCallsShown) -> Rendered:
    """Who called what, when, and how it went."""
    if not answer.calls:
        return Rendered(summary="No such call is on record.")
    more = f" Earlier ones: before={node_id(answer.before)}." if answer.before else ""
    count = counted(len(answer.calls), "call")
    return Rendered(summary=f"{count}, the latest first.{more} {QUOTED}", blocks=tuple(map(_call, answer.calls)))


def _call(shown: ToolCallShown) -> str:
    head = facts(
        f"{shown.started[:19]} {line(shown.operation)}",
        f"{line(shown.agent)} ({line(shown.role)}) by {shown.surface}",
        f"{shown.code or shown.status}",
        f"{shown.ms:.0f} ms",
        node_id(shown.session),
    )
    given = [f"given:\n{block(shown.input)}"] if shown.input else []
    told = [f"answered:\n{block(shown.output)}"] if shown.output else []
    return "\n".join([head, *given, *told])


def statistics(answer: Statistics) -> Rendered:
    """How much there is of what."""
    summary = facts(
        counted(answer.nodes, "node"),
        counted(answer.edges, "edge"),
        counted(answer.events, "event"),
        counted(answer.sessions, "session"),
    )
    waits = facts(
        counted(answer.open_proposals, "open proposal"),
        counted(answer.active_alerts, "active alert"),
        counted(answer.waiting_writes, "waiting write"),
    )
    views = ", ".join(f"{line(name)} {number:,}" for name, number in answer.views.items())
    kinds = ", ".join(f"{kind(name)} {number:,}" for name, number in answer.kinds.items())
    return Rendered(summary=f"{summary}.", blocks=(f"{waits}\nviews: {views}\nkinds: {kinds}",))
