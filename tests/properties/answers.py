"""Everything a viewer can ask a store, in a form that leaves out row numbers, positions and hashes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from weft.core.ports import Store
from weft.core.queries import Lead, TextMatches, TextQuery, VectorQuery
from weft.core.types import Direction, Find, Neighbour, NodeVersion, Viewer, When
from weft.text.lexical import query_terms

MANY = 100
QUESTIONS = ("apple", "plum fig pear")
NAMES = ("apple", "pear", "plum", "fig", "quince", "fig apple")
MISSPELT = ("aple", "paer", "quinse")
PHRASES = ("appl", "pear", "fig appl", "plum plum", "quinc")
WALKS: tuple[tuple[Direction, int], ...] = (("both", MANY), ("out", 1))


def node_form(row: NodeVersion) -> tuple[Any, ...]:
    when = (row.interval, row.recorded_at, row.retired_at, row.deleted_at)
    return (row.id, row.kind, row.name, row.text, tuple(row.props.items()), row.guard, row.recorded_guard, when)


def step_form(step: Neighbour) -> tuple[Any, ...]:
    edge = step.edge
    return (
        step.start,
        edge.src,
        edge.rel,
        edge.dst,
        edge.weight,
        edge.interval,
        edge.recorded_at,
        node_form(step.node),
    )


def lead_form(lead: Lead) -> tuple[Any, ...]:
    return (lead.id, lead.kind, lead.content_hash, lead.whole, lead.conversation, lead.role)


def match_form(found: TextMatches) -> tuple[Any, ...]:
    hits = tuple((lead_form(hit.node), hit.score, hit.parts, hit.counts, hit.length) for hit in found.hits)
    return (hits, found.used, found.dropped, found.population, found.mean_length, found.truncated)


class Nearly(float):
    """A cosine: backends add up in another order, so the last bits differ."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, float) and abs(self - other) < 1e-5

    __hash__ = None  # type: ignore[assignment]


def state(store: Store, viewer: Viewer, when: When, ids: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """Reads at a moment, neighbours apart."""
    yield "nodes", [node_form(row) for row in store.nodes(viewer, when, ids)]
    filters = (Find(kinds=("Note", "File")), Find(projects=("p", None)), Find(names=("apple",)), Find(props={"k0": 1}))
    for find, limit in (*((each, MANY) for each in (Find(), *filters)), (Find(), 2)):
        found = store.find(viewer, when, find, limit=limit)
        yield f"find {find} {limit}", ([node_form(row) for row in found.nodes], found.unknown_props)
    for question in QUESTIONS:
        for projects in (None, ("p",)):
            query = TextQuery(terms=query_terms(question), projects=projects)
            for limit in (MANY, 1):
                yield f"search {query} {limit}", match_form(store.search_text(viewer, when, query, limit=limit))
    for projects in (None, ("p", None)):
        named = store.by_name(viewer, when, NAMES, projects=projects)
        yield f"named {projects}", [(each.key, each.weight, lead_form(each.node)) for each in named]
        for word in MISSPELT:
            yield f"spellings {word} {projects}", store.spellings(viewer, when, word, projects=projects)
        for limit in (MANY, 1):
            held = store.by_phrase(viewer, when, PHRASES, projects=projects, limit=limit)
            told = [(each.phrase, each.more, sorted(map(repr, map(lead_form, each.nodes)))) for each in held]
            yield f"holding {projects} {limit}", told if limit == MANY else [each[:2] for each in told]


def meanings(store: Store, viewer: Viewer, when: When, query: VectorQuery, hashes: Sequence[bytes]) -> Iterator[Any]:
    """Reads of vectors, asked about texts that are there and texts that are not."""
    found = store.search_vector(viewer, when, query, limit=MANY)
    yield "search_vector", sorted((lead_form(hit.node)[:3], Nearly(hit.cosine)) for hit in found.hits)
    for parts in (False, True):
        near = store.near(viewer, query, hashes, parts=parts)
        yield (
            f"near {parts}",
            {
                key: (Nearly(each.cosine), [(start, end, Nearly(cosine)) for start, end, cosine in each.parts])
                for key, each in near.items()
            },
        )
    yield "vectors", dict(store.vectors(viewer, query.model, hashes))
    yield "without_vectors", store.without_vectors(viewer, query.model, hashes)


def walks(store: Store, viewer: Viewer, when: When, ids: Sequence[str]) -> Iterator[tuple[str, Any]]:
    for direction, limit in WALKS:
        steps = store.neighbours(viewer, when, ids, direction=direction, limit=limit)
        yield f"neighbours {direction} {limit}", [step_form(step) for step in steps]
    yield "backlinks", dict(store.backlinks(viewer, when, ids))


def citations(store: Store, viewer: Viewer) -> list[str]:
    """Which sessions' events may be cited, in order; sequence and hash depend on what else was written."""
    found = store.citations(viewer, range(1, store.head(viewer).pos + 1))
    return [found[pos].partition("/events/")[0] for pos in sorted(found)]


def always(store: Store, viewer: Viewer, ids: Sequence[str], knowns: Sequence[int]) -> Iterator[tuple[str, Any]]:
    """Reads without a moment of their own."""
    for each in ids:
        yield f"history {each}", [node_form(row) for row in store.history(viewer, each, limit=MANY)]
    last = store.head(viewer).pos
    made = (store.asserted_by(viewer, pos, limit=MANY) for pos in range(1, last + 1))
    yield "asserted_by", [[node_form(row) for row in rows] for rows in made if rows]
    for limit in (MANY, 2):
        events = store.events(viewer, session=None, after_seq=0, limit=limit, newest_first=True)
        if not viewer.operator:  # an operator also reads events that made no node, whomever they are about
            yield f"events {limit}", [(e.session, e.kind, e.actor, e.recorded_at, e.payload) for e in events]
    yield "indexes", store.indexes(viewer)
    stats = store.stats(viewer)
    yield "stats", (stats.nodes, stats.edges, stats.node_versions, stats.texts)
    if not viewer.operator:
        yield "stats of the log", (stats.events, stats.sessions)
        yield "session_heads", [head.session for head in store.session_heads(viewer, limit=MANY)]
    if viewer.audience == "internal" and "admin" in viewer.scopes:
        for known in knowns:
            since = store.position_at(viewer, known)
            for agent in (None, "w1"):
                for limit in (MANY, 1):
                    yield f"diff {known} {agent} {limit}", store.diff(viewer, since_pos=since, agent=agent, limit=limit)
