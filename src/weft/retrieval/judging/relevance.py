"""Drop what is too weak beside the best row: an answer to a question holds what answers, however few lines that is.

Key words, tasks and questions in other languages than English keep all that matches, as does a search without vectors,
whose scores say only which words match.
"""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct

from weft.core.kinds import VIEWS
from weft.retrieval.judging.answers import SURE, asks_to_be_told, recorded_chain
from weft.retrieval.pipeline import Answer
from weft.retrieval.pool import DATED_KINDS
from weft.retrieval.scoring.factors import without_rows
from weft.runtime.call_context import CallContext
from weft.text.extract.question.question_names import names_in
from weft.text.extract.question.time_frame import is_question
from weft.text.lexical import STOP_WORDS, stems

# Parts that tie a row to another answer: it may share few words with the question.
LINKS: Final = frozenset({"links", "bridges", "name", "walk", "superseded"})


class Relevant(Struct, frozen=True):
    """The least share of the best score, by what the row is.

    Measured: the passages that answer with the help of another score at least .3 of the best, notes that answer by
    themselves at least .5. Sessions and source code are close together by nature and are only cut by `rank`, as are
    turns, except beside a note that tells what is asked.
    """

    name: str = "relevant"
    note: float = 0.45
    passage: float = 0.3
    beside: float = 0.7  # of a note about a namesake
    judged: float = 0.7  # of the best probability that a note tells it or belongs to it, by the answer judge

    def __call__(self, ctx: CallContext, answer: Answer) -> Answer:
        import numpy as np

        pool = answer.pool
        asks, question = asks_to_be_told(answer), is_question(answer.query)
        judged = [answer.judged[node.id] for node in pool.nodes if node.id in answer.judged]
        best = max((max(each.tells, each.belongs) for each in judged), default=0.0)
        if not pool.nodes or answer.ask.min_score is not None or answer.vector is None:
            return answer
        if (not question and best < SURE) or answer.frame.frame == "listing":  # what is listed was chosen by its time
            return answer
        scores = pool.scores()
        linked = np.zeros(len(scores), bool)
        for part in pool.parts:
            if part.name in LINKS:
                linked |= np.asarray(part.values > 0.0)
        words = {stem for term, _ in answer.terms for stem in stems(term)}
        full = [name for name in names_in(answer.query) if " " in name]
        bearers = {at for at, node in enumerate(pool.nodes) if any(name in node.text for name in full)}
        kept_together = recorded_chain(answer)
        gone, first = set(), int(scores.argmax())
        newest = answer.frame.frame in ("now", "last")  # put first by time, of those that tell it
        timed = {first for part in pool.parts if newest and part.name == "time_frame" and part.values[first] > 0.0}
        for at, node in enumerate(pool.nodes):
            if pool.shapes[at] == "turn" and best >= SURE and asks:
                found = answer.judged.get(node.id)  # told by a note, or by a turn beside notes
                if found is None or max(found.tells, found.belongs) < self.judged * best:
                    gone.add(at)
            if pool.shapes[at] != "plain" or at in kept_together or at in timed:
                continue
            another = bool(bearers) and at not in bearers
            namesake = another and any(_namesake(name, node.text) for name in full)
            if (found := answer.judged.get(node.id)) is not None:
                weak = max(found.tells, found.belongs) < self.judged * best
                if (weak or namesake) and (asks or words.isdisjoint(stems(node.text))):
                    gone.add(at)
            elif question:
                least = self.note if node.kind in DATED_KINDS | {"Cause"} and not linked[at] else self.passage
                least = self.beside if another and least == self.note else least
                bare = not node.text and (node.kind == "Import" or (best >= SURE and node.kind in VIEWS["entity"]))
                if bare or (namesake and not linked[at]) or scores[at] < least * float(scores.max()):
                    gone.add(at)
        return without_rows(answer, gone) if gone else answer


def _namesake(name: str, text: str) -> bool:
    """Whether a text tells of another of the same first name."""
    first = name.split(maxsplit=1)[0]
    return first.lower() not in STOP_WORDS and re.search(rf"\b{re.escape(first)} [A-Z]\w", text) is not None
