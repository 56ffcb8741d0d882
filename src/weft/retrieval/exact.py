"""Finds nodes that the question names: by id, or by a name that stands in it."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from weft.lexical import STOP_WORDS, name_key
from weft.loom import Loom
from weft.retrieval.pipeline import Answer, Candidate, Source
from weft.types import Find

MAX_NAME_WORDS = 5
MAX_QUERY_WORDS = 48


class Exact(Struct, frozen=True):
    """A whole question that is a name scores 1; a name inside it by how much of the question it covers."""

    name: str = "exact"
    weight: float = 1.0

    def __call__(self, loom: Loom, answer: Answer) -> Answer:
        ask = answer.ask
        coverage = names_in(ask.query)
        whole = ask.query.strip()
        by_id = loom.store.nodes(loom.viewer, ask.when, [whole]) if whole else ()
        find = Find(names=tuple(coverage), kinds=ask.kinds, projects=ask.projects)
        by_name = loom.store.find(loom.viewer, ask.when, find, limit=ask.limit * 4).nodes if coverage else ()
        scored = {node.id: (node, coverage[name_key(node.name)], f"named {node.name!r}") for node in by_name}
        scored |= {node.id: (node, 1.0, "its id") for node in by_id if _wanted(node.kind, node.guard.project, answer)}
        order = sorted(scored.values(), key=lambda each: (-each[1], -each[0].row))
        found = tuple(
            Candidate(
                node=node,
                sources=(
                    Source(
                        name=self.name, rank=rank, raw=raw, weight=self.weight, part=self.weight * raw, detail=detail
                    ),
                ),
            )
            for rank, (node, raw, detail) in enumerate(order, start=1)
        )
        return replace(answer, gathered=(*answer.gathered, found))


def _wanted(kind: str, project: str | None, answer: Answer) -> bool:
    ask = answer.ask
    return (ask.kinds is None or kind in ask.kinds) and (ask.projects is None or project in ask.projects)


def names_in(query: str) -> dict[str, float]:
    """Every run of words that might be a name, as names are compared, with the share of the question it covers."""
    words = query.split()[:MAX_QUERY_WORDS]
    found: dict[str, float] = {}
    for length in range(min(MAX_NAME_WORDS, len(words)), 0, -1):
        for start in range(len(words) - length + 1):
            key = name_key(" ".join(words[start : start + length]))
            key = name_key(key.removesuffix("'s").removesuffix("’s"))
            if key and key not in STOP_WORDS:
                found.setdefault(key, 0.5 + 0.5 * length / len(words))
    if whole := name_key(query):
        found[whole] = 1.0
    return found
