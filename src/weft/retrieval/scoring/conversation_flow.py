"""Turns in the flow of their conversation: an answer follows its question, and neighbours belong to a turn.

    y(i) = x(i) (1 - .3 q(i)) + x(i-1) (.2 + .3 q(i-1)) + .15 x(i+1) + .1 x(i-2)

with x the score so far and q the share of a turn that is a question; where a session begins or ends, a turn stands in
for the neighbour it lacks. To that come the session as a whole (its words together, its best turn), who speaks, and how
much a turn says.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from weft.retrieval.pipeline import Answer
from weft.retrieval.pool import Pool
from weft.retrieval.scoring.pooling import pooled
from weft.retrieval.scoring.soft_words import soft_words
from weft.retrieval.scoring.words_and_meaning import scored, spoken_names
from weft.retrieval.sources.gather import joined
from weft.runtime.call_context import CallContext
from weft.text.lexical import fold_case, stems
from weft.text.sentences import sentence_spans

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from weft.retrieval.pool import Column

ENOUGH_WORDS = 15
MAX_READ_CHARACTERS = 4_000  # of one turn
FROM_BEFORE, FROM_AFTER = 0.9, 0.8  # how far a word of the turn before, or after, counts as held
_WHEN = re.compile(
    r"^\s*(?:when|since when|what (?:date|day|month|year|time))\b|\bhow long\b|\b(?:which|what) (?:month|year|day)\b",
    re.IGNORECASE,
)


_TELLS_TIME = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|ago|recently|the other day|since|(?:19|20)\d\d"
    r"|january|february|march|april|june|july|august|september|october|november|december"
    r"|(?:last|this|next|past|every) (?:night|morning|week|weekend|month|year|spring|summer|autumn|fall|winter"
    r"|monday|tuesday|wednesday|thursday|friday|saturday|sunday)"
    r"|for (?:\w+ ){1,3}(?:days?|weeks?|months?|years?))\b",
    re.IGNORECASE,
)


class Flow(Struct, frozen=True):
    """Neighbours, session and speaker of turns that answer by themselves."""

    name: str = "flow"
    widened: int = 60
    speaker: float = 0.2
    soft: float = 0.75
    soft_session: float = 0.3
    question: float = 0.3
    before: float = 0.2
    answers: float = 0.3
    after: float = 0.15
    before_that: float = 0.1
    session_words: float = 0.15
    session_best: float = 0.2
    fullness: float = 0.15
    tells_when: float = 0.25

    def __call__(self, ctx: CallContext, answer: Answer) -> Answer:
        import numpy as np

        if not answer.pool.has("turn"):
            return answer
        answer = replace(answer, pool=self._widened(ctx, answer))
        talk = _Talk(answer.pool)
        pool = answer.pool
        if (spoken := _speaker_named(answer)) is not None:
            said = np.array([float(_speaker(pool, at) == spoken) for at in range(len(pool.nodes))])
            pool = pool.with_part("speaker", said * talk.turns, self.speaker, lambda at: f"said by {spoken}")
        pool = self._soft(answer, pool, talk)
        x = pool.scores() * talk.turns
        dates = next((part.values for part in pool.parts if part.name == "when"), np.zeros(len(x)))
        x = x - dates * talk.turns  # a date belongs to a session, not to a turn and its neighbours
        pool = pool.with_part("asks", -x * talk.asking, self.question, lambda at: "the turn is a question")
        pool = pool.with_part("around", self._around(talk, x), 1.0, lambda at: "the turns before and after")
        words = self._session_words(answer, pool, talk)
        pool = pool.with_part("session", words, self.session_words, lambda at: "the words of its session")
        best = talk.best_of_session(pool.scores())
        pool = pool.with_part("session best", best, self.session_best, lambda at: "the best turn of its session")
        rows = zip(pool.nodes, talk.turns, strict=True)
        said_much = [_fullness(node.text) if turn else 0.0 for node, turn in rows]
        pool = pool.with_part("fullness", np.array(said_much), self.fullness)
        if _WHEN.search(answer.query):
            rows = zip(pool.nodes, talk.turns, strict=True)
            told = [
                float(turn and _TELLS_TIME.search(node.text[:MAX_READ_CHARACTERS]) is not None) for node, turn in rows
            ]
            pool = pool.with_part("tells when", np.array(told), self.tells_when)
        return replace(answer, pool=pool)

    def _widened(self, ctx: CallContext, answer: Answer) -> Pool:
        """The pool with the turns around its best ones."""
        import numpy as np

        scores = np.where(answer.pool.mask("turn"), answer.pool.scores(), -np.inf)
        order = [int(at) for at in np.argsort(-scores, kind="stable")[: self.widened] if np.isfinite(scores[at])]
        around = [
            near
            for at in order
            for step in (-2, -1, 1, 2)
            if (near := turn_beside(answer.pool.nodes[at].id, step)) is not None
        ]
        pool = joined(ctx, answer, around)
        return pool if pool is answer.pool else scored(answer, pool)

    def _soft(self, answer: Answer, pool: Pool, talk: _Talk) -> Pool:
        """Parts for the question's words in a turn, in its neighbours, and in its session."""
        import numpy as np

        names = {word for speaker in talk.speakers for word in re.findall(r"\w+", fold_case(speaker))}
        texts = [node.text if turn else "" for node, turn in zip(pool.nodes, talk.turns, strict=True)]
        found = soft_words(answer, texts, names)
        if found is None:
            return pool
        held = found.held
        wide = held.copy()
        for step, share in ((-1, FROM_BEFORE), (1, FROM_AFTER)):
            near = talk.beside[step]
            there = near >= 0
            wide[there] = np.maximum(wide[there], share * held[near[there]])
        session = talk.most_of_session(held)
        pool = pool.with_part("soft words", (wide @ found.weights) * talk.turns, self.soft, lambda at: "words alike")
        return pool.with_part("soft session", (session @ found.weights) * talk.turns, self.soft_session)

    def _around(self, talk: _Talk, x: Column) -> Column:
        import numpy as np

        given = np.zeros(len(x))
        for step, weight in ((-1, self.before), (1, self.after), (-2, self.before_that)):
            near = talk.beside[step]
            there = near >= 0
            more = np.where(there, talk.asking[near], 0.0) if step == -1 else 0.0
            given += np.where(there, x[near], x) * (weight + self.answers * more)
        return np.asarray(given * talk.turns)

    def _session_words(self, answer: Answer, pool: Pool, talk: _Talk) -> Column:
        import numpy as np

        hits = [
            (hit.node.conversation, hit)
            for hit in (answer.text.hits if answer.text else ())
            if hit.node.conversation is not None and hit.node.whole is None
        ]
        scores = pooled(hits, dict(answer.terms), without=spoken_names(pool))
        best = max(scores.values(), default=0.0) or 1.0
        return np.array([scores.get(conversation, 0.0) / best for conversation in talk.conversations])


