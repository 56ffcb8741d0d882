"""Recipes: which stages, in which order."""

from __future__ import annotations

from typing import Final

from weft.retrieval.cut import Cut
from weft.retrieval.exact import Exact
from weft.retrieval.fuse import Fuse
from weft.retrieval.pipeline import Stage
from weft.retrieval.text import Text
from weft.retrieval.understand import Understand
from weft.retrieval.vector import Vector
from weft.retrieval.walk import Walk

DEFAULT: Final[tuple[Stage, ...]] = (Understand(), Exact(), Text(), Vector(), Fuse(), Walk(), Cut())
