"""A project's name belongs to the directory that used it first: what was cloned cannot claim another's memories."""

from __future__ import annotations

import json
import stat
import subprocess
from pathlib import Path

import pytest

from tests.surfaces.hooks.conftest import Machine, Ran, claude, lines

KEPT = "The harbour tariff is four crowns."
ASKED = "what is the harbour tariff?"


def git(root: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(root), *arguments], check=True, capture_output=True)


def repository(root: Path, url: str = "") -> Path:
    root.mkdir(parents=True, exist_ok=True)
    git(root, "init", "-q")
    if url:
        git(root, "remote", "add", "origin", url)
    return root


def asked(machine: Machine, root: Path, **environment: str) -> Ran:
    payload = {**machine.said("claude-code", "s9", "UserPromptSubmit", prompt=ASKED), "cwd": str(root)}
    return machine.hook("context", "claude-code", payload, **environment)


@pytest.fixture
def known(machine: Machine) -> Machine:
    """A project that has used hooks."""
    repository(machine.root, "https://example.org/ferry.git")
    with machine.open() as memory:
        memory.remember(KEPT)
    assert KEPT in asked(machine, machine.root).out
    return machine


def evil(machine: Machine, name: str = "evil") -> Path:
    root = repository(machine.scratch / name, "https://example.org/evil.git")
    (root / "weft.toml").write_text('project = "ferry"\n')
    return root


def refused(done: Ran) -> bool:
    line = done.err.splitlines()
    return (
        (done.code, done.out, len(line)) == (0, "", 1) and "another directory" in done.err and "weft init" in done.err
    )


def test_a_file_that_was_cloned_gets_nothing_of_another_project(known: Machine) -> None:
    root = evil(known)
    assert refused(asked(known, root))
    known.root = root
    assert refused(known.run("context", ASKED))
    assert refused(known.run("context"))


def test_a_directory_of_the_same_name_gets_nothing(known: Machine) -> None:
    root = repository(known.scratch / "elsewhere" / "ferry", "https://example.org/other.git")
    assert refused(asked(known, root))
    inner = evil(known) / "ferry"
    inner.mkdir()
    (inner / "weft.toml").touch()
    assert refused(asked(known, inner))


def test_it_puts_nothing_into_another_project(known: Machine) -> None:
    root = evil(known)
    path = lines(known.scratch / "s1.jsonl", [claude("user", "The tariff is nothing at all.", 1, cwd=str(root))])
    payload = {**known.said("claude-code", "s1", "Stop", transcript_path=str(path)), "cwd": str(root)}
    assert refused(known.hook("capture", "claude-code", payload))
    told = {**known.said("claude-code", "s1", "Stop", prompt="The tariff is nothing."), "cwd": str(root)}
    assert refused(known.hook("capture", "claude-code", told))
    assert known.messages("claude-code-s1") == []


def test_clones_and_worktrees_of_one_remote_are_one(known: Machine) -> None:
    clone = repository(known.scratch / "again" / "ferry", "https://ann:secret@example.org/ferry")
    assert KEPT in asked(known, clone).out
    git(known.root, "-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-q", "--allow-empty", "-m", "x")
    git(known.root, "worktree", "add", "-q", str(known.scratch / "trees" / "ferry"))
    assert KEPT in asked(known, known.scratch / "trees" / "ferry").out
    assert "secret" not in (known.store / "roots.json").read_text()


def test_what_looks_like_a_repository_inside_what_was_cloned_is_none(known: Machine) -> None:
    root = evil(known) / "bare"
    subprocess.run(["git", "init", "-q", "--bare", str(root)], check=True)
    git(root, "remote", "add", "origin", "https://example.org/ferry.git")
    (root / "weft.toml").write_text('project = "ferry"\n')
    assert refused(asked(known, root))


def test_without_a_remote_the_path_counts_and_a_remote_may_come_later(machine: Machine) -> None:
    with machine.open() as memory:
        memory.remember(KEPT)
    assert KEPT in asked(machine, machine.root).out
    assert refused(asked(machine, evil(machine)))
    repository(machine.root, "https://example.org/ferry.git")
    assert KEPT in asked(machine, machine.root).out
    clone = repository(machine.scratch / "again" / "ferry", "https://example.org/ferry.git")
    assert KEPT in asked(machine, clone).out


def test_capture_takes_the_name_before_anything_is_kept(machine: Machine) -> None:
    told = machine.said("claude-code", "s1", "Stop", prompt="The tariff is four crowns.")
    assert machine.hook("capture", "claude-code", told).err == ""
    assert refused(asked(machine, evil(machine)))


def test_who_writes_by_hand_has_the_name(machine: Machine) -> None:
    assert machine.run("remember", KEPT).code == 0
    assert refused(asked(machine, evil(machine)))
    assert KEPT in asked(machine, machine.root).out


def test_the_user_says_that_it_is_the_same(known: Machine) -> None:
    first, root = known.root, evil(known)
    known.root = root
    done = known.run("init", "--json")
    assert (done.code, json.loads(done.out)["project"], json.loads(done.out).get("notes")) == (0, "ferry", None)
    assert KEPT in asked(known, root).out
    assert KEPT in asked(known, first).out
    assert known.run("init", "barge").code == 1  # the file says otherwise


@pytest.mark.parametrize("file", [False, True])
def test_what_the_user_set_is_taken_as_it_is(known: Machine, file: bool) -> None:
    root = repository(known.scratch / "other", "https://example.org/other.git")
    if file:
        (known.home / ".config" / "weft").mkdir(parents=True)
        (known.home / ".config" / "weft" / "weft.toml").write_text('project = "ferry"\n')
    assert KEPT in asked(known, root, **({} if file else {"WEFT_PROJECT": "ferry"})).out


def test_a_file_above_several_repositories_names_them_all(machine: Machine) -> None:
    (machine.scratch / "weft.toml").write_text('project = "harbour"\n')
    one = repository(machine.root, "https://example.org/ferry.git")
    two = repository(machine.scratch / "quay", "https://example.org/quay.git")
    with machine.open() as memory:
        memory.remember(KEPT)
    assert KEPT in asked(machine, one).out
    assert KEPT in asked(machine, two).out


def test_the_file_is_private_and_a_damaged_one_admits_nobody(known: Machine) -> None:
    place = known.store / "roots.json"
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    place.write_text("{")
    done = asked(known, known.root)
    assert (done.code, done.out, len(done.err.splitlines())) == (0, "", 1)
    assert "move it away" in done.err
