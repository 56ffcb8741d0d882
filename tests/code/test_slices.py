"""`semantic_slice`: the symbol that is meant, its exact lines, and what surrounds it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import weft
from tests.code.ferry import FILES, PROJECT, ferry, many_tests, memory, of_files, place, reopened
from weft.code.index.index import index_workspace
from weft.core.errors import Invalid, NotFound
from weft.testing.clock import HOUR_US, ManualClock

__all__ = ["memory", "place"]  # fixtures


def lines(path: str, first: int, last: int) -> str:
    return "\n".join(FILES[path].split("\n")[first - 1 : last])


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ({"symbol": "ferry/ferry/desk.py::Desk::book"}, "Desk.book"),
        ({"symbol": "ferry/desk.py::Desk::book"}, "Desk.book"),
        ({"symbol": "book", "file": "ferry/desk.py"}, "Desk.book"),
        ({"symbol": "Desk.book", "file": "desk.py"}, "Desk.book"),
        ({"symbol": "book"}, "Desk.book"),
        ({"symbol": "desk.Desk.book"}, "Desk.book"),
        ({"symbol": "desk.book"}, "Desk.book"),
        ({"symbol": "FILESTORE.find"}, "FileStore.find"),
        ({"symbol": "CamelCase", "query": "what a crossing costs for one passenger"}, "fare"),
        ({"file": "fares.py"}, "ferry/fares.py"),
        ({"symbol": "ferry/fares.py"}, "ferry/fares.py"),
        ({"symbol": "ferry/ferry/fares.py"}, "ferry/fares.py"),
    ],
)
def test_a_symbol_is_found_by_id_file_name_or_question(memory: weft.Memory, asked: dict[str, str], name: str) -> None:
    found = memory.call("semantic_slice", **asked)
    assert found.symbol_name == name
    assert found.code == lines(found.file, found.start_line, found.end_line)


def test_how_much_is_shown(memory: weft.Memory) -> None:
    head = memory.call("semantic_slice", symbol="Desk.book", context="signature")
    assert head.code == "def book(self, name: str, age: int) -> int"
    assert not head.callers
    body = memory.call("semantic_slice", symbol="Desk.book")
    assert body.code == lines("ferry/desk.py", 19, 25)
    assert not body.callers
    beside = memory.call("semantic_slice", symbol="Desk.book", context="with-deps")
    assert [(each.name, each.citation) for each in beside.callers] == [("main", "file://ferry/cli.py:14")]
    assert {each.name for each in beside.callees} == {"DeskFull", "BookingStore.save"}
    assert [each.name for each in beside.tests] == ["test_a_seat_is_booked"]


def test_a_class_is_whole_and_lists_its_members(memory: weft.Memory) -> None:
    found = memory.call("semantic_slice", symbol="Desk")
    assert found.code == lines("ferry/desk.py", 11, 33)
    assert [each.name for each in found.members] == ["Desk.__init__", "Desk.book", "Desk.price", "Desk.who"]


def test_full_tells_of_decisions_that_involve_it(place: Path) -> None:
    with reopened(place) as memory:
        node = memory.call("semantic_slice", symbol="car_surcharge").id
        memory.call(
            "save_decision", title="Cars pay by length from May", rationale="Vans take two places", entities=[node]
        )
        found = memory.call("semantic_slice", symbol="car_surcharge", context="full")
    assert [each.title for each in found.decisions] == ["Cars pay by length from May"]
    assert found.decisions[0].citation.startswith("weft://")
    assert found.learnings == ()


def test_of_several_one_is_taken_and_the_others_are_listed(memory: weft.Memory) -> None:
    found = memory.call("semantic_slice", symbol="save")
    assert len({found.symbol_name, *(each.name for each in found.others)}) == 3
    assert all(each.citation.startswith("file://ferry/store.py:") for each in found.others)


def test_what_is_not_there_comes_with_the_nearest_names(memory: weft.Memory) -> None:
    with pytest.raises(NotFound) as problem:
        memory.call("semantic_slice", symbol="car_surcharg")
    assert "car_surcharge (file://ferry/fares.py:12)" in problem.value.hint
    with pytest.raises(NotFound) as problem:
        memory.call("semantic_slice", symbol="boook", file="ferry/desk.py")
    assert "Desk.book" in problem.value.hint
    with pytest.raises(NotFound) as problem:
        memory.call("semantic_slice", symbol="x", file="ferry/dsk.py")
    assert "weft index" in problem.value.hint
    with pytest.raises(Invalid):
        memory.call("semantic_slice", symbol="  ")


def test_a_workspace_that_is_not_indexed_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / PROJECT).mkdir()
    with reopened(tmp_path) as memory:
        for name, given in (
            ("semantic_slice", {"symbol": "book"}),
            ("code_explain", {"element": "book"}),
            ("impact_analyze", {"symbols": ["book"]}),
            ("impact_analyze", {"files": ["desk.py"]}),
            ("context_pack", {"task": "book a seat"}),
        ):
            with pytest.raises(NotFound) as problem:
                memory.call(name, **given)
            assert "`weft index`" in problem.value.hint, name


def test_a_file_that_changed_is_read_as_it_was_indexed_and_is_named(tmp_path: Path) -> None:
    with ferry(tmp_path) as memory:
        path = tmp_path / PROJECT / "ferry/desk.py"
        path.write_text("# moved\n" + path.read_text(encoding="utf-8"), encoding="utf-8")
        for symbol, first, last in (("Desk.book", 19, 25), ("Desk", 11, 33)):
            found = memory.call("semantic_slice", symbol=symbol)
            assert found.code == lines("ferry/desk.py", first, last)
            assert any("ferry/desk.py" in note and "weft index" in note for note in found.notes)
        path.unlink()
        found = memory.call("semantic_slice", symbol="Desk.book")
        assert found.code == lines("ferry/desk.py", 19, 25)
        assert any("ferry/desk.py" in note for note in found.notes)


def test_a_slice_of_an_earlier_time_is_what_stood_there_then(tmp_path: Path) -> None:
    clock = ManualClock()
    ferry(tmp_path).close()
    with reopened(tmp_path, clock) as memory:
        then = "2026-01-01T00:30:00Z"
        clock.step(HOUR_US)
        path = tmp_path / PROJECT / "ferry/fares.py"
        path.write_text(path.read_text(encoding="utf-8").replace("2500", "3000"), encoding="utf-8")
        index_workspace(memory.ctx)
        now = memory.call("semantic_slice", symbol="car_surcharge")
        before = memory.call("semantic_slice", symbol="car_surcharge", as_of=then)
    assert "return 3000" in now.code
    assert "return 2500" in before.code
    assert not before.notes


def test_secrets_in_source_are_not_shown(tmp_path: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    ferry(tmp_path).close()
    (tmp_path / PROJECT / "ferry/harbour.py").write_text(
        f'def login() -> str:\n    return "{token}"\n', encoding="utf-8"
    )
    with reopened(tmp_path) as memory:
        index_workspace(memory.ctx)
        found = memory.call("semantic_slice", symbol="login")
        told = memory.call("context_pack", task="login of the harbour").text
    assert found.code.startswith("def login() -> str:\n")
    assert token not in found.code
    assert "login" in told
    assert token not in told


def test_callers_and_tests_are_counted_apart(tmp_path: Path) -> None:
    with of_files(tmp_path, many_tests(80)) as memory:
        found = memory.call("semantic_slice", symbol="launch", context="with-deps")
    assert {each.name for each in found.callers} == {"caller_0", "caller_1", "Client.get"}
    assert len(found.tests) == 20
    assert "tests: the first 20 of 80 are listed" in found.notes


def test_a_commit_that_was_never_indexed_is_said_to_be(tmp_path: Path) -> None:
    with of_files(tmp_path, many_tests(1)) as memory:
        who = ("-c", "user.name=Ana", "-c", "user.email=ana@example.org")
        for arguments in (("init", "-q"), ("add", "-A"), (*who, "commit", "-qm", "one")):
            subprocess.run(["git", *arguments], cwd=tmp_path / PROJECT, check=True, capture_output=True)
        for name in ("semantic_slice", "code_explain"):
            given = {"symbol" if name == "semantic_slice" else "element": "launch", "as_of": "HEAD"}
            assert any("never indexed" in note for note in memory.call(name, **given).notes)
            assert not any("never indexed" in note for note in memory.call(name, **{**given, "as_of": None}).notes)
