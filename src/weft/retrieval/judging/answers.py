"""Ask the answer judge which of the best notes tell what is asked: those first, and no note where none does.

Likeness cannot say this. "Does Priya have a dog?" is near every note about Priya, and "where do I live now?" is not
near "Braga it is!". Notes are judged, that is what people and agents wrote down (memories, facts, decisions), entities
by what is known of them, and turns of conversations where there are notes. Sessions, passages of documents and source
code keep their own order, as do turns by themselves.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from weft.core.errors import WeftError
from weft.core.kinds import DERIVED_FROM, VIEWS
from weft.core.types import NodeVersion
from weft.retrieval.judging.entity_texts import DESCRIBED_KINDS, MAX_ENTITIES, entity_texts
from weft.retrieval.pipeline import Answer, Judged
from weft.retrieval.pool import DATED_KINDS
from weft.retrieval.scoring.factors import asked_by_id, best_rows, without_rows
from weft.runtime.call_context import CallContext
from weft.text.extract.question.question_names import is_asked_about, names_in
from weft.text.extract.question.time_frame import is_key_words, is_question, without_times
from weft.text.lexical import stems, tokens
from weft.text.sentences import sentence_spans

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

    from weft.core.ports import AnswerJudge

JUDGED_KINDS: Final = DATED_KINDS | {"Cause", "Context"}
TITLED_KINDS: Final = frozenset({"Memory", "Decision", "Pattern", "Preference", "Context", "Learning"})
SURE: Final = 0.5
TELLING: Final = 0.44  # the least probability of another note than the best that tells what is asked
OF_BEST: Final = 0.6  # and the least share of the best one's
READ_TWICE: Final = 0.3  # the least probability of a note that others are read beside
SECOND_READING: Final = 0.8  # of the log odds, against .2 of the first: measured
OF_ANOTHER: Final = 0.5  # a text without any of the names in the question may tell the same of another
OF_WRITER: Final = 0.3  # a text about its writer, where a named person is asked about, or the other way round
MAY_TELL: Final = 0.05  # the least probability of a note that is read twice
BESIDE_CHARACTERS: Final = 200
ABOUT_IT: Final = 0.5  # probability of a note about the thing, where all is asked that is known of it
WINDOW_CHARACTERS: Final = 400  # of a note that the judge reads at once
MAX_TURNS: Final = 8  # of conversations, read beside notes
MAX_WINDOWS: Final = 3  # of a long note: those that share most words with the question
_THING: Final = re.compile(
    r"(?:(?:who|what)(?:'s| is| are| was| were)|(?:tell me|what do (?:i|we|you) know|is anything known) about)\b",
    re.IGNORECASE,
)
_JUDGEMENT: Final = re.compile(
    r"(?:can|could|should|might|would|shall|(?:what|which|how|where|when|who) should)\b", re.IGNORECASE
)
_WRITER: Final = re.compile(r"\bI(?:'m|'ve|'d|'ll)?\b")
_ASKS_OF_WRITER: Final = re.compile(r"\b(?:am|was|do|did|have|had|will|should|can) I\b", re.IGNORECASE)
NOT_TOLD: Final = "no memory answers this question: min_score 0 shows the closest"


class Answers(Struct, frozen=True):
    """Adds `weight` x the probability that a note tells what is asked. Judges the best `among` notes.

    Where an English question is told by no note with at least `least`, all notes go, with a note that says so. Key
    words, and questions for advice or a judgement, ask for nothing that a note must tell: they are only ordered.
    A failure leaves the order.
    """

    name: str = "answers"
    among: int = 32
    weight: float = 1.5
    least: float = 0.25

    def __call__(self, ctx: CallContext, answer: Answer) -> Answer:
        import numpy as np

        pool = answer.pool
        if ctx.judge is None or answer.vector is None:
            return answer
        if answer.frame.frame == "listing" and not answer.frame.subject:
            return answer
        asks = is_question(answer.query)
        if not asks and not is_key_words(without_times(answer.query, answer.windows)):
            return answer
        notes = {at for at, node in enumerate(pool.nodes) if node.kind in JUDGED_KINDS and node.text}
        try:
            texts, unknown = _texts_to_read(ctx, answer, notes, self.among)
            gone = _bare(answer, unknown) - asked_by_id(pool)
            if not texts:
                rest = without_rows(answer, gone) if gone else answer
                return replace(rest, refused=NOT_TOLD) if gone and not rest.pool.nodes else rest
            rows = list(texts)
            best = _read(ctx.judge, answer, list(texts.values()))
            best[_of_another(answer, [pool.nodes[at] for at in rows])] *= OF_WRITER
        except WeftError as problem:
            return answer.noted(f"the answer judge failed, so its step was skipped: {problem.message}")
        if thing := _THING.match(answer.query.strip()):  # "who is Karin Hofmann?": all that is known of her
            words = set(stems(answer.query.strip()[thing.end() :]))
            about = [bool(words) and words <= set(stems(pool.nodes[at].text)) for at in rows]
            best[:, 1] = np.maximum(best[:, 1], np.where(about, ABOUT_IT, 0.0))
            thing = thing if any(about) else None
        recorded = recorded_chain(answer)
        chain = [place for place, at in enumerate(rows) if at in recorded]
        best[chain] = best[chain].max(axis=0, initial=0.0)
        raw = np.zeros(len(pool.nodes))
        raw[rows] = best[:, 0]
        judged = {
            pool.nodes[at].id: Judged(tells=float(tells), belongs=float(belongs))
            for at, (tells, belongs) in zip(rows, best.tolist(), strict=True)
        }
        pool = pool.with_part(self.name, raw, self.weight, lambda at: f"tells what is asked, by {raw[at]:.2f}")
        answer = replace(answer, pool=pool, judged=judged)
        told = max(float(best[:, 0].max()), float(best[:, 1].max()) if thing else 0.0)
        if not asks_to_be_told(answer) or answer.ask.min_score is not None or told >= self.least:
            return without_rows(answer, gone) if gone else answer
        wordless = {at for at, node in enumerate(pool.nodes) if node.kind in VIEWS["entity"] and not node.text}
        return replace(without_rows(answer, (notes | wordless) - asked_by_id(pool)), refused=NOT_TOLD)


def _texts_to_read(
    ctx: CallContext, answer: Answer, notes: Collection[int], among: int
) -> tuple[dict[int, str], set[int]]:
    """What is read, by row: the best notes, what is known of the best entities, and, beside those, turns.

    And the best entities of which nothing is known.
    """
    pool = answer.pool
    order = best_rows(pool.scores(), len(pool.nodes))
    entities = [at for at in order if pool.nodes[at].kind in DESCRIBED_KINDS][:MAX_ENTITIES]
    known = entity_texts(ctx, answer, [pool.nodes[at] for at in entities])
    texts = {at: _with_title(pool.nodes[at]) for at in [at for at in order if at in notes][:among]}
    texts |= {at: known[pool.nodes[at].id] for at in entities if pool.nodes[at].id in known}
    if texts:
        turns = [at for at in order if pool.shapes[at] == "turn" and at not in texts][:MAX_TURNS]
        texts |= {at: pool.nodes[at].text for at in turns}
    return texts, {at for at in entities if at not in texts}


def _bare(answer: Answer, unknown: set[int]) -> set[int]:
    """Of the entities of which nothing is known those that answer nothing: all, or of key words those not named."""
    if answer.ask.min_score is not None:
        return set()
    if asks_to_be_told(answer):
        return unknown
    asked = set(stems(answer.query))
    return {at for at in unknown if asked.isdisjoint(stems(answer.pool.nodes[at].name))}


def _of_another(answer: Answer, nodes: Sequence[NodeVersion]) -> list[bool]:
    """For each text whether it is about its writer and the question about a named person, or the other way round."""
    untimed = without_times(answer.query, answer.windows)
    asked = [name for name in names_in(untimed) if is_asked_about(untimed, name)]
    if asked:
        return [bool(_WRITER.search(node.text)) and not any(name in node.text for name in asked) for node in nodes]
    if not _ASKS_OF_WRITER.search(untimed):
        return [False] * len(nodes)
    words = set(stems(untimed))
    return [
        node.kind == "Fact" and not _WRITER.match(node.text) and not set(stems(node.text.partition(" ")[0])) <= words
        for node in nodes
    ]


def _with_title(node: NodeVersion) -> str:
    """The words of a note after its title: of a decision the title is what was decided, the text the reasons."""
    if not node.name or node.kind not in TITLED_KINDS or node.name.lower() in node.text.lower():
        return node.text
    return f"{node.name} {node.text}" if node.kind == "Preference" else f"{node.name}: {node.text}"


def _read(judge: AnswerJudge, answer: Answer, texts: Sequence[str]) -> NDArray[float32]:
    """Two probabilities for each text. Of a question about what holds now, those that may tell it are read twice.

    The second time the question stands beside the text that tells the most: "down to 9.6 kg" tells no weight of a robot
    by itself, but does beside "How heavy is the robot? Weigh-in: 10.4 kg".
    """
    import numpy as np

    question = answer.query
    untimed = without_times(question, answer.windows)
    bounded = all(each.kind in ("since", "until", "between") for each in answer.frame.windows)
    if answer.frame.frame in ("before", "after") or (answer.frame.windows and bounded):  # not what is asked there
        question = untimed
    words = [set(tokens(text)) for text in texts]
    asked_about = [(set(tokens(name)), is_asked_about(untimed, name)) for name in names_in(untimed)]
    names = [name for name, subject in asked_about if subject or any(name & each for each in words)]
    first = _best_windows(judge, question, question, texts)
    if names:
        first *= np.array([1.0 if any(name & each for name in names) else OF_ANOTHER for each in words])[:, None]
    most = int(first[:, 0].argmax())
    if first[most, 0] < READ_TWICE or answer.frame.frame not in ("now", "last"):
        return first
    others = [at for at in range(len(texts)) if at != most and first[at].max() >= MAY_TELL]
    if others:
        beside = f"{question} {windows(texts[most], question)[0][:BESIDE_CHARACTERS]}"
        second = _best_windows(judge, beside, question, [texts[at] for at in others])
        odds = (1.0 - SECOND_READING) * _log_odds(first[others]) + SECOND_READING * _log_odds(second)
        first[others] = 1.0 / (1.0 + np.exp(-odds))
        first[most] = np.maximum(first[most], first[others].max(axis=0))
    return first


def _log_odds(share: NDArray[float32]) -> NDArray[float32]:
    import numpy as np

    bounded = np.clip(share, 1e-3, 1.0 - 1e-3)
    return np.asarray(np.log(bounded / (1.0 - bounded)))


def _best_windows(judge: AnswerJudge, asked: str, question: str, texts: Sequence[str]) -> NDArray[float32]:
    """The probabilities of the window of each text that tells the most of what is asked."""
    import numpy as np

    read = [windows(text, question) for text in texts]
    found = judge.judge(asked, [each for parts in read for each in parts])
    ends = np.cumsum([len(parts) for parts in read])
    return np.maximum.reduceat(found, [0, *ends[:-1]], axis=0)


def recorded_chain(answer: Answer) -> set[int]:
    """Of a question for reasons, the causes and effects that agents recorded: they are shown together or not at all."""
    if answer.intent != "WHY":
        return set()
    return {
        at
        for at, node in enumerate(answer.pool.nodes)
        if DERIVED_FROM not in node.props and any(each.view == "causal" for each in answer.sightings.get(node.id, ()))
    }


def asks_to_be_told(answer: Answer) -> bool:
    """Whether it is a question that a note can tell, and no task, key words, or request for advice or a judgement."""
    asks = is_question(answer.query) and not answer.question.asks_advice and answer.frame.frame != "listing"
    return asks and not _JUDGEMENT.match(answer.query.strip())


def telling_rows(answer: Answer, rows: Collection[int], of_best: float = OF_BEST) -> list[int]:
    """Those of the rows that, to the judge, tell what is asked; empty where none may, or none was judged.

    `of_best` is the least share of the best probability.
    """
    tells = {
        at: answer.judged[answer.pool.nodes[at].id].tells for at in rows if answer.pool.nodes[at].id in answer.judged
    }
    top = max((each.tells for each in answer.judged.values()), default=0.0)
    least = max(min(TELLING, top), of_best * max(tells.values(), default=0.0))
    return [at for at, share in tells.items() if share >= least] if top >= READ_TWICE else []


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
