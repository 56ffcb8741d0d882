"""What is saved is in the graph a moment later: by any editor, in any folder, with several who watch."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.code.workbench import Workbench, read_only, served
from tests.stand_ins import embedding_server
from tests.waiting import wait_for
from weft.code.watch.watch import MAX_BATCH, Watcher
from weft.core.types import NOW, Find
from weft.runtime.call_context import CallContext


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    made = Workbench(tmp_path)
    made.write("a.py", "def a():\n    return 1\n")
    return made


class Watched:
    """A watcher in this process, and what the graph says."""

    def __init__(self, bench: Workbench, ctx: CallContext, **options: Any) -> None:
        self.bench, self.ctx = bench, ctx
        self.batches: list[str] = []
        self.watcher = Watcher(ctx, tell=lambda batch: self.batches.append(batch.line), first=True, **options).start()
        self.settled()

    def settled(self) -> None:
        wait_for(lambda: self.watcher.state == "idle" and bool(self.batches), "an idle watcher")

    def names(self) -> set[str]:
        find = Find(kinds=("Function", "Class", "Test"), projects=("pier",))
        return {node.name for node in self.ctx.store.find(self.ctx.viewer, NOW, find, limit=10_000).nodes}

    def files(self) -> set[str]:
        find = Find(kinds=("File",), projects=("pier",))
        return {str(node.props["path"]) for node in self.ctx.store.find(self.ctx.viewer, NOW, find, limit=10_000).nodes}

    def shows(self, *names: str) -> None:
        """The graph says so, soon."""
        wait_for(lambda: self.names() == set(names), f"{names}, but {self.names()}")

    def changes(self) -> int:
        return len(self.ctx.store.transactions(self.ctx.viewer, limit=1_000))


@pytest.fixture
def watched(bench: Workbench) -> Iterator[Watched]:
    with bench.open() as memory:
        made = Watched(bench, memory.ctx)
        yield made
        made.watcher.stop()
        assert made.watcher.join(10)


def test_files_that_are_saved_renamed_and_deleted_are_followed(bench: Workbench, watched: Watched) -> None:
    watched.shows("a")
    bench.write("a.py", "def a():\n    return 1\n\n\ndef more():\n    return a()\n")
    watched.shows("a", "more")
    before = watched.changes()
    draft = bench.write(".a.py.swp", "def a():\n    return 3\n\n\ndef other():\n    return a()\n")  # as editors save
    draft.replace(bench.root / "a.py")
    watched.shows("a", "other")
    assert watched.changes() == before + 1  # one change of the graph for one save
    bench.write("deep/er/b.py", "def b():\n    return 1\n")
    watched.shows("a", "other", "b")
    bench.write("deep/er/c.py", "def c():\n    return 1\n")  # the new folder is watched too
    watched.shows("a", "other", "b", "c")
    (bench.root / "deep").rename(bench.root / "deeper")
    wait_for(lambda: watched.files() == {"a.py", "deeper/er/b.py", "deeper/er/c.py"})
    bench.write("deeper/er/c.py", "def c2():\n    return 1\n")
    watched.shows("a", "other", "b", "c2")
    shutil.rmtree(bench.root / "deeper")
    watched.shows("a", "other")
    (bench.root / "a.py").unlink()
    watched.shows()


def test_what_is_passed_over_is_not_watched_and_patterns_may_change(bench: Workbench, watched: Watched) -> None:
    bench.write(".gitignore", "out/\n*.gen.py\n")
    bench.write("out/o.py", "def o():\n    return 1\n")
    bench.write("x.gen.py", "def x():\n    return 1\n")
    bench.write(".hidden/h.py", "def h():\n    return 1\n")
    bench.write("b.py", "def b():\n    return 1\n")
    watched.shows("a", "b")
    bench.write(".gitignore", "b.py\n")
    watched.shows("a", "o", "x")
    bench.write("out/o.py", "def o2():\n    return 1\n")  # its folder is watched from now on
    watched.shows("a", "o2", "x")
    (bench.root / ".gitignore").unlink()
    watched.shows("a", "b", "o2", "x")


def test_loops_of_links_and_files_that_are_none_do_no_harm(bench: Workbench, watched: Watched) -> None:
    (bench.root / "loop").symlink_to(bench.root, target_is_directory=True)
    (bench.root / "self.py").symlink_to(bench.root / "self.py")
    os.mkfifo(bench.root / "pipe.py")
    (bench.root / "bad.py").write_bytes(b"\xff\xfe\x00def x")
    bench.write("loop/b.py", "def b():\n    return 1\n")
    watched.shows("a", "b")
    assert "b.py" in watched.files()
    assert not any("loop" in path or "pipe" in path or "self" in path for path in watched.files())


def test_many_changes_at_once_are_one_look_at_everything(bench: Workbench, watched: Watched) -> None:
    for number in range(MAX_BATCH + 20):
        (bench.root / f"n{number}.dat").write_text("x")
    bench.write("z.py", "def z():\n    return 1\n")
    watched.shows("a", "z")
    wait_for(lambda: len(watched.files()) == MAX_BATCH + 22)
    assert len(watched.batches) < 10


def test_a_workspace_that_goes_and_comes_back_is_watched_again(bench: Workbench, watched: Watched) -> None:
    aside = bench.root.with_name("aside")
    bench.root.rename(aside)
    wait_for(lambda: "is gone" in watched.watcher.note, watched.watcher.note)
    assert watched.names() == {"a"}  # nothing is ended for it
    (aside / "b.py").write_text("def b():\n    return 1\n")
    aside.rename(bench.root)
    watched.shows("a", "b")
    bench.write("c.py", "def c():\n    return 1\n")
    watched.shows("a", "b", "c")
    assert watched.watcher.note == ""


def test_where_the_system_watches_no_more_files_are_looked_at_in_turn(bench: Workbench) -> None:
    space = ("unshare", "--user", "--map-root-user", "sh", "-c")
    limit = 'echo 2 > /proc/sys/user/max_inotify_watches && exec "$@"'
    if subprocess.run([*space, limit, "sh", "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("limits cannot be set here")
    for number in range(5):
        bench.write(f"d{number}/m.py", f"def m{number}():\n    return 1\n")
    bench.weft("index")
    with served(bench, *space, limit, "sh") as server:
        note = wait_for(lambda: server.call("graph_health")["watcher"].get("note"), "a note", every=0.1)
        assert "watches no more folders" in note
        bench.write("d3/m.py", "def other():\n    return 1\n\n\ndef one_more():\n    return 1\n")
        wait_for(lambda: server.call("graph_health")["symbols"] == 7, "what was saved", every=0.1)


def test_two_servers_watch_one_workspace_and_one_of_them_works(bench: Workbench) -> None:
    bench.weft("index")
    with served(bench) as one, served(bench) as other:
        for server in (one, other):
            wait_for(lambda server=server: server.call("graph_health")["watcher"]["state"] == "idle")
        before = one.call("graph_health")["tx_count"]
        for number in range(4):
            bench.write("b.py", f"def b{number}():\n    return {number}\n")
            wait_for(lambda name=f"b{number}": _has(bench, name), "the save", every=0.1)
        for server in (one, other):
            wait_for(lambda server=server: server.call("graph_health")["watcher"]["state"] == "idle")
            health = server.call("graph_health")
            assert not health["watcher"].get("note")
            assert health["pending_changes"] == 0
        assert one.call("graph_health")["tx_count"] == before + 4
        assert one.started.stop(signal.SIGTERM) == other.started.stop(signal.SIGTERM) == 0
        assert (one.started.said[-1], other.started.said[-1]) == ("ended", "ended")


def _has(bench: Workbench, name: str) -> bool:
    with bench.open() as memory:
        find = Find(kinds=("Function",), names=(name,))
        return bool(memory.ctx.store.find(memory.ctx.viewer, NOW, find, limit=1).nodes)


def test_what_changed_while_nobody_watched_is_indexed_when_a_server_starts(bench: Workbench) -> None:
    bench.weft("index")
    bench.write("late.py", "def late():\n    return 1\n")
    with served(bench) as server:
        assert any(line.startswith("code: watching") for line in server.started.said)
        wait_for(lambda: _has(bench, "late"), every=0.1)
        recent = wait_for(lambda: server.call("graph_health")["watcher"].get("recent"), every=0.1)
        assert "1 file" in recent[0]


def test_a_server_that_is_told_not_to_watch_does_not(bench: Workbench) -> None:
    bench.weft("index")
    with served(bench, watch="false") as server:
        assert any("not watched" in line for line in server.started.said)
        bench.write("b.py", "def b():\n    return 1\n")
        health = server.call("graph_health")
        assert health["watcher"]["state"] == "not_started"
        assert health["pending"] == ["b.py"]
        assert any("graph_rebuild" in hint for hint in health["hints"])


def test_the_command_prints_a_line_for_each_batch_and_ends_on_a_signal(bench: Workbench) -> None:
    with bench.started("watch") as watch:
        watch.line("watching ")
        watch.line("everything: 1 file, 1 symbol")
        bench.write("b.py", "def b():\n    return 1\n")
        watch.line("b.py: 1 file, 1 symbol")
        assert watch.stop(signal.SIGINT) == 0
    assert watch.said[-1] == "ended"


def test_a_watcher_over_a_store_that_cannot_be_written_says_so_and_ends_when_told(bench: Workbench) -> None:
    bench.weft("index")
    bench.write("a.py", "def a():\n    return 2\n")
    shut = read_only(bench.store)
    if not shut:
        pytest.skip("no directory can be made read-only here")
    with bench.started("watch", prefix=shut) as watch:
        assert "cannot be written" in watch.line("note: ")
        assert watch.stop() == 0


def test_saved_symbols_get_their_vectors_in_a_quiet_moment(bench: Workbench) -> None:
    with bench.started("watch", embedder="builtin") as watch:
        watch.line("everything: 1 file")
        bench.write("b.py", 'def berth():\n    """Where a boat lies."""\n    return 1\n')
        watch.line("b.py: 1 file")
        wait_for(lambda: not bench.health(embedder="builtin").get("vectors_pending"), "vectors", every=0.2)
        assert watch.stop() == 0
    told = json.loads(bench.weft("graph", "health", "--json", embedder="builtin"))
    assert told["symbols"] == 2


def test_a_save_is_taken_up_while_texts_are_embedded(bench: Workbench) -> None:
    bench.weft("index")
    with embedding_server() as server:
        server.slow_s = 4.0
        with bench.started("watch", embedder="ollama:nomic", embedder_url=server.url) as watch:
            wait_for(lambda: server.keys, "a text that is being embedded")
            bench.write("b.py", "def b():\n    return 1\n")
            watch.line("b.py: 1 file, 1 symbol")
            assert server.texts == []  # it still is
            server.slow_s = 0.0
            wait_for(lambda: len(server.texts) >= 4, "all the vectors", every=0.2)
            assert watch.stop() == 0
        assert watch.said[-1] == "ended"
