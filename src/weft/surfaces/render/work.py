"""Tasks and what they made, reports, alerts, published pages, and how to go about an analysis."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from weft.surfaces.render.nodes import head, says
from weft.surfaces.render.page import (
    REASON_CHARACTERS,
    Colour,
    TextPage,
    as_json,
    counted,
    facts,
    minute,
    more_from,
    one_line,
)
from weft.text.one_line import flat

if TYPE_CHECKING:
    from weft.fleet.alerts import AlertsListed
    from weft.fleet.publish import SitePublished
    from weft.fleet.reports import ReportsListed, ReportsRead
    from weft.fleet.work_products import ProductShown, TaskShown, WorkListed, WorkMadeShown, WorkShown
    from weft.recall.reasoning_style import AnalysisRouted

STATUSES: Final[dict[str, Colour]] = {
    "succeeded": "green",
    "running": "cyan",
    "blocked": "yellow",
    "failed": "red",
    "cancelled": "dim",
}
SEVERITIES: Final[dict[str, Colour]] = {"critical": "red", "warning": "yellow"}
_WAYS: Final = {
    "sequential": "step by step (sequential)",
    "debate": "by weighing both sides (debate)",
    "socratic": "by asking first (socratic)",
}


def tasks(p: TextPage, answer: WorkListed) -> None:
    if not answer.tasks:
        p.empty("tasks")
        return
    p.say(f"{counted(answer.total, 'task')}{_shown(len(answer.tasks), answer.total)}.")
    p.say(more_from(answer.next_offset))
    for task in answer.tasks:
        _task(p, task)


def task(p: TextPage, answer: WorkShown) -> None:
    p.say(f"{answer.task.status.capitalize()}; it made {counted(answer.total, 'thing')}.")
    p.say(more_from(answer.next_offset))
    _task(p, answer.task)
    p.section(
        "states",
        (
            facts(
                each.status,
                f"{minute(each.since)}{f' to {minute(each.until)}' if each.until else ''}",
                p.words(each.note, REASON_CHARACTERS) if each.note else "",
                p.dim(flat(each.citation)),
            )
            for each in answer.states
        ),
    )
    _products(p, answer.products)


def made(p: TextPage, answer: WorkMadeShown) -> None:
    things = counted(answer.total, "thing")
    p.say(f"{counted(len(answer.tasks), 'task')} of {p.name(answer.conversation)} made {things}.")
    p.say(more_from(answer.next_offset))
    for each in answer.tasks:
        _task(p, each)
    _products(p, answer.products)


def _task(p: TextPage, shown: TaskShown) -> None:
    status = p.paint(shown.status, STATUSES.get(shown.status, "bold"))
    raised = f"raised in {p.name(shown.conversation)}" if shown.conversation else ""
    p.block(facts(f"{status} {p.bold(p.words(shown.title))}", p.kind(shown.kind), minute(shown.changed_at), raised))
    p.lines(p.dim(facts(f"id {p.name(shown.id)}", flat(shown.citation))))
    if shown.description:
        p.quote(shown.description, short=True)
    for name, words in (("note", shown.note), ("result", shown.result)):
        if words:
            p.lines(f"{name}:")
            p.quote(words, short=True)
    for name, values in (("inputs", shown.inputs), ("outputs", shown.outputs)):
        if values:
            p.lines(f"{name}:")
            p.quote(as_json(values), short=True)


def _products(p: TextPage, products: Iterable[ProductShown]) -> None:
    p.section(
        "made",
        (
            facts(
                f"{p.kind(each.kind)} {p.words(each.name)}",
                minute(each.made_at),
                p.dim(flat(each.citation)),
                p.dim(f"id {p.name(each.id)}"),
            )
            for each in products
        ),
    )


def _shown(count: int, total: int) -> str:
    return f", {count} shown" if count < total else ""


def reports_read(p: TextPage, answer: ReportsRead) -> None:
    if not answer.reports:
        p.empty("reports")
        return
    p.say(f"{counted(len(answer.reports), 'report')}, the latest first.")
    for node in answer.reports:
        p.block(head(p, node, at=minute(node.valid_from)))
        says(p, node, short=False)


def reports_listed(p: TextPage, answer: ReportsListed) -> None:
    if not answer.reports:
        p.empty("reports")
        return
    p.say(f"{counted(answer.total, 'report')}{_shown(len(answer.reports), answer.total)}.")
    p.say(more_from(answer.next_offset))
    for each in answer.reports:
        about = ", ".join(p.name(word) for word in (*each.keywords, *filter(None, (each.source_workflow,))))
        p.block(
            facts(p.bold(p.words(each.title)), minute(each.occurred_at), counted(each.characters, "character"), about)
        )
        p.lines(p.dim(facts(f"id {p.name(each.id)}", flat(each.citation))))


def alerts(p: TextPage, answer: AlertsListed) -> None:
    if not answer.alerts:
        p.empty("active alerts")
        return
    p.say(f"{counted(answer.total, 'alert')}{_shown(len(answer.alerts), answer.total)}.")
    for node in answer.alerts:
        severity = one_line(str(node.props.get("severity", "")))
        over = "suppressed" if "suppressed_at" in node.props else ""
        about = facts(p.paint(severity, SEVERITIES.get(severity, "")), over)
        p.block(facts(about, head(p, node, at=minute(node.valid_from)), p.dim(f"id {p.name(node.id)}")))
        says(p, node)


def published(p: TextPage, answer: SitePublished) -> None:
    p.say(f"{counted(len(answer.pages), 'page')} in {p.words(answer.directory, 500)}.")
    p.say(f"On a server its address is {p.words(answer.address)}." if answer.address else "")
    p.block(
        *(facts(p.words(each.file), p.words(each.title), p.dim(one_line(each.citation, 500))) for each in answer.pages)
    )


def routed(p: TextPage, answer: AnalysisRouted) -> None:
    p.say(f"Go about it {p.bold(_WAYS[answer.mode])}.")
    p.block(one_line(answer.rationale, REASON_CHARACTERS))
    steps = enumerate(answer.suggested_steps, start=1)
    p.block(*(f"{number}. {one_line(each, REASON_CHARACTERS)}" for number, each in steps))
    p.block("; ".join(f"{p.words(each.word)} suggests {'none' if each.denied else each.mode}" for each in answer.cues))
