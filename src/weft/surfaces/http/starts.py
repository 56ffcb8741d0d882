"""How often a server was started on a store, and whether the last one ended as it should: a small file beside it."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from weft.config import Settings

FILE: Final = "serving.json"
LOCK: Final = f"{FILE}.lock"
MAX_BYTES: Final = 4_096


class Start(Struct, frozen=True, kw_only=True):
    """One start: the how manieth, when, and whether the one before it was cut short."""

    count: int = 1
    at_s: float = 0.0
    cut_short: bool = False


class _Kept(Struct, frozen=True, kw_only=True):
    starts: int = 0
    running: bool = False


class Record:
    """The file of one store. A file that cannot be read or written costs the count, never the start.

    Several servers may run on one store: as long as one does, it holds a lock beside the file.
    """

    def __init__(self, settings: Settings) -> None:
        scheme, _, rest = settings.store.partition("://")
        self._path = Path(rest).expanduser().absolute() / FILE if scheme == "sqlite" and rest else None
        self._held: int | None = None

    def begin(self, now_us: int) -> Start:
        """Counts a start."""
        before = self._read()
        self._write(_Kept(starts=before.starts + 1, running=True))
        cut_short = before.running and self._alone()
        self._lock(shared=True)
        return Start(count=before.starts + 1, at_s=now_us / 1_000_000, cut_short=cut_short)

    def end(self) -> None:
        """It ends as it should; another may go on."""
        self._write(_Kept(starts=self._read().starts, running=not self._alone()))
        if self._held is not None:
            os.close(self._held)
            self._held = None

    def _alone(self) -> bool:
        """Whether no other server runs on this store. True where that cannot be told."""
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

    def _read(self) -> _Kept:
        if self._path is None:
            return _Kept()
        try:
            return msgspec.json.decode(self._path.read_bytes()[:MAX_BYTES], type=_Kept)
        except (OSError, msgspec.MsgspecError):
            return _Kept()

    def _write(self, kept: _Kept) -> None:
        if self._path is None:
            return
        draft = self._path.with_name(f".{FILE}.{os.getpid()}")
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "wb") as file:
                file.write(msgspec.json.encode(kept))
            draft.replace(self._path)
        except OSError:
            with contextlib.suppress(OSError):  # where nothing can be written, nothing can be removed
                draft.unlink(missing_ok=True)
