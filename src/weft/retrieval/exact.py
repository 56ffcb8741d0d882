"""Finds nodes that the question names: by id, or by a name that stands in it."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from weft import types
from weft.lexical import STOP_WORDS, name_key
from weft.loom import Loom
from weft.retrieval.pipeline import Answer, Find, candidates_wanted, is_wanted

MAX_NAME_WORDS = 5
MAX_QUERY_WORDS = 48


class Exact(Struct, frozen=True):
    """A whole question that is a name or an id is found with 1; a name inside it by how much of it that covers."""

    name: str = "exact"

    def __call__(self, loom: Loom, answer: Answer) -> Answer:
        ask = answer.ask
        coverage = names_in(ask.query)
        whole = ask.query.strip()
        by_id = loom.store.nodes(loom.viewer, ask.when, [whole]) if whole else ()
        wanted = types.Find(names=tuple(coverage), kinds=ask.kinds, projects=ask.projects)
        by_name: tuple[types.NodeVersion, ...] = ()
        if coverage:
            by_name = loom.store.find(loom.viewer, ask.when, wanted, limit=candidates_wanted(ask)).nodes
        scored = {node.id: (node, coverage[name_key(node.name)], f"named {node.name!r}") for node in by_name}
        scored |= {node.id: (node, 1.0, "its id") for node in by_id if is_wanted(ask, node)}
        order = sorted(scored.values(), key=lambda each: (-each[1], -each[0].row))
        found = tuple(
            Find(source=self.name, node=node, rank=rank, raw=raw, detail=detail)
            for rank, (node, raw, detail) in enumerate(order, start=1)
        )
        return replace(answer, found=answer.found + found)


def names_in(query: str) -> dict[str, float]:
    """Every run of words that might be a name, as names are compared, with the share of the question it covers."""
    words = query.split()[:MAX_QUERY_WORDS]
    found: dict[str, float] = {}
    for length in range(min(MAX_NAME_WORDS, len(words)), 0, -1):
        for start in range(len(words) - length + 1):
            key = name_key(" ".join(words[start : start + length]))
            key = name_key(key.removesuffix("'s").removesuffix("’s"))  # "Acme Inc.'s" names Acme Inc.
            if key and key not in STOP_WORDS:
                found.setdefault(key, 0.5 + 0.5 * length / len(words))
    if whole := name_key(query):
        found[whole] = 1.0
    return found
