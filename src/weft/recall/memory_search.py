"""`memory_search`: the pipeline with all its settings, and the relations of each hit."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from msgspec import Meta, Struct, field
from msgspec.structs import replace

from weft.core.clock import to_iso
from weft.core.errors import Invalid, StoreError
from weft.core.kinds import PROVENANCE_RELATIONS, RECORD_KINDS
from weft.core.types import Neighbour
from weft.recall.answer_limits import bounded
from weft.recall.chosen_fields import Fields, narrowed
from weft.recall.request import Asking, Hit, asks_of_then, class_kinds, flagged, notes_of, read_ask, show_hits
from weft.retrieval.pipeline import Answer, StageTrace, run
from weft.retrieval.profiles import CUSTOM, MAX_WEIGHT, Profile, profile_with
from weft.retrieval.purposes import purpose_of
from weft.retrieval.recipes import CANDIDATES, Fusion, RankingPlan, compose
from weft.retrieval.scoring.fuse import CLASS_WEIGHTS
from weft.retrieval.scoring.retention import Policy
from weft.runtime.call_context import CallContext
from weft.runtime.fields import History
from weft.runtime.operation import Operation
from weft.text.extract.question.intent import MAX_DEPTH, Intent, RetrievalClass

RELATED_OF_ONE: Final = 20
WHENCE: Final = tuple(sorted(PROVENANCE_RELATIONS))
RELATED_CHARACTERS: Final = 200

Depth = Annotated[int, Meta(ge=0, le=MAX_DEPTH, description="steps to follow this view; by intent if unset")]
Cues = Annotated[
    dict[Literal["mission", "workspace", "tool", "phase"], Annotated[str, Meta(max_length=256)]],
    Meta(description="the caller's mission, workspace, tool and phase"),
]


class MemorySearch(Asking, frozen=True, kw_only=True):
    """Input of `memory_search`."""

    profile: Annotated[
        Literal["balanced", "precision", "recall", "temporal", "custom"], Meta(description="the weights of the sources")
    ] = "balanced"
    weights: Annotated[
        dict[str, float], Meta(max_length=16, description="weights that replace the profile's, such as vector=0.5")
    ] = field(default_factory=dict)
    fusion: Annotated[Fusion, Meta(description="how the sources become one score")] = "gated"
    feedback: Annotated[
        Literal["counts", "ignored"], Meta(description="whether memories found useful before rank higher")
    ] = "counts"
    retrieval_class: Annotated[RetrievalClass | None, Meta(description="the class: limits kinds and weights")] = None
    intent: Annotated[Intent | None, Meta(description="the intent; read from the question if unset")] = None
    history: History = ()
    reword: Annotated[bool, Meta(description="search with other wordings too")] = False
    rerank: Annotated[Literal["configured", "lexical", "none"], Meta(description="the reranker of the best hits")] = (
        "configured"
    )
    mmr: Annotated[bool, Meta(description="diversify the best hits (MMR), with the profile's balance")] = False
    diversity: (
        Annotated[
            float, Meta(ge=0.0, le=1.0, description="MMR: 1 ranks by score alone, lower values diversify; off if unset")
        ]
        | None
    ) = None
    retention: Annotated[Policy | None, Meta(description="the effect of age and expiry; the setting if unset")] = None
    purpose: Annotated[str, Meta(max_length=64, description="the purpose: coding, review, release, …")] | None = None
    cues: Cues = field(default_factory=dict)
    entity_depth: Depth | None = None
    temporal_depth: Depth | None = None
    causal_depth: Depth | None = None
    expand_hops: Annotated[int, Meta(ge=0, le=1, description="0 omits the relations of hits")] = 1
    fields: Fields = None
    explain: Annotated[bool, Meta(description="show the parts of each score, and how the answer was found")] = False


class Related(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One relation of a hit: its direction, its name, the other node."""

    direction: Literal["out", "in"]
    rel: str
    id: str
    kind: str
    name: str


