"""Ask the answer judge which of the best notes tell what is asked: those first, and no note where none does.

Likeness cannot say this. "Does Priya have a dog?" is near every note about Priya, and "where do I live now?" is not
near "Braga it is!". Notes are judged, that is what people and agents wrote down: memories, facts, decisions. Turns,
sessions, passages of documents and source code keep their own order.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from weft.core.errors import WeftError
from weft.retrieval.pipeline import Answer, Judged
from weft.retrieval.pool import DATED_KINDS
from weft.retrieval.scoring.factors import asked_by_id, best_rows, without_rows
from weft.runtime.call_context import CallContext
from weft.text.extract.question.time_frame import is_key_words, is_question, without_times
from weft.text.lexical import stems
from weft.text.sentences import sentence_spans

SURE: Final = 0.5
NEAR_BEST: Final = 0.6  # of the best probability: a note that tells as well
WINDOW_CHARACTERS: Final = 400  # of a note that the judge reads at once
MAX_WINDOWS: Final = 3  # of a long note: those that share most words with the question
NOT_TOLD: Final = "no memory answers this question: min_score 0 shows the closest"


class Answers(Struct, frozen=True):
    """Adds `weight` x the probability that a note tells what is asked. Judges the best `among` notes.

    Where an English question is told by no note with at least `least`, all notes go, with a note that says so. Key
    words, tasks and statements ask for nothing in particular: they are only ordered. A failure leaves the order.
    """

    name: str = "answers"
    among: int = 32
    weight: float = 1.0
    least: float = 0.1

    def __call__(self, ctx: CallContext, answer: Answer) -> Answer:
        import numpy as np

        pool = answer.pool
        if ctx.judge is None or answer.vector is None or answer.frame.frame == "listing":
            return answer
        asks = is_question(answer.query)
        if not asks and not is_key_words(without_times(answer.query, answer.windows)):
            return answer
        scores = pool.scores()
        notes = {at for at, node in enumerate(pool.nodes) if node.kind in DATED_KINDS and node.text}
        rows = [at for at in best_rows(scores, len(scores)) if at in notes][: self.among]
        if not rows:
            return answer
        read = [windows(pool.nodes[at].text, answer.query) for at in rows]
        try:
            found = ctx.judge.judge(answer.query, [each for texts in read for each in texts])
        except WeftError as problem:
            return answer.noted(f"the answer judge failed, so its step was skipped: {problem.message}")
        ends = np.cumsum([len(texts) for texts in read])
        best = np.maximum.reduceat(found, [0, *ends[:-1]], axis=0)
        raw = np.zeros(len(scores))
        raw[rows] = best[:, 0]
        judged = {
            pool.nodes[at].id: Judged(tells=float(tells), belongs=float(belongs))
            for at, (tells, belongs) in zip(rows, best.tolist(), strict=True)
        }
        pool = pool.with_part(self.name, raw, self.weight, lambda at: f"tells what is asked, by {raw[at]:.2f}")
        answer = replace(answer, pool=pool, judged=judged)
        if not asks or answer.ask.min_score is not None or float(best[:, 0].max()) >= self.least:
            return answer
        answer = without_rows(answer, notes - asked_by_id(pool))
        return answer if answer.pool.nodes else answer.noted(NOT_TOLD)


def telling_rows(answer: Answer, rows: Collection[int]) -> list[int]:
    """Those of the rows that, to the judge, tell what is asked; empty where none surely does, or none was judged."""
    tells = {
        at: answer.judged[answer.pool.nodes[at].id].tells for at in rows if answer.pool.nodes[at].id in answer.judged
    }
    top = max((each.tells for each in answer.judged.values()), default=0.0)
    return [at for at, share in tells.items() if share >= max(SURE, NEAR_BEST * top)] if top >= SURE else []


def windows(text: str, question: str) -> Sequence[str]:
    """The text, or of a long one the parts that share most words with the question, and its beginning."""
    if len(text) <= WINDOW_CHARACTERS:
        return [text]
    parts: list[str] = []
    begin = end = 0
    for start, stop in sentence_spans(text):
        if end > begin and stop - begin > WINDOW_CHARACTERS:
            parts.append(text[begin:end])
            begin = start
        end = stop
    parts.append(text[begin:end])
    wanted = set(stems(question))
    parts.sort(key=lambda part: -len(wanted & set(stems(part))))
    return parts[:MAX_WINDOWS]
