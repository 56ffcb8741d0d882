"""The builder of structured writes: resolves named nodes, creates new entities, and joins them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from msgspec.structs import asdict, replace

from weft.core.errors import Invalid, TooLarge
from weft.core.kinds import MENTION, VIEWS, is_thing, spelt
from weft.core.types import MAX_IDS_PER_READ, NOW, EdgeVersion, Guard, Neighbour, NodeVersion, When
from weft.log.canonical import check_text
from weft.log.draft import Draft
from weft.log.kinds.graph import Asserted, EdgeAssertion, NodeAssertion
from weft.log.kinds.memory import Remembered as MemoryRemembered
from weft.retrieval.judging.derived import without_descriptions
from weft.runtime.call_context import CallContext
from weft.text.lexical import name_key
from weft.writing.build.planned_write import BatchState, EdgeKey, PlannedWrite
from weft.writing.build.pseudonyms import pseudonym
from weft.writing.build.references import (
    ALWAYS,
    MERGES_INTO,
    ambiguous_reference,
    assertion_of,
    by_id,
    covers,
    entity_id,
    looks_like_id,
    merged_into,
    named,
    reference_not_found,
    resolve_reference,
    same_rights,
    same_words,
)

MAX_WORDS: Final = 1_000_000  # characters of a description
UNSPECIFIED: Final = "Entity"  # the kind of an entity of which nothing more is known
IN_PASSING: Final = frozenset({UNSPECIFIED, MENTION})


class WriteBuilder:
    """Collects the nodes and edges of one write. Named entities that do not exist are created with it."""

    def __init__(self, ctx: CallContext, guard: Guard, so_far: BatchState, *, when: When = NOW) -> None:
        self.ctx, self.guard, self.when, self._so_far = ctx, guard, when, so_far
        self._projects = tuple(dict.fromkeys((guard.project, None)))
        self.nodes: dict[str, NodeAssertion] = {}
        self.edges: dict[EdgeKey, EdgeAssertion] = {}
        self.notes: list[str] = []
        self._events = so_far.events
        self._keys: set[str] = set()
        self._kinds: set[str] = set()

    # Finding

    def thing(self, written: str, *, kind: str = UNSPECIFIED) -> str:
        """The id of an entity (or code) by id, name or alias; if there is none, one of this kind is created.

        Entities that some readers of this write may not see are skipped. Raises Invalid for an ambiguous name.
        """
        if (known := self.standing(written)) is not None:
            if not is_thing(known.kind):
                raise Invalid(
                    f"{written[:80]!r} is a {known.kind}, not an entity", hint="give the name or the id of an entity"
                )
            return self.open_to_all(known).id
        found = self.things(written)
        open_to_all = [node for node in found if covers(guard_in(node), self.guard)]
        node = _one(written, open_to_all, self.guard)
        if node is not None:
            return node.id
        if looks_like_id(written):
            raise reference_not_found(written, "node")
        if found:
            self.notes.append(
                f"{written[:80]!r} ({found[0].id}) is not visible to all who may see this: a new entity was created"
            )
        return self.new_thing(written, kind).id

    def open_to_all(self, node: NodeAssertion) -> NodeAssertion:
        """The node, which everybody who may see this write may see too. Raises Invalid otherwise."""
        if not covers(guard_in(node), self.guard):
            raise Invalid(
                f"some who may see this may not see {node.id[:80]!r}",
                hint="write it with the scope and agents of that node, or omit the reference",
            )
        return node

    def things(self, written: str, *, follow: bool = True) -> list[NodeAssertion]:
        """Every entity (or code) with a name, those of this commit first."""
        key = self._look_for(written, VIEWS["entity"])
        made = [node for node in self._called(key) if is_thing(node.kind) and name_key(node.name) == key]
        asked = (key, self._projects, self.when)
        if asked not in self._so_far.things:
            self._so_far.things[asked] = named(self.ctx, written, is_thing, when=self.when, projects=self._projects)
        stood = self._so_far.things[asked]
        found = {node.id: node for node in (*map(self.known, stood), *made)}
        if follow and found:
            onward = {node.id: merged_into(self.ctx, [node], self.when) for node in stood}
            found = {each.id: each for node in found.values() for each in self._merged(node, onward.get(node.id, ()))}
        return list(found.values())

    def standing(self, written: str) -> NodeAssertion | None:
        """The node with this id, from this commit or the store, after merges."""
        if (made := self.nodes.get(written) or self._so_far.nodes.get(written)) is not None:
            return made
        node = by_id(self.ctx, written, self.when)
        return None if node is None else self.known(merged_into(self.ctx, [node], self.when)[0])

    def node(self, written: str, *, kinds: frozenset[str] | None = None, what: str = "node") -> NodeAssertion:
        """A node of any kind, or of these kinds, that must exist. Raises NotFound, or Invalid for an ambiguous name."""
        made = self.nodes.get(written) or self._so_far.nodes.get(written)
        if made is None:
            key = self._look_for(written, kinds or frozenset())
            called = without_descriptions([n for n in self._called(key) if kinds is None or n.kind in kinds])
            if len(called) > 1:
                raise ambiguous_reference(written, called)
            made = called[0] if called else None
        if made is not None and (kinds is None or made.kind in kinds):
            return self.open_to_all(made)
        found = resolve_reference(self.ctx, written, kinds=kinds, when=self.when, projects=self._projects)
        if found is None:
            raise reference_not_found(written, what)
        return self.open_to_all(self.known(found))

    def saying(self, kind: str, words: str) -> list[NodeAssertion]:
        """Nodes of a kind with exactly this text and the guard of this write, oldest first."""
        key = self._look_for(words, frozenset({kind}))
        found = same_words(self.ctx, words, (kind,), when=self.when, projects=self._projects)
        stood = [self.known(node) for node in found]
        made = [node for node in self._called(key) if node.kind == kind and name_key(node.text) == key]
        return [node for node in (*stood, *made) if guard_in(node) == self.guard]

    def edge_standing(self, src: str, rel: str, dst: str) -> EdgeVersion | EdgeAssertion | None:
        """The current relation, if there is one."""
        if (made := self._so_far.edges.get((src, rel, dst))) is not None:
            return made
        return next((step.edge for step in self.steps_from(src, rel) if step.edge.dst == dst), None)

    def steps_from(self, src: str, rel: str) -> Sequence[Neighbour]:
        """The current edges of a relation from an existing node."""
        if src not in self._events:  # a node that was not found has no edges
            return ()
        found = self.ctx.store.neighbours(
            self.ctx.viewer, self.when, [src], rels=(rel,), direction="out", limit=MAX_IDS_PER_READ
        )
        return [step for step in found if step.edge.src == src]

    def leads_from(self, ids: Sequence[str], rel: str) -> list[str]:
        """The targets of a relation from these nodes, in the store and in this commit."""
        there = [each for each in ids if each not in self.nodes and each not in self._so_far.nodes]
        steps = self.ctx.store.neighbours(self.ctx.viewer, self.when, there, rels=(rel,), direction="out", limit=100)
        made = [dst for src, name, dst in self._so_far.edges if name == rel and src in ids]
        return list(dict.fromkeys([*(step.node.id for step in steps), *made]))

    def known(self, node: NodeVersion) -> NodeAssertion:
        """An existing node as an assertion; as this commit asserts it, if it makes a new version."""
        self._events[node.id] = node.event
        return self.nodes.get(node.id) or self._so_far.nodes.get(node.id) or assertion_of(node)

    def node_made(self, node_id: str) -> NodeAssertion:
        """A node of this commit, or an existing one."""
        made = self.nodes.get(node_id) or self._so_far.nodes.get(node_id)
        if made is None:
            (found,) = self.ctx.store.nodes(self.ctx.viewer, self.when, [node_id])
            made = self.known(found)
        return made

    # Making

    def new_thing(self, name: str, kind: str, **fields: Any) -> NodeAssertion:
        """Creates an entity. It has no known beginning and belongs to no project: statements about it do."""
        key, kind = name_key(name), spelt(kind)
        if not key:
            raise Invalid(
                f"the name {name[:80]!r} has no letter or digit in it",
                hint="give a name with at least one letter or digit",
            )
        guard = replace(self.guard, project=None)
        node_id = self.id_of(entity_id(kind, pseudonym(self.ctx, key, guard), guard))
        node = NodeAssertion(id=node_id, kind=kind, name=name, **asdict(guard), **{"valid_from": ALWAYS} | fields)
        self.nodes[node_id] = node
        return node

    def id_of(self, node_id: str) -> str:
        """The id of a node known by name; a unique one if a node of that name may exist hidden from the caller."""
        pseudonym = self.guard.sensitive and not self.ctx.viewer.sensitive
        return f"{node_id}~{self.ctx.new_id()}" if pseudonym else node_id

    def edge(self, src: str, rel: str, dst: str, **fields: Any) -> None:
        """Joins two nodes, once."""
        made = EdgeAssertion(src=src, rel=rel, dst=dst, **asdict(self.guard) | fields)
        self.edges.setdefault((src, rel, dst), made)

    def new_edges(self) -> tuple[EdgeAssertion, ...]:
        """The relations that do not hold yet."""
        return tuple(edge for key, edge in self.edges.items() if self.edge_standing(*key) is None)

    # Done

    def told(
        self,
        main: NodeAssertion,
        before: NodeAssertion | None,
        linked: Sequence[str],
        *,
        occurred_at: int | None = None,
    ) -> PlannedWrite:
        """The plan for one node and its relations: a new node, a new version of the one `before`, or nothing."""
        if before is None:
            payload = MemoryRemembered(
                **{("node_kind" if name == "kind" else name): value for name, value in asdict(main).items()},
                entities=tuple(self.nodes.values()),
                edges=tuple(self.edges.values()),
            )
            draft = Draft(kind="memory.remembered", payload=payload, occurred_at=occurred_at)
            return self.planned(main.id, (draft,), linked)
        changed = () if _says(main) == _says(before) else (main,)
        nodes, edges = (*self.nodes.values(), *changed), self.new_edges()
        if changed:
            self.notes.append("it existed already: this is a new version of it")
        return self.asserted(main.id, nodes, edges, linked, cites=self._events.get(main.id))

    def asserted(
        self,
        node_id: str,
        nodes: Sequence[NodeAssertion],
        edges: Sequence[EdgeAssertion],
        linked: Sequence[str],
        *,
        cites: int | None,
    ) -> PlannedWrite:
        """The plan that asserts these, or an empty plan."""
        drafts: tuple[Draft, ...] = ()
        if nodes or edges:
            drafts = (Draft(kind="graph.asserted", payload=Asserted(nodes=tuple(nodes), edges=tuple(edges))),)
        return self.planned(node_id, drafts, linked, cites=cites)

    def planned(
        self, node_id: str, drafts: tuple[Draft, ...], linked: Sequence[str], *, cites: int | None = None
    ) -> PlannedWrite:
        """The plan of a write with these events."""
        return PlannedWrite(
            id=node_id,
            drafts=drafts,
            linked=tuple(dict.fromkeys(linked)),
            notes=tuple(dict.fromkeys(self.notes)),
            cites=None if drafts else cites,
            keys=frozenset(self._keys - {""}),
            kinds=frozenset(self._kinds),
        )

    def _look_for(self, written: str, kinds: frozenset[str]) -> str:
        key = name_key(written)
        self._keys.add(key)
        self._kinds |= kinds
        return key

    def _called(self, key: str) -> list[NodeAssertion]:
        own = [node for node in self.nodes.values() if key in (name_key(node.name), name_key(node.text))]
        return [*own, *self._so_far.called(key)] if key else []

    def _merged(self, node: NodeAssertion, onward: Sequence[NodeVersion]) -> list[NodeAssertion]:
        """The node that a node was merged into, in the store (`onward`) or by this commit; else the node itself."""
        stood = [self.known(each) for each in onward if each.id != node.id]
        edges = (*self.edges, *self._so_far.edges)
        now = [dst for src, rel, dst in edges if (src, rel) == (node.id, MERGES_INTO)]
        return [*stood, *map(self.node_made, now)] or [node]


def guard_in(node: NodeAssertion) -> Guard:
    """The guard of an asserted node."""
    return Guard(project=node.project, scope=node.scope, agents=node.agents, sensitive=node.sensitive)


def check_text_field(words: str, *, field: str, most: int = MAX_WORDS) -> str:
    """A text that can be stored and found. Raises Invalid if blank or with a NUL character, TooLarge if too long."""
    if len(words) > most:
        raise TooLarge(
            f"{field} is {len(words):,} characters long; the limit is {most:,}",
            hint="shorten it, or ingest it as a document",
        )
    check_text(words, field=field)
    if not words.strip():
        raise Invalid(f"{field} is blank", hint="write at least one word")
    return words


def _says(node: NodeAssertion) -> tuple[Any, ...]:
    return node.name, node.summary, node.text, dict(node.props), node.valid_from, node.valid_to


def _one(written: str, found: Sequence[NodeAssertion], guard: Guard) -> NodeAssertion | None:
    """The most likely entity: those with the same rights first, those of a known kind first."""
    nearest = [node for node in found if same_rights(guard_in(node), guard)] or found
    nearest = [node for node in nearest if node.kind not in IN_PASSING] or nearest
    if len(nearest) > 1:
        raise ambiguous_reference(written, nearest)
    return nearest[0] if nearest else None
