"""`episode_recall`, `decision_query`: what agents did and decided, scored and explained."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final

from msgspec import Meta, Struct

from weft.core.clock import parse_instant, to_iso
from weft.core.errors import NotFound
from weft.core.types import MAX_LIMIT, NOW, NodeVersion
from weft.fleet.episodes.candidates import Found, Wanted, around_code, candidates, involved_by
from weft.fleet.episodes.contracts import EPISODE_TYPES, EpisodeType, type_of_episode
from weft.fleet.episodes.involved import resolved
from weft.fleet.episodes.scoring import DECISIONS, EPISODES, ScoreParts, Weights, jaccard, recency, steps_away
from weft.recall.answer_limits import bounded
from weft.retrieval.judging.superseded import replaced_among
from weft.runtime.call_context import CallContext
from weft.runtime.fields import Anywhere, Label, Moment, Name, NodeName, OtherProject, Query, projects_asked
from weft.runtime.operation import Operation
from weft.runtime.priorities import Priorities
from weft.text.injection import flags_of, remark
from weft.writing.checks.provenance import task_named

ALWAYS_SHOWN: Final = frozenset({"type", "agent", "session", "task", "outcome", "content_hash", "status", "confidence"})

HowMany = Annotated[int, Meta(ge=1, le=MAX_LIMIT, description="how many at most")]
About = Annotated[
    tuple[Name, ...], Meta(max_length=32, description="what it is about: file paths, path::symbol, ids, names")
]


class WhyScored(Struct, frozen=True, kw_only=True):
    """The parts of a score before their weights, each from 0 to 1, and the age in days."""

    meaning: float
    recency: float
    nearness: float
    days: float


class EpisodeShown(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An episode with its score. `why` holds each part before its weight; `superseded` that a newer one replaced it."""

    id: str
    type: EpisodeType
    text: str
    score: float
    at: str
    citation: str
    title: str = ""
    agent: str = ""
    task: str | None = None
    outcome: str = ""
    status: str = ""
    confidence: float | None = None
    metadata: dict[str, Any] = {}
    involves: tuple[str, ...] = ()
    why: WhyScored | None = None
    flags: tuple[str, ...] = ()


