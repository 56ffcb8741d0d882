"""What a statement about a property meets: what stands in its place, over the whole time it speaks of.

At any moment a property with one value at a time has one. Where a statement begins, it ends what held there, unless
that says the same; what was asserted for a time of its own, or began later, goes before one without an end (see
`weft.projection.timeline`). This module only looks: the fold does the ending.
"""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import asdict

from weft.append import Fence
from weft.instants import to_iso
from weft.log.kinds import graph, memory
from weft.loom import Loom
from weft.operations.dedup import Alike
from weft.operations.predicates import HAPPENINGS
from weft.operations.values import relation
from weft.projection.moves import shared_slot
from weft.types import MAX_LIMIT, Find, Guard, NodeVersion, When

FACT: Final = "Fact"
MAX_MET: Final = 1_000  # values that one statement may meet over its time; those behind are left to the fold

Verdict = Literal["new", "same", "finer", "other"]


class Statement(Struct, frozen=True, kw_only=True):
    """That something holds of something, with everything resolved. `begin` None is the moment of writing."""

    entity: str
    subject: str
    predicate: str
    words: str  # the predicate as it was said
    value: str
    single: bool
    guard: Guard
    begin: int | None = None
    end: int | None = None
    place: str = ""  # what stands for the predicate in the slot, where it is sensitive

    @property
    def slot(self) -> str | None:
        """The name of the place where values of this property take turns; none where many may hold."""
        return f"fact:{self.guard.project or ''}/{self.entity}/{self.place or self.predicate}" if self.single else None

    @property
    def name(self) -> str:
        return f"{self.subject} {self.predicate}"

    @property
    def text(self) -> str:
        return f"{self.subject} {self.words} {self.value}"


class Standing(Struct, frozen=True, kw_only=True):
    """How a statement stands to what is there.

    `same`: it adds nothing to `fact`. `finer`: it says what `fact` says, and more. `other`: it contradicts `ended`,
    of which `goes_on` hold again behind it. `taken` is False where nothing is left for it to hold in.
    """

    verdict: Verdict
    fact: NodeVersion | None = None
    ended: tuple[NodeVersion, ...] = ()
    goes_on: bool = False
    taken: bool = True


def fence_of(said: Statement, pos: int) -> Fence:
    """What a verdict rests on: the values in the slot, or of a property with many the facts of that name."""
    if said.slot is not None:
        return Fence(pos=pos, slots=(shared_slot(said.slot, said.guard),))
    return Fence(pos=pos, kinds=(FACT,), concerns=lambda node: node.name == said.name)


def stand(loom: Loom, said: Statement) -> Standing:
    """Compares a statement with what the caller may see of its place. Reads only."""
    return _of_one(loom, said) if said.slot is not None else _of_many(loom, said)


def begin_of(loom: Loom, said: Statement) -> int:
    """When the statement begins to hold: when it says, or when it would be recorded now."""
    if said.begin is not None:
        return said.begin
    return max(loom.clock.now_us(), loom.store.head(loom.viewer).at + 1)


# ---- one value at a time


def _of_one(loom: Loom, said: Statement) -> Standing:
    begin = begin_of(loom, said)
    met, gap = _met(loom, said, begin)
    yielding = [row for row in met if _yields(row, said, begin)]
    how = {row.row: relation(said.predicate, str(row.props.get("object", "")), said.value) for row in met}
    others = tuple(row for row in yielding if how[row.row] == "other")
    if others:
        return Standing(verdict="other", fact=others[0], ended=_once(others), goes_on=_goes_on(others, said))
    finer = [row for row in yielding if how[row.row] == "finer"]
    if finer:
        return Standing(verdict="finer", fact=finer[0])
    if gap:
        return Standing(verdict="new")
    alike = next((row for row in (*yielding, *met) if how[row.row] in ("same", "coarser")), None)
    return Standing(verdict="same", fact=alike) if alike else Standing(verdict="new", taken=False)


def _met(loom: Loom, said: Statement, begin: int) -> tuple[list[NodeVersion], bool]:
    """The values that hold at some moment of the statement's time, in order, and whether some moment has none."""
    assert said.slot is not None
    slot = shared_slot(said.slot, said.guard)
    found = loom.store.standing(loom.viewer, slot, after=begin, limit=MAX_MET)
    met = [row for row in found if said.end is None or row.interval.valid_from < said.end]
    at: int | None = begin
    for row in met:
        if at is not None and row.interval.valid_from > at:
            return met, True
        at = row.interval.valid_to
    return met, at is not None and (said.end is None or at < said.end)


def _yields(row: NodeVersion, said: Statement, begin: int) -> bool:
    """Whether a value gives way: to one with an end everywhere inside it, to one without where it began no later."""
    return said.end is not None or (row.interval.asserted_to is None and row.interval.asserted_from <= begin)


def _goes_on(ended: tuple[NodeVersion, ...], said: Statement) -> bool:
    def outlasts(row: NodeVersion) -> bool:
        return row.interval.valid_to is None or (said.end is not None and row.interval.valid_to > said.end)

    return said.end is not None and any(map(outlasts, ended))


def _once(rows: tuple[NodeVersion, ...]) -> tuple[NodeVersion, ...]:
    return tuple({row.id: row for row in rows}.values())


# ---- many values


def _of_many(loom: Loom, said: Statement) -> Standing:
    """Said again it is the same, unless it may have happened again; no other value is ever in its way."""
    begin = begin_of(loom, said)
    find = Find(names=(said.name,), kinds=(FACT,), projects=(said.guard.project,))
    for row in loom.store.find(loom.viewer, When(valid_at=begin), find, limit=MAX_LIMIT).nodes:
        if row.guard != said.guard or row.props.get("subject") != said.entity:
            continue
        if row.props.get("predicate") != said.predicate or row.props.get("slot") is not None:
            continue
        told_then = said.begin is None or said.begin == row.interval.asserted_from
        happened_again = said.predicate in HAPPENINGS and said.begin is None
        covered = row.interval.valid_to is None or (said.end is not None and said.end <= row.interval.valid_to)
        same = relation(said.predicate, str(row.props.get("object", "")), said.value) == "same"
        if same and told_then and covered and not happened_again and _same_end(row, said):
            return Standing(verdict="same", fact=row)
    return Standing(verdict="new")


def _same_end(row: NodeVersion, said: Statement) -> bool:
    """One that says until when it holds says more than one that does not."""
    return said.end is None or said.end == row.interval.asserted_to


# ---- what is written


def fact_payload(
    said: Statement, node_id: str, subject: graph.NodeAssertion | None, *, supersedes: tuple[str, ...] = ()
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


def candidate(loom: Loom, fact: NodeVersion) -> Alike:
    """A fact that stands, as answers list it."""
    citation = loom.store.citations(loom.viewer, [fact.event]).get(fact.event, "")
    return Alike(id=fact.id, title=fact.text, citation=citation, score=1.0, differs_in="value")
