"""`code_explain`: what the graph knows of a symbol or a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.code.ferry import ferry, reopened, run

import weft
from weft.errors import NotFound


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("explain")
    ferry(place).close()
    return place


@pytest.fixture
def memory(place: Path) -> Iterator[weft.Memory]:
    with reopened(place) as opened:
        yield opened


def test_a_function_with_callers_callees_and_tests(memory: weft.Memory) -> None:
    found = run(memory, "code_explain", element="Desk.price")
    assert found.type == "method"
    assert found.citation == "file://ferry/desk.py:27"
    assert found.signature == "def price(self, ages: list[int]) -> int"
    assert [each.name for each in found.callees] == ["fare"]
    assert [each.name for each in found.tests] == ["test_a_party_pays_together"]
    assert found.callers == ()  # tests are told apart
    assert found.unresolved == ("sum",)
    assert found.summary.startswith("method Desk.price in ferry/desk.py, lines 27 to 29: What a party pays together")


def test_depth_follows_calls_further(memory: weft.Memory) -> None:
    near = run(memory, "code_explain", element="Desk.price")
    far = run(memory, "code_explain", element="Desk.price", depth=2)
    assert [each.name for each in near.callees] == ["fare"]
    assert [(each.name, each.distance, each.via) for each in far.callees] == [
        ("fare", 1, ()),
        ("car_surcharge", 2, ("fare",)),
    ]


def test_a_class_with_its_family(memory: weft.Memory) -> None:
    found = run(memory, "code_explain", element="BookingStore")
    assert {each.name for each in found.implementations} == {"MemoryStore", "FileStore"}
    assert [each.name for each in found.members] == ["BookingStore.save", "BookingStore.find"]
    below = run(memory, "code_explain", element="ferry/store.py::MemoryStore")
    assert [each.name for each in below.bases] == ["BookingStore"]


def test_a_file_by_its_imports(memory: weft.Memory) -> None:
    found = run(memory, "code_explain", element="ferry/desk.py")
    assert {each.name for each in found.callees} == {"ferry/fares.py", "ferry/store.py"}
    assert "ferry/cli.py" in {each.name for each in found.callers}
    assert [each.name for each in found.members] == ["DeskFull", "Desk"]


def test_history_is_told_with_its_citation(memory: weft.Memory) -> None:
    (version,) = run(memory, "code_explain", element="fare").history
    assert version.valid_from.startswith("2026-01-01")
    assert run(memory, "cite", citation=version.citation).event.kind == "code.indexed"


def test_an_unknown_element_comes_with_the_nearest(memory: weft.Memory) -> None:
    with pytest.raises(NotFound) as problem:
        run(memory, "code_explain", element="Desk.prize")
    assert "Desk.price" in problem.value.hint
