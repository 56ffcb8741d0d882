"""Retractions: words that are removed from versions of nodes that stay.

An erasure removes nodes whole. But an entity is described by many sessions, and a memory may be edited or tagged by
another session than its author. A node that only the erased session described is erased. One that others described in
their own words loses what the session said, also where others' versions repeat it (who tags a memory repeats its text),
unless they said it themselves. Ids, kinds, times and the order of versions do not change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from weft.core.kinds import COMPILED_PROPS, COMPILED_TRUTH, ERASED, VIEWS
from weft.core.types import Event, Viewer
from weft.graph.folds import moves_of
from weft.graph.moves import Move, PutEdge, PutNode
from weft.graph.placeholders import KEPT_KINDS, SYMBOL
from weft.log.canonical import canonical
from weft.log.kinds import code, conversation, document, graph, memory, payload_of
from weft.log.verify import read_commits
from weft.log.words import FOLDED_PROPS, OWN_PROPS, TELLING_PROPS
from weft.runtime.call_context import CallContext
from weft.text.encryption import PROPS, is_sealed

# Shared by everybody who mentions them: they are not erased with one of these.
SHARED_KINDS: Final = VIEWS["entity"] | {"Concept"}
EdgeKey = tuple[str, str, str]
Payload = TypeVar("Payload", bound=Struct)
_COMPILED: Final = b'"compiled_'


class NodeText(NamedTuple):
    """The words of a version."""

    name: str = ""
    summary: str = ""
    text: str = ""
    props: Mapping[str, Any] = {}

    @classmethod
    def of(cls, part: PutNode | graph.NodeAssertion | memory.Remembered) -> NodeText:
        """As a payload or a move has them."""
        return cls(part.name, part.summary, part.text, part.props)


class Retraction(Struct, frozen=True, kw_only=True):
    """Words to remove from nodes that stay.

    `words` are versions before and after, by position and node; a version that differs from both is left alone.
    `edge_props` are the same for edges. `edges` are relations that nobody else asserted: their names are removed.
    `silent` are events whose reasons are removed. `bare` are nodes that lose their compiled truth in every event.
    `carried` are events of others that repeat removed words: they must be rewritten before the originals.
    """

    words: Mapping[tuple[int, str], tuple[tuple[NodeText, NodeText], ...]] = field(default_factory=dict)
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
        """A payload without these words; the same object if it has none."""
        change = _CHANGES.get(type(payload))
        if change is None or not (pos in self.positions or self.bare):
            return payload
        left: Payload = change(payload, _At(self, pos))
        if pos in self.silent and hasattr(left, "reason"):
            left = replace(left, reason="")
        return payload if left == payload else left


NO_RETRACTION: Final = Retraction()


class _At:
    """The retraction at one event."""

    def __init__(self, retraction: Retraction, pos: int) -> None:
        self._unsaid, self._pos = retraction, pos

    def words(self, node_id: str, said: NodeText) -> NodeText:
        for before, after in self._unsaid.words.get((self._pos, node_id), ()):
            if before == said:
                said = after
                break
        if node_id not in self._unsaid.bare:
            return said
        return without_compiled(said, sealed=self._pos in self._unsaid.positions)

    def part(self, part: Any) -> Any:
        """A part of a payload that has name, summary, text and props."""
        return replace(part, **self.words(part.id, NodeText.of(part))._asdict())

    def edge(self, edge: graph.EdgeAssertion) -> graph.EdgeAssertion:
        pairs = self._unsaid.edge_props.get((self._pos, (edge.src, edge.rel, edge.dst)), ())
        return next((replace(edge, props=dict(after)) for before, after in pairs if before == edge.props), edge)

    def edges(self, edges: Iterable[graph.EdgeAssertion]) -> tuple[graph.EdgeAssertion, ...]:
        return tuple(map(self.edge, edges))

    def titled(self, node_id: str, title: str, text: str) -> tuple[str, str]:
        """The title and text of a part whose other fields are derived."""
        for before, after in self._unsaid.words.get((self._pos, node_id), ()):
            if (before.name, before.text) == (title, text):
                return after.name, after.text
        return title, text


def without_compiled(said: NodeText, *, sealed: bool = False) -> NodeText:
    """The words without the compiled truth; if that is `sealed`, without everything encrypted along with it."""
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
    if left.text != payload.text:  # extraction refers to characters of the text
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
        name = symbol.name or symbol.key  # stays: it is part of the id
        symbols.append(replace(symbol, text=at.titled(f"{payload.id}{SYMBOL}{symbol.key}", name, symbol.text)[1]))
    return replace(payload, text=at.titled(payload.id, payload.path, payload.text)[1], symbols=tuple(symbols))


def _as_it_is(payload: Any, at: _At) -> Any:
    """Only the reason may be removed."""
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


# Properties that place a node among others: they stay if others asserted the node again.
PLACES: Final = (OWN_PROPS | FOLDED_PROPS) - TELLING_PROPS
# Shared kinds, identified by name.
NAMED_KINDS: Final = SHARED_KINDS | KEPT_KINDS
# These relations record what happened to a node, and end with it.
LASTING: Final = frozenset({"SUPERSEDES", "MERGES_INTO"})

Key = str | EdgeKey
Atom = tuple[str, ...]


class SessionWords(Struct, frozen=True, kw_only=True):
    """The nodes that only a session described, and the retraction for the others. `sealed` could not be decrypted."""

    alone: frozenset[str]
    shared: frozenset[str]
    retraction: Retraction
    sealed: int = 0


class _Version(Struct, frozen=True):
    """One event's version of a node or edge: as stored, and decrypted."""

    pos: int
    inside: bool  # said by the session
    kind: str
    raw: NodeText
    said: NodeText


