"""Links by name from text to text: a question about one thing is often answered by a text that the first one names.

    anchor(p)   = w · exp(5 (cos p - best cos of that name))                       p goes by a name in the question
    edge(p → x) = w · exp(5 (cos x - best)) · (.3 + .7 cos(sentence) + .5 overlap)  a sentence of p names x
    score       = base + anchor + max over seeds p of (strength of p · edge)

Seeds are the anchors and the best by base + anchor, scaled to 1; a second hop goes on from the best reached, at x .7.
Names are resolved when asked, among what the viewer may see: a link can neither show a hidden name nor miss one that
was written later than the text that mentions it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from weft.core.kinds import VIEWS
from weft.core.queries import NameMatch
from weft.core.types import NodeVersion
from weft.retrieval.pipeline import Answer
from weft.retrieval.pool import Pool
from weft.retrieval.scoring.words_and_meaning import scored
from weft.retrieval.sources.by_name import meanings
from weft.retrieval.sources.gather import joined
from weft.runtime.call_context import CallContext
from weft.text.lexical import stems
from weft.text.names import NameWord, longest, name_words, runs
from weft.text.sentences import sentence_spans

SHARPNESS = 5.0  # how fast a name's meanings part by their cosine
SINGLE_WORD = 0.8
HEADING = 0.2  # the heading of a section is a topic more than a name
NAME_ONLY = 0.25  # of a node with a name and no words, which answers little itself
FLOOR, BY_COSINE, BY_WORDS = 0.3, 0.7, 0.5
FLAT = 0.6  # of a sentence whose place is not known
NEARBY = 12  # words on each side of a mention
THINGS = VIEWS["entity"]  # names lead to texts; to its entities a text has relations
MAX_SEEDS = 20
MAX_SEED_CHARACTERS = 4_000


class Edge(NamedTuple):
    """One mention followed: from, to, strength, name, sentence."""

    source: str
    target: str
    weight: float
    key: str
    sentence: str


class NameLinks(Struct, frozen=True):
    """Anchors, then two hops along the names in the best texts."""

    name: str = "links"
    best: int = 5
    hops: int = 2
    beam: int = 5
    decay: float = 0.7

    def __call__(self, ctx: CallContext, answer: Answer) -> Answer:
        import numpy as np

        if not answer.pool.has("plain"):
            return answer
        answer = replace(answer, pool=_anchored(answer))
        scores = np.where(answer.pool.mask("plain"), answer.pool.scores(), -np.inf)
        order = [int(at) for at in np.argsort(-scores, kind="stable")[: self.best] if np.isfinite(scores[at])]
        seeds = {answer.pool.nodes[at].id: float(scores[at]) for at in order}
        places = answer.pool.places
        for mention in answer.mentions:
            for each in mention.nodes:
                if (at := places.get(each.node.id)) is not None and np.isfinite(scores[at]):
                    seeds[each.node.id] = float(scores[at])
        top = max(seeds.values(), default=0.0)
        if top <= 0.0:
            return answer
        front = {node: score / top for node, score in sorted(seeds.items(), key=lambda each: -each[1])[:MAX_SEEDS]}
        reached: dict[str, tuple[float, tuple[Edge, ...]]] = {}
        strongest: dict[str, float] = {}
        paths: dict[str, tuple[Edge, ...]] = {}
        for _ in range(self.hops):
            edges = _edges(ctx, answer, front)
            answer = replace(answer, pool=_with(ctx, answer, edges))
            found: dict[str, float] = {}
            for edge in _weighed(answer, edges):
                strength = front[edge.source] * edge.weight
                strongest[edge.source] = max(strongest.get(edge.source, 0.0), edge.weight)
                if strength > reached.get(edge.target, (0.0, ()))[0]:
                    path = (*paths.get(edge.source, ()), edge)
                    reached[edge.target] = (strength, path)
                    found[edge.target] = strength
            nearest = sorted(found.items(), key=lambda each: -each[1])[: self.beam]
            front = {node: strength * self.decay for node, strength in nearest}
            paths = {node: reached[node][1] for node in front}
        return replace(answer, pool=_with_links(answer.pool, reached), linked=strongest)


def _anchored(answer: Answer) -> Pool:
    """The pool with a part for named nodes."""
    import numpy as np

    pool, places = answer.pool, answer.pool.places
    raw = np.zeros(len(pool.nodes))
    told: dict[int, str] = {}
    for mention in answer.mentions:
        rows = [(places[each.node.id], each.weight) for each in mention.nodes if each.node.id in places]
        best = max((pool.cosine(pool.nodes[at].content_hash) for at, _ in rows), default=0.0)
        for at, weight in rows:
            sure = weight * math.exp(SHARPNESS * (pool.cosine(pool.nodes[at].content_hash) - best))
            sure *= 1.0 if mention.end - mention.start > 1 else SINGLE_WORD
            sure *= 1.0 if pool.nodes[at].text else NAME_ONLY
            sure *= HEADING if pool.nodes[at].kind == "Section" else 1.0
            if sure > raw[at]:
                raw[at] = sure
                written = f", written {mention.written!r}" if mention.written else ""
                told[at] = f"named {mention.key!r}{written}"
    return pool.with_part("name", raw, 1.0, lambda at: told.get(at, "")) if raw.any() else pool


class _Mentioned(NamedTuple):
    """A name in a sentence of a seed, not yet resolved."""

    source: str
    key: str
    context: float
    sentence: str


def _edges(
    ctx: CallContext, answer: Answer, front: Mapping[str, float]
) -> list[tuple[_Mentioned, tuple[NameMatch, ...]]]:
    """Names in the texts of the front, with their meanings for this viewer."""
    pool, places = answer.pool, answer.pool.places
    overlap = _overlap(answer)
    sentences = [each for node in front for each in sentences_of(pool, pool.nodes[places[node]])]
    keys = {key for each in sentences for _, _, key in each.runs}
    known = meanings(ctx.store.by_name(ctx.viewer, answer.ask.when, tuple(keys), projects=answer.ask.projects))
    found = []
    for each in sentences:
        for start, end, key in longest([run for run in each.runs if run[2] in known]):
            nodes = tuple(named for named in known[key] if named.node.id != each.node and named.node.kind not in THINGS)
            if nodes:
                near = FLAT - FLOOR if each.cosine is None else BY_COSINE * max(each.cosine, 0.0)
                context = FLOOR + near + BY_WORDS * overlap(each.words, start, end)
                found.append((_Mentioned(each.node, key, context, each.text), nodes))
    return found


class Sentence(NamedTuple):
    """A sentence of a text: how near it is, its words, and the runs of them that may be names."""

    node: str
    text: str
    cosine: float | None
    words: Sequence[NameWord]
    runs: Sequence[tuple[int, int, str]]


def sentences_of(pool: Pool, node: NodeVersion) -> Iterable[Sentence]:
    """A text's sentences with their names, up to a limit."""
    near = pool.nearness.get(node.content_hash)
    placed: Sequence[tuple[int, int, float | None]] = near.parts if near is not None else ()
    if not placed:
        whole = None if near is None else near.cosine
        placed = [(start, end, whole) for start, end in sentence_spans(node.text[:MAX_SEED_CHARACTERS])]
    for start, end, cosine in placed:
        if start >= MAX_SEED_CHARACTERS:
            break
        text = node.text[start : min(end, MAX_SEED_CHARACTERS)]
        words, named = _read(text)
        yield Sentence(node.id, text, cosine, words, named)


