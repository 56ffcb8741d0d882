"""What is read out of a memory when it is written: what it names, claims, likes and holds for a cause.

All of it is decided here and rides in the event. Names become entities, or mean those that go by exactly that name;
likeness never does. A claim takes a free place or none: one that contradicts what stands waits for review.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import asdict

from weft.extract.found import Extraction, FoundFact, FoundName, Span
from weft.instants import to_iso
from weft.kinds import MENTION, VIEWS, is_thing
from weft.lexical import name_key
from weft.log.kinds.graph import EdgeAssertion, NodeAssertion
from weft.log.kinds.memory import Extracted
from weft.loom import Loom
from weft.operations.predicates import is_single, predicate_of
from weft.operations.references import ALWAYS, covers, merged_into
from weft.operations.standing import Statement
from weft.retrieval.derived import DERIVED_FROM
from weft.types import NOW, Find, Guard, NodeVersion

MAX_THINGS: Final = 16  # entities of one memory
MAX_KNOWN: Final = 1_000  # things that names of one batch may mean
MAX_OF_EACH: Final = 8  # facts, preferences and causes of one memory
SURE: Final = 0.75  # a claim that is less sure is left where it is: in the words
LINKED_KINDS: Final = VIEWS["entity"] | VIEWS["code"]
SURE_KINDS: Final = frozenset({"Person", "Organization"})
COMMON_ENDINGS: Final = ("s", "ing", "ed")
FIRST_PERSON: Final = frozenset({"i", "me", "we", "us"})


class Memory(Struct, frozen=True, kw_only=True):
    """A memory about to be written: its id and words, who may see it, when it was said and by whom."""

    id: str
    text: str
    guard: Guard
    at: int
    until: int | None = None
    speaker: str | None = None
    focus: str | None = None
    props: dict[str, Any] = {}  # the options it was written with, such as when it expires


class ReadOut(Struct, frozen=True, kw_only=True):
    """What was read out, resolved: nodes and relations to assert, claims to compare with what stands, the record."""

    nodes: tuple[NodeAssertion, ...] = ()
    edges: tuple[EdgeAssertion, ...] = ()
    claims: tuple[Statement, ...] = ()
    extracted: Extracted | None = None
    notes: tuple[str, ...] = ()

    @property
    def things(self) -> tuple[str, ...]:
        """The ids of what the memory names."""
        return tuple(edge.dst for edge in self.edges if edge.rel == "INVOLVES")


Known = dict[str, tuple[NodeVersion, ...]]  # things by the key of their name


def read_out(loom: Loom, memory: Memory) -> ReadOut:
    """Reads a memory's words, by rules or by the language model, as the setting says."""
    # What the writer itself may not see again cannot be joined to what stands.
    if loom.settings.extraction == "none" or not loom.viewer.admits(memory.guard):
        return ReadOut()
    found, notes = _extracted(loom, memory)
    names = [*_names(found), *([memory.speaker] if memory.speaker else [])]
    return _read(loom, memory, found, notes, known_things(loom, memory.guard, names))


def read_many(loom: Loom, memories: Sequence[Memory]) -> tuple[ReadOut, ...]:
    """Reads several memories under one guard, looking up what they name at once."""
    found = [_extracted(loom, memory) for memory in memories]
    names = [name for extraction, _ in found for name in _names(extraction)]
    known = known_things(loom, memories[0].guard, names) if memories else {}
    pairs = zip(memories, found, strict=True)
    return tuple(_read(loom, memory, extraction, notes, known) for memory, (extraction, notes) in pairs)


def _read(loom: Loom, memory: Memory, found: Extraction, notes: tuple[str, ...], known: Known) -> ReadOut:
    reading = _Reading(loom, memory, found, known)
    reading.names()
    reading.causes()
    reading.preferences()
    return ReadOut(
        nodes=tuple(reading.nodes.values()),
        edges=tuple(reading.edges.values()),
        claims=reading.claims(),
        extracted=_record(found),
        notes=notes,
    )