class _Scan(Struct):
    """Versions and positions gathered from the log."""

    positions: set[int] = field(default_factory=set)
    reasons: set[int] = field(default_factory=set)
    versions: dict[Key, list[_Version]] = field(default_factory=dict)
    sealed: set[Key] = field(default_factory=set)


def said_by(ctx: CallContext, viewer: Viewer, inside: Callable[[Event], bool]) -> SessionWords:
    """The words of the events for which `inside` holds, apart from those of others. Reads the log twice."""
    from weft.erasure.affected import Needles

    scan = _Scan()
    for event in _events(ctx, viewer):
        if inside(event):
            scan.positions.add(event.pos)
            if getattr(payload_of(event), "reason", ""):
                scan.reasons.add(event.pos)
            _gather(ctx, scan, event, inside=True)
    needles = Needles({key if isinstance(key, str) else key[0] for key in scan.versions})
    for event in _events(ctx, viewer) if scan.versions else ():
        if event.pos not in scan.positions and needles.found(event.payload):
            _gather(ctx, scan, event, inside=False)
    return _parted(scan)


def _events(ctx: CallContext, viewer: Viewer) -> Iterator[Event]:
    for _, events in read_commits(ctx.store, viewer):
        yield from events


def _gather(ctx: CallContext, scan: _Scan, event: Event, *, inside: bool) -> None:
    edges = getattr(payload_of(event), "edges", ())
    told = {(edge.src, edge.rel, edge.dst) for edge in edges if hasattr(edge, "props")}
    for move in moves_of(event):
        key = _key(move, told)
        if key is None or not (inside or key in scan.versions):
            continue
        raw = NodeText.of(move) if isinstance(move, PutNode) else NodeText(props=move.props)  # type: ignore[union-attr]
        said, whole = _opened(ctx, move, raw)
        if not whole:
            scan.sealed.add(key)
        kind = move.kind if isinstance(move, PutNode) else ""
        scan.versions.setdefault(key, []).append(_Version(event.pos, inside, kind, raw, said))


def _key(move: Move, told: set[EdgeKey]) -> Key | None:
    """The node of a move, or its edge if somebody asserted it explicitly."""
    if isinstance(move, PutNode):
        return None if move.id.startswith(ERASED) else move.id
    if not isinstance(move, PutEdge) or (key := (move.src, move.rel, move.dst)) not in told:
        return None
    return None if any(end.startswith(ERASED) for end in (move.src, move.dst)) else key


def _opened(ctx: CallContext, move: Move, raw: NodeText) -> tuple[NodeText, bool]:
    """The words as decrypted; as stored if they cannot be decrypted."""
    if not isinstance(move, PutNode) or not move.guard.sensitive:
        return raw, True
    fields = {"name": raw.name, "summary": raw.summary, "text": raw.text}
    words, props, whole = ctx.privacy.words(move.id, fields, raw.props)
    return (NodeText(**words, props=props), True) if whole else (raw, False)


# ---- attribution of words


