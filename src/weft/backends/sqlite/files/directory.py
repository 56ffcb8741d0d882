"""The directory of a store: a marker file and a folder of accounts.

New files and directories are readable by their owner only, whatever the umask. Existing ones keep their permissions.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from weft.core.errors import NotAStore, ReadOnly, StoreError
from weft.files.file_lock import sync_path

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
        # In this order: another process may be creating the store, and writes the marker first.
        if path.is_dir() and any(map(_is_other, path.iterdir())) and not (path / MARKER).is_file():
            raise NotAStore(
                f"{path} holds other things and no {MARKER}", hint="name an empty or new directory for the store"
            )
    except PermissionError as problem:
        raise StoreError(f"{path} cannot be read", hint="check its permissions") from problem


def make_directory(path: Path) -> None:
    """Creates the store, marker first, so that an interrupted creation is still recognised; all of it is synced."""
    try:
        made = [each for each in (path / ACCOUNTS, path, *path.parents) if not each.exists()]
        path.mkdir(mode=OWNERS_DIRECTORY, parents=True, exist_ok=True)
        if not (path / MARKER).exists():
            make_file(path / MARKER)
            (path / MARKER).write_text(json.dumps(MARKED) + "\n", encoding="utf-8")
        (path / ACCOUNTS).mkdir(mode=OWNERS_DIRECTORY, exist_ok=True)
        for entry in dict.fromkeys((path / MARKER, path, *(each.parent for each in made))):
            sync_path(entry)
    except PermissionError as problem:
        raise ReadOnly(f"{path} cannot be created or written", hint="check the permissions of its parent") from problem
    except OSError as problem:
        raise StoreError(f"{path} cannot be created: {problem}", hint="check the disk and the path") from problem


def make_file(path: Path) -> None:
    """An empty file for its owner only, unless it exists. SQLite's companion files inherit its permissions."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, OWNERS_FILE))


def _is_other(entry: Path) -> bool:
    """Whether an entry is none of weft's other files (tokens, start counts, project roots, written files,
    jobs, facts of source files, sockets), which may exist before the first memory.
    """
    others = ("tokens.json", "serving.json", "roots.json", "written.json", "jobs", "code", "live")
    return not entry.name.removeprefix(".").startswith(others)
