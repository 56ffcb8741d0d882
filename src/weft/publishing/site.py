"""A site on the disk: written beside the one that is shown, and then put in its place."""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from weft.errors import Conflict, StoreError

MARKER: Final = "weft-site.json"  # says that a directory was written by weft, and may be replaced by it


def write_site(place: Path, files: Mapping[str, str]) -> None:
    """Makes the directory hold exactly these files. Whoever reads meanwhile finds the old site or the new one, or for
    the instant between two renames none; a process that is killed then leaves the new one beside it, and the next run
    puts things right.

    Raises Conflict where the directory holds something that weft did not write, StoreError where it cannot be written.
    """
    _recover(place)
    check_place(place)
    fresh = place.with_name(f".{place.name}.new-{secrets.token_hex(4)}")
    stale = place.with_name(f".{place.name}.old-{secrets.token_hex(4)}")
    try:
        fresh.mkdir(parents=True)
        for name, text in files.items():
            _write(fresh / name, text)
        _write(fresh / MARKER, json.dumps({"format": "weft-site", "files": sorted(files)}) + "\n")
        if place.exists():
            place.rename(stale)
        fresh.rename(place)
        _sync_directory(place.parent)
    except OSError as problem:
        if stale.exists() and not place.exists():
            stale.rename(place)
        raise StoreError(
            f"{place} cannot be written: {problem.strerror}", hint="check its rights and space"
        ) from problem
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
        shutil.rmtree(stale, ignore_errors=True)


def _recover(place: Path) -> None:
    """Brings back the old site where a run was killed between the two renames, and clears what such runs left."""
    left = sorted(place.parent.glob(f".{place.name}.old-*")) if place.parent.is_dir() else []
    if left and not place.exists():
        left.pop().rename(place)
    for stale in (*left, *(place.parent.glob(f".{place.name}.new-*") if place.parent.is_dir() else ())):
        shutil.rmtree(stale, ignore_errors=True)


def check_place(place: Path) -> None:
    """Raises Conflict unless the place is free, empty, or a site of weft with nothing of anybody else in it."""
    if place.is_symlink() or (place.exists() and not place.is_dir()):
        raise Conflict(f"{place} is no directory", hint="choose another name for the site")
    there = {entry.name for entry in place.iterdir()} if place.is_dir() else set()
    if foreign := sorted(there - _written(place)):
        raise Conflict(
            f"{place} holds what weft did not write there, such as {foreign[0]}; it replaces only what it wrote",
            hint="choose another name for the site, or move those files away",
        )


def _written(place: Path) -> set[str]:
    """The names that weft wrote into the place, as it noted there."""
    try:
        noted = json.loads((place / MARKER).read_text(encoding="utf-8"))
        return {MARKER, *map(str, noted["files"])} if noted["format"] == "weft-site" else set()
    except (OSError, ValueError, KeyError, TypeError):
        return set()


def _write(file: Path, text: str) -> None:
    with file.open("w", encoding="utf-8", newline="\n") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())


def _sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
