"""Bridges: two texts that share a name which is no title.

    edge(p → x by e) = rarity(e) · (.15 + 1.1 cos(sentence)) · (1 - .3 · strongest link of p)
                       · exp(3 (T(x) - best T of those that hold e))
    T(x)             = cos(q, x) - cos(q, p) · cos(p, x)

The film is found, its director is no title of any text, but the text that answers names him too. T is how near a text
is to what the question asks beyond what p already says. Rarity is ln(N / df) / ln N. From the best texts, then once
more from the best that were reached.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from weft.core.kinds import VIEWS
from weft.core.queries import Lead, VectorQuery
from weft.retrieval.pipeline import Answer
from weft.retrieval.pool import Pool
from weft.retrieval.scoring.words_and_meaning import SENTENCE, hits_by_id, scored
from weft.retrieval.sources.gather import joined
from weft.retrieval.sources.name_links import sentences_of
from weft.runtime.call_context import CallContext
from weft.text.lexical import fold_case, stems
from weft.text.names import alias_key, capital_spans

if TYPE_CHECKING:
    from weft.retrieval.pool import Column

FLOOR, BY_COSINE = 0.15, 1.1
LINKED = 0.3
SHARPNESS = 3.0
MOST_HOLDING = 60  # nodes: a name in more of them says little
NO_TEXTS = VIEWS["entity"] | VIEWS["causal"] | {"Fact", "Preference"}  # short nodes that repeat a text


class Bridge(NamedTuple):
    """A link over a shared name: from, to, strength, name."""

    source: str
    target: str
    weight: float
    name: str


class Bridges(Struct, frozen=True):
    """From titled texts along the names they share with others."""

    name: str = "bridges"
    seeds: int = 3
    more: int = 4
    spans: int = 10
    rows: int = 10
    decay: float = 0.7
    weight: float = 1.0

    def __call__(self, ctx: CallContext, answer: Answer) -> Answer:

        if answer.vector is None or answer.text is None or not answer.pool.has("plain"):
            return answer
        best = _titled(answer.pool, answer.pool.scores())[: self.seeds]
        if not best:
            return answer
        top = best[0][1]
        reached: dict[str, Bridge] = {}
        answer = self._cross(ctx, answer, {node: score / top for node, score in best}, reached)
        raw = _column(answer.pool, reached)
        again = _titled(answer.pool, answer.pool.scores() + self.weight * raw)[: self.more]
        front = {node: self.decay * min(1.0, score / top) for node, score in again if node not in dict(best)}
        if front:
            answer = self._cross(ctx, answer, front, reached)
            raw = _column(answer.pool, reached)
        if not raw.any():
            return answer
        names = {node.id: node.name or node.id for node in answer.pool.nodes}
        ids = [node.id for node in answer.pool.nodes]

        def path(at: int) -> str:
            found = reached.get(ids[at])
            return "" if found is None else f"{names.get(found.source, found.source)} ~[{found.name}]~ {names[ids[at]]}"

        return replace(answer, pool=answer.pool.with_part(self.name, raw, self.weight, path))

    def _cross(
        self, ctx: CallContext, answer: Answer, front: Mapping[str, float], reached: dict[str, Bridge]
    ) -> Answer:
        """Follows the shared names of these texts; adds the targets to the pool and to `reached`."""
        named = {node: self._spans(answer, node) for node in front}
        # Folded first: of "McDonald" the index holds the whole in its place, the parts of it elsewhere.
        phrases = {name: " ".join(stems(fold_case(name))) for spans in named.values() for name in spans}
        held = ctx.store.by_phrase(
            ctx.viewer,
            answer.ask.when,
            tuple(dict.fromkeys(phrases.values())),
            projects=answer.ask.projects,
            limit=MOST_HOLDING,
        )
        texts = {
            each.phrase: [lead for lead in each.nodes if lead.kind not in NO_TEXTS] for each in held if not each.more
        }
        by_phrase = {phrase: leads for phrase, leads in texts.items() if len(leads) > 1}
        chosen: dict[tuple[str, str], Sequence[Lead]] = {}
        known, hits = answer.pool.places, hits_by_id(answer)
        for node, spans in named.items():
            for name in spans:
                nodes = [lead for lead in by_phrase.get(phrases[name], ()) if lead.id != node and lead.whole is None]
                nodes.sort(key=lambda lead: -(hits[lead.id].score if lead.id in hits else 0.0))
                chosen[node, name] = [lead for n, lead in enumerate(nodes) if n < self.rows or lead.id in known]
        pool = joined(ctx, answer, (lead.id for leads in chosen.values() for lead in leads))
        if pool is not answer.pool:
            answer = replace(answer, pool=scored(answer, pool))
        population = max(answer.text.population if answer.text else 2, 2)
        for node, strength in front.items():
            led = {lead.id for name in named[node] for lead in chosen[node, name]}
            beyond = _beyond(ctx, answer, node, led)
            for name, near in named[node].items():
                rows = [lead.id for lead in chosen[node, name] if lead.id in beyond]
                if not rows:
                    continue
                count = len(by_phrase[phrases[name]])
                rarity = math.log(population / count) / math.log(population) if count < population else 0.0
                given = strength * rarity * near * (1.0 - LINKED * min(1.0, answer.linked.get(node, 0.0)))
                most = max(beyond[row] for row in rows)
                for row in rows:
                    weight = given * math.exp(SHARPNESS * (beyond[row] - most))
                    if row not in reached or weight > reached[row].weight:
                        reached[row] = Bridge(node, row, weight, name)
        return answer

    def _spans(self, answer: Answer, node_id: str) -> dict[str, float]:
        """Names in a text that are neither its own nor in the question, with how near their sentence is; the best."""
        node = answer.pool.nodes[answer.pool.places[node_id]]
        asked = set(alias_key(answer.query).split())
        own = set(alias_key(node.name).split())
        found: dict[str, float] = {}
        for sentence in sentences_of(answer.pool, node):
            near = FLOOR + BY_COSINE * max(sentence.cosine or 0.0, 0.0)
            for name in capital_spans(sentence.text):
                words = set(alias_key(name).split())
                if words and not words <= asked and not words <= own:
                    found[name] = max(found.get(name, 0.0), near)
        return dict(sorted(found.items(), key=lambda each: -each[1])[: self.spans])


def _titled(pool: Pool, scores: Column) -> list[tuple[str, float]]:
    """Titled texts of the pool, best first. Sections of one document share names without telling of each other."""
    found = [
        (node.id, float(score))
        for node, shape, score in zip(pool.nodes, pool.shapes, scores, strict=True)
        if shape == "plain" and node.name and node.text and node.kind != "Section" and score > 0.0
    ]
    return sorted(found, key=lambda each: -each[1])


def _beyond(ctx: CallContext, answer: Answer, node_id: str, ids: Collection[str]) -> dict[str, float]:
    """By id, the similarity of each text to the rest of the question beyond this text."""
    import numpy as np

    pool, model = answer.pool, ctx.embedding.model
    here = pool.nodes[pool.places[node_id]].content_hash
    rows = zip(pool.nodes, pool.shapes, strict=True)
    nodes = [node for node, shape in rows if shape == "plain" and node.id in ids]
    if not nodes:
        return {}
    found = ctx.store.vectors(ctx.viewer, model or "", (here,))
    if here not in found:
        return {}
    vector = np.frombuffer(found[here], "<f2").astype("<f4").tobytes()
    query = VectorQuery(model=model or "", data=vector)
    alike = ctx.store.near(ctx.viewer, query, tuple(node.content_hash for node in nodes))
    asked = pool.cosine(here)
    beyond = {}
    for node in nodes:
        if node.content_hash in alike:
            whole, inner = pool.cosine(node.content_hash), pool.best_sentence(node.content_hash)
            near = (1.0 - SENTENCE) * whole + SENTENCE * inner
            beyond[node.id] = near - asked * alike[node.content_hash].cosine
    return beyond


def _column(pool: Pool, reached: Mapping[str, Bridge]) -> Column:
    import numpy as np

    return np.array([reached[node.id].weight if node.id in reached else 0.0 for node in pool.nodes])
