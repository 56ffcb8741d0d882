"""Source code that was indexed: what is erased of it leaves no byte in the store's directory, whoever named it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.erasure.byte_search import Planted, search

import weft
from weft.errors import NotFound
from weft.log.verify import verify
from weft.operations import operation
from weft.testing.clock import DAY_US, ManualClock

WORDS = ("xylotrachen", "murgelstoff")
FILES = {
    "harbour/__init__.py": "",
    "harbour/tides.py": "def high_water(day):\n    return day % 13\n",
    "harbour/xylotrachen.py": (
        "from harbour.tides import high_water\n\n\n"
        "def feed_xylotrachen(day):\n    return murgelstoff(high_water(day))\n\n\n"
        "def murgelstoff(water):\n    return water\n"
    ),
    "harbour/keeper.py": (
        "from harbour.xylotrachen import feed_xylotrachen\n\n\ndef round_of(day):\n    return feed_xylotrachen(day)\n"
    ),
    "harbour/plain.py": "def berth(number):\n    return number\n",
}


class World:
    """A project that was rebuilt whole and in part, and asked about."""

    def __init__(self, scratch: Path) -> None:
        self.store, self.root, self.clock = scratch / "store", scratch / "ferry", ManualClock()
        for path, text in FILES.items():
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).write_text(text)
        environment = {"HOME": str(scratch / "home"), "WEFT_AUDIT": "on"}
        self.memory = weft.open(
            f"sqlite://{self.store}", directory=self.root, environment=environment, clock=self.clock
        )
        for number in range(20):
            self.call("remember", text=f"Berth {number} of the harbour was painted on day {number}.")
        self.call("graph_rebuild", mode="full")
        self.call("graph_rebuild", path="harbour/xylotrachen.py")
        (self.root / "harbour/xylotrachen.py").write_text(FILES["harbour/xylotrachen.py"] + "\n\nlast = 1\n")
        self.call("graph_rebuild", path="harbour/xylotrachen.py")
        self.call("code_explain", element="feed_xylotrachen")
        self.call("context_pack", task="feed the xylotrachen with murgelstoff")

    def call(self, name: str, /, **given: Any) -> Any:
        self.clock.step(DAY_US)
        return self.memory.run(operation(name), given)

    def found(self, *words: str) -> list[str]:
        planted = [Planted(words=words, text=" ".join(words))]
        return sorted({f"{each.file}: {each.of}" for each in search(self.store, planted)})

    def check(self) -> None:
        """Nothing that stays is lost, and log and graph agree."""
        loom = self.memory.loom
        assert loom.store.check(loom.operator("look")) == ()
        assert verify(loom.store, loom.operator("look")).problem is None
        assert self.call("code_explain", element="berth").file == "harbour/plain.py"
        assert self.memory.recall("when was berth 7 painted?").hits


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    made.memory.close()


def test_a_name_of_code_is_erased_with_all_that_calls_it(world: World) -> None:
    before = world.found(*WORDS)
    for place in ("accounts/default", "code/", "jobs/"):
        assert any(place in each for each in before), (place, before)
    world.call("erase", subject="xylotrachen", yes=True)
    assert world.found("xylotrachen") == []
    world.check()


def test_a_file_of_code_is_erased_and_those_that_name_it_keep_what_they_say(world: World) -> None:
    world.call("erase", source="harbour/xylotrachen.py", yes=True)
    assert world.found("murgelstoff") == []
    assert not list((world.store / "jobs").glob("*.json"))
    assert world.call("code_explain", element="round_of").callees == ()
    world.check()
    with pytest.raises(NotFound):
        world.call("code_explain", element="feed_xylotrachen")
