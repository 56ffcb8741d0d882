"""The log: order, request ids, expected heads, atomic commits."""

from __future__ import annotations

import pytest

from weft.append.append import AppendOptions, append
from weft.core.commits import Batch, Changes, LockedView
from weft.core.errors import Conflict, Forbidden, NotFound
from weft.core.queries import TextQuery
from weft.core.types import NOW, Actor, Find, Guard, When, Writer
from weft.graph.moves import shared_slot
from weft.log.chain import commit_genesis
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.log.verify import verify
from weft.testing.case import StoreCase
from weft.testing.clock import HOUR_US, START_US
from weft.testing.scribe import Scribe, edge, ended, node
from weft.testing.viewers import OPERATOR, PUBLIC, STAFF, STRANGER


class LogContract(StoreCase):
    """Appending, and reading the log."""

    def test_empty_store_answers_every_read(self, scribe: Scribe) -> None:
        store = scribe.store
        assert store.accounts() == ()
        assert (store.head(OPERATOR).pos, store.head(OPERATOR).at) == (0, 0)
        assert store.head(OPERATOR).digest == commit_genesis(OPERATOR.account)
        assert store.session_heads(OPERATOR, limit=10) == ()
        assert store.log(OPERATOR, after=0, limit=10) == ()
        assert store.events(OPERATOR, session=None, after_seq=0, limit=10) == ()
        assert store.citations(OPERATOR, (1,)) == {}
        assert store.position_at(OPERATOR, START_US) == 0
        assert store.nodes(OPERATOR, NOW, ("a",)) == ()
        assert store.history(OPERATOR, "a", limit=10) == ()
        assert store.asserted_by(OPERATOR, 1, limit=10) == ()
        assert store.find(OPERATOR, NOW, Find(props={"x": 1}), limit=10).unknown_props == ("x",)
        assert store.neighbours(OPERATOR, NOW, ("a",)) == ()
        assert store.search_text(OPERATOR, NOW, TextQuery(terms=(("a", 1.0),)), limit=10).hits == ()
        assert store.transactions(OPERATOR, limit=10) == ()
        assert store.transaction(OPERATOR, "tx-0") is None
        assert store.diff(OPERATOR, since_pos=0, agent=None, limit=10).added == ()
        assert store.indexes(OPERATOR) == ()
        assert (store.stats(OPERATOR).nodes, store.stats(OPERATOR).events) == (0, 0)
        assert list(store.graph_rows(OPERATOR)) == []
        assert store.check(OPERATOR) == ()

    def test_reads_back_every_field_of_an_event(self, scribe: Scribe) -> None:
        draft = Draft(
            kind="graph.asserted",
            payload=graph.Asserted(nodes=(graph.NodeAssertion(id="a", kind="Note", text="naïve ☃"),)),
            occurred_at=START_US - HOUR_US,
            caused_by=("weft://main/events/9#00000000", "x"),
            task="task-1",
            conversation="talk-1",
        )
        writer = Writer(account="acme", session="main", actor=Actor(agent="ann", role="reviewer"))
        written = append(
            scribe.store, writer, (draft,), clock=scribe.clock, options=AppendOptions(request_id="r1")
        ).events
        (event,) = scribe.store.events(OPERATOR, session="main", after_seq=0, limit=10)
        assert (event,) == written
        assert scribe.store.citations(OPERATOR, (1, 2)) == {1: event.citation}
        assert ((event,),) == tuple(events for _, events in scribe.store.log(OPERATOR, after=0, limit=10))
        assert event.actor == Actor(agent="ann", role="reviewer")
        assert (event.task, event.conversation, event.request_id) == ("task-1", "talk-1", "r1")
        assert event.occurred_at == START_US - HOUR_US
        assert event.caused_by == ("weft://main/events/9#00000000", "x")
        assert event.payload == '{"nodes":[{"id":"a","kind":"Note","text":"naïve ☃"}]}'.encode()

    def test_positions_and_sequences_have_no_gaps(self, scribe: Scribe) -> None:
        for count, session in ((2, "s1"), (1, "s2"), (3, "s1"), (1, "s3")):
            scribe.write(*(node(f"{session}-{n}") for n in range(count)), session=session)
        events = scribe.store.events(OPERATOR, session=None, after_seq=0, limit=100)
        assert [event.pos for event in events] == [1, 2, 3, 4, 5, 6, 7]
        by_session = {name: [e.seq for e in events if e.session == name] for name in ("s1", "s2", "s3")}
        assert by_session == {"s1": [1, 2, 3, 4, 5], "s2": [1], "s3": [1]}
        assert scribe.store.head(OPERATOR).pos == 7

    def test_record_times_increase_while_the_clock_stands_or_steps_back(self, scribe: Scribe) -> None:
        for n, step_us in enumerate((0, 0, HOUR_US, -5 * HOUR_US, 0)):
            scribe.clock.step(step_us)
            scribe.write(node(f"n{n}"), node(f"m{n}"))
        commits = scribe.store.log(OPERATOR, after=0, limit=100)
        times = [commit.at for commit, _ in commits]
        assert times == sorted(set(times))
        assert times[:3] == [START_US, START_US + 1, START_US + HOUR_US]
        assert times[3:] == [START_US + HOUR_US + 1, START_US + HOUR_US + 2]
        assert all(event.recorded_at == event.known_at == commit.at for commit, events in commits for event in events)

    def test_a_write_is_visible_to_the_next_read_though_the_clock_stepped_back(self, scribe: Scribe) -> None:
        scribe.write(node("a", "one"))
        scribe.clock.step(-10 * HOUR_US)
        scribe.write(node("b", "two"))
        assert scribe.texts("a", "b") == {"a": "one", "b": "two"}

    def test_pin_replaces_now_and_keeps_what_was_given(self, scribe: Scribe) -> None:
        scribe.one(node("a"))
        at = scribe.store.head(OPERATOR).at
        scribe.clock.step()
        assert scribe.store.pin(OPERATOR, NOW) == When(valid_at=at + HOUR_US, known_at=at)
        assert scribe.store.pin(OPERATOR, When(valid_at=5, known_at=6)) == When(valid_at=5, known_at=6)
        scribe.clock.step(-9 * HOUR_US)
        assert scribe.store.pin(OPERATOR, NOW).valid_at == at

    def test_a_repeated_request_writes_nothing(self, scribe: Scribe) -> None:
        first = scribe.write(node("a"), node("b"), request_id="r1")
        scribe.clock.step()
        again = scribe.write(node("a"), node("b"), request_id="r1")
        assert (first.repeated, again.repeated) == (False, True)
        assert again.events == first.events
        assert scribe.store.head(OPERATOR).pos == 2

    def test_a_request_id_used_for_something_else_is_a_conflict(self, scribe: Scribe) -> None:
        scribe.write(node("a"), request_id="r1")
        for drafts in ((node("b"),), (node("a"), node("b")), (ended("a"),)):
            with pytest.raises(Conflict):
                scribe.write(*drafts, request_id="r1")
        assert scribe.store.head(OPERATOR).pos == 1

    def test_expected_head(self, scribe: Scribe) -> None:
        scribe.write(node("a"), expected_head=0)
        scribe.write(node("b"), node("c"), expected_head=1)
        scribe.write(node("d"), session="elsewhere")
        for wrong in (0, 2, 4):
            with pytest.raises(Conflict, match="is at 3"):
                scribe.write(node("e"), expected_head=wrong)
        scribe.write(node("e"), expected_head=3)
        assert scribe.store.head(OPERATOR).pos == 5

    def test_a_plan_that_raises_leaves_nothing(self, scribe: Scribe) -> None:
        scribe.one(node("a", "before"))
        head, digest = scribe.store.head(OPERATOR), scribe.digest()

        def plan(_view: LockedView) -> Batch:
            raise LookupError("not today")

        with pytest.raises(LookupError, match="not today"):
            scribe.store.commit("acme", plan)
        with pytest.raises(NotFound):
            scribe.write(node("b"), node("a", "after"), edge("a", "KNOWS", "nobody"))
        assert scribe.store.head(OPERATOR) == head
        assert scribe.digest() == digest
        assert scribe.texts("a", "b") == {"a": "before"}
        scribe.one(node("b"))
        assert scribe.store.head(OPERATOR).pos == 2

    def test_a_batch_without_a_commit_is_a_no_op(self, scribe: Scribe) -> None:
        scribe.one(node("a"))
        head = scribe.store.head(OPERATOR)
        batch = scribe.store.commit("acme", lambda _view: Batch(commit=None, events=(), changes=Changes()))
        assert batch.events == ()
        assert scribe.store.head(OPERATOR) == head

    def test_plans_see_the_log_and_the_live_rows(self, scribe: Scribe) -> None:
        scribe.write(node("a", slot="s"), node("b"), request_id="r1")
        scribe.one(edge("a", "KNOWS", "b"))

        def plan(view: LockedView) -> Batch:
            head = view.session_head("main")
            assert head is not None
            assert (head.seq, view.event_hash("main", 3)) == (3, head.hash)
            assert view.session_head("none") is None
            assert view.event_hash("main", 4) is None
            assert [event.pos for event in view.request("r1")] == [1, 2]
            assert view.request("r2") == ()
            assert [row.id for row in view.live_nodes(shared_slot("s", Guard(scope="public")), START_US)] == ["a"]
            assert [row.slot for row in view.live_versions("b")] == ["b"]
            assert view.identity("nobody") is None
            assert view.next_rows() == (3, 2)
            return Batch(commit=None, events=(), changes=Changes())

        scribe.store.commit("acme", plan)

    def test_accounts_are_apart(self, scribe: Scribe) -> None:
        stranger = Scribe(scribe.store, scribe.clock, viewer=STRANGER)
        scribe.one(node("a", "ours"))
        scribe.one(node("b"))
        stranger.one(node("a", "theirs"))
        assert scribe.store.accounts() == ("acme", "other")
        assert (scribe.store.head(OPERATOR).pos, scribe.store.head(STRANGER).pos) == (2, 1)
        assert scribe.texts("a", "b") == {"a": "ours", "b": ""}
        assert stranger.texts("a", "b") == {"a": "theirs"}

    def test_session_heads_are_latest_first(self, scribe: Scribe) -> None:
        for session in ("s1", "s2", "s3", "s1"):
            last = scribe.one(node(f"of-{session}"), session=session)
        heads = scribe.store.session_heads(OPERATOR, limit=10)
        assert [(head.session, head.seq) for head in heads] == [("s1", 2), ("s3", 1), ("s2", 1)]
        assert heads[0].hash == last.hash
        assert scribe.store.session_heads(OPERATOR, limit=2) == heads[:2]

    def test_the_log_comes_in_whole_commits_to_operators_only(self, scribe: Scribe) -> None:
        scribe.write(node("a"), node("b"), node("c"))
        scribe.write(node("d"))
        scribe.write(node("e"), node("f"))

        def positions(after: int, limit: int) -> list[list[int]]:
            return [
                [event.pos for event in events] for _, events in scribe.store.log(OPERATOR, after=after, limit=limit)
            ]

        assert positions(0, 100) == [[1, 2, 3], [4], [5, 6]]
        assert positions(3, 100) == [[4], [5, 6]]
        assert positions(2, 100) == [[4], [5, 6]], "a commit is whole or not there"
        assert positions(0, 1) == [[1, 2, 3]], "at least one commit, whole"
        assert positions(6, 100) == []
        for viewer in (STAFF, PUBLIC):
            with pytest.raises(Forbidden):
                scribe.store.log(viewer, after=0, limit=1)

    def test_events_by_session_place_and_direction(self, scribe: Scribe) -> None:
        for session in ("s1", "s2", "s1", "s1"):
            scribe.one(node(f"of-{session}"), session=session)

        def positions(**options: object) -> list[int]:
            asked = {"session": None, "after_seq": 0, "limit": 10, **options}
            return [event.pos for event in scribe.store.events(OPERATOR, **asked)]  # type: ignore[arg-type]

        assert positions() == [1, 2, 3, 4]
        assert positions(session="s1") == [1, 3, 4]
        assert positions(session="s1", after_seq=1) == [3, 4]
        assert positions(session="s1", newest_first=True, limit=2) == [4, 3]
        assert positions(limit=1) == [1]
        assert positions(session="none") == []

    def test_a_moment_resolves_to_a_position(self, scribe: Scribe) -> None:
        scribe.write(node("a"), node("b"))
        first = scribe.store.head(OPERATOR).at
        scribe.one(node("c"))
        second = scribe.store.head(OPERATOR).at
        asked = (first - 1, first, second - 1, second, second + 1)
        assert [scribe.store.position_at(OPERATOR, at) for at in asked] == [0, 2, 2, 3, 3]

    def test_verify_finds_nothing_wrong(self, scribe: Scribe) -> None:
        for n in range(5):
            scribe.write(node(f"n{n}"), node(f"m{n}"), session=f"s{n % 2}")
        found = verify(scribe.store, OPERATOR, expected_digest=scribe.store.head(OPERATOR).digest.hex())
        assert (found.problem, found.commits, found.events) == (None, 5, 10)
        assert verify(scribe.store, OPERATOR, expected_digest="00" * 32).problem is not None
