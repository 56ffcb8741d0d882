"""What is taken back of nodes that stay: versions lose the words that one session brought, or what was compiled.

An erasure takes nodes whole. But a thing is told of by many, and a memory may be edited or tagged by another than who
told it. Of these only some words go: a version takes those that the others had said until then. Nothing else changes:
ids, kinds, times and the order of versions stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from weft.kinds import COMPILED_PROPS, COMPILED_TRUTH
from weft.log.kinds import code, conversation, document, graph, memory
from weft.projection.moves import PutNode
from weft.projection.tokens import SYMBOL
from weft.sealing import PROPS, is_sealed

EdgeKey = tuple[str, str, str]
Payload = TypeVar("Payload", bound=Struct)
_COMPILED: Final = b'"compiled_'


class Words(NamedTuple):
    """What a version says."""

    name: str = ""
    summary: str = ""
    text: str = ""
    props: Mapping[str, Any] = {}

    @classmethod
    def of(cls, part: PutNode | graph.NodeAssertion | memory.Remembered) -> Words:
        """As a payload or a move has them."""
        return cls(part.name, part.summary, part.text, part.props)


class Unsaid(Struct, frozen=True, kw_only=True):
    """What goes of what stays.

    `words` are versions as they are and as they will be, by position and node; one that says something else meanwhile
    is left alone. `edge_props` are the same for relations. `edges` are relations that nobody else told of: their names
    go. `silent` are events whose reasons go. `bare` are nodes that lose what was compiled of them, wherever it stands.
    `carried` are events of others that repeat words that go: they must be rewritten before those that brought them.
    """

    words: Mapping[tuple[int, str], tuple[tuple[Words, Words], ...]] = field(default_factory=dict)
    edge_props: Mapping[tuple[int, EdgeKey], tuple[tuple[Mapping[str, Any], Mapping[str, Any]], ...]] = field(
        default_factory=dict
    )
    edges: frozenset[EdgeKey] = frozenset()
    silent: frozenset[int] = frozenset()
    bare: frozenset[str] = frozenset()
    carried: frozenset[int] = frozenset()
    positions: frozenset[int] = frozenset()  # of all events that change

    def wants(self, pos: int, payload: bytes) -> bool:
        """Whether an event may lose words."""
        return pos in self.positions or (bool(self.bare) and _COMPILED in payload)

    def payload(self, pos: int, payload: Payload) -> Payload:
        """A payload without these words; the same object where there are none."""
        change = _CHANGES.get(type(payload))
        if change is None or not (pos in self.positions or self.bare):
            return payload
        left: Payload = change(payload, _At(self, pos))
        if pos in self.silent and hasattr(left, "reason"):
            left = replace(left, reason="")
        return payload if left == payload else left


NOTHING_UNSAID: Final = Unsaid()


class _At:
    """The words of one event."""

    def __init__(self, unsaid: Unsaid, pos: int) -> None:
        self._unsaid, self._pos = unsaid, pos

    def words(self, node_id: str, said: Words) -> Words:
        for before, after in self._unsaid.words.get((self._pos, node_id), ()):
            if before == said:
                said = after
                break
        if node_id not in self._unsaid.bare:
            return said
        return without_compiled(said, sealed=self._pos in self._unsaid.positions)

    def part(self, part: Any) -> Any:
        """A part of a payload that has all four fields."""
        return replace(part, **self.words(part.id, Words.of(part))._asdict())

    def edge(self, edge: graph.EdgeAssertion) -> graph.EdgeAssertion:
        pairs = self._unsaid.edge_props.get((self._pos, (edge.src, edge.rel, edge.dst)), ())
        return next((replace(edge, props=dict(after)) for before, after in pairs if before == edge.props), edge)

    def edges(self, edges: Iterable[graph.EdgeAssertion]) -> tuple[graph.EdgeAssertion, ...]:
        return tuple(map(self.edge, edges))

    def titled(self, node_id: str, title: str, text: str) -> tuple[str, str]:
        """A title and a text of a part whose other words follow from where it stands."""
        for before, after in self._unsaid.words.get((self._pos, node_id), ()):
            if (before.name, before.text) == (title, text):
                return after.name, after.text
        return title, text


def without_compiled(said: Words, *, sealed: bool = False) -> Words:
    """The same without what was compiled; where that is `sealed`, without all that is sealed along with it."""
    hides = is_sealed(str(said.props.get(PROPS, ""))) and (sealed or bool(COMPILED_PROPS & said.props.keys()))
    gone = COMPILED_PROPS | {PROPS} if hides else COMPILED_PROPS
    if not gone & said.props.keys():
        return said
    kept = {key: value for key, value in said.props.items() if key not in gone}
    drops = hides or said.summary == said.props.get(COMPILED_TRUTH)
    return said._replace(summary="" if drops else said.summary, props=kept)


def _asserted(payload: graph.Asserted, at: _At) -> graph.Asserted:
    return replace(payload, nodes=tuple(map(at.part, payload.nodes)), edges=at.edges(payload.edges))


def _remembered(payload: memory.Remembered, at: _At) -> memory.Remembered:
    left: memory.Remembered = at.part(payload)
    if left.text != payload.text:  # what was read out of it counts its characters
        left = replace(left, gate=None, extracted=None)
    return replace(left, entities=tuple(map(at.part, payload.entities)), edges=at.edges(payload.edges))


def _ingested(payload: document.Ingested, at: _At) -> document.Ingested:
    sections = []
    for section in payload.sections:
        title, text = at.titled(section.id, section.title, section.text)
        sections.append(replace(section, title=title, text=text))
    title, _ = at.titled(payload.id, payload.title, "")
    return replace(payload, title=title, sections=tuple(sections))


def _recorded(payload: conversation.Recorded, at: _At) -> conversation.Recorded:
    return replace(payload, title=at.titled(payload.id, payload.title, "")[0])


def _indexed(payload: code.Indexed, at: _At) -> code.Indexed:
    symbols = []
    for symbol in payload.symbols:
        name = symbol.name or symbol.key  # stays: it is part of the id, which others told too
        symbols.append(replace(symbol, text=at.titled(f"{payload.id}{SYMBOL}{symbol.key}", name, symbol.text)[1]))
    return replace(payload, text=at.titled(payload.id, payload.path, payload.text)[1], symbols=tuple(symbols))


def _as_it_is(payload: Any, at: _At) -> Any:
    """Nothing but its reason may go."""
    return payload


_CHANGES: Final[Mapping[type, Callable[[Any, _At], Any]]] = {
    memory.Remembered: _remembered,
    graph.Asserted: _asserted,
    graph.Ended: _as_it_is,
    graph.Deleted: _as_it_is,
    graph.Restored: _as_it_is,
    document.Ingested: _ingested,
    conversation.Recorded: _recorded,
    code.Indexed: _indexed,
    code.Linked: _as_it_is,
}
