"""Turns of a conversation in their flow: an answer follows its question, and what is around a turn is part of it.

    y(i) = x(i) (1 - .3 q(i)) + x(i-1) (.25 + .3 q(i-1)) + .2 x(i+1) + .1 x(i-2)

with x the base score and q the share of a turn that is a question. To that come the session as a whole (its words
together, and its best turn), who speaks, and how much a turn says.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from weft.lexical import fold_case, stems
from weft.loom import Loom
from weft.retrieval.gated import scored, spoken_names
from weft.retrieval.gather import joined
from weft.retrieval.pipeline import Answer
from weft.retrieval.pool import Pool
from weft.retrieval.pooling import pooled
from weft.sentences import sentence_spans

if TYPE_CHECKING:
    from weft.retrieval.pool import Column

ENOUGH_WORDS = 15
_PLACE = re.compile(r"^(.*)#(\d+)$", re.DOTALL)


class Flow(Struct, frozen=True):
    """Neighbours, session and speaker of turns that stand for themselves."""

    name: str = "flow"
    widened: int = 80
    speaker: float = 0.15
    question: float = 0.3
    before: float = 0.25
    answers: float = 0.3
    after: float = 0.2
    before_that: float = 0.1
    session_words: float = 0.3
    session_best: float = 0.2
    fullness: float = 0.15

    def __call__(self, loom: Loom, answer: Answer) -> Answer:
        import numpy as np

        if not answer.pool.has("turn"):
            return answer
        answer = replace(answer, pool=self._widened(loom, answer))
        pool = answer.pool
        turns = pool.mask("turn")
        if (spoken := _speaker_named(answer)) is not None:
            said = [float(_speaker(pool, at) == spoken) for at in range(len(pool.nodes))]
            pool = pool.with_part("speaker", np.where(turns, said, 0.0), self.speaker, lambda at: f"said by {spoken}")
        x = np.where(turns, pool.scores(), 0.0)
        asking = np.array(
            [_question_share(node.text) if turn else 0.0 for node, turn in zip(pool.nodes, turns, strict=True)]
        )
        pool = pool.with_part("asks", -x * asking, self.question, lambda at: "the turn asks rather than tells")
        pool = pool.with_part("around", self._around(pool, x, asking), 1.0, lambda at: "the turns before and after")
        words = self._session_words(answer, pool)
        pool = pool.with_part("session", words, self.session_words, lambda at: "the words of its session")
        best = _best_of_session(pool, pool.scores())
        pool = pool.with_part("session best", best, self.session_best, lambda at: "the best turn of its session")
        said_much = [min(len(stems(node.text)), ENOUGH_WORDS) / ENOUGH_WORDS for node in pool.nodes]
        pool = pool.with_part("fullness", np.where(turns, said_much, 0.0), self.fullness)
        return replace(answer, pool=pool)

    def _widened(self, loom: Loom, answer: Answer) -> Pool:
        """The pool with the turns around its best ones."""
        import numpy as np

        scores = np.where(answer.pool.mask("turn"), answer.pool.scores(), -np.inf)
        order = [int(at) for at in np.argsort(-scores, kind="stable")[: self.widened] if np.isfinite(scores[at])]
        around = [
            near
            for at in order
            for step in (-2, -1, 1, 2)
            if (near := _neighbour(answer.pool.nodes[at].id, step)) is not None
        ]
        pool = joined(loom, answer, around)
        return pool if pool is answer.pool else scored(answer, pool)

    def _around(self, pool: Pool, x: Column, asking: Column) -> Column:
        import numpy as np

        places = pool.places
        given = np.zeros(len(pool.nodes))
        for at, shape in enumerate(pool.shapes):
            if shape != "turn":
                continue
            for step, weight in ((-1, self.before), (1, self.after), (-2, self.before_that)):
                near = places.get(_neighbour(pool.nodes[at].id, step) or "")
                if near is not None:
                    more = self.answers * asking[near] if step == -1 else 0.0
                    given[at] += x[near] * (weight + more)
        return given

    def _session_words(self, answer: Answer, pool: Pool) -> Column:
        import numpy as np

        hits = [
            (hit.node.conversation, hit)
            for hit in (answer.text.hits if answer.text else ())
            if hit.node.conversation is not None and hit.node.whole is None
        ]
        scores = pooled(hits, dict(answer.terms), without=spoken_names(pool))
        best = max(scores.values(), default=0.0) or 1.0
        return np.array([scores.get(_conversation(pool, at), 0.0) / best for at in range(len(pool.nodes))])


def _conversation(pool: Pool, at: int) -> str:
    found = pool.nodes[at].props.get("conversation") if pool.shapes[at] == "turn" else None
    return found if isinstance(found, str) else ""


def _speaker(pool: Pool, at: int) -> str | None:
    found = pool.nodes[at].props.get("speaker")
    return found if isinstance(found, str) else None


def _speaker_named(answer: Answer) -> str | None:
    """The one speaker among the pool's whom the question names; None if it names none or several."""
    pool = answer.pool
    speakers = {who for at, shape in enumerate(pool.shapes) if shape == "turn" and (who := _speaker(pool, at))}
    asked = set(re.findall(r"\w+", fold_case(answer.ask.query)))
    named = [who for who in speakers if set(re.findall(r"\w+", fold_case(who))) & asked]
    return named[0] if len(named) == 1 else None


def _neighbour(node_id: str, step: int) -> str | None:
    """The id of the turn so many steps on, as conversations number them."""
    place = _PLACE.match(node_id)
    if place is None:
        return None
    at = int(place.group(2)) + step
    return f"{place.group(1)}#{at:0{len(place.group(2))}d}" if at > 0 else None


def _question_share(text: str) -> float:
    """How much of a text is questions, by characters."""
    if "?" not in text:
        return 0.0
    asked = sum(end - start for start, end in sentence_spans(text) if text[start:end].endswith("?"))
    return asked / max(1, len(text))


def _best_of_session(pool: Pool, scores: Column) -> Column:
    import numpy as np

    best: Mapping[str, float] = {}
    found: dict[str, float] = {}
    for at in range(len(pool.nodes)):
        if conversation := _conversation(pool, at):
            found[conversation] = max(found.get(conversation, 0.0), float(scores[at]))
    best = found
    return np.array([best.get(_conversation(pool, at), 0.0) for at in range(len(pool.nodes))])
