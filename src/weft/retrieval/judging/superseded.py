"""Superseded rows: replaced by the newer node, which names them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from weft.core.clock import to_iso
from weft.core.types import MAX_IDS_PER_READ, Neighbour, NodeVersion, When
from weft.retrieval.pipeline import Answer
from weft.retrieval.scoring.factors import asked_by_id, best_rows, without_rows
from weft.retrieval.sources.gather import joined
from weft.retrieval.sources.subscriptions import as_subscriber, readable
from weft.runtime.call_context import CallContext

RELATION = "SUPERSEDES"
MAX_STEPS = 5  # from a replaced node to the current one
BY_ANOTHER = "replaced by a memory that you may not see"


class Superseded(Struct, frozen=True):
    """Replaces a row by the visible node that supersedes it at the time asked about.

    The newer one scores at least as much, and joins the pool if it was not found. Where it may not (of a kind or
    project not asked for), or where the question is the older one's id, the older one stays, marked. A node that a
    topic brought may be superseded by one that the viewer may not see: then it stays, and the newer one is not named.
    """

    name: str = "superseded"
    among: int = 50

    def __call__(self, ctx: CallContext, answer: Answer) -> Answer:
        import numpy as np

        scores = answer.pool.scores()
        rows = best_rows(scores, max(self.among, 2 * answer.ask.limit))
        newer = _newer(ctx, answer, [answer.pool.nodes[at].id for at in rows])
        if not newer:
            return answer
        kept = {answer.pool.nodes[at].id for at in asked_by_id(answer.pool)}
        reader = as_subscriber(ctx) if answer.followed else ctx
        pool = joined(reader, answer, [node.id for old, node in newer.items() if node is not None and old not in kept])
        places, added = pool.places, np.zeros(len(pool.nodes) - len(scores))
        scores = np.concatenate([scores, added])
        evidence = None if answer.evidence is None else np.concatenate([answer.evidence, added])
        raised, marks, gone = np.zeros(len(scores)), dict(pool.marks), set()
        stands: dict[int, str] = {}
        for old, node in newer.items():
            if node is None:
                marks[old] = (*marks.get(old, ()), BY_ANOTHER)
                continue
            here, there = places[old], places.get(node.id)
            if there is None or old in kept:
                marks[old] = (*marks.get(old, ()), f"replaced by {node.id} of {_day(node)}")
                continue
            gone.add(here)
            marks[node.id] = (*marks.get(node.id, ()), f"replaces {old} of {_day(pool.nodes[here])}")
            if scores[here] - scores[there] > raised[there]:
                raised[there], stands[there] = scores[here] - scores[there], old
            if evidence is not None:
                evidence[there] = max(evidence[there], evidence[here])
        if raised.any():
            pool = pool.with_part(self.name, raised, 1.0, lambda at: f"in place of {stands[at]}")
        answer = replace(answer, pool=replace(pool, marks=marks), evidence=evidence)
        return without_rows(answer, gone) if gone else answer


def replaced_among(ctx: CallContext, when: When, ids: Sequence[str]) -> frozenset[str]:
    """Those of these nodes that another one, which the caller may see, replaces at that time."""
    found: set[str] = set()
    for start in range(0, len(ids), MAX_IDS_PER_READ):
        some = ids[start : start + MAX_IDS_PER_READ]
        steps = ctx.store.neighbours(ctx.viewer, when, some, rels=(RELATION,), direction="in")
        found.update(step.start for step in steps if step.node.id != step.start)
    return frozenset(found)


def _newer(ctx: CallContext, answer: Answer, ids: Sequence[str]) -> dict[str, NodeVersion | None]:
    """The current node for each that was superseded: at the end of the chain; none in a circle.

    None where the viewer may see no such node.
    """
    latest: dict[str, NodeVersion] = {}
    asked, ask_next = set(ids), list(ids)
    for _ in range(MAX_STEPS):
        if not ask_next:
            break
        for step in _steps(ctx, answer, ask_next):
            before = latest.get(step.start)
            if step.node.id != step.start and (before is None or _order(step.node) > _order(before)):
                latest[step.start] = step.node
        ask_next = [node.id for node in latest.values() if node.id not in asked]
        asked.update(ask_next)
    hidden = _hidden(ctx, answer, latest.values())
    found: dict[str, NodeVersion | None] = {}
    for old in ids:
        line, passed = [latest[old]] if old in latest else [], {old}
        while line and line[-1].id in latest and line[-1].id not in passed:
            passed.add(line[-1].id)
            line.append(latest[line[-1].id])
        if line and line[-1].id not in passed:
            found[old] = next((node for node in reversed(line) if node.id not in hidden), None)
    return found


def _steps(ctx: CallContext, answer: Answer, ids: Sequence[str]) -> tuple[Neighbour, ...]:
    """Relations to superseding nodes; those of nodes that a topic brought are read as a subscriber."""
    when = answer.ask.when
    steps = ctx.store.neighbours(ctx.viewer, when, ids, rels=(RELATION,), direction="in")
    if not answer.followed:
        return steps
    more = ctx.store.neighbours(as_subscriber(ctx).viewer, when, ids, rels=(RELATION,), direction="in")
    return (*steps, *(step for step in more if answer.followed & {step.start, step.node.id}))


def _hidden(ctx: CallContext, answer: Answer, nodes: Iterable[NodeVersion]) -> set[str]:
    """Which of these only a subscriber sees, without a topic having brought them."""
    ids = list(dict.fromkeys(node.id for node in nodes)) if answer.followed else []
    if not ids:
        return set()
    return set(ids) - {node.id for node in readable(ctx, answer.ask.when, ids, followed=answer.followed)}


def _order(node: NodeVersion) -> tuple[int, int]:
    return node.interval.valid_from, node.row


def _day(node: NodeVersion) -> str:
    return to_iso(node.interval.valid_from)[:10]
