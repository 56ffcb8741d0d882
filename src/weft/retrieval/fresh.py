"""Where two of the best say the like at different times, the newer one comes first.

Both are shown: similarity is no proof that one replaces the other. The older one is marked where the newer one tells of
the same thing anew, see `replacing`, which takes more than to be like it. The order stays where the question names a
time or an earlier state, sets several things against each other or adds them up; where advice or the assistant's own
words are asked for, nothing is marked either.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from weft.instants import to_iso
from weft.loom import Loom
from weft.retrieval.pipeline import Answer
from weft.retrieval.pool import Pool
from weft.retrieval.replacing import FIRST_PERSON, Said, may_replace
from weft.retrieval.sessions import OTHERS
from weft.retrieval.subscriptions import cited
from weft.types import NodeVersion

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = Mapping[int, NDArray[np.float32]]

# Kinds that tell how things are, and so may tell it anew. A passage of a text does not. An older turn of a talk is
# marked and keeps its place: to put the newer one first cost four points of R@1 where no update was asked about.
CHANGING = frozenset({"Memory", "Fact", "Preference", "Decision", "Pattern", "Learning", "Event"})
STEP = 1e-6  # by how much the newer one is put above the older
_SEVERAL = re.compile(
    r"\bhow (?:long|many (?:days|weeks|months|years)|much (?:more|less|older|younger|earlier|later|longer|time))\b"
    r"|\b(?:first|order|earliest|compared?|total|in all|altogether|combined|different|increased?|decreased?|average)\b"
    r"|\b(?:originally|initially|previous(?:ly)?|used to|when i|before i|after i|since i|between)\b",
    re.IGNORECASE,
)


class Fresh(Struct, frozen=True):
    """Pairs among the best `among`: alike in what they say, close in score, apart in time."""

    name: str = "fresh"
    among: int = 5
    ratio: float = 0.7
    alike: float = 0.45
    same: float = 0.6  # from where on the older one may be marked

    def __call__(self, loom: Loom, answer: Answer) -> Answer:
        import numpy as np

        pool, question = answer.pool, answer.question
        if answer.vector is None or question.asks_assistant or question.asks_advice:
            return answer
        scores = pool.scores()
        order = [
            int(at)
            for at in np.argsort(-scores, kind="stable")[: self.among]
            if scores[at] > 0.0 and (pool.shapes[at] in ("session", "turn") or pool.nodes[at].kind in CHANGING)
        ]
        if len(order) < 2:
            return answer
        vectors, said = _vectors(loom, answer, order)
        keeps = bool(answer.windows) or _SEVERAL.search(answer.query) is not None
        moved, same = self._sorted(answer, order, scores, vectors, keeps=keeps)
        raw = np.zeros(len(pool.nodes))
        if moved != order:
            for place, (at, before) in enumerate(zip(moved, sorted(scores[moved].tolist(), reverse=True), strict=True)):
                raw[at] = before - place * STEP - scores[at]
        pool = pool.with_part(self.name, raw, 1.0, lambda at: "newer of two that say the like") if raw.any() else pool
        return _marked(loom, replace(answer, pool=pool), same, said)

    def _sorted(
        self, answer: Answer, order: list[int], scores: NDArray[np.float64], vectors: Vectors, *, keeps: bool
    ) -> tuple[list[int], list[tuple[int, int]]]:
        """The order with newer ones above older ones that say the like, and the surest pairs: old, new."""
        begins = {at: answer.pool.nodes[at].interval.valid_from for at in order}
        moved = list(order)
        same: list[tuple[int, int]] = []
        for new in order:
            if new not in vectors or begins[new] > answer.asked_at:
                continue
            for old in order:
                if old not in vectors or begins[old] >= begins[new] or scores[new] < self.ratio * scores[old]:
                    continue
                if not _comparable(answer.pool.nodes[new], answer.pool.nodes[old]):
                    continue
                cosine = float(vectors[new] @ vectors[old])
                if cosine < self.alike:
                    continue
                if cosine >= self.same:
                    same.append((old, new))
                turn = "turn" in (answer.pool.shapes[new], answer.pool.shapes[old])
                if not keeps and not turn and moved.index(new) > moved.index(old):
                    moved.remove(new)
                    moved.insert(moved.index(old), new)
        return moved, same


def _comparable(new: NodeVersion, old: NodeVersion) -> bool:
    """Two facts say the like only of the same property of the same thing, however like their words are."""
    if new.kind != "Fact" or old.kind != "Fact":
        return True
    return all(new.props.get(name) == old.props.get(name) for name in ("subject", "predicate"))


def _marked(loom: Loom, answer: Answer, same: Sequence[tuple[int, int]], said: Mapping[int, Said]) -> Answer:
    """With a mark on each that a newer one may replace: the newest, by a citation."""
    nodes = answer.pool.nodes
    newest: dict[int, int] = {}
    for old, new in same:
        if not _of_a_kind(nodes[new], nodes[old]):
            continue
        if nodes[new].kind != "Fact" and not may_replace(said[new], said[old], answer.query):
            continue
        if old not in newest or nodes[new].interval.valid_from > nodes[newest[old]].interval.valid_from:
            newest[old] = new
    if not newest:
        return answer
    citations = cited(loom, [nodes[at] for at in set(newest.values())], followed=answer.followed)
    marks, named = {**answer.pool.marks}, {**answer.pool.named}
    for old, new in newest.items():
        when = to_iso(nodes[new].interval.valid_from)[:10]
        mark = f"a newer memory of {when} may replace this: {citations.get(nodes[new].event, nodes[new].id)}"
        marks[nodes[old].id] = (*marks.get(nodes[old].id, ()), mark)
        named[mark] = (*named.get(mark, ()), nodes[new].id)
    return replace(answer, pool=replace(answer.pool, marks=marks, named=named))


def _of_a_kind(new: NodeVersion, old: NodeVersion) -> bool:
    """Whether one can replace the other at all: a fact only a fact, and what happens next nothing that happened."""
    return "Event" not in (new.kind, old.kind) and (new.kind == "Fact") == (old.kind == "Fact")


def _vectors(loom: Loom, answer: Answer, order: list[int]) -> tuple[Vectors, dict[int, Said]]:
    """What speaks for each row, by itself: of a session the nearest thing the user says of himself, else the text."""
    import numpy as np

    pool, model = answer.pool, loom.embedding.model or ""
    said = {at: _turn(pool, at) for at in order if pool.shapes[at] == "session"}
    turns = loom.store.nodes(loom.viewer, answer.ask.when, tuple(filter(None, said.values())))
    texts = {turn.id: (turn.text, turn.content_hash) for turn in turns}
    vectors = {}
    words = {at: _said(pool.nodes[at]) for at in order}
    others = {at: pool.nodes[at].content_hash for at in order if at not in said}
    for at, turn_id in said.items():
        if turn_id not in texts:
            continue
        text, key = texts[turn_id]
        words[at] = Said(words=text, conversation=pool.nodes[at].id)
        if not _parts(pool, key):
            others[at] = key
            continue
        sentence = _sentence(pool, text, key)
        words[at] = Said(words=sentence, conversation=pool.nodes[at].id)
        data, _ = loom.embedding.query(sentence)
        if data is not None:
            vectors[at] = np.frombuffer(data, "<f4")
    found = loom.store.vectors(loom.viewer, model, tuple(others.values()))
    for at, key in others.items():
        if key in found:
            vectors[at] = np.frombuffer(found[key], "<f2").astype(np.float32)
    return vectors, words


def _said(node: NodeVersion) -> Said:
    told = {name: value for name, value in node.props.items() if isinstance(value, str)}
    by = told.get("speaker") or told.get("role", "")
    words = (node.text or node.summary or node.name).removeprefix(f"{by}: ")
    return Said(words=words, by=by, conversation=told.get("conversation", ""))


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
    """The sentences of a text that has several, where the embedder placed them."""
    near = pool.nearness.get(content_hash)
    return near.parts if near is not None else ()
