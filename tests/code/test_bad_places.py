"""What lies in a workspace and is not read as it stands there: links, pipes, paths too long. All of it is named."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

import weft
from tests.code.workbench import Workbench
from weft.code.ask.graph_health import GraphHealth
from weft.code.index.index import CodeIndexed, index_workspace
from weft.core.types import NOW, Find

WHERE_IT_LIES = "is a link to a file that is indexed under its own path"


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    made = Workbench(tmp_path)
    made.write("sound.py", "def sound():\n    return 1\n")
    made.write("pkg/a.py", "def a():\n    return 1\n")
    return made


@pytest.fixture
def memory(bench: Workbench) -> Iterator[weft.Memory]:
    with bench.open() as made:
        yield made


def health(memory: weft.Memory) -> GraphHealth:
    found: GraphHealth = memory.call("graph_health")
    return found


def told(done: CodeIndexed | GraphHealth) -> dict[str, str]:
    skipped = done.skipped if isinstance(done, CodeIndexed) else done.problems
    return {each.path: each.reason for each in skipped}


def files(memory: weft.Memory) -> set[str]:
    ctx = memory.ctx
    return {
        str(node.props["path"]) for node in ctx.store.find(ctx.viewer, NOW, Find(kinds=("File",)), limit=10_000).nodes
    }


def test_links_are_named_with_where_they_lead(bench: Workbench, memory: weft.Memory) -> None:
    (bench.scratch / "secret.py").write_text("def secret():\n    pass\n")
    for name, target in {
        "link.py": "sound.py",
        "folder": "pkg",
        "pkg/up": "..",
        "nowhere.py": "missing.py",
        "circle.py": "circle.py",
        "out.py": str(bench.scratch / "secret.py"),
        "README.md": "sound.py",
        "ignored.py": "sound.py",
        ".hidden.py": "sound.py",
    }.items():
        (bench.root / name).symlink_to(target)
    bench.write(".gitignore", "ignored.py\n")
    expected = {
        "link.py": f"{WHERE_IT_LIES}: sound.py",
        "folder": f"{WHERE_IT_LIES}: pkg",
        "pkg/up": f"{WHERE_IT_LIES}: the workspace itself",
        "nowhere.py": "is a link to a file that does not exist",
        "circle.py": "is a link to itself",
        "out.py": "is a link to a place outside of the workspace, which is not indexed",
    }
    done = index_workspace(memory.ctx)
    assert told(done) == expected
    assert done.reasons[WHERE_IT_LIES] == 3, "one reason, wherever each leads"
    assert files(memory) == {"sound.py", "pkg/a.py"}
    again = index_workspace(memory.ctx)
    assert (told(again), again.unchanged) == (expected, 2), "named every time, and nothing is done for it"
    assert told(health(memory)) == expected
    assert told(index_workspace(memory.ctx, paths=["pkg"])) == {"pkg/up": expected["pkg/up"]}
    assert told(index_workspace(memory.ctx, paths=["link.py"])) == {"link.py": expected["link.py"]}


def test_very_many_links_are_counted_and_some_are_named(bench: Workbench, memory: weft.Memory) -> None:
    for number in range(1_100):
        (bench.root / f"link{number:04}.py").symlink_to("sound.py")
    (bench.root / "zero.py").symlink_to("missing.py")
    done = index_workspace(memory.ctx)
    assert sum(done.reasons.values()) == 1_101
    assert len(done.skipped) == 100
    assert any("1,001 more" in note for note in done.notes)
    found = health(memory)
    assert len(found.problems) == 20
    assert found.notes == ("and 1,081 more skipped or partly read files",)


def test_a_command_names_a_file_of_every_reason(bench: Workbench) -> None:
    for number in range(40):
        (bench.root / f"link{number:02}.py").symlink_to("sound.py")
    (bench.root / "zero.py").write_bytes(b"x = '\xff'\n")
    printed = bench.weft("index")
    assert f"40 {WHERE_IT_LIES}: link00.py, link01.py, link02.py and 37 more" in printed
    assert "zero.py: is not UTF-8 text" in printed


def test_a_pipe_that_is_asked_for_by_name_is_told(bench: Workbench) -> None:
    os.mkfifo(bench.root / "pipe.py")
    assert "pipe.py: is not a file" in bench.weft("index", "pipe.py")


def test_pipes_and_sockets_are_named_and_do_not_wait_to_be_indexed(bench: Workbench, memory: weft.Memory) -> None:
    os.mkfifo(bench.root / "pipe.py")
    with socket.socket(socket.AF_UNIX) as listening:
        _bind(listening, bench.root)
        done = index_workspace(memory.ctx)
        assert told(done) == {"pipe.py": "is not a file", "sock": "is not a file"}
        found = health(memory)
    assert told(found) == told(done)
    assert (found.pending_changes, found.pending) == (0, ())


def _bind(listening: socket.socket, root: Path) -> None:
    """The name of a socket may have 100 characters at most, and a scratch directory's path has more at times."""
    handle = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    listening.bind(f"/proc/self/fd/{handle}/sock")
    os.close(handle)


