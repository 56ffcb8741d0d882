"""`agent_claim`, `agent_release`: one agent says that it works on something, and that it is done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final, Literal

from msgspec import Meta, Struct
from msgspec.structs import replace

from weft.core.clock import to_iso
from weft.core.errors import Forbidden, Invalid, NotFound
from weft.core.types import NOW, NodeVersion
from weft.fleet.episodes.writing import released_episode
from weft.fleet.fences import every
from weft.fleet.targets import find_target
from weft.runtime.call_context import CallContext
from weft.runtime.fields import NodeName, RequestId
from weft.runtime.operation import Operation
from weft.writing.build.commit import WriteDecision, decide_and_commit
from weft.writing.build.planned_write import earlier_result
from weft.writing.checks.provenance import DONE, status_of, task_closed, task_named
from weft.writing.claims.claim import Claim, ClaimType, claim_id, claim_of, type_of, version_of
from weft.writing.claims.held import Held, held_around, judged, name_beside
from weft.writing.claims.writing import (
    Taking,
    claims_fence,
    ended,
    holder_of,
    refusal_id,
    refused,
    take,
    why_ended,
)

MINUTE_US: Final = 60_000_000
MAX_LEASE_MINUTES: Final = 7 * 24 * 60

TargetName = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=1024,
        description="what to work on: a file's path, path::symbol, the id or title of a task, or any id",
    ),
]
Intent = Annotated[str, Meta(min_length=1, max_length=2_000, description="what you are going to do with it")]
Outcome = Annotated[
    Literal["success", "failure", "partial"] | None, Meta(description="how it ended: success, failure or partial")
]


class HeldBy(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A claim in the way: who holds what, why, and since when."""

    agent: str
    target: str
    intent: str
    since: str
    session: str = ""
    task: str | None = None
    citation: str = ""


