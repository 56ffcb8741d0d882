"""Paths as callers write them."""

from __future__ import annotations

from pathlib import Path

from weft.errors import Invalid


def read_path(written: str) -> Path:
    """A path, with `~` expanded. Raises Invalid for what no file can be called."""
    if "\x00" in written:
        raise Invalid(f"the path {written[:80]!r} holds a NUL character", hint="give the path of a file or a directory")
    try:
        return Path(written).expanduser()
    except RuntimeError as problem:
        raise Invalid(f"{written[:80]!r} names no home directory", hint="write the path in full") from problem
