"""The events of claims: taking, refreshing, ending, and what was refused."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import asdict, replace

from weft.append.append import Fence
from weft.core.clock import to_iso
from weft.core.kinds import CLAIM, CLAIM_REFUSAL
from weft.core.types import NodeVersion
from weft.log.draft import Draft
from weft.log.kinds.graph import Asserted, EdgeAssertion, EdgeName, Ended, NodeAssertion
from weft.runtime.call_context import CallContext
from weft.text.one_line import flat
from weft.writing.claims.claim import TARGETS, Claim, ClaimHolder, ClaimType, claim_id, claim_of, overlap, version_of
from weft.writing.claims.held import Held

# One text for all of them: what they say is in their properties, so that a claim waits for no embedder and no search by
# meaning counts it.
CLAIMED: Final = "Claim"
REFUSED: Final = "Refused claim"


class Taking(Struct, frozen=True, kw_only=True):
    """A claim to be taken by the caller."""

    target: NodeVersion
    type: ClaimType
    intent: str
    task: str | None = None
    lease_until: int | None = None


def holder_of(ctx: CallContext) -> ClaimHolder:
    """The caller as a holder of claims."""
    return ClaimHolder(ctx.writer.actor.agent, ctx.writer.session)


def take(ctx: CallContext, taking: Taking, *, since: int, replaces: Held | None = None) -> Draft:
    """The event by which the caller holds a claim since a time, perhaps in place of a stale one."""
    holder = holder_of(ctx)
    return _claimed(
        holder,
        taking.target,
        intent=taking.intent,
        props={
            "target": taking.target.id,
            "claim_type": taking.type,
            "holder": holder.agent,
            "session": holder.session,
            "since": to_iso(since),
            "target_version": version_of(taking.target),
            **({"task": taking.task} if taking.task else {}),
            **({"lease_until": to_iso(taking.lease_until)} if taking.lease_until else {}),
            **({"replaces": {"agent": replaces.claim.holder.agent, "why": replaces.stale}} if replaces else {}),
        },
        project=taking.target.guard.project or ctx.settings.project,
        reason=f"{holder.agent} claims {_label(taking.target)}{f' ({why_ended(replaces)})' if replaces else ''}",
    )


def why_ended(held: Held) -> str:
    """Whose claim ended, and why."""
    return f"{held.claim.holder.agent}'s claim ended: {held.stale}"


def refreshed(held: Held, *, awaits_change: bool) -> Draft | None:
    """The event by which a claim follows its holder's recorded edit of the target."""
    claim, target = held.claim, held.target
    as_before = target is not None and version_of(target) == claim.version and claim.awaits_change == awaits_change
    if target is None or (as_before and not claim.overtaken):
        return None
    props = {name: value for name, value in claim.node.props.items() if name != "overtaken"}
    props |= {"target_version": version_of(target), "awaits_change": awaits_change}
    return _claimed(
        claim.holder,
        target,
        intent=claim.intent,
        props=props,
        project=claim.node.guard.project,
        reason=f"{claim.holder.agent} recorded its edit of {_label(target)}",
    )


def overtaken(ctx: CallContext, held: Held) -> Draft | None:
    """The event by which a claim goes stale: the caller recorded an edit of its target. None if that is gone."""
    claim, target = held.claim, held.target
    if target is None:
        return None
    why = f"{ctx.writer.actor.agent} recorded an edit of it at {to_iso(ctx.clock.now_us())[:19]}Z"
    return _claimed(
        claim.holder,
        target,
        intent=claim.intent,
        props={**claim.node.props, "overtaken": why},
        project=claim.node.guard.project,
        reason=f"{claim.holder.agent}'s claim on {_label(target)} ended: {why}",
    )


def handed(ctx: CallContext, held: Held, *, why: str) -> Draft | None:
    """The event by which the caller takes over another's claim, with its task; None if the target is gone."""
    if held.target is None:
        return None
    claim, holder = held.claim, holder_of(ctx)
    own = ("lease_until", "awaits_change", "overtaken")  # of the one who held it
    props = {name: value for name, value in claim.node.props.items() if name not in own}
    props |= {
        "holder": holder.agent,
        "session": holder.session,
        "since": to_iso(ctx.clock.now_us()),
        "target_version": version_of(held.target),
        "taken_from": claim.holder.agent,
    }
    return _claimed(
        holder,
        held.target,
        intent=claim.intent,
        props=props,
        project=claim.node.guard.project,
        reason=f"{holder.agent} takes {_label(held.target)} over from {claim.holder.agent}: {why}",
    )


def ended(claims: Iterable[Claim], *, reason: str) -> Draft:
    """The event that ends claims."""
    some = tuple(claims)
    return Draft(
        kind="graph.ended",
        payload=Ended(
            nodes=tuple(each.id for each in some),
            edges=tuple(EdgeName(src=each.id, rel=TARGETS, dst=each.target) for each in some),
            reason=reason,
        ),
    )


def refusal_id(claim: Claim, holder: ClaimHolder) -> str:
    """One per claim and refused agent: the claim's own id changes hands, so since when it is held is named too."""
    return f"refused:{claim.id}:{claim.since}:{holder.agent}"


def refused(ctx: CallContext, claim: Claim, *, intent: str) -> Draft:
    """The event that records an attempt at what another holds."""
    holder = holder_of(ctx)
    node = NodeAssertion(
        id=refusal_id(claim, holder),
        kind=CLAIM_REFUSAL,
        name=REFUSED,
        props={
            "claim": claim.id,
            "target": claim.target,
            "agent": holder.agent,
            "holder": claim.holder.agent,
            "intent": intent,
        },
        **asdict(claim.node.guard),
    )
    return Draft(
        kind="graph.asserted",
        payload=Asserted(nodes=(node,), reason=f"{holder.agent} was refused what {claim.holder.agent} holds"),
    )


def claims_fence(targets: Iterable[str], pos: int, *, slots: Iterable[str] = (), task: str | None = None) -> Fence:
    """The condition that nobody claims or releases these targets, what overlaps them, or anything for this task; nor
    changes these slots.
    """
    wanted, fixed = tuple(targets), frozenset(slots)

    def concerns(node: NodeVersion) -> bool:
        claim = claim_of(node)
        if claim is None:
            return node.slot in fixed
        return (task is not None and claim.task == task) or any(overlap(claim.target, each) for each in wanted)

    return Fence(pos=pos, kinds=(CLAIM,), slots=tuple(sorted(fixed)), concerns=concerns)


def _claimed(
    holder: ClaimHolder, target: NodeVersion, *, intent: str, props: dict[str, Any], project: str | None, reason: str
) -> Draft:
    guard = asdict(replace(target.guard, project=project))
    node_id = claim_id(target.id)
    node = NodeAssertion(
        id=node_id,
        kind=CLAIM,
        name=CLAIMED,
        props={**props, "intent": intent, "label": _label(target)},
        **guard,
    )
    edge = EdgeAssertion(src=node_id, rel=TARGETS, dst=target.id, **guard)
    return Draft(kind="graph.asserted", payload=Asserted(nodes=(node,), edges=(edge,), reason=reason))


def _label(target: NodeVersion) -> str:
    return flat(target.name or target.text or target.id)[:120]
