"""Reads and resolves many source files in processes beside this one.

A process that dies over a file, or takes too long over it, costs that file: it is named, and another process goes on.
Where none can be started, the work is done here.
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
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import suppress
from typing import Final, Generic, TypeVar

from msgspec.structs import replace

from weft.code.facts_file import FactsFile
from weft.operations.code_links import Resolved, Workspace
from weft.operations.code_reading import CodeRead, hashed_only
from weft.operations.code_worker import LENGTH_BYTES, Reading, Resolving, ToRead, read_one, resolved_from

MAX_WORKERS: Final = 8
FILES_PER_TASK: Final = 8
FEW: Final = 40  # files that are resolved here: starting a process takes as long
TASK_S: Final = 60.0  # for a few files: one that takes longer is given up
READ_BYTES: Final = 1 << 20
WAITING_ANSWERS: Final = 8  # that are held while the writer is busy
_MAIN: Final = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from weft.operations.code_worker import main
main()
"""
DIED: Final = (
    "is a file that weft's reader dies of, or takes too long over, a fault of weft's; please report it with the file"
)

Answer = TypeVar("Answer")
Task = Reading | Resolving


class Lost(Exception):
    """A process ended, or was ended, before it answered."""


class Worker:
    """One process."""

    def __init__(self) -> None:
        """Raises OSError where none can be started."""
        command = [sys.executable, "-c", _MAIN, json.dumps([each for each in sys.path if isinstance(each, str)])]
        self._process = subprocess.Popen(  # noqa: S603 - ourselves
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )

    def ask(self, task: Task) -> bytes:
        """Its answer. Raises Lost if there is none."""
        raw = pickle.dumps(task, 5)
        try:
            assert self._process.stdin is not None
            self._process.stdin.write(len(raw).to_bytes(LENGTH_BYTES, "big") + raw)
            self._process.stdin.flush()
            until_s = time.monotonic() + TASK_S
            size = int.from_bytes(self._read(LENGTH_BYTES, until_s), "big")
            return self._read(size, until_s)
        except (OSError, ValueError) as problem:
            raise Lost(str(problem)) from problem

    def _read(self, size: int, until_s: float) -> bytes:
        assert self._process.stdout is not None
        handle = self._process.stdout.fileno()
        pieces, left = [], size
        while left:
            ready, _, _ = select.select([handle], [], [], max(0.0, until_s - time.monotonic()))
            piece = os.read(handle, min(left, READ_BYTES)) if ready else b""
            if not piece:
                raise Lost("took too long" if not ready else "ended")
            pieces.append(piece)
            left -= len(piece)
        return b"".join(pieces)

    def end(self) -> None:
        """Ends it, whatever it does."""
        self._process.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                if pipe is not None:
                    pipe.close()
        self._process.wait()


class Workers(Generic[Answer]):
    """As many processes as there are processors, for tasks of one sort, each handed out when a process is free."""

    def __init__(self, decode: Callable[[bytes], Sequence[Answer]], lost: Callable[[Task], Answer]) -> None:
        """`lost` is the answer for a task of one file that a process died over."""
        self._decode, self._lost = decode, lost
        self._answers: queue.Queue[Sequence[Answer] | BaseException | None] = queue.Queue(WAITING_ANSWERS)
        self._over = threading.Event()
        self._lock = threading.Lock()

    def run(self, tasks: Sequence[Task], workers: Sequence[Worker]) -> Iterator[Answer]:
        """Answers, in whatever order. Ends the processes."""
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
        hand = _Hand(worker)
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

    def _answered(self, hand: _Hand, task: Task) -> Sequence[Answer]:
        """The answers to a task; where the process dies over it, file by file, to find the one at fault."""
        try:
            return self._decode(hand.worker.ask(task))
        except Lost:
            hand.renew()
        if len(task.items) == 1:
            return [self._lost(task)]
        return [each for one in _singly(task) for each in self._answered(hand, one)]


def read_here(root: str, items: Sequence[ToRead], *, redacts: bool) -> Iterator[CodeRead]:
    """Reads files in this process."""
    for item in items:
        yield read_one(root, item, redacts=redacts)


def read_files(root: str, items: Sequence[ToRead], *, redacts: bool) -> Generator[CodeRead, None, None]:
    """Reads files, in processes where that is of use, in whatever order."""
    tasks = [
        Reading(root=root, redacts=redacts, items=tuple(items[start : start + FILES_PER_TASK]))
        for start in range(0, len(items), FILES_PER_TASK)
    ]

    def lost(task: Task) -> CodeRead:
        assert isinstance(task, Reading)
        return hashed_only(root, task.items[0].path, problem=DIED)

    yield from _spread(tasks, pickle.loads, lost, lambda: read_here(root, items, redacts=redacts))


def resolve_files(workspace: Workspace, facts: FactsFile, paths: Sequence[str]) -> Generator[Resolved, None, None]:
    """Resolves files, in processes where that is of use, in whatever order."""
    tasks = [
        Resolving(facts=str(facts.path), root=workspace.root, project=workspace.project, items=tuple(paths[start:end]))
        for start in range(0, len(paths), FILES_PER_TASK)
        for end in (start + FILES_PER_TASK,)
    ]

    def here() -> Iterator[Resolved]:
        return (found for path in paths if (found := workspace.resolved(path)) is not None)

    def lost(task: Task) -> Resolved:
        assert isinstance(task, Resolving)
        return Resolved(path=task.items[0], problem=DIED)

    if facts.path is None or len(paths) <= FEW:
        yield from here()
    else:
        yield from _spread(tasks, resolved_from, lost, here)


def _spread(
    tasks: Sequence[Task],
    decode: Callable[[bytes], Sequence[Answer]],
    lost: Callable[[Task], Answer],
    here: Callable[[], Iterator[Answer]],
) -> Generator[Answer, None, None]:
    if worker_count() == 1:
        yield from here()
        return
    try:
        workers = [Worker() for _ in range(min(worker_count(), len(tasks)))]
    except OSError:  # no room for more processes
        yield from here()
        return
    yield from Workers(decode, lost).run(tasks, workers)


class _Hand:
    """The process that a thread has."""

    def __init__(self, worker: Worker) -> None:
        self.worker = worker

    def renew(self) -> None:
        self.worker.end()
        self.worker = Worker()


def _singly(task: Task) -> Iterator[Task]:
    for item in task.items:
        yield replace(task, items=(item,))


def worker_count() -> int:
    """How many processes are of use; one means that none is."""
    try:
        processors = len(os.sched_getaffinity(0))
    except AttributeError:
        processors = os.cpu_count() or 1
    return min(processors, MAX_WORKERS)
