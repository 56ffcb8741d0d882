"""What one session said of nodes that others told of too: which words are its own, and what stands without them.

A node that only this session told of goes whole; that others pinned, tagged or confirmed it makes it none of theirs.
One that others told of, in words of their own, stays, and loses what this session said of it. Where others' versions
repeat that (who tags a memory repeats its text), they lose it too, unless they said it themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct, field

from weft.kinds import ERASED
from weft.log.canonical import canonical
from weft.log.kinds import payload_of
from weft.log.verify import read_commits
from weft.log.words import FOLDED_PROPS, OWN_PROPS, TELLING_PROPS
from weft.loom import Loom
from weft.operations.outline import SHARED_KINDS
from weft.projection.folds import moves_of
from weft.projection.moves import Move, PutEdge, PutNode
from weft.projection.tokens import KEPT_KINDS
from weft.projection.unsaid import EdgeKey, Unsaid, Words
from weft.sealing import PROPS
from weft.types import Event, Viewer

# What says where a node stands among others: it stays where others told the node again.
PLACES: Final = (OWN_PROPS | FOLDED_PROPS) - TELLING_PROPS
# One for all who speak of it, known by its name.
NAMED_KINDS: Final = SHARED_KINDS | KEPT_KINDS
# These say what became of a node, and end with it.
LASTING: Final = frozenset({"SUPERSEDES", "MERGES_INTO"})

Key = str | EdgeKey
Atom = tuple[str, ...]


class SaidOnce(Struct, frozen=True, kw_only=True):
    """What a session said: nodes that are its alone, and what goes of the others. `sealed` could not be opened."""

    alone: frozenset[str]
    shared: frozenset[str]
    unsaid: Unsaid
    sealed: int = 0


class _Version(Struct, frozen=True):
    """What one event says of a node or an edge: as it is stored, and as it can be read."""

    pos: int
    inside: bool  # said by the session
    kind: str
    raw: Words
    said: Words


class _Scan(Struct):
    """What was gathered from the log."""

    positions: set[int] = field(default_factory=set)
    reasons: set[int] = field(default_factory=set)
    versions: dict[Key, list[_Version]] = field(default_factory=dict)
    sealed: set[Key] = field(default_factory=set)


def said_by(loom: Loom, viewer: Viewer, inside: Callable[[Event], bool]) -> SaidOnce:
    """What the events say for which `inside` holds, apart from what others say. Reads the log twice."""
    from weft.projection.concern import Needles

    scan = _Scan()
    for event in _events(loom, viewer):
        if inside(event):
            scan.positions.add(event.pos)
            if getattr(payload_of(event), "reason", ""):
                scan.reasons.add(event.pos)
            _gather(loom, scan, event, inside=True)
    needles = Needles({key if isinstance(key, str) else key[0] for key in scan.versions})
    for event in _events(loom, viewer) if scan.versions else ():
        if event.pos not in scan.positions and needles.found(event.payload):
            _gather(loom, scan, event, inside=False)
    return _parted(scan)


def _events(loom: Loom, viewer: Viewer) -> Iterator[Event]:
    for _, events in read_commits(loom.store, viewer):
        yield from events


def _gather(loom: Loom, scan: _Scan, event: Event, *, inside: bool) -> None:
    edges = getattr(payload_of(event), "edges", ())
    told = {(edge.src, edge.rel, edge.dst) for edge in edges if hasattr(edge, "props")}
    for move in moves_of(event):
        key = _key(move, told)
        if key is None or not (inside or key in scan.versions):
            continue
        raw = Words.of(move) if isinstance(move, PutNode) else Words(props=move.props)  # type: ignore[union-attr]
        said, whole = _opened(loom, move, raw)
        if not whole:
            scan.sealed.add(key)
        kind = move.kind if isinstance(move, PutNode) else ""
        scan.versions.setdefault(key, []).append(_Version(event.pos, inside, kind, raw, said))


def _key(move: Move, told: set[EdgeKey]) -> Key | None:
    """What a move says something of; of edges, those that somebody told."""
    if isinstance(move, PutNode):
        return None if move.id.startswith(ERASED) else move.id
    if not isinstance(move, PutEdge) or (key := (move.src, move.rel, move.dst)) not in told:
        return None
    return None if any(end.startswith(ERASED) for end in (move.src, move.dst)) else key


def _opened(loom: Loom, move: Move, raw: Words) -> tuple[Words, bool]:
    """What can be read; what cannot be opened is as it is stored."""
    if not isinstance(move, PutNode) or not move.guard.sensitive:
        return raw, True
    fields = {"name": raw.name, "summary": raw.summary, "text": raw.text}
    words, props, whole = loom.screen.words(move.id, fields, raw.props)
    return (Words(**words, props=props), True) if whole else (raw, False)


# ---- whose words


def _parted(scan: _Scan) -> SaidOnce:
    alone: set[str] = set()
    shared: set[str] = set()
    edges: set[EdgeKey] = set()
    words: dict[tuple[int, str], tuple[tuple[Words, Words], ...]] = {}
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
    unsaid = Unsaid(
        words=words,
        edge_props=edge_props,
        edges=frozenset(edges),
        silent=frozenset(scan.reasons),
        carried=frozenset(carried),
        positions=frozenset(scan.positions | carried),
    )
    sealed = len(scan.sealed - alone)
    return SaidOnce(alone=frozenset(alone), shared=frozenset(shared), unsaid=unsaid, sealed=sealed)


def _stays(versions: list[_Version], left: list[Words]) -> bool:
    """Whether a node is not the session's alone: others told of it first, or in words of their own."""
    kind = versions[-1].kind
    if kind in KEPT_KINDS or not versions[0].inside:
        return True
    if kind in NAMED_KINDS:
        return any(not version.inside for version in versions)
    pairs = zip(versions, left, strict=True)
    return any(not version.inside and any((said.name, said.summary, said.text)) for version, said in pairs)


class _Telling:
    """Goes through what is said of one node, and keeps apart who brought which words."""

    def __init__(self, versions: list[_Version]) -> None:
        self._versions = versions
        self._own: set[Atom] = set()  # words that the session brought
        self._others: set[Atom] = set()
        self._last: tuple[int, set[Atom]] = (0, set())  # what the event before said
        self._clean = Words()
        if versions[-1].kind in NAMED_KINDS:
            told = versions if versions[-1].kind in KEPT_KINDS else [each for each in versions if not each.inside]
            self._others |= {("name", each.said.name) for each in told}

    def left(self) -> Iterator[Words]:
        """What each version says without the session's words."""
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

    def _without(self, version: _Version) -> Words:
        raw, said, clean = version.raw, version.said, self._clean
        return Words(
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
        if PROPS in raw:  # sealed as one: what others had sealed before takes its place
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


def _atoms(said: Words) -> Iterable[Atom]:
    """What can be told apart in what is said: each text, each property, each item of a list."""
    for name, text in (("name", said.name), ("summary", said.summary), ("text", said.text)):
        if text:
            yield name, text
    for key, value in said.props.items():
        yield from _values(key, value)


def _values(key: str, value: Any) -> Iterator[Atom]:
    for each in value if isinstance(value, list | tuple) else (value,):
        yield "props", key, canonical(each).decode()
