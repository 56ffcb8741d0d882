"""Many writes in one call: the good ones are written, the bad ones named, and nothing else is different."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import weft
from tests.places import MakeStore
from weft.backends.memory import MemoryStore
from weft.core.errors import DiskFull
from weft.core.ports import Store
from weft.core.types import Actor, EdgeVersion, NodeVersion, Viewer, Writer
from weft.log.chain import commit_genesis
from weft.models.embedding import Embedding
from weft.runtime.call_context import CallContext
from weft.runtime.settings.load import load_settings
from weft.testing.clock import ManualClock
from weft.writing.batches import MAX_ITEMS, SLICE_ITEMS

EVERYTHING = Viewer(account="default", scopes=frozenset({"public", "shared", "admin"}), sensitive=True)


def memory_over(store: Store, clock: ManualClock, home: Path) -> weft.Memory:
    configured = load_settings(home, {"HOME": str(home), "WEFT_PROJECT": "harbour"})
    ctx = CallContext(
        store=store,
        clock=clock,
        settings=configured,
        viewer=replace(EVERYTHING, account=configured.account, sensitive=False),
        writer=Writer(account=configured.account, session="main", actor=Actor(agent="writer", role="operator")),
        embedding=Embedding(None, clock),
    )
    return weft.Memory(ctx)


@pytest.fixture
def harbour(make_store: MakeStore, clock: ManualClock, tmp_path: Path) -> weft.Memory:
    """A memory over each backend."""
    return memory_over(make_store(), clock, tmp_path)


def event(number: int, **more: Any) -> dict[str, Any]:
    return {"description": f"Ship number {number} came in.", "occurred_at": "2025-03-01", **more}


def commits(memory: weft.Memory) -> int:
    viewer = replace(memory.ctx.viewer, sensitive=True)
    return len(memory.ctx.store.log(viewer, after=0, limit=10_000))


FORMS: list[tuple[str, list[dict[str, Any]], dict[str, Any]]] = [
    ("add_entities", [{"name": "Odile", "kind": "Person"}, {"name": "Petrel"}], {"name": "?!"}),
    ("add_events", [event(1, entities=["Petrel"]), event(2)], {"description": "x", "occurred_at": "2025-02-30"}),
    (
        "add_facts",
        [
            {"subject": "Odile", "predicate": "likes", "object": "tea"},
            {"subject": "A", "predicate": "b", "object": "c"},
        ],
        {"subject": "...", "predicate": "b", "object": "c"},
    ),
    ("add_concepts", [{"name": "tide"}, {"name": "ebb", "entities": ["Odile"]}], {"name": "tide", "entities": "Odile"}),
    ("add_causal_links", [{"cause": "a", "effect": "b"}, {"cause": "b", "effect": "c"}], {"cause": "a", "effect": "A"}),
    ("remember_many", [{"text": "one"}, {"text": "two", "kind": "Learning"}], {"text": "  "}),
]


@pytest.mark.parametrize(("name", "good", "bad"), FORMS, ids=[form[0] for form in FORMS])
def test_one_bad_item_does_not_hinder_the_others(
    harbour: weft.Memory, name: str, good: list[dict[str, Any]], bad: dict[str, Any]
) -> None:
    done = harbour.call(name, items=[good[0], bad, good[1]])
    assert (done.status, done.written, done.failed) == ("partial", 2, (1,))
    assert [item.index for item in done.items] == [0, 1, 2]
    assert [item.status for item in done.items] == ["saved", "failed", "saved"]
    assert done.items[1].error
    assert done.items[1].hint
    for index in (0, 2):
        assert harbour.cite(done.items[index].citation).matches
        assert harbour.show(done.items[index].id).node is not None


@pytest.mark.parametrize(("name", "good", "bad"), FORMS, ids=[form[0] for form in FORMS])
def test_all_good_is_saved_and_all_bad_is_failed(
    harbour: weft.Memory, name: str, good: list[dict[str, Any]], bad: dict[str, Any]
) -> None:
    assert harbour.call(name, items=good).status == "saved"
    before = commits(harbour)
    done = harbour.call(name, items=[bad, {"nonsense": 1}])
    assert (done.status, done.written, done.failed, commits(harbour)) == ("failed", 0, (0, 1), before)


def test_items_share_commits_and_know_of_each_other(harbour: weft.Memory) -> None:
    items = [event(number, entities=["Petrel", f"Pilot {number}"]) for number in range(SLICE_ITEMS + 10)]
    done = harbour.call("add_events", items=items)
    assert (done.status, done.written, commits(harbour)) == ("saved", SLICE_ITEMS + 10, 2)
    assert len({item.citation for item in done.items}) == len(items), "each has an event of its own"
    assert {item.linked[0] for item in done.items} == {"entity:petrel"}
    assert len(harbour.show("Petrel").history) == 1


def test_the_same_twice_in_a_batch_is_one(harbour: weft.Memory) -> None:
    done = harbour.call("add_events", items=[event(1), event(1), event(1, entities=["Petrel"])])
    assert [item.status for item in done.items] == ["saved", "duplicate_skip", "saved"]
    assert len({item.id for item in done.items}) == 1
    assert done.items[1].citation == done.items[0].citation
    again = harbour.call("add_events", items=[event(1), event(1, entities=["Petrel"])])
    assert (again.status, again.written) == ("duplicate_skip", 0)


def test_what_an_item_makes_is_there_for_the_next(harbour: weft.Memory) -> None:
    done = harbour.call(
        "add_entities",
        items=[
            {"name": "Odile Fenn", "kind": "Person", "aliases": ["Odie"]},
            {"name": "Odie", "description": "Looks after the pumps."},
            {"name": "Mast", "aliases": ["Odile Fenn"]},
        ],
    )
    assert [item.status for item in done.items] == ["saved", "saved", "failed"]
    assert done.items[1].id == done.items[0].id
    node = harbour.show("Odile Fenn").node
    assert node is not None
    assert (node.text, node.props["aliases"]) == ("Looks after the pumps.", ["Odie"])
    links = [{"cause": f"step {n}", "effect": f"step {n + 1}", "entities": ["Odie"]} for n in range(4)]
    linked = harbour.call("add_causal_links", items=[*links, {"cause": "step 4", "effect": "step 0"}])
    assert linked.status == "saved"
    assert any("cycle" in note for note in linked.items[4].notes)
    assert len(harbour.recent(kinds=["Cause"]).nodes) == 5


def test_a_bad_item_leaves_nothing_behind(harbour: weft.Memory) -> None:
    bad = event(1, entities=["Ghost", "person:nobody"])
    done = harbour.call("add_events", items=[bad, event(2, entities=["Petrel"])])
    assert done.failed == (0,)
    assert harbour.recall("Ghost").status == "empty"


def test_what_the_log_itself_refuses_does_not_hinder_the_others(harbour: weft.Memory) -> None:
    large = {"description": "é" * 900_000, "occurred_at": "2025"}
    done = harbour.call("add_events", items=[event(1), large, event(2)])
    assert (done.status, done.failed) == ("partial", (1,))
    assert "limit" in done.items[1].error


def test_items_that_are_no_items_are_named(harbour: weft.Memory) -> None:
    items = [event(1), {}, event(2, occurred_at=5), event(3, wish="x"), event(4, scope="secret")]
    done = harbour.call("add_events", items=items)
    assert (done.written, done.failed) == (1, (1, 2, 3, 4))
    assert all(item.hint for item in done.items[1:])


def test_request_ids_of_items_are_kept(harbour: weft.Memory) -> None:
    items = [event(1), event(2, request_id="mine"), event(3)]
    first = harbour.call("add_events", items=items)
    assert (first.status, commits(harbour)) == ("saved", 3)
    again = harbour.add_event(**event(2), request_id="mine")
    assert (again.status, again.id) == ("duplicate_skip", first.items[1].id)
    other = harbour.call("add_events", items=[event(9, request_id="mine"), event(4)])
    assert other.failed == (0,)
    assert "used for something else" in other.items[0].error


@pytest.mark.parametrize(("name", "good", "bad"), FORMS, ids=[form[0] for form in FORMS])
def test_a_repeated_batch_is_written_once(
    harbour: weft.Memory, name: str, good: list[dict[str, Any]], bad: dict[str, Any]
) -> None:
    first = harbour.call(name, items=[*good, bad], request_id="b-1")
    before = commits(harbour)
    again = harbour.call(name, items=[*good, bad], request_id="b-1")
    assert (first.written, again.written, commits(harbour)) == (2, 0, before)
    assert [item.id for item in again.items] == [item.id for item in first.items]


def test_a_thousand_items_are_taken(harbour: weft.Memory) -> None:
    done = harbour.call("add_entities", items=[{"name": f"Buoy {number}"} for number in range(MAX_ITEMS)])
    assert (done.status, done.written) == ("saved", MAX_ITEMS)
    assert commits(harbour) == MAX_ITEMS / SLICE_ITEMS


class FullDisk:
    """A store on a disk with room for so many commits more."""

    def __init__(self, store: Store, room: int) -> None:
        self._store, self._room = store, room

    def commit(self, account: str, plan: Any) -> Any:
        if not self._room:
            raise DiskFull("no space left on the disk", hint="make room and repeat")
        self._room -= 1
        return self._store.commit(account, plan)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


def test_where_the_store_fails_the_rest_is_named(make_store: MakeStore, clock: ManualClock, tmp_path: Path) -> None:
    store = make_store()
    memory = memory_over(FullDisk(store, room=1), clock, tmp_path)
    items = [event(number) for number in range(3 * SLICE_ITEMS)]
    done = memory.call("add_events", items=[*items, {}])
    assert (done.status, done.written) == ("partial", SLICE_ITEMS)
    assert done.failed == tuple(range(SLICE_ITEMS, 3 * SLICE_ITEMS + 1))
    assert done.items[SLICE_ITEMS].error == "no space left on the disk"
    assert done.items[SLICE_ITEMS].hint == "make room and repeat"
    repeated = memory_over(store, clock, tmp_path).call("add_events", items=items)
    assert (repeated.status, repeated.written) == ("saved", 2 * SLICE_ITEMS)


# ---- a batch is what its items are, one by one

NAMES = st.sampled_from(["Odile", "odile", "Petrel", "Odie", "..."])
WORDS = st.sampled_from(["The crane fell", "the crane fell.", "It rang", " ", "Ships waited"])
SOME = st.lists(NAMES, max_size=2)
ITEMS = {
    "add_entities": st.fixed_dictionaries(
        {"name": NAMES},
        optional={"kind": st.sampled_from(["Person", "Entity", "Event"]), "description": WORDS, "aliases": SOME},
    ),
    "add_events": st.fixed_dictionaries(
        {"description": WORDS, "occurred_at": st.sampled_from(["2025", "2025-02", "2025-02-30"])},
        optional={"entities": SOME, "scope": st.sampled_from(["public", "admin"])},
    ),
    "add_causal_links": st.fixed_dictionaries(
        {"cause": WORDS, "effect": WORDS},
        optional={
            "entities": SOME,
            "confidence": st.sampled_from([0.2, 0.9, 2.0]),
            "events": st.lists(WORDS, max_size=1),
        },
    ),
    "add_concepts": st.fixed_dictionaries({"name": NAMES}, optional={"description": WORDS, "entities": SOME}),
}
SINGLE = {
    "add_entities": "add_entity",
    "add_events": "add_event",
    "add_causal_links": "add_causal_link",
    "add_concepts": "add_concept",
}
BATCHES = st.lists(
    st.sampled_from(sorted(ITEMS)).flatmap(
        lambda name: st.tuples(st.just(name), st.lists(ITEMS[name], min_size=1, max_size=6))
    ),
    min_size=1,
    max_size=3,
)


def picture(memory: weft.Memory) -> tuple[set[Any], set[Any]]:
    """What stands now, without the ids that are drawn."""
    viewer = replace(memory.ctx.viewer, sensitive=True)
    rows = list(memory.ctx.store.graph_rows(viewer))
    nodes = {row.id: row for row in rows if isinstance(row, NodeVersion) and row.retired_at is None}
    said = {each: (row.kind, row.name, row.text, row.guard, str(row.props)) for each, row in nodes.items()}
    joined = {
        (said[row.src], row.rel, said[row.dst], str(row.props), row.weight)
        for row in rows
        if isinstance(row, EdgeVersion) and row.retired_at is None
    }
    begins = {each: row.interval.valid_from for each, row in nodes.items() if row.kind == "Event"}
    return {(words, begins.get(each)) for each, words in said.items()}, joined


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(told=BATCHES)
def test_a_batch_is_what_its_items_are_one_by_one(told: list[tuple[str, list[dict[str, Any]]]], tmp_path: Path) -> None:
    clock = ManualClock()
    together, apart = (memory_over(MemoryStore(commit_genesis, clock=clock), clock, tmp_path) for _ in range(2))
    for name, items in told:
        done = together.call(name, items=items)
        statuses = []
        for item in items:
            try:
                statuses.append(apart.call(SINGLE[name], **item).status)
            except weft.WeftError:
                statuses.append("failed")
        assert [item.status for item in done.items] == statuses
    assert picture(together) == picture(apart)
