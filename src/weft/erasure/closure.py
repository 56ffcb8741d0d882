"""The closure of an erasure: every node that was made from the selected ones, transitively.

A compiled truth is a property of its entity: it is removed and the entity stays. The closure reads every version of
every node once, whatever its guard; texts are searched, not kept.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from weft.core.kinds import COMMUNITY, COMPILED_PROPS, DERIVED_FROM, ERASED, KEY, MENTION, RECORD_KINDS
from weft.core.queries import NodeWords
from weft.core.types import Viewer
from weft.erasure.retracted import SHARED_KINDS, NodeText, Retraction, without_compiled
from weft.graph.folds import moves_of
from weft.graph.moves import PutNode
from weft.graph.placeholders import KEPT_KINDS, strings
from weft.log.canonical import decode
from weft.runtime.call_context import CallContext
from weft.text.encryption import PREFIX
from weft.text.name_search import NameSearch

# Ids of these may be prefixes of unrelated ids.
WHOLE_KINDS: Final = SHARED_KINDS | {"Document", "File", "Import", "Session", "Conversation"}
PARTS: Final = ("part_of", "conversation")
FIELDS: Final = ("name", "summary", "text")


class OpenedNode(Struct, frozen=True):
    """The content of a version, decrypted as far as possible."""

    id: str
    kind: str
    words: tuple[str, ...]  # name, summary, text
    props: Mapping[str, Any]
    event: int
    content_hash: bytes
    standing: bool
    sealed: bool  # some of it could not be decrypted

    @property
    def names(self) -> tuple[str, ...]:
        """Its name and aliases."""
        aliases = self.props.get("aliases", ())
        others = (each for each in aliases if isinstance(each, str)) if isinstance(aliases, list | tuple) else ()
        return tuple(name.strip() for name in (self.words[0], *others) if name.strip())


def opened(ctx: CallContext, row: NodeWords) -> OpenedNode:
    """A version with its words and properties, decrypted as far as possible."""
    words: tuple[str, ...] = (row.name, row.summary, row.text)
    props: Mapping[str, Any] = decode(row.props.encode()) if row.props else {}
    whole = True
    if row.sensitive and (PREFIX in row.props or any(each.startswith(PREFIX) for each in words)):
        told, props, whole = ctx.privacy.words(row.id, dict(zip(FIELDS, words, strict=True)), props)
        words = tuple(told.values())
    return OpenedNode(row.id, row.kind, words, props, row.event, row.content_hash, row.standing, not whole)


class AccountIndex:
    """All nodes of an account, indexed by what they were made from. `causes` are positions of events that caused
    others.
    """

    def __init__(self, names: NameSearch, causes: Collection[int] = ()) -> None:
        self._names, self._causes = names, frozenset(causes)
        self.kinds: dict[str, str] = {}  # of every node that may be erased
        self.kept: set[str] = set()
        self.named: set[str] = set()  # nodes that contain a name
        self.sealed: set[str] = set()  # nodes that could not be decrypted
        self.standing: set[str] = set()  # memories that are visible now
        self.compiled: dict[str, set[int]] = {}  # events of versions with a compiled truth
        self.bared: set[str] = set()  # nodes that contain a name in nothing but what was compiled of them
        self._event: dict[str, int] = {}  # a node's first event; most have no other
        self._events: dict[str, list[int]] = {}
        self._seen: set[tuple[str, bytes, str]] = set()
        self.derived: dict[str, list[str]] = {}  # by their source
        self.parts: dict[str, list[str]] = {}  # by their whole
        self.begun: dict[str, list[str]] = {}  # by a prefix of their id
        self.records: dict[str, list[str]] = {}  # by the ids that they mention
        self.compiled_from: dict[str, list[str]] = {}  # by citation
        self.asserted: dict[int, set[str]] = {}  # by cause: the nodes that are not shared

    def read(self, ctx: CallContext, viewer: Viewer) -> None:
        """Reads all rows; records last, because they mention other nodes."""
        store = ctx.store
        for row in store.node_words(viewer, of_kind=lambda kind: kind not in RECORD_KINDS):
            self._look_at(ctx, row)
        kept = [row.id for row in store.node_words(viewer, of_kind=RECORD_KINDS.__contains__)]
        known = self.kinds.keys() | set(kept)
        for row in store.node_words(viewer, of_kind=RECORD_KINDS.__contains__) if kept else ():
            if (node := self._look_at(ctx, row)) is not None:
                for each in known & set(strings(node.props)):
                    self.records.setdefault(each, []).append(row.id)
        for each in self.kinds:
            for start in _beginnings(each):
                if start in self.kinds and self.kinds[start] not in WHOLE_KINDS:
                    self.begun.setdefault(start, []).append(each)

    def events(self, node_id: str) -> Iterator[int]:
        """Positions of the events that assert a node."""
        if node_id in self._event:
            yield self._event[node_id]
            yield from self._events.get(node_id, ())

    def _look_at(self, ctx: CallContext, row: NodeWords) -> OpenedNode | None:
        node_id, kind, name, summary, text, props, event, content, sensitive, standing = row
        if node_id.startswith(ERASED):
            return None
        if kind in KEPT_KINDS:
            self.kept.add(node_id)
            return None
        self.kinds[node_id] = kind
        if self._event.setdefault(node_id, event) != event:
            self._events.setdefault(node_id, []).append(event)
        if event in self._causes and kind not in SHARED_KINDS:
            self.asserted.setdefault(event, set()).add(node_id)
        if standing and kind not in RECORD_KINDS and kind != MENTION:
            self.standing.add(node_id)
        if kind in SHARED_KINDS:  # entities are asserted again and again in the same words
            if (node_id, content, props) in self._seen:
                return None
            self._seen.add((node_id, content, props))
        if props or sensitive:
            node = opened(ctx, row)
            self._look_into(row, node)
            return node
        if self._names.may_hold(f"{node_id}\n{name}\n{summary}\n{text}"):
            self._look_for_names(node_id, (node_id, name, summary, text))
        return None

    def _look_for_names(self, node_id: str, said: Iterable[str]) -> None:
        if any(map(self._names.holds, said)):
            self.named.add(node_id)

    def _look_into(self, row: NodeWords, node: OpenedNode) -> None:
        if node.sealed and row.kind != KEY:
            self.sealed.add(row.id)
        if row.sensitive or self._names.may_hold("\n".join((row.id, *node.words, row.props))):
            name, summary, text = node.words
            bare = without_compiled(NodeText(name, summary, text, node.props))
            self._look_for_names(row.id, (row.id, *bare[:3], *strings(bare.props)))
            if any(map(self._names.holds, (*node.words, *strings(node.props)))):
                self.bared.add(row.id)
        if isinstance(source := node.props.get(DERIVED_FROM), str):
            self.derived.setdefault(source, []).append(row.id)
        for name in PARTS:
            if isinstance(whole := node.props.get(name), str):
                self.parts.setdefault(whole, []).append(row.id)
        if COMPILED_PROPS & node.props.keys():
            self.compiled.setdefault(row.id, set()).add(row.event)
            sources = node.props.get("compiled_from")
            for each in sources if isinstance(sources, list | tuple) else ():
                if isinstance(each, str):
                    self.compiled_from.setdefault(each, []).append(row.id)


def _beginnings(node_id: str) -> Iterator[str]:
    """The ids that a node may have been extracted from: its own up to each colon."""
    at = node_id.find(":")
    while at > 0:
        yield node_id[:at]
        at = node_id.find(":", at + 1)


SPEAKS_OF: Final = frozenset({"INVOLVES", "REPRESENTS", "AFFECTS"})  # from a memory to the entity it is about
MADE_OF: Final = frozenset({"DERIVED_FROM", "ABOUT"})  # from a product to its source
MEMBER_OF: Final = "BELONGS_TO"  # from a file to its community, which describes it: the next rebuild makes it anew
ALONE: Final = frozenset({MENTION, "Import"})  # nodes that are erased when nothing mentions them any more
STEPS: Final = 3


class Closure:
    """Adds to a set of nodes everything that was made from them.

    With `records_only`: only weft's own records of them, and entities that no other text mentions.
    """

    def __init__(
        self, ctx: CallContext, viewer: Viewer, *, names: Collection[str] = (), records_only: bool = False
    ) -> None:
        self._ctx, self._viewer, self._records_only = ctx, viewer, records_only
        self._effects: dict[int, set[int]] = {}  # by the event that caused them
        if not records_only:
            self._read_causes()
        ctx.progress("selecting", 1, STEPS)
        self.index = AccountIndex(NameSearch(names), self._effects)
        self.index.read(ctx, viewer)
        self.ids: set[str] = set()
        self._bare: set[str] = set()
        self._waiting: list[str] = []
        self._along: dict[str, list[str]] = {}  # edges from an erased node to another one
        self._mentioned: dict[str, set[str]] = {}  # neighbours of a mention or module
        self._mentions: dict[str, list[str]] = {}  # mentions and modules of a node

    def run(self, ids: Collection[str], *, subjects: Collection[str] = ()) -> frozenset[str]:
        """The closed set. Memories about `subjects` are included."""
        if not ids and not self.index.named:
            return frozenset()
        self._ctx.progress("selecting", 2, STEPS)
        spoke = self._read_edges(frozenset(subjects))
        compiled = self._compiled()
        self._add((*ids, *spoke, *(() if self._records_only else self.index.named)), given=True)
        while self._waiting:
            each = self._waiting.pop()
            self._add(self._made_of(each))
            self._add(one for one in self._mentions.get(each, ()) if self._mentioned[one] <= self.ids)
            self._follow_events(each, compiled)
        self._ctx.progress("selecting", STEPS, STEPS)
        return frozenset(self.ids)

    def bare(self) -> Retraction:
        """Nodes that stay without their compiled truth: it comes from erased nodes or contains a name."""
        compiled = self.index.compiled
        bare = frozenset((self._bare | self.index.bared) & compiled.keys()) - self.ids
        return Retraction(bare=bare, positions=frozenset(pos for each in bare for pos in compiled[each]))

    def _add(self, ids: Iterable[str], *, given: bool = False) -> None:
        for each in ids:
            if each not in self.ids and (given or each not in self.index.kept):
                self.ids.add(each)
                self._waiting.append(each)

    def _made_of(self, node_id: str) -> Iterable[str]:
        """The products and parts of a node."""
        index = self.index
        found = [index.derived, index.begun, index.records, self._along]
        found += [] if self._records_only else [index.parts]
        for made in found:
            yield from made.get(node_id, ())

    def _read_edges(self, subjects: frozenset[str]) -> set[str]:
        """Collects the edges to follow and the neighbours of mentions. Returns memories about the subjects."""
        kinds, spoke = self.index.kinds, set()
        for src, rel, dst in self._ctx.store.edge_names(self._viewer):
            if src.startswith(ERASED) or dst.startswith(ERASED):
                continue
            if rel in MADE_OF and (not self._records_only or rel == "ABOUT"):
                self._along.setdefault(dst, []).append(src)
            if rel == MEMBER_OF and kinds.get(dst) == COMMUNITY:
                self._along.setdefault(src, []).append(dst)
            if rel == "CONTAINS" and not self._records_only:
                self._along.setdefault(src, []).append(dst)
            if rel in SPEAKS_OF and dst in subjects:
                spoke.add(src)
            for one, other in ((src, dst), (dst, src)):
                if kinds.get(one) in ALONE:  # a mention that only erased nodes use
                    self._mentioned.setdefault(one, set()).add(other)
                    self._mentions.setdefault(other, []).append(one)
        return spoke

    # Events

    def _read_causes(self) -> None:
        """Maps events to the events they caused."""
        caused = self._ctx.store.caused(self._viewer)
        places = self._positions({each for _, causes in caused for each in causes})
        for pos, causes in caused:
            for cause in (places[each] for each in causes if each in places):
                self._effects.setdefault(cause, set()).add(pos)

    def _compiled(self) -> dict[int, list[str]]:
        """Entities whose compiled truth cites these events."""
        sources = self.index.compiled_from
        found: dict[int, list[str]] = {}
        for citation, pos in self._positions(sources).items():
            found.setdefault(pos, []).extend(sources[citation])
        return found

    def _positions(self, citations: Collection[str]) -> Mapping[str, int]:
        return self._ctx.store.cited(self._viewer, tuple(citations)) if citations else {}

    def _follow_events(self, node_id: str, compiled: Mapping[int, list[str]]) -> None:
        """Follows the events of a node: compiled truths that cite them, and events caused by fully erased ones."""
        for event in self.index.events(node_id):
            self._bare.update(compiled.get(event, ()))
            if event in self._effects and self.index.asserted.get(event, set()) <= self.ids:
                self._add(self._brought_about(self._effects.pop(event)))

    def _brought_about(self, positions: Collection[int]) -> Iterable[str]:
        for event in self._ctx.store.events_at(self._viewer, tuple(positions)):
            for move in moves_of(event):
                if isinstance(move, PutNode) and move.kind not in SHARED_KINDS | KEPT_KINDS:
                    yield move.id
