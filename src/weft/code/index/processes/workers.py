"""Worker processes that read and resolve many source files.

Processes that read are limited in memory and time. A file that crashes its process or exceeds a limit is named, and
another process goes on. If a process is killed from outside, its work is repeated.
"""

from __future__ import annotations

import json
import os
import pickle
import queue
import select
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, Generic, TypeVar

import msgspec
from msgspec.structs import replace

from weft.code.index.facts_file import FactsFile
from weft.code.index.links import IndexedProject, ResolvedFile
from weft.code.index.processes.worker import (
    LENGTH_BYTES,
    BytesTask,
    FilesTask,
    ResolveTask,
    TextsTask,
    ToRead,
    read_one,
    resolved_from,
)
from weft.code.index.read_file import CodeRead, hashed_only
from weft.code.parse.parse import TOO_LONG
from weft.core.slices import in_slices
from weft.documents.keep.parser_faults import TOO_MUCH_MEMORY
from weft.files.languages import language_of
from weft.files.process_limits import Limits, Why, why_ended

MAX_WORKERS: Final = 8
FILES_PER_TASK: Final = 8
FEW: Final = 40  # files that are resolved here: starting a process takes as long
TASK_S: Final = 60.0  # for a few files, however busy the machine is: one that takes longer is given up
END_S: Final = 5.0  # for a process to be over that has ended
LOOK_S: Final = 0.005
RSS_UNIT: Final = 1 if sys.platform == "darwin" else 1024  # bytes that the system counts a process's memory in
LIMITS: Final = Limits()
SMALL_BYTES: Final = 8_192  # text that is no code and as long as this takes half a second and 120 MB at worst
TRIES: Final = 3  # with a file whose process was killed: by the system, it may be, as there was no more memory
READ_BYTES: Final = 1 << 20
WAITING_ANSWERS: Final = 8  # that are held while the writer is busy
_MAIN: Final = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from weft.code.index.processes.worker import main
main(*sys.argv[2:])
"""
LOST: Final[Mapping[Why, str]] = {
    "time": TOO_LONG,
    "memory": TOO_MUCH_MEMORY,
    "killed": TOO_MUCH_MEMORY,
    "died": "crashes weft's parser, which is a bug in weft; please report it with the file",
}
NO_PROCESS: Final = "cannot be read now: no process can be started for it"

Answer = TypeVar("Answer")
Task = FilesTask | BytesTask | TextsTask | ResolveTask


def _import_paths() -> list[str]:
    """The import paths of this process; none that depends on the working directory."""
    own = str(Path(__file__).resolve().parents[4])
    return [*(each for each in sys.path if isinstance(each, str) and Path(each).is_absolute()), own]


class Lost(Exception):
    """A process ended before it answered; the reason."""

    def __init__(self, why: Why) -> None:
        super().__init__(LOST[why])
        self.why = why


class Worker:
    """One process."""

    def __init__(self, limits: Limits | None = None) -> None:
        """Raises OSError if no process can be started."""
        # Isolated: the directory that it is started in is a workspace, whose `json.py` is not the one that is meant.
        command = [sys.executable, "-I", "-c", _MAIN, json.dumps(_import_paths())]
        command += [] if limits is None else [msgspec.json.encode(limits).decode()]
        self._process = subprocess.Popen(  # noqa: S603 - ourselves
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self.end = weakref.finalize(self, _end, self._process)  # whatever it does; with this object at the latest
        self._limits, self.answered = limits, 0

    @property
    def pid(self) -> int:
        return self._process.pid

    def kill(self) -> None:
        """Kills the process; `end` closes its pipes, too."""
        self._process.kill()

    def ask(self, task: Task) -> bytes:
        """Sends a task and returns the answer. Raises Lost if there is none."""
        raw = pickle.dumps(task, 5)
        try:
            assert self._process.stdin is not None
            self._process.stdin.write(len(raw).to_bytes(LENGTH_BYTES, "big") + raw)
            self._process.stdin.flush()
            until_s = time.monotonic() + TASK_S
            size = int.from_bytes(self._read(LENGTH_BYTES, until_s), "big")
            answer = self._read(size, until_s)
        except (OSError, ValueError) as problem:
            raise Lost(self._why()) from problem
        self.answered += 1
        return answer

    def _why(self) -> Why:
        """The reason why a process did not answer."""
        until_s = time.monotonic() + END_S
        with suppress(OSError, AttributeError):  # somebody else's word for it, or no Unix
            while time.monotonic() < until_s:
                pid, status, used = os.wait4(self._process.pid, os.WNOHANG)
                if pid:
                    self._process.returncode = code = os.waitstatus_to_exitcode(status)
                    return why_ended(code, peak_bytes=used.ru_maxrss * RSS_UNIT, limits=self._limits)
                time.sleep(LOOK_S)
        return "died"

    def _read(self, size: int, until_s: float) -> bytes:
        assert self._process.stdout is not None
        handle = self._process.stdout.fileno()
        pieces, left = [], size
        while left:
            ready, _, _ = select.select([handle], [], [], max(0.0, until_s - time.monotonic()))
            piece = os.read(handle, min(left, READ_BYTES)) if ready else b""
            if not ready:
                raise Lost("time")
            if not piece:
                raise Lost(self._why())
            pieces.append(piece)
            left -= len(piece)
        return b"".join(pieces)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    for pipe in (process.stdin, process.stdout):
        with suppress(OSError):
            if pipe is not None:
                pipe.close()
    process.wait()


class Hand:
    """The worker process of a thread; it is replaced when it is lost."""

    def __init__(self, worker: Worker, limits: Limits | None = None) -> None:
        self.worker, self._limits = worker, limits
        self._over = False

    def stop(self) -> None:
        """Ends the process for good. Any thread may call it: a thread that waits for an answer gets Lost and closes its
        pipes.
        """
        self._over = True
        self.worker.kill()

    def ask(self, task: Task) -> bytes:
        """The answer to a task. Raises Lost if the task or a part of it is at fault; OSError if no process can be
        started.

        A process may have ended for another reason: then the task is sent to a new one.
        """
        tried = 0
        while True:
            worn, tried = self.worker.answered > 0, tried + 1
            try:
                return self.worker.ask(task)
            except Lost as lost:
                self.worker.end()
                if self._over:
                    raise
                self.worker = Worker(self._limits)
                again = tried < TRIES if lost.why == "killed" else worn and lost.why != "time"
                if len(task.items) > 1 or not again:
                    raise


class Workers(Generic[Answer]):
    """One worker per processor, for tasks of one kind, each handed out when a worker is free."""

    def __init__(
        self,
        decode: Callable[[bytes], Sequence[Answer]],
        lost: Callable[[Task, Why], Answer],
        limits: Limits | None = None,
    ) -> None:
        """`lost` gives the answer for a task whose file crashed its process; processes have these `limits`."""
        self._decode, self._lost, self._limits = decode, lost, limits
        self._answers: queue.Queue[Sequence[Answer] | BaseException | None] = queue.Queue(WAITING_ANSWERS)
        self._over = threading.Event()
        self._lock = threading.Lock()

    def run(self, tasks: Sequence[Task], workers: Sequence[Worker]) -> Iterator[Answer]:
        """Yields answers in any order, then ends the processes."""
        left = iter(tasks)
        threads = [threading.Thread(target=self._serve, args=(each, left), daemon=True) for each in workers]
        for thread in threads:
            thread.start()
        running = len(threads)
        try:
            while running:
                answer = self._answers.get()
                if isinstance(answer, BaseException):
                    raise answer
                if answer is None:
                    running -= 1
                else:
                    yield from answer
        finally:
            self._over.set()
            for thread in threads:
                while thread.is_alive():  # it may wait to hand something over
                    with suppress(queue.Empty):
                        self._answers.get_nowait()
                    thread.join(0.01)

    def _serve(self, worker: Worker, left: Iterator[Task]) -> None:
        hand = Hand(worker, self._limits)
        try:
            while not self._over.is_set():
                with self._lock:
                    task = next(left, None)
                if task is None:
                    break
                self._answers.put(self._answered(hand, task))
        except BaseException as problem:  # noqa: BLE001 - not lost: who waits for answers raises it
            self._answers.put(problem)
        finally:
            hand.worker.end()
            self._answers.put(None)

    def _answered(self, hand: Hand, task: Task) -> Sequence[Answer]:
        """The answers to a task; if its process crashes, file by file, to find the one at fault."""
        try:
            return self._decode(hand.ask(task))
        except Lost as lost:
            if len(task.items) == 1:
                return [self._lost(task, lost.why)]
        return [each for one in _singly(task) for each in self._answered(hand, one)]


def read_files(root: str, items: Sequence[ToRead], *, redacts: bool) -> Generator[CodeRead, None, None]:
    """Reads many files in worker processes; yields results in any order."""
    tasks = [FilesTask(root=root, redacts=redacts, items=tuple(some)) for some in in_slices(items, FILES_PER_TASK)]

    def lost(task: Task, why: Why) -> CodeRead:
        assert isinstance(task, FilesTask)
        return hashed_only(root, task.items[0].path, problem=LOST[why])

    def here() -> Iterator[CodeRead]:
        for item in items:
            yield (
                read_one(root, item, redacts=redacts)
                if is_small(root, item.path)
                else CodeRead(path=item.path, gone=NO_PROCESS)
            )

    yield from _spread(tasks, pickle.loads, lost, here, LIMITS)


def is_small(root: str, path: str) -> bool:
    """Whether a file is cheap to read, whatever it contains."""
    if language_of(path) is None:
        return True
    try:
        return os.lstat(os.path.join(root, path)).st_size <= SMALL_BYTES  # noqa: PTH118 - a name need not be UTF-8
    except (OSError, ValueError):
        return True  # there is nothing to be read


def resolve_files(
    workspace: IndexedProject, facts: FactsFile, paths: Sequence[str]
) -> Generator[ResolvedFile, None, None]:
    """Resolves files, in worker processes if that pays off; yields results in any order."""
    tasks = [
        ResolveTask(facts=str(facts.path), root=workspace.root, project=workspace.project, items=tuple(some))
        for some in in_slices(paths, FILES_PER_TASK)
    ]

    def here() -> Iterator[ResolvedFile]:
        return (found for path in paths if (found := workspace.resolved(path)) is not None)

    def lost(task: Task, why: Why) -> ResolvedFile:
        assert isinstance(task, ResolveTask)
        return ResolvedFile(path=task.items[0], problem=LOST[why])

    if facts.path is None or len(paths) <= FEW or worker_count() == 1:
        yield from here()
    else:
        yield from _spread(tasks, resolved_from, lost, here)


def _spread(
    tasks: Sequence[Task],
    decode: Callable[[bytes], Sequence[Answer]],
    lost: Callable[[Task, Why], Answer],
    here: Callable[[], Iterator[Answer]],
    limits: Limits | None = None,
) -> Generator[Answer, None, None]:
    try:
        workers = [Worker(limits) for _ in range(min(worker_count(), len(tasks)))]
    except OSError:  # no room for more processes
        yield from here()
        return
    yield from Workers(decode, lost, limits).run(tasks, workers)


def _singly(task: Task) -> Iterator[Task]:
    for item in task.items:
        yield replace(task, items=(item,))


def worker_count() -> int:
    """The number of worker processes."""
    try:
        processors = len(os.sched_getaffinity(0))
    except AttributeError:
        processors = os.cpu_count() or 1
    return min(processors, MAX_WORKERS)
