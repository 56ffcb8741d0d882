"""Commits out of git: indexed in any order, each for its own time; and what changed since one."""

from __future__ import annotations

import itertools
import subprocess
from pathlib import Path
from typing import Any

import pytest

import weft
from weft.code.index.history import index_commit
from weft.code.index.index import index_workspace
from weft.core.clock import to_iso
from weft.core.errors import NotFound
from weft.memory.facade import Memory

TILL = "from shop.price import total\n\n\ndef pay(basket):\n    return total(basket)\n"
VERSIONS = (
    {
        "shop/till.py": TILL,
        "shop/price.py": "def total(basket):\n    return sum(basket)\n\n\ndef old(basket):\n    return 0\n",
        "shop/__init__.py": "",
    },
    {
        "shop/till.py": TILL + "\n\ndef refund():\n    pay([])\n",
        "shop/price.py": "def total(basket):\n    return sum(basket) + 1\n",
        "shop/__init__.py": "",
        "shop/gift.py": "from shop import till\n\n\ndef wrap():\n    till.pay([])\n",
    },
    {
        "shop/till.py": TILL,
        "shop/price.py": "def total(basket):\n    return sum(basket) + 2\n\n\ndef old(basket):\n    return 1\n",
        "shop/__init__.py": "",
    },
)
DATES = ("2026-01-01T10:00:00+00:00", "2026-02-01T10:00:00+00:00", "2026-03-01T10:00:00+00:00")


def git(root: Path, *arguments: str, date: str = DATES[0]) -> str:
    env = {
        "GIT_AUTHOR_DATE": date,
        "GIT_COMMITTER_DATE": date,
        "HOME": str(root),
        "PATH": "/usr/bin:/bin:/usr/local/bin",
    }
    own = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "commit.gpgsign=false")
    done = subprocess.run(
        ["git", "-C", str(root), *own, *arguments], capture_output=True, text=True, env=env, check=True
    )
    return done.stdout.strip()


@pytest.fixture
def commits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """A repository of three commits, checked out at the last."""
    root = tmp_path / "shop-repo"
    root.mkdir()
    git(root, "init", "-q")
    made = []
    for files, date in zip(VERSIONS, DATES, strict=True):
        for known in root.glob("shop/*.py"):
            known.unlink()
        for path, text in files.items():
            (root / path).parent.mkdir(exist_ok=True)
            (root / path).write_text(text)
        git(root, "add", "-A")
        git(root, "commit", "-q", "-m", "a version", date=date)
        made.append(git(root, "rev-parse", "HEAD"))
    monkeypatch.chdir(root)
    return tuple(made)


def opened(tmp_path: Path, name: str = "store") -> Memory:
    return weft.open(f"sqlite:///{tmp_path / name}")


def run(memory: Memory, name: str, given: dict[str, Any]) -> Any:
    return memory.call(name, **given)


def state(memory: Memory, as_of: str | None) -> set[tuple[str, str, str]]:
    """Everything that holds at a moment: symbols with their words, relations."""
    nodes = run(memory, "graph_edges", {"limit": 1000, **({"as_of": as_of} if as_of else {})}).edges
    return {(each.src, each.rel, each.dst) for each in nodes}


def symbols(memory: Memory, as_of: str | None) -> set[str]:
    return {dst for _, rel, dst in state(memory, as_of) if rel == "CONTAINS"}


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))), ids=str)
def test_commits_are_indexed_in_any_order(commits: tuple[str, ...], tmp_path: Path, order: tuple[int, ...]) -> None:
    with opened(tmp_path) as memory:
        for place in order:
            index_commit(memory.ctx, commits[place])
        found = [state(memory, commit) for commit in commits]
        for place, commit in enumerate(commits):
            with opened(tmp_path, f"alone-{place}") as alone:
                index_commit(alone.ctx, commit)
                assert found[place] == state(alone, None), f"as of commit {place}"
        assert ("shop/till.py::pay", "CALLS", "shop/price.py::total") in found[0]
        assert "shop/till.py::refund" in symbols(memory, commits[1]) - symbols(memory, commits[0])
        assert "shop/price.py::old" in symbols(memory, commits[2]) - symbols(memory, commits[1])
        again = index_commit(memory.ctx, commits[1])
        assert (again.files, again.links, again.unlinked, again.ended) == (0, 0, 0, 0)


