"""`impact_analyze`: what a change may break."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import weft
from tests.code.ferry import PROJECT, ferry, many_tests, memory, of_files, place, reopened
from weft.code.index.index import index_workspace
from weft.core.errors import Invalid, NotFound
from weft.testing.clock import HOUR_US, ManualClock

__all__ = ["memory", "place"]  # fixtures


def test_dependants_by_distance_with_the_way_there(memory: weft.Memory) -> None:
    found = memory.call("impact_analyze", symbols=["car_surcharge"])
    assert [(each.name, each.citation) for each in found.direct] == [("fare", "file://ferry/fares.py:9")]
    ways = {each.name: (each.distance, each.via) for each in found.transitive}
    assert ways["Desk.price"] == (2, ("fare",))
    assert [each.name for each in found.transitive_tests] == ["test_a_party_pays_together"]
    assert found.direct_tests == ()
    assert found.blast_radius.tests == 1
    assert found.claims == ()


def test_depth_bounds_it(memory: weft.Memory) -> None:
    found = memory.call("impact_analyze", symbols=["car_surcharge"], depth=1)
    assert [each.name for each in found.direct] == ["fare"]
    assert found.transitive == ()
    assert found.blast_radius.symbols == 1


def test_a_file_counts_with_its_symbols_and_its_importers(memory: weft.Memory) -> None:
    found = memory.call("impact_analyze", files=["store.py"])
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
        index_workspace(memory.ctx)
        found = memory.call("impact_analyze", since="2026-01-01T00:30:00Z")
    assert "car_surcharge" in {each.name for each in found.changed}
    assert "fare" not in {each.name for each in found.changed}
    assert "fare" in {each.name for each in found.direct}


def test_more_changes_than_are_followed_are_told_in_its_own_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weft.code.ask.impact.MAX_DELTAS", 2)
    with ferry(tmp_path) as memory:
        found = memory.call("impact_analyze", since="2025")
    assert [note for note in found.notes if "changes" in note] == [
        "since 2025-01-01T00:00:00.000000Z: only the first 2 changes are followed"
    ]


def test_callers_are_not_lost_behind_tests(tmp_path: Path) -> None:
    with of_files(tmp_path, many_tests(80)) as memory:
        found = memory.call("impact_analyze", symbols=["launch"], depth=1)
    assert {each.name for each in found.direct} == {"caller_0", "caller_1", "Client.get"}
    assert len(found.direct_tests) == found.blast_radius.tests == 80  # each once, though it calls and tests
    assert {each.relation for each in found.direct_tests} == {"TESTS"}
    assert found.summary == "launch: 3 dependants in 2 files and 80 tests may be affected."
    assert found.notes == ()


def test_what_is_cut_is_told_as_more(tmp_path: Path) -> None:
    with of_files(tmp_path, many_tests(3, callers=520)) as memory:
        found = memory.call("impact_analyze", symbols=["launch"], depth=1)
    assert found.summary.startswith("launch: more than 500 dependants in at least 2 files and 3 tests")
    assert any("only the nearest 500 dependants are listed" in note for note in found.notes)


def test_all_members_of_a_class_count(tmp_path: Path) -> None:
    methods = "\n".join(f"    def part_{n}(self):\n        return {n}" for n in range(130))
    use = "from zed.wide import Wide\n\n\ndef last():\n    return Wide.part_129(None)\n"
    with of_files(
        tmp_path, {"zed/__init__.py": "", "zed/wide.py": f"class Wide:\n{methods}\n", "zed/use.py": use}
    ) as memory:
        found = memory.call("impact_analyze", symbols=["Wide"])
    assert "last" in {each.name for each in found.direct}
    assert found.summary.startswith("Wide and 130 more")


def test_what_used_a_symbol_that_is_gone(tmp_path: Path) -> None:
    clock = ManualClock()
    files = {
        "zed/__init__.py": "",
        "zed/core.py": "def gone():\n    return 1\n\n\ndef stays():\n    return 2\n",
        "zed/use.py": "from zed import core\n\n\ndef user():\n    core.gone()\n\n\ndef far():\n    return user()\n",
    }
    root = tmp_path / PROJECT
    with of_files(tmp_path, files, clock) as memory:
        _git(root, "init", "-q")
        _git(root, "add", "-A")
        _git(root, "-c", "user.name=Ana", "-c", "user.email=ana@example.org", "commit", "-qm", "one")
        commit = _git(root, "rev-parse", "HEAD")
        clock.step(HOUR_US)
        (root / "zed/core.py").write_text("def stays():\n    return 2\n", encoding="utf-8")
        index_workspace(memory.ctx)
        by_commit = memory.call("impact_analyze", since=commit)
        by_moment = memory.call("impact_analyze", since="2026-01-01T00:30:00Z")
    assert {each.name for each in by_commit.changed} == {"gone", "zed/core.py"}  # what only moved did not change
    for found in (by_commit, by_moment):
        assert "gone" in {each.name for each in found.changed}
        direct = {each.name: each.citation for each in found.direct}
        assert direct["user"] == "file://zed/use.py:5"
        assert [each.name for each in found.transitive if each.via == ("user",)] == ["far"]


def _git(root: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True, text=True).stdout.strip()


def test_bad_input_says_what_to_do(memory: weft.Memory) -> None:
    with pytest.raises(Invalid):
        memory.call("impact_analyze")
    with pytest.raises(NotFound) as problem:
        memory.call("impact_analyze", files=["ferry/fairs.py"])
    assert "ferry/fairs.py" in problem.value.message
    with pytest.raises(NotFound) as problem:
        memory.call("impact_analyze", symbols=["qqzzqq"])
    assert "`query`" not in problem.value.hint  # which this has none of