class SearchResult(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A hit and its relations."""

    hit: Hit
    related: tuple[Related, ...] = ()


class Searched(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The results, best first; how the question was read, and notes."""

    query: str
    status: str
    results: tuple[SearchResult, ...]
    intent: str
    retrieval_class: str
    valid_at: str
    known_at: str
    read_as: str = ""
    topic_change: float | None = None
    degraded: str = ""
    notes: tuple[str, ...] = ()
    stages: tuple[StageTrace, ...] = ()


def memory_search(ctx: CallContext, given: MemorySearch) -> Searched:
    """Searches with all settings: profile, fusion, class, reranker, diversity, retention, purpose, fields.

    Each result comes with its relations. Without settings it ranks as `weft recall` does. Answers are at most 80,000
    characters: relations are cut first, then the ends of long texts, then the last results.
    """
    plan, given = read_plan(ctx, given)
    more: dict[str, Any] = {
        "as_of": given.as_of is not None,
        "history": given.history,
        "intent": given.intent,
        "depths": _depths(given),
        "retrieval_class": given.retrieval_class,
        "cues": dict(given.cues),
        "purpose": given.purpose,
    }
    answer = run(compose(plan), ctx, read_ask(ctx, given, **more))
    hits, unserved = show_hits(ctx, answer, explain=given.explain)
    notes = (*notes_of(ctx, answer, hits, then=asks_of_then(given), explain=given.explain), *unserved)
    hits, skipped = narrowed(hits, given.fields)
    results, joined = _related(ctx, answer, hits) if given.expand_hops and hits else (_alone(hits), ())
    pinned = answer.ask.when
    searched = Searched(
        query=given.query,
        status="succeeded" if results else "empty",
        results=results,
        intent=answer.intent,
        retrieval_class=answer.retrieval_class,
        valid_at=to_iso(pinned.valid_at or 0),
        known_at=to_iso(pinned.known_at or 0),
        read_as=answer.query if answer.query != given.query else "",
        topic_change=answer.topic_change,
        degraded=answer.degraded,
        notes=(*notes, *skipped, *joined, *flagged(hits)),
        stages=answer.trace if given.explain else (),
    )
    return bounded(searched, "results", beside={"related items": ("related",)})


def read_plan(ctx: CallContext, given: MemorySearch) -> tuple[RankingPlan, MemorySearch]:
    """The ranking plan of a call. Raises Invalid for settings that contradict each other."""
    if given.fusion == "rrf" and (given.weights or given.profile != "balanced"):
        raise Invalid("rrf uses ranks only: no weights, no profile", hint="leave them out, or choose another fusion")
    if given.profile == CUSTOM and not given.weights:
        raise Invalid("a custom profile needs weights", hint="for example weights vector=0.5, or profile balanced")
    kinds = class_kinds(given.retrieval_class)
    if kinds is not None and given.kinds is not None and not set(kinds) & set(given.kinds):
        raise Invalid(
            f"kinds {', '.join(given.kinds)} and class {given.retrieval_class} contradict each other",
            hint=f"that class searches only {', '.join(kinds)}",
        )
    if kinds is not None:
        both = kinds if given.kinds is None else tuple(kind for kind in given.kinds if kind in kinds)
        given = replace(given, kinds=both)
    purpose = None if given.purpose is None else purpose_of(given.purpose)
    named = purpose.scoring if purpose is not None and given.profile == "balanced" else given.profile
    profile = _by_class(profile_with(named, given.weights), given)
    chosen = frozenset(given.weights) | ({"vector", "keyword"} if named not in ("balanced", CUSTOM) else frozenset())
    varied = given.mmr or given.diversity is not None or "diversity" in given.weights
    plan = RankingPlan(
        fusion=given.fusion,
        profile=profile,
        weighted=chosen,
        cognitive=given.feedback == "counts",
        expansion=given.reword or given.fusion == "profile",
        reranker=given.rerank,
        diversity=(profile.diversity if given.diversity is None else given.diversity) if varied else None,
        candidates=max(CANDIDATES, purpose.candidates(given.limit)) if purpose is not None else CANDIDATES,
        retention=given.retention,
        purpose=purpose,
    )
    return plan, given


def _by_class(profile: Profile, given: MemorySearch) -> Profile:
    """Under the gated recipe, words and meaning count as the class the caller named has them, against `general`."""
    if given.retrieval_class is None or given.fusion != "gated" or {"vector", "keyword"} & set(given.weights):
        return profile
    vector, text = CLASS_WEIGHTS[given.retrieval_class]
    usual_vector, usual_text = CLASS_WEIGHTS["general"]
    return replace(
        profile,
        vector=min(MAX_WEIGHT, profile.vector * vector / usual_vector),
        keyword=min(MAX_WEIGHT, profile.keyword * text / usual_text),
    )


def _depths(given: MemorySearch) -> dict[str, int] | None:
    """The depths that the caller set; None where none was."""
    told = {"entity": given.entity_depth, "temporal": given.temporal_depth, "causal": given.causal_depth}
    return {view: depth for view, depth in told.items() if depth is not None} or None


# What hits are joined to


def _alone(hits: tuple[Hit, ...]) -> tuple[SearchResult, ...]:
    return tuple(SearchResult(hit=hit) for hit in hits)


def _related(
    ctx: CallContext, answer: Answer, hits: tuple[Hit, ...]
) -> tuple[tuple[SearchResult, ...], tuple[str, ...]]:
    """Hits with their neighbours in the projects asked about, past the guards again; without them, and with a note, if
    the graph is away.
    """
    try:
        ids = [hit.node.id for hit in hits]
        # Provenance relations say nothing of the topic: `show` has them.
        steps = ctx.store.neighbours(ctx.viewer, answer.ask.when, ids, without=WHENCE, limit=RELATED_OF_ONE)
    except StoreError as problem:
        return _alone(hits), (f"relations of the hits could not be read: {problem.message}",)
    by_start: dict[str, list[Related]] = {}
    projects = answer.ask.projects
    for step in steps:
        of_them = projects is None or (step.node.guard.project in projects and step.edge.guard.project in projects)
        if of_them and step.node.kind not in RECORD_KINDS:
            by_start.setdefault(step.start, []).append(_step(step))
    return tuple(SearchResult(hit=hit, related=tuple(by_start.get(hit.node.id, ()))) for hit in hits), ()


def _step(step: Neighbour) -> Related:
    words = " ".join((step.node.name or step.node.text).split())
    return Related(
        direction="out" if step.edge.src == step.start else "in",
        rel=step.edge.rel,
        id=step.node.id,
        kind=step.node.kind,
        name=words if len(words) <= RELATED_CHARACTERS else words[: RELATED_CHARACTERS - 1] + "…",
    )


OPERATIONS = (
    Operation(
        name="memory_search",
        summary="search with all settings: profile, fusion, class, reranker, fields, related",
        input=MemorySearch,
        output=Searched,
        effect="read",
        toolset="memory",
        run=memory_search,
        arguments=("query",),
        profile="debug",
    ),
)
