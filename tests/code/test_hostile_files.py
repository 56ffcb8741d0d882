"""Files that take a parser more time or memory than there is: each costs itself and is named, the rest goes on."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.code.workbench import Workbench, served
from tests.waiting import wait_for
from weft.code.index import reader as code_reader
from weft.code.index.index import index_workspace
from weft.code.index.processes import workers as code_workers
from weft.code.index.processes.worker import ToRead
from weft.code.index.read_file import FileSnapshot
from weft.code.index.reader import SourceReader, reader_of
from weft.core.errors import Busy, Invalid
from weft.files.process_limits import Limits
from weft.ingest.ingest_records import ingest_records

LOW = Limits(memory_bytes=300 << 20, alone_s=1, among_s=1)
TOO_MUCH = ("takes too long to parse", "takes too much memory to parse")
BOMB = "A<\n" * 30_000
HOSTILE = {
    "Angles.java": BOMB,
    "Comments.java": "/*\n" * 60_000,
    "cases.js": "case a:\n" * 20_000,
    "lambdas.py": "x=lambda:\n" * 20_000,
    "lifetimes.rs": "'a\n" * 60_000,
}


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    made = Workbench(tmp_path)
    made.write("sound.py", "def sound():\n    return 1\n")
    made.write("large.py", "def large():\n    return 1\n\n\n" + "# as it was\n" * 2_000)
    return made


@pytest.fixture
def low(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code_workers, "LIMITS", LOW)
    monkeypatch.setattr(code_reader, "LIMITS", LOW)


@pytest.fixture
def reader() -> Iterator[SourceReader]:
    made = SourceReader(here_bytes=0, limits=LOW)
    yield made
    made.end()


@pytest.mark.parametrize("path", HOSTILE)
def test_text_that_takes_too_much_is_told(reader: SourceReader, path: str) -> None:
    with pytest.raises(Invalid) as told:
        reader.source(HOSTILE[path], path)
    assert told.value.message in TOO_MUCH
    assert reader.source("class A:\n    pass\n", "a.py").symbols[0].name == "A"
    reader.end()
    with pytest.raises(Invalid, match=told.value.message):  # not Busy: it is not tried again
        reader.source(HOSTILE[path], path)


@pytest.mark.usefixtures("low")
@pytest.mark.parametrize("others", [0, 60], ids=["few", "many"])
def test_such_a_file_is_named_and_the_rest_is_indexed(
    bench: Workbench, others: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[code_workers.Task] = []
    ask = code_workers.Worker.ask

    def noted(worker: code_workers.Worker, task: code_workers.Task) -> bytes:
        asked.append(task)
        return ask(worker, task)

    monkeypatch.setattr(code_workers.Worker, "ask", noted)
    bench.write("Bomb.java", BOMB)
    bench.write("cases.js", HOSTILE["cases.js"])
    for number in range(others):
        bench.write(f"m{number}.py", f"def f{number}():\n    return {number}\n")
    with bench.open() as memory:
        done = index_workspace(memory.ctx)
        assert {each.path for each in done.skipped if each.reason in TOO_MUCH} == {"Bomb.java", "cases.js"}
        assert (done.files, done.symbols, done.others) == (others + 2, others + 2, 2), "named ones have a node too"
        assert asked
        asked.clear()
        again = index_workspace(memory.ctx)
        assert {*again.skipped} == {*done.skipped}, "named every time"
        items = [item for task in asked for item in getattr(task, "items", ())]
        assert all(item.known for item in items), "and not parsed again: its hash is known"


@pytest.mark.usefixtures("low")
def test_records_of_such_files_are_skipped_with_the_reason(bench: Workbench) -> None:
    rows = [
        {"id": f"r{number}", "path": f"m{number}.py", "text": f"def f{number}():\n    return 1\n"}
        for number in range(9)
    ]
    rows.insert(4, {"id": "bomb", "path": "Bomb.java", "text": BOMB})
    rows.append({"id": "words", "text": "def f():\n    pass\n" + HOSTILE["lambdas.py"]})
    with bench.open() as memory:
        done = ingest_records(memory.ctx, rows, project="pier")
        assert [each.reason for each in done.skipped] in [[reason] for reason in TOO_MUCH]
        assert done.records == 10


def test_a_process_that_is_killed_costs_nothing_but_time(bench: Workbench) -> None:
    with bench.open() as memory:
        reader = reader_of(memory.ctx)
        index_workspace(memory.ctx)
        for number in range(3):
            pid = reader.pid
            assert pid is not None, "a large file is not read in this process"
            os.kill(pid, signal.SIGKILL)
            bench.write("large.py", f"def large{number}():\n    return 1\n\n\n" + "# as it was\n" * 2_000)
            done = index_workspace(memory.ctx)
            assert (done.files, done.skipped) == (1, ())
            assert reader.pid != pid


def test_a_command_reads_small_files_itself(bench: Workbench) -> None:
    (bench.root / "large.py").unlink()
    with bench.open() as memory:
        assert index_workspace(memory.ctx).symbols == 1
        assert reader_of(memory.ctx).pid is None


def test_where_no_process_can_be_started_small_files_are_read_and_others_named(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(*_: object, **__: object) -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    with bench.open() as memory:
        with monkeypatch.context() as patched:
            patched.setattr("subprocess.Popen", none)
            done = index_workspace(memory.ctx)
        assert [(each.path, each.reason) for each in done.skipped] == [("large.py", code_workers.NO_PROCESS)]
        assert done.symbols == 1
        assert index_workspace(memory.ctx).symbols == 1, "the next time it is read"


def test_who_ends_the_reader_waits_for_no_file(bench: Workbench) -> None:
    reader = SourceReader(here_bytes=0, limits=Limits())
    bench.write("Comments.java", HOSTILE["Comments.java"])
    problems: list[BaseException] = []

    def read() -> None:
        try:
            list(reader.files(str(bench.root), [ToRead(path="Comments.java")], redacts=True))
        except Busy as problem:
            problems.append(problem)

    reading = threading.Thread(target=read)
    reading.start()
    wait_for(lambda: reader.pid, "a process")
    time.sleep(1.0)
    reader.end()
    reading.join(3.0)
    assert not reading.is_alive()
    assert len(problems) == 1


def test_bytes_out_of_a_commit_are_read_in_the_same_way(reader: SourceReader) -> None:
    raw = HOSTILE["lambdas.py"].encode()
    state = FileSnapshot(path="a.py", size=len(raw), sha256="0" * 64)
    assert reader.raw(state, raw, redacts=True).problem in TOO_MUCH


def test_a_server_answers_while_such_a_file_is_read(bench: Workbench) -> None:
    bench.weft("index")
    with served(bench) as server:
        wait_for(lambda: server.call("graph_health")["watcher"]["state"] == "idle", every=0.1)
        bench.write("Bomb.java", "A<\n" * 100_000)
        bench.write("after.py", "def after():\n    return 1\n")
        longest_s, until_s = 0.0, time.monotonic() + 60
        named: dict[str, str] = {}
        while "Bomb.java" not in named and time.monotonic() < until_s:
            begun_s = time.monotonic()
            health = server.call("graph_health")
            longest_s = max(longest_s, time.monotonic() - begun_s)
            named = {each["path"]: each["reason"] for each in health.get("problems", ())}
            time.sleep(0.1)
        assert named["Bomb.java"] in TOO_MUCH
        assert longest_s < 5.0
        wait_for(lambda: server.call("graph_health")["symbols"] == 3, "the file that was saved with it", every=0.1)
