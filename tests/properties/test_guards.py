"""Non-interference: what a viewer is told is the same with and without the data it may not see."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Any, ClassVar

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from tests.properties import answers, broken
from tests.properties.guarded_world import (
    KINDS,
    EndEdge,
    EndNode,
    Piece,
    PutEdge,
    PutNode,
    SetDeleted,
    World,
    Written,
    write,
)
from tests.properties.running import Machine, Place, SqlitePlace, memory_store, patient, run, run_and_fail
from tests.retrieval.small_worlds import WordEmbedder, embed_all
from weft.append.import_log import import_log
from weft.backends.sqlite.search import words
from weft.core.clock import Clock
from weft.core.ports import Store
from weft.core.queries import VectorQuery
from weft.core.types import NOW, Guard, Viewer, When
from weft.testing.clock import HOUR_US, START_US, ManualClock
from weft.testing.scribe import Scribe
from weft.testing.viewers import ANN, ANN_INSIDE, BOB, EVERY_SCOPE, OPERATOR, PUBLIC, SHARED, STAFF, VISITOR

VIEWERS = (
    OPERATOR,
    STAFF,
    SHARED,
    PUBLIC,
    ANN,
    BOB,
    ANN_INSIDE,
    VISITOR,
    Viewer(account="acme", scopes=frozenset({"admin"}), sensitive=True),
    Viewer(account="acme", scopes=frozenset({"public"}), agent="ann", audience="public"),
    Viewer(account="acme", scopes=EVERY_SCOPE, agent="ann' OR 1=1 --", audience="public", sensitive=True),
)
IDS = tuple(sorted(KINDS))
ASKED = VectorQuery(model=WordEmbedder.model, data=WordEmbedder().embed(["fig plum"])[0].tobytes())
WALK_ERROR = 5e-3  # a backend may give up after so many rounds: 0.85^40 is left by then
AGENTS = st.sampled_from(((), (), ("ann",), ("bob",), ("ann", "bob"), ("anna",)))
SCOPES = st.sampled_from(("public", "public", "shared", "admin"))
GUARDS = st.builds(
    Guard,
    project=st.sampled_from((None, "p", "q")),
    scope=SCOPES,
    agents=AGENTS,
    sensitive=st.integers(0, 4).map(lambda n: n == 0),
)
EDGE_GUARDS = st.builds(Guard, scope=SCOPES, agents=AGENTS, sensitive=st.integers(0, 4).map(lambda n: n == 0))
TEXTS = st.lists(st.sampled_from(("apple", "pear", "plum", "fig", "quince")), min_size=1, max_size=4).map(" ".join)
TICKS = st.none() | st.integers(min_value=-8, max_value=4)
PUTS = st.builds(
    PutNode,
    id=st.sampled_from(IDS),
    text=TEXTS,
    guard=GUARDS,
    prop=st.sampled_from(("k0", "k1", "k2")),
    begin=TICKS.map(lambda n: None if n is None else START_US + n * HOUR_US),
    until=st.none() | st.integers(min_value=30, max_value=90).map(lambda n: START_US + n * HOUR_US),
)


class Guards(Machine):
    """One store in memory takes the writes of two accounts; another backend adopts its log."""

    make_store: ClassVar[Callable[[Clock], Store]] = staticmethod(memory_store)
    make_place: ClassVar[Callable[[Clock], Place]] = SqlitePlace
    with_twin: ClassVar[bool] = True

    def __init__(self) -> None:
        super().__init__()
        self.clock = ManualClock()
        self.scribe = Scribe(type(self).make_store(self.clock), self.clock)
        self.worlds = {name: World(name) for name in ("acme", "other")}

    @property
    def world(self) -> World:
        return self.worlds["acme"]

    def _write(self, *pieces: Piece, account: str = "acme", session: str = "s1", agent: str = "w1") -> None:
        at = self.clock.step()
        written = Written(account, session, agent, at, pieces)
        write(self.scribe, written)
        self.worlds[account].add(written)

    # Writing

    @rule(
        puts=st.lists(PUTS, min_size=1, max_size=3),
        session=st.sampled_from(("s1", "s2", "s3")),
        agent=st.sampled_from(("w1", "w2")),
    )
    def put_nodes(self, puts: list[PutNode], session: str, agent: str) -> None:
        self._write(*puts, session=session, agent=agent)

    @rule(put=PUTS)
    def put_in_the_other_account(self, put: PutNode) -> None:
        self._write(put, account="other")

    @precondition(lambda self: self.world.guards)
    @rule(
        data=st.data(),
        guard=EDGE_GUARDS,
        weight=st.sampled_from((0.5, 1.0, 2.0)),
        hours=st.none() | st.integers(min_value=2, max_value=9),
    )
    def put_edge(self, data: st.DataObject, guard: Guard, weight: float, hours: int | None) -> None:
        ends = st.sampled_from(sorted(self.world.guards))
        until = None if hours is None else self.clock.now_us() + hours * HOUR_US
        self._write(PutEdge(data.draw(ends), data.draw(ends), guard, weight, until), session="s2")

    @precondition(lambda self: self.world.edges)
    @rule(data=st.data(), guard=EDGE_GUARDS)
    def put_edge_again(self, data: st.DataObject, guard: Guard) -> None:
        self._write(PutEdge(*data.draw(st.sampled_from(sorted(self.world.edges))), guard, 1.0, None))

    @precondition(lambda self: self.world.guards)
    @rule(data=st.data(), at=TICKS)
    def end_node(self, data: st.DataObject, at: int | None) -> None:
        name = data.draw(st.sampled_from(sorted(self.world.guards)))
        self._write(EndNode(name, None if at is None else START_US + at * HOUR_US), agent="w2")

    @precondition(lambda self: self.world.edges)
    @rule(data=st.data())
    def end_edge(self, data: st.DataObject) -> None:
        at = data.draw(st.sampled_from([written.at for written in self.world.written]))
        self._write(EndEdge(*data.draw(st.sampled_from(sorted(self.world.edges))), at + 1))

    @precondition(lambda self: self.world.guards)
    @rule(data=st.data(), gone=st.booleans())
    def delete_or_restore(self, data: st.DataObject, gone: bool) -> None:
        self._write(SetDeleted(data.draw(st.sampled_from(sorted(self.world.guards))), gone), session="s3")

    @precondition(lambda self: self.world.guards)
    @rule(data=st.data(), guard=GUARDS)
    def change_rights(self, data: st.DataObject, guard: Guard) -> None:
        name = data.draw(st.sampled_from(sorted(self.world.guards)))
        self._write(PutNode(name, "fig apple", guard, "k0", None, None))

    # Looking

    def _moments(self) -> tuple[tuple[When, ...], list[int]]:
        knowns = [written.at for written in self.world.written]
        now, middle = self.clock.now_us(), knowns[len(knowns) // 2]
        whens = (
            When(valid_at=now, known_at=knowns[-1]),
            When(valid_at=START_US - HOUR_US, known_at=knowns[-1]),
            When(valid_at=now, known_at=middle),
            When(valid_at=middle, known_at=knowns[-1]),
        )
        return whens, [knowns[0], middle]

    def _compare(self, viewer: Viewer, full: list[Store]) -> None:
        found, reached = self.world.findable(viewer), self.world.reachable(viewer)
        now_us, make = self.clock.now_us(), type(self).make_store
        alone = self.world.only(viewer, found, make, now_us)
        embed_all(alone, self.clock)
        around = alone if reached == found else self.world.only(viewer, reached, make, now_us)
        for store in full:
            self._compare_walks(viewer, store, around)
        expected = self._told(viewer, alone, around)
        for store in full:
            for (what, told), (_, wanted) in zip(self._told(viewer, store, store), expected, strict=True):
                name = type(store).__name__
                self.claim(told == wanted, "what is hidden changes an answer", name, viewer, what, told, wanted)

    def _compare_walks(self, viewer: Viewer, full: Store, around: Store) -> None:
        """Scores are only close: see WALK_ERROR."""
        for seeds in ({"n0": 1.0}, {name: 1.0 + n for n, name in enumerate(IDS)}):
            told, wanted = (dict(store.walk(viewer, NOW, seeds, limit=99).scores) for store in (full, around))
            apart = {name: told.get(name, 0.0) - wanted.get(name, 0.0) for name in {*told, *wanted}}
            close = all(abs(difference) < WALK_ERROR for difference in apart.values())
            self.claim(close, "what is hidden changes a walk", type(full).__name__, viewer, seeds, told, wanted)
            hidden = set(told) - self.world.reachable(viewer)
            self.claim(not hidden, "a walk reaches what is hidden", viewer, hidden)

    def _told(self, viewer: Viewer, store: Store, around: Store) -> list[tuple[str, Any]]:
        """Every answer to this viewer. What may be stepped on but not found is only `around`."""
        whens, knowns = self._moments()
        told = list(answers.always(store, viewer, IDS, knowns))
        told.append(("citations", answers.citations(around, viewer)))
        for when in whens:
            told.extend((f"{when} {what}", answer) for what, answer in answers.state(store, viewer, when, IDS))
            told.extend((f"{when} {what}", answer) for what, answer in answers.walks(around, viewer, when, IDS))
            meant = answers.meanings(store, viewer, when, ASKED, self.world.hashes())
            told.extend((f"{when} {what}", answer) for what, answer in meant)
        return told

    def _nothing_hidden(self, viewer: Viewer, full: Store) -> None:
        found, reached = self.world.findable(viewer), self.world.reachable(viewer)
        for when in self._moments()[0]:
            told = {row.id for row in full.nodes(viewer, when, IDS)}
            told |= {hit.node.id for hit in Scribe(full, self.clock).search("apple fig", viewer=viewer, when=when).hits}
            told |= {each.node.id for each in full.by_name(viewer, when, answers.NAMES)}
            told |= {lead.id for each in full.by_phrase(viewer, when, answers.PHRASES) for lead in each.nodes}
            self.claim(told <= found, "a viewer sees what it may not", viewer, told - found)
            steps = full.neighbours(viewer, when, IDS)
            walked = {(step.edge.src, step.edge.dst) for step in steps}
            ends = set(chain.from_iterable(walked)) | {step.node.id for step in steps}
            self.claim(ends <= reached, "a walk reaches what is hidden", viewer, ends - reached)
            hidden = walked - self.world.open_edges(viewer, reached)
            self.claim(not hidden, "a walk uses a hidden edge", viewer, hidden)

    def teardown(self) -> None:
        if not self.sound or not self.world.written:
            return
        place = type(self).make_place(self.clock) if self.with_twin else None
        try:
            full = [self.scribe.store]
            if place:
                import_log(place.store, OPERATOR, self.scribe.export, clock=self.clock)
                full.append(place.store)
            for store in full:
                embed_all(store, self.clock)
            for viewer in VIEWERS:
                for store in full:
                    self._nothing_hidden(viewer, store)
                self._compare(viewer, full)
        finally:
            if place:
                place.close()


@patient
def test_what_is_hidden_changes_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "SETTLE_AT", 4)  # some texts in the index, some in the journal
    run(Guards, share=0.5)


class OnBroken(Guards):
    with_twin = False


def test_catches_a_guard_applied_after_the_limit() -> None:
    class Broken(OnBroken):
        make_store = staticmethod(broken.guards_after_the_limit)

    run_and_fail(Broken, "what is hidden changes an answer")


def test_catches_statistics_that_count_hidden_rows() -> None:
    class Broken(OnBroken):
        make_store = staticmethod(broken.counts_hidden_words)

    run_and_fail(Broken, "what is hidden changes an answer")


def test_catches_a_walk_that_guards_only_its_start() -> None:
    class Broken(OnBroken):
        make_store = staticmethod(broken.walks_anywhere)

    run_and_fail(Broken, "a walk reaches what is hidden|a walk uses a hidden edge")


def test_catches_rights_judged_by_the_past() -> None:
    class Broken(OnBroken):
        make_store = staticmethod(broken.judges_by_recorded_rights)

    run_and_fail(Broken, "a viewer sees what it may not|what is hidden changes an answer")


def test_catches_deletion_judged_by_the_past() -> None:
    class Broken(OnBroken):
        make_store = staticmethod(broken.shows_deleted_nodes_in_the_past)

    run_and_fail(Broken, "a viewer sees what it may not")


def test_catches_events_about_hidden_nodes() -> None:
    class Broken(OnBroken):
        make_store = staticmethod(broken.opens_nodeless_events_to_insiders)

    run_and_fail(Broken, "what is hidden changes an answer")


def test_catches_names_of_hidden_nodes() -> None:
    class Broken(OnBroken):
        make_store = staticmethod(broken.names_anybody)

    run_and_fail(Broken, "a viewer sees what it may not|what is hidden changes an answer")


def test_catches_words_of_hidden_names() -> None:
    class Broken(OnBroken):
        make_store = staticmethod(broken.spells_hidden_names)

    run_and_fail(Broken, "what is hidden changes an answer")


def test_catches_nearness_of_hidden_texts() -> None:
    class Broken(OnBroken):
        make_store = staticmethod(broken.compares_hidden_texts)

    run_and_fail(Broken, "what is hidden changes an answer")


def test_catches_phrases_in_hidden_texts() -> None:
    class Broken(OnBroken):
        make_store = staticmethod(broken.holds_hidden_texts)

    run_and_fail(Broken, "a viewer sees what it may not|what is hidden changes an answer")