def _extracted(loom: Loom, memory: Memory) -> tuple[Extraction, tuple[str, ...]]:
    from weft.extract.extraction import extract  # its expressions take 80 ms to compile: only who writes words waits

    rules = extract(memory.text, at=memory.at, speaker=memory.speaker)
    if loom.settings.extraction != "model":
        return rules, ()
    from weft.extract.model_extraction import extract_with_model

    made, note = extract_with_model(
        loom.counsel, memory.text, at=memory.at, speaker=memory.speaker, account=loom.viewer.account
    )
    return (rules if made is None else made), ((note,) if note else ())


def _record(found: Extraction) -> Extracted:
    return Extracted(
        extractor=found.version,
        dates=tuple((*date.span, to_iso(date.from_us), to_iso(date.to_us)) for date in found.dates[:64]),
        quantities=tuple((*each.span, each.value, each.unit) for each in found.quantities[:64]),
        marks=tuple((*each.span, each.kind) for each in found.marks[:64]),
    )


def _mention_id(key: str, guard: Guard) -> str:
    """One for each name, project and rights: naming a thing elsewhere neither moves it nor shows it."""
    rights = ",".join((guard.scope, *guard.agents))
    return f"mention:{guard.project or ''}/{rights}/{key}"


def _names(found: Extraction) -> list[str]:
    return [*(each.text for each in found.names), *_code(found)]


def _code(found: Extraction) -> list[str]:
    return [each.text for each in found.marks if each.kind in ("path", "identifier")]


def known_things(loom: Loom, guard: Guard, written: Sequence[str]) -> Known:
    """Things and code that go by these names, all who may see under the guard being able to see them too."""
    if not written:
        return {}
    find = Find(names=tuple(dict.fromkeys(written)), kinds=tuple(sorted(LINKED_KINDS)), projects=(guard.project, None))
    found = loom.store.find(loom.viewer, NOW, find, limit=MAX_KNOWN).nodes
    by_key: dict[str, dict[str, NodeVersion]] = {}
    for node in found:
        for meant in merged_into(loom, [node]) if is_thing(node.kind) else (node,):
            if covers(meant.guard, guard):
                by_key.setdefault(name_key(node.name), {})[meant.id] = meant
    real = {key: [node for node in nodes.values() if node.kind != MENTION] for key, nodes in by_key.items()}
    return {key: tuple(real[key] or nodes.values()) for key, nodes in by_key.items()}


