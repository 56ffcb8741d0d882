"""The chain: whatever is appended verifies and travels; whatever is tampered with is refused."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import invariant, precondition, rule
from msgspec.structs import replace

from tests.properties import broken, tampering
from tests.properties.chain_oracle import problems
from tests.properties.running import Machine, SqlitePlace, patient, run, run_and_fail
from weft.append.import_log import import_log
from weft.backends.memory import MemoryStore
from weft.core.errors import Conflict, WeftError
from weft.log.chain import commit_genesis
from weft.log.draft import Draft
from weft.log.verify import verify
from weft.testing.clock import HOUR_US, START_US, ManualClock
from weft.testing.scribe import Scribe, memory_of, node
from weft.testing.viewers import OPERATOR

SESSIONS = ("s1", "s2", "s3")
WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=12)
IDS = st.sampled_from(("a", "b", "c", "d"))


@st.composite
def drafts(draw: st.DrawFn) -> Draft:
    name, text = draw(IDS), draw(WORDS)
    draft = (
        node(name, text, at=draw(st.none() | st.just(START_US)))
        if draw(st.booleans())
        else memory_of(f"m-{name}", text)
    )
    return replace(
        draft,
        occurred_at=draw(st.none() | st.integers(min_value=START_US - HOUR_US, max_value=START_US)),
        caused_by=tuple(draw(st.lists(WORDS, max_size=2))),
        task=draw(st.none() | st.just("task-1")),
        conversation=draw(st.none() | WORDS),
    )


class Chain(Machine):
    """Several sessions of one account, written through `append`."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = ManualClock()
        self.store = MemoryStore(commit_genesis, clock=self.clock)
        self.scribe = Scribe(self.store, self.clock)
        self.heads = dict.fromkeys(SESSIONS, 0)
        self.requests: dict[str, tuple[str, list[Draft]]] = {}

    def _length(self) -> int:
        return sum(self.heads.values())

    # Writing

    @rule(session=st.sampled_from(SESSIONS), given=st.lists(drafts(), min_size=1, max_size=3), named=st.booleans())
    def append(self, session: str, given: list[Draft], named: bool) -> None:
        request_id = f"r{len(self.requests)}" if named else None
        appended = self.scribe.write(*given, session=session, request_id=request_id)
        self.heads[session] += len(given)
        self.claim(not appended.repeated, "new events count as repeated")
        self.claim(appended.events[-1].seq == self.heads[session], "the sequence has a gap")
        if request_id:
            self.requests[request_id] = (session, given)

    @precondition(lambda self: self.requests)
    @rule(data=st.data())
    def repeat(self, data: st.DataObject) -> None:
        request_id = data.draw(st.sampled_from(sorted(self.requests)))
        session, given = self.requests[request_id]
        before = self.store.head(OPERATOR)
        appended = self.scribe.write(*given, session=session, request_id=request_id)
        same = appended.repeated and self.store.head(OPERATOR) == before
        self.claim(same, "a repeated request wrote again")

    @precondition(lambda self: self.requests)
    @rule(data=st.data())
    def misuse(self, data: st.DataObject) -> None:
        request_id = data.draw(st.sampled_from(sorted(self.requests)))
        with pytest.raises(Conflict):
            self.scribe.write(node("other", "content"), session=self.requests[request_id][0], request_id=request_id)

    @rule(session=st.sampled_from(SESSIONS), off=st.integers(min_value=-1, max_value=1), draft=drafts())
    def append_at(self, session: str, off: int, draft: Draft) -> None:
        expected = self.heads[session] + off
        if off:
            with pytest.raises(Conflict):
                self.scribe.write(draft, session=session, expected_head=expected)
        else:
            self.scribe.write(draft, session=session, expected_head=expected)
            self.heads[session] += 1

    @rule(hours=st.integers(min_value=-5, max_value=5))
    def move_clock(self, hours: int) -> None:
        self.clock.step(hours * HOUR_US)

    # What always holds

    @invariant()
    def chained_as_described(self) -> None:
        log = self.store.log(OPERATOR, after=0, limit=10_000)
        found = problems("acme", log)
        self.claim(not found, "the log is not as described", found)
        self.claim(self.store.head(OPERATOR).pos == self._length(), "positions have a gap")

    @invariant()
    def verifies(self) -> None:
        found = verify(self.store, OPERATOR, expected_digest=self.store.head(OPERATOR).digest.hex())
        self.claim(found.problem is None, "verify found something", found)

    # Travelling and tampering

    def _refuses(self, what: str, lines: list[bytes]) -> None:
        empty = MemoryStore(commit_genesis, clock=self.clock)
        try:
            import_log(empty, OPERATOR, lambda: lines, clock=self.clock)
        except WeftError:
            self.claim(empty.head(OPERATOR).pos == 0, "a refused import left something", what)
        else:
            self.claim(False, "a tampered file was taken", what)

    @precondition(lambda self: self._length())
    @rule(data=st.data())
    def tamper_with_lines(self, data: st.DataObject) -> None:
        lines = self.scribe.export()
        places = st.integers(min_value=0, max_value=len(lines) - 1)
        at, to = data.draw(places), data.draw(places)
        for what, altered in (*tampering.changed_lines(lines, at), *tampering.moved_lines(lines, at, to)):
            self._refuses(what, altered)

    @precondition(lambda self: self._length())
    @rule(data=st.data())
    def tamper_with_lists(self, data: st.DataObject) -> None:
        places = st.integers(min_value=1, max_value=self._length())
        at, to = data.draw(places), data.draw(places)
        for what, store in tampering.altered_stores(self.store, at, to):
            self.claim(verify(store, OPERATOR).problem is not None, "verify missed a change", what, at, to)

    @precondition(lambda self: self._length())
    @rule(data=st.data())
    def cut_the_tail(self, data: st.DataObject) -> None:
        commits = self.store.log(OPERATOR, after=0, limit=10_000)
        count = data.draw(st.integers(min_value=1, max_value=len(commits)))
        short = tampering.without_tail(self.store, count)
        kept = self.store.head(OPERATOR).digest.hex()
        self.claim(verify(short, OPERATOR, expected_digest=kept).problem is not None, "verify missed a tail")
        left = {event.session for _, events in commits[:-count] for event in events}
        cut = {event.session for _, events in commits[-count:] for event in events}
        if left & cut:
            self.claim(verify(short, OPERATOR).problem is not None, "verify missed a session's tail")

    @rule()
    def travel(self) -> None:
        lines = self.scribe.export()
        there = Scribe(MemoryStore(commit_genesis, clock=self.clock), self.clock)
        import_log(there.store, OPERATOR, lambda: lines, clock=self.clock)
        self.claim(there.export() == lines, "an import is exported otherwise")
        self.claim(there.digest() == self.scribe.digest(), "an import folds otherwise")

    def teardown(self) -> None:
        if not self.sound or not self._length():
            return
        place = SqlitePlace(self.clock)
        try:
            lines = self.scribe.export()
            import_log(place.store, OPERATOR, lambda: lines, clock=self.clock)
            there = Scribe(place.store, self.clock)
            self.claim(there.export() == lines, "another backend exports otherwise")
            self.claim(there.digest() == self.scribe.digest(), "another backend folds otherwise")
            self.claim(verify(there.store, OPERATOR).problem is None, "another backend does not verify")
        finally:
            place.close()


