"""A site on the disk: written beside the one that is shown, and then put in its place in one step."""

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
    """Makes the directory hold exactly these files. Whoever reads meanwhile finds the old site or the new one.

    Raises Conflict where the directory holds something that weft did not write, StoreError where it cannot be written.
    """
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


def check_place(place: Path) -> None:
    """Raises Conflict unless the place is free, empty, or a site of weft's."""
    if place.is_symlink() or (place.exists() and not place.is_dir()):
        raise Conflict(f"{place} is no directory", hint="choose another name for the site")
    if place.is_dir() and any(place.iterdir()) and not (place / MARKER).is_file():
        raise Conflict(
            f"{place} holds other things and no {MARKER}: weft replaces only what it wrote",
            hint="choose another name for the site, or empty the directory",
        )


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
