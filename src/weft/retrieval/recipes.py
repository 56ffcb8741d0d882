"""Recipes: which stages, in which order, by what the caller chose."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from msgspec import Struct

from weft.models.overlap import LexicalReranker
from weft.retrieval.attend import Gate, Intend, Reword, Rewrite
from weft.retrieval.boosts import Boosts
from weft.retrieval.bridges import Bridges
from weft.retrieval.cognitive import Cognitive
from weft.retrieval.dated import Dated
from weft.retrieval.derived import Derived
from weft.retrieval.distinct import Distinct
from weft.retrieval.diverse import Diverse
from weft.retrieval.enough import Enough, Scale
from weft.retrieval.expanded import Expanded, Wordings
from weft.retrieval.flow import Flow
from weft.retrieval.fresh import Fresh
from weft.retrieval.fuse import Fuse
from weft.retrieval.gated import Gated
from weft.retrieval.gather import Gather
from weft.retrieval.links import Links
from weft.retrieval.naming import Names
from weft.retrieval.passages import Passages
from weft.retrieval.pipeline import Stage
from weft.retrieval.profiles import BALANCED, PRECISION, RECALL, TEMPORAL, Profile
from weft.retrieval.proximity import Proximity
from weft.retrieval.purposes import Emphasis, Purpose
from weft.retrieval.rank import Rank
from weft.retrieval.rerank import Rerank
from weft.retrieval.respell import Respell
from weft.retrieval.retention import Policy, Retention
from weft.retrieval.sessions import Sessions
from weft.retrieval.source_code import Code
from weft.retrieval.subscriptions import Subscriptions
from weft.retrieval.superseded import Superseded
from weft.retrieval.text import Text
from weft.retrieval.times import Times
from weft.retrieval.understand import Understand
from weft.retrieval.vector import Vector
from weft.retrieval.views.stage import Views
from weft.retrieval.walk import Walk
from weft.retrieval.weigh import Weigh

Fusion = Literal["gated", "weighted", "rrf", "profile"]
Reading = Literal["configured", "lexical", "none"]


CANDIDATES: Final = 60  # of each source: a few wholes are found by many of their parts


class Plan(Struct, frozen=True, kw_only=True):
    """How to rank. As it stands it is what measures best: see docs/decisions.

    `weighted` names the weights of the profile that the caller chose; `candidates` is how many of each source are
    looked at; `diversity` is the balance of MMR, None for none; what retention leaves None the settings say.
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


def compose(plan: Plan) -> tuple[Stage, ...]:
    """The stages of a plan, in order."""
    return (*_asked(plan), *_found(plan), *_scored(plan), *_judged(plan))


def _asked(plan: Plan) -> tuple[Stage, ...]:
    """What is asked."""
    emphasis = () if plan.purpose is None else (Emphasis(purpose=plan.purpose),)
    return (Gate(), Rewrite(), Intend(), Understand(), *emphasis)


def _found(plan: Plan) -> tuple[Stage, ...]:
    """What there is to it, by words, names, meaning, time, and other wordings."""
    reworded = (Reword(weight=plan.profile.expansion),) if plan.expansion else ()
    gathered = Gather(from_each=plan.candidates)
    return (Text(), Names(), Respell(), Vector(), Dated(), *reworded, Expanded(), gathered, Subscriptions())


def _scored(plan: Plan) -> tuple[Stage, ...]:
    """What each is worth."""
    profile = plan.profile
    if plan.fusion == "gated":
        own = (Gated(), Sessions(), Code(), Times(), Links(), Bridges(), Flow(), Walk())
        return (*own, Wordings(), Weigh(profile=profile))
    if plan.fusion == "weighted":
        vector = profile.vector if "vector" in plan.weighted else None
        text = profile.keyword if "keyword" in plan.weighted else None
        return (Fuse(strategy="weighted", vector_weight=vector, text_weight=text),)
    return (Fuse(strategy=plan.fusion, profile=profile),)


def _judged(plan: Plan) -> tuple[Stage, ...]:
    """Whether it is enough, what else bears on it, and the best of it."""
    cognitive = (Cognitive(),) if plan.cognitive else ()
    varied = () if plan.diversity is None else (Diverse(balance=plan.diversity),)
    return (
        Scale(),
        Enough(),
        Views(),
        Superseded(),  # after all that brings nodes in: what was replaced stays out
        Boosts(),
        Proximity(weight=plan.profile.temporal),
        *cognitive,
        Retention(policy=plan.retention),
        Passages(),  # after all that scores: of a document and what stands in it, one line
        Distinct(),
        Derived(),
        *_reread(plan),
        Fresh(),  # after whatever puts the best in another order: of two that say the like, the newer is first
        *varied,
        Rank(),
    )


def _reread(plan: Plan) -> tuple[Stage, ...]:
    match plan.reranker:
        case "none":
            return ()
        case "lexical":
            return (Rerank(reranker=LexicalReranker()),)
        case _:
            return (Rerank(),)


DEFAULT: Final = compose(Plan())
RECIPES: Final[Mapping[str, tuple[Stage, ...]]] = {
    "default": DEFAULT,
    "precision": compose(Plan(profile=PRECISION)),
    "recall": compose(Plan(profile=RECALL)),
    "temporal": compose(Plan(profile=TEMPORAL)),
    "weighted": compose(Plan(fusion="weighted")),
    "rrf": compose(Plan(fusion="rrf")),
    "profile": compose(Plan(fusion="profile", expansion=True)),
    "reworded": compose(Plan(expansion=True)),
}


def _with(*changed: Stage) -> tuple[Stage, ...]:
    """The default with some stages set otherwise."""
    by_name = {stage.name: stage for stage in changed}
    return tuple(by_name.get(stage.name, stage) for stage in DEFAULT)


# Parts of stages that are measured apart.
ABLATIONS: Final[Mapping[str, tuple[Stage, ...]]] = {
    "without sentences": _with(Gated(sentences=False)),
    "without the gate": _with(Gated(gated=False)),
    "without soft words": _with(Flow(soft=0.0, soft_session=0.0), Sessions(soft=0.0, soft_session=0.0)),
    "without misspelt names": _with(Names(fuzzy=False)),
    "without crowding": _with(Code(hub=0.0)),
    "one hop only": _with(Links(hops=1)),
}
