"""What a question is after, and how far to follow each view of the graph for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from msgspec import Struct

Intent = Literal["WHY", "WHEN", "WHO", "WHAT", "EXPLORE"]
RetrievalClass = Literal["entity", "temporal", "event", "general", "none"]
INTENTS: Final[tuple[Intent, ...]] = ("WHY", "WHEN", "WHO", "WHAT", "EXPLORE")
RETRIEVAL_CLASSES: Final[tuple[RetrievalClass, ...]] = ("entity", "temporal", "event", "general", "none")
MAX_DEPTH: Final = 5


class Depths(Struct, frozen=True, kw_only=True):
    """How many steps to follow each view from the seeds; 0 leaves a view out."""

    entity: int = 2
    temporal: int = 2
    causal: int = 3


DEPTHS: Final[Mapping[Intent, Depths]] = {
    "WHY": Depths(entity=1, temporal=1, causal=3),
    "WHEN": Depths(entity=1, temporal=3, causal=1),
    "WHO": Depths(entity=3, temporal=1, causal=1),
    "WHAT": Depths(entity=3, temporal=1, causal=1),
    "EXPLORE": Depths(entity=2, temporal=2, causal=2),
}
