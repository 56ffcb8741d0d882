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
    """The file of one store. A file that cannot be read or written costs the count, never the start."""

    def __init__(self, settings: Settings) -> None:
        scheme, _, rest = settings.store.partition("://")
        self._path = Path(rest).expanduser().absolute() / FILE if scheme == "sqlite" and rest else None

    def begin(self, now_us: int) -> Start:
        """Counts a start."""
        before = self._read()
        self._write(_Kept(starts=before.starts + 1, running=True))
        return Start(count=before.starts + 1, at_s=now_us / 1_000_000, cut_short=before.running)

    def end(self) -> None:
        """It ends as it should."""
        self._write(_Kept(starts=self._read().starts, running=False))

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
