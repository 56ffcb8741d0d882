"""What changed since a commit or a moment, where git and the disk write the same in other ways; and who may see it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import weft
from tests.code.test_history import git, opened, run
from tests.code.test_history_branches import commit
from weft.code.index import history as code_history
from weft.code.index.index import index_workspace
from weft.core.errors import Invalid, NotFound
from weft.memory.facade import Memory

TWO = "def f():\n    return 1\n\n\ndef g():\n    return 2\n"


def repository(place: Path, monkeypatch: pytest.MonkeyPatch, *options: str) -> Path:
    place.mkdir()
    git(place, "init", "-q", "-b", "main", *options)
    monkeypatch.chdir(place)
    return place


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return repository(tmp_path / "repo", monkeypatch)


def changed(memory: Memory, since: str = "HEAD") -> Any:
    return run(memory, "diff_since", {"since": since})


def names(side: Any) -> set[str]:
    return {each.symbol or each.path for each in side}


def test_line_ends_that_git_writes_are_no_change(root: Path, tmp_path: Path) -> None:
    commit(root, {".gitattributes": "*.py text eol=crlf\n", "m.py": TWO})
    (root / "m.py").unlink()
    git(root, "checkout", "-q", "m.py")
    assert b"\r\n" in (root / "m.py").read_bytes()
    with opened(tmp_path) as memory:
        index_workspace(memory.ctx)
        assert changed(memory).summary.startswith("nothing changed")
        (root / "m.py").write_bytes(TWO.replace("2", "3").replace("\n", "\r\n").encode())
        index_workspace(memory.ctx)
        assert names(changed(memory).modified) == {"m.py", "g"}


def test_a_repository_may_name_contents_by_another_hash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = repository(tmp_path / "other", monkeypatch, "--object-format=sha256")
    commit(root, {"m.py": TWO, "n.py": "def n():\n    pass\n", "data.bin": "words"})
    with opened(tmp_path) as memory:
        index_workspace(memory.ctx)
        assert changed(memory).summary.startswith("nothing changed")
        (root / "m.py").write_text(TWO.replace("2", "3"))
        index_workspace(memory.ctx)
        assert names(changed(memory).modified) == {"m.py", "g"}


def test_files_of_submodules_are_not_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = repository(tmp_path / "inner", monkeypatch)
    commit(inner, {"i.py": TWO})
    root = repository(tmp_path / "outer", monkeypatch)
    git(root, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "sub")
    commit(root, {"m.py": TWO})
    (root / "new.py").write_text("def new():\n    pass\n")
    with opened(tmp_path) as memory:
        index_workspace(memory.ctx)
        found = changed(memory)
        assert names(found.added) == {"new.py", "new"}
        assert any("sub/i.py" in note for note in found.notes)


def test_what_git_told_of_other_times_is_no_change(root: Path, tmp_path: Path) -> None:
    first = commit(root, {"m.py": TWO})
    commit(root, {"m.py": TWO.replace("1", "0"), "n.py": TWO}, date="2026-02-01T10:00:00+00:00")
    with opened(tmp_path) as memory:
        index_workspace(memory.ctx)
        since = memory.ctx.store.transactions(memory.ctx.viewer, limit=1)[0].id
        run(memory, "graph_index_commit", {"commit": first})
        run(memory, "graph_index_commit", {"commit": "HEAD"})
        assert changed(memory, since).summary.startswith("nothing changed")
        (root / "m.py").write_text(TWO)
        index_workspace(memory.ctx)
        assert names(changed(memory, since).modified) == {"m.py", "f"}


def test_files_that_are_no_code_come_and_go_alike(root: Path, tmp_path: Path) -> None:
    commit(root, {"m.py": TWO, "old.bin": "old", ".hidden": "old", "old.md": "# Old\n"})
    for path in ("old.bin", ".hidden", "old.md"):
        (root / path).unlink()
    (root / "new.bin").write_text("new")
    with opened(tmp_path) as memory:
        index_workspace(memory.ctx)
        found = changed(memory)
        assert (names(found.added), names(found.removed)) == ({"new.bin"}, {"old.bin"})


def test_other_projects_do_not_hide_what_changed(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit(root, {"z.py": TWO})
    monkeypatch.setattr("weft.code.ask.diff.MOST_CHANGES", 5)
    with opened(tmp_path) as memory:
        index_workspace(memory.ctx)
        since = memory.ctx.store.transactions(memory.ctx.viewer, limit=1)[0].id
    other = tmp_path / "another"
    other.mkdir()
    (other / "a.py").write_text("".join(f"def f{number}():\n    pass\n" for number in range(9)))
    with weft.open(f"sqlite:///{tmp_path / 'store'}", directory=other) as memory:
        index_workspace(memory.ctx)
    (root / "z.py").write_text(TWO + "\n\ndef h():\n    pass\n")
    with opened(tmp_path) as memory:
        index_workspace(memory.ctx)
        found = changed(memory, since)
        assert names(found.added) == {"h"}
        assert found.notes == ()


def test_hidden_files_are_not_named(root: Path, tmp_path: Path) -> None:
    commit(root, {"secret_plan.py": TWO})
    with opened(tmp_path) as memory:
        index_workspace(memory.ctx)
    environment = {"WEFT_STORE": f"sqlite:///{tmp_path / 'store'}", "WEFT_SCOPES": "public", "HOME": str(tmp_path)}
    with weft.open(environment=environment) as memory:
        found = changed(memory)
        assert "secret_plan" not in repr(found)


def test_what_is_no_commit_is_said_to_be_none(root: Path, tmp_path: Path) -> None:
    commit(root, {"m.py": TWO})
    with opened(tmp_path) as memory:
        index_workspace(memory.ctx)
        with pytest.raises(NotFound, match="neither a git commit of this repository nor an agent"):
            changed(memory, "HEAD~99999")
        with pytest.raises(Invalid, match="neither a moment in time nor a commit"):
            run(memory, "graph_edges", {"as_of": "nosuchtag"})
        with pytest.raises(Invalid, match="not a moment in time"):
            run(memory, "graph_edges", {"as_of": "2026-13-01"})


def test_files_beyond_the_limit_are_counted(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit(root, {f"m{number}.py": TWO for number in range(4)})
    monkeypatch.setattr(code_history, "MAX_FILES", 3)
    with opened(tmp_path) as memory:
        done = code_history.index_commit(memory.ctx, "HEAD")
        assert done.files == 3
        assert any("first 3 of 4 source files" in note for note in done.notes)
