"""Two directories with the same name: the code of one is neither shown nor ended in the other."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.code.workbench import Workbench


def git(root: Path, *arguments: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    subprocess.run(["git", *who, "-C", str(root), *arguments], check=True, capture_output=True)


def repository(root: Path, name: str) -> Path:
    root.mkdir(parents=True)
    git(root, "init", "-q")
    (root / f"{name}.py").write_text(f"def {name}():\n    return 1\n")
    return root


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    made = Workbench(tmp_path)
    made.root = repository(tmp_path / "c1" / "api", "billing")
    made.weft("index")
    return made


@pytest.fixture
def twin(tmp_path: Path) -> Path:
    return repository(tmp_path / "c2" / "api", "invoices")


@pytest.mark.parametrize(
    "command",
    [("index",), ("context-pack", "billing"), ("semantic-slice", "billing"), ("graph", "health"), ("code", "billing")],
    ids=" ".join,
)
def test_it_is_refused_with_a_hint(bench: Workbench, twin: Path, command: tuple[str, ...]) -> None:
    if command[0] == "code":
        command = ("code-explain", *command[1:])
    told = bench.weft(*command, code=1, where=twin)
    assert "another directory's" in told
    assert "weft init NAME" in told
    assert "billing.py" not in told
    assert bench.health()["files"] == 1, "nothing of the first has ended"
    assert "billing.py" in bench.weft("context-pack", "billing")


def test_a_name_of_its_own_is_the_way_out(bench: Workbench, twin: Path) -> None:
    bench.weft("init", "invoicing", where=twin)
    bench.weft("index", where=twin)
    assert "invoices.py" in bench.weft("context-pack", "invoices", where=twin)
    assert "billing.py" in bench.weft("context-pack", "billing")


def test_the_same_project_in_two_places_is_said_to_be(bench: Workbench, twin: Path) -> None:
    bench.weft("init", where=twin)
    assert "billing.py" in bench.weft("context-pack", "billing", where=twin)


def test_one_that_was_moved_is_the_same(bench: Workbench, tmp_path: Path, twin: Path) -> None:
    there = tmp_path / "moved" / "api"
    there.parent.mkdir()
    shutil.move(bench.root, there)
    assert "billing" in bench.weft("context-pack", "billing", where=there)
    bench.weft("index", where=there)
    assert "another directory's" in bench.weft("index", code=1, where=twin), "it has the name there now"


def test_clones_of_one_remote_and_worktrees_are_one(bench: Workbench, tmp_path: Path) -> None:
    git(bench.root, "add", "-A")
    git(bench.root, "commit", "-qm", "x")
    git(bench.root, "worktree", "add", "-q", str(tmp_path / "trees" / "api"))
    assert "billing.py" in bench.weft("context-pack", "billing", where=tmp_path / "trees" / "api")
    git(bench.root, "remote", "add", "origin", "https://example.org/api.git")
    bench.weft("index")
    clone = repository(tmp_path / "clone" / "api", "billing")
    git(clone, "remote", "add", "origin", "https://ann:secret@example.org/api")
    assert "billing.py" in bench.weft("context-pack", "billing", where=clone)
    git(bench.root, "remote", "set-url", "origin", "https://example.org/fork.git")
    bench.weft("index")


def test_worktrees_are_one_whichever_is_indexed_first(tmp_path: Path) -> None:
    bench = Workbench(tmp_path)
    home = repository(tmp_path / "main" / "shop", "billing")
    git(home, "add", "-A")
    git(home, "commit", "-qm", "x")
    trees = [tmp_path / name / "shop" for name in ("one", "two")]
    for tree in trees:
        git(home, "worktree", "add", "-q", "-b", tree.parent.name, str(tree))
    for place in (*trees, home):
        assert "rebuild done" in bench.weft("index", where=place)


def test_who_watches_leaves_another_directorys_project_alone(bench: Workbench, twin: Path) -> None:
    first, bench.root = bench.root, twin
    with bench.started("watch") as watching:
        watching.line("another directory's")
    bench.root = first
    assert bench.health()["files"] == 1
