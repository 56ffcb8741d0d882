"""The search for texts that say the same is exact: it finds what looking at every two would find."""

from __future__ import annotations

import itertools
import random

import pytest

import weft
from tests.upkeep.planted import found, hygiene, told
from weft.core.types import NOW, NodeVersion
from weft.upkeep.hygiene.near_duplicates import weigh

SAME = [
    (
        "We chose Redis for sessions because Postgres locks were slow",
        "we chose redis for sessions because postgres locks were slow.",
    ),
    (
        "Use the staging cluster for load tests on quiet weekday mornings",
        "Use the staging cluster for the load tests on quiet weekday mornings",
    ),
    (
        "every release is tagged and the tag is signed by whoever cuts the release",
        "every release is tagged and the tag is also signed by whoever cuts the release",
    ),
    (
        "keep the log of each migration beside its script in the folder of the service",
        "keep the log of each migration beside its script, in the folder of the service",
    ),
]
OTHER = [
    ("Use Redis", "Do not use Redis"),
    (
        "Keep backups for 30 days in the vault on the second floor",
        "Keep backups for 31 days in the vault on the second floor",
    ),
    (
        "upgrade the api to v1.2 before the end of the sprint with all hands",
        "upgrade the api to v1.3 before the end of the sprint with all hands",
    ),
    (
        "the parser for invoices is written in C++ by the team downstairs",
        "the parser for invoices is written in C# by the team downstairs",
    ),
    (
        "Ann reviews every change to the billing code before it is merged",
        "Bob reviews every change to the billing code before it is merged",
    ),
    (
        "we ask before every change to the billing code is merged by us",
        "we ask Ann before every change to the billing code is merged by us",
    ),
    (
        "restart the billing worker after each deploy then check the depth of the queue",
        "restart the shipping worker after each deploy then check the depth of the queue",
    ),
    (
        "orders call invoices and wait for the answer with a short timeout",
        "invoices call orders and wait for the answer with a short timeout",
    ),
    (
        "turn the heating of the machine hall on when the last shift leaves",
        "turn the heating of the machine hall off when the last shift leaves",
    ),
    (
        "the importer is stable and may be used by all teams in the house",
        "the importer is usually stable and may be used by all teams in the house",
    ),
    (
        "allow uploads from the partner network to the shared bucket at night",
        "disallow uploads from the partner network to the shared bucket at night",
    ),
    (
        "phase II of the move begins when the racks are there and powered",
        "phase III of the move begins when the racks are there and powered",
    ),
    (
        "drafts are sent when the editor is free",
        "drafts are sent when the editor is free and the printer has paper and ink",
    ),
    (
        "charge -5 degrees in the cold store before the fish is brought in",
        "charge 5 degrees in the cold store before the fish is brought in",
    ),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_these_say_the_same(memory: weft.Memory, one: str, other: str) -> None:
    told(memory, "one", one, days=2)
    told(memory, "other", other)
    assert found(hygiene(memory), "duplicate") == {("one", "other")}


def test_none_of_these_say_the_same(memory: weft.Memory) -> None:
    for number, pair in enumerate(OTHER):
        for side, text in enumerate(pair):
            told(memory, f"{number}-{side}", text, days=2 - side)
    assert found(hygiene(memory), "duplicate") == set()


def test_a_long_text_is_compared_to_its_end(memory: weft.Memory) -> None:
    long = "the tide comes and the tide goes " * 1_000
    told(memory, "one", f"{long} amen", days=2)
    told(memory, "other", f"{long} again")
    told(memory, "same", f"{long} amen")
    assert found(hygiene(memory), "duplicate") == {("one", "same")}


@pytest.mark.parametrize("seed", range(6))
def test_the_search_finds_what_looking_at_every_two_finds(memory: weft.Memory, seed: int) -> None:
    chance = random.Random(seed)
    few = ["tide", "quay", "rope", "lamp", "the", "is", "not", "7", "Ann", "pump", "salt"]
    bases = [[chance.choice(few) for _ in range(chance.randint(3, 16))] for _ in range(8)]
    nodes = 60
    for number in range(nodes):
        words = list(chance.choice(bases))
        for _ in range(chance.choice((0, 0, 1, 1, 2))):
            words.insert(chance.randrange(len(words) + 1), chance.choice([*few, "gently", "daily"]))
        told(memory, f"n{number}", " ".join(words), kind=chance.choice(("Memory", "Learning")), days=nodes - number)
    read = memory.ctx.store.nodes(memory.ctx.viewer, NOW, [f"n{number}" for number in range(nodes)])
    every = {(pair.older.id, pair.newer.id) for pair in weigh(memory.ctx, list(itertools.combinations(read, 2)))}
    searched = found(hygiene(memory, limit=100), "duplicate")
    assert searched <= every
    assert reached(read, every) == reached(read, searched), "the same texts come together"
    assert every


def reached(nodes: tuple[NodeVersion, ...], pairs: set[tuple[str, str]] | set[tuple[str, ...]]) -> set[frozenset[str]]:
    """Which texts are one, if every pair is."""
    groups = {node.id: {node.id} for node in nodes}
    for one, other in pairs:
        joined = groups[one] | groups[other]
        for each in joined:
            groups[each] = joined
    return {frozenset(group) for group in groups.values()}
