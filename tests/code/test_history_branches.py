"""Commits that are hard to place in time: of other branches, of one second, ahead of the clock, under edits."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

import weft
from tests.code.test_history import git, opened, run, state, symbols
from weft.code.index.history import index_commit
from weft.code.index.index import index_workspace
from weft.core.clock import to_iso
from weft.memory.facade import Memory
from weft.runtime.indexed_commits import Place

FAR = "4070908800 +0000"
EARLY = "2026-01-01T10:00:00+00:00"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty repository, which is the working directory."""
    place = tmp_path / "repo"
    place.mkdir()
    git(place, "init", "-q", "-b", "main")
    monkeypatch.chdir(place)
    return place


def commit(root: Path, files: Mapping[str, str | None], *, date: str = EARLY) -> str:
    """Writes files (None removes one), and commits all."""
    for path, text in files.items():
        if text is None:
            (root / path).unlink()
        else:
            (root / path).write_text(text)
    git(root, "add", "-A")
    git(root, "commit", "-q", "--allow-empty", "-m", "a version", date=date)
    return git(root, "rev-parse", "HEAD")


def indexed(memory: Memory, name: str) -> None:
    run(memory, "graph_index_commit", {"commit": name})


def notes(memory: Memory, as_of: str) -> tuple[str, ...]:
    return tuple(run(memory, "graph_edges", {"as_of": as_of}).notes)


def test_relations_of_what_is_gone_do_not_come_back_with_it(root: Path, tmp_path: Path) -> None:
    both = "def f0():\n    pass\n\n\ndef f2():\n    return f0()\n"
    first = commit(root, {"c.py": both, "a.py": "from c import f2\n\n\ndef g():\n    return f2()\n"})
    gone = {"c.py": "def f0():\n    pass\n", "a.py": "def g():\n    pass\n"}
    second = commit(root, gone, date="2026-01-02T10:00:00+00:00")
    third = commit(root, {"c.py": both.replace("return f0()", "pass")}, date="2026-01-03T10:00:00+00:00")
    with opened(tmp_path) as memory:
        indexed(memory, first)
        indexed(memory, second)
        index_workspace(memory.ctx)
        indexed(memory, third)
        for moment in (None, third):
            assert {rel for _, rel, _ in state(memory, moment)} == {"CONTAINS"}
        assert ("c.py::f2", "CALLS", "c.py::f0") in state(memory, first)


def test_relations_of_what_is_gone_stay_gone_in_a_large_change(root: Path, tmp_path: Path) -> None:
    calling = {f"m{n}.py": "def f():\n    return g()\n\n\ndef g():\n    pass\n" for n in range(50)}
    first = commit(root, calling)
    commit(root, dict.fromkeys(calling, "def f():\n    pass\n"), date="2026-01-02T10:00:00+00:00")
    with opened(tmp_path) as memory:
        indexed(memory, first)
        index_workspace(memory.ctx)
        for path in calling:
            Path(path).write_text("def f():\n    pass\n\n\ndef g():\n    pass\n")
        index_workspace(memory.ctx)
        assert {rel for _, rel, _ in state(memory, None)} == {"CONTAINS"}


def test_a_method_whose_class_comes_back_has_one_place(root: Path, tmp_path: Path) -> None:
    kind, method = "type S struct{}\n", "func (s *S) m() {}\n"
    versions = [
        {"a.go": f"package p\n{kind}{method}"},
        {"a.go": f"package p\n{method}", "b.go": f"package p\n{kind}"},
        {"a.go": f"package p\n{kind}{method}", "b.go": None},
    ]
    made = [commit(root, files, date=f"2026-01-0{n}T10:00:00+00:00") for n, files in enumerate(versions, start=1)]
    with opened(tmp_path) as memory:
        for each in made:
            indexed(memory, each)
        inside = [
            [src for src, rel, dst in state(memory, each) if (rel, dst) == ("CONTAINS", "a.go::S::m")] for each in made
        ]
        assert inside == [["a.go::S"], ["a.go"], ["a.go::S"]]


@pytest.mark.parametrize("first", ["disk", "git"])
def test_what_the_working_tree_says_holds_now(root: Path, tmp_path: Path, first: str) -> None:
    commit(root, {"m.py": "def mainf():\n    pass\n", "k.py": "def keep():\n    pass\n"})
    with opened(tmp_path) as memory:
        if first == "git":
            indexed(memory, "HEAD")  # so there is nothing new on the disk
        index_workspace(memory.ctx)
        today = state(memory, None)
        git(root, "checkout", "-q", "-b", "feat")
        Path("loose.py").write_text("def loose():\n    pass\n")
        feat = {"m.py": "def featf():\n    pass\n", "k.py": None}
        date = "2026-02-01T10:00:00+00:00" if first == "git" else _just_now(memory)
        commit(root, feat, date=date)
        git(root, "checkout", "-q", "main")
        indexed(memory, "feat")
        assert state(memory, None) == today
        assert symbols(memory, "feat") == {"m.py::featf", "loose.py::loose"}
        assert index_workspace(memory.ctx).files == 0
        assert state(memory, None) == today


def _just_now(memory: Memory) -> str:
    return f"{memory.ctx.clock.now_us() // 1_000_000} +0000"