@patient
def test_what_is_appended_verifies_and_travels() -> None:
    run(Chain)


def a_log() -> Scribe:
    clock = ManualClock()
    scribe = Scribe(MemoryStore(commit_genesis, clock=clock), clock)
    scribe.write(node("a", "one"), node("b", "two"), request_id="r1")
    scribe.write(replace(node("a", "three"), caused_by=("x",), task="t", occurred_at=START_US), session="side")
    scribe.write(memory_of("m", "four"), node("c", "five"))
    scribe.write(node("d", "six"), session="side")
    return scribe


def test_every_tampering_with_a_file_is_refused_at_every_line() -> None:
    machine = Chain()
    lines = a_log().export()
    seen = 0
    for at in range(len(lines)):
        tampered = [*tampering.changed_lines(lines, at)]
        for to in range(len(lines)):
            tampered.extend(tampering.moved_lines(lines, at, to))
        for what, altered in tampered:
            machine._refuses(f"{what} at {at}", altered)
            seen += 1
    assert seen > 500


def test_every_tampering_with_a_store_is_found_at_every_event() -> None:
    scribe = a_log()
    store: Any = scribe.store
    length = store.head(OPERATOR).pos
    for at in range(1, length + 1):
        for to in range(1, length + 1):
            for what, altered in tampering.altered_stores(store, at, to):
                assert verify(altered, OPERATOR).problem is not None, (what, at, to)


def test_a_payload_that_vanished_without_an_erasure_is_found() -> None:
    scribe = a_log()
    store: Any = scribe.store
    log = store._accounts["acme"].log
    log[2] = replace(log[2], payload=None, salt=None)
    assert "the payload is missing" in (verify(store, OPERATOR).problem or "")


def test_catches_a_chain_that_forgets_the_hash_before(monkeypatch: pytest.MonkeyPatch) -> None:
    broken.header_hash_forgets_prev_hash(monkeypatch)
    run_and_fail(Chain, "the log is not as described")


def test_catches_a_digest_that_does_not_chain(monkeypatch: pytest.MonkeyPatch) -> None:
    broken.commit_digest_forgets_the_one_before(monkeypatch)
    run_and_fail(Chain, "the log is not as described")


def test_catches_a_verify_that_skips_payloads(monkeypatch: pytest.MonkeyPatch) -> None:
    broken.verify_skips_payloads(monkeypatch)
    run_and_fail(Chain, "a tampered file was taken|verify missed a change")


def test_catches_a_verify_that_skips_headers(monkeypatch: pytest.MonkeyPatch) -> None:
    broken.verify_skips_headers(monkeypatch)
    run_and_fail(Chain, "a tampered file was taken|verify missed a change")


def test_catches_record_times_taken_from_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    broken.stamps_the_clocks_time(monkeypatch)
    run_and_fail(Chain, "record times do not increase")


def test_catches_request_ids_that_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    broken.forgets_request_ids(monkeypatch)
    run_and_fail(Chain, "a repeated request wrote again|DID NOT RAISE")