def test_history_behind_what_is_on_disk_changes_nothing_of_today(commits: tuple[str, ...], tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        index_workspace(memory.ctx)
        today = state(memory, None)
        for commit in (commits[1], commits[0]):
            index_commit(memory.ctx, commit)
        assert state(memory, None) == today
        assert "shop/gift.py::wrap" in symbols(memory, commits[1])
        assert "shop/gift.py::wrap" not in symbols(memory, commits[0]) | symbols(memory, None)
        done = index_workspace(memory.ctx)
        assert (done.files, done.links, done.ended) == (0, 0, 0)


def test_what_changed_since_a_commit_that_was_never_indexed(commits: tuple[str, ...], tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        index_workspace(memory.ctx)
        changed = run(memory, "diff_since", {"since": commits[0][:10]})
        assert {each.symbol for each in changed.modified if each.type == "Function"} == {"total", "old"}
        assert changed.added == changed.removed == ()
        since_second = run(memory, "diff_since", {"since": commits[1]})
        assert {(each.type, each.symbol or each.path) for each in since_second.removed} == {
            ("Function", "refund"),
            ("File", "shop/gift.py"),
            ("Function", "wrap"),
        }
        assert {each.symbol for each in since_second.added} == {"old"}
        only = run(memory, "diff_since", {"since": commits[1], "types": ["FILE"]})
        assert [each.path for each in only.removed] == ["shop/gift.py"]
        assert run(memory, "diff_since", {"since": commits[2]}).summary.startswith("nothing changed")


def test_what_changed_since_a_moment_a_transaction_and_an_agent(commits: tuple[str, ...], tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        index_workspace(memory.ctx)
        first = memory.ctx.store.transactions(memory.ctx.viewer, limit=1)[0]
        Path("shop/till.py").write_text("def pay(basket):\n    return 0\n\n\ndef later():\n    pay([])\n")
        Path("shop/price.py").unlink()
        index_workspace(memory.ctx)
        for since in (first.id, to_iso(first.at)):
            changed = run(memory, "diff_since", {"since": since})
            assert {each.symbol for each in changed.added} == {"later"}
            assert {each.symbol for each in changed.removed if each.symbol} == {"total", "old"}
            assert {each.symbol for each in changed.modified if each.symbol} == {"pay"}
            assert changed.tx_ids
        assert run(memory, "diff_since", {"since": first.agent}).summary.startswith("nothing changed")


@pytest.mark.parametrize("since", ["nobody", "deadbeefdeadbeef", "tx-0000000000000000"])
def test_what_is_not_known_is_said_with_a_next_step(commits: tuple[str, ...], tmp_path: Path, since: str) -> None:
    with opened(tmp_path) as memory:
        index_workspace(memory.ctx)
        with pytest.raises(NotFound) as told:
            run(memory, "diff_since", {"since": since})
        assert told.value.hint
        with pytest.raises(NotFound):
            index_commit(memory.ctx, "no-such-branch")


def test_names_that_git_knows_are_commits(commits: tuple[str, ...], tmp_path: Path) -> None:
    git(Path.cwd(), "tag", "v1", commits[0])
    with opened(tmp_path) as memory:
        index_workspace(memory.ctx)
        assert run(memory, "diff_since", {"since": "v1"}).modified
        assert run(memory, "diff_since", {"since": "HEAD"}).summary.startswith("nothing changed")
        told = run(memory, "graph_edges", {"as_of": "v1"})
        assert any("never indexed" in note for note in told.notes)
        index_commit(memory.ctx, "v1")
        told = run(memory, "graph_edges", {"as_of": "v1", "rel": "CALLS"})
        assert not told.notes
        assert [(each.src, each.dst) for each in told.edges] == [("shop/till.py::pay", "shop/price.py::total")]


def test_another_workspace_of_the_store_does_not_end_a_commit(commits: tuple[str, ...], tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "tide.py").write_text("def tide():\n    pass\n")
    store = f"sqlite:///{tmp_path / 'store'}"
    with weft.open(store, directory=other) as memory:
        index_workspace(memory.ctx)
        between = to_iso(memory.ctx.clock.now_us())
    with opened(tmp_path) as memory:
        index_commit(memory.ctx, commits[0])
        assert "shop/till.py::pay" in symbols(memory, between)


def test_files_that_are_there_and_passed_over_are_not_gone(commits: tuple[str, ...], tmp_path: Path) -> None:
    Path("weft.toml").write_text('ignore = ["shop/price.py"]\n')
    with opened(tmp_path) as memory:
        index_workspace(memory.ctx)
        changed = run(memory, "diff_since", {"since": "HEAD"})
        assert changed.removed == ()
        assert any("shop/price.py" in note for note in changed.notes)


def test_what_a_viewer_may_not_see_is_in_no_difference(commits: tuple[str, ...], tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        index_workspace(memory.ctx)
    environment = {"WEFT_STORE": f"sqlite:///{tmp_path / 'store'}", "WEFT_SCOPES": "public", "HOME": str(tmp_path)}
    with weft.open(environment=environment) as memory:
        changed = run(memory, "diff_since", {"since": commits[1]})
        assert changed.added == changed.removed == changed.modified == ()


def test_files_that_changed_since_they_were_indexed_are_named(commits: tuple[str, ...], tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        index_workspace(memory.ctx)
        Path("shop/till.py").write_text("def pay():\n    pass\n")
        changed = run(memory, "diff_since", {"since": "HEAD"})
        assert any("shop/till.py" in note for note in changed.notes)
