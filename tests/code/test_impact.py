"""`impact_analyze`: what a change may break."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.code.ferry import PROJECT, ferry, reopened, run

import weft
from weft.errors import Invalid, NotFound
from weft.operations.code_indexing import index_workspace
from weft.testing.clock import HOUR_US, ManualClock


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("impact")
    ferry(place).close()
    return place


@pytest.fixture
def memory(place: Path) -> Iterator[weft.Memory]:
    with reopened(place) as opened:
        yield opened


def test_dependants_by_distance_with_the_way_there(memory: weft.Memory) -> None:
    found = run(memory, "impact_analyze", symbols=["car_surcharge"])
    assert [(each.name, each.citation) for each in found.direct] == [("fare", "file://ferry/fares.py:9")]
    ways = {each.name: (each.distance, each.via) for each in found.transitive}
    assert ways["Desk.price"] == (2, ("fare",))
    assert [each.name for each in found.transitive_tests] == ["test_a_party_pays_together"]
    assert found.direct_tests == ()
    assert found.blast_radius.tests == 1
    assert found.claims == ()


def test_depth_bounds_it(memory: weft.Memory) -> None:
    found = run(memory, "impact_analyze", symbols=["car_surcharge"], depth=1)
    assert [each.name for each in found.direct] == ["fare"]
    assert found.transitive == ()
    assert found.blast_radius.symbols == 1


def test_a_file_counts_with_its_symbols_and_its_importers(memory: weft.Memory) -> None:
    found = run(memory, "impact_analyze", files=["store.py"])
    direct = {each.name for each in found.direct}
    assert {"ferry/desk.py", "ferry/cli.py", "Desk.book", "Desk.who", "main"} <= direct
    assert {each.name for each in found.direct_tests} >= {"test_a_seat_is_booked"}
    assert set(found.files) == {"ferry/desk.py", "ferry/cli.py", "tests/test_desk.py", "ferry/__init__.py"}


def test_what_changed_since_a_moment(tmp_path: Path) -> None:
    clock = ManualClock()
    ferry(tmp_path).close()
    with reopened(tmp_path, clock) as memory:
        clock.step(HOUR_US)
        path = tmp_path / PROJECT / "ferry/fares.py"
        path.write_text(path.read_text(encoding="utf-8").replace("2500", "3000"), encoding="utf-8")
        index_workspace(memory.loom)
        found = run(memory, "impact_analyze", since="2026-01-01T00:30:00Z")
    assert "car_surcharge" in {each.name for each in found.changed}
    assert "fare" not in {each.name for each in found.changed}
    assert "fare" in {each.name for each in found.direct}


def test_bad_input_says_what_to_do(memory: weft.Memory) -> None:
    with pytest.raises(Invalid):
        run(memory, "impact_analyze")
    with pytest.raises(NotFound) as problem:
        run(memory, "impact_analyze", files=["ferry/fairs.py"])
    assert "ferry/fairs.py" in problem.value.message
    with pytest.raises(NotFound):
        run(memory, "impact_analyze", symbols=["nothing_like_it"])