class _Reading:
    """Gathers what one memory's words come to."""

    def __init__(self, loom: Loom, memory: Memory, found: Extraction, known: Known) -> None:
        self.loom, self.memory, self.found, self._known = loom, memory, found, known
        self.nodes: dict[str, NodeAssertion] = {}
        self.edges: dict[tuple[str, str, str], EdgeAssertion] = {}
        self._ids: dict[str, str] = {}  # of things, by the key of their name
        self._guard = asdict(memory.guard)

    def names(self) -> None:
        """The things that are named, found by exactly that name or made; code that is named, if it is there."""
        named = {name_key(each.text): each for each in self.found.names if name_key(each.text)}
        known = self._known
        for key, each in named.items():
            if len(self._ids) >= MAX_THINGS:
                break
            there = known.get(key, ())
            if len(there) > 1:
                continue  # which of them is meant, the words do not tell
            if there:
                self._ids[key] = there[0].id
            elif key not in FIRST_PERSON and not self._common(each):
                self._ids[key] = self._made(each.text, each.kind, key)
        for written in _code(self.found):
            there = known.get(name_key(written), ())
            if len(there) == 1:
                self._ids.setdefault(name_key(written), there[0].id)
        for thing in dict.fromkeys(self._ids.values()):
            self._join(self.memory.id, "INVOLVES", thing)

    def _common(self, name: FoundName) -> bool:
        """Whether it may be no more than the first word of a sentence: "Bookings are taken by phone"."""
        if " " in name.text or name.kind in SURE_KINDS or not name.text.endswith(COMMON_ENDINGS):
            return False
        before = self.memory.text[: name.span[0]].rstrip()
        return not before or before[-1] in ".!?:\n"

    def _made(self, name: str, guessed: str, key: str) -> str:
        # "kept in Redis" reads like a place: a guess of what a thing is must not become what it is called by.
        node_id = _mention_id(key, self.memory.guard)
        props = {"likely": guessed} if guessed in SURE_KINDS else {}
        self.nodes[node_id] = NodeAssertion(
            id=node_id, kind=MENTION, name=name, props=props, **self._guard, valid_from=ALWAYS
        )
        return node_id

    def causes(self) -> None:
        """Causes and their effects, in the memory's own words, joined to what they name and to the memory."""
        for each in self.found.causes[:MAX_OF_EACH]:
            if each.confidence < SURE:
                continue
            cause, effect = self._cause(each.cause), self._cause(each.effect)
            if cause is not None and effect is not None and cause != effect:
                self._join(cause, "CAUSES", effect, {"confidence": each.confidence})

    def _cause(self, span: Span) -> str | None:
        words = " ".join(self.memory.text[span[0] : span[1]].split()).strip(" ,;.")
        if not name_key(words):
            return None
        node_id = f"{self.memory.id}:cause:{span[0]}"
        self._derived(node_id, "Cause", words)
        self._join(node_id, "REFERS_TO", self.memory.id)
        for thing in self._within(span):
            self._join(node_id, "AFFECTS", thing)
        return node_id

    def preferences(self) -> None:
        """What somebody likes or dislikes."""
        for each in self.found.preferences[:MAX_OF_EACH]:
            verb = each.polarity if each.holder != "I" else each.polarity.removesuffix("s")
            node_id = f"{self.memory.id}:preference:{each.span[0]}"
            polarity = 1 if each.polarity == "likes" else -1
            props = {"holder": each.holder, "polarity": polarity, "strength": each.strength}
            self._derived(node_id, "Preference", f"{each.holder} {verb} {each.object}", props)
            key = name_key(each.holder)
            known = self._known.get(key, ())
            holder = self._ids.get(key) or (known[0].id if len(known) == 1 else None)
            if holder is not None:
                self._join(node_id, "INVOLVES", holder)

    def claims(self) -> tuple[Statement, ...]:
        """What is said to hold of a thing that the memory names, sure enough to compare with what stands."""
        told = []
        for each in self.found.facts[:MAX_OF_EACH]:
            entity = self._ids.get(name_key(each.subject))
            if entity is None or each.past or each.confidence < SURE:
                continue
            told.append(self._statement(each, entity))
        # A text that says two things of one place leaves it open which holds.
        values: dict[tuple[str, str], set[str]] = {}
        for said in told:
            values.setdefault((said.entity, said.predicate), set()).add(name_key(said.value))
        clear = [said for said in told if not said.single or len(values[said.entity, said.predicate]) == 1]
        return tuple({(said.entity, said.predicate, said.value): said for said in clear}.values())

    def _statement(self, fact: FoundFact, entity: str) -> Statement:
        predicate = predicate_of(fact.predicate)
        return Statement(
            entity=entity,
            subject=fact.subject,
            predicate=predicate,
            words=predicate.replace("_", " "),
            value=fact.object,
            single=is_single(predicate, extra=self.loom.settings.single_valued),
            guard=self.memory.guard,
            begin=self.memory.at,
            end=self.memory.until,
        )

    def _within(self, span: Span) -> Iterable[str]:
        """The things that are named in a part of the text."""
        for each in self.found.names:
            if span[0] <= each.span[0] and each.span[1] <= span[1] and name_key(each.text) in self._ids:
                yield self._ids[name_key(each.text)]

    def _derived(self, node_id: str, kind: str, text: str, props: dict[str, Any] | None = None) -> None:
        told = {DERIVED_FROM: self.memory.id, **(props or {})}
        at = to_iso(self.memory.at)
        self.nodes[node_id] = NodeAssertion(id=node_id, kind=kind, text=text, props=told, **self._guard, valid_from=at)

    def _join(self, src: str, rel: str, dst: str, props: dict[str, Any] | None = None) -> None:
        at = to_iso(self.memory.at)
        edge = EdgeAssertion(src=src, rel=rel, dst=dst, props=props or {}, **self._guard, valid_from=at)
        self.edges[src, rel, dst] = edge
