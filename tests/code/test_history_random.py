"""Histories made at random, indexed in any order, between looks at the disk."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

import weft
from tests.code.test_history import git, run, state
from weft.code.index.index import index_workspace
from weft.memory.facade import Memory

NAMES = ("a", "b", "c", "d")
COMMITS = 5
SECONDS_BETWEEN = (0, 3_600, 86_400)  # a rebase makes many commits in one second
BEGIN_S = 1_735_689_600


def source(chance: random.Random, own: str) -> str:
    """A module that may import from others, and define some of three functions that call what it has."""
    imported = [(other, f"f{chance.randint(0, 2)}") for other in NAMES if other != own and chance.random() < 0.5]
    lines = [f"from {module} import {name}" for module, name in imported]
    known = [*(name for _, name in imported), "g", "f0"]
    lines += [
        f"def f{number}(x):\n    return {chance.choice(known)}(x)" for number in range(3) if chance.random() < 0.7
    ]
    return "\n".join(lines) + "\n"


def history(chance: random.Random, root: Path) -> list[str]:
    """Commits a random history with branches, checked out at its end."""
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    made, at = [], BEGIN_S
    for _ in range(COMMITS):
        if made and chance.random() < 0.3:
            git(root, "checkout", "-q", "--detach", chance.choice(made))
        for name in NAMES:
            what, path = chance.random(), root / f"{name}.py"
            if what < 0.5:
                path.write_text(source(chance, name))
            elif what < 0.65:
                path.unlink(missing_ok=True)
        at += chance.choice(SECONDS_BETWEEN)
        git(root, "add", "-A")
        git(root, "commit", "-q", "--allow-empty", "-m", "a version", date=f"{at} +0000")
        made.append(git(root, "rev-parse", "HEAD"))
    git(root, "checkout", "-q", "-B", "main")
    return made


def opened(root: Path, store: Path) -> Memory:
    return weft.open(f"sqlite:///{store}", directory=root)


def as_it_is(tmp_path: Path, root: Path, commit: str) -> set[tuple[str, str, str]]:
    """What a store says that knows nothing but the files of one commit."""
    place = tmp_path / commit / root.name
    git(root, "worktree", "add", "-q", "--detach", str(place), commit)
    with opened(place, tmp_path / f"{commit}.store") as memory:
        index_workspace(memory.ctx)
        found = state(memory, None)
    shutil.rmtree(tmp_path / commit)
    return found


def look(chance: random.Random, memory: Memory, root: Path, commits: list[str]) -> None:
    """Indexes the working tree, now and then after one of another commit."""
    if chance.random() < 0.5:
        git(root, "checkout", "-q", chance.choice(commits))
        index_workspace(memory.ctx, full=chance.random() < 0.3)
        git(root, "checkout", "-q", "main")
    index_workspace(memory.ctx)


@pytest.mark.parametrize("seed", range(8))
def test_each_commit_is_what_a_store_of_its_own_says(tmp_path: Path, seed: int) -> None:
    check(tmp_path, seed)


def check(tmp_path: Path, seed: int) -> None:
    chance, root = random.Random(seed), tmp_path / "repo"
    commits = history(chance, root)
    true = [as_it_is(tmp_path, root, commit) for commit in commits]
    order = chance.sample(range(COMMITS), COMMITS)
    looks = {chance.randint(0, COMMITS) for _ in range(chance.randint(1, 2))}
    with opened(root, tmp_path / "store") as memory:
        for number, place in enumerate(order):
            if number in looks:
                look(chance, memory, root, commits)
            run(memory, "graph_index_commit", {"commit": commits[place]})
        if COMMITS in looks:
            look(chance, memory, root, commits)
        told = f"seed {seed}, order {order}, looks at the disk before {looks}"
        for place, commit in enumerate(commits):
            assert state(memory, commit) == true[place], f"commit {place}: {told}"
        assert state(memory, None) == true[-1], f"now: {told}"
