"""Copies an account into a store of its own, while others read and write."""

from __future__ import annotations

from pathlib import Path

import apsw

from weft.backends.sqlite.connection import translated
from weft.backends.sqlite.directory import ACCOUNTS, check_directory, make_directory
from weft.errors import Invalid

PAGES_PER_STEP = 1_000


def back_up(source: apsw.Connection, account: str, target: Path) -> None:
    """Raises Invalid if the account is there already: nothing is written over."""
    file = target / ACCOUNTS / f"{account}.db"
    if file.exists():
        raise Invalid(f"{file} exists already", hint="back up into a new directory")
    with translated(file):
        check_directory(target)
        make_directory(target)
        copy = apsw.Connection(str(file))
        try:
            with copy.backup("main", source, "main") as work:
                while not work.done:
                    work.step(PAGES_PER_STEP)
            copy.pragma("journal_mode", "delete")  # one file, whole, to carry away
        finally:
            copy.close()
