"""The socket of a resident: taken requests are answered on a few threads, all others are declined at once.

Only processes of the same user are heard. Nothing here may cost the process that serves: without a socket it goes on.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from weft.core.clock import SystemClock
from weft.surfaces.fair_threads import FairThreads
from weft.surfaces.frames import DECLINED, TAKEN, BrokenOff, Frame, receive, send
from weft.surfaces.resident.place import FOLDER, address, open_folder, user_of

THREADS: Final = 2
MAX_AT_ONCE: Final = 4  # requests that run or wait; further ones do their work themselves
READ_S: Final = 1.0  # for a request to come in whole
SEND_S: Final = 5.0
LOOK_S: Final = 2.0  # how often it looks whether there is a store by now
BACKLOG: Final = 16
_log = logging.getLogger("weft.resident")

Take = Callable[[Frame], Callable[[], dict[str, Any]] | None]


class Declined(Exception):
    """A request that was taken, and that the asking process has to carry out by itself after all."""


class Listener:
    """Listens in the store's directory from `begin` to `close`. `take` returns the work of a request, or None."""

    def __init__(self, directory: str, take: Take) -> None:
        self._directory, self._take = directory, take
        self._threads = FairThreads(THREADS, name="weft-resident")
        self._lock = threading.Lock()
        self._at_once = 0
        self._closing = threading.Event()
        self._socket: socket.socket | None = None
        self._file: Path | None = None
        self._accepting: threading.Thread | None = None

    def begin(self) -> None:
        """Starts listening, as soon as there is a store."""
        if hasattr(socket, "SO_PEERCRED"):
            self._accepting = threading.Thread(target=self._run, name="weft-resident", daemon=True)
            self._accepting.start()

    def close(self, seconds: float) -> bool:
        """Stops accepting requests; returns whether accepted ones ended within the time."""
        self._closing.set()
        if self._file is not None:
            with suppress(OSError):
                self._file.unlink()
        if self._socket is not None:
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)
        until = time.monotonic() + seconds
        while self._at_once and time.monotonic() < until:
            time.sleep(0.01)
        self._threads.close(wait=False)
        return not self._at_once

    def _run(self) -> None:
        while not self._closing.is_set():
            try:
                bound = _bound(self._directory)
            except OSError as problem:  # a store that takes no files, or a system without such sockets
                _log.info("no socket in %s: %s", self._directory, problem)
                return
            if bound is not None:
                self._socket, self._file = bound
                self._accept(bound[0])
                return
            self._closing.wait(LOOK_S)

    def _accept(self, listening: socket.socket) -> None:
        with listening:
            while not self._closing.is_set():
                try:
                    connected, _ = listening.accept()
                except OSError:
                    return
                if user_of(connected) != os.geteuid() or not self._enter():
                    connected.close()
                    continue
                try:
                    self._threads.submit("", lambda to=connected: self._answer(to))  # type: ignore[misc]
                except RuntimeError:  # closed
                    self._leave()
                    connected.close()

    def _answer(self, connected: socket.socket) -> None:
        try:
            with connected, suppress(BrokenOff, Declined, OSError):
                work = self._take(receive(connected, time.monotonic() + READ_S))
                connected.sendall(DECLINED if work is None else TAKEN)
                if work is not None:
                    send(connected, Frame(work()), time.monotonic() + SEND_S)
        except Exception:  # noqa: BLE001 - the asking process does the work itself
            _log.exception("a request could not be answered")
        finally:
            self._leave()

    def _enter(self) -> bool:
        with self._lock:
            if self._at_once >= MAX_AT_ONCE:
                return False
            self._at_once += 1
            return True

    def _leave(self) -> None:
        with self._lock:
            self._at_once -= 1


def _bound(directory: str) -> tuple[socket.socket, Path] | None:
    """A listening socket and its file; None while there is no store. Raises OSError where it cannot be made."""
    if not (Path(directory) / "weft-store.json").is_file():
        return None
    place = Path(directory) / FOLDER
    place.mkdir(mode=0o700, exist_ok=True)
    folder = open_folder(directory)
    if folder is None:
        raise PermissionError(f"{place} is not a private folder of this user")
    try:
        _sweep(folder, place)
        name = f"{SystemClock().now_us():016x}-{os.getpid()}"
        made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            made.bind(address(folder, name))
            made.listen(BACKLOG)
        except OSError:
            made.close()
            raise
        return made, place / name
    finally:
        os.close(folder)


def _sweep(folder: int, place: Path) -> None:
    """Removes sockets whose process is gone."""
    for name in os.listdir(folder):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as tried:
            tried.settimeout(READ_S)
            try:
                tried.connect(address(folder, name))
            except ConnectionRefusedError:
                with suppress(OSError):
                    (place / name).unlink()
            except OSError:
                continue
