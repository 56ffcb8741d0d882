"""Shared parts of the views: their relations, single steps, and their values.

Every step is one guarded read for a whole batch of nodes: a walk treats invisible nodes as missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct

from weft.core.kinds import RECORD_KINDS, UNCOUNTED_RELATIONS, VIEWS
from weft.core.types import Direction, EdgeVersion, LeanStep, Neighbour, NodeVersion, Way, When
from weft.retrieval.pipeline import View
from weft.runtime.call_context import CallContext
from weft.text.one_line import flat

ENTITY_KINDS: Final = VIEWS["entity"]
CROSS_VIEW: Final = ("REPRESENTS", "INVOLVES", "AFFECTS", "REFERS_TO")  # from the other views to entities and events
CAUSES: Final = "CAUSES"
SEQUENCE: Final = ("NEXT", "FOLLOWS")
NOT_BETWEEN_ENTITIES: Final = UNCOUNTED_RELATIONS.union(CROSS_VIEW, SEQUENCE, (CAUSES,))

MAX_STEPS: Final = 100  # from one node
MAX_STEPS_OF_ALL: Final = 500  # from all nodes of one hop, as far as each may take LEAST_STEPS
LEAST_STEPS: Final = 10
LABEL_CHARACTERS: Final = 60


class SeenNode(Struct, frozen=True, kw_only=True):
    """A node as a view found it: its score there, how many steps from a seed, and the way, in words and as ids."""

    node: NodeVersion
    score: float
    depth: int
    path: str
    way: tuple[str, ...]


class ExpandedView(Struct, frozen=True, kw_only=True):
    """The nodes of a view. `steps` is how many relations led to them; a view without steps adds nothing to its seeds.

    `chains` are ids from cause to effect.
    """

    view: View
    nodes: tuple[SeenNode, ...] = ()
    steps: int = 0
    notes: tuple[str, ...] = ()
    chains: tuple[tuple[str, ...], ...] = ()


class GraphReader(Struct, frozen=True, kw_only=True):
    """The graph as one viewer sees it at one time, in some projects (None: in all)."""

    ctx: CallContext
    when: When
    projects: tuple[str | None, ...] | None = None

    @property
    def max_nodes(self) -> int:
        """How many nodes one view may have."""
        return self.ctx.settings.view_max_nodes

    def step(
        self,
        ids: Sequence[str],
        rels: tuple[str, ...] | None = None,
        *,
        direction: Direction,
        without: tuple[str, ...] = (),
    ) -> tuple[Neighbour, ...]:
        """The neighbours of these nodes, a limited number each, heaviest first."""
        if not ids:
            return ()
        found = self.ctx.store.neighbours(
            self.ctx.viewer,
            self.when,
            ids,
            rels=rels,
            without=without,
            direction=direction,
            limit=_steps_of_each(ids),
        )
        return tuple(each for each in found if self._open(each.edge, each.node))

    def links(self, ids: Sequence[str], rels: tuple[str, ...], *, direction: Way) -> tuple[LeanStep, ...]:
        """The same steps without their words, for a choice among very many; `read` reads those that are chosen."""
        if not ids:
            return ()
        found = self.ctx.store.links(
            self.ctx.viewer, self.when, ids, rels=rels, direction=direction, limit=_steps_of_each(ids)
        )
        return tuple(each for each in found if self._open_link(each))

    def read(self, ids: Sequence[str]) -> dict[str, NodeVersion]:
        """The visible ones of these nodes."""
        return {each.id: each for each in self.ctx.store.nodes(self.ctx.viewer, self.when, ids)} if ids else {}

    def _open_link(self, link: LeanStep) -> bool:
        here = self.projects is None or (link.guard.project in self.projects and link.edge_project in self.projects)
        return here and link.kind not in RECORD_KINDS and self.ctx.viewer.admits(link.guard) and link.id != link.start

    def _open(self, edge: EdgeVersion, node: NodeVersion) -> bool:
        """Whether a node may be found: in the projects asked about, no internal record, and not only passable."""
        here = self.projects is None or (node.guard.project in self.projects and edge.guard.project in self.projects)
        return here and node.kind not in RECORD_KINDS and self.ctx.viewer.admits(node.guard) and edge.src != edge.dst


def _steps_of_each(ids: Sequence[str]) -> int:
    return max(LEAST_STEPS, min(MAX_STEPS, MAX_STEPS_OF_ALL // len(ids)))


def as_seed(node: NodeVersion) -> SeenNode:
    """A node from which a view begins."""
    return SeenNode(node=node, score=1.0, depth=0, path=label(node), way=(node.id,))


def onward(before: SeenNode, step: Neighbour, *, score: float = 1.0, depth: int = 0) -> SeenNode:
    """The node one step further, and the way there: `Mira -[WORKS_AT]-> Ferry desk`. Depth 0 is a seed again."""
    inward = step.edge.src != step.start
    return further(before, step.edge.rel, step.node, inward=inward, score=score, depth=depth)


def further(before: SeenNode, rel: str, node: NodeVersion, *, inward: bool, score: float, depth: int) -> SeenNode:
    """The node that a relation leads to, and the way there."""
    said = flat(rel)[:LABEL_CHARACTERS]
    path = f"{before.path} {f'<-[{said}]-' if inward else f'-[{said}]->'} {label(node)}"
    return SeenNode(node=node, score=score, depth=depth, path=path, way=(*before.way, node.id))


def label(node: NodeVersion) -> str:
    """A node in a few words on one line: its name, else how its text begins, else its id."""
    words = flat(node.name) or flat(node.text) or flat(node.id)
    return words if len(words) <= LABEL_CHARACTERS else words[: LABEL_CHARACTERS - 1].rstrip() + "…"


def ids_of(seen: Iterable[SeenNode]) -> list[str]:
    """The ids, in order."""
    return [each.node.id for each in seen]


def distinct(notes: Iterable[str]) -> tuple[str, ...]:
    """Each once, in order."""
    return tuple(dict.fromkeys(notes))


def stopped(view: View, most: int) -> str:
    """The note of a view that reached its bound."""
    return f"{view} view: only the first {'node was' if most == 1 else f'{most} nodes were'} followed"


def thin(view: View, count: int, least: int) -> str:
    """The note of a view with fewer nodes than `least`; nothing for one that found enough."""
    if count >= least:
        return ""
    if not count:
        return f"{view} view: no relation leads from the best matches into it"
    nodes = "1 node" if count == 1 else f"{count} nodes"
    return f"{view} view: only {nodes}"
