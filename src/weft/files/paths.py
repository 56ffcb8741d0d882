"""Paths given by callers."""

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
