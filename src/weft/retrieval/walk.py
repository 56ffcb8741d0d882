"""Walks the graph from the best hits, and brings what they are joined to."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from weft.loom import Loom
from weft.retrieval.fuse import cosines_of
from weft.retrieval.pipeline import Answer, Candidate, Find, Source, is_wanted

SEEDS = 10
REACHED = 50
WEIGHT = 0.15


class Walk(Struct, frozen=True):
    """Personalised PageRank from the best: what it stays with gains up to WEIGHT; new nodes bring their cosine."""

    name: str = "walk"

    def __call__(self, loom: Loom, answer: Answer) -> Answer:
        seeds = {each.node.id: each.score for each in answer.ranked[:SEEDS] if each.score > 0}
        if not seeds:
            return answer
        walked = loom.store.walk(loom.viewer, answer.ask.when, seeds, limit=REACHED + SEEDS)
        reached = {node: score for node, score in walked.scores if node not in seeds}
        notes = answer.notes + walked.notes
        if not reached:
            return replace(answer, notes=notes)
        best = max(reached.values())
        known = {each.node.id: each for each in answer.ranked}
        strange = [node for node in reached if node not in known]
        nodes = [
            node for node in loom.store.nodes(loom.viewer, answer.ask.when, strange) if is_wanted(answer.ask, node)
        ]
        finds = [Find(source=self.name, node=node, rank=0, raw=0.0) for node in nodes]
        cosines = cosines_of(loom, answer, finds)
        for node in nodes:
            cosine = cosines.get(node.content_hash)
            found = () if cosine is None else (_source("vector", 0, cosine, 1.0, f"cosine {cosine:.2f}"),)
            known[node.id] = Candidate(node=node, sources=found)
        ranks = {node: rank for rank, node in enumerate(reached, start=1)}
        ranked = [
            replace(
                each,
                sources=(
                    *each.sources,
                    _source(self.name, ranks[node], reached[node], WEIGHT / best, "joined to the best hits"),
                ),
            )
            if node in reached
            else each
            for node, each in known.items()
        ]
        ranked.sort(key=lambda each: (-each.score, -each.node.row))
        return replace(answer, ranked=tuple(ranked), notes=notes)


def _source(name: str, rank: int, raw: float, weight: float, detail: str) -> Source:
    return Source(name=name, rank=rank, raw=raw, weight=weight, part=raw * weight, detail=detail)
