"""Comparison of a fact with the current values of its slot, over the whole valid time that it covers.

A single-valued property has one value at any time. A new statement ends the value that held at its beginning, unless
both say the same. Values asserted for a limited time, or beginning later, take precedence over an open-ended one (see
`weft.graph.timeline`). This module only compares; the graph's fold ends values.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import asdict

from weft.append.append import Fence
from weft.core.clock import to_iso
from weft.core.types import MAX_LIMIT, Find, Guard, NodeVersion, When
from weft.graph.moves import shared_slot
from weft.log.kinds import graph, memory
from weft.runtime.call_context import CallContext
from weft.writing.checks.dedup import SimilarEntry
from weft.writing.checks.predicates import HAPPENINGS
from weft.writing.checks.values import relation

FACT: Final = "Fact"
MAX_MET: Final = 1_000  # values compared with one statement; the fold handles later ones

Verdict = Literal["new", "same", "finer", "other"]


class FactStatement(Struct, frozen=True, kw_only=True):
    """A resolved statement of a fact. Without `begin` it holds from the time of writing."""

    entity: str
    subject: str
    predicate: str
    words: str  # the predicate as the caller wrote it
    value: str
    single: bool
    guard: Guard
    begin: int | None = None
    end: int | None = None
    owner: str = ""  # the subject as the text reads it, where that is not its name: "our", "Ana's"
    place: str = ""  # the pseudonym of a sensitive predicate in the slot

    @property
    def slot(self) -> str | None:
        """The name of the slot in which values of this property replace each other; None if it may have many values."""
        return f"fact:{self.guard.project or ''}/{self.entity}/{self.place or self.predicate}" if self.single else None

    @property
    def name(self) -> str:
        return f"{self.subject} {self.predicate}"

    @property
    def text(self) -> str:
        return f"{self.owner or self.subject} {self.words} {self.value}"


class Comparison(Struct, frozen=True, kw_only=True):
    """How a statement relates to the current facts.

    `same`: it adds nothing to `fact`. `finer`: it says what `fact` says and more. `other`: it contradicts `ended`; with
    `goes_on` some of these hold again after it. `taken` is False if no time is left for it to hold in.
    """

    verdict: Verdict
    fact: NodeVersion | None = None
    ended: tuple[NodeVersion, ...] = ()
    goes_on: bool = False
    taken: bool = True


def statements_fence(statements: Sequence[FactStatement], pos: int, *, slots: tuple[str, ...] = ()) -> Fence:
    """What comparisons of several statements depend on, and these slots."""
    fences = [statement_fence(said, pos) for said in statements]
    kinds = tuple(dict.fromkeys(kind for fence in fences for kind in fence.kinds))
    every = tuple(dict.fromkeys((*slots, *(slot for fence in fences for slot in fence.slots))))
    tests = [fence.concerns for fence in fences if fence.concerns is not None]

    def concerns(node: NodeVersion) -> bool:
        return node.slot in every or any(test(node) for test in tests)

    return Fence(pos=pos, kinds=kinds, slots=every, concerns=concerns if tests else None)


def statement_fence(said: FactStatement, pos: int) -> Fence:
    """What a comparison depends on: the values of the slot or, for many-valued properties, the facts of that name."""
    if said.slot is not None:
        return Fence(pos=pos, slots=(shared_slot(said.slot, said.guard),))
    return Fence(pos=pos, kinds=(FACT,), concerns=lambda node: node.name == said.name)


def compare_with_current(ctx: CallContext, said: FactStatement, *, gone: Container[str] = ()) -> Comparison:
    """Compares a statement with the values in its slot that the caller may see. Read-only.

    `gone` are facts that the same write removes.
    """
    return _of_one(ctx, said, gone) if said.slot is not None else _of_many(ctx, said, gone)


def begin_of(ctx: CallContext, said: FactStatement) -> int:
    """When the statement begins to hold: as given, or when it would be recorded now."""
    if said.begin is not None:
        return said.begin
    return max(ctx.clock.now_us(), ctx.store.head(ctx.viewer).at + 1)


# ---- one value at a time


def _of_one(ctx: CallContext, said: FactStatement, gone: Container[str]) -> Comparison:
    begin = begin_of(ctx, said)
    met, gap = _met(ctx, said, begin, gone)
    yielding = [row for row in met if _yields(row, said, begin)]
    how = {row.row: relation(said.predicate, str(row.props.get("object", "")), said.value) for row in met}
    others = tuple(row for row in yielding if how[row.row] == "other")
    if others:
        return Comparison(verdict="other", fact=others[0], ended=_once(others), goes_on=_goes_on(others, said))
    finer = [row for row in yielding if how[row.row] == "finer"]
    if finer:
        return Comparison(verdict="finer", fact=finer[0])
    if gap:
        return Comparison(verdict="new")
    alike = next((row for row in (*yielding, *met) if how[row.row] in ("same", "coarser")), None)
    return Comparison(verdict="same", fact=alike) if alike else Comparison(verdict="new", taken=False)


def _met(ctx: CallContext, said: FactStatement, begin: int, gone: Container[str]) -> tuple[list[NodeVersion], bool]:
    """The values that hold at some time of the statement, in order, and whether some time has none."""
    assert said.slot is not None
    slot = shared_slot(said.slot, said.guard)
    found = ctx.store.current_in_slot(ctx.viewer, slot, after=begin, limit=MAX_MET)
    stays = [row for row in found if row.id not in gone]
    met = [row for row in stays if said.end is None or row.interval.valid_from < said.end]
    at: int | None = begin
    for row in met:
        if at is not None and row.interval.valid_from > at:
            return met, True
        at = row.interval.valid_to
    return met, at is not None and (said.end is None or at < said.end)


def _yields(row: NodeVersion, said: FactStatement, begin: int) -> bool:
    """Whether a value gives way: always to a limited statement, and to an open-ended one if it began no later."""
    return said.end is not None or (row.interval.asserted_to is None and row.interval.asserted_from <= begin)


def _goes_on(ended: tuple[NodeVersion, ...], said: FactStatement) -> bool:
    def outlasts(row: NodeVersion) -> bool:
        return row.interval.valid_to is None or (said.end is not None and row.interval.valid_to > said.end)

    return said.end is not None and any(map(outlasts, ended))


def _once(rows: tuple[NodeVersion, ...]) -> tuple[NodeVersion, ...]:
    return tuple({row.id: row for row in rows}.values())


# ---- many values


def _of_many(ctx: CallContext, said: FactStatement, gone: Container[str]) -> Comparison:
    """The same value again is `same`, unless it may be a repeated event; other values never conflict."""
    begin = begin_of(ctx, said)
    find = Find(names=(said.name,), kinds=(FACT,), projects=(said.guard.project,))
    for row in ctx.store.find(ctx.viewer, When(valid_at=begin), find, limit=MAX_LIMIT).nodes:
        if row.id in gone or row.guard != said.guard or row.props.get("subject") != said.entity:
            continue
        if row.props.get("predicate") != said.predicate or row.props.get("slot") is not None:
            continue
        told_then = said.begin is None or said.begin == row.interval.asserted_from
        happened_again = said.predicate in HAPPENINGS and said.begin is None
        covered = row.interval.valid_to is None or (said.end is not None and said.end <= row.interval.valid_to)
        same = relation(said.predicate, str(row.props.get("object", "")), said.value) == "same"
        if same and told_then and covered and not happened_again and _same_end(row, said):
            return Comparison(verdict="same", fact=row)
    return Comparison(verdict="new")


def _same_end(row: NodeVersion, said: FactStatement) -> bool:
    """A statement with an end says more than one without."""
    return said.end is None or said.end == row.interval.asserted_to


# ---- what is written


def fact_payload(
    said: FactStatement, node_id: str, subject: graph.NodeAssertion | None, *, supersedes: tuple[str, ...] = ()
) -> memory.Remembered:
    """The event that asserts a statement as a fact, joined to its subject."""
    begin = None if said.begin is None else to_iso(said.begin)
    guard = asdict(said.guard)
    involves = graph.EdgeAssertion(src=node_id, rel="INVOLVES", dst=said.entity, **guard, valid_from=begin)
    props = {"subject": said.entity, "predicate": said.predicate, "object": said.value}
    return memory.Remembered(
        id=node_id,
        node_kind=FACT,
        name=said.name,
        text=said.text,
        props=props | ({"slot": said.slot} if said.slot else {}),
        **guard,
        valid_from=begin,
        valid_to=None if said.end is None else to_iso(said.end),
        slot=said.slot,
        entities=() if subject is None else (subject,),
        edges=(involves,),
        supersedes=supersedes,
    )


def fact_candidate(ctx: CallContext, fact: NodeVersion) -> SimilarEntry:
    """A current fact as answers list it."""
    citation = ctx.store.citations(ctx.viewer, [fact.event]).get(fact.event, "")
    return SimilarEntry(id=fact.id, title=fact.text, citation=citation, score=1.0, differs_in="value")
