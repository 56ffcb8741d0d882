"""`agent_status`, `coordination_overview`: who works on what, since when, and who is in whose way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Final

from msgspec import Meta, Struct

from weft.core.clock import to_iso
from weft.core.kinds import AGENT_RECORD, CLAIM_REFUSAL
from weft.core.types import MAX_LIMIT, NOW, Find, NodeVersion
from weft.fleet.episodes.contracts import EPISODE_KINDS, type_of_episode
from weft.fleet.episodes.writing import BY
from weft.recall.answer_limits import bounded_lists
from weft.runtime.call_context import CallContext
from weft.runtime.fields import Anywhere, Label, Limit, OtherProject, projects_asked
from weft.runtime.operation import Operation
from weft.text.one_line import flat
from weft.writing.checks.provenance import status_of
from weft.writing.claims.claim import Claim
from weft.writing.claims.held import MAX_CLAIMS, Held, held_in, name_beside

DAY_US: Final = 86_400_000_000
RECENT: Final = 10  # episodes of an agent's status
MAX_REFUSALS: Final = 500
LATEST: Final = 300  # episodes that tell what each agent did last
LOOKED_UP: Final = 10  # agents that none of these is of, of which the last one is looked up
LEAD_CHARACTERS: Final = 160


class ClaimShown(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A claim: who works on what, why, since when. `stale` is why it no longer counts."""

    target: str
    agent: str
    intent: str
    since: str
    type: str
    id: str
    citation: str = ""
    name: str = ""
    session: str = ""
    task: str | None = None
    task_title: str = ""
    target_version: str = ""
    lease_until: str | None = None
    stale: str = ""


