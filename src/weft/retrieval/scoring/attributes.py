"""Raise notes that tell the attribute that is asked for of the subject that is asked about."""

from __future__ import annotations

from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from weft.retrieval.pipeline import Answer
from weft.retrieval.pool import DATED_KINDS
from weft.runtime.call_context import CallContext
from weft.text.extract.attributes import answering, asked_attributes, subjects
from weft.text.extract.question.time_frame import is_key_words, is_question, without_times

PART: Final = "attribute"
REASONS: Final = ("why", "how come", "what caused", "what led")


class Attributes(Struct, frozen=True):
    """Adds `weight`, on the scale of evidence, to dated notes of which a sentence has attribute and subject."""

    name: str = PART
    weight: float = 0.3

    def __call__(self, ctx: CallContext, answer: Answer) -> Answer:
        import numpy as np

        pool = answer.pool
        wanted, about = wanted_attributes(answer)
        if not wanted or not about:
            return answer
        told = {
            at: ", ".join(sorted(found))
            for at, node in enumerate(pool.nodes)
            if node.kind in DATED_KINDS and (found := answering(node.text, wanted, about))
        }
        if not told:
            return answer
        raw = np.zeros(len(pool.nodes))
        raw[list(told)] = 1.0
        pool = pool.with_part(self.name, raw, self.weight, lambda at: f"tells of {told[at]}")
        evidence = None if answer.evidence is None else answer.evidence + self.weight * raw
        return replace(answer, pool=pool, evidence=evidence)


def wanted_attributes(answer: Answer) -> tuple[frozenset[str], frozenset[str]]:
    """The attributes that the question asks for, and of what; none for a question about reasons, and for a task."""
    if answer.query.lower().startswith(REASONS) or not (is_question(answer.query) or is_key_words(answer.query)):
        return frozenset(), frozenset()
    asked = without_times(answer.query, answer.windows)
    return asked_attributes(asked), subjects(asked)


def tells_attribute(answer: Answer) -> frozenset[int]:
    """The rows that tell the attribute that is asked for."""
    parts = [part for part in answer.pool.parts if part.name == PART]
    return frozenset(int(at) for part in parts for at in part.raw.nonzero()[0])
