"""Tasks, features and plans at work: their progress, what blocks them, and handoffs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from weft.surfaces.render.fleet import claim
from weft.surfaces.render.page import TextPage, counted, facts, minute, more_from
from weft.surfaces.render.work import STATUSES
from weft.text.one_line import flat

if TYPE_CHECKING:
    from weft.fleet.findings import FindingsListed
    from weft.fleet.work.blocking import Issues
    from weft.fleet.work.creating import PlanSaved
    from weft.fleet.work.handoff import HandedOff
    from weft.fleet.work.handoff_pack import PackLine
    from weft.fleet.work.progress import FeatureShown, TaskProgress, TaskRow
    from weft.fleet.work.updating import TaskUpdated

ENDED: Final = {"succeeded": "succeeded", "failed": "failed", "cancelled": "was cancelled"}


def plan(p: TextPage, answer: PlanSaved) -> None:
    """A plan and its tasks."""
    p.say(f"The plan is kept, with {counted(len(answer.tasks), 'task')}.")
    p.block(p.dim(facts(f"id {p.name(answer.id)}", flat(answer.citation))))
    p.section("tasks", (f"{number}. {p.name(each)}" for number, each in enumerate(answer.tasks, 1)))


def updated(p: TextPage, answer: TaskUpdated) -> None:
    """The task's new state, and what ended with it."""
    if answer.status == "duplicate_skip":
        p.say(f"Nothing was written: the task is {answer.state} already.")
    else:
        said = ENDED.get(answer.state, f"is {answer.state}")
        p.say(f"The task {p.paint(said, STATUSES.get(answer.state, 'bold'))}.")
    p.block(p.dim(facts(f"id {p.name(answer.id)}", flat(answer.citation))))
    p.lines(p.dim(f"its outcome is kept as the decision {p.name(answer.decision)}") if answer.decision else "")


def progress(p: TextPage, answer: TaskProgress) -> None:
    """Tasks, the most urgent first."""
    if not answer.tasks:
        p.empty("tasks")
        return
    counts = ", ".join(f"{count} {state}" for state, count in answer.counts.items())
    p.say(f"{counted(answer.total, 'task')}: {counts}.")
    p.say(more_from(answer.next_offset))
    for each in answer.tasks:
        _row(p, each)


def _row(p: TextPage, each: TaskRow) -> None:
    status = p.paint(each.status, STATUSES.get(each.status, "bold"))
    who = f"held by {flat(each.held_by)} since {minute(each.held_since)}" if each.held_by else ""
    meant = f"for {flat(each.assignee)}" if each.assignee and each.assignee != each.held_by else ""
    p.block(facts(f"{status} {p.bold(p.words(each.title))}", each.priority, who, meant))
    p.lines(f"  waits for {', '.join(p.words(name) for name in each.waits_for)}" if each.waits_for else "")
    p.lines(f"  {p.words(each.note, 300)}" if each.note else "")
    of = f"of {', '.join(p.words(name) for name in each.features)}" if each.features else ""
    p.lines(f"  {p.dim(facts(f'id {p.name(each.id)}', of, minute(each.changed_at), flat(each.citation)))}")


def feature(p: TextPage, answer: FeatureShown) -> None:
    """How far a feature is."""
    p.say(f"{p.words(answer.title)} is {answer.status}: {answer.done} of {counted(answer.total, 'task')} done.")
    if answer.files:
        p.say(f"Tests reach {answer.covered} of {counted(len(answer.files), 'changed file')}.")
    if answer.tests_passed or answer.tests_failed:
        p.say(f"Last test result: {answer.tests_passed} passed, {answer.tests_failed} failed.")
    for each in answer.tasks:
        _row(p, each)
    p.section(
        "changed files",
        (
            facts(p.name(each.file), f"tested in {', '.join(map(p.name, each.tests[:3]))}" if each.tests else "no test")
            for each in answer.files
        ),
    )
    p.section("in the way", (p.words(each, 300) for each in answer.blockers))


def issues(p: TextPage, answer: Issues) -> None:
    """What blocks the work, and the next step of each."""
    if not answer.issues:
        p.say("Nothing blocks the work.")
        return
    p.say(f"{counted(answer.total, 'thing')} {'blocks' if answer.total == 1 else 'block'} the work.")
    for each in answer.issues:
        since = f"since {minute(each.since)}" if each.since else ""
        p.block(facts(f"{p.paint(each.kind.replace('_', ' '), 'yellow')} {p.bold(p.words(each.subject))}", since))
        p.lines(f"  {p.words(each.reason, 500)}", f"  next: {p.words(each.next_step, 300)}")
        p.lines(p.dim(f"  {flat(each.citation)}") if each.citation else "")


def handed_off(p: TextPage, answer: HandedOff) -> None:
    """A task as the next agent needs it."""
    if answer.taken:
        source = f" from {', '.join(map(flat, answer.taken_from))}" if answer.taken_from else ""
        p.say(f"You took it over{source}: {counted(len(answer.taken), 'claim')}.")
    elif answer.handed_to:
        p.say(f"Handed to {flat(answer.handed_to)}, who may take it over.")
    said = ENDED.get(answer.status, f"is {answer.status}")
    p.say(f"{p.words(answer.title)} {p.paint(said, STATUSES.get(answer.status, 'bold'))}.")
    p.block(p.dim(facts(f"id {p.name(answer.task)}", flat(answer.citation))))
    if answer.asked:
        p.block("asked:")
        p.quote(answer.asked, indent="  ")
    for title, lines in (
        ("done", answer.done),
        ("decided", answer.decided),
        ("open", answer.open),
        ("learnt", answer.learnt),
        ("where to look", answer.where),
    ):
        _part(p, title, lines)
    for each in answer.claims:
        claim(p, each)


def _part(p: TextPage, title: str, lines: Sequence[PackLine]) -> None:
    p.section(
        title,
        (
            facts(
                f"{p.paint(each.type, 'cyan')} {p.words(each.text, 400)}".lstrip(),
                flat(each.by),
                minute(each.at) if each.at else "",
                p.dim(flat(each.citation)),
            )
            for each in lines
        ),
    )


def findings(p: TextPage, answer: FindingsListed) -> None:
    """What workers found, with its state and proof."""
    if not answer.findings:
        p.empty("findings")
        return
    p.say(f"{counted(answer.total, 'finding')}, latest first.")
    for each in answer.findings:
        state = p.paint(each.status, "green" if each.status in ("accepted", "promoted") else "yellow")
        p.block(facts(state, f"by {flat(each.by)}", minute(each.at), p.dim(flat(each.citation))))
        p.quote(each.text)
        p.lines(f"  reviewed by {flat(each.reviewer)}: {p.words(each.review, 300)}" if each.reviewer else "")
        p.lines(p.dim(f"  rests on {', '.join(map(flat, each.evidence))}"), p.dim(f"  id {p.name(each.id)}"))
