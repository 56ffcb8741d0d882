"""Files that differ from what is indexed are named: changed ones, new ones, and those that are gone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.code.workbench import Workbench
from weft.documents.keep.freshness import MAX_LOOKED_AT, freshness_note, not_indexed, note_of


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    made = Workbench(tmp_path)
    for name in "abc":
        made.write(f"{name}.py", f"def {name}():\n    return 1\n")
    made.call("graph_rebuild")
    return made


def test_what_changed_since_is_named(bench: Workbench) -> None:
    with bench.open() as memory:
        every = ("a.py", "b.py", "c.py")
        assert not_indexed(memory.ctx, every) == ()
        bench.write("b.py", "def b():\n    return 2\n")
        (bench.root / "c.py").unlink()
        bench.write("new.py", "x = 1\n")
        assert not_indexed(memory.ctx, (*every, "new.py", "never.py", "b.py")) == ("b.py", "c.py", "new.py")
        assert freshness_note(memory.ctx, every) == "not yet re-indexed: b.py, c.py; `weft index`"
        assert freshness_note(memory.ctx, ("a.py",)) is None
    bench.call("graph_rebuild")
    with bench.open() as memory:
        assert not_indexed(memory.ctx, (*every, "new.py")) == ()


def test_a_change_that_keeps_size_and_time_is_seen(bench: Workbench) -> None:
    file = bench.root / "a.py"
    before = file.stat()
    with bench.open() as memory:
        assert not_indexed(memory.ctx, ["a.py"]) == ()
        file.write_text("def a():\n    return 7\n")
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert not_indexed(memory.ctx, ["a.py"]) == ("a.py",)


def test_nothing_outside_the_root_is_looked_at(bench: Workbench, tmp_path: Path) -> None:
    secret = tmp_path / "secret.py"
    secret.write_text("x = 1\n")
    (bench.root / "link.py").symlink_to(secret)
    (bench.root / "out").symlink_to(tmp_path, target_is_directory=True)
    with bench.open() as memory:
        asked = ("../secret.py", str(secret), "link.py", "out/secret.py", "a\x00.py", "")
        assert not_indexed(memory.ctx, asked) == ()


def test_what_came_as_a_record_has_no_file_to_differ_from(bench: Workbench) -> None:
    bench.write("rows.jsonl", '{"id": "r1", "text": "def r():\\n    return 1\\n", "path": "lib/r.py"}\n')
    bench.call("ingest", path=str(bench.root / "rows.jsonl"))
    with bench.open() as memory:
        assert not_indexed(memory.ctx, ["lib/r.py"]) == ()


def test_a_note_names_a_few_and_the_number_of_files_is_bounded(bench: Workbench) -> None:
    assert note_of([f"{n}.py" for n in range(5)]) == "not yet re-indexed: 0.py, 1.py, 2.py and 2 more; `weft index`"
    bench.write("last.py", "x = 1\n")
    with bench.open() as memory:
        assert not_indexed(memory.ctx, (*(f"{n}.py" for n in range(MAX_LOOKED_AT)), "last.py")) == ()
