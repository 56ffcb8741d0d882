"""Where things came from: tasks and what they made, conversations and what was raised in them."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import weft
from tests.append.test_outbox import held
from tests.places import MakeStore, Place
from tests.writing.noting import note
from tests.writing.test_batch_writes import memory_over
from weft.backends.sqlite.files import write_lock as turnstile
from weft.core.errors import Away, Conflict, Invalid, Misconfigured, NotFound, WeftError
from weft.core.types import Actor, Event
from weft.testing.clock import ManualClock
from weft.text.encryption import new_key

HOUR_US = 3_600_000_000


@pytest.fixture
def harbour(make_store: MakeStore, clock: ManualClock, tmp_path: Path) -> weft.Memory:
    """A memory over each backend, for an agent."""
    memory = memory_over(make_store(), clock, tmp_path)
    writer = replace(memory.ctx.writer, actor=Actor(agent="writer", role="agent"))
    return weft.Memory(replace(memory.ctx, writer=writer))


def told(memory: weft.Memory, **settings: Any) -> weft.Memory:
    """The same store, as another caller has it set."""
    return weft.Memory(replace(memory.ctx, settings=replace(memory.ctx.settings, **settings)))


def opened(memory: weft.Memory, title: str = "Set up the tunnel", **more: Any) -> str:
    answer = memory.call("work_create", kind="tunnel-login", title=title, **more)
    assert answer.status == "saved"
    return str(answer.id)


def products(memory: weft.Memory, task: str, **more: Any) -> list[str]:
    return [each.id for each in memory.call("work_show", id=task, **more).products]


def events(memory: weft.Memory) -> list[Event]:
    viewer = replace(memory.ctx.viewer, sensitive=True)
    return [event for _, some in memory.ctx.store.log(viewer, after=0, limit=10_000) for event in some]


def commits(memory: weft.Memory) -> int:
    return len(memory.ctx.store.log(replace(memory.ctx.viewer, sensitive=True), after=0, limit=10_000))


# ---- a task's life


def test_a_task_keeps_every_state_it_was_in(harbour: weft.Memory, clock: ManualClock) -> None:
    task = opened(harbour, description="Through the harbour wall.", inputs={"host": "pier", "ports": [80, 443]})
    began = clock.now_us()
    clock.step(HOUR_US)
    assert harbour.call("work_update", id=task, status="running", note="asked for a name").status == "saved"
    clock.step(HOUR_US)
    harbour.call("work_update", id=task, status="blocked", note="waits for the name", outputs={"tunnel": "t-1"})
    clock.step(HOUR_US)
    harbour.call("work_complete", id=task, result="The wall is open.", outputs={"port": 443})
    shown = harbour.call("work_show", id=task)
    assert [each.status for each in shown.states] == ["open", "running", "blocked", "succeeded"]
    assert [each.until for each in shown.states] == [*(each.since for each in shown.states[1:]), None]
    assert [each.note for each in shown.states][1:] == ["asked for a name", "waits for the name", "The wall is open."]
    assert (shown.task.kind, shown.task.status, shown.task.title) == ("tunnel-login", "succeeded", "Set up the tunnel")
    assert shown.task.inputs == {"host": "pier", "ports": [80, 443]}
    assert shown.task.outputs == {"tunnel": "t-1", "port": 443}
    assert shown.task.result == "The wall is open."
    for each in shown.states:
        assert harbour.cite(each.citation).matches
    then = harbour.show(task, as_of=weft.core.clock.to_iso(began + HOUR_US + 1)).node
    assert then is not None
    assert then.props["status"] == "running", "as of then it was running"


def test_a_task_is_found_by_its_words_and_its_result(place: Place) -> None:
    memory = place.open()
    task = opened(memory, "Mend the crane", description="The cable frayed.")
    memory.call("work_complete", id="Mend the crane", result="Spliced with galvanised wire.")
    assert memory.recall("galvanised wire").hits[0].node.id == task
    assert memory.recall("frayed cable").hits[0].node.id == task


def test_a_completed_task_stays_as_it_is(harbour: weft.Memory) -> None:
    task = opened(harbour)
    harbour.call("work_complete", id=task, status="failed", result="no answer")
    before = commits(harbour)
    for name, given in (
        ("work_complete", {"id": task}),
        ("work_complete", {"id": task, "status": "failed", "result": "no answer"}),
        ("work_update", {"id": task, "note": "one more thing"}),
        ("remember", {"text": "The gull sleeps.", "produced_by_task_id": task}),
        ("add_entity", {"name": "Odile", "kind": "Person", "produced_by_task_id": task}),
        ("record_turns", {"session": "c1", "turns": ["user: hello"], "produced_by_task_id": task}),
    ):
        with pytest.raises(Conflict) as caught:
            harbour.call(name, **given)
        assert "completed (failed)" in caught.value.message
        assert caught.value.hint
    assert commits(harbour) == before


def test_of_two_who_complete_a_task_at_once_one_does_and_the_other_is_told(place: Place) -> None:
    task = opened(place.open())
    ready = threading.Barrier(2)
    outcomes: list[str] = []

    def complete(memory: weft.Memory, status: str) -> None:
        ready.wait()
        try:
            outcomes.append(memory.call("work_complete", id=task, status=status).status)
        except Conflict as problem:
            outcomes.append(problem.message)

    threads = [threading.Thread(target=complete, args=(place.open(), status)) for status in ("succeeded", "cancelled")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcome == "saved" for outcome in outcomes) == [False, True]
    (loser,) = [outcome for outcome in outcomes if outcome != "saved"]
    shown = place.open().call("work_show", id=task)
    assert f"completed ({shown.task.status})" in loser
    assert len(shown.states) == 2


def test_the_same_request_is_one_change_even_after_the_end(harbour: weft.Memory) -> None:
    first = harbour.call("work_create", kind="publish", title="Print", request_id="r1")
    again = harbour.call("work_create", kind="publish", title="Print", request_id="r1")
    assert (again.status, again.id) == ("duplicate_skip", first.id)
    made = harbour.call("remember", text="The gull sleeps.", produced_by_task_id=first.id, request_id="r2")
    person = harbour.call("add_entity", name="Odile", kind="Person", produced_by_task_id=first.id, request_id="r3")
    decision = harbour.call("save_decision", title="Use ropes", produced_by_task_id=first.id, request_id="r4")
    done = harbour.call("work_complete", id=first.id, request_id="r5")
    assert harbour.call("work_complete", id=first.id, request_id="r5").status == "duplicate_skip"
    before = commits(harbour)
    for answer, name, given in (
        (made, "remember", {"text": "The gull sleeps.", "request_id": "r2"}),
        (person, "add_entity", {"name": "Odile", "kind": "Person", "request_id": "r3"}),
        (decision, "save_decision", {"title": "Use ropes", "request_id": "r4"}),
    ):
        again = harbour.call(name, produced_by_task_id=first.id, **given)
        assert (again.status, again.id, again.citation) == ("duplicate_skip", answer.id, answer.citation), name
    assert commits(harbour) == before
    assert done.status == "saved"


BAD: list[tuple[str, dict[str, Any], type[WeftError]]] = [
    ("work_create", {"kind": "two words", "title": "x"}, Invalid),
    ("work_create", {"kind": "x", "title": "  "}, Invalid),
    ("work_create", {"kind": "x", "title": "y", "inputs": {"a": "b" * 30_000}}, Invalid),
    ("work_create", {"kind": "x", "title": "y", "conversation": "nobody spoke"}, NotFound),
    ("work_update", {"id": "no such task", "note": "x"}, NotFound),
    ("work_complete", {"id": "no such task"}, NotFound),
    ("work_show", {"id": "no such task"}, NotFound),
    ("work_made", {"conversation": "nobody spoke"}, NotFound),
    ("work_made", {}, NotFound),
    ("remember", {"text": "x", "produced_by_task_id": "no such task"}, NotFound),
    ("remember_many", {"items": [{"text": "x"}], "produced_by_task_id": "no such task"}, NotFound),
    ("remember", {"text": "x", "produced_by_task_id": "a", "producedByTaskId": "b"}, Invalid),
]


@pytest.mark.parametrize(("name", "given", "error"), BAD, ids=[f"{n}-{name}" for n, (name, _, _) in enumerate(BAD)])
def test_what_does_not_fit_is_refused_with_a_hint(
    harbour: weft.Memory, name: str, given: dict[str, Any], error: type[WeftError]
) -> None:
    with pytest.raises(error) as caught:
        harbour.call(name, **given)
    assert caught.value.message
    assert caught.value.hint
    assert commits(harbour) == 0


def test_an_update_says_something_and_something_new(harbour: weft.Memory) -> None:
    task = opened(harbour)
    with pytest.raises(Invalid):
        harbour.call("work_update", id=task)
    harbour.call("work_update", id=task, status="running")
    assert harbour.call("work_update", id=task, status="running").status == "duplicate_skip"


# ---- products


def test_everything_that_is_written_for_a_task_is_its_product(harbour: weft.Memory, tmp_path: Path) -> None:
    (tmp_path / "pier.md").write_text("# Pier\n\nBuilt of oak.\n\n## Rails\n\nIron.\n")
    (tmp_path / "crane.py").write_text("def lift(load):\n    return load\n")
    task = opened(harbour)
    made = {
        harbour.call(name, produced_by_task_id=task, **given).id: kind
        for name, given, kind in (
            ("remember", {"text": "The tide turned at six."}, "Memory"),
            ("add_entity", {"name": "Odile", "kind": "Person", "aliases": ["Odie"]}, "Person"),
            ("add_event", {"description": "The bell rang.", "occurred_at": "2025"}, "Event"),
            ("add_concept", {"name": "ebb"}, "Concept"),
            ("add_causal_link", {"cause": "rain", "effect": "mud"}, "Cause"),
            (
                "add_fact",
                {"subject": "Pier", "predicate": "colour", "object": "red", "valid_from": "2019", "valid_to": "2020"},
                "Fact",
            ),
            ("save_decision", {"title": "Use ropes"}, "Decision"),
            ("save_preference", {"subject": "Odile", "preference": "ropes"}, "Preference"),
            ("memory_write", {"kind": "Learning", "text": "Bolts rust."}, "Learning"),
        )
    }
    harbour.call("ingest", path=str(tmp_path / "pier.md"), produced_by_task_id=task)
    harbour.call("ingest", path=str(tmp_path / "crane.py"), produced_by_task_id=task)
    harbour.call("record_turns", session="c1", turns=["user: hello", "Odile: hi"], producedByTaskId=task)
    shown = harbour.call("work_show", id=task, limit=100)
    kinds = {each.id: each.kind for each in shown.products}
    assert made.items() <= kinds.items()
    assert (kinds["harbour/pier.md"], kinds["harbour/crane.py"]) == ("Document", "File")
    assert (kinds["harbour/c1"], kinds["harbour/c1#00001"], kinds["harbour/c1#00002"]) == (
        "Session",
        "Message",
        "Message",
    )
    assert not any("#Rails" in each or "::" in each for each in kinds), "parts go with their whole"
    assert shown.total == len(kinds)
    for each in shown.products:
        assert each.citation.startswith(("weft://", "file://"))
        if each.citation.startswith("weft://"):
            assert harbour.cite(each.citation).matches
    for each in events(harbour)[1:]:
        assert each.task == task, "every event says so in its header"


def test_products_are_paged_and_each_is_told_once(harbour: weft.Memory) -> None:
    task = opened(harbour)
    ids = [harbour.call("remember", text=f"Ship {n} came in.", produced_by_task_id=task).id for n in range(5)]
    harbour.call("add_entity", name="Odile", kind="Person", produced_by_task_id=task)
    more = harbour.call("add_entity", name="Odile", kind="Person", description="Pilot.", produced_by_task_id=task)
    first = harbour.call("work_show", id=task, limit=4)
    rest = harbour.call("work_show", id=task, limit=4, offset=first.next_offset)
    assert [each.id for each in (*first.products, *rest.products)] == [
        *more.linked,  # what the project says that she is
        "person:odile",
        *reversed(ids),
    ]
    assert (first.total, rest.next_offset) == (7, None)


def test_a_write_that_writes_nothing_is_nobodys_product(harbour: weft.Memory) -> None:
    first, second = opened(harbour, "one"), opened(harbour, "two")
    made = harbour.call("save_decision", title="Use ropes", produced_by_task_id=first)
    again = harbour.call("save_decision", title="Use ropes", produced_by_task_id=second)
    assert (again.status, again.id) == ("duplicate_skip", made.id)
    assert products(harbour, second) == []
    assert products(harbour, first) == [made.id]


def test_a_node_tells_which_tasks_made_it(harbour: weft.Memory) -> None:
    first, second = opened(harbour, "one"), opened(harbour, "two")
    person = harbour.call("add_entity", name="Odile", kind="Person", produced_by_task_id=first).id
    harbour.call("add_entity", name="Odile", kind="Person", aliases=["Odie"], produced_by_task_id="two")
    fact = harbour.call(
        "add_fact",
        subject="Odile",
        predicate="age",
        object="7",
        valid_from="1990",
        valid_to="1991",
        produced_by_task_id=second,
    ).id
    assert [(each.id, each.kind, each.name) for each in harbour.show(person).made_by] == [
        (first, "Task", "one"),
        (second, "Task", "two"),
    ]
    assert [each.id for each in harbour.show(fact).made_by] == [second], "be it of the past"
    assert harbour.show(first).made_by == ()


def test_a_task_may_come_of_a_task(harbour: weft.Memory) -> None:
    whole = opened(harbour, "Publish")
    part = opened(harbour, "Print", produced_by_task_id=whole)
    assert products(harbour, whole) == [part]


def test_a_batch_is_of_one_task_or_of_several(harbour: weft.Memory) -> None:
    first, second = opened(harbour, "one"), opened(harbour, "two")
    items = [
        {"name": "Odile", "kind": "Person"},
        {"name": "Petrel", "produced_by_task_id": second},
        {"name": "Gullmail", "producedByTaskId": second},
        {"name": "Tidebook", "produced_by_task_id": "no such task"},
        {"name": "Mole"},
    ]
    done = harbour.call("add_entities", items=items, produced_by_task_id=first)
    assert [each.status for each in done.items] == ["saved", "saved", "saved", "failed", "saved"]
    assert "no task" in done.items[3].error
    assert set(products(harbour, first)) == {"person:odile", "entity:mole"}
    assert set(products(harbour, second)) == {"entity:petrel", "entity:gullmail"}
    many = harbour.call("remember_many", items=[{"text": "one"}, {"text": "two"}], produced_by_task_id=first)
    assert {each.id for each in many.items} <= set(products(harbour, first))


def test_a_task_that_is_there_is_named_when_one_is_not(harbour: weft.Memory) -> None:
    going, done = opened(harbour, "Paint the pier"), opened(harbour, "Sell the pier")
    harbour.call("work_complete", id=done)
    with pytest.raises(NotFound) as caught:
        harbour.call("remember", text="x", produced_by_task_id="Paint the peer")
    assert going in caught.value.hint
    assert done not in caught.value.hint


# ---- what is not for everybody


def test_a_task_that_one_may_not_see_is_as_one_that_is_not_there(place: Place) -> None:
    operator = place.open(sensitive_key=new_key("main"))
    hidden = opened(operator, "The secret tunnel")
    sensitive = opened(operator, "The sore tunnel", scope="public", sensitive=True)
    elsewhere = place.open(project="lighthouse")
    theirs = opened(elsewhere, "Another tunnel", scope="public")
    gone = opened(operator, "The old tunnel", scope="public")
    operator.forget(gone)
    guest = place.open(scopes="public", role="agent", agent="guest")
    seen = opened(guest, "My own tunnel")
    before = commits(operator)
    told_alike = set()
    for name in (hidden, "The secret tunnel", sensitive, theirs, gone, "0198b0c0-0000-7000-8000-000000000000"):
        for operation, given in (
            ("remember", {"text": "x", "produced_by_task_id": name}),
            ("add_entity", {"name": "Odile", "produced_by_task_id": name}),
            ("record_turns", {"session": "c1", "turns": ["user: x"], "produced_by_task_id": name}),
            ("add_events", {"items": [{"description": "x", "occurred_at": "2025"}], "produced_by_task_id": name}),
            ("work_complete", {"id": name}),
            ("work_update", {"id": name, "note": "x"}),
            ("work_show", {"id": name}),
        ):
            if name == theirs and operation.startswith("work_"):
                continue  # a task is seen from everywhere by who may see it, and makes things in its project only
            with pytest.raises(NotFound) as caught:
                guest.call(operation, **given)
            told_alike.add((caught.value.message.replace(repr(name), "?"), caught.value.hint))
    assert len(told_alike) == 1, told_alike
    assert seen in next(iter(told_alike))[1]
    assert commits(operator) == before


def test_a_task_of_another_project_is_named_with_that_project(place: Place) -> None:
    here, there = place.open(), place.open(project="lighthouse")
    theirs = opened(there, "Another tunnel")
    made = here.call("remember", text="The lamp burns.", project="lighthouse", produced_by_task_id=theirs)
    assert made.status == "saved"
    assert products(here, theirs) == [made.id]
    with pytest.raises(NotFound):
        here.call("remember", text="The lamp is out.", produced_by_task_id=theirs)


def test_who_sees_a_product_and_not_its_task_learns_nothing_of_the_task(place: Place) -> None:
    operator = place.open()
    operator.call("record_turns", session="the quarrel", turns=["user: hush"])
    task = opened(operator, "The secret tunnel", conversation="the quarrel")
    made = operator.call("remember", text="The gull sleeps.", scope="public", produced_by_task_id=task)
    plain = operator.call("remember", text="The tern wakes.", scope="public")
    guest = place.open(scopes="public", role="agent", agent="guest")
    shown = guest.show(made.id)
    assert (shown.made_by, shown.edges) == ((), guest.show(plain.id).edges)
    cited = guest.cite(made.citation)
    assert cited.event is not None
    assert (cited.event.task, cited.event.conversation) == (None, None)
    for each in guest.call("log_show").events:
        assert (each.task, each.conversation) == (None, None)
    with pytest.raises(NotFound):
        guest.call("work_made", conversation="the quarrel")
    assert guest.call("work_list").tasks == ()
    assert guest.call("work_list", conversation="the quarrel").tasks == ()
    mine = operator.cite(made.citation).event
    assert mine is not None
    assert mine.task == task


def test_the_name_of_a_conversation_is_not_told_to_those_who_may_not_see_it(place: Place) -> None:
    operator = place.open()
    operator.call("record_turns", session="the quarrel", turns=["user: hush"])
    task = opened(operator, "A public matter", scope="public", conversation="the quarrel")
    guest = place.open(scopes="public", role="agent", agent="guest")
    shown = guest.call("work_show", id=task)
    assert "quarrel" not in weft_json(shown)
    assert operator.call("work_list", conversation="the quarrel").tasks[0].id == task


def weft_json(answer: Any) -> str:
    import msgspec

    return msgspec.json.encode(answer).decode()


# ---- conversations


def test_what_the_actions_of_a_conversation_made(harbour: weft.Memory) -> None:
    harbour.call("record_turns", session="c1", turns=["user: set it up"])
    harbour.call("record_turns", session="c2", turns=["user: something else"])
    first = opened(harbour, "Tunnel", conversation="c1")
    second = opened(harbour, "Name", conversation="harbour/c1")
    other = opened(harbour, "Other", conversation="c2")
    made = [
        harbour.call("add_entity", name="Odile", kind="Person", produced_by_task_id=first).id,
        harbour.call("remember", text="They dug all through the night.", produced_by_task_id=second).id,
    ]
    harbour.call("remember", text="Not this.", produced_by_task_id=other)
    answer = harbour.call("work_made", conversation="c1")
    assert answer.conversation == "harbour/c1"
    assert {each.id for each in answer.tasks} == {first, second}
    assert [(each.id, each.task) for each in answer.products] == [(made[1], second), (made[0], first)]
    for each in answer.products:
        assert harbour.cite(each.citation).matches
    listed = harbour.call("work_list", conversation="c1")
    assert [each.id for each in listed.tasks] == [second, first]


def test_the_current_conversation_is_where_things_come_from(harbour: weft.Memory) -> None:
    during = told(harbour, conversation="c1")
    early = during.call("add_entity", name="Odile", kind="Person")
    assert any("there is no conversation 'c1'" in note for note in early.notes)
    during.call("record_turns", session="c1", turns=["user: add them"])
    person = during.call("add_entity", name="Petra", kind="Person")
    memory = during.call("remember", text="The gull sleeps.")
    task = opened(during, "Tunnel")
    under = during.call("add_entity", name="Ulf", kind="Person", produced_by_task_id=task)
    assert person.notes == memory.notes == under.notes == ()
    for each in events(harbour):
        assert each.conversation == "harbour/c1"
    answer = during.call("work_made")
    assert {(each.id, each.task) for each in answer.products} == {("person:petra", None), ("person:ulf", task)}
    assert [each.id for each in harbour.show("person:petra").made_by] == ["harbour/c1"]
    assert [each.id for each in harbour.show("person:ulf").made_by] == [task]


def test_a_task_joins_its_conversation_once_that_is_recorded(harbour: weft.Memory) -> None:
    during = told(harbour, conversation="c1")
    answer = during.call("work_create", kind="tunnel-login", title="Tunnel")
    assert any("joined to it later" in note for note in answer.notes)
    assert [each.id for each in harbour.call("work_list", conversation="c1").tasks] == [answer.id]
    during.call("record_turns", session="c1", turns=["user: go on"])
    harbour.call("work_complete", id=answer.id)
    edges = {(each.direction, each.rel, each.id) for each in harbour.show(answer.id).edges}
    assert ("out", "RAISED_DURING", "harbour/c1") in edges


# ---- lists


def test_tasks_are_listed_by_kind_and_state_the_latest_first(harbour: weft.Memory) -> None:
    one, two, three = (opened(harbour, title) for title in ("one", "two", "three"))
    print_it = harbour.call("work_create", kind="publish", title="four").id
    harbour.call("work_update", id=one, status="running")
    harbour.call("work_complete", id=two, status="cancelled")
    by_hand = harbour.memory_write("Task", "Mend the crane.").id

    def listed(**given: Any) -> list[str]:
        return [each.id for each in harbour.call("work_list", **given).tasks]

    assert listed() == [by_hand, two, one, print_it, three]
    assert listed(kind="publish") == [print_it]
    assert listed(status="running") == [one]
    assert listed(status="open") == [by_hand, print_it, three]
    assert listed(kind="tunnel-login", status="open") == [three]
    page = harbour.call("work_list", limit=2)
    assert ([each.id for each in page.tasks], page.total, page.next_offset) == ([by_hand, two], 5, 2)
    assert listed(limit=2, offset=4) == [three]
    assert told(harbour, project="lighthouse").call("work_list").notes
    assert len(told(harbour, project="lighthouse").call("work_list", everywhere=True).tasks) == 5


# ---- what should say where it came from


def test_a_gated_kind_out_of_nowhere_goes_through_with_one_warning(harbour: weft.Memory) -> None:
    person = harbour.call("add_entity", name="Odile", kind="Person")
    assert person.status == "saved"
    assert len(person.notes) == 1
    assert "produced_by_task_id" in person.notes[0]
    assert harbour.call("add_entity", name="Petrel").notes == (), "not of other kinds"
    many = harbour.call(
        "add_entities", items=[{"name": "Petra", "kind": "Person"}, {"name": "Bo", "kind": "Person"}, {"name": "X"}]
    )
    assert (many.status, many.notes, [each.notes for each in many.items]) == ("saved", person.notes, [(), (), ()])
    task = opened(harbour)
    assert harbour.call("add_entity", name="Ulf", kind="Person", produced_by_task_id=task).notes == ()


def test_provenance_may_be_required_off_or_of_other_kinds(harbour: weft.Memory) -> None:
    strict = told(harbour, provenance="required", gated_kinds=("Vessel",))
    before = commits(harbour)
    for name, given in (
        ("add_entity", {"name": "Odile", "kind": "Person"}),
        ("memory_write", {"kind": "Service", "name": "gate", "text": "Opens."}),
        ("memory_write", {"kind": "Vessel", "text": "The Petrel."}),
        ("add_fact", {"subject": "Odile", "subject_kind": "Person", "predicate": "age", "object": "7"}),
        ("add_entity", {"name": "Odile", "kind": "person"}),
        ("memory_write", {"kind": "PERSON", "name": "Odile"}),
        ("memory_write", {"kind": "vessel", "text": "The Petrel."}),
    ):
        answer = strict.call(name, **given)
        assert (answer.status, answer.id, answer.citation) == ("failed", "", ""), name
        assert "needs provenance" in answer.notes[0]
        assert "produced_by_task_id" in answer.notes[1]
    assert commits(harbour) == before
    many = strict.call("add_entities", items=[{"name": "Petrel"}, {"name": "Petra", "kind": "Person"}])
    assert [each.status for each in many.items] == ["saved", "failed"]
    task = opened(strict)
    assert strict.call("add_entity", name="Odile", kind="Person", produced_by_task_id=task).status == "saved"
    assert strict.call("add_entity", name="Odile", kind="person").status == "duplicate_skip", "it is the same kind"
    with pytest.raises(Invalid, match="reserved by weft"):
        strict.call("memory_write", kind="Person", name="Bo", props={"derived_from": "nothing"})
    during = told(strict, conversation="c1")
    nowhere = during.call("add_entity", name="Petra", kind="Person")
    assert nowhere.status == "failed"
    assert "there is no conversation 'c1'" in nowhere.notes[0]
    warned = told(during, provenance="warn").call("add_entity", name="Pia", kind="Person")
    assert any("no conversation 'c1'" in note for note in warned.notes)
    strict.call("record_turns", session="c1", turns=["user: Petra is here"])
    assert during.call("add_entity", name="Petra", kind="Person").status == "saved"
    lax = told(harbour, provenance="off")
    assert lax.call("add_entity", name="Bo", kind="Person").notes == ()


def test_the_operator_and_what_weft_reads_out_are_exempt(place: Place) -> None:
    operator = place.open(provenance="required")
    assert operator.add_entity("Odile", kind="Person").notes == ()
    agent = place.open(provenance="required", role="agent", agent="scribe")
    said = agent.remember("Petra works at Gullmail. She likes tea because it is warm.")
    assert said.status == "saved"
    assert not any("came of" in note for note in said.notes)


def test_a_setting_that_says_neither_stops_at_the_start(place: Place) -> None:
    with pytest.raises(Misconfigured):
        place.open(provenance="sometimes")
    with pytest.raises(Misconfigured):
        place.open(conversation="x" * 600)


# ---- waiting


def test_what_waits_is_delivered_with_its_task(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turnstile, "WAIT_S", 0.05)
    memory = place.open()
    task = opened(memory)
    with held(place):
        waiting = memory.call("remember", text="The gull sleeps.", produced_by_task_id=task, request_id="r1")
        again = memory.call("remember", text="The gull sleeps.", produced_by_task_id=task, request_id="r1")
        assert (waiting.status, again.status) == ("pending_retry", "pending_retry")
    assert memory.call("deliver_pending").delivered == 1
    assert products(memory, task) == [waiting.id]
    assert {each.task for each in events(memory)[1:]} == {task}
    assert memory.call("remember", text="The gull sleeps.", produced_by_task_id=task, request_id="r1").status == (
        "duplicate_skip"
    )


class _Away:
    """A server that does not answer."""

    def __getattr__(self, name: str) -> Any:
        def call(*_: Any, **__: Any) -> Any:
            raise Away("the server does not answer", hint="try again later")

        return call


def test_what_waits_for_a_store_that_is_away_is_joined_when_it_is_back(place: Place) -> None:
    memory = place.open(gated_kinds="Memory", provenance="required", role="agent", agent="scribe")
    task = opened(memory)
    away = weft.Memory(replace(memory.ctx, store=_Away()))
    waits = away.call("remember", text="The gull sleeps.", produced_by_task_id=task)
    wrong = away.call("remember", text="The tern wakes.", produced_by_task_id="no such task")
    assert (waits.status, wrong.status) == ("pending_retry", "pending_retry")
    assert away.call("remember", text="The auk dives.").status == "failed"
    assert memory.call("deliver_pending").delivered == 1
    assert products(memory, task) == [waits.id]
    (refused,) = memory.call("pending_list").refused
    assert "no such task" in refused.reason
    assert [each.node.id for each in memory.recall("tern").hits] == []


# ---- ranking


def test_where_things_came_from_changes_no_score(make_store: MakeStore, clock: ManualClock, tmp_path: Path) -> None:
    texts = [
        "Odile pilots the Petrel past the harbour wall.",
        "The Petrel carries mail to the lighthouse every week.",
        "The lighthouse keeper Ulf likes strong tea.",
        "The harbour wall was mended because the storm broke it.",
        "Ulf and Odile met at the harbour.",
    ]

    def scores(*, stamped: bool) -> list[Any]:
        plain = memory_over(make_store(), ManualClock(clock.now_us()), tmp_path)
        plain.call("record_turns", session="c1", turns=["user: write it all down"])
        tasks = [opened(plain, title) for title in ("Chart the coast", "Count the ships")]
        memory = told(plain, conversation="c1") if stamped else plain
        for number, text in enumerate(texts):
            more = {"produced_by_task_id": tasks[number % 2]} if stamped and number != 3 else {}
            memory.call("remember", text=text, request_id=f"m{number}", **more)
            memory.call("add_entity", name=f"Pilot {number % 3}", kind="Person", description=text, **more)
        memory.call("link_entities", source="Pilot 0", relation="KNOWS", target="Pilot 1")
        found = []
        for query in ("who pilots the Petrel", "why was the harbour wall mended", "Pilot 0", "what does Ulf like"):
            found.append([(hit.node.text, hit.node.name, hit.score) for hit in plain.recall(query).hits])
            for fusion in ("rrf", "profile"):
                answer = plain.call("memory_search", query=query, fusion=fusion)
                hits = [each.hit for each in answer.results]
                found.append([(hit.node.text, hit.node.name, hit.score) for hit in hits])
            then = plain.recall(query, as_of="2031").hits
            found.append([(hit.node.text, hit.node.name, hit.score) for hit in then])
        view = plain.call("entity_lookup", entity_ids=["Pilot 0"], depth=3)
        found.append([(each.id, each.score) for each in view.nodes])
        return found

    without, with_stamps = scores(stamped=False), scores(stamped=True)
    assert all(without), "there is something to compare"
    assert with_stamps == without


# ---- at the same time, and again


def test_nothing_is_made_by_a_task_after_its_end(place: Place) -> None:
    makers = [place.open(session=f"maker-{n}") for n in range(3)]
    task = opened(makers[0])
    refused: list[str] = []

    def make(memory: weft.Memory) -> None:
        for number in range(1_000):
            try:
                title = f"{memory.ctx.writer.session} {number}"
                memory.call("save_context", title=title, body="Rain.", produced_by_task_id=task)
            except Conflict as problem:
                refused.append(problem.message)
                return

    threads = [threading.Thread(target=make, args=(memory,)) for memory in makers]
    for thread in threads:
        thread.start()
    done = place.open().call("work_complete", id=task)
    for thread in threads:
        thread.join()
    assert done.status == "saved"
    assert len(refused) == 3
    log = events(place.open())
    end = next(event.pos for event in log if event.citation == done.citation)
    assert all(event.pos < end for event in log if event.task == task)


def test_a_request_is_the_same_whatever_is_known_of_its_source_by_then(harbour: weft.Memory) -> None:
    during = told(harbour, conversation="c1")
    first = note(during, "The pilot.", kind="Person", request_id="r1")
    harbour.call("record_turns", session="c1", turns=["user: who is it?"])
    again = note(during, "The pilot.", kind="Person", request_id="r1")
    assert (again.status, again.citation) == ("duplicate_skip", first.citation)
    second = note(during, "The mate.", kind="Person", request_id="r2")
    assert note(harbour, "The mate.", kind="Person", request_id="r2").citation == second.citation
    with pytest.raises(Conflict):
        note(during, "Somebody else.", kind="Person", request_id="r2")


def test_a_rebuild_and_a_move_keep_what_came_of_what(place: Place, tmp_path: Path) -> None:
    memory = place.open(conversation="c1")
    memory.call("record_turns", session="c1", turns=["user: go"])
    task = opened(memory)
    made = memory.add_entity("Odile", kind="Person", produced_by_task_id=task)
    memory.add_entity("Petra", kind="Person")
    memory.call("work_complete", id=task, result="done")
    assert memory.call("rebuild").equal
    assert memory.call("log_verify").problem is None
    before = memory.call("work_made")
    memory.call("log_export", path=str(tmp_path / "log.jsonl"))
    environment = {"HOME": str(tmp_path), "WEFT_EMBEDDER": "none", "WEFT_CONVERSATION": "c1"}
    with weft.open("memory://", directory=place.root, environment=environment, clock=place.clock) as other:
        other.call("log_import", path=str(tmp_path / "log.jsonl"))
        assert other.call("work_made") == before
        assert [each.id for each in other.show(made.id).made_by] == [task]
