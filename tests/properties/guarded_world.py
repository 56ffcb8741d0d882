"""What was written, who may see it, and the same world with only that in it.

Rights are computed here from the pieces alone, not asked of weft.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from weft.core.clock import Clock
from weft.core.kinds import STRUCTURAL_KINDS
from weft.core.ports import Store
from weft.core.types import Guard, Viewer
from weft.log.draft import Draft
from weft.testing.clock import ManualClock
from weft.testing.scribe import Scribe, deleted, edge, edge_ended, ended, memory_of, node, restored
from weft.testing.viewers import OPERATOR
from weft.text.lexical import content_hash

KINDS = {"n0": "Note", "n1": "Note", "n2": "Note", "m0": "Memory", "g0": "Gizmo", "f0": "File", "d0": "Document"}


@dataclass(frozen=True)
class PutNode:
    id: str
    text: str
    guard: Guard
    prop: str
    begin: int | None
    until: int | None

    @property
    def name(self) -> str:
        return self.text.partition(" ")[0]

    def draft(self) -> Draft:
        fields = {
            "project": self.guard.project,
            "scope": self.guard.scope,
            "agents": self.guard.agents,
            "sensitive": self.guard.sensitive,
            "props": {self.prop: 1},
            "name": self.name,
        }
        if KINDS[self.id] == "Memory":
            return memory_of(self.id, self.text, **fields)
        return node(self.id, self.text, kind=KINDS[self.id], at=self.begin, until=self.until, **fields)


@dataclass(frozen=True)
class PutEdge:
    src: str
    dst: str
    guard: Guard
    weight: float
    until: int | None

    def draft(self) -> Draft:
        guard = self.guard
        rights = {"scope": guard.scope, "agents": guard.agents, "sensitive": guard.sensitive}
        return edge(self.src, "TO", self.dst, weight=self.weight, until=self.until, **rights)


@dataclass(frozen=True)
class EndNode:
    id: str
    at: int | None

    def draft(self) -> Draft:
        return ended(self.id, at=self.at)


@dataclass(frozen=True)
class EndEdge:
    src: str
    dst: str
    at: int

    def draft(self) -> Draft:
        return edge_ended(self.src, "TO", self.dst, at=self.at)


@dataclass(frozen=True)
class SetDeleted:
    id: str
    gone: bool

    def draft(self) -> Draft:
        return deleted(self.id) if self.gone else restored(self.id)


Piece = PutNode | PutEdge | EndNode | EndEdge | SetDeleted


@dataclass(frozen=True)
class Written:
    """One commit: one event for each piece."""

    account: str
    session: str
    agent: str
    at: int
    pieces: tuple[Piece, ...]


@dataclass
class World:
    """The pieces in order, and today's state that follows from them."""

    account: str
    written: list[Written] = field(default_factory=list)
    guards: dict[str, Guard] = field(default_factory=dict)
    edges: dict[tuple[str, str], Guard] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)

    def add(self, written: Written) -> None:
        self.written.append(written)
        for piece in written.pieces:
            match piece:
                case PutNode():
                    self.guards[piece.id] = piece.guard
                    self.gone.discard(piece.id)
                case PutEdge():
                    self.edges[piece.src, piece.dst] = piece.guard
                case SetDeleted():
                    (self.gone.add if piece.gone else self.gone.discard)(piece.id)

    def hashes(self) -> list[bytes]:
        """Of every text that was ever written."""
        puts = [piece for written in self.written for piece in written.pieces if isinstance(piece, PutNode)]
        return list(dict.fromkeys(content_hash(put.name, "", put.text) for put in puts))

    # Who may see what, today

    def _open(self, viewer: Viewer, guard: Guard) -> bool:
        return guard.scope in viewer.scopes and (viewer.sensitive or not guard.sensitive)

    def findable(self, viewer: Viewer) -> set[str]:
        limited = viewer.audience == "public" and viewer.agent is not None
        return {
            name
            for name, guard in self.guards.items()
            if name not in self.gone and self._open(viewer, guard) and (not limited or viewer.agent in guard.agents)
        }

    def reachable(self, viewer: Viewer) -> set[str]:
        """Findable, or untagged structure."""
        return self.findable(viewer) | {
            name
            for name, guard in self.guards.items()
            if name not in self.gone
            and self._open(viewer, guard)
            and not guard.agents
            and KINDS[name] in STRUCTURAL_KINDS
        }

    def open_edges(self, viewer: Viewer, nodes: set[str]) -> set[tuple[str, str]]:
        limited = viewer.audience == "public" and viewer.agent is not None
        return {
            ends
            for ends, guard in self.edges.items()
            if nodes.issuperset(ends)
            and self._open(viewer, guard)
            and (not limited or not guard.agents or viewer.agent in guard.agents)
        }

    # The same world without the rest

    def only(self, viewer: Viewer, nodes: set[str], make_store: Callable[[Clock], Store], now_us: int) -> Store:
        """A store in which the pieces about these nodes, and the edges open between them, were written alone."""
        edges = self.open_edges(viewer, nodes)
        clock = ManualClock()
        store = make_store(clock)
        for written in self.written:
            seen = tuple(piece for piece in written.pieces if _about(piece, nodes, edges))
            if seen:
                clock.set(written.at)
                write(Scribe(store, clock), Written(written.account, written.session, written.agent, written.at, seen))
        clock.set(now_us)
        return store


def _about(piece: Piece, nodes: set[str], edges: set[tuple[str, str]]) -> bool:
    match piece:
        case PutEdge() | EndEdge():
            return (piece.src, piece.dst) in edges
        case _:
            return piece.id in nodes


def write(scribe: Scribe, written: Written) -> None:
    """Commits the pieces; the clock stands at the time they are recorded."""
    viewer = Viewer(account=written.account, scopes=OPERATOR.scopes, sensitive=True)
    writer = Scribe(scribe.store, scribe.clock, viewer=viewer)
    events = writer.write(
        *(piece.draft() for piece in written.pieces), session=written.session, agent=written.agent
    ).events
    assert events[0].recorded_at == written.at
