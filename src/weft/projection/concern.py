"""Which events an erasure concerns, and which nodes go with those that were asked for. Knows no store.

Events come in the order of the log, any number of times. Most are passed over by looking at the bytes of their
payloads; the rest are held, decoded, until the erasure has rewritten them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from weft.errors import Corrupt
from weft.kinds import ERASED
from weft.log.canonical import canonical, decode
from weft.log.kinds import code, conversation, document, payload_of
from weft.projection.folds import moves_of
from weft.projection.moves import SEPARATOR, EndEdge, Move, PutEdge, PutNode, edge_slot
from weft.projection.name_search import NameSearch
from weft.projection.residue import residue
from weft.projection.tokens import KEPT_KINDS, SYMBOL, Tokens, around_chunk, new_token, one_of, strings, words_pattern
from weft.projection.unsaid import NOTHING_UNSAID, Unsaid
from weft.sealing import is_sealed
from weft.types import Event

RECEIPT: Final = "Receipt"
PREFIX: Final = b"weft-sealed:1:"
Reveal = Callable[[Event], Event]  # an event with its sealed words opened


class Held(Struct, frozen=True, kw_only=True):
    """An event that may be concerned, decoded. `tx` is the change that its commit belongs to.

    `left` is its payload without what is unsaid; `told` are the moves of that with sealed words opened, as far as they
    can be; `sealed` are those of its sealed texts that hold a name.
    """

    event: Event
    payload: Any
    left: Any
    moves: tuple[Move, ...]
    told: tuple[PutNode, ...]
    tx: str
    sealed: frozenset[str] = frozenset()


class Needles:
    """Finds ids, slots, names and files in payloads as they are stored. May find too much, never too little.

    `files` are paths as transactions name them: without the project, and each a text of its own.
    """

    def __init__(self, exact: Collection[str], names: Collection[str] = (), files: Collection[str] = ()) -> None:
        wholes = {each.split(SYMBOL, 1)[0] for each in exact if SYMBOL in each}  # a symbol's id stands nowhere whole
        written = {canonical(each)[1:-1].decode() for each in {*exact, *wholes}}
        written |= {canonical(each).decode() for each in files}
        self._exact = re.compile(one_of(written).encode()) if written else None
        self._names = NameSearch(names)

    def found(self, payload: bytes | None) -> bool:
        """Whether a payload holds any."""
        if payload is None:
            return False
        if self._exact is not None and self._exact.search(payload):
            return True
        # A quick look first: the words of one name may be part of very many others.
        return self._names.may_stand_in(payload) and any(map(self._named, strings(decode(payload))))

    def _named(self, text: str) -> bool:
        return self._names.holds(text) or ("_" in text and self._names.holds_as_relation(text))


class Concern:
    """What goes: the nodes asked for, those that hold a name, those that are part of one that goes.

    `close` is for when the log was read. `files` are named no more, besides those of what goes.
    """

    def __init__(
        self,
        ids: Collection[str],
        names: Collection[str] = (),
        reveal: Reveal | None = None,
        unsaid: Unsaid = NOTHING_UNSAID,
        files: Collection[str] = (),
    ) -> None:
        self._spelt, self._reveal, self.unsaid = tuple(names), reveal, unsaid
        self.names = words_pattern(names)
        self.gone = {each for each in ids if not each.startswith(ERASED)}  # those have no words left to lose
        self._asked = set(self.gone)
        self.held: dict[int, Held] = {}
        self.files = set(files)
        self._tokens: dict[str, str] = {}
        self._slot_tokens: dict[str, str] = {}
        self._relations: dict[str, str] = {}
        self._looked_for: set[str] = set()
        self._files_looked_for: set[str] = set()
        self._looked_for |= self.gone | {rel for _, rel, _ in self.unsaid.edges}
        self.needles = self._new_needles()

    def wants(self, pos: int, kind: str, payload: bytes | None, needles: Needles) -> bool:
        """Whether an event may be concerned that is not held yet: the needles are found in it, or it is sealed."""
        if pos in self.held or kind == "log.rewritten" or payload is None:
            return False
        if self.unsaid.wants(pos, payload):
            return True
        sealed = self._reveal is not None and self.names is not None and PREFIX in payload
        return sealed or needles.found(payload)

    def hold(self, event: Event, tx: str) -> None:
        """Keeps an event, decoded."""
        self.held[event.pos] = self._decoded(event, tx)

    def touches(self, event: Event, tokens: Tokens) -> bool:
        """Whether an event must be rewritten, or may bring in another node: exactly, not by needles."""
        if not self.wants(event.pos, event.kind, event.payload, self.needles):
            return False
        shown = event if self._reveal is None or self.names is None else self._reveal(event)
        if tokens.holds_name(decode(shown.payload or b"{}")):
            return True
        payload = payload_of(event)
        try:
            return residue(event.kind, self.unsaid.payload(event.pos, payload), tokens) is not payload
        except Corrupt:  # that is for who rewrites it to tell
            return True

    def _decoded(self, event: Event, tx: str) -> Held:
        payload = payload_of(event)
        left = self.unsaid.payload(event.pos, payload)
        shown = event if left is payload else replace(event, payload=canonical(msgspec.to_builtins(left)))
        stored = shown
        shown = shown if self._reveal is None or self.names is None else self._reveal(shown)
        puts = tuple(move for move in moves_of(shown) if isinstance(move, PutNode))
        sealed = frozenset() if shown is stored else frozenset(self._sealed(stored, shown))
        moves = tuple(moves_of(event))
        return Held(event=event, payload=payload, left=left, moves=moves, told=puts, tx=tx, sealed=sealed)

    def _sealed(self, stored: Event, shown: Event) -> Iterator[str]:
        """The sealed texts of an event in which a name stands, as they are stored."""
        if self.names is not None:
            yield from _hiding(decode(stored.payload or b"{}"), decode(shown.payload or b"{}"), self.names)

    def close(self) -> Needles | None:
        """Adds what goes with what is gone. Needles for what was added, to read the log again; None if nothing was."""
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
        """Leaves out what was asked for and is nowhere a node, but the path of a file that stays."""
        if self._asked:
            named = {each for held in self.held.values() for move in held.moves for each in _ids(move)}
            paths = {path for held in self.held.values() if (path := _path(held.payload))}
            self.gone -= (self._asked & paths) - named
            self._asked = set()

    def settled(self, rewritten: Iterable[Event], ids: Iterable[str]) -> None:
        """These events are rewritten, and these nodes erased: what is said of them from now on is new."""
        for event in rewritten:
            self.held[event.pos] = self._decoded(event, self.held[event.pos].tx)
        for each in ids:
            self.gone.discard(each)
            self._looked_for.discard(each)
            self._tokens.pop(each, None)
        self.needles = self._new_needles()

    def tokens(self) -> Tokens:
        """The new names of all that goes; the same ones every time."""
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
            edges=self.unsaid.edges,
            around=self._around() - self.gone,
        )

    def _new_needles(self) -> Needles:
        self._files_looked_for |= self.files
        return Needles(self._looked_for, self._spelt, self._files_looked_for)

    def _longer(self) -> set[str]:
        """Ids that stay: where one of them has an erased id in it, it is the longer one that is meant."""
        puts = (move.id for held in self.held.values() for move in held.moves if isinstance(move, PutNode))
        return {each for each in puts if each not in self.gone}

    def _token(self, node_id: str) -> str:
        return self._tokens.setdefault(node_id, new_token())

    def _join_by_name(self) -> None:
        """Nodes that hold a name go too; not those that only mention the id of another that goes."""
        if self.names is None:
            return
        mentions = Tokens(dict.fromkeys(self.gone, ""), names=self.names, longer=self._longer())
        for held in self.held.values():
            for move in held.told:
                if move.kind in KEPT_KINDS or move.id in self.gone or move.id.startswith(ERASED):
                    continue
                said = (move.id, move.name, move.summary, move.text, move.props)
                hidden = held.sealed and move not in held.moves  # in what is sealed, ids cannot be replaced
                if mentions.holds_name(said) and (hidden or mentions.holds_name(mentions.clean_value(said))):
                    self.gone.add(move.id)
            # The ends of a relation that never was need not be nodes.
            ends = (end for move in held.moves if isinstance(move, EndEdge) for end in (move.src, move.dst))
            self.gone.update(end for end in ends if not end.startswith(ERASED) and self.names.holds(end))

    def _join_receipts(self) -> None:
        """Kept answers that name what goes: they hold hashes of what it said."""
        mentions = Tokens(dict.fromkeys(self.gone, ""), longer=self._longer())
        for held in self.held.values():
            for move in held.told:
                kept = move.kind == RECEIPT and not move.id.startswith(ERASED)
                if kept and mentions.clean_value(move.props) != move.props:
                    self.gone.add(move.id)

    def _join_parts(self, held: Held) -> None:
        """The parts of what goes, which tell whose they are."""
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
        if path:  # what was rewritten tells none
            self.files.add(path)

    def _join_chunks(self, payload: document.Ingested) -> None:
        """The chunks of sections that go."""
        for section in payload.sections:
            if section.id in self.gone:
                self.gone.update(each.id for each in section.chunks if not each.id.startswith(ERASED))

    def _around(self) -> set[str]:
        """Where the chunks that go stand: versions that do not tell of them again may still sum them up."""
        return {each for gone in self.gone for each in around_chunk(gone)}

    def _slots(self) -> dict[str, bool]:
        """Shared slots in which something erased stands or stood, or that hold a name; whether others use them too."""
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
    """The texts of a JSON value that are sealed and, opened, hold a name; `shown` is the same value opened."""
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
    """The name of the slot that a move shares with others."""
    own = move.id if isinstance(move, PutNode) else edge_slot(move.src, move.rel, move.dst)
    return None if move.slot == own else str(decode(move.slot.removeprefix(SEPARATOR).encode())[-1])
