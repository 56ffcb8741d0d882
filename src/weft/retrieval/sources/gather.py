"""Gathering of search results into one pool: parts under their whole, nodes loaded, cosines completed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from weft.core.kinds import RECORD_KINDS
from weft.core.queries import Lead, Near, VectorQuery
from weft.core.types import NodeVersion
from weft.retrieval.judging.derived import stands_back
from weft.retrieval.pipeline import PARTS_OF, Answer, is_wanted
from weft.retrieval.pool import Pool, shape_of
from weft.runtime.call_context import CallContext

MAX_LEADS_OF_ONE = 24  # parts of one whole that are looked at closely: the best by words and by meaning


class Gather(Struct, frozen=True):
    """The best of each source, by whole. A part that is asked for by its kind stays by itself."""

    name: str = "gather"
    from_each: int = 60

    def __call__(self, ctx: CallContext, answer: Answer) -> Answer:
        ask = answer.ask
        keep = max(self.from_each, ask.limit)
        groups: dict[str, list[Lead]] = {}
        chosen: dict[str, None] = {}
        apart = ask.kinds is not None and not PARTS_OF.keys() & set(ask.kinds)
        for found in _sources(answer):
            new = 0
            for lead in found:
                if lead.kind in RECORD_KINDS and lead.kind not in (ask.kinds or ()):
                    continue
                key = lead.id if apart or lead.whole is None else lead.whole
                groups.setdefault(key, []).append(lead)
                if key not in chosen and new < keep:
                    chosen[key] = None
                    new += 1
        for mention in answer.mentions:
            for each in mention.nodes:
                key = each.node.id if apart or each.node.whole is None else each.node.whole
                chosen[key] = None
                groups.setdefault(key, []).append(each.node)
        if whole := ask.query.strip():
            chosen[whole[:1024]] = None  # it may be an id
        loaded = ctx.store.nodes(ctx.viewer, ask.when, tuple(chosen))
        # A part answers by itself where its whole is missing, not visible, of another project than those
        # asked about, or no session or file: any node may claim to be part of another.
        asked = (node for node in loaded if ask.projects is None or node.guard.project in ask.projects)
        wholes = {node.id for node in asked if shape_of(node) in ("session", "file")}
        alone: dict[str, None] = {}
        for key in chosen:
            for lead in () if key in wholes else groups.pop(key, ()):
                groups.setdefault(lead.id, []).append(lead)
                alone[lead.id] = None
        there = {node.id for node in loaded}
        loaded += ctx.store.nodes(ctx.viewer, ask.when, [each for each in alone if each not in there][:keep])
        nodes = [
            node
            for node in loaded
            if is_wanted(ask, node)
            if node.name or node.text or any(lead.id != node.id for lead in groups.get(node.id, ()))
        ]
        # Nodes that only connect the graph must not set the scale; alone, they are the answer.
        nodes = [node for node in nodes if not stands_back(answer, node)] or nodes
        leads = [_distinct(groups.get(node.id, ()))[:MAX_LEADS_OF_ONE] for node in nodes]
        pool = Pool().extended(nodes, leads, nearness_of(ctx, answer, nodes, leads))
        return replace(answer, pool=pool)


def _sources(answer: Answer) -> Iterable[Sequence[Lead]]:
    """Results by words, by meaning, and by time: best first each."""
    if answer.text is not None:
        yield [hit.node for hit in answer.text.hits]
    if answer.near is not None:
        yield [hit.node for hit in answer.near.hits]
    yield answer.dated
    for _, _, text, near in answer.expanded:
        yield [hit.node for hit in text.hits] if text is not None else []
        yield [hit.node for hit in near.hits] if near is not None else []


def _distinct(leads: Iterable[Lead]) -> tuple[Lead, ...]:
    return tuple({lead.row: lead for lead in leads}.values())


def nearness_of(
    ctx: CallContext, answer: Answer, nodes: Sequence[NodeVersion], leads: Sequence[tuple[Lead, ...]]
) -> Mapping[bytes, Near]:
    """The similarity of nodes and their parts to the question, per sentence; none without vectors."""
    hashes = [node.content_hash for node in nodes]
    hashes += [lead.content_hash for each in leads for lead in each]
    return nearness(ctx, answer.vector, hashes)


def nearness(ctx: CallContext, vector: bytes | None, hashes: Sequence[bytes]) -> Mapping[bytes, Near]:
    """The similarity of texts to a vector; none without one."""
    if vector is None or ctx.embedding.model is None:
        return {}
    query = VectorQuery(model=ctx.embedding.model, data=vector)
    return ctx.store.near(ctx.viewer, query, tuple(dict.fromkeys(hashes)), parts=True)


def joined(ctx: CallContext, answer: Answer, ids: Iterable[str]) -> Pool:
    """The pool with these nodes added, if they are visible, wanted and not in it."""
    known = answer.pool.places
    strange = [each for each in dict.fromkeys(ids) if each not in known]
    if not strange:
        return answer.pool
    nodes = [node for node in ctx.store.nodes(ctx.viewer, answer.ask.when, strange) if is_wanted(answer.ask, node)]
    # Wholes come with their found parts, and parts are answered as their whole: neither joins by itself.
    apart = answer.ask.kinds is not None
    nodes = [node for node in nodes if shape_of(node) != "session" and (apart or not _is_part(node))]
    none: list[tuple[Lead, ...]] = [() for _ in nodes]
    return answer.pool.extended(nodes, none, nearness_of(ctx, answer, nodes, none))


def _is_part(node: NodeVersion) -> bool:
    """Whether it is a turn of a session or a symbol of a file; other kinds do not count."""
    return shape_of(node) in ("turn", "code") and isinstance(node.props.get("part_of"), str)
