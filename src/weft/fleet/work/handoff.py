"""`handoff`: a task as another agent needs it to carry on, and the passing on of what is held for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Final

from msgspec import Meta, Struct
from msgspec.structs import asdict

from weft.core.clock import to_iso
from weft.core.errors import Forbidden, Invalid
from weft.core.types import NodeVersion
from weft.fleet.episodes.writing import Telling, plan_episode
from weft.fleet.fences import every
from weft.fleet.tasks import TaskName, task_version
from weft.fleet.work.handoff_pack import HandoffPack, pack_of
from weft.log.draft import Draft
from weft.runtime.call_context import CallContext
from weft.runtime.fields import Label
from weft.runtime.operation import Operation
from weft.writing.build.commit import WriteDecision, decide_and_commit
from weft.writing.build.versions import node_fence
from weft.writing.checks.provenance import DONE, status_of, task_closed, task_named
from weft.writing.claims.claim import Claim, type_of
from weft.writing.claims.held import Held, held_around, held_for
from weft.writing.claims.writing import Taking, claims_fence, ended, handed, holder_of, take

MINUTE_US: Final = 60_000_000
LOOKED: Final = 100  # latest events of a session, in which the holder's last one is looked for


class Handoff(Struct, frozen=True, kw_only=True):
    """Input of `handoff`."""

    task: TaskName
    to: Annotated[Label | None, Meta(description="pass it to this agent, which may then take it over at once")] = None
    take_over: Annotated[bool, Meta(description="take over the task and what is held for it")] = False
    note: Annotated[str, Meta(max_length=5_000, description="what the next one should know, or why you take over")] = ""


class HandedOff(HandoffPack, frozen=True, kw_only=True, omit_defaults=True):
    """The task as the next agent needs it, and what changed hands; `recorded` cites that."""

    taken: tuple[str, ...] = ()
    taken_from: tuple[str, ...] = ()
    handed_to: str = ""
    recorded: str = ""


class _Passing(Struct, frozen=True, kw_only=True):
    """What changes hands."""

    taken: tuple[str, ...] = ()
    taken_from: tuple[str, ...] = ()
    handed_to: str = ""
    notes: tuple[str, ...] = ()


def handoff(ctx: CallContext, given: Handoff) -> HandedOff:
    """Gives all that another agent needs to carry on a task: what was asked, done and decided, what is open, where to
    look.

    By itself it only reads. With --to the holder passes the task on; with --take-over the caller takes it and every
    claim for it, at once: from an agent that passed it on, whose claims are stale, or that has been silent for longer
    than the setting silent_minutes.
    """
    if given.to and given.take_over:
        raise Invalid("a task is either passed on or taken over", hint="give to or take_over")
    task = task_named(ctx, given.task)
    if not (given.to or given.take_over):
        return HandedOff(**asdict(pack_of(ctx, task)))
    if status_of(task) in DONE:
        raise task_closed(task, cannot="be handed on")
    act = _take_over if given.take_over else _pass_on
    passing, done = decide_and_commit(ctx, lambda pos: act(ctx, given, task.id, pos))
    pack = pack_of(ctx, task_named(ctx, task.id))
    notes = (*passing.notes, *pack.notes, *(() if done is None else done.notes))
    recorded = "" if done is None else done.citation
    return HandedOff(**{**asdict(pack), **asdict(passing), "notes": notes}, recorded=recorded)


def _pass_on(ctx: CallContext, given: Handoff, task_id: str, pos: int) -> WriteDecision[_Passing]:
    task, held = task_named(ctx, task_id), held_for(ctx, task_id)
    me = ctx.writer.actor.agent
    others = {each.claim.holder.agent for each in held if not each.stale} - {me}
    if others and ctx.writer.actor.role != "operator":
        raise Forbidden(
            f"{', '.join(sorted(others))} works on this task, not you", hint="only the holder passes a task on"
        )
    said = given.note.strip() or f"{me} hands the task to {given.to}"
    props = {**task.props, "handed_to": given.to, "note": said}
    episode = plan_episode(ctx, _told(task, f"Handed {task.name!r} to {given.to}. {given.note}".strip()))
    return WriteDecision(
        answer=_Passing(handed_to=given.to or ""),
        drafts=(task_version(ctx, task, props), *episode.drafts),
        fence=every(node_fence(task, pos), episode.fence(pos), claims_fence((task_id,), pos, task=task_id)),
    )


def _take_over(ctx: CallContext, given: Handoff, task_id: str, pos: int) -> WriteDecision[_Passing]:
    task, held = task_named(ctx, task_id), held_for(ctx, task_id)
    me = ctx.writer.actor.agent
    foreign = [each for each in held if each.claim.holder != holder_of(ctx)]
    for each in foreign:
        _check_may_take(ctx, task, each)
    kept_out = {each.claim.id: other for each in foreign if (other := _in_the_way(ctx, each, held)) is not None}
    drafts = _moved(ctx, foreign, held, kept_out, why=given.note.strip() or "the task is taken over")
    drafts += _claim_of_task(ctx, task, held)
    before = sorted({each.claim.holder.agent for each in foreign} - {me})
    props = {name: value for name, value in task.props.items() if name != "handed_to"}
    props |= {"assignee": me, "status": "running" if status_of(task) == "open" else status_of(task)}
    source = f" from {', '.join(before)}" if before else ""
    told = f"Took {task.name!r} over{source}. {given.note}".strip()
    episode = plan_episode(ctx, _told(task, told))
    targets = tuple(dict.fromkeys((task_id, *(each.claim.target for each in held))))
    left = {each.claim.target: kept_out[each.claim.id].claim for each in foreign if each.claim.id in kept_out}
    answer = _Passing(
        taken=tuple(each for each in targets if each not in left),
        taken_from=tuple(before),
        notes=tuple(f"{each} was not taken: {by.holder.agent} holds {by.target}" for each, by in left.items()),
    )
    return WriteDecision(
        answer=answer,
        drafts=(task_version(ctx, task, props), *drafts, *episode.drafts),
        fence=every(node_fence(task, pos), episode.fence(pos), claims_fence(targets, pos, task=task_id)),
    )


def _in_the_way(ctx: CallContext, held: Held, of_task: Sequence[Held]) -> Held | None:
    """A current claim that overlaps this one and is for something else: its holder keeps it."""
    return next((each for each in _beside(ctx, held, of_task) if not each.stale), None)


def _beside(ctx: CallContext, held: Held, of_task: Sequence[Held]) -> list[Held]:
    """The claims of others that overlap this one and are not for the task."""
    ids = {each.claim.id for each in of_task}
    around = held_around(ctx, held.claim.target)
    return [each for each in around if each.claim.id not in ids and each.claim.holder != holder_of(ctx)]


def _moved(
    ctx: CallContext, foreign: Sequence[Held], held: Sequence[Held], kept_out: Mapping[str, Held], *, why: str
) -> list[Draft]:
    """The events by which claims pass to the caller. Those that cannot end; so do stale ones that they overlap."""
    me = ctx.writer.actor.agent
    drafts: list[Draft] = []
    over: dict[str, Claim] = {}
    for each in foreign:
        moved = None if each.claim.id in kept_out else handed(ctx, each, why=why)
        if moved is None:
            drafts.append(ended([each.claim], reason=f"{me} takes the task over, but cannot hold {each.claim.target}"))
            continue
        drafts.append(moved)
        over |= {stale.claim.id: stale.claim for stale in _beside(ctx, each, held)}
    if over:
        drafts.append(ended(over.values(), reason=f"{me} takes over what they overlap; they were stale"))
    return drafts


def _claim_of_task(ctx: CallContext, task: NodeVersion, held: Sequence[Held]) -> list[Draft]:
    """The claim of the task itself, unless it is held already."""
    if any(each.claim.target == task.id for each in held):
        return []
    in_the_way = [each for each in held_around(ctx, task.id) if not each.stale]
    if in_the_way:
        return []
    taking = Taking(target=task, type=type_of(task), intent=f"carry on: {task.name}", task=task.id)
    return [take(ctx, taking, since=ctx.clock.now_us())]


def _check_may_take(ctx: CallContext, task: NodeVersion, held: Held) -> None:
    """Raises Forbidden while the holder is at work: it passed nothing on, its claim counts and it was heard of."""
    holder = held.claim.holder
    me = ctx.writer.actor.agent
    if held.stale or holder.agent == me or task.props.get("handed_to") == me or ctx.writer.actor.role == "operator":
        return
    seen = last_seen(ctx, held)
    quiet_us = max(0, ctx.clock.now_us() - seen)  # the clock may have been put back
    allowed = ctx.settings.silent_minutes
    if quiet_us >= allowed * MINUTE_US:
        return
    raise Forbidden(
        f"{holder.agent} is at work on this task: it was heard of at {to_iso(seen)[:19]}Z",
        hint=f"ask it to hand the task on (`weft handoff {task.id} --to {me}`), or wait until it has been silent for"
        f" {allowed} minutes (setting silent_minutes)",
    )


def last_seen(ctx: CallContext, held: Held) -> int:
    """When the holder last wrote anything in its session, which others may share, as far as the caller may see it."""
    holder = held.claim.holder
    events = ctx.store.events(ctx.viewer, session=holder.session, after_seq=0, limit=LOOKED, newest_first=True)
    return max([held.claim.since, *(event.known_at for event in events if event.actor.agent == holder.agent)])


def _told(task: NodeVersion, content: str) -> Telling:
    return Telling(
        type="OBSERVATION", content=content, guard=task.guard, name=content, involves=(task.id,), task=task.id
    )


OPERATIONS = (
    Operation(
        name="handoff",
        summary="all that another agent needs to carry on a task; passes it on or takes it over",
        input=Handoff,
        output=HandedOff,
        effect="write",
        toolset="fleet",
        run=handoff,
        arguments=("task",),
        profile="balanced",
        priorities={
            "task": "required",
            "title": "required",
            "asked": "required",
            "open": "required",
            "where": "required",
            "decided": "required",
            "done": "required",
            "claims": "high",
            "agents": "low",
            "learnt": "medium",
        },
    ),
)
