"""What closing an erasure needs to know of an account, read once: who was made of whom, and who holds a name.

Every version of every node counts, whoever may see it, deleted or not. Texts are looked at and not kept.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from weft.kinds import COMPILED_PROPS, ERASED, KEY, MENTION, RECORD_KINDS, VIEWS
from weft.log.canonical import decode
from weft.loom import Loom
from weft.projection.name_search import NameSearch
from weft.projection.tokens import KEPT_KINDS, strings
from weft.projection.unsaid import Words, without_compiled
from weft.queries import NodeWords
from weft.retrieval.derived import DERIVED_FROM
from weft.sealing import PREFIX
from weft.types import Viewer

# A thing is one for all who speak of it: it does not go because one of them does.
SHARED_KINDS: Final = VIEWS["entity"] | {"Concept"}
# Their names may begin others' by chance.
WHOLE_KINDS: Final = SHARED_KINDS | {"Document", "File", "Import", "Session", "Conversation"}
PARTS: Final = ("part_of", "conversation")
FIELDS: Final = ("name", "summary", "text")


class Node(Struct, frozen=True):
    """What a version says, opened as far as it can be."""

    id: str
    kind: str
    words: tuple[str, ...]  # name, summary, text
    props: Mapping[str, Any]
    event: int
    content_hash: bytes
    standing: bool
    sealed: bool  # some of it could not be opened

    @property
    def names(self) -> tuple[str, ...]:
        """What it goes by."""
        aliases = self.props.get("aliases", ())
        others = (each for each in aliases if isinstance(each, str)) if isinstance(aliases, list | tuple) else ()
        return tuple(name.strip() for name in (self.words[0], *others) if name.strip())


def opened(loom: Loom, row: NodeWords) -> Node:
    """A version with its words and properties as they can be read."""
    words: tuple[str, ...] = (row.name, row.summary, row.text)
    props: Mapping[str, Any] = decode(row.props.encode()) if row.props else {}
    whole = True
    if row.sensitive and (PREFIX in row.props or any(each.startswith(PREFIX) for each in words)):
        told, props, whole = loom.screen.words(row.id, dict(zip(FIELDS, words, strict=True)), props)
        words = tuple(told.values())
    return Node(row.id, row.kind, words, props, row.event, row.content_hash, row.standing, not whole)


class Outline:
    """The nodes of an account. `causes` are positions of events that brought others about."""

    def __init__(self, names: NameSearch, causes: Collection[int] = ()) -> None:
        self._names, self._causes = names, frozenset(causes)
        self.kinds: dict[str, str] = {}  # of every node that may go
        self.kept: set[str] = set()
        self.named: set[str] = set()  # those that hold a name
        self.sealed: set[str] = set()  # those that could not be looked into
        self.standing: set[str] = set()  # memories that can be seen today
        self.compiled: dict[str, set[int]] = {}  # those of which something was compiled: where that stands
        self.bared: set[str] = set()  # those that hold a name in nothing but what was compiled of them
        self._event: dict[str, int] = {}  # a node's first; most have no other
        self._events: dict[str, list[int]] = {}
        self._seen: set[tuple[str, bytes, str]] = set()
        self.derived: dict[str, list[str]] = {}  # by what they were made of
        self.parts: dict[str, list[str]] = {}  # by what they are part of
        self.begun: dict[str, list[str]] = {}  # by the id that theirs begins with
        self.records: dict[str, list[str]] = {}  # by the ids that they name
        self.compiled_from: dict[str, list[str]] = {}  # by citation
        self.asserted: dict[int, set[str]] = {}  # by `causes`: what they assert that is not shared

    def read(self, loom: Loom, viewer: Viewer) -> None:
        """Reads all rows; records last, because they name others."""
        store = loom.store
        for row in store.node_words(viewer, of_kind=lambda kind: kind not in RECORD_KINDS):
            self._look_at(loom, row)
        kept = [row.id for row in store.node_words(viewer, of_kind=RECORD_KINDS.__contains__)]
        known = self.kinds.keys() | set(kept)
        for row in store.node_words(viewer, of_kind=RECORD_KINDS.__contains__) if kept else ():
            if (node := self._look_at(loom, row)) is not None:
                for each in known & set(strings(node.props)):
                    self.records.setdefault(each, []).append(row.id)
        for each in self.kinds:
            for start in _beginnings(each):
                if start in self.kinds and self.kinds[start] not in WHOLE_KINDS:
                    self.begun.setdefault(start, []).append(each)

    def events(self, node_id: str) -> Iterator[int]:
        """Where the events stand that assert a node."""
        if node_id in self._event:
            yield self._event[node_id]
            yield from self._events.get(node_id, ())

    def _look_at(self, loom: Loom, row: NodeWords) -> Node | None:
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
        if kind in SHARED_KINDS:  # a thing is told of again and again in the same words
            if (node_id, content, props) in self._seen:
                return None
            self._seen.add((node_id, content, props))
        if props or sensitive:
            node = opened(loom, row)
            self._look_into(row, node)
            return node
        if self._names.may_hold(f"{node_id}\n{name}\n{summary}\n{text}"):
            self._look_for_names(node_id, (node_id, name, summary, text))
        return None

    def _look_for_names(self, node_id: str, said: Iterable[str]) -> None:
        if any(map(self._names.holds, said)):
            self.named.add(node_id)

    def _look_into(self, row: NodeWords, node: Node) -> None:
        if node.sealed and row.kind != KEY:
            self.sealed.add(row.id)
        if row.sensitive or self._names.may_hold("\n".join((row.id, *node.words, row.props))):
            name, summary, text = node.words
            bare = without_compiled(Words(name, summary, text, node.props))
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
    """What was read out of a text has its id, a colon and more."""
    at = node_id.find(":")
    while at > 0:
        yield node_id[:at]
        at = node_id.find(":", at + 1)
