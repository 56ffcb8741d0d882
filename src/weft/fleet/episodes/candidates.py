"""Episodes that may answer a question: near in meaning, recent, about the same things, of one agent or task."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from weft.core.queries import TextQuery, VectorQuery
from weft.core.types import MAX_IDS_PER_READ, Find, NodeVersion, When
from weft.fleet.episodes.contracts import EpisodeType, kinds_of, type_of_episode
from weft.fleet.episodes.writing import BY, INVOLVES
from weft.runtime.call_context import CallContext
from weft.text.lexical import query_terms
from weft.writing.checks.provenance import PRODUCED

NEAREST: Final = 100
MANY_NEAREST: Final = 500  # where filters leave fewer than ENOUGH
ENOUGH: Final = 10
NEWEST: Final = 60
JOINED: Final = 80  # of one thing, agent or task
ABOUT: Final = (INVOLVES, "APPLIES_TO")
MAX_INVOLVED: Final = 64


class Wanted(Struct, frozen=True, kw_only=True):
    """A question to episodes, with every name resolved."""

    query: str
    projects: tuple[str | None, ...] | None
    types: tuple[EpisodeType, ...] = ()
    about: tuple[str, ...] = ()
    agent: str | None = None
    task: str | None = None
    since: int | None = None


class Found(Struct, frozen=True, kw_only=True):
    """Candidates by id, the cosine (or share of words) of each to the question, and what each involves."""

    nodes: dict[str, NodeVersion]
    meaning: dict[str, float]
    about: dict[str, tuple[str, ...]]
    notes: tuple[str, ...] = ()


def candidates(ctx: CallContext, when: When, wanted: Wanted) -> Found:
    """The episodes to be scored: a bounded number from each source, so that the best of each part are among them."""
    kinds = kinds_of(wanted.types)
    newest = ctx.store.find(ctx.viewer, when, Find(kinds=kinds, projects=wanted.projects), limit=NEWEST).nodes
    about_asked = _about_asked(ctx, when, wanted)
    joined = (*about_asked, *_of_agent_and_task(ctx, when, wanted))
    nodes = {node.id: node for node in (*newest, *_read(ctx, when, joined))}
    nodes = {node_id: node for node_id, node in nodes.items() if _fits(node, wanted)}
    data, problem = ctx.embedding.query(wanted.query)
    model = ctx.embedding.model
    if data is None or model is None:
        words = _by_words(ctx, when, wanted, kinds)
        nodes |= {node.id: node for node in _read(ctx, when, list(words)) if _fits(node, wanted)}
        notes: tuple[str, ...] = (f"meaning is the share of common words: {problem}",)
    else:
        query = VectorQuery(model=model, data=data, projects=wanted.projects, kinds=kinds)
        near, words, notes = _by_meaning(ctx, when, wanted, query)
        nodes |= near
        hashes = tuple({node.content_hash for node in nodes.values() if node.id not in words})
        cosines = ctx.store.near(ctx.viewer, query, hashes) if hashes else {}
        words |= {
            node.id: max(0.0, cosines[node.content_hash].cosine)
            for node in nodes.values()
            if node.id not in words and node.content_hash in cosines
        }
    # Of others nothing is in common with what is asked; decisions may be a step away from it.
    telling = [each for each in nodes if each in about_asked or wanted.types == ("DECISION",)] if wanted.about else []
    about = involved_by(ctx, when, telling)
    return Found(nodes=nodes, meaning=words, about=about, notes=notes)


def _by_meaning(
    ctx: CallContext, when: When, wanted: Wanted, query: VectorQuery
) -> tuple[dict[str, NodeVersion], dict[str, float], tuple[str, ...]]:
    """The nearest that fit, with their cosines. Filters that leave few are given more to choose from."""
    found: dict[str, NodeVersion] = {}
    narrow = wanted.agent is not None or wanted.task is not None or wanted.since is not None
    for most in (MANY_NEAREST,) if narrow else (NEAREST, MANY_NEAREST):
        matches = ctx.store.search_vector(ctx.viewer, when, query, limit=most)
        cosines = {hit.node.id: max(0.0, hit.cosine) for hit in matches.hits}
        found = {node.id: node for node in _read(ctx, when, list(cosines)) if _fits(node, wanted)}
        if len(found) >= ENOUGH or len(matches.hits) < most:
            break
    return found, {node_id: cosines[node_id] for node_id in found}, matches.notes


def _read(ctx: CallContext, when: When, ids: Iterable[str]) -> list[NodeVersion]:
    return [node for some in _some(list(dict.fromkeys(ids))) for node in ctx.store.nodes(ctx.viewer, when, some)]


def _fits(node: NodeVersion, wanted: Wanted) -> bool:
    kind = type_of_episode(node)
    return (
        kind is not None
        and (not wanted.types or kind in wanted.types)
        and (wanted.agent is None or node.props.get("agent") == wanted.agent)
        and (wanted.since is None or node.interval.valid_from >= wanted.since)
        and (wanted.task is None or node.props.get("task") == wanted.task)
    )


def _about_asked(ctx: CallContext, when: When, wanted: Wanted) -> dict[str, None]:
    """Those about what is asked: newest first, so many of each thing."""
    found: dict[str, None] = {}
    for each in wanted.about:
        for rel in ABOUT:
            edges = ctx.store.edges(ctx.viewer, when, each, rel=rel, direction="in", before=None, limit=JOINED)
            found |= dict.fromkeys(edge.src for edge in edges)
    return found


def _of_agent_and_task(ctx: CallContext, when: When, wanted: Wanted) -> list[str]:
    """Those of the agent and of the task: newest first, so many of each."""
    found: list[str] = []
    if wanted.agent is not None:
        find = Find(names=(wanted.agent,), kinds=("AgentRecord",), projects=wanted.projects)
        for record in ctx.store.find(ctx.viewer, when, find, limit=20).nodes:
            edges = ctx.store.edges(ctx.viewer, when, record.id, rel=BY, direction="in", before=None, limit=JOINED)
            found += [edge.src for edge in edges]
    if wanted.task is not None:
        edges = ctx.store.edges(ctx.viewer, when, wanted.task, rel=PRODUCED, direction="out", before=None, limit=JOINED)
        found += [edge.dst for edge in edges]
    return found


def _by_words(ctx: CallContext, when: When, wanted: Wanted, kinds: tuple[str, ...]) -> dict[str, float]:
    """Without vectors: the score by words, as a share of the best one's."""
    terms = query_terms(wanted.query)
    if not terms:
        return {}
    query = TextQuery(terms=terms, projects=wanted.projects, kinds=kinds)
    hits = ctx.store.search_text(ctx.viewer, when, query, limit=NEAREST).hits
    best = max((hit.score for hit in hits), default=0.0)
    return {hit.node.id: hit.score / best for hit in hits} if best > 0 else {}


def involved_by(ctx: CallContext, when: When, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The nodes that each episode involves, or a learning applies to."""
    found: dict[str, list[str]] = {}
    for some in _some(ids):
        steps = ctx.store.neighbours(ctx.viewer, when, some, rels=ABOUT, direction="out", limit=MAX_INVOLVED)
        for step in steps:
            found.setdefault(step.start, []).append(step.node.id)
    return {node_id: tuple(dict.fromkeys(others)) for node_id, others in found.items()}


def around_code(ctx: CallContext, when: When, ids: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
    """One step around each: what it calls, contains, imports or tests, and the other way round."""
    found: dict[str, list[str]] = {}
    if ids:
        rels = ("CALLS", "CONTAINS", "IMPORTS", "TESTS", "EXTENDS", "IMPLEMENTS", "DEFINED_IN")
        for step in ctx.store.neighbours(ctx.viewer, when, list(ids), rels=rels, limit=JOINED):
            found.setdefault(step.start, []).append(step.node.id)
    return {node_id: tuple(others) for node_id, others in found.items()}


def _some(ids: Sequence[str]) -> Iterable[Sequence[str]]:
    return (ids[start : start + MAX_IDS_PER_READ] for start in range(0, len(ids), MAX_IDS_PER_READ))