class EpisodesRecalled(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Episodes, best first, and how their scores are made."""

    query: str
    episodes: tuple[EpisodeShown, ...]
    formula: str
    notes: tuple[str, ...] = ()


class EpisodeRecall(Struct, frozen=True, kw_only=True):
    """Input of `episode_recall`."""

    query: Query
    agent: Annotated[Label | None, Meta(description="only episodes of this agent")] = None
    task_id: Annotated[NodeName | None, Meta(description="only episodes of this task, by its id or title")] = None
    types: Annotated[tuple[EpisodeType, ...], Meta(max_length=7, description="only these types")] = ()
    entities: About = ()
    since: Annotated[Moment | None, Meta(description="only episodes since then")] = None
    limit: HowMany = 5
    project: OtherProject = None
    everywhere: Anywhere = False


def episode_recall(ctx: CallContext, given: EpisodeRecall) -> EpisodesRecalled:
    """Recalls what agents saw, decided, edited, tested and learnt, best first.

    The score is 0.5 meaning + 0.3 recency (halved in about 14 days) + 0.2 the share of common entities; `why` shows
    each part. Superseded decisions and retired learnings are never returned.
    """
    about, unknown = resolved(ctx, given.entities)
    wanted = Wanted(
        query=given.query,
        projects=projects_asked(ctx, given.project, everywhere=given.everywhere),
        types=given.types,
        about=about,
        agent=given.agent,
        task=None if given.task_id is None else task_named(ctx, given.task_id).id,
        since=None if given.since is None else parse_instant(given.since, field="since"),
    )
    return _answered(ctx, wanted, EPISODES, given.limit, unknown)


class DecisionQuery(Struct, frozen=True, kw_only=True):
    """Input of `decision_query`."""

    query: Query
    affected_files: About = ()
    limit: HowMany = 5
    project: OtherProject = None
    everywhere: Anywhere = False


def decision_query(ctx: CallContext, given: DecisionQuery) -> EpisodesRecalled:
    """Finds decisions, above all those that touch the given files or symbols.

    The score is 0.5 nearness (1 for the same code or one inside the other, half for code one step away) + 0.3 meaning
    + 0.2 recency. Superseded decisions are not returned.
    """
    about, unknown = resolved(ctx, given.affected_files)
    if given.affected_files and not about:
        raise NotFound(
            f"nothing is known of {', '.join(each[:80] for each in unknown)}",
            hint="give paths of indexed files or path::symbol; `weft index` reads the files of the workspace",
        )
    projects = projects_asked(ctx, given.project, everywhere=given.everywhere)
    wanted = Wanted(query=given.query, projects=projects, types=("DECISION",), about=about)
    return _answered(ctx, wanted, DECISIONS, given.limit, unknown)


def _answered(
    ctx: CallContext, wanted: Wanted, weights: Weights, limit: int, unknown: tuple[str, ...]
) -> EpisodesRecalled:
    when = ctx.store.pin(ctx.viewer, NOW)
    found = candidates(ctx, when, wanted)
    replaced = replaced_among(ctx, when, [each for each, node in found.nodes.items() if node.kind == "Decision"])
    beside = around_code(ctx, when, wanted.about) if weights is DECISIONS else {}
    now = ctx.clock.now_us()
    scored = [
        (_parts(node, found, wanted, beside, now, weights), node)
        for node in found.nodes.values()
        if node.id not in replaced
    ]
    scored.sort(key=lambda each: (-each[0].total(weights), -each[1].row))
    best = scored[:limit]
    cited = ctx.store.citations(ctx.viewer, [node.event for _, node in best])
    about = found.about or involved_by(ctx, when, [node.id for _, node in best])
    shown = tuple(
        _shown(node, parts, weights, about.get(node.id, ()), cited.get(node.event, "")) for parts, node in best
    )
    notes = (f"nothing is known of {', '.join(each[:80] for each in unknown)}",) if unknown else ()
    remarks = remark((each.id, each.flags) for each in shown)
    made = EpisodesRecalled(
        query=wanted.query, episodes=shown, formula=weights.formula, notes=(*notes, *found.notes, *remarks)
    )
    return bounded(made, "episodes")


def _parts(
    node: NodeVersion,
    found: Found,
    wanted: Wanted,
    beside: Mapping[str, tuple[str, ...]],
    now: int,
    weights: Weights,
) -> ScoreParts:
    fresh, days = recency(node.interval.valid_from, now)
    told = found.about.get(node.id, ())
    near = steps_away(wanted.about, told, beside) if weights is DECISIONS else jaccard(wanted.about, told)
    return ScoreParts(meaning=found.meaning.get(node.id, 0.0), recency=fresh, nearness=near, days=days)


def _shown(
    node: NodeVersion, parts: ScoreParts, weights: Weights, involves: tuple[str, ...], citation: str
) -> EpisodeShown:
    props = node.props
    said = props.get("confidence")
    metadata = {name: value for name, value in props.items() if name not in ALWAYS_SHOWN}
    return EpisodeShown(
        id=node.id,
        type=type_of_episode(node) or EPISODE_TYPES[0],
        title=node.name,
        text=node.text,
        score=round(parts.total(weights), 4),
        at=to_iso(node.interval.valid_from),
        citation=citation,
        agent=str(props.get("agent", "")),
        task=props.get("task") if isinstance(props.get("task"), str) else None,
        outcome=str(props.get("outcome", "")),
        status=str(props.get("status", "")),
        confidence=float(said) if isinstance(said, int | float) else None,
        metadata=metadata,
        involves=involves,
        why=WhyScored(
            meaning=round(parts.meaning, 4),
            recency=round(parts.recency, 4),
            nearness=round(parts.nearness, 4),
            days=round(parts.days, 2),
        ),
        flags=flags_of(node.name, node.text, props=metadata),
    )


_PRIORITIES: Final[Priorities] = {
    "episodes.type": "required",
    "episodes.involves": "low",
    "episodes.metadata": "low",
    "episodes.id": "medium",
    "episodes.why": "medium",
    "formula": "low",
    "query": "low",
}

OPERATIONS = (
    Operation(
        name="episode_recall",
        summary="recall what agents saw, decided, edited, tested and learnt, with the reason for each",
        input=EpisodeRecall,
        output=EpisodesRecalled,
        effect="read",
        toolset="fleet",
        run=episode_recall,
        arguments=("query",),
        rare=("everywhere", "project"),
        priorities=_PRIORITIES,
    ),
    Operation(
        name="decision_query",
        summary="find decisions that touch some code, and why they were taken",
        input=DecisionQuery,
        output=EpisodesRecalled,
        effect="read",
        toolset="fleet",
        run=decision_query,
        arguments=("query",),
        rare=("everywhere", "project"),
        priorities=_PRIORITIES,
    ),
)