class ClaimEnded(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A claim that came to its end, and why."""

    target: str
    agent: str
    reason: str


class AgentClaim(Struct, frozen=True, kw_only=True):
    """Input of `agent_claim`."""

    target: TargetName
    intent: Intent
    type: Annotated[ClaimType | None, Meta(description="what the target is; by its kind if unset")] = None
    task: Annotated[NodeName | None, Meta(description="the task it is for, by id or title: it ends with the task")] = (
        None
    )
    lease_minutes: (
        Annotated[
            int, Meta(ge=0, le=MAX_LEASE_MINUTES, description="ends by itself then; 0: never; else as the setting says")
        ]
        | None
    ) = None
    resume: Annotated[
        bool, Meta(description="take over what another session of your own name holds, because that one is over")
    ] = False
    request_id: RequestId = None


class Claimed(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The outcome of a claim. On a `conflict` nothing was claimed: `conflicts` tell who holds it.

    `target_version` names the content that was claimed. `ended` are stale claims that this one replaced.
    """

    status: Literal["ok", "refreshed", "conflict", "duplicate_skip"]
    id: str
    target: str = ""
    name: str = ""
    type: str = ""
    target_version: str = ""
    since: str = ""
    lease_until: str | None = None
    citation: str = ""
    conflicts: tuple[HeldBy, ...] = ()
    ended: tuple[ClaimEnded, ...] = ()
    notes: tuple[str, ...] = ()


def agent_claim(ctx: CallContext, given: AgentClaim) -> Claimed:
    """Claims a file, a symbol, a task or another thing before you change it, so that no other agent begins the same.

    Two agents never hold one target, and a file conflicts with what is inside it: the answer is then `conflict`, with
    who holds it, why and since when. The claim ends when you release it (`weft agent-release`), when its task is
    completed, or when another changes the target; your own recorded edits refresh it. Claim again to change the intent.
    """
    if not given.intent.strip():
        raise Invalid("the intent is blank", hint="say in a few words what you are going to do")
    if before := earlier_result(ctx, given.request_id, _claim_written):
        return Claimed(status="duplicate_skip", id=before.id, citation=before.citation, notes=before.notes)
    answer, done = decide_and_commit(ctx, lambda pos: _decide(ctx, given, pos), request_id=given.request_id)
    if answer.status == "conflict":
        _record_refusals(ctx, given, answer)
    return answer if done is None else replace(answer, citation=done.citation, notes=(*answer.notes, *done.notes))


def _decide(ctx: CallContext, given: AgentClaim, pos: int) -> WriteDecision[Claimed]:
    target = find_target(ctx, given.target)
    if target.kind == "Task" and status_of(target) in DONE:
        raise task_closed(target, cannot="be claimed")
    held = held_around(ctx, target.id)
    own = next((each for each in held if each.claim.target == target.id and _is_mine(ctx, each.claim, given)), None)
    kept = None if own is None or own.stale else own.claim
    taking = Taking(
        target=target,
        type=given.type or type_of(target),
        intent=given.intent.strip(),
        task=_task_of(ctx, given, target, kept),
        lease_until=_lease(ctx, given.lease_minutes, kept),
    )
    in_the_way = [each for each in held if not each.stale and not _is_mine(ctx, each.claim, given)]
    if in_the_way:
        return WriteDecision(answer=_turned_away(ctx, taking, in_the_way))
    over = [each for each in held if each.stale and each is not own]
    since = ctx.clock.now_us() if kept is None else kept.since
    slots = {target.slot, taking.task or target.slot}  # a task that ends meanwhile takes no claims
    inside = [each for each in over if each.claim.target != target.id]  # the claim on the target itself is replaced
    replaced = next((each for each in over if each not in inside), None)
    drafts = (
        take(ctx, taking, since=since, replaces=replaced),
        *(ended([each.claim], reason=why_ended(each)) for each in inside),
    )
    answer = Claimed(
        status="ok" if kept is None else "refreshed",
        id=claim_id(target.id),
        target=target.id,
        name=name_beside(target),
        type=taking.type,
        target_version=version_of(target),
        since=to_iso(since),
        lease_until=None if taking.lease_until is None else to_iso(taking.lease_until),
        ended=tuple(
            ClaimEnded(target=each.claim.target, agent=each.claim.holder.agent, reason=each.stale) for each in over
        ),
        notes=(f"your earlier claim had ended: {own.stale}",) if own is not None and own.stale else (),
    )
    return WriteDecision(answer=answer, drafts=drafts, fence=claims_fence((target.id,), pos, slots=slots))


def _task_of(ctx: CallContext, given: AgentClaim, target: NodeVersion, kept: Claim | None) -> str | None:
    """The task that a claim is for; a repeated claim stays with its task."""
    if given.task is None:
        before = None if kept is None else kept.task
        return before or (target.id if target.kind == "Task" else ctx.task)
    task = task_named(ctx, given.task)
    if status_of(task) in DONE:
        raise task_closed(task, cannot="be worked on")
    return task.id


def _lease(ctx: CallContext, minutes: int | None, kept: Claim | None) -> int | None:
    """When the claim ends by itself; a repeated claim keeps its lease unless another is given or set."""
    wanted = ctx.settings.claim_lease_minutes if minutes is None else minutes
    if wanted:
        return ctx.clock.now_us() + wanted * MINUTE_US
    return kept.lease_until if kept is not None and minutes is None else None


def _is_mine(ctx: CallContext, claim: Claim, given: AgentClaim) -> bool:
    own = holder_of(ctx)
    return claim.holder == own or (given.resume and claim.holder.agent == own.agent)


def _turned_away(ctx: CallContext, taking: Taking, held: Sequence[Held]) -> Claimed:
    same_name = any(each.claim.holder.agent == ctx.writer.actor.agent for each in held)
    note = (
        "it is held under your own name in another session: if that session is over, repeat with resume; if it is"
        " another running agent, give each its own name (WEFT_AGENT)"
        if same_name
        else "choose other work, or wait: `weft fleet overview` tells who works on what"
    )
    return Claimed(
        status="conflict",
        id="",
        target=taking.target.id,
        name=name_beside(taking.target),
        type=taking.type,
        target_version=version_of(taking.target),
        conflicts=held_by(ctx, held),
        notes=(note,),
    )


def _record_refusals(ctx: CallContext, given: AgentClaim, answer: Claimed) -> None:
    """Records what was refused: once for each claim and agent, and only while that claim is held."""
    own, targets = holder_of(ctx), {each.target for each in answer.conflicts}

    def decide(pos: int) -> WriteDecision[None]:
        held = [each.claim for each in held_around(ctx, answer.target) if each.claim.target in targets]
        ids = {refusal_id(claim, own): claim for claim in held if not _is_mine(ctx, claim, given)}
        told = {node.id for node in ctx.store.nodes(ctx.viewer, NOW, list(ids))}
        drafts = [refused(ctx, claim, intent=given.intent.strip()) for known, claim in ids.items() if known not in told]
        return WriteDecision(answer=None, drafts=drafts, fence=claims_fence(targets, pos))

    decide_and_commit(ctx, decide)


def held_by(ctx: CallContext, held: Sequence[Held]) -> tuple[HeldBy, ...]:
    """Claims as those whom they are in the way of are told of them."""
    cited = ctx.store.citations(ctx.viewer, [each.claim.node.event for each in held])
    return tuple(
        HeldBy(
            agent=each.claim.holder.agent,
            session=each.claim.holder.session,
            target=each.claim.target,
            intent=each.claim.intent,
            since=to_iso(each.claim.since),
            task=each.claim.task,
            citation=cited.get(each.claim.node.event, ""),
        )
        for each in held
    )


def _claim_written(payload: object) -> str | None:
    nodes = getattr(payload, "nodes", ())
    return next((node.id for node in nodes if getattr(node, "kind", "") == "Claim"), None)


# Releasing


class AgentRelease(Struct, frozen=True, kw_only=True):
    """Input of `agent_release`."""

    target: Annotated[str, Meta(min_length=1, max_length=1024, description="what you claimed, or the claim's id")]
    outcome: Outcome = None
    note: Annotated[str, Meta(max_length=10_000, description="what came of it, in words")] = ""
    request_id: RequestId = None


class Released(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The outcome of a release; `episode` is what tells of it."""

    status: Literal["released", "duplicate_skip"]
    id: str
    target: str = ""
    held_since: str = ""
    episode: str = ""
    citation: str = ""
    notes: tuple[str, ...] = ()


def agent_release(ctx: CallContext, given: AgentRelease) -> Released:
    """Ends your claim, so that others may work on it, and records how it went as an episode.

    Only the holder releases a claim; `weft handoff` passes work on, and the operator may release any.
    """
    if before := earlier_result(ctx, given.request_id, _release_written):
        return Released(status="duplicate_skip", id=before.id, citation=before.citation, notes=before.notes)
    answer, done = decide_and_commit(ctx, lambda pos: _decide_release(ctx, given, pos), request_id=given.request_id)
    return answer if done is None else replace(answer, citation=done.citation, notes=(*answer.notes, *done.notes))


def _decide_release(ctx: CallContext, given: AgentRelease, pos: int) -> WriteDecision[Released]:
    held = _held_claim(ctx, given.target)
    claim = held.claim
    if claim.holder.agent != ctx.writer.actor.agent and ctx.writer.actor.role != "operator":
        raise Forbidden(
            f"{claim.target[:120]!r} is held by {claim.holder.agent} since {to_iso(claim.since)[:19]}Z, not by you",
            hint="only the holder releases it; `weft handoff` takes over the task of an agent that is gone",
        )
    episode = released_episode(ctx, claim, outcome=given.outcome, note=given.note.strip())
    reason = f"released by {ctx.writer.actor.agent}{f': {given.outcome}' if given.outcome else ''}"
    answer = Released(
        status="released",
        id=claim.id,
        target=claim.target,
        held_since=to_iso(claim.since),
        episode=episode.id,
        notes=(f"it had ended already: {held.stale}",) if held.stale else (),
    )
    drafts = (ended([claim], reason=reason), *episode.drafts)
    fence = every(claims_fence((claim.target,), pos), episode.fence(pos))
    return WriteDecision(answer=answer, drafts=drafts, fence=fence)


def _held_claim(ctx: CallContext, written: str) -> Held:
    """The claim of a target, by either's name. Raises NotFound, with how the last one ended."""
    ids = [written, *([] if written.startswith("claim:") else [claim_id(written)])]
    nodes = [node for node in ctx.store.nodes(ctx.viewer, NOW, ids) if claim_of(node) is not None]
    name = written
    if not nodes and not written.startswith("claim:"):
        target = find_target(ctx, written)
        name = target.id
        nodes = list(ctx.store.nodes(ctx.viewer, NOW, [claim_id(target.id)]))
    found = judged(ctx, nodes)
    if not found:
        raise NotFound(f"nobody holds {name[:120]!r}", hint="`weft fleet agent` lists what you hold")
    return found[0]


def _release_written(payload: object) -> str | None:
    nodes = getattr(payload, "nodes", ())
    return next((each for each in nodes if isinstance(each, str) and each.startswith("claim:")), None)


OPERATIONS = (
    Operation(
        name="agent_claim",
        summary="claim a file, a symbol or a task before changing it, so that no two agents do the same",
        input=AgentClaim,
        output=Claimed,
        effect="write",
        toolset="fleet",
        run=agent_claim,
        arguments=("target", "intent"),
        rare=("type", "lease_minutes", "resume"),
        priorities={"id": "medium", "target": "required", "conflicts": "required", "conflicts.agent": "required"},
    ),
    Operation(
        name="agent_release",
        summary="end a claim, and record how the work went",
        input=AgentRelease,
        output=Released,
        effect="write",
        toolset="fleet",
        run=agent_release,
        arguments=("target", "outcome"),
    ),
)