def test_a_commit_that_changes_nothing_is_known_too(root: Path, tmp_path: Path) -> None:
    one, other = "def f():\n    pass\n", "def f():\n    return 1\n\n\ndef g():\n    pass\n"
    made = [
        commit(root, {"m.py": text}, date=f"2026-01-0{number}T10:00:00+00:00")
        for number, text in enumerate((one, other, one), start=1)
    ]
    with opened(tmp_path) as memory:
        for place in (0, 2, 1):
            indexed(memory, made[place])
        assert [len(symbols(memory, each)) for each in made] == [1, 2, 1]
        assert all(notes(memory, each) == () for each in made)
        assert len(symbols(memory, None)) == 1


def test_as_of_a_commit_shows_no_later_edits(root: Path, tmp_path: Path) -> None:
    commit(root, {"m.py": "def f():\n    pass\n"})
    with opened(tmp_path) as memory:
        index_workspace(memory.ctx)
        for number in range(25):
            Path("m.py").write_text(f"def edit{number}():\n    pass\n")
            index_workspace(memory.ctx)
        assert symbols(memory, "HEAD") == {"m.py::f"}
        assert ["working tree" in note for note in notes(memory, "HEAD")] == [True]
        indexed(memory, "HEAD")
        assert symbols(memory, "HEAD") == {"m.py::f"}
        assert notes(memory, "HEAD") == ()
        assert symbols(memory, None) == {"m.py::edit24"}


def test_the_first_look_at_a_commit_may_take_many_writes(root: Path, tmp_path: Path) -> None:
    commit(root, {f"m{n}.py": "def f():\n    return g()\n\n\ndef g():\n    pass\n" for n in range(130)})
    with opened(tmp_path) as memory:
        index_workspace(memory.ctx)
        today = state(memory, None)
        Path("m0.py").write_text("def f():\n    pass\n")
        index_workspace(memory.ctx)
        assert state(memory, "HEAD") == today != state(memory, None)


def test_another_clone_in_the_store_changes_nothing(root: Path, tmp_path: Path) -> None:
    commit(root, {"m.py": "def f():\n    pass\n"})
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(root), str(clone))
    store = f"sqlite:///{tmp_path / 'store'}"
    with weft.open(store, directory=clone) as memory:
        index_workspace(memory.ctx)
        before = symbols(memory, "HEAD")
    with weft.open(store, directory=root) as memory:
        for number in range(25):
            (root / "m.py").write_text(f"def edit{number}():\n    pass\n")
            index_workspace(memory.ctx)
    with weft.open(store, directory=clone) as memory:
        assert symbols(memory, "HEAD") == before != set()


def test_commits_of_one_second_are_told_apart(root: Path, tmp_path: Path) -> None:
    made = [commit(root, {"m.py": f"def f{number}():\n    pass\n"}) for number in range(3)]
    git(root, "checkout", "-q", "-b", "side", made[1])
    made.append(commit(root, {"m.py": "def f3():\n    pass\n"}))
    git(root, "checkout", "-q", "main")
    with opened(tmp_path) as memory:
        for place in (1, 3, 0, 2):
            indexed(memory, made[place])
        assert [symbols(memory, each) for each in made] == [{f"m.py::f{number}"} for number in range(4)]


def test_a_commit_ahead_of_the_clock_is_one_of_now(root: Path, tmp_path: Path) -> None:
    commit(root, {"m.py": "def f():\n    pass\n"}, date=FAR)
    with opened(tmp_path) as memory:
        done = index_commit(memory.ctx, "HEAD")
        assert any("ahead of this clock" in note for note in done.notes)
        index_workspace(memory.ctx)
        assert symbols(memory, None) == symbols(memory, "HEAD") == {"m.py::f"}


def test_what_was_told_of_a_time_to_come_is_told_of_now(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(root, {"m.py": "def f():\n    return g()\n\n\ndef g():\n    pass\n"}, date=FAR)
    far = int(FAR.split(maxsplit=1)[0]) * 1_000_000
    with opened(tmp_path) as memory:
        with monkeypatch.context() as patched:
            patched.setattr("weft.code.index.history.place_of", lambda *_: Place(far, None, known=False))
            indexed(memory, "HEAD")
        assert symbols(memory, None) == set()
        index_workspace(memory.ctx)
        assert ("m.py::f", "CALLS", "m.py::g") in state(memory, None)
        Path("m.py").write_text("def h():\n    pass\n")
        index_workspace(memory.ctx)
        assert symbols(memory, None) == symbols(memory, to_iso(far + 1)) == {"m.py::h"}
        indexed(memory, "HEAD")
        assert symbols(memory, "HEAD") == {"m.py::f", "m.py::g"}


def test_a_commit_at_the_beginning_of_time_is_found(root: Path, tmp_path: Path) -> None:
    commit(root, {"m.py": "def f():\n    pass\n"}, date="@0 +0000")
    with opened(tmp_path) as memory:
        index_workspace(memory.ctx)
        Path("m.py").write_text("def g():\n    pass\n")
        index_workspace(memory.ctx)
        indexed(memory, "HEAD")
        assert symbols(memory, "HEAD") == {"m.py::f"}