class _Talk:
    """The places of the pool's turns in their conversations."""

    def __init__(self, pool: Pool) -> None:
        import numpy as np

        self.turns = pool.mask("turn").astype(float)
        self.conversations = [_conversation(pool, at) for at in range(len(pool.nodes))]
        self.speakers = {who for at in range(len(pool.nodes)) if self.turns[at] and (who := _speaker(pool, at))}
        told = zip(pool.nodes, self.turns, strict=True)
        self.asking = np.array([_question_share(node.text) if turn else 0.0 for node, turn in told])
        spots = [_spot(node.id) if turn else None for node, turn in zip(pool.nodes, self.turns, strict=True)]
        taken = {spot: at for at, spot in enumerate(spots) if spot is not None}
        self.beside = {
            step: np.array([taken.get((spot[0], spot[1] + step), -1) if spot else -1 for spot in spots], int)
            for step in (-2, -1, 1)
        }
        numbers = {name: at for at, name in enumerate(dict.fromkeys(self.conversations))}
        self.sessions = np.array([numbers[name] for name in self.conversations], int)

    def best_of_session(self, scores: Column) -> Column:
        """For each turn the best score of its session; 0 for other rows."""
        import numpy as np

        best = np.full(int(self.sessions.max(initial=0)) + 1, -np.inf)
        np.maximum.at(best, self.sessions, scores)
        return np.where(self.turns > 0, best[self.sessions], 0.0)

    def most_of_session(self, held: NDArray[np.float32]) -> NDArray[np.float32]:
        """For each turn and word the most that any turn of its session holds."""
        import numpy as np

        most = np.full((int(self.sessions.max(initial=0)) + 1, held.shape[1]), -9.0, np.float32)
        np.maximum.at(most, self.sessions, held)
        return np.asarray(most[self.sessions])


def _conversation(pool: Pool, at: int) -> str:
    found = pool.nodes[at].props.get("conversation") if pool.shapes[at] == "turn" else None
    return found if isinstance(found, str) else ""


def _speaker(pool: Pool, at: int) -> str | None:
    found = pool.nodes[at].props.get("speaker")
    return found if isinstance(found, str) else None


def _speaker_named(answer: Answer) -> str | None:
    """The one speaker of the pool whom the question names; None if it names none or several."""
    pool = answer.pool
    speakers = {who for at, shape in enumerate(pool.shapes) if shape == "turn" and (who := _speaker(pool, at))}
    asked = set(re.findall(r"\w+", fold_case(answer.query)))
    named = [who for who in speakers if set(re.findall(r"\w+", fold_case(who))) & asked]
    return named[0] if len(named) == 1 else None


def _spot(node_id: str) -> tuple[str, int] | None:
    """The conversation of a turn and its number there, from its id."""
    name, mark, number = node_id.rpartition("#")
    return (name, int(number)) if mark and number.isdecimal() else None


def turn_beside(node_id: str, step: int) -> str | None:
    """The id of the turn at an offset; turns are numbered within a conversation."""
    spot = _spot(node_id)
    if spot is None or spot[1] + step < 1:
        return None
    return f"{spot[0]}#{spot[1] + step:0{len(node_id) - len(spot[0]) - 1}d}"


def _fullness(text: str) -> float:
    """The weight of a turn's length: 1 from ENOUGH_WORDS content words on."""
    return min(len(stems(text[:MAX_READ_CHARACTERS])), ENOUGH_WORDS) / ENOUGH_WORDS


def _question_share(text: str) -> float:
    """The share of a text's characters that are in questions."""
    text = text[:MAX_READ_CHARACTERS]
    if "?" not in text:
        return 0.0
    asked = sum(end - start for start, end in sentence_spans(text) if text[start:end].endswith("?"))
    return asked / max(1, len(text))
