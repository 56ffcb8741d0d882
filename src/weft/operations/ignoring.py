"""Patterns of files that are passed over, as .gitignore writes them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from msgspec import Struct

MAX_PATTERNS: Final = 2_000  # of one file
MAX_FAULTS: Final = 3  # that are told


class Patterns(Struct, frozen=True, kw_only=True):
    """Patterns that hold below the folder `base` (a path that ends with a slash, or nothing for the root)."""

    base: str = ""
    spec: Any = None  # a pathspec.GitIgnoreSpec
    faults: tuple[str, ...] = ()

    def verdict(self, source: str, *, folder: bool) -> bool | None:
        """Whether they pass a path over; None if they do not speak of it."""
        if self.spec is None:
            return None
        written = source[len(self.base) :] + ("/" if folder else "")
        verdict: bool | None = self.spec.check_file(written).include
        return verdict


def read_patterns(base: str, lines: Iterable[str]) -> Patterns:
    """Reads patterns, one a line. What is no pattern is left out and named."""
    meant = [line for line in lines if line.strip() and not line.startswith("#")]
    if not meant:
        return Patterns(base=base)
    from pathspec import GitIgnoreSpec  # takes forty milliseconds: only where there are any patterns

    sound, faults = [], []
    for line in meant[:MAX_PATTERNS]:
        try:
            GitIgnoreSpec.from_lines([line])
            sound.append(line)
        except ValueError:
            faults.append(repr(line[:60]))
    if len(meant) > MAX_PATTERNS:
        faults.insert(0, f"those after the first {MAX_PATTERNS:,}")
    return Patterns(base=base, spec=GitIgnoreSpec.from_lines(sound), faults=tuple(faults[:MAX_FAULTS]))
