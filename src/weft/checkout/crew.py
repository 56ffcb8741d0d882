"""Work of other agents for a checkout: their claims, contested targets, and learnings about the code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from weft.code.ask.at_work import at_work_on, claim_line
from weft.context.wording import quoted
from weft.core.errors import StoreError
from weft.core.kinds import VIEWS
from weft.core.types import NodeVersion
from weft.fleet.overview import RefusedShown, refusals_of
from weft.retrieval.pipeline import Answer
from weft.runtime.call_context import CallContext
from weft.text.one_line import flat
from weft.writing.claims.claim import overlap
from weft.writing.claims.held import Held, held_in, name_beside
from weft.writing.claims.writing import holder_of

CLAIMS: Final = 10
WARNED: Final = 3  # claims of what the prompt is about, told before its lines
INTENT_CHARACTERS: Final = 120


class CrewAtHand(Struct, frozen=True, kw_only=True):
    """Claims of others, contested and stale ones, learnings; and warnings for the prompt."""

    claims: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    learnings: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def crew_of(ctx: CallContext, answer: Answer, nodes: Sequence[NodeVersion]) -> CrewAtHand:
    """Who else is at work in the projects asked about, those on the code and tasks of these nodes first."""
    if answer.degraded:
        return CrewAtHand()
    when = answer.ask.when
    try:
        held = held_in(ctx, answer.ask.projects, when)
        code = [node for node in nodes if node.kind in VIEWS["code"]]
        known = at_work_on(ctx, when, code, with_learnings=True) if code else None
        cited = ctx.store.citations(ctx.viewer, [each.claim.node.event for each in held])
        refused = refusals_of(ctx, answer.ask.projects, held) if held else []
    except StoreError as problem:
        return CrewAtHand(notes=(f"claims could not be read: {problem.message}",))
    me = holder_of(ctx)
    others = [each for each in held if not each.stale and each.claim.holder != me]
    near = [each for each in others if any(overlap(each.claim.target, node.id) for node in nodes)]
    shown = (*near, *(each for each in others if each not in near))[:CLAIMS]
    return CrewAtHand(
        claims=tuple(claim_line(each, cited.get(each.claim.node.event, "")) for each in shown),
        conflicts=(*_own_stale(held, me.agent), *_contested(refused, me.agent))[:CLAIMS],
        learnings=tuple(f"{each.title}: {flat(each.text)} {each.citation}".strip() for each in known.learnings)
        if known
        else (),
        warnings=tuple(_warning(each) for each in near[:WARNED]),
    )


def _warning(held: Held) -> str:
    name = "" if held.target is None else name_beside(held.target)
    what = f"{held.claim.type} {quoted(name)}" if name else held.claim.target
    return f"{held.claim.holder.agent} works on {what}: do not change it now"


def _own_stale(held: Sequence[Held], me: str) -> tuple[str, ...]:
    return tuple(
        f"your claim on {each.claim.target} is stale: {each.stale}"
        for each in held
        if each.stale and each.claim.holder.agent == me
    )


def _contested(refused: Sequence[RefusedShown], me: str) -> tuple[str, ...]:
    return tuple(
        f"{each.agent} wants {each.target}, which {each.holder} holds: {flat(each.intent)[:INTENT_CHARACTERS]}"
        f" {each.citation}".strip()
        for each in refused
        if me in (each.agent, each.holder)
    )
