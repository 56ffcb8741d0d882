"""Keeps the write-ahead log short while readers come and go.

SQLite begins the file anew only when all of it is in the database and nobody reads from it. With readers that overlap
there is always one, and the file grows without end, slowing every read. So writers look at it:

- when enough pages wait, they are copied into the database, after the turn to write was given on: readers and other
  writers go on meanwhile;
- when the file is long and most of it is copied, the writer whose turn it is first copies the rest and waits a moment
  for those who still read from the file. Readers who begin meanwhile read the database alone, so it comes free after
  the longest read there is, and is begun anew.

A read that lasts (a backup, an export) keeps pages from being copied; then nobody waits for it, and the file grows
until it has ended. The last connection that is closed removes the file.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

import apsw

from weft.backends.sqlite.connection import BUSY_TIMEOUT_MS, WAL_CHECKPOINT_PAGES
from weft.backends.sqlite.directory import make_file

PAGE_BYTES: Final = 4_096
WAL_RESTART_PAGES: Final = 8_000
RESTART_WAIT_MS: Final = 250  # at most, and once over for each WAL_RESTART_PAGES that the file holds
MOST_RESTART_WAIT_MS: Final = 1_000
# The file stays under this while no read lasts half of RESTART_WAIT_MS and commits are a few megabytes at most.
WAL_BOUND_BYTES: Final = 2 * WAL_RESTART_PAGES * PAGE_BYTES


class Frames(NamedTuple):
    """Pages in the log, and how many of them are in the database too."""

    logged: int
    copied: int


class Wal:
    """The policy of one connection. Takes the place of SQLite's own checkpoints.

    Like those it raises nothing: what was committed is safe in the log, and the next commit tries again.
    """

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db
        self._copy_pages: int = db.pragma("wal_autocheckpoint") or WAL_CHECKPOINT_PAGES
        self._note = Path(db.filename).with_suffix(".lock")  # the turnstile's, which is empty otherwise
        db.wal_autocheckpoint(0)
        db.pragma("journal_size_limit", WAL_BOUND_BYTES)  # a file that grew longer shrinks when it begins anew

    def frames(self) -> Frames:
        """Looks, and does nothing else; sees none while another process is writing just there."""
        try:
            return Frames(*self._db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_NOOP))
        except apsw.Error:
            return Frames(0, 0)

    def shorten(self) -> None:
        """Begins the file anew if it is long. In the turn to write, before the transaction."""
        logged, copied = self.frames()
        if logged < WAL_RESTART_PAGES or copied < logged // 2:
            return
        # Where it failed, nobody tries again before those who read then are gone: the pages of that time are copied.
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
        """How many pages the log held when it could last not be begun anew. All processes share the note."""
        try:
            return int(self._note.read_bytes() or b"0")
        except (OSError, ValueError):
            return 0

    def _set_failed_at(self, logged: int) -> None:
        with suppress(OSError):
            make_file(self._note)
            self._note.write_bytes(str(logged).encode())

    def copy(self) -> None:
        """Copies pages into the database if enough wait. After the turn to write, beside readers and writers."""
        logged, copied = self.frames()
        if logged - copied >= self._copy_pages:
            with suppress(apsw.Error):  # another process is at it
                self._db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
