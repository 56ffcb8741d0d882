"""Of two similar hits from different times, the newer one first.

Both are shown: similarity does not prove that one replaces the other. The older one is marked where the newer one
restates it (see `may_replace`), which takes more than similarity. The order stays where the question names a time or an
earlier state, compares several things or adds them up; where it asks for advice or the assistant's words, nothing is
marked either.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from weft.core.clock import to_iso
from weft.core.types import NodeVersion
from weft.retrieval.pipeline import Answer
from weft.retrieval.pool import DATED_KINDS, Pool
from weft.retrieval.sources.sessions import OTHERS
from weft.retrieval.sources.subscriptions import cited
from weft.runtime.call_context import CallContext
from weft.text.lexical import stems
from weft.text.sentences import sentence_spans

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = Mapping[int, NDArray[np.float32]]

NEWER: Final = "a newer memory"
STEP = 1e-6  # by how much the newer one is put above the older
_SEVERAL = re.compile(
    r"\bhow (?:long|many (?:days|weeks|months|years)|much (?:more|less|older|younger|earlier|later|longer|time))\b"
    r"|\b(?:first|order|earliest|compared?|total|in all|altogether|combined|different|increased?|decreased?|average)\b"
    r"|\b(?:originally|initially|previous(?:ly)?|used to|when i|before i|after i|since i|between)\b",
    re.IGNORECASE,
)


class PreferNewer(Struct, frozen=True):
    """Pairs among the best `among`: similar words, close scores, different times."""

    name: str = "fresh"
    among: int = 5
    ratio: float = 0.7
    alike: float = 0.45
    same: float = 0.6  # from here on the older one may be marked

    def __call__(self, ctx: CallContext, answer: Answer) -> Answer:
        import numpy as np

        pool, question = answer.pool, answer.question
        if answer.vector is None or question.asks_assistant or question.asks_advice:
            return answer
        scores = pool.scores()
        order = [
            int(at)
            for at in np.argsort(-scores, kind="stable")[: self.among]
            if scores[at] > 0.0 and (pool.shapes[at] in ("session", "turn") or pool.nodes[at].kind in DATED_KINDS)
        ]
        if len(order) < 2:
            return answer
        vectors, said = _vectors(ctx, answer, order)
        keeps = bool(answer.windows) or _SEVERAL.search(answer.query) is not None
        moved, same = self._sorted(answer, order, scores, vectors, keeps=keeps)
        raw = np.zeros(len(pool.nodes))
        if moved != order:
            for place, (at, before) in enumerate(zip(moved, sorted(scores[moved].tolist(), reverse=True), strict=True)):
                raw[at] = before - place * STEP - scores[at]
        pool = pool.with_part(self.name, raw, 1.0, lambda at: "newer of two similar texts") if raw.any() else pool
        return _marked(ctx, replace(answer, pool=pool), same, said)

    def _sorted(
        self, answer: Answer, order: list[int], scores: NDArray[np.float64], vectors: Vectors, *, keeps: bool
    ) -> tuple[list[int], list[tuple[int, int]]]:
        """The order with newer ones above similar older ones, and the surest pairs: old, new."""
        begins = {at: answer.pool.nodes[at].interval.valid_from for at in order}
        moved = list(order)
        same: list[tuple[int, int]] = []
        for new in order:
            if new not in vectors or begins[new] > answer.asked_at:
                continue
            for old in order:
                if old not in vectors or begins[old] >= begins[new] or scores[new] < self.ratio * scores[old]:
                    continue
                if not comparable(answer.pool.nodes[new], answer.pool.nodes[old]):
                    continue
                cosine = float(vectors[new] @ vectors[old])
                if cosine < self.alike:
                    continue
                if cosine >= self.same:
                    same.append((old, new))
                if not keeps and _moves(answer, new, old) and moved.index(new) > moved.index(old):
                    moved.remove(new)
                    moved.insert(moved.index(old), new)
        return moved, same


def _moves(answer: Answer, new: int, old: int) -> bool:
    """Whether the newer one may go first here.

    Notes that have a time frame are ordered by it (see `time_frame`). A turn keeps its place: putting the newer one
    first cost four points of R@1 on questions without an update.
    """
    shapes = {answer.pool.shapes[new], answer.pool.shapes[old]}
    if shapes == {"session"}:
        return True
    return "turn" not in shapes and answer.frame.frame == "any"


def comparable(new: NodeVersion, old: NodeVersion) -> bool:
    """Two facts are comparable only if they state the same property of the same thing."""
    if new.kind != "Fact" or old.kind != "Fact":
        return True
    return all(new.props.get(name) == old.props.get(name) for name in ("subject", "predicate"))


def _marked(ctx: CallContext, answer: Answer, same: Sequence[tuple[int, int]], said: Mapping[int, Utterance]) -> Answer:
    """With a mark on each that a newer one may replace: the newest, by a citation."""
    nodes = answer.pool.nodes
    newest: dict[int, int] = {}
    for old, new in same:
        if nodes[new].kind != "Fact" and not may_replace(said[new], said[old], answer.query):
            continue
        if old not in newest or nodes[new].interval.valid_from > nodes[newest[old]].interval.valid_from:
            newest[old] = new
    return mark_older(ctx, answer, newest)


def mark_older(ctx: CallContext, answer: Answer, newest: Mapping[int, int]) -> Answer:
    """Marks each row of `newest` that the given row may replace, unless it is marked or has ended."""
    nodes = answer.pool.nodes
    newest = {
        old: new
        for old, new in newest.items()
        if not _is_marked(answer, old) and _of_a_kind(nodes[new], nodes[old]) and nodes[old].interval.valid_to is None
    }
    if not newest:
        return answer
    citations = cited(ctx, [nodes[at] for at in set(newest.values())], followed=answer.followed)
    marks, named = {**answer.pool.marks}, {**answer.pool.named}
    for old, new in newest.items():
        when = to_iso(nodes[new].interval.valid_from)[:10]
        mark = f"{NEWER} of {when} may replace this: {citations.get(nodes[new].event, nodes[new].id)}"
        marks[nodes[old].id] = (*marks.get(nodes[old].id, ()), mark)
        named[mark] = (*named.get(mark, ()), nodes[new].id)
    return replace(answer, pool=replace(answer.pool, marks=marks, named=named))


def _is_marked(answer: Answer, at: int) -> bool:
    return any(mark.startswith(NEWER) for mark in answer.pool.marks.get(answer.pool.nodes[at].id, ()))


def _of_a_kind(new: NodeVersion, old: NodeVersion) -> bool:
    """Whether one can replace the other at all: a fact only replaces facts, an event nothing."""
    return "Event" not in (new.kind, old.kind) and (new.kind == "Fact") == (old.kind == "Fact")


def _vectors(ctx: CallContext, answer: Answer, order: list[int]) -> tuple[Vectors, dict[int, Utterance]]:
    """The text to compare for each row: of a session the nearest statement of the user, else its own."""
    import numpy as np

    pool, model = answer.pool, ctx.embedding.model or ""
    said = {at: _turn(pool, at) for at in order if pool.shapes[at] == "session"}
    turns = ctx.store.nodes(ctx.viewer, answer.ask.when, tuple(filter(None, said.values())))
    texts = {turn.id: (turn.text, turn.content_hash) for turn in turns}
    vectors = {}
    words = {at: _said(pool.nodes[at]) for at in order}
    others = {at: pool.nodes[at].content_hash for at in order if at not in said}
    for at, turn_id in said.items():
        if turn_id not in texts:
            continue
        text, key = texts[turn_id]
        words[at] = Utterance(words=text, conversation=pool.nodes[at].id)
        if not _parts(pool, key):
            others[at] = key
            continue
        sentence = _sentence(pool, text, key)
        words[at] = Utterance(words=sentence, conversation=pool.nodes[at].id)
        data, _ = ctx.embedding.query(sentence)
        if data is not None:
            vectors[at] = np.frombuffer(data, "<f4")
    found = ctx.store.vectors(ctx.viewer, model, tuple(others.values()))
    for at, key in others.items():
        if key in found:
            vectors[at] = np.frombuffer(found[key], "<f2").astype(np.float32)
    return vectors, words


def _said(node: NodeVersion) -> Utterance:
    told = {name: value for name, value in node.props.items() if isinstance(value, str)}
    by = told.get("speaker") or told.get("role", "")
    words = (node.text or node.summary or node.name).removeprefix(f"{by}: ")
    return Utterance(words=words, by=by, conversation=told.get("conversation", ""))


def _turn(pool: Pool, at: int) -> str | None:
    own = [lead for lead in pool.leads[at] if lead.role not in OTHERS]
    if not own:
        return None
    return max(own, key=lambda lead: pool.best_sentence(lead.content_hash)).id


def _sentence(pool: Pool, text: str, content_hash: bytes) -> str:
    placed = [(cosine, text[start:end]) for start, end, cosine in _parts(pool, content_hash)]
    own = [(cosine, sentence) for cosine, sentence in placed if FIRST_PERSON.search(sentence)]
    return max(own or placed)[1]


def _parts(pool: Pool, content_hash: bytes) -> Sequence[tuple[int, int, float]]:
    """The sentences of a text with their cosines, where they are known."""
    near = pool.nearness.get(content_hash)
    return near.parts if near is not None else ()


# ---- updates: a missed one costs less than a false one, as a reader acts on the mark

READ_CHARACTERS: Final = 2_000  # of one text
MAX_SENTENCES: Final = 12
LEAST_SHARED: Final = 2  # words without numbers, which an update changes
OF_THE_SHORTER: Final = 0.6
OF_THE_LONGER: Final = 0.25
FIRST_PERSON: Final = re.compile(r"\b(?:I|I'm|I've|I'd|I'll|my|me|mine|we|our|us)\b", re.IGNORECASE)
_ASKS: Final = re.compile(
    r"(?:please |can you |could you )?(?:tell|remind|show|give|help) me\b"
    r"|(?:what|who|whom|whose|where|when|which|how|why|is|are|was|were|do|does|did|can|could|should|would|will|has|have)"
    r"\b(?! ?['’])",
    re.IGNORECASE,
)


class Utterance(Struct, frozen=True, kw_only=True):
    """The words of a node, their speaker and conversation; empty where unknown."""

    words: str
    by: str = ""
    conversation: str = ""


def may_replace(new: Utterance, old: Utterance, question: str) -> bool:
    """Whether both state different things of the same subject, as far as the question goes.

    Never by a question, by an assistant, by a turn of the same conversation, or where two people speak of themselves.
    """
    if new.by in OTHERS or (new.conversation and new.conversation == old.conversation):
        return False
    if new.by and old.by and new.by != old.by and any(FIRST_PERSON.search(each.words) for each in (new, old)):
        return False
    wanted = set(stems(question))
    later = [stems(each) for each in _told(new.words)]
    return any(_anew(each, stems(before), wanted) for before in _told(old.words) for each in later)


def _anew(new: list[str], old: list[str], wanted: set[str]) -> bool:
    """Whether one sentence restates another with a change.

    The newer one has the first content word of the older one, every question word that the older one has, and most
    words of the shorter one.
    """
    asked = wanted & set(old)
    if not asked or set(new) == set(old) or not {old[0], *asked} <= set(new):
        return False
    shared = len(_plain(new) & _plain(old))
    few, many = sorted((len(_plain(new)), len(_plain(old))))
    return shared >= max(LEAST_SHARED, OF_THE_SHORTER * few, OF_THE_LONGER * many)


def _told(words: str) -> list[str]:
    """The first sentences of a text that do not ask."""
    text = words[:READ_CHARACTERS]
    sentences = [text[start:end].strip() for start, end in sentence_spans(text)]
    return [each for each in sentences if not each.endswith("?") and not _ASKS.match(each)][:MAX_SENTENCES]


def _plain(content: list[str]) -> set[str]:
    return {word for word in content if not word.isdigit()}