@lru_cache(maxsize=4_096)
def _read(sentence: str) -> tuple[Sequence[NameWord], Sequence[tuple[int, int, str]]]:
    """A sentence's words and the runs of them that may be names. The best texts are read again and again."""
    words = name_words(sentence)
    return words, list(runs(words, need_capital=True))


def _overlap(answer: Answer) -> Callable[[Sequence[NameWord], int, int], float]:
    """The share of the question's other words near a mention: 0 to 1, rarer words count more."""
    covered = {at for mention in answer.mentions for at in range(mention.start, mention.end)}
    question = name_words(answer.query)
    rest = {stem for at, word in enumerate(question) if at not in covered for stem in stems(word.key)}
    rarity = {stat.term: stat.idf for stat in answer.text.used} if answer.text else {}
    weights = {stem: rarity.get(stem, 1.0) for stem in rest}
    total = sum(weights.values())

    def overlap(words: Sequence[NameWord], start: int, end: int) -> float:
        if not total:
            return 0.0
        begin, stop = max(0, start - NEARBY), min(len(words), end + NEARBY)
        around = [(at, stem) for at in range(begin, stop) if not start <= at < end for stem in stems(words[at].key)]
        given = 0.0
        for wanted, weight in weights.items():
            best = 0.0
            for at, stem in around:
                same = _alike(wanted, stem)
                if same:
                    apart = start - at if at < start else at - end + 1
                    best = max(best, same * (1.0 - 0.5 * (apart - 1) / NEARBY))
            given += weight * best
        return given / total

    return overlap


def _alike(one: str, other: str) -> float:
    """1 for the same stem, .7 for two that begin alike ("director", "directed")."""
    if one == other:
        return 1.0
    if one[:4] != other[:4] or len(one) < 4:
        return 0.0
    shared = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        shared += 1
    return 0.7 if shared >= 0.6 * max(len(one), len(other)) else 0.0


def _with(ctx: CallContext, answer: Answer, edges: Iterable[tuple[_Mentioned, tuple[NameMatch, ...]]]) -> Pool:
    """The pool with the targets of the edges, scored as the rest is."""
    pool = joined(ctx, answer, (named.node.id for _, nodes in edges for named in nodes))
    return pool if pool is answer.pool else scored(answer, pool)


def _weighed(answer: Answer, edges: Iterable[tuple[_Mentioned, tuple[NameMatch, ...]]]) -> Iterable[Edge]:
    pool, places = answer.pool, answer.pool.places
    for mentioned, nodes in edges:
        there = [named for named in nodes if named.node.id in places and pool.nodes[places[named.node.id]].text]
        rows = [(named, pool.cosine(named.node.content_hash)) for named in there]
        best = max((cosine for _, cosine in rows), default=0.0)
        for named, cosine in rows:
            weight = named.weight * math.exp(SHARPNESS * (cosine - best)) * mentioned.context
            yield Edge(mentioned.source, named.node.id, weight, mentioned.key, mentioned.sentence)


def _with_links(pool: Pool, reached: Mapping[str, tuple[float, tuple[Edge, ...]]]) -> Pool:
    import numpy as np

    if not reached:
        return pool
    places = pool.places
    raw = np.zeros(len(pool.nodes))
    for node, (strength, _) in reached.items():
        raw[places[node]] = strength
    names = {node.id: node.name or node.id for node in pool.nodes}

    def path(at: int) -> str:
        found = reached.get(pool.nodes[at].id)
        if found is None:
            return ""
        steps = [names.get(found[1][0].source, found[1][0].source)]
        steps += [f"-[{edge.key}]-> {names.get(edge.target, edge.target)}" for edge in found[1]]
        return " ".join(steps)

    return pool.with_part("links", raw, 1.0, path)
