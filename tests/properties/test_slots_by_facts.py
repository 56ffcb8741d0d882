"""Facts against a naive replay: one value at a time, at every moment, and what has many values never ends by itself.

The oracle keeps what was told and replays it moment by moment. What adds nothing to what holds is skipped, as
`add_fact` says; everything else takes the moments that the interval rules give it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import invariant, precondition, rule

import weft
from tests.properties.running import Machine, patient, run, run_and_fail
from weft.core.clock import to_iso
from weft.core.types import Find, When
from weft.operations import OPERATIONS
from weft.testing.clock import DAY_US, HOUR_US, START_US, ManualClock

VALUES = ("Paris", "Oslo", "Rome")
SAID = {"Paris": ("Paris", " paris."), "Oslo": ("Oslo", "OSLO"), "Rome": ("Rome", "the Rome")}
TICKS = st.none() | st.integers(min_value=-6, max_value=8)
LENGTHS = st.none() | st.integers(min_value=1, max_value=6)
FAR = START_US + 3_650 * DAY_US


@dataclass(frozen=True)
class Told:
    """An assertion of one value for [begin, end), or with `ended` that a fact stops there."""

    id: str
    value: str
    begin: int
    end: int | None
    ended: bool = False

    def covers(self, moment: int) -> bool:
        return self.begin <= moment and (self.end is None or moment < self.end)


def holder(told: list[Told], moment: int) -> Told | None:
    """Who holds a moment of the slot, assertion by assertion."""
    held: Told | None = None
    for each in told:
        if each.ended:
            if held is not None and held.id == each.id and each.begin <= moment:
                held = None
        elif takes(each, held, moment):
            held = each
    return held


def takes(new: Told, held: Told | None, moment: int) -> bool:
    if not new.covers(moment):
        return False
    if new.end is not None or held is None:
        return True
    return held.end is None and held.begin <= new.begin


class Facts(Machine):
    """One subject with a property of one value and one of many, and a second subject that must stay as it is."""

    environment: ClassVar[dict[str, str]] = {}
    told_of_one: ClassVar[dict[str, str]] = {}

    def __init__(self) -> None:
        super().__init__()
        self.clock = ManualClock()
        environment = {"WEFT_PROJECT": "p", "WEFT_EMBEDDER": "none", "WEFT_AUDIT": "off", **self.environment}
        self.memory = weft.open("memory://", directory=Path("/"), environment=environment, clock=self.clock)
        self.memory.add_fact("Bo", "lives_in", "Bergen", valid_from=to_iso(START_US - 30 * DAY_US))
        self.one: list[Told] = []
        self.many: list[Told] = []
        self.pinned: list[tuple[int, int, list[str]]] = []

    # Telling

    def _now(self) -> int:
        """When the next commit will be recorded."""
        store, viewer = self.memory.ctx.store, self.memory.ctx.viewer
        return max(self.clock.now_us(), store.head(viewer).at + 1)

    def _tell(self, predicate: str, said: str, begin: int | None, length: int | None) -> tuple[Any, int, int | None]:
        start = self._now() if begin is None else START_US + begin * HOUR_US
        end = None if length is None else start + length * HOUR_US
        given: dict[str, Any] = dict(self.told_of_one) if predicate == "lives_in" else {}
        given |= {} if begin is None else {"valid_from": to_iso(start)}
        if end is not None:
            given["valid_to"] = to_iso(end)
        before = self.memory.ctx.store.head(self.memory.ctx.viewer).pos
        answer = self.memory.add_fact("Mira", predicate, said, **given)
        after = self.memory.ctx.store.head(self.memory.ctx.viewer).pos
        self.claim(after == before + 1, "a statement left no event of its own")
        return answer, start, end

    @rule(value=st.sampled_from(VALUES), spelling=st.booleans(), begin=TICKS, length=LENGTHS)
    def tell_one(self, value: str, spelling: bool, begin: int | None, length: int | None) -> None:
        before = list(self.one)
        answer, start, end = self._tell("lives_in", SAID[value][spelling], begin, length)
        new = Told(answer.id, value, start, end)
        moments = [at for at in self._moments(new) if takes(new, holder(before, at), at)]
        adds = any((held := holder(before, at)) is None or held.value != value for at in moments)
        known = any(held.value == value for at in self._moments(new) if new.covers(at) and (held := holder(before, at)))
        if answer.status == "duplicate_skip":
            self.claim(not adds and known, "skipped what says something new", answer, before)
            return
        self.claim(adds or not moments, "wrote again what was known", answer, before)
        contradicted = {h.id for at in moments if (h := holder(before, at)) is not None and h.value != value}
        self.claim(set(answer.supersedes) == contradicted, "ends others than it says", answer, contradicted)
        self.claim((answer.status == "superseded") == bool(answer.supersedes), "a status that says otherwise", answer)
        self.one.append(new)

    @rule(value=st.sampled_from(VALUES), begin=TICKS, length=LENGTHS)
    def tell_many(self, value: str, begin: int | None, length: int | None) -> None:
        held = self._held_many(self._now() if begin is None else START_US + begin * HOUR_US)
        answer, start, end = self._tell("likes", value, begin, length)
        self.claim(answer.supersedes == (), "one of many values ended another", answer)
        if answer.status == "duplicate_skip":
            self.claim(value in held, "skipped a value that did not hold", answer, held)
        else:
            self.many.append(Told(answer.id, value, start, end))

    @precondition(lambda self: self.one or self.many)
    @rule(data=st.data(), at=st.integers(min_value=-6, max_value=8))
    def invalidate(self, data: st.DataObject, at: int) -> None:
        told = data.draw(st.sampled_from([each for each in (*self.one, *self.many) if not each.ended]))
        moment = START_US + at * HOUR_US
        if not self.memory.ctx.store.history(self.memory.ctx.viewer, told.id, limit=1):
            return  # it never got a moment
        rows = self.memory.ctx.store.history(self.memory.ctx.viewer, told.id, limit=1_000)
        if not any(row.retired_at is None for row in rows):
            return  # all its moments are others' now
        self.memory.run(OPERATION, {"id": told.id, "at": to_iso(moment)})
        ending = Told(told.id, told.value, moment, None, ended=True)
        (self.one if told in self.one else self.many).append(ending)

    @rule(hours=st.integers(min_value=0, max_value=5))
    def move_clock(self, hours: int) -> None:
        self.clock.step(hours * HOUR_US)

    # Asking

    def _moments(self, *more: Told) -> list[int]:
        """Every moment at which an answer may change, and the one before."""
        edges = {each for told in (*self.one, *self.many, *more) for each in (told.begin, told.end) if each is not None}
        return sorted(edges | {edge - 1 for edge in edges} | {FAR})

    def _held_many(self, moment: int) -> set[str]:
        ends = {each.id: [e.begin for e in self.many if e.ended and e.id == each.id] for each in self.many}
        told = [each for each in self.many if not each.ended and each.covers(moment)]
        return {each.value for each in told if not any(end <= moment for end in ends[each.id])}

    def _values(self, predicate: str, moment: int, known_at: int | None = None) -> list[str]:
        viewer = self.memory.ctx.viewer
        found = self.memory.ctx.store.find(
            viewer, When(valid_at=moment, known_at=known_at), Find(kinds=("Fact",)), limit=1_000
        )
        said = [str(n.props["object"]) for n in found.nodes if n.props["predicate"] == predicate]
        return sorted(value for each in said for value in (*VALUES, "Bergen") if value.casefold() in each.casefold())

    @invariant()
    def one_value_at_every_moment(self) -> None:
        for moment in self._moments():
            held = holder(self.one, moment)
            expected = sorted(([held.value] if held else []) + ["Bergen"])
            found = self._values("lives_in", moment)
            self.claim(found == expected, "not what was told", moment, found, expected, self.one)

    @invariant()
    def many_values_stay(self) -> None:
        for moment in self._moments():
            found = self._values("likes", moment)
            self.claim(set(found) == self._held_many(moment), "not what was told of many", moment, found, self.many)

    @invariant()
    def the_past_stays_as_it_was_known(self) -> None:
        known = self.memory.ctx.store.head(self.memory.ctx.viewer).at
        self.pinned += [(known, moment, self._values("lives_in", moment, known)) for moment in self._moments()[:3]]
        for at, moment, then in self.pinned[-12:]:
            self.claim(self._values("lives_in", moment, at) == then, "an answer about the past changed", at, moment)

    def teardown(self) -> None:
        if self.sound:
            self._pin_all()
        self.memory.close()

    def _pin_all(self) -> None:
        """A new version of a fact has the moments that the one before had: no more, no less, and none of others'."""
        store, viewer = self.memory.ctx.store, self.memory.ctx.viewer
        for told in {each.id: each for each in (*self.one, *self.many)}.values():
            if not any(row.retired_at is None for row in store.history(viewer, told.id, limit=1_000)):
                continue
            before = {moment: self._held(moment) for moment in self._moments()}
            self.memory.run(PIN, {"id": told.id})
            after = {moment: self._held(moment) for moment in self._moments()}
            self.claim(after == before, "a pin moved what holds", told, before, after)

    def _held(self, moment: int) -> list[tuple[str, str]]:
        when, find = When(valid_at=moment), Find(kinds=("Fact",))
        found = self.memory.ctx.store.find(self.memory.ctx.viewer, when, find, limit=1_000).nodes
        return sorted((node.id, str(node.props["object"])) for node in found)


PIN = next(each for each in OPERATIONS if each.name == "pin")
OPERATION = next(each for each in OPERATIONS if each.name == "memory_invalidate")


class Greedy(Facts):
    """Takes what has many values for what has one."""

    environment: ClassVar[dict[str, str]] = {"WEFT_SINGLE_VALUED": "likes"}


class Hoarding(Facts):
    """Takes what has one value for what has many."""

    told_of_one: ClassVar[dict[str, str]] = {"cardinality": "many"}


@patient
def test_facts_against_a_naive_replay() -> None:
    run(Facts)


@patient
def test_it_notices_a_value_of_many_that_is_ended() -> None:
    run_and_fail(Greedy, "ended another|told of many|skipped a value")


@patient
def test_it_notices_two_values_of_one() -> None:
    run_and_fail(Hoarding, "ends others than it says|wrote again|not what was told")
