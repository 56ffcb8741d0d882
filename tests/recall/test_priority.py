"""What to know before working: levels in order, bounded, what was replaced left out, and what became of the read."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

import weft
from tests.places import Place
from tests.writing.noting import note
from weft.core.clock import to_iso
from weft.core.errors import Invalid, StoreError
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.recall import priority

DAY_US = 86_400_000_000


def read(memory: weft.Memory, **given: Any) -> priority.ProjectContext:
    answer = memory.call("project_context", **given)
    assert isinstance(answer, priority.ProjectContext)
    return answer


def texts(answer: priority.ProjectContext, level: str) -> list[str]:
    return [item.node.text for item in answer.items if item.level == level]


@pytest.fixture
def busy_ferry(memory: weft.Memory) -> weft.Memory:
    memory.call("focus_create", name="engines")
    memory.call("focus_create", name="galley")
    for number in range(12):
        note(memory, f"engine note {number}", focus="engines")
        note(memory, f"ferry note {number}")
    for number in range(6):
        note(memory, f"general note {number}", level="global")
    note(memory, "soup on Fridays", focus="galley")
    return memory


def test_the_focus_comes_first_then_the_project_then_everybody_s_each_up_to_its_bound(busy_ferry: weft.Memory) -> None:
    answer = read(busy_ferry, focus="engines")
    assert (answer.status, answer.scope_state) == ("succeeded", "resolved_focus")
    assert [item.level for item in answer.items] == ["focus"] * 10 + ["project"] * 10 + ["global"] * 5
    assert texts(answer, "focus") == [f"engine note {number}" for number in range(11, 1, -1)], "the newest first"
    assert texts(answer, "project") == [f"ferry note {number}" for number in range(11, 1, -1)]
    assert texts(answer, "global") == [f"general note {number}" for number in range(5, 0, -1)]
    assert answer.truncated == ("focus", "project", "global")
    assert sum("there is more at the level of" in line for line in answer.notes) == 3
    assert all(item.node.citation for item in answer.items)


def test_a_level_that_is_just_full_is_not_called_truncated(memory: weft.Memory) -> None:
    for number in range(10):
        note(memory, f"ferry note {number}")
    answer = read(memory)
    assert (len(answer.items), answer.truncated, answer.notes) == (10, (), ())


def test_without_a_focus_its_memories_stay_in_it(busy_ferry: weft.Memory) -> None:
    answer = read(busy_ferry)
    assert {item.level for item in answer.items} == {"project", "global"}
    assert not any("engine" in item.node.text or "soup" in item.node.text for item in answer.items)


def test_with_a_question_each_level_is_ranked_by_it(busy_ferry: weft.Memory) -> None:
    note(busy_ferry, "the coolant pump leaks at high revolutions", focus="engines")
    note(busy_ferry, "the coolant is delivered on Tuesdays")
    note(busy_ferry, "coolant is poisonous, wear gloves", level="global")
    for number in range(12, 40):
        note(busy_ferry, f"engine note {number}", focus="engines")
    answer = read(busy_ferry, query="what about the coolant?", focus="engines")
    assert answer.items[0].node.text.startswith("the coolant pump leaks")
    assert texts(answer, "project")[0].startswith("the coolant is delivered")
    assert texts(answer, "global")[0].startswith("coolant is poisonous")
    assert all(item.score is not None for item in answer.items)


def test_what_was_replaced_is_left_out_even_by_something_at_another_level(memory: weft.Memory) -> None:
    old = note(memory, "the ramp opens at six")
    note(memory, "the ramp opens at seven", level="global", supersedes=(old.id,))
    for query in (None, "when does the ramp open?"):
        answer = read(memory, query=query)
        assert [(item.level, item.node.text) for item in answer.items] == [("global", "the ramp opens at seven")]


def test_many_that_were_replaced_do_not_hide_what_stands(memory: weft.Memory) -> None:
    stands = note(memory, "oldest and still true")
    last = note(memory, "fare table 0")
    for number in range(1, 60):
        last = note(memory, f"fare table {number}", supersedes=(last.id,))
    assert [item.node.id for item in read(memory).items] == [last.id, stands.id]


def test_things_and_places_are_not_what_was_said(memory: weft.Memory) -> None:
    note(memory, "the deck was painted")
    for kind in ("Person", "Function", "Section", "Message"):
        note(memory, f"a {kind}", kind=kind)
    assert [item.node.text for item in read(memory).items] == ["the deck was painted"]


def joined(memory: weft.Memory, src: str, dst: str) -> None:
    edge = graph.EdgeAssertion(src=src, rel="CONFLICTS_WITH", dst=dst, project="ferry")
    memory.ctx.append([Draft(kind="graph.asserted", payload=graph.Asserted(edges=(edge,)))])


def test_what_contradicts_itself_is_called_conflicted(memory: weft.Memory) -> None:
    one, two = note(memory, "the winch is safe"), note(memory, "the winch is not safe")
    joined(memory, two.id, one.id)
    answer = read(memory)
    assert (answer.status, answer.conflicts) == ("conflicted", ((two.id, one.id),))
    for number in range(10):
        note(memory, f"later {number}")
    assert read(memory).status == "succeeded", "neither is shown"


def test_a_contradiction_with_something_not_shown_is_noted(memory: weft.Memory) -> None:
    old = note(memory, "the winch is safe")
    for number in range(9):
        note(memory, f"later {number}")
    new = note(memory, "the winch is not safe")
    joined(memory, new.id, old.id)
    answer = read(memory)
    assert answer.status == "succeeded"
    assert f"{new.id} conflicts with {old.id}, which is not shown" in answer.notes


def test_an_empty_project_says_so(memory: weft.Memory) -> None:
    answer = read(memory)
    assert (answer.status, answer.items) == ("empty", ())
    assert any("weft remember" in line for line in answer.notes)


def test_a_project_that_nobody_knows_is_read_at_its_own_level_only(busy_ferry: weft.Memory) -> None:
    answer = read(busy_ferry, project="atlantis")
    assert (answer.status, answer.scope_state, answer.items) == ("empty", "uncertain", ())
    assert any("weft project-create atlantis" in line for line in answer.notes)
    unknown_focus = read(busy_ferry, focus="sails")
    assert {item.level for item in unknown_focus.items} == {"project"}
    assert any("weft focus-create sails" in line for line in unknown_focus.notes)


def test_nothing_that_the_caller_may_not_see_is_read_or_counted(place: Place) -> None:
    owner = place.open()
    for number in range(12):
        note(owner, f"kept to ourselves {number}")
    guest = place.open(scopes="shared", agent="guest", role="agent")
    note(guest, "for the crew", scope="shared")
    answer = read(guest)
    assert ([item.node.text for item in answer.items], answer.truncated) == (["for the crew"], ())


def test_hygiene_is_due_when_it_never_was_or_is_long_ago(memory: weft.Memory, place: Place) -> None:
    assert read(memory).hygiene_due
    made = memory.call("project_create", name="ferry")

    def cleaned(at: object) -> None:
        node = graph.NodeAssertion(
            id=made.id, kind="Project", name="ferry", project="ferry", props={"last_hygiene_at": at}
        )
        memory.ctx.append([Draft(kind="graph.asserted", payload=graph.Asserted(nodes=(node,)))])

    cleaned(to_iso(place.clock.now_us() - 29 * DAY_US))
    assert not read(memory).hygiene_due
    cleaned(to_iso(place.clock.now_us() - 31 * DAY_US))
    assert read(memory).hygiene_due
    cleaned("soon")
    assert read(memory).hygiene_due


class Troubled:
    """The real store behind a line that breaks, or is slow, a number of times."""

    def __init__(self, store: Any, times: int, trouble: Any) -> None:
        self._store, self._left, self._trouble = store, times, trouble

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def find(self, *given: Any, **more: Any) -> Any:
        if self._left:
            self._left -= 1
            self._trouble()
        return self._store.find(*given, **more)


def broken() -> None:
    raise StoreError("the line is cut")


@pytest.mark.parametrize(("times", "status"), [(1, "succeeded"), (9, "failed")])
def test_a_store_that_fails_is_asked_once_more(memory: weft.Memory, times: int, status: str) -> None:
    note(memory, "the deck was painted")
    store = Troubled(memory.ctx.store, times, broken)
    answer = read(weft.Memory(replace(memory.ctx, store=store)))
    assert answer.status == status
    if status == "failed":
        assert any("the line is cut" in line for line in answer.notes)


@pytest.mark.parametrize(("times", "status"), [(1, "succeeded"), (9, "timed_out")])
def test_a_store_that_is_slow_is_asked_once_more(
    memory: weft.Memory, monkeypatch: pytest.MonkeyPatch, times: int, status: str
) -> None:
    import time

    note(memory, "the deck was painted")
    monkeypatch.setattr(priority, "TIMEOUT_S", 0.3)
    store = Troubled(memory.ctx.store, times, lambda: time.sleep(0.35))
    answer = read(weft.Memory(replace(memory.ctx, store=store)))
    assert answer.status == status
    assert bool(answer.items) == (status == "succeeded")


def test_a_question_that_is_none_is_refused(memory: weft.Memory) -> None:
    for query in ("", "a\x00b"):
        with pytest.raises(Invalid):
            read(memory, query=query)
