"""Nodes of the graph views in arguments and answers: which ones a caller means, and how they are shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

from msgspec import Meta, Struct

from weft.context.wording import cut
from weft.core.clock import to_iso
from weft.core.errors import Invalid, StoreError
from weft.core.types import MAX_IDS_PER_READ, MAX_LIMIT, Find, NodeVersion, When
from weft.recall.show_values import show_cited
from weft.retrieval.pipeline import Answer, View
from weft.retrieval.views.seeds import ViewSeeds, seeds_from
from weft.retrieval.views.shared import ENTITY_KINDS, GraphReader, label
from weft.runtime.call_context import CallContext
from weft.runtime.fields import Moment
from weft.text.lexical import name_key

TEXT_CHARACTERS = 400
CANDIDATES_SHOWN = 5

AsOf = Annotated[Moment | None, Meta(description="as it was true then; also a git commit or Tx id")]
KnownAt = Annotated[Moment | None, Meta(description="as weft knew it then; also a git commit or Tx id")]
NodeId = Annotated[str, Meta(min_length=1, max_length=1024)]
EntityIds = Annotated[
    tuple[NodeId, ...],
    Meta(
        min_length=1,
        max_length=MAX_LIMIT,
        description="the seeds: seed_entity_ids of semantic_search, or names that only one node has",
    ),
]


class ViewNode(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A node as views found it. `path` is the way from a seed, in words; `depth` the number of steps.

    A long text is cut: `show` has all of it.
    """

    id: str
    score: float
    kind: str
    name: str
    text: str
    citation: str
    valid_from: str
    valid_to: str | None = None
    views: tuple[View, ...] = ()
    depth: int | None = None
    path: str = ""
    linked_entity_ids: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()


class EntityShown(Struct, frozen=True, kw_only=True):
    """An entity from which the other views begin."""

    id: str
    kind: str
    name: str


class ViewHit(Struct, frozen=True, kw_only=True):
    """A node with its score, views and path."""

    node: NodeVersion
    score: float
    views: tuple[View, ...] = ()
    depth: int | None = None
    path: str = ""
    links: tuple[str, ...] = ()


def show_sights(
    ctx: CallContext, sights: Sequence[ViewHit], answer: Answer | None = None
) -> tuple[tuple[ViewNode, ...], tuple[str, ...]]:
    """Nodes of views with their citations, as `show_cited` takes them, with its notes."""
    shown, notes = show_cited(ctx, [each.node for each in sights], answer)
    nodes = tuple(
        ViewNode(
            id=node.id,
            score=round(sight.score, 6),
            kind=node.kind,
            name=node.name,
            text=cut(node.text or node.summary, TEXT_CHARACTERS),
            citation=node.citation,
            valid_from=node.valid_from,
            valid_to=node.valid_to,
            views=sight.views,
            depth=sight.depth,
            path=sight.path,
            linked_entity_ids=sight.links,
            flags=node.flags,
        )
        for sight, node in zip(sights, shown, strict=True)
    )
    return nodes, notes


def show_entities(nodes: Sequence[NodeVersion]) -> tuple[EntityShown, ...]:
    """Entities in a few words each."""
    return tuple(EntityShown(id=node.id, kind=node.kind, name=label(node)) for node in nodes)


def resolve(
    ctx: CallContext, when: When, written: Sequence[str], projects: tuple[str | None, ...] | None
) -> tuple[Mapping[str, NodeVersion], tuple[str, ...]]:
    """The nodes with these ids or unique names, and notes on the others.

    Missing nodes and those that the viewer may not see are left out alike. Raises Invalid for a name of several nodes.
    """
    asked = list(dict.fromkeys(written))
    there = {node.id: node for node in ctx.store.nodes(ctx.viewer, when, asked)}
    by_name = _named(ctx, when, [each for each in asked if each not in there], projects)
    found = {each: there.get(each) or by_name.get(each) for each in asked}
    notes = [f"{flat_name(each)} is taken as {node.id}" for each, node in by_name.items()]
    if gone := sum(node is None for node in found.values()):
        what = "1 id names" if gone == 1 else f"{gone} ids name"
        notes.append(f"{what} nothing that you may see at that time: left out")
    return {each: node for each, node in found.items() if node is not None}, tuple(notes)


def flat_name(written: str) -> str:
    """A caller's words, short enough for a note."""
    return repr(written[:80])


def _named(
    ctx: CallContext, when: When, names: Sequence[str], projects: tuple[str | None, ...] | None
) -> dict[str, NodeVersion]:
    keys = {name: name_key(name) for name in names if name_key(name)}
    if not keys:
        return {}
    find = Find(names=tuple(keys), projects=projects)
    by_key: dict[str, dict[str, NodeVersion]] = {}
    for node in ctx.store.find(ctx.viewer, when, find, limit=MAX_IDS_PER_READ).nodes:
        by_key.setdefault(name_key(node.name), {}).setdefault(node.id, node)
    for name, key in keys.items():
        if len(several := by_key.get(key, {})) > 1:
            shown = [f"{node.id} ({node.kind})" for node in several.values()][:CANDIDATES_SHOWN]
            raise Invalid(
                f"{flat_name(name)} names {len(several)} nodes", hint=f"give the id of one: {', '.join(shown)}"
            )
    return {name: next(iter(by_key[key].values())) for name, key in keys.items() if key in by_key}


class ExpansionStart(Struct, frozen=True, kw_only=True):
    """The seeds of an expansion, its reader, and notes."""

    ground: GraphReader
    seeds: ViewSeeds
    notes: tuple[str, ...]


def begin(
    ctx: CallContext, when: When, written: Sequence[str], projects: tuple[str | None, ...] | None
) -> ExpansionStart:
    """Seeds from ids or names. A node that is no entity is followed to its entities, with a note.

    The expansion stays in the projects asked about and those of the seeds.
    """
    found, notes = resolve(ctx, when, written, projects)
    nodes = list({node.id: node for node in found.values()}.values())
    if projects is not None:
        projects = tuple(dict.fromkeys([*projects, *(node.guard.project for node in nodes)]))
    ground = GraphReader(ctx=ctx, when=when, projects=projects)
    seeds = seeds_from(ground, nodes)
    others = [node for node in nodes if node.kind not in ENTITY_KINDS]
    if others:
        led = sum(bool(seeds.links.get(node.id)) for node in others)
        kinds = ", ".join(dict.fromkeys(node.kind for node in others))
        what = "1 id is" if len(others) == 1 else f"{len(others)} ids are"
        where = "the entities it is about" if len(others) == 1 else "the entities they are about"
        follow = f"followed to {where}" if led == len(others) else f"{led} of them lead to one"
        notes += (f"{what} of no entity ({kinds}): {follow}; pass seed_entity_ids, not ids of matches",)
    return ExpansionStart(ground=ground, seeds=seeds, notes=notes)


def moments(when: When) -> tuple[str, str]:
    """The two clocks of an answer, written out."""
    return to_iso(when.valid_at or 0), to_iso(when.known_at or 0)


def unread(problem: StoreError) -> str:
    """The note of an answer that is empty because the graph cannot be read."""
    return f"the graph cannot be read, so this is empty: {problem.message}; {problem.hint or 'run `weft doctor`'}"
