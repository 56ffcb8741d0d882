"""Contexts as text: checkouts, assembled contexts, project briefings, compactions, agents' files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from weft.surfaces.render.nodes import head, says
from weft.surfaces.render.page import (
    REASON_CHARACTERS,
    Colour,
    TextPage,
    counted,
    day,
    facts,
    minute,
    one_line,
    tally,
)
from weft.text.one_line import flat

if TYPE_CHECKING:
    from weft.checkout.agent_file import AgentKnowledge, Baked
    from weft.checkout.assemble_context import AssembledContext
    from weft.checkout.checkout import Checkout
    from weft.checkout.compaction.compact import Compacted
    from weft.checkout.compaction.compaction_show import Projected
    from weft.checkout.compaction.session_compact import SessionCompacted, SessionStatus
    from weft.checkout.previous_context import PreviousContext
    from weft.fleet.projects import ProjectsShown
    from weft.recall.priority import ProjectContext

COLOURS: Final[dict[str, Colour]] = {"strong": "green", "fair": "cyan", "weak": "yellow", "none": "yellow"}


def checkout(p: TextPage, answer: Checkout) -> None:
    shown, quality = answer.counts.get("shown", 0), answer.quality
    if answer.counts and not shown:
        p.say("Nothing is known about this.")
        if not p.for_model:
            p.text(answer.prompt)
        return
    p.text(answer.prompt)
    if not answer.counts:
        p.say("Checked out.")
        return
    missing = f", none on {', '.join(map(one_line, quality.missing))}" if quality.missing else ""
    evidence = p.paint(f"Evidence {quality.evidence}", COLOURS.get(quality.evidence, ""))
    p.say(f"{counted(shown, 'line')} to begin with.")
    p.say(f"{evidence}{missing}." if quality.evidence != "none" else "Nothing answers the question itself.")
    if not p.for_model:
        _trust(p, answer)
    if answer.diagnostics is not None and answer.diagnostics.stages:
        _diagnosed(p, answer)


def _trust(p: TextPage, answer: Checkout) -> None:
    quality, spent, applied = answer.quality, answer.token_use, answer.diagnostics
    told = [f"holds {quality.coverage:.0%} of the question's words"]
    if quality.newest_days is not None:
        age = f"{counted(quality.newest_days, 'day')} ago" if quality.newest_days else "today"
        told.append(f"newest from {age}")
    if quality.conflicts:
        told.append(p.paint(counted(len(quality.conflicts), "contradiction"), "yellow"))
    p.block(p.dim(facts(*told, f"{spent.prompt:,} of {spent.budget:,} tokens")))
    if applied is not None and applied.suppressed:
        p.lines(p.dim(f"omitted: {tally(applied.suppressed)}"))


def _diagnosed(p: TextPage, answer: Checkout) -> None:
    applied = answer.diagnostics
    assert applied is not None
    policy = applied.policy
    floor = f"({policy.recall_floor} or x {policy.multiplier})"
    p.block(
        f"purpose {policy.purpose}: {policy.candidates} candidates {floor}, scored for {policy.scoring}",
        f"emphasis {', '.join(map(one_line, policy.emphasis))}" if policy.emphasis else "",
        f"retention {policy.retention}",
        *map(one_line, policy.effects),
        f"omitted: {tally(applied.suppressed)}" if applied.suppressed and p.for_model else "",
    )
    if answer.token_use.slots:
        p.lines(f"tokens: {', '.join(f'{slot} {tokens:,}' for slot, tokens in answer.token_use.slots.items())}")
    slow = sorted(applied.stages, key=lambda stage: -stage.milliseconds)[:5]
    named = ", ".join(f"{stage.stage} {stage.milliseconds:.1f}" for stage in slow)
    total = sum(stage.milliseconds for stage in applied.stages)
    p.lines(f"{counted(len(applied.stages), 'stage')}, {total:.1f} ms: {named}")


def assembled(p: TextPage, answer: AssembledContext) -> None:
    if not answer.context:
        p.say("The conversation is empty, and nothing was recalled.")
        return
    cut = " (its end)" if answer.truncated else ""
    p.say(f"{counted(answer.replayed, 'line')} of the conversation{cut}, {answer.recalled} recalled.")
    p.text(answer.context)


def previous(p: TextPage, answer: PreviousContext) -> None:
    if not answer.context:
        p.empty("digest, open task or alert")
        return
    p.say(f"{counted(answer.open_tasks, 'open task')}, {counted(len(answer.alerts), 'alert')}.")
    p.text(answer.context)


def project_context(p: TextPage, answer: ProjectContext) -> None:
    where = f"project {p.name(answer.project)}" if answer.project else "all projects"
    where += f", focus {p.name(answer.focus)}" if answer.focus else ""
    if not answer.items:
        p.empty(f"memories of {where}")
        return
    conflicted = f", {p.paint(answer.status, 'yellow')}" if answer.status != "succeeded" else ""
    p.say(f"{counted(len(answer.items), 'memory', 'memories')} to know of {where}{conflicted}.")
    if answer.hygiene_due:
        p.say("Hygiene is due.")
    level = ""
    for item in answer.items:
        p.block(f"{p.bold(item.level)}:" if item.level != level else "", head(p, item.node))
        level = item.level
        says(p, item.node)
    for one, other in answer.conflicts:
        p.block(p.paint(f"{p.name(one)} conflicts with {p.name(other)}", "yellow"))


def projects(p: TextPage, answer: ProjectsShown) -> None:
    if not answer.projects:
        p.empty("projects")
        return
    p.say(f"{counted(len(answer.projects), 'project')}.")
    p.block()
    for project in answer.projects:
        about = p.words(project.description, REASON_CHARACTERS) if project.description else ""
        p.lines(facts(p.bold(p.name(project.name)), "this directory's" if project.here else "", about))
        for focus in project.focuses:
            said = p.words(focus.description, REASON_CHARACTERS) if focus.description else ""
            p.lines(f"  {facts(f'focus {p.name(focus.name)}', said)}")


# ---- compactions


def session_compacted(p: TextPage, answer: SessionCompacted) -> None:
    if answer.status == "duplicate_skip":
        p.say(f"Already saved as {flat(answer.citation)}.")
    else:
        where = f" as {flat(answer.citation)}" if answer.citation else ""
        kept = f"{counted(answer.statements, 'statement')}, {answer.cited} with a source that was checked"
        p.say(f"Briefing of {p.name(answer.session)} {one_line(answer.status)}{where}: {kept}.")
    if not p.for_model:  # who wrote it
        if answer.text:
            p.block()
            p.quote(answer.text)
        p.block(_due(p, answer.share, is_due=answer.due))


def session_status(p: TextPage, answer: SessionStatus) -> None:
    if answer.share is not None:
        p.say(_due(p, answer.share, is_due=answer.due))
    else:
        p.say("It is unknown how much of the window is used.")
    if answer.prompt:
        p.block(answer.prompt)
    if answer.briefing:
        by = f"by {flat(answer.briefed_by)}" if answer.briefed_by else ""
        p.block(facts("the last briefing", by, minute(answer.briefed_at), p.dim(flat(answer.citation))))
        p.quote(answer.briefing)
    else:
        p.block(p.dim("it has no briefing yet"))


def _due(p: TextPage, share: float | None, *, is_due: bool) -> str:
    if share is None:
        return ""
    due = p.paint("Compaction is due", "yellow") if is_due else "Compaction is not due"
    return f"{due}: {share:.0%} of the window is used."


def compacted(p: TextPage, answer: Compacted) -> None:
    total = f"{counted(answer.records, 'record')} of {counted(answer.memories, 'memory', 'memories')}"
    p.say(f"{one_line(answer.status)}: {total} for {answer.purpose} in {p.name(answer.project)}.")
    covered = answer.covered
    p.block(
        f"kept: {tally(answer.kept)}" if answer.kept else "",
        f"omitted: {tally(answer.left)}" if answer.left else "",
        f"represented by a memory that cites them: {answer.collapsed:,}" if answer.collapsed else "",
        p.dim(f"events {covered.first:,} to {covered.last:,} of {covered.head:,}"),
        *(f"{row.state}: {p.kind(row.kind)} {p.name(row.id)} · {flat(row.citation)}" for row in answer.reported),
        f"written to {p.words(answer.file, 4_096)}" if answer.file else "",
    )


def projected(p: TextPage, answer: Projected) -> None:
    if not answer.records:
        p.empty("compacted records")
        return
    p.say(f"{len(answer.records)} of {counted(answer.total, 'record')} for {answer.purpose}.")
    if answer.dropped:
        p.say(f"Not shown: {tally(answer.dropped)}.")
    for record in answer.records:
        name = f" {p.words(record.name)}" if record.name and not record.text.startswith(record.name) else ""
        more = f"and {record.more} more" if record.more else ""
        about = (f"{record.role}, {one_line(record.why)}", day(record.valid_from), *map(flat, record.sources), more)
        p.block(facts(f"{p.kind(record.kind)}{name}", *about), p.remark(record.stale) if record.stale else "")
        p.quote(record.text, short=True)


# ---- files of agents


def baked(p: TextPage, answer: Baked) -> None:
    p.say(f"Written for {counted(len(answer.agents), 'agent')}.")
    for agent in answer.agents:
        total = counted(agent.memories, "memory", "memories")
        p.block(
            f"{p.bold(one_line(agent.slug))}: {total}, {agent.tagged} tagged for it, {agent.by_topic} by its topics",
            f"  {p.words(agent.full, 4_096)}",
            p.dim(f"  {p.words(agent.summary, 4_096)}, summed up by {one_line(agent.summed_up_by)}"),
            f"  {agent.left_out} had no room: a larger max_tokens makes more" if agent.left_out else "",
            f"  omitted: {tally(agent.left)}" if agent.left else "",
            *(p.dim(f"  {one_line(note, REASON_CHARACTERS)}") for note in agent.notes),
        )
    for each in answer.failed:
        p.block(f"{one_line(each.slug)}: {p.paint('not written', 'red')}: {p.words(each.error, 2_000)}")


def knowledge(p: TextPage, answer: AgentKnowledge) -> None:
    p.say(f"The {answer.used} file for {one_line(answer.slug)}, written {minute(answer.baked_at)}.")
    p.block()
    p.quote(answer.text)
    live = "" if answer.live_memory else "without live memory"
    p.block(p.dim(facts(p.words(answer.file, 4_096), live)))
