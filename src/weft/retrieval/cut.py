"""Keeps as many as were asked for."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from weft.loom import Loom
from weft.retrieval.pipeline import Answer


class Cut(Struct, frozen=True):
    """The best `limit` candidates."""

    name: str = "cut"

    def __call__(self, loom: Loom, answer: Answer) -> Answer:
        return replace(answer, ranked=answer.ranked[: answer.ask.limit])
