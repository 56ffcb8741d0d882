"""Sources of file changes for a watcher: notifications of the system per folder, or polling.

Only folders that the walk enters are watched: ignored ones such as `node_modules` cost nothing.
"""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Protocol

from weft.files.walk import GITIGNORE, walk

STEP_MS: Final = 20  # between two looks at what the system told
TOGETHER_MS: Final = 100  # how long changes may gather before they are told
WAKE_MS: Final = 500  # how soon a stop is seen
POLL_S: Final = 0.5  # between two looks where nothing is told
POLL_SHARE: Final = 20.0  # looking takes at most one part in so many of the time
MAX_TOLD: Final = 100_000  # changes that wait; more are told as one that may be anywhere

Mark = tuple[int, int, int]


class ChangeSource(Protocol):
    """Reports changed paths, relative to the root, through `told`; "" if it may be anything."""

    told: queue.SimpleQueue[str]
    problem: str  # why it tells no more; nothing as long as it does

    def close(self) -> None: ...


class SystemSource:
    """System notifications for these folders, not recursive. Raises OSError if one cannot be watched."""

    def __init__(self, root: Path, folders: Sequence[str]) -> None:
        from watchfiles._rust_notify import RustNotify  # its documented way to be used on a thread of one's own

        self.told: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.problem = ""
        self._root = os.fspath(root)
        self._stop = threading.Event()
        places = [os.path.join(self._root, folder) for folder in folders]  # noqa: PTH118
        # Told to pass over what it may not watch, it would pass over the system's limits as well, and say nothing.
        places = [place for place in places if os.access(place, os.R_OK) or not os.path.exists(place)]  # noqa: PTH110
        try:
            self._notify = RustNotify(places, False, False, 0, False, False)  # noqa: FBT003 - it takes no names
        except RuntimeError as problem:  # the library's own, as for too many watchers
            raise OSError(str(problem)) from problem
        self._thread = threading.Thread(target=self._listen, name="weft-watch-told", daemon=True)
        self._thread.start()

    def _listen(self) -> None:
        try:
            while True:
                changes = self._notify.watch(TOGETHER_MS, STEP_MS, WAKE_MS, self._stop)
                if changes == "stop":
                    return
                if isinstance(changes, set):
                    for _, path in changes:
                        self._tell(path)
        except (OSError, RuntimeError) as problem:
            self.problem = str(problem)
            self.told.put("")
        finally:
            self._notify.close()

    def _tell(self, path: str) -> None:
        if self.told.qsize() >= MAX_TOLD:
            self.told.put("")
        elif path.startswith(self._root + os.sep):
            self.told.put(path[len(self._root) + 1 :].rstrip(os.sep))

    def close(self) -> None:
        self._stop.set()
        self._thread.join(2 * WAKE_MS / 1000)


class PollingSource:
    """Checks every file periodically, at an interval that keeps the cost low."""

    def __init__(self, root: Path, ignore: tuple[str, ...]) -> None:
        self.told: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.problem = ""
        self._root, self._ignore = root, ignore
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._look, name="weft-watch-poll", daemon=True)
        self._known = self._marks()
        self._thread.start()

    def _look(self) -> None:
        pause_s = POLL_S
        while not self._stop.wait(pause_s):
            began_s = time.monotonic()
            now = self._marks()
            for path in self._known.keys() | now.keys():
                if self._known.get(path) != now.get(path):
                    self.told.put(path)
            self._known = now
            pause_s = max(POLL_S, (time.monotonic() - began_s) * POLL_SHARE)

    def _marks(self) -> dict[str, Mark]:
        """The marks of all files; files that disappear meanwhile are left out."""
        if not self._root.is_dir():
            return {}
        walked = walk(self._root, self._root, wanted=lambda name: True, ignore=self._ignore)
        marks: dict[str, Mark] = {}
        for path in (*walked.files, *(f"{folder}{GITIGNORE}" for folder in walked.folders)):
            try:
                found = os.lstat(os.path.join(self._root, path))  # noqa: PTH118
            except OSError:
                continue
            marks[path] = found.st_ino, found.st_size, found.st_mtime_ns
        return marks

    def close(self) -> None:
        self._stop.set()
        self._thread.join(POLL_S)
