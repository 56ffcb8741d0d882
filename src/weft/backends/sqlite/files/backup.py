"""Backup of an account into a store of its own, while others read and write."""

from __future__ import annotations

import uuid
from pathlib import Path

import apsw

from weft.backends.sqlite.files.connection import translated
from weft.backends.sqlite.files.directory import ACCOUNTS, check_directory, make_directory, make_file
from weft.core.errors import Invalid, StoreError
from weft.files.file_lock import sync_path

PAGES_PER_STEP = 1_000


def back_up(source: apsw.Connection, account: str, target: Path) -> None:
    """Copies one state, that of the source's read transaction; the file appears complete and synced, or not at all.

    The source must be in a transaction: otherwise SQLite restarts the copy after every commit of another process, and
    never ends under steady writes. Raises Invalid if the account exists in the target: nothing is overwritten.
    """
    assert source.in_transaction
    file = target / ACCOUNTS / f"{account}.db"
    _check_new(file)
    with translated(file):
        check_directory(target)
        make_directory(target)
        part = file.with_name(f"{file.name}.{uuid.uuid4().hex[:8]}.part")  # unique: two copies may run at once
        source.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchall()  # BEGIN alone takes no snapshot yet
        try:
            _copy(source, part)
            _check_new(file)
            _put_in_place(part, file)
        except OSError as problem:
            raise StoreError(f"{file} cannot be written: {problem}", hint="check the disk and the path") from problem
        finally:
            for left in part.parent.glob(f"{part.name}*"):  # none after a success: it was renamed
                left.unlink(missing_ok=True)


def _check_new(file: Path) -> None:
    if file.exists():
        raise Invalid(f"{file} exists already", hint="back up into a new directory")


def _copy(source: apsw.Connection, part: Path) -> None:
    make_file(part)
    copy = apsw.Connection(str(part))
    try:
        with copy.backup("main", source, "main") as work:
            while not work.done:
                work.step(PAGES_PER_STEP)
        copy.pragma("journal_mode", "delete")  # a single self-contained file
    finally:
        copy.close()


def _put_in_place(part: Path, file: Path) -> None:
    sync_path(part)
    part.rename(file)
    sync_path(file.parent)
