"""The workers of a server: started, given calls, and replaced when they end or are told to restart.

A worker has a socket for each call that it runs at a time. A call takes a free socket and gives it back, so a worker
that is replaced finishes what it has begun, and no call is lost. A call that only reads is repeated where its worker
died.
"""

from __future__ import annotations

import json
import logging
import queue
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from typing import Final

import msgspec
from msgspec import Struct
from starlette.responses import Response

from weft.access.tokens import Token
from weft.runtime.settings.load import Settings
from weft.surfaces.frames import BrokenOff, Frame, receive, send
from weft.surfaces.http import answers
from weft.surfaces.http.workers.worker import FOREVER_S, MAX_BODY_BYTES

CALLS_EACH: Final = 2  # at a time, in one worker: one computes while the other waits for the disk
START_S: Final = 120.0  # for a worker to open the store and load the models
WAIT_S: Final = 30.0  # for a free worker
END_S: Final = 10.0
TRIES: Final = 3  # of a call that only reads
SHORT_LIFE_S: Final = 5.0  # a worker that ends sooner is not replaced at once
_log = logging.getLogger("weft.http")


class _Line(Struct):
    """A socket to one thread of a worker."""

    connected: socket.socket
    worker: _Worker


class _Worker:
    def __init__(self, toolsets: tuple[str, ...]) -> None:
        pairs = [socket.socketpair() for _ in range(CALLS_EACH)]
        theirs = [other for _, other in pairs]
        numbers = [each.fileno() for each in theirs]
        command = [sys.executable, "-m", "weft.surfaces.http.workers.worker", json.dumps(numbers), json.dumps(toolsets)]
        self.began_s = time.monotonic()
        self.process = subprocess.Popen(command, pass_fds=numbers, stdin=subprocess.DEVNULL)  # noqa: S603 - our own
        for each in theirs:
            each.close()
        self.lines = [_Line(own, self) for own, _ in pairs]
        self.ready = self.retired = False

    def await_ready(self) -> None:
        """Waits until it can take calls. Raises BrokenOff if it ended, or takes too long."""
        for line in self.lines:
            receive(line.connected, time.monotonic() + START_S)


class WorkerPool:
    """So many workers. Thread-safe; calls are made from threads, which wait."""

    def __init__(self, count: int, settings: Settings) -> None:
        self._count, self._settings = count, settings
        self._free: queue.LifoQueue[_Line] = queue.LifoQueue()  # the last used has the warmest caches
        self._lock = threading.Lock()
        self._workers: list[_Worker] = []
        self._closing = threading.Event()

    @property
    def ready(self) -> int:
        """Number of workers that take calls."""
        with self._lock:
            return sum(worker.ready and not worker.retired for worker in self._workers)

    def begin(self) -> None:
        """Starts all workers, in the background; calls wait for the first."""
        for _ in range(self._count):
            threading.Thread(target=self._start, name="weft-worker-start", daemon=True).start()

    def restart(self) -> None:
        """Replaces one worker after the other, each when its replacement is ready."""
        with self._lock:
            before = list(self._workers)
        for worker in before:
            if self._closing.is_set() or not self._start():
                return
            self._retire(worker)

    def answer(self, token: Token, operation: str, body: bytes, *, reads: bool) -> Response:
        """The response of a worker. Every failure is a response."""
        asked = Frame({"token": msgspec.to_builtins(token), "operation": operation}, body)
        for _ in range(TRIES if reads else 1):
            line = self._take()
            if line is None:
                return answers.overloaded("no worker of the server is free")
            try:
                send(line.connected, asked, time.monotonic() + FOREVER_S)
                found = receive(line.connected, time.monotonic() + FOREVER_S, most=MAX_BODY_BYTES)
            except BrokenOff:
                self._lost(line.worker)
                continue
            self._give_back(line)
            response = Response(found.body, status_code=int(found.head["status"]))
            response.raw_headers = [
                (name.encode("latin-1"), text.encode("latin-1")) for name, text in found.head["headers"]
            ]
            return response
        hint = "retry it" if reads else "look whether it was written; a call with a request_id is written once"
        return answers.refusal(503, "store_error", "the process that ran this call ended before it answered", hint)

    def close(self, seconds: float = END_S) -> bool:
        """Ends all workers; returns whether they ended within so many seconds. No call may be running."""
        self._closing.set()
        with self._lock:
            workers, self._workers = self._workers, []
        for worker in workers:
            self._retire(worker)
        until = time.monotonic() + seconds
        for worker in workers:
            try:
                worker.process.wait(max(0.0, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                worker.process.kill()
                worker.process.wait()
        return True

    def _start(self) -> bool:
        """Starts a worker and waits until it is ready; returns whether it is."""
        worker = _Worker(self._settings.toolsets)
        with self._lock:
            self._workers.append(worker)
        try:
            worker.await_ready()
        except BrokenOff:
            self._lost(worker)
            return False
        with self._lock:
            worker.ready = True
            for line in worker.lines:
                self._free.put(line)
        return True

    def _take(self) -> _Line | None:
        """A free line to a worker that is not retired; None if there is none for too long."""
        until = time.monotonic() + WAIT_S
        while True:
            try:
                line = self._free.get(timeout=max(0.0, until - time.monotonic()))
            except queue.Empty:
                return None
            if not line.worker.retired:
                return line
            line.connected.close()

    def _give_back(self, line: _Line) -> None:
        with self._lock:
            retired = line.worker.retired
            if not retired:
                self._free.put(line)
        if retired:
            line.connected.close()

    def _retire(self, worker: _Worker) -> None:
        """Gives a worker no more calls. It ends when those that it has are answered: its last line is closed then."""
        kept: list[_Line] = []
        with self._lock:
            worker.retired = True
            with suppress(ValueError):
                self._workers.remove(worker)
            with suppress(queue.Empty):
                while True:
                    kept.append(self._free.get_nowait())
            for line in reversed([line for line in kept if not line.worker.retired]):
                self._free.put(line)
        for line in kept:
            if line.worker.retired:
                line.connected.close()

    def _lost(self, worker: _Worker) -> None:
        """Replaces a worker that ended by itself, once."""
        with self._lock:
            if worker.retired:
                return
            worker.retired = True
            with suppress(ValueError):
                self._workers.remove(worker)
        worker.process.kill()
        code = worker.process.wait()
        if self._closing.is_set():
            return
        _log.error("a worker ended with %s and is replaced", code)
        if time.monotonic() - worker.began_s < SHORT_LIFE_S:
            self._closing.wait(SHORT_LIFE_S)
        threading.Thread(target=self._start, name="weft-worker-start", daemon=True).start()