def _parted(scan: _Scan) -> SessionWords:
    alone: set[str] = set()
    shared: set[str] = set()
    edges: set[EdgeKey] = set()
    words: dict[tuple[int, str], tuple[tuple[NodeText, NodeText], ...]] = {}
    edge_props: dict[tuple[int, EdgeKey], tuple[tuple[Mapping[str, Any], Mapping[str, Any]], ...]] = {}
    carried: set[int] = set()
    for key, found in scan.versions.items():
        versions = sorted(found, key=lambda version: version.pos)
        left = list(_Telling(versions).left())
        if isinstance(key, str):
            if not _stays(versions, left):
                alone.add(key)
                continue
            shared.add(key)
        elif all(version.inside for version in versions) and key[1] not in LASTING:
            edges.add(key)
        for version, after in zip(versions, left, strict=True):
            if after == version.raw:
                continue
            if not version.inside:
                carried.add(version.pos)
            if isinstance(key, str):
                at = (version.pos, key)
                words[at] = (*words.get(at, ()), (version.raw, after))
            else:
                along = (version.pos, key)
                edge_props[along] = (*edge_props.get(along, ()), (version.raw.props, after.props))
    retraction = Retraction(
        words=words,
        edge_props=edge_props,
        edges=frozenset(edges),
        silent=frozenset(scan.reasons),
        carried=frozenset(carried),
        positions=frozenset(scan.positions | carried),
    )
    sealed = len(scan.sealed - alone)
    return SessionWords(alone=frozenset(alone), shared=frozenset(shared), retraction=retraction, sealed=sealed)


def _stays(versions: list[_Version], left: list[NodeText]) -> bool:
    """Whether others described a node first, or in their own words."""
    kind = versions[-1].kind
    if kind in KEPT_KINDS or not versions[0].inside:
        return True
    if kind in NAMED_KINDS:
        return any(not version.inside for version in versions)
    pairs = zip(versions, left, strict=True)
    return any(not version.inside and any((said.name, said.summary, said.text)) for version, said in pairs)


class _Telling:
    """Attributes the words of one node's versions to the session or to others."""

    def __init__(self, versions: list[_Version]) -> None:
        self._versions = versions
        self._own: set[Atom] = set()  # words that the session introduced
        self._others: set[Atom] = set()
        self._last: tuple[int, set[Atom]] = (0, set())  # the words of the previous event
        self._clean = NodeText()
        if versions[-1].kind in NAMED_KINDS:
            told = versions if versions[-1].kind in KEPT_KINDS else [each for each in versions if not each.inside]
            self._others |= {("name", each.said.name) for each in told}

    def left(self) -> Iterator[NodeText]:
        """Each version without the session's words."""
        before: set[Atom] = set()
        for version in self._versions:
            if version.pos != self._last[0]:
                before, self._last = self._last[1], (version.pos, set())
            atoms = set(_atoms(version.said))
            self._last[1].update(atoms)
            if version.inside:
                self._own |= atoms - self._others
            else:
                said = atoms - (self._own & before)
                self._others |= said
                self._own -= said
            self._clean = self._without(version)
            yield self._clean

    def _without(self, version: _Version) -> NodeText:
        raw, said, clean = version.raw, version.said, self._clean
        return NodeText(
            name=clean.name if ("name", said.name) in self._own else raw.name,
            summary=clean.summary if ("summary", said.summary) in self._own else raw.summary,
            text=clean.text if ("text", said.text) in self._own else raw.text,
            props=self._props(version),
        )

    def _props(self, version: _Version) -> Mapping[str, Any]:
        raw, said, clean = version.raw.props, version.said.props, self._clean.props
        gone = {key for key, value in said.items() if not self._own.isdisjoint(_values(key, value))}
        if not version.inside:
            gone -= PLACES
        if not gone:
            return raw
        if PROPS in raw:  # encrypted as one value: the last one of others takes its place
            return clean
        kept: dict[str, Any] = {}
        for key, value in raw.items():
            if key not in gone:
                kept[key] = value
            elif isinstance(value, list | tuple):
                some = [each for each in value if self._own.isdisjoint(_values(key, [each]))]
                kept |= {key: some} if some else {}
            elif key in clean:
                kept[key] = clean[key]
        return kept


def _atoms(said: NodeText) -> Iterable[Atom]:
    """The comparable units of a version: each text, each property, each item of a list."""
    for name, text in (("name", said.name), ("summary", said.summary), ("text", said.text)):
        if text:
            yield name, text
    for key, value in said.props.items():
        yield from _values(key, value)


def _values(key: str, value: Any) -> Iterator[Atom]:
    for each in value if isinstance(value, list | tuple) else (value,):
        yield "props", key, canonical(each).decode()
