"""Recipes: the stages of a search and their order, by the caller's choices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from msgspec import Struct

from weft.models.overlap import LexicalReranker
from weft.retrieval.judging.answers import Answers
from weft.retrieval.judging.derived import Derived
from weft.retrieval.judging.distinct import Distinct
from weft.retrieval.judging.diverse import Diverse
from weft.retrieval.judging.evidence import EnoughEvidence, Scale
from weft.retrieval.judging.relevance import Relevant
from weft.retrieval.judging.superseded import Superseded
from weft.retrieval.judging.time_frame import InTimeFrame
from weft.retrieval.pipeline import Stage
from weft.retrieval.profiles import BALANCED, PRECISION, RECALL, TEMPORAL, Profile
from weft.retrieval.purposes import Emphasis, Purpose
from weft.retrieval.question.before_search import ReadIntent, ResolveReferences, Reword, SmallTalk
from weft.retrieval.question.date_events import DateEvents
from weft.retrieval.question.other_wordings import ScoreWordings, SearchWordings
from weft.retrieval.question.understand import Respell, Understand
from weft.retrieval.scoring.boosts import Boosts
from weft.retrieval.scoring.conversation_flow import Flow
from weft.retrieval.scoring.feedback import Feedback
from weft.retrieval.scoring.fuse import Fuse
from weft.retrieval.scoring.near_moment import Proximity
from weft.retrieval.scoring.passages import Passages
from weft.retrieval.scoring.prefer_newer import PreferNewer
from weft.retrieval.scoring.profile_weights import Weigh
from weft.retrieval.scoring.rank import Rank
from weft.retrieval.scoring.rerank import Rerank
from weft.retrieval.scoring.retention import Policy, Retention
from weft.retrieval.scoring.times import Times
from weft.retrieval.scoring.words_and_meaning import WordsAndMeaning
from weft.retrieval.sources.bridges import Bridges
from weft.retrieval.sources.by_meaning import SearchMeaning
from weft.retrieval.sources.by_name import SearchNames
from weft.retrieval.sources.by_time import SearchTime
from weft.retrieval.sources.by_words import SearchWords
from weft.retrieval.sources.gather import Gather
from weft.retrieval.sources.graph_walk import Walk
from weft.retrieval.sources.listed import Listing
from weft.retrieval.sources.name_links import NameLinks
from weft.retrieval.sources.past_values import PastValues
from weft.retrieval.sources.sessions import Sessions
from weft.retrieval.sources.source_code import Code
from weft.retrieval.sources.subscriptions import Subscriptions
from weft.retrieval.views.stage import Views

Fusion = Literal["gated", "weighted", "rrf", "profile"]
Reading = Literal["configured", "lexical", "none"]


CANDIDATES: Final = 60  # of each source: a few wholes are found by many of their parts


class RankingPlan(Struct, frozen=True, kw_only=True):
    """How to rank. The defaults are those that measure best: see docs/decisions.

    `weighted` names the weights of the profile that the caller chose; `candidates` is how many of each source are read;
    `diversity` is the balance of MMR, None for none; a `retention` of None is the setting.
    """

    fusion: Fusion = "gated"
    profile: Profile = BALANCED
    weighted: frozenset[str] = frozenset()
    cognitive: bool = True
    expansion: bool = False
    reranker: Reading = "configured"
    diversity: float | None = None
    candidates: int = CANDIDATES
    retention: Policy | None = None
    purpose: Purpose | None = None


def compose(plan: RankingPlan) -> tuple[Stage, ...]:
    """The stages of a plan, in order."""
    return (*_asked(plan), *_found(plan), *_scored(plan), *_judged(plan))


def _asked(plan: RankingPlan) -> tuple[Stage, ...]:
    """Stages that read the question."""
    emphasis = () if plan.purpose is None else (Emphasis(purpose=plan.purpose),)
    return (SmallTalk(), ResolveReferences(), ReadIntent(), Understand(), DateEvents(), *emphasis)


def _found(plan: RankingPlan) -> tuple[Stage, ...]:
    """Stages that search by words, names, meaning, time, and other wordings."""
    reworded = (Reword(weight=plan.profile.expansion),) if plan.expansion else ()
    gathered = Gather(from_each=plan.candidates)
    return (
        SearchWords(),
        SearchNames(),
        Respell(),
        SearchMeaning(),
        SearchTime(),
        *reworded,
        SearchWordings(),
        gathered,
        Listing(),
        Subscriptions(),
    )


def _scored(plan: RankingPlan) -> tuple[Stage, ...]:
    """Stages that score."""
    profile = plan.profile
    if plan.fusion == "gated":
        own = (WordsAndMeaning(), Sessions(), Code(), Times(), NameLinks(), Bridges(), Flow(), Walk())
        return (*own, ScoreWordings(), Weigh(profile=profile))
    if plan.fusion == "weighted":
        vector = profile.vector if "vector" in plan.weighted else None
        text = profile.keyword if "keyword" in plan.weighted else None
        return (Fuse(strategy="weighted", vector_weight=vector, text_weight=text),)
    return (Fuse(strategy=plan.fusion, profile=profile),)


def _judged(plan: RankingPlan) -> tuple[Stage, ...]:
    """Stages that check the evidence, adjust the scores, and rank."""
    cognitive = (Feedback(),) if plan.cognitive else ()
    varied = () if plan.diversity is None else (Diverse(balance=plan.diversity),)
    return (
        Scale(),
        EnoughEvidence(),
        Views(),
        Superseded(),  # after all stages that add nodes: superseded ones stay out
        Boosts(),
        Proximity(weight=plan.profile.temporal),
        *cognitive,
        Retention(policy=plan.retention),
        Passages(),  # after all scoring: one line for a document and its passages
        Distinct(),
        Derived(),
        *_reread(plan),
        PastValues(),
        Answers(),  # after all stages that add notes
        PreferNewer(),  # after all reordering: of two similar ones the newer is first
        InTimeFrame(),
        Relevant(),
        *varied,
        Rank(),
    )


def _reread(plan: RankingPlan) -> tuple[Stage, ...]:
    match plan.reranker:
        case "none":
            return ()
        case "lexical":
            return (Rerank(reranker=LexicalReranker()),)
        case _:
            return (Rerank(),)


DEFAULT: Final = compose(RankingPlan())
RECIPES: Final[Mapping[str, tuple[Stage, ...]]] = {
    "default": DEFAULT,
    "precision": compose(RankingPlan(profile=PRECISION)),
    "recall": compose(RankingPlan(profile=RECALL)),
    "temporal": compose(RankingPlan(profile=TEMPORAL)),
    "weighted": compose(RankingPlan(fusion="weighted")),
    "rrf": compose(RankingPlan(fusion="rrf")),
    "profile": compose(RankingPlan(fusion="profile", expansion=True)),
    "reworded": compose(RankingPlan(expansion=True)),
}


def _with(*changed: Stage) -> tuple[Stage, ...]:
    """The default with some stages set otherwise."""
    by_name = {stage.name: stage for stage in changed}
    return tuple(by_name.get(stage.name, stage) for stage in DEFAULT)


# Parts of stages that are measured apart.
ABLATIONS: Final[Mapping[str, tuple[Stage, ...]]] = {
    "without sentences": _with(WordsAndMeaning(sentences=False)),
    "without the gate": _with(WordsAndMeaning(gated=False)),
    "without soft words": _with(Flow(soft=0.0, soft_session=0.0), Sessions(soft=0.0, soft_session=0.0)),
    "without misspelt names": _with(SearchNames(fuzzy=False)),
    "without crowding": _with(Code(hub=0.0)),
    "one hop only": _with(NameLinks(hops=1)),
}
