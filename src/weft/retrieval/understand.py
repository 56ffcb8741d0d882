"""Reads the question: its words, its shape, the times it names. Its vector is begun meanwhile."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from weft.extract.code_lines import prose_of
from weft.extract.question import read_question
from weft.extract.windows import time_windows
from weft.lexical import query_terms
from weft.loom import Loom
from weft.retrieval.attend import NO_WORDS
from weft.retrieval.pipeline import Answer

# Of a word that only the code in a report holds: that is its author's own code, more than what it is about.
CODE_LINE = 0.25
FIRST_LINE = 2.0  # more weight for terms of a report's first line, which says what it is about


class Understand(Struct, frozen=True):
    """Stems and weights of the question's words, its shape, and the windows of time it names."""

    name: str = "understand"

    def __call__(self, loom: Loom, answer: Answer) -> Answer:
        query = answer.query
        loom.embedding.begin(query)
        question = read_question(query)
        weights = dict(query_terms(query))
        if question.is_report:
            told = dict(query_terms(prose_of(query)))
            weights = {term: max(told.get(term, 0.0), CODE_LINE * weight) for term, weight in weights.items()}
            for term, _ in query_terms(question.first_line):
                weights[term] = weights.get(term, 0.0) + FIRST_LINE
        notes = () if weights else (NO_WORDS,)
        return replace(
            answer,
            question=question,
            terms=tuple(weights.items()),
            windows=time_windows(question.first_line if question.is_report else query, answer.asked_at),
            notes=answer.notes + notes,
        )
