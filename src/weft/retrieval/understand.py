"""Turns the words of a question into terms to look for."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from weft.lexical import query_terms
from weft.loom import Loom
from weft.retrieval.pipeline import Answer


class Understand(Struct, frozen=True):
    """Stems and weights of the question's words; its vector is begun meanwhile."""

    name: str = "understand"

    def __call__(self, loom: Loom, answer: Answer) -> Answer:
        loom.embedding.begin(answer.ask.query)
        terms = query_terms(answer.ask.query)
        notes = () if terms else ("the question holds no words to look for",)
        return replace(answer, terms=terms, notes=answer.notes + notes)
