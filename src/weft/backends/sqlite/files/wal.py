"""Checkpoint policy that keeps the write-ahead log short under overlapping readers.

SQLite restarts the WAL only when all of it is checkpointed and no reader uses it. With overlapping readers that never
happens, and the file grows without bound and slows every read. So writers check it:

- if enough pages are pending, they are checkpointed after the write lock was released, beside readers and other
  writers;
- if the file is long and mostly checkpointed, the writer that holds the lock checkpoints the rest and waits briefly for
  readers of the WAL. New readers meanwhile read the database alone, so the WAL is free after the longest current read,
  and restarts.

A long read (a backup, an export) blocks checkpoints; then no writer waits for it, and the file grows until it ends. The
last connection to close removes the file.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

import apsw

from weft.backends.sqlite.files.connection import BUSY_TIMEOUT_MS, WAL_CHECKPOINT_PAGES
from weft.backends.sqlite.files.directory import make_file

PAGE_BYTES: Final = 4_096
WAL_RESTART_PAGES: Final = 8_000
RESTART_WAIT_MS: Final = 250  # at most, per WAL_RESTART_PAGES in the file
MOST_RESTART_WAIT_MS: Final = 1_000
# The file stays below this while no read lasts half of RESTART_WAIT_MS and commits are a few megabytes at most.
WAL_BOUND_BYTES: Final = 2 * WAL_RESTART_PAGES * PAGE_BYTES


class Frames(NamedTuple):
    """Pages in the WAL, and how many of them are checkpointed."""

    logged: int
    copied: int


class WalPolicy:
    """The policy of one connection. Replaces SQLite's automatic checkpoints.

    Raises nothing, as those: committed data is safe in the WAL, and the next commit tries again.
    """

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db
        self._copy_pages: int = db.pragma("wal_autocheckpoint") or WAL_CHECKPOINT_PAGES
        self._note = Path(db.filename).with_suffix(".lock")  # the write lock's file, otherwise empty
        db.wal_autocheckpoint(0)
        db.pragma("journal_size_limit", WAL_BOUND_BYTES)  # a longer file is truncated when it restarts

    def frames(self) -> Frames:
        """Read-only; zero while another process is writing to the WAL index."""
        try:
            return Frames(*self._db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_NOOP))
        except apsw.Error:
            return Frames(0, 0)

    def shorten(self) -> None:
        """Restarts the file if it is long. Holding the write lock, before the transaction."""
        logged, copied = self.frames()
        if logged < WAL_RESTART_PAGES or copied < logged // 2:
            return
        # After a failure, no writer retries until the readers of that time are gone: then their pages are copied.
        failed_at = self._failed_at()
        if copied < failed_at <= logged:
            return
        self._db.set_busy_timeout(min(RESTART_WAIT_MS * (logged // WAL_RESTART_PAGES), MOST_RESTART_WAIT_MS))
        try:
            self._db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_RESTART)
        except apsw.Error:
            self._set_failed_at(logged)
        finally:
            self._db.set_busy_timeout(BUSY_TIMEOUT_MS)

    def _failed_at(self) -> int:
        """Pages in the WAL at the last failed restart. All processes share the note."""
        try:
            return int(self._note.read_bytes() or b"0")
        except (OSError, ValueError):
            return 0

    def _set_failed_at(self, logged: int) -> None:
        with suppress(OSError):
            make_file(self._note)
            self._note.write_bytes(str(logged).encode())

    def copy(self) -> None:
        """Checkpoints if enough pages are pending. After releasing the write lock, beside readers and writers."""
        logged, copied = self.frames()
        if logged - copied >= self._copy_pages:
            with suppress(apsw.Error):  # another process is doing it
                self._db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
