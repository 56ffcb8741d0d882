"""Recipes: which stages, in which order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from weft.retrieval.bridges import Bridges
from weft.retrieval.dated import Dated
from weft.retrieval.enough import Enough, Scale
from weft.retrieval.flow import Flow
from weft.retrieval.fresh import Fresh
from weft.retrieval.gated import Gated
from weft.retrieval.gather import Gather
from weft.retrieval.links import Links
from weft.retrieval.naming import Names
from weft.retrieval.pipeline import Stage
from weft.retrieval.rank import Rank
from weft.retrieval.respell import Respell
from weft.retrieval.sessions import Sessions
from weft.retrieval.source_code import Code
from weft.retrieval.text import Text
from weft.retrieval.times import Times
from weft.retrieval.understand import Understand
from weft.retrieval.vector import Vector
from weft.retrieval.walk import Walk

DEFAULT: Final[tuple[Stage, ...]] = (
    Understand(),
    Text(),
    Names(),
    Respell(),
    Vector(),
    Dated(),
    Gather(),
    Gated(),
    Sessions(),
    Code(),
    Times(),
    Links(),
    Bridges(),
    Flow(),
    Walk(),
    Scale(),
    Fresh(),
    Enough(),
    Rank(),
)

RECIPES: Final[Mapping[str, tuple[Stage, ...]]] = {"default": DEFAULT}


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
