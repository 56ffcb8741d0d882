"""The events that an erasure rewrites, and the nodes that it adds to those asked for. Without a store.

Events may arrive in any order and repeatedly. Most are skipped by a search in their payload bytes; the others are
decoded and held until the erasure has rewritten them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from weft.core.errors import Corrupt
from weft.core.kinds import ERASED
from weft.core.types import Event
from weft.erasure.residue import residue
from weft.erasure.retracted import NO_RETRACTION, Retraction
from weft.graph.folds import moves_of
from weft.graph.moves import SEPARATOR, EndEdge, Move, PutEdge, PutNode, edge_slot
from weft.graph.placeholders import KEPT_KINDS, SYMBOL, Tokens, around_chunk, new_token, one_of, strings, words_pattern
from weft.log.canonical import canonical, decode
from weft.log.kinds import code, conversation, document, payload_of
from weft.text.encryption import is_sealed
from weft.text.name_search import NameSearch

RECEIPT: Final = "Receipt"
PREFIX: Final = b"weft-sealed:1:"
Reveal = Callable[[Event], Event]  # an event with its sensitive words decrypted


class AffectedEvent(Struct, frozen=True, kw_only=True):
    """An event that may have to be rewritten, decoded. `tx` is the change that its commit belongs to.

    `left` is its payload without retracted words; `told` are its moves, decrypted as far as possible; `sealed` are its
    encrypted texts that contain a name.
    """

    event: Event
    payload: Any
    left: Any
    moves: tuple[Move, ...]
    told: tuple[PutNode, ...]
    tx: str
    sealed: frozenset[str] = frozenset()


class Needles:
    """A byte search for ids, slots, names and files in stored payloads, with false positives but no false negatives.

    `files` are paths as transactions store them: without the project, each a whole string.
    """

    def __init__(self, exact: Collection[str], names: Collection[str] = (), files: Collection[str] = ()) -> None:
        wholes = {
            each.split(SYMBOL, 1)[0] for each in exact if SYMBOL in each
        }  # the id of a symbol is never stored whole
        written = {canonical(each)[1:-1].decode() for each in {*exact, *wholes}}
        written |= {canonical(each).decode() for each in files}
        self._exact = re.compile(one_of(written).encode()) if written else None
        self._names = NameSearch(names)

    def found(self, payload: bytes | None) -> bool:
        """Whether a payload contains any of them."""
        if payload is None:
            return False
        if self._exact is not None and self._exact.search(payload):
            return True
        # A quick test first: the words of one name may be part of many others.
        return self._names.may_stand_in(payload) and any(map(self._named, strings(decode(payload))))

    def _named(self, text: str) -> bool:
        return self._names.holds(text) or ("_" in text and self._names.holds_as_relation(text))


class Affected:
    """The nodes to erase: those asked for, those that contain a name, and the parts of erased nodes.

    `close` is called when the log was read. `files` are paths to remove besides those of erased nodes.
    """

    def __init__(
        self,
        ids: Collection[str],
        names: Collection[str] = (),
        reveal: Reveal | None = None,
        retraction: Retraction = NO_RETRACTION,
        files: Collection[str] = (),
    ) -> None:
        self._spelt, self._reveal, self.retraction = tuple(names), reveal, retraction
        self.names = words_pattern(names)
        self.gone = {each for each in ids if not each.startswith(ERASED)}  # tombstones have no words left
        self._asked = set(self.gone)
        self.held: dict[int, AffectedEvent] = {}
        self.files = set(files)
        self._tokens: dict[str, str] = {}
        self._slot_tokens: dict[str, str] = {}
        self._relations: dict[str, str] = {}
        self._looked_for: set[str] = set()
        self._files_looked_for: set[str] = set()
        self._looked_for |= self.gone | {rel for _, rel, _ in self.retraction.edges}
        self.needles = self._new_needles()

    def wants(self, pos: int, kind: str, payload: bytes | None, needles: Needles) -> bool:
        """Whether an event that is not held may be affected: the needles match, or it is encrypted."""
        if pos in self.held or kind == "log.rewritten" or payload is None:
            return False
        if self.retraction.wants(pos, payload):
            return True
        sealed = self._reveal is not None and self.names is not None and PREFIX in payload
        return sealed or needles.found(payload)

    def of_kinds(self, kinds: Collection[str]) -> list[int]:
        """Positions of the held events of these kinds."""
        return [pos for pos, held in self.held.items() if held.event.kind in kinds]

    def hold(self, event: Event, tx: str) -> None:
        """Decodes and keeps an event."""
        self.held[event.pos] = self._decoded(event, tx)

    def touches(self, event: Event, tokens: Tokens) -> bool:
        """Whether an event must be rewritten or may add a node: exactly, not by needles."""
        if not self.wants(event.pos, event.kind, event.payload, self.needles):
            return False
        shown = event if self._reveal is None or self.names is None else self._reveal(event)
        if tokens.holds_name(decode(shown.payload or b"{}")):
            return True
        payload = payload_of(event)
        try:
            return residue(event.kind, self.retraction.payload(event.pos, payload), tokens) is not payload
        except Corrupt:  # reported when it is rewritten
            return True

    def _decoded(self, event: Event, tx: str) -> AffectedEvent:
        payload = payload_of(event)
        left = self.retraction.payload(event.pos, payload)
        shown = event if left is payload else replace(event, payload=canonical(msgspec.to_builtins(left)))
        stored = shown
        shown = shown if self._reveal is None or self.names is None else self._reveal(shown)
        puts = tuple(move for move in moves_of(shown) if isinstance(move, PutNode))
        sealed = frozenset() if shown is stored else frozenset(self._sealed(stored, shown))
        moves = tuple(moves_of(event))
        return AffectedEvent(event=event, payload=payload, left=left, moves=moves, told=puts, tx=tx, sealed=sealed)

    def _sealed(self, stored: Event, shown: Event) -> Iterator[str]:
        """The encrypted texts of an event that contain a name, as they are stored."""
        if self.names is not None:
            yield from _hiding(decode(stored.payload or b"{}"), decode(shown.payload or b"{}"), self.names)

    def close(self) -> Needles | None:
        """Adds dependent nodes. Returns needles for them, to read the log again, or None if nothing was added."""
        self._pass_over()
        before = -1
        while before < len(self.gone):
            before = len(self.gone)
            self._join_by_name()
            self._join_receipts()
            for held in self.held.values():
                self._join_parts(held)
        fresh = self.gone | self._slots().keys() | self._around()
        if fresh <= self._looked_for and self.files <= self._files_looked_for:
            return None
        added = Needles(fresh - self._looked_for, files=self.files - self._files_looked_for)
        self._looked_for |= fresh
        self.needles = self._new_needles()
        return added

    def _pass_over(self) -> None:
        """Drops requested ids that are not nodes, unless they are paths of files."""
        if self._asked:
            named = {each for held in self.held.values() for move in held.moves for each in _ids(move)}
            paths = {path for held in self.held.values() if (path := _path(held.payload))}
            self.gone -= (self._asked & paths) - named
            self._asked = set()

    def settled(self, rewritten: Iterable[Event], ids: Iterable[str]) -> None:
        """Records that these events are rewritten and these nodes erased: later mentions of them are new."""
        for event in rewritten:
            self.held[event.pos] = self._decoded(event, self.held[event.pos].tx)
        for each in ids:
            self.gone.discard(each)
            self._looked_for.discard(each)
            self._tokens.pop(each, None)
        self.needles = self._new_needles()

    def tokens(self) -> Tokens:
        """The new ids of all erased nodes; stable over calls."""
        ids = {each: self._token(each) for each in sorted(self.gone)}
        slots = {
            name: self._slot_tokens.setdefault(name, new_token())
            for name, kept in self._slots().items()
            if not kept or (self.names is not None and self.names.holds(name))
        }
        longer = self._longer()
        return Tokens(
            ids,
            slots,
            names=self.names,
            sealed={text for held in self.held.values() for text in held.sealed},
            files=self.files,
            longer=longer,
            relations=self._relations,
            edges=self.retraction.edges,
            around=self._around() - self.gone,
        )

    def _new_needles(self) -> Needles:
        self._files_looked_for |= self.files
        return Needles(self._looked_for, self._spelt, self._files_looked_for)

    def _longer(self) -> set[str]:
        """Ids that stay and contain an erased id: a match of the longer id is not the erased one."""
        puts = (move.id for held in self.held.values() for move in held.moves if isinstance(move, PutNode))
        return {each for each in puts if each not in self.gone}

    def _token(self, node_id: str) -> str:
        return self._tokens.setdefault(node_id, new_token())

    def _join_by_name(self) -> None:
        """Adds nodes that contain a name, but not those that only mention the id of another erased node."""
        if self.names is None:
            return
        mentions = Tokens(dict.fromkeys(self.gone, ""), names=self.names, longer=self._longer())
        for held in self.held.values():
            for move in held.told:
                if move.kind in KEPT_KINDS or move.id in self.gone or move.id.startswith(ERASED):
                    continue
                said = (move.id, move.name, move.summary, move.text, move.props)
                hidden = held.sealed and move not in held.moves  # ids inside encrypted texts cannot be replaced
                if mentions.holds_name(said) and (hidden or mentions.holds_name(mentions.clean_value(said))):
                    self.gone.add(move.id)
            # The ends of an edge that never existed need not be nodes.
            ends = (end for move in held.moves if isinstance(move, EndEdge) for end in (move.src, move.dst))
            self.gone.update(end for end in ends if not end.startswith(ERASED) and self.names.holds(end))

    def _join_receipts(self) -> None:
        """Adds receipts that name erased nodes: they hold hashes of their texts."""
        mentions = Tokens(dict.fromkeys(self.gone, ""), longer=self._longer())
        for held in self.held.values():
            for move in held.told:
                kept = move.kind == RECEIPT and not move.id.startswith(ERASED)
                if kept and mentions.clean_value(move.props) != move.props:
                    self.gone.add(move.id)

    def _join_parts(self, held: AffectedEvent) -> None:
        """Adds the parts of erased wholes, which payloads list."""
        match held.payload:
            case document.Ingested() as payload if payload.id in self.gone:
                self.gone.update(each.id for each in payload.sections if not each.id.startswith(ERASED))
                self._join_chunks(payload)
                self._join_file(payload.source)
            case document.Ingested() as payload:
                self._join_chunks(payload)
            case conversation.Recorded() as payload if payload.id in self.gone:
                self.gone.update(each.id for each in payload.messages if not each.id.startswith(ERASED))
            case code.Indexed() as payload if payload.id in self.gone:
                self.gone.update(
                    f"{payload.id}{SYMBOL}{each.key}" for each in payload.symbols if not each.key.startswith(ERASED)
                )
                self._join_file(payload.path)
            case code.Linked() as payload if payload.id in self.gone:
                self._join_file(payload.path)

    def _join_file(self, path: str) -> None:
        if path:  # rewritten payloads have no path
            self.files.add(path)

    def _join_chunks(self, payload: document.Ingested) -> None:
        """Adds the chunks of erased sections."""
        for section in payload.sections:
            if section.id in self.gone:
                self.gone.update(each.id for each in section.chunks if not each.id.startswith(ERASED))

    def _around(self) -> set[str]:
        """Wholes of erased chunks: their summaries may repeat a chunk that a version no longer lists."""
        return {each for gone in self.gone for each in around_chunk(gone)}

    def _slots(self) -> dict[str, bool]:
        """Shared slots of erased nodes or with a name in them, and whether other nodes use them too."""
        slots: dict[str, bool] = {}
        kept: set[str] = set()
        for held in self.held.values():
            for move in held.moves:
                if not isinstance(move, PutNode | PutEdge) or (name := _slot_name(move)) is None:
                    continue
                if name.startswith(ERASED):
                    continue
                ends = (move.id,) if isinstance(move, PutNode) else (move.src, move.dst)
                if any(end in self.gone for end in ends):
                    slots[name] = False
                elif not any(end.startswith(ERASED) for end in ends):
                    kept.add(name)
                if self.names is not None and self.names.holds(name):
                    slots[name] = False
        return {name: name in kept for name in slots}


def _ids(move: Move) -> tuple[str, ...]:
    """The nodes that a move names."""
    return (move.src, move.dst) if isinstance(move, PutEdge | EndEdge) else (move.id,)


def _hiding(stored: Any, shown: Any, names: NameSearch) -> Iterator[str]:
    """The encrypted texts of a JSON value that contain a name; `shown` is the same value decrypted."""
    if stored == shown:
        return
    if isinstance(stored, list) and isinstance(shown, list) and len(stored) == len(shown):
        for one, opened in zip(stored, shown, strict=True):
            yield from _hiding(one, opened, names)
    elif isinstance(stored, dict) and isinstance(shown, dict) and stored.keys() == shown.keys():
        for key, one in stored.items():
            yield from _hiding(one, shown[key], names)
    elif any(map(names.holds, strings(shown))):
        yield from (text for text in strings(stored) if is_sealed(text))


def _path(payload: Any) -> str:
    """The file that an event was read from."""
    match payload:
        case document.Ingested():
            return payload.source
        case code.Indexed() | code.Linked():
            return payload.path
        case _:
            return ""


def _slot_name(move: PutNode | PutEdge) -> str | None:
    """The name of a shared slot of a move."""
    own = move.id if isinstance(move, PutNode) else edge_slot(move.src, move.rel, move.dst)
    return None if move.slot == own else str(decode(move.slot.removeprefix(SEPARATOR).encode())[-1])