class RefusedShown(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An attempt at what another held."""

    target: str
    agent: str
    holder: str
    intent: str
    at: str
    citation: str = ""


class AgentShown(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An agent of the project: what it holds, and when it last wrote anything here about its work."""

    agent: str
    claims: int = 0
    stale: int = 0
    last_seen: str = ""
    last_did: str = ""


class EpisodeLine(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An episode in one line."""

    id: str
    type: str
    text: str
    at: str
    citation: str
    outcome: str = ""


class CoordinationOverview(Struct, frozen=True, kw_only=True):
    """Input of `coordination_overview`."""

    project: OtherProject = None
    everywhere: Anywhere = False
    limit: Limit = 50


class Overview(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The claims of a project. `conflicts` are refused attempts, of claims still held or of the last 24 hours."""

    active: tuple[ClaimShown, ...]
    stale: tuple[ClaimShown, ...] = ()
    conflicts: tuple[RefusedShown, ...] = ()
    agents: tuple[AgentShown, ...] = ()
    total: int = 0
    notes: tuple[str, ...] = ()


def coordination_overview(ctx: CallContext, given: CoordinationOverview) -> Overview:
    """Shows who works on what in a project: active claims, stale claims, refused attempts, and every agent.

    A stale claim blocks nobody: its target was changed by another agent, its task is over or its lease ended.
    """
    projects = projects_asked(ctx, given.project, everywhere=given.everywhere)
    held = held_in(ctx, projects)
    active = [each for each in held if not each.stale]
    stale = [each for each in held if each.stale]
    refusals = refusals_of(ctx, projects, held)
    notes = [f"only {MAX_CLAIMS:,} claims were read"] if len(held) == MAX_CLAIMS else []
    for what, found in (("claims", active), ("stale claims", stale), ("refused attempts", refusals)):
        if len(found) > given.limit:
            notes.append(f"{len(found) - given.limit:,} more {what} are not listed: raise limit")
    made = Overview(
        active=show_claims(ctx, active[: given.limit]),
        stale=show_claims(ctx, stale[: given.limit]),
        conflicts=tuple(refusals[: given.limit]),
        agents=_agents(ctx, projects, held)[: given.limit],
        total=len(held),
        notes=tuple(notes),
    )
    return bounded_lists(made, ("conflicts", "stale", "agents", "active"))


class AgentStatusAsked(Struct, frozen=True, kw_only=True):
    """Input of `agent_status`."""

    agent: Annotated[Label | None, Meta(description="another agent than yourself")] = None
    limit: Limit = RECENT


class AgentStatus(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What an agent holds, what it did last, and its task."""

    agent: str
    claims: tuple[ClaimShown, ...]
    current_task: str | None = None
    current_task_title: str = ""
    episodes: tuple[EpisodeLine, ...] = ()
    last_seen: str = ""
    notes: tuple[str, ...] = ()


def agent_status(ctx: CallContext, given: AgentStatusAsked) -> AgentStatus:
    """Shows an agent's claims, its task, and its last records. Without a name: your own."""
    agent = given.agent or ctx.writer.actor.agent
    everyone = held_in(ctx, (ctx.settings.project, None))
    held = [each for each in everyone if each.claim.holder.agent == agent]
    claims = show_claims(ctx, held)
    last = next((each for each in reversed(claims) if each.task and not each.stale), None)
    episodes = episodes_of(ctx, agent, limit=given.limit)
    shown = episode_lines(ctx, episodes)
    known = bool(held or episodes)
    lost = [f"your claim on {each.target} is stale: {each.stale}" for each in claims if each.stale]
    lost += [told for each in everyone if (told := _lost_to(each, agent))]
    return AgentStatus(
        agent=agent,
        claims=claims,
        current_task=None if last is None else last.task,
        current_task_title="" if last is None else last.task_title,
        episodes=shown,
        last_seen=max([each.at for each in shown] + [each.since for each in claims], default=""),
        notes=(
            *(lost if agent == ctx.writer.actor.agent else ()),
            *(() if known or lost else (f"{agent} holds nothing here and recorded nothing",)),
        ),
    )


def _lost_to(held: Held, agent: str) -> str:
    """That another holds what the agent held, and how that came; empty for any other claim."""
    props, claim = held.claim.node.props, held.claim
    before = props.get("replaces")
    if isinstance(before, dict) and before.get("agent") == agent and claim.holder.agent != agent:
        return f"{claim.holder.agent} holds {claim.target} now; your claim had ended: {before.get('why', '')}"
    if props.get("taken_from") == agent and claim.holder.agent != agent:
        return f"{claim.holder.agent} took {claim.target} over from you at {to_iso(claim.since)[:19]}Z"
    return ""


def show_claims(ctx: CallContext, held: Sequence[Held]) -> tuple[ClaimShown, ...]:
    """Claims with the titles of their tasks, and their citations."""
    cited = ctx.store.citations(ctx.viewer, [each.claim.node.event for each in held])
    wanted = list({each.claim.task for each in held if each.claim.task})
    tasks = {node.id: node for node in ctx.store.nodes(ctx.viewer, NOW, wanted)}
    return tuple(_show(each, cited.get(each.claim.node.event, ""), tasks) for each in held)


def _show(held: Held, citation: str, tasks: dict[str, NodeVersion]) -> ClaimShown:
    claim: Claim = held.claim
    task = tasks.get(claim.task or "")
    return ClaimShown(
        id=claim.id,
        target=claim.target,
        name="" if held.target is None else name_beside(held.target),
        agent=claim.holder.agent,
        session=claim.holder.session,
        intent=claim.intent,
        since=to_iso(claim.since),
        type=claim.type,
        task=claim.task,
        task_title="" if task is None or task.id == claim.target else flat(task.name),
        target_version=claim.version,
        lease_until=None if claim.lease_until is None else to_iso(claim.lease_until),
        stale=held.stale,
        citation=citation,
    )


def refusals_of(ctx: CallContext, projects: tuple[str | None, ...] | None, held: Sequence[Held]) -> list[RefusedShown]:
    """Refused attempts, latest first: of claims that are held still, and of the last day."""
    claims = {each.claim.id: each.claim for each in held}
    find = Find(id_prefix="refused:", projects=projects)
    since = ctx.clock.now_us() - DAY_US
    nodes = [
        node
        for node in ctx.store.find(ctx.viewer, NOW, find, limit=MAX_REFUSALS).nodes
        if node.kind == CLAIM_REFUSAL and (node.recorded_at >= since or f":{_since(claims, node)}:" in node.id)
    ]
    cited = ctx.store.citations(ctx.viewer, [node.event for node in nodes])
    return [
        RefusedShown(
            target=str(node.props.get("target", "")),
            agent=str(node.props.get("agent", "")),
            holder=str(node.props.get("holder", "")),
            intent=str(node.props.get("intent", "")),
            at=to_iso(node.recorded_at),
            citation=cited.get(node.event, ""),
        )
        for node in nodes
    ]


def _since(claims: dict[str, Claim], refusal: NodeVersion) -> int:
    claim = claims.get(str(refusal.props.get("claim", "")))
    return -1 if claim is None else claim.since


def _agents(ctx: CallContext, projects: tuple[str | None, ...] | None, held: Sequence[Held]) -> tuple[AgentShown, ...]:
    """Every agent that holds or recorded something, the last seen first."""
    records = ctx.store.find(ctx.viewer, NOW, Find(id_prefix="agent@", projects=projects), limit=MAX_LIMIT).nodes
    names = dict.fromkeys([each.claim.holder.agent for each in held])
    names |= dict.fromkeys(node.name for node in records if node.kind == AGENT_RECORD)
    active = Counter(each.claim.holder.agent for each in held if not each.stale)
    stale = Counter(each.claim.holder.agent for each in held if each.stale)
    shown = []
    find = Find(kinds=EPISODE_KINDS, projects=projects)
    latest: dict[str, NodeVersion] = {}
    for node in ctx.store.find(ctx.viewer, NOW, find, limit=LATEST).nodes:
        latest.setdefault(str(node.props.get("agent", "")), node)
    looked_up = 0
    for name in names:
        last = [latest[name]] if name in latest else []
        if not last and looked_up < LOOKED_UP:
            looked_up += 1
            last = _last(ctx, [node for node in records if node.name == name], limit=1)
        begun = [each.claim.since for each in held if each.claim.holder.agent == name]
        seen = max([*begun, *(node.recorded_at for node in last)], default=0)
        shown.append(
            AgentShown(
                agent=name,
                claims=active[name],
                stale=stale[name],
                last_seen=to_iso(seen) if seen else "",
                last_did=flat(last[0].name or last[0].text)[:LEAD_CHARACTERS] if last else "",
            )
        )
    return tuple(sorted(shown, key=lambda each: each.last_seen, reverse=True))


def episodes_of(ctx: CallContext, agent: str, *, limit: int) -> list[NodeVersion]:
    """The latest episodes of an agent in this project, latest first."""
    projects = (ctx.settings.project, None)
    records = ctx.store.find(ctx.viewer, NOW, Find(names=(agent,), kinds=(AGENT_RECORD,), projects=projects), limit=20)
    return _last(ctx, [node for node in records.nodes if node.name == agent], limit=limit)


def _last(ctx: CallContext, records: Sequence[NodeVersion], *, limit: int) -> list[NodeVersion]:
    edges = [
        edge
        for record in records
        for edge in ctx.store.edges(ctx.viewer, NOW, record.id, rel=BY, direction="in", before=None, limit=limit)
    ]
    edges.sort(key=lambda edge: -edge.row)
    ids = list(dict.fromkeys(edge.src for edge in edges))[:limit]
    return list(ctx.store.nodes(ctx.viewer, NOW, ids))


def episode_lines(ctx: CallContext, nodes: Sequence[NodeVersion]) -> tuple[EpisodeLine, ...]:
    """Episodes, each in one line with its citation."""
    cited = ctx.store.citations(ctx.viewer, [node.event for node in nodes])
    return tuple(
        EpisodeLine(
            id=node.id,
            type=type_of_episode(node) or node.kind,
            text=flat(node.name if node.kind == "Decision" else node.text or node.name)[:LEAD_CHARACTERS],
            at=to_iso(node.recorded_at),
            citation=cited.get(node.event, ""),
            outcome=str(node.props.get("outcome", "")),
        )
        for node in nodes
    )


def is_open(task: NodeVersion) -> bool:
    """Whether a task is still in progress."""
    return status_of(task) in ("open", "running", "blocked")


OPERATIONS = (
    Operation(
        name="coordination_overview",
        summary="who works on what, since when, and which claims are stale or contested",
        input=CoordinationOverview,
        output=Overview,
        effect="read",
        toolset="fleet",
        run=coordination_overview,
        rare=("everywhere",),
        priorities={
            "active.agent": "required",
            "active.target": "required",
            "active.intent": "high",
            "active.id": "low",
            "active.name": "medium",
            "active.type": "low",
            "active.citation": "medium",
            "stale.id": "low",
            "stale.stale": "required",
            "conflicts.agent": "required",
            "conflicts.holder": "required",
            "agents.agent": "required",
        },
    ),
    Operation(
        name="agent_status",
        summary="what an agent holds, its task, and what it did last",
        input=AgentStatusAsked,
        output=AgentStatus,
        effect="read",
        toolset="fleet",
        run=agent_status,
        arguments=("agent",),
        priorities={"agent": "required", "claims.target": "required", "claims.id": "low", "episodes.id": "low"},
    ),
)
