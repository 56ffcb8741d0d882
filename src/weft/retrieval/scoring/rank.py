"""The last stage: drops weak candidates and keeps the best, each with the parts of its score."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from weft.retrieval.judging.answers import recorded_chain
from weft.retrieval.judging.unsettled import is_unsettled, state_of
from weft.retrieval.pipeline import Answer, Candidate, PartPlace, ScoreSource
from weft.retrieval.pool import Pool, ScorePart
from weft.retrieval.scoring.conversation_flow import turn_beside
from weft.runtime.call_context import CallContext

PARTS_SHOWN = 2
LONG_CHARACTERS = 800  # of a text: beyond, the place that is nearest is shown


class Rank(Struct, frozen=True):
    """The best `limit` by score; of equals the newer one."""

    name: str = "rank"
    tail: float = 0.1  # of the best score: candidates with less are dropped

    def __call__(self, ctx: CallContext, answer: Answer) -> Answer:
        pool = answer.pool
        scores = pool.scores().tolist()
        order = sorted(range(len(scores)), key=lambda at: (-scores[at], -pool.nodes[at].row))
        least = self.tail * max(scores, default=0.0)
        # Nodes of a graph view stay, however low their score.
        seen = {node for node, sights in answer.sightings.items() if any(each.view != "semantic" for each in sights)}
        kept = [at for at in order if scores[at] > least or (scores[at] > 0.0 and pool.nodes[at].id in seen)]
        kept = _within(answer, kept)
        columns = [(part, part.values.tolist()) for part in pool.parts]
        places = [_ranks(values) for _, values in columns]
        ranked = tuple(
            Candidate(
                node=pool.nodes[at],
                sources=tuple(
                    _source(part, at, values[at], ranks[at])
                    for (part, values), ranks in zip(columns, places, strict=True)
                    if values[at]
                ),
                best=_best(pool, at),
                marks=_marks(pool, at),
                seen=answer.sightings.get(pool.nodes[at].id, ()),
            )
            for at in kept
        )
        return replace(answer, ranked=ranked)


def _within(answer: Answer, kept: list[int]) -> list[int]:
    """As many as are asked for, best first. Where recorded causes alone fill the answer, nothing else does."""
    chain = {at for at in recorded_chain(answer) if answer.pool.nodes[at].kind == "Cause"}
    if len(chain) < answer.ask.limit:
        return kept[: answer.ask.limit]
    return sorted(sorted(kept, key=lambda at: at not in chain)[: answer.ask.limit], key=kept.index)


def _marks(pool: Pool, at: int) -> tuple[str, ...]:
    """What stages said of it, and that it is not settled."""
    node = pool.nodes[at]
    return (*pool.marks.get(node.id, ()), *((state_of(node),) if is_unsettled(node) else ()))


def _ranks(values: list[float]) -> dict[int, int]:
    """The place of each row by one part alone, from 1."""
    given = [at for at, value in enumerate(values) if value]
    given.sort(key=lambda at: -values[at])
    return {at: rank for rank, at in enumerate(given, start=1)}


def _source(part: ScorePart, at: int, value: float, rank: int) -> ScoreSource:
    raw = float(part.raw[at])
    weight = float(part.weight[at]) if getattr(part.weight, "ndim", 0) else float(part.weight)
    return ScoreSource(
        name=part.name,
        rank=rank,
        raw=raw,
        weight=weight,
        part=value,
        detail=part.detail(at) if part.detail is not None else "",
    )


def _best(pool: Pool, at: int) -> tuple[PartPlace, ...]:
    """The places that answer: the parts that were found of a whole, in their order, or the place in a long text."""
    node = pool.nodes[at]
    leads = [lead for lead in pool.leads[at] if lead.id != node.id]
    if not leads:
        return (_place(pool, node.id, node.content_hash),) if len(node.text) > LONG_CHARACTERS else ()
    leads.sort(key=lambda lead: -pool.best_sentence(lead.content_hash))
    places = {lead.id: _place(pool, lead.id, lead.content_hash) for lead in leads[:PARTS_SHOWN]}
    if pool.shapes[at] == "session" and (follows := turn_beside(leads[0].id, 1)) is not None:
        # An answer follows its question. Whether it is there, and the viewer's to see, the reading of places decides.
        places.setdefault(follows, PartPlace(id=follows, start=0, end=0))
    return tuple(places[each] for each in sorted(places))


def _place(pool: Pool, node_id: str, content_hash: bytes) -> PartPlace:
    near = pool.nearness.get(content_hash)
    start, end, _ = max(near.parts, key=lambda part: part[2]) if near and near.parts else (0, 0, 0.0)
    return PartPlace(id=node_id, start=start, end=end)
