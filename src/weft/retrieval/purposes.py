"""Purposes of a question: how many candidates are read, how they are scored, which words are added."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from weft.core.errors import Invalid
from weft.retrieval.pipeline import Answer
from weft.runtime.call_context import CallContext
from weft.text.lexical import query_terms


class Purpose(Struct, frozen=True, kw_only=True):
    """A purpose: candidates to look at (`recall_floor`, or `multiplier` for each asked for), scoring profile, words.

    `half_life_days` and `expired_floor` are for memories kept for it: how long they last at least, and the share of
    its score that an expired one keeps (see `retention`).
    """

    name: str
    recall_floor: int
    multiplier: int
    scoring: str
    emphasis: tuple[str, ...]
    half_life_days: float = 0.0
    expired_floor: float = 0.0

    def candidates(self, limit: int) -> int:
        """The number of candidates to read for an answer of `limit`."""
        return max(self.recall_floor, self.multiplier * limit)


_EVERY: Final = (
    Purpose(
        name="coding",
        recall_floor=16,
        multiplier=3,
        scoring="recall",
        emphasis=("implementation", "convention", "decision"),
    ),
    Purpose(
        name="review",
        recall_floor=16,
        multiplier=3,
        scoring="precision",
        emphasis=("decision", "risk", "convention", "regression"),
        half_life_days=90.0,
        expired_floor=0.05,
    ),
    Purpose(
        name="release",
        recall_floor=24,
        multiplier=4,
        scoring="temporal",
        emphasis=("release", "version", "breaking", "migration", "rollback"),
        half_life_days=120.0,
        expired_floor=0.10,
    ),
    Purpose(
        name="security",
        recall_floor=24,
        multiplier=4,
        scoring="precision",
        emphasis=("security", "secret", "permission", "vulnerability", "exposure"),
        half_life_days=180.0,
        expired_floor=0.10,
    ),
    Purpose(
        name="research",
        recall_floor=20,
        multiplier=3,
        scoring="recall",
        emphasis=("evidence", "source", "finding", "contradiction"),
    ),
    Purpose(
        name="coordinate",
        recall_floor=24,
        multiplier=4,
        scoring="recall",
        emphasis=("accepted", "handoff", "proof", "status", "blocked"),
        half_life_days=180.0,
        expired_floor=0.15,
    ),
)
PURPOSES: Final[Mapping[str, Purpose]] = {purpose.name: purpose for purpose in _EVERY}


def purpose_of(name: str) -> Purpose:
    """The purpose of that name. Raises Invalid for one that there is not."""
    found = PURPOSES.get(name)
    if found is None:
        raise Invalid(f"there is no purpose {name[:60]!r}", hint=f"choose one of {', '.join(PURPOSES)}")
    return found


class Emphasis(Struct, frozen=True):
    """Adds the words of the purpose to those of the question; all together they weigh `weight` of one word.

    They decide between texts that answer; a question without words of its own gets none. A given `purpose` replaces the
    one that the question names.
    """

    name: str = "emphasis"
    weight: float = 0.3
    purpose: Purpose | None = None

    def __call__(self, ctx: CallContext, answer: Answer) -> Answer:
        named = answer.ask.purpose
        purpose = self.purpose or (None if named is None else purpose_of(named))
        if purpose is None or not answer.terms:
            return answer
        words = purpose.emphasis
        asked = {term for term, _ in answer.terms}
        each = self.weight / len(words)
        more = tuple((term, each) for term, _ in query_terms(" ".join(words)) if term not in asked)
        return replace(answer, terms=answer.terms + more)
