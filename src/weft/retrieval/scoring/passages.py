"""Documents are answered by their passages: one line for a document, a section and a chunk that answer alike.

A passage is a chunk, or a section that has words of its own. A section or a document without any is a whole: it is
found by its heading and its summary.

    passage found, worth `share` of its whole    the passage stands, as high as the whole did; the whole goes
    no passage found, or weaker ones only        the whole stands, and its best passages are shown as its parts

From the innermost section outwards, so that what stands for a section may stand for its document too. What its section
scores is not added to a passage: it was measured, and gains nothing (`benchmarks.quality.documents`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from weft.core.kinds import CHUNK_MARK
from weft.core.queries import Lead
from weft.core.types import Find, NodeVersion
from weft.retrieval.pipeline import Answer
from weft.retrieval.pool import Pool
from weft.retrieval.scoring.factors import asked_by_id, without_rows
from weft.retrieval.sources.gather import nearness
from weft.runtime.call_context import CallContext

if TYPE_CHECKING:
    from weft.retrieval.pool import Column

KINDS: Final = frozenset({"Document", "Section", "Chunk"})
PARTS: Final = 2  # of a whole that is answered itself
READ: Final = 200  # chunks of such a whole that are looked at
WHOLES_READ: Final = 5  # of such wholes, the best


def is_whole(node: NodeVersion) -> bool:
    """Whether a node is represented by its parts: a document, or a section without words of its own."""
    return node.kind in ("Document", "Section") and not node.text and "line" in node.props


def is_of(part: NodeVersion, document: str, source: object) -> bool:
    """Whether a section or chunk belongs to this document; early versions are matched by their `source`.

    An id prefix is not enough: a.md and a.md#b.md were two files.
    """
    told = part.props.get("document")
    if told is not None:
        return bool(told == document)
    return part.id.startswith(f"{document}#") and (part.props.get("source") or "") == (source or "")


def is_inside(part: NodeVersion, whole: NodeVersion) -> bool:
    """Whether a section or chunk is in a document or section, at any depth."""
    if whole.kind == "Document":
        return is_of(part, whole.id, whole.props.get("source"))
    if any(part.props.get(name) != whole.props.get(name) for name in ("document", "source")):
        return False
    rest = part.id.removeprefix(whole.id) if part.id.startswith(whole.id) else ""
    # No heading is empty: "C" followed by such a sign is another heading, such as "C#".
    return rest.startswith(CHUNK_MARK) or (rest.startswith("#") and rest[1:2] not in ("", "#", "~", CHUNK_MARK))


class Passages(Struct, frozen=True):
    """One line for each place. After all scoring, before ranking."""

    name: str = "passages"
    share: float = 0.6

    def __call__(self, ctx: CallContext, answer: Answer) -> Answer:
        rows = [at for at, node in enumerate(answer.pool.nodes) if node.kind in KINDS]
        wholes = [at for at in rows if is_whole(answer.pool.nodes[at])]
        if not wholes:
            return answer
        folded = self._folded(answer.pool, rows, wholes)
        pool = answer.pool.with_part(self.name, folded.gained, 1.0, lambda at: folded.told.get(at, ""))
        pool = pool if folded.gained.any() else answer.pool
        pool = replace(pool, leads=_with_parts(pool, folded.parts))
        answer = without_rows(replace(answer, pool=pool), folded.gone)
        return replace(answer, pool=_shown_by_parts(ctx, answer))

    def _folded(self, pool: Pool, rows: Sequence[int], wholes: Sequence[int]) -> _Folded:
        """The rows that stay, innermost wholes first."""
        import numpy as np

        scores = pool.scores()
        found = _Folded(gained=np.zeros(len(pool.nodes)), gone=set(), told={}, parts={})
        kept_by_id = asked_by_id(pool)
        by_place: dict[tuple[object, object], list[int]] = {}
        for at in rows:
            node = pool.nodes[at]
            by_place.setdefault((node.guard.project, node.props.get("source")), []).append(at)
        outwards = sorted(wholes, key=lambda at: (pool.nodes[at].kind == "Document", -len(pool.nodes[at].id)))
        for at in outwards:
            whole = pool.nodes[at]
            beside = by_place[whole.guard.project, whole.props.get("source")]
            inside = [
                each for each in beside if each != at and each not in found.gone and is_inside(pool.nodes[each], whole)
            ]
            if not inside:
                continue
            best = max(inside, key=lambda each: scores[each] + found.gained[each])
            worth = scores[best] + found.gained[best]
            if at not in kept_by_id and worth >= self.share * scores[at]:
                found.stand_for(best, at, float(max(scores[at] - worth, 0.0)), whole.name)
            else:
                found.stand_alone(at, [each for each in inside if each not in kept_by_id])
        return found


class _Folded(Struct):
    """The result for rows: gains of passages, dropped rows, parts of wholes."""

    gained: Column
    gone: set[int]
    told: dict[int, str]
    parts: dict[int, list[int]]

    def stand_for(self, passage: int, whole: int, more: float, name: str) -> None:
        self.gone.add(whole)
        if more > 0.0:
            self.gained[passage] += more
            self.told[passage] = f"answers for {name}"

    def stand_alone(self, whole: int, inside: Sequence[int]) -> None:
        self.gone.update(inside)
        self.parts[whole] = list(inside)


def _with_parts(pool: Pool, parts: dict[int, list[int]]) -> tuple[tuple[Lead, ...], ...]:
    """Leads by row; a remaining composite row gets those of its dropped passages."""
    leads = list(pool.leads)
    for whole, inside in parts.items():
        chunks = [pool.nodes[at] for at in inside if pool.nodes[at].text]
        leads[whole] = (*leads[whole], *map(_lead, chunks))
    return tuple(leads)


def _lead(node: NodeVersion) -> Lead:
    return Lead(id=node.id, row=node.row, kind=node.kind, content_hash=node.content_hash)


def _shown_by_parts(ctx: CallContext, answer: Answer) -> Pool:
    """The pool, with the chunks nearest to the question for the best wholes."""
    pool, scores = answer.pool, answer.pool.scores()
    bare = [
        at
        for at, node in enumerate(pool.nodes)
        if is_whole(node) and all(lead.id == node.id for lead in pool.leads[at]) and node.id not in answer.followed
    ]
    least = sorted(scores.tolist(), reverse=True)[: answer.ask.limit][-1:] or [0.0]
    bare = sorted((at for at in bare if scores[at] >= least[0] > 0.0), key=lambda at: -scores[at])[:WHOLES_READ]
    leads, near = list(pool.leads), dict(pool.nearness)
    for at in bare:
        chunks = _chunks(ctx, answer, pool.nodes[at])
        found = nearness(ctx, answer.vector, [node.content_hash for node in chunks])
        near |= found
        chunks.sort(key=lambda node: -found[node.content_hash].nearest if node.content_hash in found else 0.0)
        leads[at] = (*leads[at], *map(_lead, chunks[:PARTS]))
    inner = {**pool.inner, **{key: each.nearest for key, each in near.items() if key not in pool.nearness}}
    return replace(pool, leads=tuple(leads), nearness=near, inner=inner)


def _chunks(ctx: CallContext, answer: Answer, whole: NodeVersion) -> list[NodeVersion]:
    """The chunks of a section, or of a document's sections, by line."""
    marks = ("#",) if whole.kind == "Document" else (CHUNK_MARK, "#")
    for mark in marks:
        find = Find(kinds=("Chunk",), id_prefix=f"{whole.id}{mark}", projects=(whole.guard.project,))
        nodes = ctx.store.find(ctx.viewer, answer.ask.when, find, limit=READ).nodes
        found = [node for node in nodes if node.text and is_inside(node, whole)]
        if found:
            return sorted(found, key=first_line)
    return []


def first_line(node: NodeVersion) -> int:
    """The first line of a section or chunk; 0 if unknown."""
    line = node.props.get("line")
    return line if isinstance(line, int) else 0
