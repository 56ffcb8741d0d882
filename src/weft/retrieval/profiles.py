"""Scoring profiles: the weight of each source, the diversity of an answer, and the source of each score part.

The default recipe is tuned as `balanced`; another profile scales its parts relative to that (see `weigh`). The strategy
`profile` of `fuse` takes the weights as they are.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import asdict, replace

from weft.core.errors import Invalid

SourceName = Literal["exact", "vector", "traversal", "keyword", "expansion", "temporal"]
SOURCE_NAMES: Final[tuple[SourceName, ...]] = ("exact", "vector", "traversal", "keyword", "expansion", "temporal")
MAX_WEIGHT: Final = 2.0
CUSTOM: Final = "custom"


class Profile(Struct, frozen=True, kw_only=True):
    """The weight of each source; `diversity` is the balance of MMR: 1 ranks by score alone, 0 by difference alone.

    `traversal_bonus` is added for nodes found by relation, so that they are not lost behind many similar ones.
    """

    name: str
    exact: float
    vector: float
    traversal: float
    keyword: float
    expansion: float
    temporal: float
    diversity: float
    traversal_bonus: float

    def of(self, source: SourceName) -> float:
        """The weight of a source."""
        weight: float = getattr(self, source)
        return weight


BALANCED: Final = Profile(
    name="balanced",
    exact=1.0,
    vector=0.95,
    traversal=0.90,
    keyword=0.80,
    expansion=0.92,
    temporal=0.12,
    diversity=0.70,
    traversal_bonus=0.10,
)
PRECISION: Final = Profile(
    name="precision",
    exact=1.0,
    vector=0.85,
    traversal=0.75,
    keyword=0.65,
    expansion=0.75,
    temporal=0.08,
    diversity=0.82,
    traversal_bonus=0.04,
)
RECALL: Final = Profile(
    name="recall",
    exact=1.0,
    vector=1.0,
    traversal=0.95,
    keyword=0.85,
    expansion=0.98,
    temporal=0.10,
    diversity=0.58,
    traversal_bonus=0.14,
)
TEMPORAL: Final = Profile(
    name="temporal",
    exact=1.0,
    vector=0.90,
    traversal=0.90,
    keyword=0.78,
    expansion=0.90,
    temporal=0.22,
    diversity=0.68,
    traversal_bonus=0.10,
)
PROFILES: Final[Mapping[str, Profile]] = {each.name: each for each in (BALANCED, PRECISION, RECALL, TEMPORAL)}
WEIGHT_NAMES: Final[tuple[str, ...]] = tuple(name for name in Profile.__struct_fields__ if name != "name")


def profile_with(name: str, weights: Mapping[str, float]) -> Profile:
    """A profile with some weights changed, which makes it `custom`; raises Invalid for unknown names.

    `custom` begins as balanced. Weights are from 0 to 2, diversity from 0 to 1.
    """
    found = BALANCED if name == CUSTOM else PROFILES.get(name)
    if found is None:
        raise Invalid(f"there is no profile {name!r}", hint=f"known: {', '.join((*PROFILES, CUSTOM))}")
    for weight, value in weights.items():
        if weight not in WEIGHT_NAMES:
            raise Invalid(f"a profile has no weight {weight!r}", hint=f"known: {', '.join(WEIGHT_NAMES)}")
        most = 1.0 if weight == "diversity" else MAX_WEIGHT
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not math.isfinite(value) or not 0.0 <= value <= most:
            raise Invalid(f"the weight {weight} is {value!r}", hint=f"give a number from 0 to {most:g}")
    changed = {weight: float(value) for weight, value in weights.items() if value != asdict(found)[weight]}
    return replace(found, name=CUSTOM, **changed) if changed else found


# The source of each part of a score. `adjusted` parts follow from the others (a factor on the whole score, a
# place given to it): no profile changes them.
PART_SOURCES: Final[Mapping[str, SourceName | Literal["adjusted"]]] = {
    "id": "exact",
    "name": "exact",
    "speaker": "exact",
    "path named": "exact",
    "file named": "exact",
    "exact": "exact",
    "text": "keyword",
    "user words": "keyword",
    "user turn": "keyword",
    "assistant turn": "keyword",
    "assistant words": "keyword",
    "segment": "keyword",
    "session": "keyword",
    "symbol text": "keyword",
    "file words": "keyword",
    "best symbol": "keyword",
    "subscription": "keyword",
    "keyword": "keyword",
    "vector": "vector",
    "answers": "adjusted",
    "nearest turn": "vector",
    "nearest sentence": "vector",
    "soft words": "vector",
    "soft session": "vector",
    "symbol": "vector",
    "crowded": "vector",
    "nearest symbol": "vector",
    "nearest to title": "vector",
    "links": "traversal",
    "bridges": "traversal",
    "walk": "traversal",
    "views": "traversal",
    "around": "traversal",
    "session best": "traversal",
    "traversal": "traversal",
    "traversal bonus": "traversal",
    "when": "temporal",
    "recent": "temporal",
    "later": "temporal",
    "tells when": "temporal",
    "temporal": "temporal",
    "expansion": "expansion",
    "asks": "adjusted",
    "fullness": "adjusted",
    "length": "adjusted",
    "a test": "adjusted",
    "compiled_truth": "adjusted",
    "attribute": "adjusted",
    "backlinks": "adjusted",
    "proximity": "adjusted",
    "cognitive": "adjusted",
    "cues": "adjusted",
    "spread": "adjusted",
    "retention": "adjusted",
    "superseded": "adjusted",
    "passages": "adjusted",
    "past_values": "adjusted",
    "time_frame": "adjusted",
    "fresh": "adjusted",
    "rerank": "adjusted",
    "diverse": "adjusted",
}
