"""Extraction on write: the entities, facts, preferences and causes that a memory's text states.

Everything is decided here and stored in the event. Names resolve to entities of exactly that name or create new ones,
never by similarity. A fact takes a free slot or none: one that contradicts a current fact becomes a proposal.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import asdict

from weft.core.clock import MIN_INSTANT_US, to_iso
from weft.core.kinds import DERIVED_FROM, MENTION, VIEWS, is_thing
from weft.core.types import NOW, Find, Guard, NodeVersion, When
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.log.kinds.graph import EdgeAssertion, NodeAssertion
from weft.log.kinds.memory import Extracted
from weft.runtime.call_context import CallContext
from weft.text.extract.findings import Extraction, FoundFact, FoundName, Span
from weft.text.lexical import name_key
from weft.writing.build.references import ALWAYS, covers, merged_into
from weft.writing.checks.current_value import FactStatement
from weft.writing.checks.predicates import is_single, predicate_of

MAX_THINGS: Final = 16  # entities of one memory
MAX_KNOWN: Final = 1_000  # entities that names of one batch may match
MAX_OF_EACH: Final = 8  # facts, preferences and causes of one memory
SURE: Final = 0.75  # confidence below which a fact is not extracted
LINKED_KINDS: Final = VIEWS["entity"] | VIEWS["code"]
STATING_KINDS: Final = frozenset(  # of memories that are read for facts
    {"Memory", "Decision", "Event", "Episode", "Learning", "Preference", "Context"}
)
SURE_KINDS: Final = frozenset({"Person", "Organization"})
COMMON_ENDINGS: Final = ("s", "ing", "ed")
_OF_ONE: Final = re.compile(r" (?:is|was|has|does|\w+s)\b")  # the verb of one thing, or of no plural: "Jonas lives"
FIRST_PERSON: Final = frozenset({"i", "me", "we", "us"})
POSSESSIVES: Final = frozenset({"my", "our"})
PRONOUNS: Final = frozenset({"he", "she", "it", "they", "this", "that", "you", "his", "her", "their", "its"})
# How the fact reads, where the property's own words would not do.
WORDS: Final = {
    "head": "is led by",
    "owner": "is in the hands of",
    "date": "is on",
    "time": "is at",
    "deadline": "is due on",
    "price": "costs",
    "value": "is",
    "status": "is",
    "name": "is called",
    "hosted_on": "is hosted on",
    "deployed_on": "is deployed on",
    "located_in": "is in",
    "written_in": "is written in",
    "allergic_to": "is allergic to",
    "spouse": "is married to",
    "version": "is at version",
}
FIRST_FORMS: Final = {"is": "am", "has": "have", "responsible": "am responsible"}


class SourceText(Struct, frozen=True, kw_only=True):
    """A memory about to be written: its id and text, its guard, when it was said and by whom.

    `stem` is what the ids of extracted nodes begin with: the memory's own id, or that and more.
    """

    id: str
    stem: str
    text: str
    guard: Guard
    at: int
    until: int | None = None
    speaker: str | None = None
    focus: str | None = None
    props: dict[str, Any] = {}  # the options it was written with, such as when it expires


class ExtractionResult(Struct, frozen=True, kw_only=True):
    """Resolved findings: nodes and edges to assert, facts to compare with the current ones, and the record."""

    nodes: tuple[NodeAssertion, ...] = ()
    edges: tuple[EdgeAssertion, ...] = ()
    claims: tuple[FactStatement, ...] = ()
    extracted: Extracted | None = None
    notes: tuple[str, ...] = ()

    @property
    def things(self) -> tuple[str, ...]:
        """The ids of the entities that the memory names."""
        return tuple(edge.dst for edge in self.edges if edge.rel == "INVOLVES")


Known = dict[str, tuple[NodeVersion, ...]]  # entities by the key of their name


def extract_one(ctx: CallContext, memory: SourceText) -> ExtractionResult:
    """Extracts from one text, by rules or by the language model, as the setting says."""
    # What the writer itself may not see again cannot be joined to existing nodes.
    if ctx.settings.extraction == "none" or not ctx.viewer.admits(memory.guard):
        return ExtractionResult()
    found, notes = _extracted(ctx, memory)
    names = [*_names(found), *([memory.speaker] if memory.speaker else [])]
    return _read(ctx, memory, found, notes, known_entities(ctx, memory.guard, names))


def extract_many(ctx: CallContext, memories: Sequence[SourceText]) -> tuple[ExtractionResult, ...]:
    """Extracts from several texts with one guard, with one lookup of all names."""
    found = [_extracted(ctx, memory) for memory in memories]
    names = [name for extraction, _ in found for name in _names(extraction)]
    known = known_entities(ctx, memories[0].guard, names) if memories else {}
    pairs = zip(memories, found, strict=True)
    return tuple(_read(ctx, memory, extraction, notes, known) for memory, (extraction, notes) in pairs)


def _read(
    ctx: CallContext, memory: SourceText, found: Extraction, notes: tuple[str, ...], known: Known
) -> ExtractionResult:
    reading = _Resolution(ctx, memory, found, known)
    reading.names()
    reading.causes()
    reading.preferences()
    claims = reading.claims()
    return ExtractionResult(
        nodes=tuple(reading.nodes.values()),
        edges=tuple(reading.edges.values()),
        claims=claims,
        extracted=_record(found),
        notes=notes,
    )


def _extracted(ctx: CallContext, memory: SourceText) -> tuple[Extraction, tuple[str, ...]]:
    from weft.text.extract.extraction import (
        extract,  # its expressions take 80 ms to compile: only who writes words waits
    )

    rules = extract(memory.text, at=memory.at, speaker=memory.speaker)
    if ctx.settings.extraction != "model":
        return rules, ()
    from weft.writing.build.model_extraction import extract_with_model

    made, note = extract_with_model(
        ctx.advisor, memory.text, at=memory.at, speaker=memory.speaker, account=ctx.viewer.account
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
    """One id per name, project and rights, so that a mention elsewhere neither moves nor reveals it."""
    rights = ",".join((guard.scope, *guard.agents))
    return f"mention:{guard.project or ''}/{rights}/{key}"


def _names(found: Extraction) -> list[str]:
    return [*(each.text for each in found.names), *(each.subject for each in found.facts), *_code(found)]


def _code(found: Extraction) -> list[str]:
    return [each.text for each in found.marks if each.kind in ("path", "identifier")]


def known_entities(ctx: CallContext, guard: Guard, written: Sequence[str]) -> Known:
    """Entities and code with these names that everybody who may see the guard may see too."""
    if not written:
        return {}
    find = Find(names=tuple(dict.fromkeys(written)), kinds=tuple(sorted(LINKED_KINDS)), projects=(guard.project, None))
    found = ctx.store.find(ctx.viewer, NOW, find, limit=MAX_KNOWN).nodes
    by_key: dict[str, dict[str, NodeVersion]] = {}
    for node in found:
        for meant in merged_into(ctx, [node]) if is_thing(node.kind) else (node,):
            if covers(meant.guard, guard):
                by_key.setdefault(name_key(node.name), {})[meant.id] = meant
    real = {key: [node for node in nodes.values() if node.kind != MENTION] for key, nodes in by_key.items()}
    return {key: tuple(real[key] or nodes.values()) for key, nodes in by_key.items()}


class _Resolution:
    """Resolves the findings of one text."""

    def __init__(self, ctx: CallContext, memory: SourceText, found: Extraction, known: Known) -> None:
        self.ctx, self.memory, self.found, self._known = ctx, memory, found, known
        self.nodes: dict[str, NodeAssertion] = {}
        self.edges: dict[tuple[str, str, str], EdgeAssertion] = {}
        self._ids: dict[str, str] = {}  # of entities, by the key of their name
        self._guard = asdict(memory.guard)

    def names(self) -> None:
        """Joins named entities, which are found by exactly that name or created, and named code that exists."""
        named = {name_key(each.text): each for each in self.found.names if name_key(each.text)}
        known = self._known
        for key, each in named.items():
            if len(self._ids) >= MAX_THINGS:
                break
            there = known.get(key, ())
            if len(there) > 1:
                continue  # the text does not tell which one is meant
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
        """Whether a name may be just the first word of a sentence: "Bookings are taken by phone"."""
        if " " in name.text or name.kind in SURE_KINDS or not name.text.endswith(COMMON_ENDINGS):
            return False
        before, after = self.memory.text[: name.span[0]].rstrip(), self.memory.text[name.span[1] :]
        return (not before or before[-1] in ".!?:\n") and _OF_ONE.match(after) is None

    def _made(self, name: str, guessed: str, key: str) -> str:
        # "kept in Redis" reads like a place: a guessed kind must not become part of the id.
        node_id = _mention_id(key, self.memory.guard)
        props = {"likely": guessed} if guessed in SURE_KINDS else {}
        self.nodes[node_id] = NodeAssertion(
            id=node_id, kind=MENTION, name=name, props=props, **self._guard, valid_from=ALWAYS
        )
        return node_id

    def causes(self) -> None:
        """Adds causes and effects in the memory's own words, joined to the memory and the entities they name."""
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
        node_id = f"{self.memory.stem}:cause:{span[0]}"
        self._derived(node_id, "Cause", words)
        self._join(node_id, "REFERS_TO", self.memory.id)
        for thing in self._within(span):
            self._join(node_id, "AFFECTS", thing)
        return node_id

    def preferences(self) -> None:
        """Adds preferences."""
        for each in self.found.preferences[:MAX_OF_EACH]:
            verb = each.polarity if each.holder != "I" else each.polarity.removesuffix("s")
            node_id = f"{self.memory.stem}:preference:{each.span[0]}"
            polarity = 1 if each.polarity == "likes" else -1
            props = {"holder": each.holder, "polarity": polarity, "strength": each.strength}
            self._derived(node_id, "Preference", f"{each.holder} {verb} {each.object}", props)
            key = name_key(each.holder)
            known = self._known.get(key, ())
            holder = self._ids.get(key) or (known[0].id if len(known) == 1 else None)
            if holder is not None:
                self._join(node_id, "INVOLVES", holder)

    def claims(self) -> tuple[FactStatement, ...]:
        """Facts about named entities that are certain enough to compare with the current ones."""
        told = []
        for each in self.found.facts[:MAX_OF_EACH]:
            if each.past or each.confidence < SURE:
                continue
            entity = self._subject(name_key(each.subject), each)
            if entity is not None:
                told.append(self._statement(each, entity))
        # Two values for one slot in the same text leave open which one holds.
        values: dict[tuple[str, str], set[str]] = {}
        for said in told:
            values.setdefault((said.entity, said.predicate), set()).add(name_key(said.value))
        clear = [said for said in told if not said.single or len(values[said.entity, said.predicate]) == 1]
        return tuple({(said.entity, said.predicate, said.value): said for said in clear}.values())

    def _subject(self, key: str, fact: FoundFact) -> str | None:
        """The entity that a fact is about: a name, or a description ("the launch"); None for "he" or "it"."""
        if key in self._ids or key in PRONOUNS or not key:
            return self._ids.get(key)
        there = self._known.get(key, ())
        if there:
            return there[0].id if len(there) == 1 else None
        if len(self._ids) >= MAX_THINGS or any(key == name_key(name.text) for name in self.found.names):
            return None
        self._ids[key] = self._made(fact.subject, "Entity", key)
        if key not in FIRST_PERSON:  # every other note is about its writer
            self._join(self.memory.id, "INVOLVES", self._ids[key])
        return self._ids[key]

    def _statement(self, fact: FoundFact, entity: str) -> FactStatement:
        predicate = predicate_of(fact.predicate)
        words = WORDS.get(predicate, predicate.replace("_", " "))
        if owner := self._owner(fact, words):  # "our phone provider is Orange", "Ana's manager is Pedro"
            words = f"{words} is"
        elif name_key(fact.subject) in FIRST_PERSON:
            first, _, rest = words.partition(" ")
            words = f"{FIRST_FORMS.get(first, first.removesuffix('s'))} {rest}".strip()
        return FactStatement(
            entity=entity,
            subject=fact.subject,
            predicate=predicate,
            words=words,
            owner=owner,
            value=fact.object,
            single=fact.single or is_single(predicate, extra=self.ctx.settings.single_valued),
            guard=self.memory.guard,
            begin=self.memory.at,
            end=self.memory.until,
        )

    def _owner(self, fact: FoundFact, words: str) -> str:
        """Whose property it is, if the text names the property as somebody's: my, our, or a name with 's."""
        start, stop = fact.subject_span
        whose, rest = self.memory.text[start:stop], self.memory.text[stop:]
        owned = re.match(rf"(?P<s>['’]s)? (?:(?:new|current|main) )?{re.escape(words)}\b", rest, re.IGNORECASE)
        if owned is None or (owned["s"] is None and whose.lower() not in POSSESSIVES):
            return ""
        return whose.lower() if name_key(fact.subject) in FIRST_PERSON else f"{fact.subject}'s"

    def _within(self, span: Span) -> Iterable[str]:
        """The entities named in a part of the text."""
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


MAX_DERIVED: Final = 1_000
EXTRACTED_RETRACTED: Final = "what was extracted from it was removed"


def extracted_from(ctx: CallContext, node_id: str, begin: int) -> tuple[NodeVersion, ...]:
    """What was extracted from a memory, as it holds now or held when the memory began.

    Ids of extracted nodes begin with the memory's own.
    """
    find = Find(id_prefix=f"{node_id}:")
    rows = {
        row.id: row
        for when in (When(valid_at=begin), NOW)
        for row in ctx.store.find(ctx.viewer, when, find, limit=MAX_DERIVED).nodes
    }
    return tuple(row for row in rows.values() if row.kind != "Feedback")


def retracted(nodes: Iterable[NodeVersion], reason: str) -> tuple[Draft, ...]:
    """Events that delete what was extracted from a memory, as if it had never held; none if nothing was."""
    ids = tuple(node.id for node in nodes)
    if not ids:
        return ()
    ended = graph.Ended(nodes=ids, at=to_iso(MIN_INSTANT_US), reason=reason)
    return (
        Draft(kind="graph.ended", payload=ended),
        Draft(kind="graph.deleted", payload=graph.Deleted(nodes=ids, reason=reason)),
    )
