"""Two clocks against a naive replay: every (known, valid) pair, pinned answers, rows that change once, rebuilds."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import ClassVar

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule
from msgspec.structs import replace

from tests.properties import broken
from tests.properties.oracle import Assertion, Ending, Oracle
from tests.properties.running import Machine, Place, SqlitePlace, memory_store, patient, run, run_and_fail
from weft.append.import_log import import_log
from weft.core.clock import Clock
from weft.core.errors import NotFound
from weft.core.ports import Store
from weft.core.types import EdgeVersion, NodeVersion, When
from weft.log.draft import Draft
from weft.testing.clock import DAY_US, HOUR_US, START_US, ManualClock
from weft.testing.scribe import Scribe, deleted, edge, edge_ended, ended, node, restored
from weft.testing.viewers import OPERATOR

# id: slot. Two share one; one is alone; one has a slot named like another's id.
NODES = {"a": "shared", "b": "shared", "c": None, "d": "c"}
# Edges from the hub: one alone, two in one slot; one back.
EDGES = {("hub", "x"): None, ("hub", "y"): "home", ("hub", "z"): "home", ("x", "hub"): None}
TICKS = st.integers(min_value=-4, max_value=8)
BEGINS = st.none() | TICKS
LENGTHS = st.none() | st.integers(min_value=1, max_value=6)

Answer = dict[str, int]


def tick(number: int) -> int:
    return START_US + number * HOUR_US


def edge_name(src: str, dst: str) -> str:
    return f"{src}>{dst}"


class TwoClocks(Machine):
    """One store in memory takes the writes; another backend adopts its log."""

    make_store: ClassVar[Callable[[Clock], Store]] = staticmethod(memory_store)
    make_place: ClassVar[Callable[[Clock], Place]] = SqlitePlace
    with_twin: ClassVar[bool] = True

    def __init__(self) -> None:
        super().__init__()
        self.clock = ManualClock()
        self.scribe = Scribe(type(self).make_store(self.clock), self.clock)
        self.place = type(self).make_place(self.clock) if self.with_twin else None
        self.oracle = Oracle()
        self.deleted: set[str] = set()
        self.knowns: list[int] = []
        self.pinned: dict[tuple[int, int], tuple[Answer, frozenset[str]]] = {}
        self.rows: dict[tuple[type, int], NodeVersion | EdgeVersion] = {}
        self.contents = 0

    # Writing

    @initialize()
    def ground(self) -> None:
        early = START_US - 400 * DAY_US
        self.scribe.write(*(node(each, at=early) for each in ("hub", "x", "y", "z")))
        self.knowns.append(self.scribe.store.head(OPERATOR).at)

    def _at(self) -> int:
        """When the next commit will be recorded."""
        return max(self.clock.now_us(), self.knowns[-1] + 1)

    def _write(self, *drafts: Draft) -> None:
        at = self._at()
        self.scribe.write(*drafts)
        self.claim(self.scribe.store.head(OPERATOR).at == at, "recorded at another time", at)
        self.knowns.append(at)

    def _assertion(self, name: str, slot: str, begin: int | None, length: int | None) -> Assertion:
        self.contents += 1
        start = self._at() if begin is None else tick(begin)
        end = None if length is None else start + length * HOUR_US
        raw = Assertion(known=self._at(), id=name, slot=slot, begin=start, end=end, content=self.contents)
        self.oracle.raw.append(raw)
        return raw

    def _node_draft(self, name: str, begin: int | None, length: int | None) -> Draft:
        raw = self._assertion(name, f"node {NODES[name] or 'alone ' + name}", begin, length)
        self.deleted.discard(name)
        at = None if begin is None else raw.begin
        return node(name, f"content {raw.content}", at=at, until=raw.end, slot=NODES[name], props={"n": raw.content})

    @rule(name=st.sampled_from(sorted(NODES)), begin=BEGINS, length=LENGTHS)
    def assert_node(self, name: str, begin: int | None, length: int | None) -> None:
        self._write(self._node_draft(name, begin, length))

    @rule(given=st.lists(st.tuples(st.sampled_from(sorted(NODES)), BEGINS, LENGTHS), min_size=2, max_size=4))
    def assert_several_in_one_commit(self, given: list[tuple[str, int | None, int | None]]) -> None:
        self._write(*(self._node_draft(*each) for each in given))

    @rule(ends=st.sampled_from(sorted(EDGES)), begin=BEGINS, length=LENGTHS)
    def assert_edge(self, ends: tuple[str, str], begin: int | None, length: int | None) -> None:
        name = edge_name(*ends)
        raw = self._assertion(name, f"edge {EDGES[ends] or 'alone ' + name}", begin, length)
        at = None if begin is None else raw.begin
        weight = float(raw.content)
        self._write(edge(ends[0], "TO", ends[1], at=at, until=raw.end, slot=EDGES[ends], weight=weight))

    def _asserted(self, names: object) -> list[str]:
        known = {each.id for each in self.oracle.raw if isinstance(each, Assertion)}
        return sorted(known.intersection(names))  # type: ignore[call-overload]

    @precondition(lambda self: self._asserted(NODES))
    @rule(data=st.data(), at=BEGINS)
    def end_node(self, data: st.DataObject, at: int | None) -> None:
        name = data.draw(st.sampled_from(self._asserted(NODES)))
        moment = self._at() if at is None else tick(at)
        self.oracle.raw.append(Ending(known=self._at(), id=name, at=moment))
        self._write(ended(name, at=None if at is None else moment))

    @rule(ends=st.sampled_from(sorted(ends for ends, slot in EDGES.items() if slot is None)), at=BEGINS)
    def end_edge(self, ends: tuple[str, str], at: int | None) -> None:
        moment = self._at() if at is None else tick(at)
        self.oracle.raw.append(Ending(known=self._at(), id=edge_name(*ends), at=moment))
        self._write(edge_ended(ends[0], "TO", ends[1], at=None if at is None else moment))

    @precondition(lambda self: self._asserted(NODES))
    @rule(data=st.data(), back=st.booleans())
    def delete_or_restore(self, data: st.DataObject, back: bool) -> None:
        name = data.draw(st.sampled_from(self._asserted(NODES)))
        (self.deleted.discard if back else self.deleted.add)(name)
        self._write(restored(name) if back else deleted(name))

    @rule(name=st.sampled_from(sorted(NODES)))
    def a_refused_commit_changes_nothing(self, name: str) -> None:
        with pytest.raises(NotFound):
            self.scribe.write(node(name, "never"), edge(name, "TO", "nobody"))

    @rule(hours=st.integers(min_value=-3, max_value=4))
    def move_clock(self, hours: int) -> None:
        self.clock.step(hours * HOUR_US)

    @rule()
    def rebuild(self) -> None:
        before = self.scribe.digest()
        self.scribe.rebuild()
        self.claim(self.scribe.digest() == before, "rebuild differs from the incremental fold")

    # Asking

    def _answer(self, store: Store, known: int, valid: int) -> Answer:
        when = When(valid_at=valid, known_at=known)
        answer = {row.id: row.props["n"] for row in store.nodes(OPERATOR, when, tuple(NODES))}
        for step in store.neighbours(OPERATOR, when, ("hub", "x"), direction="out"):
            answer[edge_name(step.start, step.node.id)] = int(step.edge.weight)
        return answer

    def _check(self, known: int, valid: int) -> None:
        expected = self.oracle.holding(known, valid)
        visible = {name: content for name, content in expected.items() if name not in self.deleted}
        stores = [self.scribe.store] + ([self.place.store] if self.place else [])
        for store in stores:
            found = self._answer(store, known, valid)
            self.claim(found == visible, "not what was asserted", type(store).__name__, known, valid, found, visible)
        self._check_pinned(known, valid, visible)

    def _check_pinned(self, known: int, valid: int, answer: Answer) -> None:
        before, deleted_then = self.pinned.setdefault((known, valid), (answer, frozenset(self.deleted)))
        aside = deleted_then | self.deleted
        old, new = ({n: c for n, c in each.items() if n not in aside} for each in (before, answer))
        self.claim(old == new, "a pinned answer changed", known, valid, old, new)

    @precondition(lambda self: self.oracle.raw)
    @rule(data=st.data())
    def ask(self, data: st.DataObject) -> None:
        self._adopt()
        known = data.draw(st.sampled_from(self.knowns))
        for valid in self.oracle.boundaries():
            self._check(known, valid)

    def _adopt(self) -> None:
        """The twin takes over what it lacks: the same events, the same graph."""
        if self.place is None:
            return
        adopted = import_log(self.place.store, OPERATOR, self.scribe.export, clock=self.clock)
        twin = Scribe(self.place.store, self.clock)
        self.claim(adopted.exact and twin.store.head(OPERATOR) == self.scribe.store.head(OPERATOR), "adopted otherwise")
        self.claim(twin.digest() == self.scribe.digest(), "the backends differ")

    # What always holds

    @invariant()
    def rows_change_once(self) -> None:
        now = {(type(row), row.row): row for row in self.scribe.store.graph_rows(OPERATOR)}
        for key, before in self.rows.items():
            row = now.get(key)
            if row is None:
                raise AssertionError("a row is gone")
            if before.retired_at is None:
                before = replace(
                    before, retired_at=row.retired_at, retired_pos=row.retired_pos, retired_tx=row.retired_tx
                )
            if isinstance(before, NodeVersion):
                before = replace(before, guard=row.guard, deleted_at=row.deleted_at)
            self.claim(before == row, "a row changed", before, row)
        self.rows = now
        for known in {self.knowns[-1], *self.knowns[-3:-1]} if self.knowns else ():
            self._check_slots(known)

    def _check_slots(self, known: int) -> None:
        """As known at any time, the versions of a slot are apart."""
        slots: dict[tuple[type, str], list[tuple[int, float]]] = {}
        for row in self.rows.values():
            if row.recorded_at <= known and (row.retired_at is None or row.retired_at > known):
                end = float("inf") if row.interval.valid_to is None else row.interval.valid_to
                slots.setdefault((type(row), row.slot), []).append((row.interval.valid_from, end))
        for spans in slots.values():
            spans.sort()
            for (_, end), (start, _) in pairwise(spans):
                self.claim(end <= start, "two versions hold at once", known, spans)

    def teardown(self) -> None:
        try:
            if self.sound and self.oracle.raw:
                self._adopt()
                moments = self.oracle.boundaries()
                for known in (self.knowns[-1], *self.knowns[:-1][:: max(1, len(self.knowns) // 4)]):
                    self._check_slots(known)
                    for valid in moments:
                        self._check(known, valid)
                if self.place:
                    Scribe(self.place.store, self.clock).rebuild()
                    self._adopt()
        finally:
            if self.place:
                self.place.close()


@patient
def test_both_stores_agree_with_a_naive_replay() -> None:
    run(TwoClocks)


class OnBroken(TwoClocks):
    with_twin = False


def test_catches_rows_edited_in_place() -> None:
    class Broken(OnBroken):
        make_store = staticmethod(broken.edits_rows_in_place)

    run_and_fail(Broken, "a row changed|a pinned answer changed|not what was asserted")


def test_catches_copies_that_keep_the_old_record_time() -> None:
    class Broken(OnBroken):
        make_store = staticmethod(broken.copies_keep_their_record_time)

    run_and_fail(Broken, "two versions hold at once")


def test_catches_a_fold_that_lets_the_newest_always_win(monkeypatch: pytest.MonkeyPatch) -> None:
    broken.newest_assertion_always_wins(monkeypatch)
    run_and_fail(OnBroken, "not what was asserted")


def test_catches_endings_that_forget_one_version(monkeypatch: pytest.MonkeyPatch) -> None:
    broken.ends_only_the_first_version(monkeypatch)
    run_and_fail(OnBroken, "not what was asserted")


def test_catches_a_rebuild_that_differs() -> None:
    class Broken(OnBroken):
        make_store = staticmethod(broken.rebuilds_without_endings)

    run_and_fail(Broken, "rebuild differs")


def test_an_edge_in_a_shared_slot_can_be_ended() -> None:
    clock = ManualClock()
    scribe = Scribe(memory_store(clock), clock)
    scribe.write(node("hub"), node("y"))
    scribe.one(edge("hub", "TO", "y", slot="home"))
    scribe.one(edge_ended("hub", "TO", "y"))
    assert scribe.reached("hub") == []
