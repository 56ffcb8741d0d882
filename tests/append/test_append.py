"""The one way into the log: what is refused leaves nothing behind, what is repeated is written once."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from weft.append.append import AppendOptions, AppendResult, append
from weft.core.errors import Conflict, Forbidden, Invalid, NotFound, TooLarge, WeftError
from weft.core.types import MAX_EVENTS_PER_COMMIT, MAX_PAYLOAD_BYTES, NOW, Actor, Viewer, Writer
from weft.log.draft import MAX_CAUSES, Draft
from weft.log.kinds import graph, memory, transaction
from weft.log.verify import verify
from weft.testing.clock import START_US, ManualClock, day
from weft.testing.scribe import (
    Scribe,
    closed,
    continued,
    deleted,
    edge,
    edge_ended,
    ended,
    memory_of,
    node,
    noted,
    restored,
)
from weft.testing.viewers import ACCOUNT, ANN, OPERATOR, PUBLIC, SHARED, STAFF


def refused(scribe: Scribe, error: type[WeftError], *drafts: Draft, match: str | None = None) -> WeftError:
    """Asserts that this write fails and that nobody can tell it was tried."""
    before = (scribe.store.head(OPERATOR), scribe.digest())
    with pytest.raises(error, match=match) as caught:
        scribe.write(*drafts)
    assert (scribe.store.head(OPERATOR), scribe.digest()) == before
    return caught.value


def write_as(scribe: Scribe, viewer: Viewer, *drafts: Draft) -> AppendResult:
    writer = Writer(account=ACCOUNT, session="guest", actor=Actor(agent=viewer.agent or "guest"))
    return append(scribe.store, writer, drafts, clock=scribe.clock, options=AppendOptions(viewer=viewer))


# ---- bounds


def test_a_payload_over_a_megabyte_is_refused_with_what_to_do(scribe: Scribe) -> None:
    problem = refused(scribe, TooLarge, memory_of("m", "x" * MAX_PAYLOAD_BYTES), match="the limit is 1,000,000")
    assert "ingest" in problem.hint


def test_a_payload_just_under_the_bound_comes_back_whole(scribe: Scribe) -> None:
    text = "word " * 190_000
    scribe.write(memory_of("m", text))
    assert scribe.texts("m") == {"m": text}


def test_the_bound_counts_bytes_not_characters(scribe: Scribe) -> None:
    refused(scribe, TooLarge, memory_of("m", "😀" * 260_000))


def test_nothing_and_too_many_are_refused(scribe: Scribe) -> None:
    refused(scribe, Invalid, match="nothing to write")
    refused(scribe, TooLarge, *[node("a")] * (MAX_EVENTS_PER_COMMIT + 1), match="events in one commit")


def test_too_many_causes_are_refused(scribe: Scribe) -> None:
    draft = Draft(kind="graph.asserted", payload=graph.Asserted(), caused_by=("x",) * (MAX_CAUSES + 1))
    refused(scribe, TooLarge, draft, match="causes")


@pytest.mark.parametrize("text", ["", " ", "\n", "\u2003"])
def test_an_empty_text_is_still_kept_as_said(scribe: Scribe, text: str) -> None:
    scribe.write(memory_of("m", text))
    assert scribe.texts("m") == {"m": text}


@pytest.mark.parametrize("text", ["NUL \x00", "lone \ud83d"])
def test_what_is_not_text_is_refused(scribe: Scribe, text: str) -> None:
    refused(scribe, Invalid, memory_of("m", text))
    refused(scribe, Invalid, node(text))
    refused(scribe, Invalid, node("a", props={text: 1}))
    refused(scribe, Invalid, node("a", props={"k": [text]}))


def test_one_bad_draft_spoils_the_commit(scribe: Scribe) -> None:
    refused(scribe, TooLarge, node("good"), memory_of("bad", "x" * 1_000_001))
    refused(scribe, NotFound, node("good"), edge("good", "KNOWS", "nobody"))
    assert scribe.texts("good") == {}


# ---- kinds and names


def test_an_unknown_kind_is_refused_with_the_known_ones(scribe: Scribe) -> None:
    problem = refused(scribe, Invalid, Draft(kind="graph.guessed", payload=graph.Asserted()), match="unknown kind")
    assert "graph.asserted" in problem.hint


def test_a_payload_of_another_kind_is_refused(scribe: Scribe) -> None:
    refused(scribe, Invalid, Draft(kind="graph.ended", payload=graph.Asserted()), match="needs a Ended, not a Asserted")


def test_a_node_keeps_its_kind(scribe: Scribe) -> None:
    scribe.write(node("a", kind="Person"))
    refused(scribe, Invalid, node("a", kind="Place"), match="is a Person, not a Place")


@pytest.mark.parametrize("name", ["", "a b", "-a", "a/b", "../x", "é", "x" * 129, "a\n", "a\x00"])
@pytest.mark.parametrize("field", ["account", "session", "agent", "role", "request_id"])
def test_names_are_short_and_safe(scribe: Scribe, field: str, name: str) -> None:
    given = {"account": ACCOUNT, "session": "main", "agent": "a", "role": "agent", "request_id": "r"} | {field: name}
    writer = Writer(
        account=given["account"],
        session=given["session"],
        actor=Actor(agent=given["agent"], role=given["role"]),
    )
    with pytest.raises(Invalid, match=field):
        append(
            scribe.store, writer, [node("a")], clock=scribe.clock, options=AppendOptions(request_id=given["request_id"])
        )
    assert scribe.store.accounts() == ()


# ---- order


def test_a_wrong_expected_head_conflicts_and_names_where_the_session_is(scribe: Scribe) -> None:
    scribe.write(node("a"), node("b"))
    for wrong in (0, 1, 3, 99):
        with pytest.raises(Conflict, match=f"session main is at 2, you wrote after {wrong}") as caught:
            scribe.write(node("c"), expected_head=wrong)
        assert f"read from {min(wrong, 2) + 1} and retry" in caught.value.hint
    assert scribe.store.head(OPERATOR).pos == 2
    assert scribe.write(node("c"), expected_head=2).events[0].seq == 3
    assert scribe.write(node("d"), session="new", expected_head=0).events[0].seq == 1


def test_record_times_increase_even_when_the_clock_does_not(scribe: Scribe) -> None:
    first = scribe.write(node("a"), node("b")).events
    scribe.clock.set(START_US - 1_000_000)
    second = scribe.write(node("c")).events
    assert [event.pos for event in (*first, *second)] == [1, 2, 3]
    assert {event.recorded_at for event in first} == {START_US}
    assert second[0].recorded_at == START_US + 1
    assert verify(scribe.store, OPERATOR).problem is None


def test_headers_carry_what_the_draft_says(scribe: Scribe) -> None:
    draft = Draft(
        kind="memory.remembered",
        payload=memory.Remembered(id="m", text="t"),
        occurred_at=day(-3),
        caused_by=("weft://main/events/1",),
        task="task-1",
        conversation="chat-9",
    )
    event = scribe.write(draft, request_id="req-1").events[0]
    assert (event.occurred_at, event.task, event.conversation) == (day(-3), "task-1", "chat-9")
    assert (event.caused_by, event.request_id) == (("weft://main/events/1",), "req-1")
    assert scribe.store.nodes(OPERATOR, NOW, ["m"])[0].interval.valid_from == day(-3)


def test_salts_differ_so_equal_payloads_cannot_be_told(scribe: Scribe) -> None:
    one, two = scribe.write(memory_of("m", "same"), memory_of("m", "same")).events
    assert one.payload == two.payload
    assert one.payload_hash != two.payload_hash


# ---- references and intervals


def test_an_edge_to_nowhere_is_refused(scribe: Scribe) -> None:
    scribe.write(node("a"))
    for missing in (edge("a", "KNOWS", "nobody"), edge("nobody", "KNOWS", "a")):
        problem = refused(scribe, NotFound, missing, match="'nobody', which does not exist")
        assert "first" in problem.hint
    scribe.write(node("b"), edge("a", "KNOWS", "b"))
    assert scribe.reached("a") == ["b"]


@pytest.mark.parametrize(
    "draft",
    [ended("nobody"), deleted("nobody"), restored("nobody"), memory_of("m", "x", supersedes=("nobody",))],
    ids=["ended", "deleted", "restored", "superseded"],
)
def test_what_never_was_cannot_change(scribe: Scribe, draft: Draft) -> None:
    refused(scribe, NotFound, draft, match="nobody")


@pytest.mark.parametrize("until", [day(1), day(0), day(-1)])
def test_an_interval_that_ends_before_it_begins_is_refused(scribe: Scribe, until: int) -> None:
    problem = refused(scribe, Invalid, node("a", at=day(1), until=until), match="end before it begins")
    assert "valid_from" in problem.hint
    scribe.write(node("a"), node("b"))
    refused(scribe, Invalid, edge("a", "KNOWS", "b", at=day(1), until=until), match="end before it begins")


def test_without_a_beginning_the_event_s_own_time_begins(scribe: Scribe) -> None:
    scribe.clock.set(day(5))
    refused(scribe, Invalid, node("a", until=day(5)), match="end before it begins")
    scribe.write(node("a", "short", until=day(5) + 1))
    assert scribe.texts("a") == {"a": "short"}


def test_moments_that_do_not_exist_are_refused(scribe: Scribe) -> None:
    assertion = graph.NodeAssertion(id="a", kind="Note", valid_from="2026-02-30")
    refused(
        scribe, Invalid, Draft(kind="graph.asserted", payload=graph.Asserted(nodes=(assertion,))), match="2026-02-30"
    )


@pytest.mark.parametrize("tx", [continued("tx-nope"), closed("tx-nope")], ids=["continued", "closed"])
def test_only_open_changes_go_on(scribe: Scribe, tx: Draft) -> None:
    refused(scribe, NotFound, tx, node("a"), match="tx-nope")
    change = scribe.open_change(node("b", "hidden yet"))
    assert scribe.texts("b") == {}
    scribe.write(closed(change))
    assert scribe.texts("b") == {"b": "hidden yet"}
    refused(scribe, Conflict, Draft(kind=tx.kind, payload=type(tx.payload)(tx=change)), match="closed already")


# ---- repeated requests


@pytest.mark.parametrize("drafts", [[node("a", "one")], [node("a", "one"), node("b"), noted("agent_edit")]])
def test_a_repeated_request_is_written_once(scribe: Scribe, drafts: Sequence[Draft]) -> None:
    first = scribe.write(*drafts, request_id="r-1")
    before = (scribe.store.head(OPERATOR), scribe.digest())
    scribe.clock.step()
    again = scribe.write(*drafts, request_id="r-1", expected_head=0)
    assert (first.repeated, again.repeated) == (False, True)
    assert again.events == first.events
    assert (scribe.store.head(OPERATOR), scribe.digest()) == before


@pytest.mark.parametrize(
    "other",
    [
        [node("a", "two")],
        [node("a", "one"), node("b")],
        [memory_of("a", "one")],
        [Draft(kind="tx.opened", payload=transaction.Opened(tx_kind="agent_edit"))],
    ],
    ids=["other text", "more events", "other kind", "other family"],
)
def test_a_request_id_used_for_something_else_conflicts(scribe: Scribe, other: Sequence[Draft]) -> None:
    scribe.write(node("a", "one"), request_id="r-1")
    before = scribe.store.head(OPERATOR)
    with pytest.raises(Conflict, match="'r-1' was used for something else") as caught:
        scribe.write(*other, request_id="r-1")
    assert "new request id" in caught.value.hint
    assert scribe.store.head(OPERATOR) == before


def test_request_ids_of_other_accounts_do_not_clash(scribe: Scribe, clock: ManualClock) -> None:
    scribe.write(node("a", "one"), request_id="r-1")
    elsewhere = Writer(account="other", session="main", actor=Actor(agent="b"))
    done = append(scribe.store, elsewhere, [node("a", "two")], clock=clock, options=AppendOptions(request_id="r-1"))
    assert not done.repeated


# ---- what the writer may not see


@pytest.mark.parametrize(
    ("viewer", "guard"),
    [
        (PUBLIC, {"scope": "admin"}),
        (SHARED, {"scope": "admin"}),
        (STAFF, {"sensitive": True}),
        (ANN, {"agents": ("bob",)}),
        (ANN, {}),
    ],
    ids=["public/admin", "shared/admin", "sensitive", "tagged for another", "untagged"],
)
@pytest.mark.parametrize(
    "attempt",
    [
        node("hidden", "mine now", kind="Secret"),
        node("hidden", "mine now", kind="Guess"),
        memory_of("hidden", "mine now", node_kind="Secret"),
        memory_of("m", "about it", supersedes=("hidden",), project="ferry"),
        edge("open", "KNOWS", "hidden", project="ferry"),
        edge("hidden", "KNOWS", "open"),
        ended("hidden"),
        edge_ended("open", "KNOWS", "hidden"),
        deleted("hidden"),
        restored("hidden"),
    ],
    ids=[
        "assert",
        "assert kind",
        "remember",
        "supersede",
        "edge to",
        "edge from",
        "end",
        "end edge",
        "delete",
        "restore",
    ],
)
def test_a_hidden_id_cannot_be_taken_over(scribe: Scribe, viewer: Viewer, guard: dict, attempt: Draft) -> None:
    scribe.write(node("hidden", "the secret", kind="Secret", **guard), node("open", agents=("ann",)))
    before = (scribe.store.head(OPERATOR), scribe.digest())
    with pytest.raises(Forbidden, match="'hidden' is not yours to change") as caught:
        write_as(scribe, viewer, attempt)
    assert "the secret" not in str(caught.value)
    assert "Secret" not in str(caught.value), "not even its kind is told"
    assert (scribe.store.head(OPERATOR), scribe.digest()) == before


def test_what_may_be_seen_may_be_written(scribe: Scribe) -> None:
    scribe.write(node("open", "one", project="ferry", agents=("ann",)))
    for number, viewer in enumerate((PUBLIC, STAFF, ANN)):
        write_as(scribe, viewer, node("open", f"changed {number}", project="ferry", agents=("ann",)))
    assert scribe.texts("open") == {"open": "changed 2"}
