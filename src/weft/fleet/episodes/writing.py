"""The events of episodes: a node, what it involves, who recorded it, and what came before it in the session."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal

from msgspec import Struct, field
from msgspec.structs import asdict, replace

from weft.append.append import Fence
from weft.core.clock import to_iso
from weft.core.kinds import AGENT_RECORD
from weft.core.types import NOW, Guard, NodeVersion
from weft.fleet.episodes.contracts import EPISODE, EPISODE_KINDS, EpisodeType
from weft.log.draft import Draft
from weft.log.kinds import payload_of
from weft.log.kinds.graph import EdgeAssertion, NodeAssertion
from weft.log.kinds.memory import Remembered
from weft.runtime.call_context import CallContext
from weft.writing.checks.provenance import PRODUCED
from weft.writing.checks.rights import write_guard
from weft.writing.claims.claim import Claim

BY: Final = "BY"
NEXT: Final = "NEXT_EPISODE"
INVOLVES: Final = "INVOLVES"
DERIVED: Final = "DERIVED_FROM"
LOOKED_BACK: Final = (3, 40)  # events of the session in which the episode before is looked for: mostly it is near
TITLE_CHARACTERS: Final = 120

EpisodeOutcome = Literal["success", "failure", "partial"]


class Telling(Struct, frozen=True, kw_only=True):
    """An episode to be written. `involves` are ids of nodes that exist; `task` one that the write itself joins."""

    type: EpisodeType
    content: str
    guard: Guard
    name: str = ""
    summary: str = ""
    kind: str = EPISODE
    id: str | None = None
    props: dict[str, Any] = field(default_factory=dict)
    involves: tuple[str, ...] = ()
    entities: tuple[NodeAssertion, ...] = ()
    derived_from: tuple[str, ...] = ()
    outcome: EpisodeOutcome | None = None
    task: str | None = None
    supersedes: tuple[str, ...] = ()
    focus: str | None = None


class EpisodePlan(Struct, frozen=True, kw_only=True):
    """The events of an episode. Its place in the session's chain depends on the one before."""

    id: str
    drafts: tuple[Draft, ...]
    session: str
    before: str | None = None

    def fence(self, pos: int) -> Fence:
        """The condition that the session got no other episode meanwhile."""

        def concerns(node: NodeVersion) -> bool:
            return node.props.get("session") == self.session

        return Fence(pos=pos, kinds=EPISODE_KINDS, concerns=concerns)


def own_guard(ctx: CallContext, *, sensitive: bool = False) -> Guard:
    """The guard of what this caller records in this project."""
    return write_guard(ctx, scope=None, agents=(), sensitive=sensitive, project=ctx.settings.project)


def plan_episode(ctx: CallContext, telling: Telling, *, before: str | None = None) -> EpisodePlan:
    """The event of an episode, after `before` or the last one of the session."""
    node_id = telling.id or ctx.new_id()
    guard, agent = telling.guard, ctx.writer.actor.agent
    before = before or last_of_session(ctx)
    recorder, known = _recorder(ctx, agent, guard)
    edges = [EdgeAssertion(src=node_id, rel=INVOLVES, dst=each, **asdict(guard)) for each in telling.involves]
    edges += [EdgeAssertion(src=node_id, rel=DERIVED, dst=each, **asdict(guard)) for each in telling.derived_from]
    edges.append(EdgeAssertion(src=node_id, rel=BY, dst=recorder.id, **asdict(guard)))
    if before is not None:
        edges.append(EdgeAssertion(src=before, rel=NEXT, dst=node_id, **asdict(guard)))
    if telling.task is not None:
        edges.append(EdgeAssertion(src=telling.task, rel=PRODUCED, dst=node_id, **asdict(guard)))
    task = telling.task or ctx.task
    payload = Remembered(
        id=node_id,
        node_kind=telling.kind,
        name=telling.name[:TITLE_CHARACTERS] if telling.kind == EPISODE else telling.name,
        summary=telling.summary,
        text=telling.content,
        props={
            "type": telling.type,
            "agent": agent,
            "session": ctx.writer.session,
            **({"task": task} if task else {}),
            **({"outcome": telling.outcome} if telling.outcome else {}),
            **telling.props,
        },
        focus=telling.focus,
        entities=(*telling.entities, *(() if known else (recorder,))),
        edges=tuple(edges),
        supersedes=telling.supersedes,
        **asdict(guard),
    )
    return EpisodePlan(
        id=node_id,
        drafts=(Draft(kind="memory.remembered", payload=payload),),
        session=ctx.writer.session,
        before=before,
    )


def last_of_session(ctx: CallContext) -> str | None:
    """The last episode of the caller's session, if it is one of its latest events."""
    for most in LOOKED_BACK:
        events = ctx.store.events(ctx.viewer, session=ctx.writer.session, after_seq=0, limit=most, newest_first=True)
        for event in sorted(events, key=lambda each: -each.seq):
            if event.kind != "memory.remembered" or event.actor.agent != ctx.writer.actor.agent:
                continue
            payload = payload_of(event)
            if not isinstance(payload, Remembered) or payload.node_kind not in EPISODE_KINDS:
                continue
            if "type" in payload.props and ctx.store.nodes(ctx.viewer, NOW, [payload.id]):
                return str(payload.id)
        if len(events) < most:
            break
    return None


def agent_record_id(agent: str, guard: Guard) -> str:
    """One per agent, rights and project: who may not see one finds none."""
    return f"agent@{','.join((guard.scope, *guard.agents))};{guard.project or ''}/{agent}"


def _recorder(ctx: CallContext, agent: str, guard: Guard) -> tuple[NodeAssertion, bool]:
    """The record of an agent, and whether it exists."""
    open_guard = replace(guard, sensitive=False)
    node_id = agent_record_id(agent, open_guard)
    node = NodeAssertion(id=node_id, kind=AGENT_RECORD, name=agent, **asdict(open_guard))
    return node, bool(ctx.store.nodes(ctx.viewer, NOW, [node_id]))


def released_episode(ctx: CallContext, claim: Claim, *, outcome: EpisodeOutcome | None, note: str) -> EpisodePlan:
    """The episode that tells how the work on a claim went."""
    held = to_iso(claim.since)[:19]
    said = note or f"Released {claim.label}, held since {held}Z: {claim.intent}"
    here = ctx.store.nodes(ctx.viewer, NOW, [each for each in (claim.target, claim.task) if each])
    known = {node.id for node in here}
    telling = Telling(
        type="OBSERVATION",
        content=said,
        guard=claim.node.guard,  # that of its target: of what is sensitive, the release is too
        name=f"{ctx.writer.actor.agent} released {claim.label}",
        props={"released": claim.target, "intent": claim.intent, "held_since": to_iso(claim.since)},
        involves=(claim.target,) if claim.target in known else (),
        outcome=outcome,
        task=claim.task if claim.task in known else None,
    )
    return plan_episode(ctx, telling)


def in_session_order(plans: Sequence[EpisodePlan]) -> tuple[Draft, ...]:
    """The events of several episodes, one after another."""
    return tuple(draft for plan in plans for draft in plan.drafts)
