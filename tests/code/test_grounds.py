"""Answers say what they rest on: files that changed since, files that are gone, lines and files that were not read."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import weft
from tests.code.workbench import WEFT, Workbench
from weft.operations import operation
from weft.runtime.priorities import Profile
from weft.surfaces.mcp.answer import success

USES = "from quay import moor\n\n\ndef land():\n    return moor()\n"


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    made = Workbench(tmp_path)
    made.write("quay.py", "def moor():\n    return 1\n")
    made.write("uses.py", USES)
    return made


@pytest.fixture
def memory(bench: Workbench) -> Iterator[weft.Memory]:
    with bench.open() as made:
        made.call("graph_rebuild")
        yield made


def in_words(memory: weft.Memory, name: str, profile: Profile, **given: Any) -> str:
    called = operation(name)
    return success(memory.run(called, given), wording=str, profile=profile, operation=called).text


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("code_explain", {"element": "moor"}),
        ("impact_analyze", {"symbols": ["moor"]}),
        ("graph_edges", {"rel": "CALLS"}),
        ("recall", {"query": "moor land"}),
    ],
)
def test_a_file_beside_that_is_gone_is_named(
    bench: Workbench, memory: weft.Memory, name: str, given: dict[str, Any]
) -> None:
    assert not any("re-indexed" in note for note in memory.call(name, **given).notes)
    (bench.root / "uses.py").unlink()
    assert any("not yet re-indexed: uses.py" in note for note in memory.call(name, **given).notes)


@pytest.mark.parametrize("name", ["code_explain", "semantic_slice"])
def test_lines_that_do_not_parse_are_told(bench: Workbench, memory: weft.Memory, name: str) -> None:
    bench.write("torn.py", "def whole():\n    return 1\n\n\nx = = 3\n")
    memory.call("graph_rebuild")
    given = {"element": "whole"} if name == "code_explain" else {"symbol": "whole"}
    assert any("lines of torn.py that do not parse: 5" in note for note in memory.call(name, **given).notes)


@pytest.mark.parametrize("name", ["code_explain", "semantic_slice"])
def test_a_file_that_was_not_read_says_so(bench: Workbench, memory: weft.Memory, name: str) -> None:
    (bench.root / "latin.py").write_bytes("x = 'Fähre'\n".encode("latin-1"))
    bench.write("cargo.json", '{\n"a": 1\n}\n')
    memory.call("graph_rebuild")
    field = "element" if name == "code_explain" else "file"
    notes = memory.call(name, **{field: "latin.py"}).notes
    assert any("the content of latin.py is not indexed" in note and "graph health" in note for note in notes)
    notes = memory.call(name, **{field: "cargo.json"}).notes
    assert any("its language is not supported" in note for note in notes)


def test_a_large_file_that_is_as_it_was_is_not_called_changed(bench: Workbench, memory: weft.Memory) -> None:
    bench.write("large.py", "x = 1\n" * 2_000_000)
    memory.call("graph_rebuild")
    assert not any("re-indexed" in note for note in memory.call("semantic_slice", file="large.py").notes)
    bench.write("large.py", "x = 2\n" * 2_000_000)
    assert any("re-indexed" in note for note in memory.call("semantic_slice", file="large.py").notes)


def test_edges_keep_both_ends_however_little_room_there_is(bench: Workbench, memory: weft.Memory) -> None:
    calls = "".join(f"def call_the_harbour_master_number_{n}():\n    return moor()\n\n\n" for n in range(60))
    bench.write("many.py", f"from quay import moor\n\n\n{calls}")
    memory.call("graph_rebuild")
    words = in_words(memory, "graph_edges", "compact", rel="CALLS")
    rows = [line for line in words.splitlines() if " CALLS " in line]
    assert rows
    assert not any('""' in row for row in rows)
    assert "omitted to stay within 300 tokens" in words


def test_a_file_without_lines_to_show_has_no_empty_quotes(memory: weft.Memory, bench: Workbench) -> None:
    bench.write("wide.py", "".join(f"def f{n}():\n    return {n} * {'1' * 60}\n\n\n" for n in range(80)))
    memory.call("graph_rebuild")
    assert '""' not in in_words(memory, "semantic_slice", "compact", file="wide.py")


def test_the_first_indexing_finds_communities(memory: weft.Memory) -> None:
    assert memory.call("community_list").total == 1


def test_notes_of_edges_go_to_the_error_output(bench: Workbench, memory: weft.Memory) -> None:
    (bench.root / "uses.py").unlink()
    done = subprocess.run(
        [WEFT, "graph", "edges", "--rel", "CALLS", "--json"],
        cwd=bench.root,
        env=bench.environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert [json.loads(line) for line in done.stdout.splitlines()] == [
        {"src": "uses.py::land", "rel": "CALLS", "dst": "quay.py::moor"}
    ]
    assert "not yet re-indexed: uses.py" in done.stderr