def test_a_file_that_becomes_a_pipe_ends(bench: Workbench, memory: weft.Memory) -> None:
    index_workspace(memory.ctx)
    (bench.root / "sound.py").unlink()
    os.mkfifo(bench.root / "sound.py")
    assert index_workspace(memory.ctx).ended == 1
    assert files(memory) == {"pkg/a.py"}


def test_names_that_cannot_be_kept_do_not_wait_to_be_indexed(bench: Workbench, memory: weft.Memory) -> None:
    (bench.root / os.fsdecode(b"bad\xff.py")).write_text("x = 1\n")
    deep = "/".join(["d" * 200] * 4)
    bench.write(f"{deep}/deep.py", "x = 1\n")
    done = index_workspace(memory.ctx)
    assert told(done) == {
        "bad?.py": "its name is not UTF-8",
        f"{deep}/deep.py": "its path has more than 700 characters",
    }
    found = health(memory)
    assert (told(found), found.pending) == (told(done), ())


def test_a_path_that_the_system_takes_no_more_costs_nothing_but_itself(bench: Workbench, memory: weft.Memory) -> None:
    (bench.root / "notes.cfg").write_text("a = 1\n")
    here = os.open(bench.root, os.O_RDONLY)
    for _ in range(25):  # over 4,096 characters: no call takes it as a whole
        os.mkdir("d" * 200, dir_fd=here)
        below = os.open("d" * 200, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    done = index_workspace(memory.ctx)
    (reason,) = told(done).values()
    assert reason == "cannot be listed: File name too long"
    assert files(memory) == {"sound.py", "pkg/a.py", "notes.cfg"}, "other files are indexed all the same"
    assert told(health(memory)) == told(done)


def test_no_name_steers_a_terminal(bench: Workbench) -> None:
    bad = "a\nb\x1b[31m.py"
    bench.write(bad, "def steer():\n    return 1\n")
    (bench.root / "li\x07nk\n.py").symlink_to(bad)
    bench.weft("index", bad)
    for arguments in (
        ("index",),
        ("index", bad),
        ("graph", "health"),
        ("graph", "edges"),
        ("diff-since", "2020-01-01"),
        ("find-similar-code", "steer"),
    ):
        printed = bench.weft(*arguments)
        assert "b\x1b" not in printed, arguments
        assert "\x07" not in printed, arguments
        assert not any(line.startswith(("b.py", "b[31m.py", ".py")) for line in printed.splitlines()), arguments


def test_a_command_groups_what_it_passes_over(bench: Workbench) -> None:
    for number in range(5):
        (bench.root / f"link{number}.py").symlink_to("sound.py")
    (bench.root / "nowhere.py").symlink_to("missing.py")
    printed = bench.weft("index")
    assert f"5 {WHERE_IT_LIES}: link0.py, link1.py, link2.py and 2 more" in printed
    assert "nowhere.py: is a link to a file that does not exist" in printed


@pytest.mark.parametrize("codec", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"])
def test_wide_text_is_told_with_what_to_do(bench: Workbench, memory: weft.Memory, codec: str) -> None:
    text = "# Preis in Euro: größer als 5 €\r\ndef preis():\n    return '🛳'\n" * 40
    (bench.root / "wide.py").write_bytes(text.encode(codec))
    form = codec.upper()[:6]
    assert told(index_workspace(memory.ctx)) == {"wide.py": f"is {form} text: save it as UTF-8"}
    assert told(health(memory)) == {"wide.py": f"is {form} text: save it as UTF-8"}


@pytest.mark.parametrize(
    "raw", [b"x = 1\x00\n", b"\x00" * 64, b"\x7fELF\x02\x01\x01" + b"\x00" * 40, b"\xff\xfea\x00\x00\x00"]
)
def test_what_is_no_text_is_not_taken_for_wide_text(bench: Workbench, memory: weft.Memory, raw: bytes) -> None:
    (bench.root / "bin.py").write_bytes(raw)
    assert told(index_workspace(memory.ctx)) == {"bin.py": "contains NUL characters: not a text file"}
