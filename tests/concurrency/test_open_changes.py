"""A slot that an open change has touched is left alone by others until it is closed: never two answers at once."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from weft.append.append import AppendOptions, append
from weft.backends.memory import MemoryStore
from weft.backends.sqlite.store import SqliteStore
from weft.core.errors import Conflict, Invalid, NotFound
from weft.core.types import Actor, When, Writer
from weft.log.chain import commit_genesis
from weft.log.draft import Draft
from weft.testing.clock import ManualClock, day
from weft.testing.scribe import Scribe, closed, continued, deleted, edge, edge_ended, ended, node, opened, restored
from weft.testing.viewers import OPERATOR


@pytest.fixture(params=["memory", "sqlite"])
def scribe(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Scribe]:
    clock = ManualClock()
    kinds = {
        "memory": lambda: MemoryStore(commit_genesis, clock=clock),
        "sqlite": lambda: SqliteStore(tmp_path / "store", commit_genesis, clock=clock),
    }
    store = kinds[request.param]()
    made = Scribe(store, clock)
    made.write(node("a", "old", at=day(-9)), node("b", at=day(-9)), node("c", at=day(-9)))
    made.write(edge("a", "KNOWS", "b", at=day(-9)), node("f1", "one", slot="home", at=day(-9)))
    yield made
    store.close()


class Case(NamedTuple):
    """What the open change does, and what nobody else may do meanwhile."""

    change: Draft
    other: Draft


CASES = {
    "put over put": Case(node("a", "new"), node("a", "other")),
    "put over an end": Case(ended("a", at=day(-5)), node("a", "other", at=day(-1))),
    "put over an end that left nothing": Case(ended("a", at=day(-20)), node("a", "other")),
    "end over put": Case(node("a", "new"), ended("a")),
    "put over a new node": Case(node("n", "new"), node("n", "other")),
    "fact over fact": Case(node("f2", "two", slot="home"), node("f3", "three", slot="home")),
    "fact over a fact of the same time": Case(
        node("f2", "two", slot="home", at=day(-9)), node("f3", "three", slot="home")
    ),
    "fact over an ended fact": Case(ended("f1", at=day(-20)), node("f3", "three", slot="home")),
    "fact beside a past one": Case(
        node("f2", "two", slot="home", at=day(-8), until=day(-7)), node("f3", "three", slot="home")
    ),
    "edge over edge": Case(edge("a", "KNOWS", "b", weight=2.0), edge("a", "KNOWS", "b", weight=3.0)),
    "edge over an ended edge": Case(edge_ended("a", "KNOWS", "b", at=day(-20)), edge("a", "KNOWS", "b")),
    "end of an edge": Case(edge("a", "KNOWS", "b", weight=2.0), edge_ended("a", "KNOWS", "b")),
    "edges that share a slot": Case(edge("a", "IN", "b", slot="place"), edge("a", "IN", "c", slot="place")),
}


@pytest.mark.parametrize("name", CASES)
def test_others_wait_for_the_close(name: str, scribe: Scribe) -> None:
    change = scribe.open_change(CASES[name].change)
    before = scribe.store.head(OPERATOR)
    with pytest.raises(Conflict, match=f"{change}, which is not complete .*when it is closed"):
        scribe.one(CASES[name].other)
    assert scribe.store.head(OPERATOR) == before
    scribe.one(node("elsewhere"))
    scribe.write(continued(change), CASES[name].other)  # it may go on itself
    scribe.one(closed(change))
    scribe.one(CASES[name].other)
    digest = scribe.digest()
    scribe.rebuild()
    assert scribe.digest() == digest


def test_two_open_changes_keep_apart(scribe: Scribe) -> None:
    one = scribe.open_change(node("a", "one"))
    two = scribe.open_change(node("b", "two"))
    with pytest.raises(Conflict, match=one):
        scribe.write(continued(two), node("a", "two"))
    scribe.one(closed(one))
    scribe.write(closed(two), node("a", "two"))
    assert scribe.texts("a", "b") == {"a": "two", "b": "two"}


def test_deleting_needs_no_slot(scribe: Scribe) -> None:
    scribe.open_change(node("a", "new"))
    scribe.one(deleted("a"))
    assert scribe.texts("a") == {}


AT_ONCE = {
    "a guard that opens": node("secret", "hidden", at=day(-9), scope="public"),
    "a guard that closes": node("a", "old", at=day(-9), scope="admin"),
    "a deletion": deleted("a"),
    "a restoration": restored("gone"),
    "a restoration by a new version": node("gone", "again"),
}


@pytest.mark.parametrize("slice_of", ["first", "middle", "last"])
@pytest.mark.parametrize("name", AT_ONCE)
def test_what_holds_at_once_needs_a_commit_of_its_own(name: str, slice_of: str, scribe: Scribe) -> None:
    def write(*drafts: Draft) -> str:
        writer = Writer(account=OPERATOR.account, session="main", actor=Actor(agent="writer", role="operator"))
        scribe.clock.step()
        done = append(scribe.store, writer, drafts, clock=scribe.clock, options=AppendOptions(viewer=OPERATOR))
        return f"tx-{done.events[0].hash.hex()[:16]}"

    write(node("secret", "hidden", at=day(-9), scope="admin"), node("gone", "was here"))
    write(deleted("gone"))
    change = write(opened(), node("z", "new"))
    begin = {"first": opened(), "middle": continued(change), "last": closed(change)}[slice_of]
    before = scribe.digest(), scribe.store.head(OPERATOR)
    with pytest.raises(Invalid, match="in a commit of its own"):
        write(begin, AT_ONCE[name])
    assert (scribe.digest(), scribe.store.head(OPERATOR)) == before
    write(begin, node("a", "new words"), node("new", "brief"), deleted("new"))  # what only this change knows may change
    write(AT_ONCE[name]) if slice_of == "last" or name != "a guard that closes" else write(deleted("b"))
    digest = scribe.digest()
    scribe.rebuild()
    assert scribe.digest() == digest


@pytest.mark.parametrize("weight", [0.0, -1.0, 1_000_000.5, 1e300])
def test_a_weight_has_bounds(weight: float, scribe: Scribe) -> None:
    before = scribe.store.head(OPERATOR)
    with pytest.raises(Invalid, match="has the weight"):
        scribe.one(edge("a", "KNOWS", "c", weight=weight))
    assert scribe.store.head(OPERATOR) == before
    scribe.one(edge("a", "KNOWS", "c", weight=1_000_000.0))
    scribe.one(edge("b", "KNOWS", "c", weight=1e-9))


@pytest.mark.parametrize("seed", range(6))
def test_at_most_one_answer_per_slot_and_moment(seed: int, scribe: Scribe) -> None:
    chance, open_one, refused = random.Random(seed), None, 0
    slots = ("home", "work", "mood")
    for number in range(60):
        slot, at = chance.choice(slots), day(chance.randrange(-8, 8))
        until = at + chance.randrange(1, 5) * (day(1) - day(0)) if chance.random() < 0.3 else None
        what = node(f"n{number}", slot, slot=slot, at=at, until=until)
        if number and chance.random() < 0.2:
            what = ended(f"n{chance.randrange(number)}", at=at)
        try:
            if open_one is None and chance.random() < 0.2:
                open_one = scribe.open_change(what)
            elif open_one is not None and chance.random() < 0.5:
                scribe.write(continued(open_one), what)
            elif open_one is not None and chance.random() < 0.2:
                scribe.one(closed(open_one))
                open_one = None
            else:
                scribe.one(what)
        except Conflict:
            refused += 1
        except NotFound:  # an end of a node that a refused write did not make
            pass
        scribe.clock.step()
        for moment in range(-9, 12):
            when = When(valid_at=day(moment))
            found = scribe.store.nodes(OPERATOR, when, [f"n{n}" for n in range(number + 1)])
            crowded = {slot: n for slot, n in Counter(each.text for each in found).items() if n > 1}
            assert not crowded, f"after {number} writes, {refused} refused"
    assert refused, "the rule was needed"
