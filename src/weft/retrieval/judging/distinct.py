"""Deduplication: of rows that are the same thing, the best stays and names the others.

Rows are the same by id; entities and concepts also by slug and name (canonical, or their own); memories also by their
whole text. Titles of documents, names of functions and headings are shared by different things, and equal turns were
said twice: those are the same by id only.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from weft.core.clock import to_iso
from weft.core.kinds import VIEWS, views_of
from weft.core.types import NodeVersion
from weft.retrieval.pipeline import Answer
from weft.retrieval.scoring.factors import without_rows
from weft.runtime.call_context import CallContext
from weft.text.lexical import name_key

THINGS: Final = VIEWS["entity"] | {"Concept"}
MAX_NAMED = 3  # days that a mark names; the rest is counted
Key = tuple[str | None, ...]


class Distinct(Struct, frozen=True):
    """Drops doubles of better rows. After all that changes scores, so that the best stays; the rest keeps its order."""

    name: str = "distinct"

    def __call__(self, ctx: CallContext, answer: Answer) -> Answer:
        pool, scores = answer.pool, answer.pool.scores()
        # Best first; of equals the newer, as they are ranked.
        order = sorted(range(len(pool.nodes)), key=lambda at: (-scores[at], -pool.nodes[at].row))
        first: dict[Key, int] = {}
        doubles: dict[int, list[int]] = {}
        for at in order:
            keys = list(keys_of(pool.nodes[at]))
            same = next((first[key] for key in keys if key in first), None)
            if same is None:
                first |= dict.fromkeys(keys, at)
            else:
                doubles.setdefault(same, []).append(at)
        if not doubles:
            return answer
        gone = {at for each in doubles.values() for at in each}
        marks, named = {**pool.marks}, {**pool.named}
        for at, others in doubles.items():
            kept = pool.nodes[at].id
            also = [pool.nodes[other] for other in others if pool.nodes[other].id != kept]
            if also:
                mark = _also(also)
                marks[kept] = (*marks.get(kept, ()), mark)
                named[mark] = (*named.get(mark, ()), *(node.id for node in also))
        return without_rows(replace(answer, pool=replace(pool, marks=marks, named=named)), gone)


def keys_of(node: NodeVersion) -> Iterator[Key]:
    """The keys of a node within its project; rows with a common key are the same."""
    yield ("id", node.id)
    project = node.guard.project
    if node.kind in THINGS:
        # A slug belongs to one thing of any kind; a name may be shared by a person and a product.
        slug = node.props.get("slug")
        if isinstance(slug, str) and slug.strip():
            yield ("slug", project, "Concept" if node.kind == "Concept" else "thing", slug.strip())
        canonical = node.props.get("canonical_name")
        name = canonical if isinstance(canonical, str) and canonical.strip() else node.name
        if key := name_key(name):
            yield ("name", project, node.kind, key)
    if node.text.strip() and _kept_for_content(node.kind):
        yield ("content", project, node.kind, node.content_hash.hex())


def _kept_for_content(kind: str) -> bool:
    """Whether equal words mean the same thing: not for events, turns, tasks and code."""
    return kind in THINGS or (kind not in ("Session", "Conversation") and "semantic" in views_of(kind))


def _also(nodes: list[NodeVersion]) -> str:
    days = list(dict.fromkeys(to_iso(node.interval.valid_from)[:10] for node in nodes))
    more = f" and {len(days) - MAX_NAMED} more days" if len(days) > MAX_NAMED else ""
    return f"also recorded on {', '.join(days[:MAX_NAMED])}{more}"
