"""Paths given by callers, and the directory of a store."""

from __future__ import annotations

from pathlib import Path

from weft.core.errors import Invalid


def read_path(written: str) -> Path:
    """A path, with `~` expanded. Raises Invalid for an impossible file name."""
    if "\x00" in written:
        raise Invalid(f"the path {written[:80]!r} holds a NUL character", hint="give the path of a file or a directory")
    try:
        return Path(written).expanduser()
    except RuntimeError as problem:
        raise Invalid(f"{written[:80]!r} names no home directory", hint="write the path in full") from problem


def store_directory(url: str) -> Path | None:
    """The directory of the store at a URL; None for a store in memory."""
    scheme, _, rest = url.partition("://")
    return Path(rest).expanduser().absolute() if scheme == "sqlite" and rest else None


def beside_store(url: str, name: str) -> Path | None:
    """The path of a name in the directory of the store at a URL; None for a store in memory."""
    directory = store_directory(url)
    return directory / name if directory is not None else None
