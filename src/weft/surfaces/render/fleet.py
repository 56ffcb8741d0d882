"""Claims: who works on what, what was refused, and what an agent did last."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft.surfaces.render.page import TextPage, counted, facts, minute
from weft.text.one_line import flat

if TYPE_CHECKING:
    from weft.fleet.claiming import Claimed, HeldBy, Released
    from weft.fleet.episodes.adding import EpisodeAdded
    from weft.fleet.episodes.recall import EpisodesRecalled
    from weft.fleet.overview import AgentStatus, ClaimShown, EpisodeLine, Overview
    from weft.fleet.reflecting.reflect import Reflected


def claimed(p: TextPage, answer: Claimed) -> None:
    """What was claimed, or who holds it."""
    if answer.status == "conflict":
        p.say(f"{p.paint('CONFLICT', 'red')}: {_called(p, answer)} is held by {_names(answer.conflicts)}.")
        for each in answer.conflicts:
            _held_by(p, each)
        return
    done = {"ok": "Claimed", "refreshed": "You hold it; the claim is refreshed", "duplicate_skip": "Claimed before"}
    until = f", until {minute(answer.lease_until)}" if answer.lease_until else ""
    p.say(f"{done[answer.status]}: {_called(p, answer)}{until}.")
    about = (f"version {answer.target_version}" if answer.target_version else "", p.dim(flat(answer.citation)))
    p.block(facts(p.kind(answer.type) if answer.type else "", *about))
    p.section(
        "ended with it",
        (f"{p.name(each.agent)}'s claim on {p.name(each.target)}: {each.reason}" for each in answer.ended),
    )


def _called(p: TextPage, answer: Claimed) -> str:
    return p.words(answer.name) if answer.name else p.name(answer.target or answer.id)


def _names(conflicts: tuple[HeldBy, ...]) -> str:
    return " and ".join(dict.fromkeys(flat(each.agent) for each in conflicts))


def _held_by(p: TextPage, each: HeldBy) -> None:
    p.block(facts(f"{p.bold(flat(each.agent))} holds {p.name(each.target)}", f"since {minute(each.since)}"))
    p.lines(f"  {p.words(each.intent, 500)}", f"  {p.dim(facts(flat(each.session), flat(each.citation)))}")


def released(p: TextPage, answer: Released) -> None:
    """What was released, and the episode that tells of it."""
    held = f", held since {minute(answer.held_since)}" if answer.held_since else ""
    p.say(f"Released: {p.name(answer.target or answer.id)}{held}.")
    p.block(p.dim(facts(f"episode {p.name(answer.episode)}" if answer.episode else "", flat(answer.citation))))


def overview(p: TextPage, answer: Overview) -> None:
    """The board: claims, stale claims, refused attempts, agents."""
    if not (answer.active or answer.stale or answer.conflicts or answer.agents):
        p.say("There are no claims here.")
        return
    count = len([each for each in answer.agents if each.claims])
    told = [
        f"{counted(len(answer.active), 'claim')} of {counted(count, 'agent')}" if answer.active else "No claim holds"
    ]
    told += [counted(len(answer.stale), "stale claim")] if answer.stale else []
    told += [counted(len(answer.conflicts), "refused attempt")] if answer.conflicts else []
    p.say(f"{', '.join(told)}.")
    for each in answer.active:
        claim(p, each)
    if answer.stale:
        p.block(f"{p.paint('stale', 'yellow')}: these block nobody")
        for each in answer.stale:
            claim(p, each, indent="  ")
    p.section(
        "refused",
        (
            facts(
                f"{p.bold(flat(each.agent))} wanted {p.name(each.target)}, held by {flat(each.holder)}",
                minute(each.at),
                p.words(each.intent),
            )
            for each in answer.conflicts
        ),
    )
    p.section(
        "agents",
        (
            facts(
                p.bold(flat(each.agent)),
                counted(each.claims, "claim"),
                f"{each.stale} stale" if each.stale else "",
                f"last seen {minute(each.last_seen)}" if each.last_seen else "",
                p.words(each.last_did) if each.last_did else "",
            )
            for each in answer.agents
        ),
    )


def claim(p: TextPage, each: ClaimShown, *, indent: str = "") -> None:
    """One claim: who, on what, since when, why."""
    if not indent:
        p.block()
    what = p.words(each.name) if each.name else p.name(each.target)
    target = f"id {p.name(each.target)}" if each.name else ""
    lease = f"until {minute(each.lease_until)}" if each.lease_until else ""
    who = f"{p.bold(flat(each.agent))} on {what}"
    p.lines(f"{indent}{facts(who, f'since {minute(each.since)}', lease)}")
    p.lines(f"{indent}  {p.words(each.intent, 500)}")
    task = f"task {p.words(each.task_title)}" if each.task_title else ""
    p.lines(
        f"{indent}  {p.remark(each.stale)}" if each.stale else "",
        f"{indent}  {p.dim(facts(task, target, flat(each.citation)))}",
    )


def status(p: TextPage, answer: AgentStatus) -> None:
    """What an agent holds and did."""
    on = f", on the task {p.words(answer.current_task_title)}" if answer.current_task_title else ""
    seen = f", last seen {minute(answer.last_seen)}" if answer.last_seen else ""
    p.say(f"{flat(answer.agent)} holds {counted(len(answer.claims), 'claim')}{on}{seen}.")
    for each in answer.claims:
        claim(p, each)
    p.section("did last", (episode_line(p, each) for each in answer.episodes))


def episode_line(p: TextPage, each: EpisodeLine) -> str:
    """An episode on one line."""
    return facts(
        p.paint(each.type, "cyan"), each.outcome, p.words(each.text, 160), minute(each.at), p.dim(flat(each.citation))
    )


def episode_added(p: TextPage, answer: EpisodeAdded) -> None:
    """What was recorded, and what it did to claims."""
    if answer.status == "manual_review":
        p.say("Nothing was written: there are similar decisions.")
        p.section("similar", (facts(p.name(each.id), p.words(each.title)) for each in answer.candidates))
        return
    if answer.status == "duplicate_skip":
        p.say(f"Nothing was written: {p.name(answer.id)} says it already.")
    else:
        replaced = f", in place of {', '.join(map(p.name, answer.supersedes))}" if answer.supersedes else ""
        joined = f", joined to {counted(len(answer.linked), 'thing')}" if answer.linked else ""
        p.say(f"{answer.type} recorded{replaced}{joined}.")
    for each in answer.claims:
        p.block(p.remark(each))
    p.block(p.dim(facts(f"id {p.name(answer.id)}", flat(answer.citation))))


def episodes(p: TextPage, answer: EpisodesRecalled) -> None:
    """Episodes, best first, each with the parts of its score."""
    if not answer.episodes:
        p.empty("episodes")
        return
    p.say(f"{counted(len(answer.episodes), 'episode')}; score = {answer.formula}.")
    for each in answer.episodes:
        who = facts(each.outcome, f"by {p.name(each.agent)}" if each.agent else "", minute(each.at))
        sure = f"confidence {each.confidence:.2f}" if each.confidence is not None else ""
        title = p.bold(p.words(each.title)) if each.title and not each.text.startswith(each.title) else ""
        p.block(
            facts(
                f"{p.paint(each.type, 'cyan')} {title}".rstrip(),
                who,
                sure,
                p.dim(flat(each.citation)),
                p.flag(each.flags),
            )
        )
        p.quote(each.text, short=True)
        if (why := each.why) is not None:
            fresh = f"recency {why.recency:.2f} ({why.days:.0f} days)"
            parts = f"meaning {why.meaning:.2f}, {fresh}, nearness {why.nearness:.2f}"
            p.lines(p.dim(f"  {each.score:.3f}: {parts}"))


def reflected(p: TextPage, answer: Reflected) -> None:
    """What the episodes show, and what was learnt."""
    p.say(p.words(answer.insight, 2_000) if p.for_model else answer.insight)
    for each in answer.patterns:
        p.block(facts(p.paint(each.kind, "cyan"), p.bold(p.words(each.title)), f"confidence {each.confidence:.2f}"))
        p.quote(each.text)
    p.section(
        "learnings",
        (
            facts(
                p.paint(each.change, "yellow" if each.change in ("weakened", "retired") else "green"),
                p.words(each.title),
                f"confidence {each.confidence:.2f}" + (f", was {each.was:.2f}" if each.was is not None else ""),
            )
            for each in answer.learnings
        ),
    )
    if answer.reflection:
        p.block(p.dim(facts(f"reflection {p.name(answer.reflection)}", flat(answer.citation))))
