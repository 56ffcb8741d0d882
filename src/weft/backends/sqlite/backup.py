"""Copies an account into a store of its own, while others read and write."""

from __future__ import annotations

import os
import uuid
from pathlib import Path

import apsw

from weft.backends.sqlite.connection import translated
from weft.backends.sqlite.directory import ACCOUNTS, check_directory, make_directory, make_file
from weft.errors import Invalid, StoreError

PAGES_PER_STEP = 1_000


def back_up(source: apsw.Connection, account: str, target: Path) -> None:
    """Copies one state, that of the source's read transaction; the file appears whole and synced, or not at all.

    The source must be in a transaction: without one SQLite begins again after every commit of another process, and
    with writers going on never ends. Raises Invalid if the account is there already: nothing is written over.
    """
    assert source.in_transaction
    file = target / ACCOUNTS / f"{account}.db"
    _check_new(file)
    with translated(file):
        check_directory(target)
        make_directory(target)
        part = file.with_name(f"{file.name}.{uuid.uuid4().hex[:8]}.part")  # its own: two may copy at once
        source.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchall()  # BEGIN alone does not fix the state yet
        try:
            _copy(source, part)
            _check_new(file)
            _put_in_place(part, file)
        except OSError as problem:
            raise StoreError(f"{file} cannot be written: {problem}", hint="check the disk and the path") from problem
        finally:
            for left in part.parent.glob(f"{part.name}*"):  # after a success none: it was renamed
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
        copy.pragma("journal_mode", "delete")  # one file, whole, to carry away
    finally:
        copy.close()


def _put_in_place(part: Path, file: Path) -> None:
    _sync(part)
    part.rename(file)
    _sync(file.parent)


def _sync(entry: Path) -> None:
    descriptor = os.open(entry, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
