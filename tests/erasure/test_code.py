"""Source code that was indexed: what is erased of it leaves no byte in the store's directory, whoever named it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import weft
from tests.erasure.byte_search import Planted, search
from weft.core.errors import NotFound
from weft.log.verify import verify
from weft.testing.clock import DAY_US, ManualClock

WORDS = ("xylotrachen", "murgelstoff")
FOREIGN = "wombatlib"  # a module from outside that only the file that goes imports
FILES = {
    "harbour/__init__.py": "",
    "harbour/tides.py": "def high_water(day):\n    return day % 13\n",
    "harbour/xylotrachen.py": (
        "import os\n\nimport wombatlib\n\nfrom harbour.tides import high_water\n\n\n"
        "def feed_xylotrachen(day):\n    return murgelstoff(high_water(day))\n\n\n"
        "def murgelstoff(water):\n    return water\n"
    ),
    "harbour/keeper.py": (
        "from harbour.xylotrachen import feed_xylotrachen\n\n\ndef round_of(day):\n    return feed_xylotrachen(day)\n"
    ),
    "harbour/plain.py": "import os\n\n\ndef berth(number):\n    return os.fspath(number)\n",
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
        self.call("graph_edges")
        self.call("context_pack", task="feed the xylotrachen with murgelstoff")

    def call(self, name: str, /, **given: Any) -> Any:
        self.clock.step(DAY_US)
        return self.memory.call(name, **given)

    def found(self, *words: str) -> list[str]:
        planted = [Planted(words=words, text=" ".join(words))]
        return sorted({f"{each.file}: {each.of}" for each in search(self.store, planted)})

    def log(self) -> str:
        """All that the log holds, as an export has it."""
        rows = self.memory.ctx.store.payloads(self.memory.ctx.operator("look"), after=0, limit=10_000)
        return "\n".join((row.payload or b"").decode() for row in rows)

    def calls(self) -> str:
        """What the audit keeps of calls."""
        audit = self.memory.ctx.audit
        assert audit is not None
        assert audit.flush()
        store = audit.store()
        assert store is not None
        return "\n".join(row.props for row in store.node_words(self.memory.ctx.operator("look")))

    def modules(self) -> set[str]:
        """The modules from outside that can be seen."""
        edges = self.call("graph_edges", rel="IMPORTS").edges
        return {each.dst for each in edges if each.dst.startswith("import:")}

    def check(self) -> None:
        """Nothing that stays is lost, and log and graph agree."""
        ctx = self.memory.ctx
        assert ctx.store.check(ctx.operator("look")) == ()
        assert verify(ctx.store, ctx.operator("look")).problem is None
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


def test_nothing_names_an_erased_file_by_its_bare_path(world: World) -> None:
    path = "harbour/xylotrachen.py"
    assert f'"files":["{path}"]' in world.log()
    assert f"{path}::murgelstoff" in world.calls()
    world.call("erase", source=path, yes=True)
    assert path not in world.log()
    assert path not in world.calls()
    assert "harbour/plain.py" in world.log()
    assert "Berth 7 of the harbour" in world.calls()  # other calls are told as before
    world.check()


def test_modules_that_only_an_erased_file_imports_go_with_it(world: World) -> None:
    assert world.modules() == {"import:python:os", f"import:python:{FOREIGN}"}
    world.call("erase", source="harbour/xylotrachen.py", yes=True)
    assert world.found(FOREIGN) == []
    assert world.modules() == {"import:python:os"}
    world.check()
    (world.root / "harbour/tides.py").write_text(f"import {FOREIGN}\n\n\n" + FILES["harbour/tides.py"])
    world.call("graph_rebuild", path="harbour/tides.py")
    assert world.modules() == {"import:python:os", f"import:python:{FOREIGN}"}


def test_a_module_with_a_name_that_begins_with_an_erased_one_stays(world: World) -> None:
    scripts = {"one.js": "import w from 'wom';\nw();\n", "two.js": "import v from 'wom:bat';\nv();\n"}
    for name, text in scripts.items():
        (world.root / name).write_text(text)
        world.call("graph_rebuild", path=name)
    both = {"import:ecmascript:wom", "import:ecmascript:wom:bat"}
    assert both <= world.modules()
    world.call("erase", source="one.js", yes=True)
    assert both & world.modules() == {"import:ecmascript:wom:bat"}
    world.check()


def test_a_file_that_was_asked_for_and_never_indexed_is_named_nowhere(world: World) -> None:
    absent = world.root / "harbour/quuxley.py"
    with pytest.raises(NotFound):
        world.call("graph_rebuild", path=str(absent))
    assert "quuxley" in world.calls()
    world.call("erase", source=str(absent), yes=True)
    assert world.found("quuxley") == []
    world.check()


def test_calls_about_files_of_similar_names_stay_in_the_audit(world: World) -> None:
    for name in ("eep.py", "keep.py"):
        (world.root / name).write_text("def stay():\n    return 1\n")
        world.call("graph_rebuild", path=name)
    world.call("erase", source="eep.py", yes=True)
    assert '\\"eep.py\\"' not in world.calls()
    assert '\\"keep.py\\"' in world.calls()


def test_a_document_that_is_erased_is_named_by_no_transaction(world: World) -> None:
    (world.root / "docs").mkdir()
    (world.root / "docs/grumbolt.md").write_text("# Moorings\n\nThe ropes of the north pier are green.\n")
    world.call("ingest", path=str(world.root / "docs/grumbolt.md"))
    assert '"docs/grumbolt.md"' in world.log()
    world.call("erase", source="docs/grumbolt.md", yes=True)
    assert world.found("grumbolt") == []
    world.check()
