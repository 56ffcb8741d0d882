"""The directory of a store: a marker that says it is one, and a folder of accounts.

What is made here is for its owner alone, whatever the umask: it holds what agents were told. What is there already
keeps the permissions that somebody gave it.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from weft.errors import NotAStore, ReadOnly, StoreError

MARKER = "weft-store.json"
MARKED = {"format": "weft", "layout": 1}
ACCOUNTS = "accounts"
OWNERS_DIRECTORY = 0o700
OWNERS_FILE = 0o600


def check_directory(path: Path) -> None:
    """Raises NotAStore unless the path is a store or may become one."""
    if path.is_file():
        raise NotAStore(f"{path} is a file", hint="a store is a directory; name one that is empty or new")
    try:
        # In this order: another process may be making the store, and the marker is the first thing it puts there.
        if path.is_dir() and any(map(_is_other, path.iterdir())) and not (path / MARKER).is_file():
            raise NotAStore(
                f"{path} holds other things and no {MARKER}", hint="name an empty or new directory for the store"
            )
    except PermissionError as problem:
        raise StoreError(f"{path} cannot be read", hint="check its permissions") from problem


def make_directory(path: Path) -> None:
    """The marker comes first, so that one cut short is still known as a store; all of it is synced."""
    try:
        made = [each for each in (path / ACCOUNTS, path, *path.parents) if not each.exists()]
        path.mkdir(mode=OWNERS_DIRECTORY, parents=True, exist_ok=True)
        if not (path / MARKER).exists():
            make_file(path / MARKER)
            (path / MARKER).write_text(json.dumps(MARKED) + "\n", encoding="utf-8")
        (path / ACCOUNTS).mkdir(mode=OWNERS_DIRECTORY, exist_ok=True)
        for entry in dict.fromkeys((path / MARKER, path, *(each.parent for each in made))):
            _sync(entry)
    except PermissionError as problem:
        raise ReadOnly(f"{path} cannot be created or written", hint="check the permissions of its parent") from problem
    except OSError as problem:
        raise StoreError(f"{path} cannot be created: {problem}", hint="check the disk and the path") from problem


def make_file(path: Path) -> None:
    """An empty file for its owner alone, unless there is one. What SQLite keeps beside a file has its permissions."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, OWNERS_FILE))


def _is_other(entry: Path) -> bool:
    """Whether it is something else than tokens, the count of starts, the projects' directories, the list of files that
    weft wrote, records of jobs and facts of source files: those may be there before a memory is.
    """
    others = ("tokens.json", "serving.json", "roots.json", "written.json", "jobs", "code")
    return not entry.name.removeprefix(".").startswith(others)


def _sync(entry: Path) -> None:
    descriptor = os.open(entry, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
