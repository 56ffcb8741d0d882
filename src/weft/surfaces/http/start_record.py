"""Count of server starts on a store, and whether the last one shut down cleanly, in a small file beside it."""

from __future__ import annotations

import contextlib
import os
from typing import Final

import msgspec
from msgspec import Struct

from weft.files.file_lock import replace_whole
from weft.files.paths import beside_store
from weft.runtime.settings.load import Settings

FILE: Final = "serving.json"
LOCK: Final = f"{FILE}.lock"
MAX_BYTES: Final = 4_096


class Start(Struct, frozen=True, kw_only=True):
    """One start: its number, its time, and whether the previous server did not shut down cleanly."""

    count: int = 1
    at_s: float = 0.0
    cut_short: bool = False


class _StartsFile(Struct, frozen=True, kw_only=True):
    starts: int = 0
    running: bool = False


class StartRecord:
    """The file of one store. If it cannot be read or written, the count is lost and the server starts anyway.

    Several servers may run on one store: each holds a shared lock beside the file while it runs.
    """

    def __init__(self, settings: Settings) -> None:
        self._path = beside_store(settings.store, FILE)
        self._held: int | None = None

    def begin(self, now_us: int) -> Start:
        """Counts a start."""
        before = self._read()
        self._write(_StartsFile(starts=before.starts + 1, running=True))
        cut_short = before.running and self._alone()
        self._lock(shared=True)
        return Start(count=before.starts + 1, at_s=now_us / 1_000_000, cut_short=cut_short)

    def end(self) -> None:
        """Records a clean shutdown, unless another server still runs."""
        self._write(_StartsFile(starts=self._read().starts, running=not self._alone()))
        if self._held is not None:
            os.close(self._held)
            self._held = None

    def _alone(self) -> bool:
        """Whether no other server runs on this store; True if unknown."""
        return self._lock(shared=False)

    def _lock(self, *, shared: bool) -> bool:
        if self._path is None:
            return True
        try:
            import fcntl

            if self._held is None:
                file = self._path.with_name(LOCK)
                self._held = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._held, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except (ImportError, OSError):
            return True
        return True

    def _read(self) -> _StartsFile:
        if self._path is None:
            return _StartsFile()
        try:
            return msgspec.json.decode(self._path.read_bytes()[:MAX_BYTES], type=_StartsFile)
        except (OSError, msgspec.MsgspecError):
            return _StartsFile()

    def _write(self, kept: _StartsFile) -> None:
        if self._path is None:
            return
        with contextlib.suppress(OSError):
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            replace_whole(self._path, msgspec.json.encode(kept), sync="no")
