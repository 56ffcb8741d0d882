"""The law of erasure: whatever was said before and after, nothing is left of it, and log and graph stay one."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.erasure.world import PEOPLE, World, person
from weft.append.import_log import import_log
from weft.backends.memory import MemoryStore
from weft.backends.sqlite.store import SqliteStore
from weft.core.ports import Store
from weft.core.types import NOW, NodeVersion
from weft.erasure import erase_log as erasure
from weft.graph.placeholders import strings
from weft.log.canonical import canonical
from weft.log.chain import commit_genesis
from weft.log.verify import verify
from weft.testing.scribe import Scribe
from weft.testing.viewers import OPERATOR

MakeStore = Callable[[], Store]


@given(seed=st.integers(0, 2**32))
@settings(max_examples=30, deadline=None, phases=[Phase.generate])  # a seed has nothing to shrink
def test_erased_in_memory(seed: int) -> None:
    live_through(MemoryStore(commit_genesis), Random(seed))


@given(seed=st.integers(0, 2**32))
@settings(max_examples=10, deadline=None, phases=[Phase.generate])
def test_erased_on_disk(seed: int) -> None:
    with tempfile.TemporaryDirectory() as place:
        store = SqliteStore(Path(place), commit_genesis)
        live_through(store, Random(seed))
        store.close()


def live_through(store: Store, chance: Random) -> None:
    """Some steps, an erasure, some more under the same names, another erasure."""
    world = World(store, chance)
    for _ in range(2):
        for _ in range(chance.randrange(3, 14)):
            world.step()
        names = [chance.choice(PEOPLE)] if chance.random() < 0.6 else []
        ids = [person(name) for name in names] + chance.sample(world.ids, min(len(world.ids), chance.randrange(3)))
        before = standing(world)
        words_of = all_words(store)
        between = (lambda: check_one(world)) if chance.random() < 0.3 else lambda: None
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(erasure, "MAX_EVENTS", chance.choice((1, 3, 5, 100)))
            world.erase(ids, names, between)
        check_gone(world, ids, names)
        check_unsummed(world, words_of)
        check_kept(world, before, words_of, ids, names)
        check_one(world)
    for _ in range(3):
        world.step()
    check_one(world)
    live = world.scribe.digest()
    world.scribe.rebuild()
    assert world.scribe.digest() == live


def all_rows(store: Store) -> list[NodeVersion]:
    return [row for row in store.graph_rows(OPERATOR) if isinstance(row, NodeVersion)]


def all_words(store: Store) -> dict[str, str]:
    """What each node says, in all its versions."""
    found: dict[str, str] = {}
    for row in all_rows(store):
        found[row.id] = f"{found.get(row.id, '')}\n{said(row)}"
    return found


def said(node: NodeVersion) -> str:
    return "\n".join((node.id, node.name, node.summary, node.text, *strings(node.props)))


def standing(world: World) -> dict[str, NodeVersion]:
    ids = list(dict.fromkeys(row.id for row in all_rows(world.scribe.store)))
    return {node.id: node for node in world.scribe.store.nodes(OPERATOR, NOW, ids)}


def check_gone(world: World, ids: list[str], names: list[str]) -> None:
    """No event, no row and no line of an export holds a name or an id."""
    rows = [canonical([row.id, row.slot, said(row)]).decode() for row in all_rows(world.scribe.store)]
    lines = [line.decode() for line in world.scribe.export()]
    for text in (*rows, *lines):
        for name in names:
            assert not re.search(rf"(?<!\w){name}(?!\w)", text, re.IGNORECASE), (name, text)
        for each in ids:
            assert not re.search(rf"(?<![\w/]){re.escape(each)}(?![\w#:.])", text), (each, text)


def check_unsummed(world: World, words_of: dict[str, str]) -> None:
    """No version of a section or a document sums up a chunk that went."""
    rows = all_rows(world.scribe.store)
    went = {each for each in words_of if "¶" in each} - {row.id for row in rows}
    around = {part for each in went for part in (each.partition("#")[0], each.partition("¶")[0])}
    assert [row.id for row in rows if row.id in around and row.summary] == []


def check_kept(
    world: World, before: dict[str, NodeVersion], words_of: dict[str, str], ids: list[str], names: list[str]
) -> None:
    """What was not asked for, never held a name and is part of nothing that went, says what it said."""
    named = {each for each, words in words_of.items() if any(name.lower() in words.lower() for name in names)}
    went = named | set(ids)
    after = standing(world)
    for node_id, node in before.items():
        part_of_one = any(node_id.startswith((f"{whole}#", f"{whole}::", f"{whole}¶")) for whole in went)
        if node_id not in went and not part_of_one and not any(each in said(node) for each in went):
            assert after[node_id].text == node.text


def check_one(world: World) -> None:
    """The graph, a fold of the log by another store, and the log's own hashes agree."""
    found = verify(world.scribe.store, OPERATOR)
    assert found.problem is None
    lines = world.scribe.export()
    copy = MemoryStore(commit_genesis)
    import_log(copy, OPERATOR, lambda: lines, clock=world.scribe.clock)
    other = Scribe(copy, world.scribe.clock)
    if other.digest() != world.scribe.digest():
        live, folded = (
            set(map(repr, world.scribe.store.graph_rows(OPERATOR))),
            set(map(repr, copy.graph_rows(OPERATOR))),
        )
        pytest.fail("\n".join(("live:", *sorted(live - folded), "folded:", *sorted(folded - live))))
    assert world.scribe.store.transactions(OPERATOR, limit=1000) == copy.transactions(OPERATOR, limit=1000)
    for words in ("kettle quay", "boats", "ledger"):
        ours, theirs = world.scribe.search(words), other.search(words)
        assert (ours.population, ours.mean_length, ours.used) == (theirs.population, theirs.mean_length, theirs.used)
        assert [(hit.node.id, hit.score) for hit in ours.hits] == [(hit.node.id, hit.score) for hit in theirs.hits]
