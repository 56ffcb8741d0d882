"""Ignore patterns in the syntax of .gitignore, with git's semantics.

Any cloned repository brings its own: matching a path takes time at most proportional to its length times that of the
pattern. Libraries compile a pattern to one regular expression, which a line like `*a*a*a*a*b` keeps busy for hours.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec import Struct

MAX_PATTERNS: Final = 2_000  # of one file
MAX_PATTERN_CHARACTERS: Final = 1_000
MAX_FAULTS: Final = 3  # reported

_STARS = re.compile(r"\*\*+$")
_CLASSES: Final = {
    "alnum": "a-zA-Z0-9", "alpha": "a-zA-Z", "blank": " \t", "cntrl": "\\x00-\\x1f\\x7f", "digit": "0-9",
    "graph": "!-~", "lower": "a-z", "print": " -~", "punct": "!-/:-@\\[-`{-~", "space": " \t\n\r\f\v", "upper": "A-Z",
    "xdigit": "0-9a-fA-F",
}  # fmt: skip

Segments = tuple[re.Pattern[str] | None, ...]  # None is `**`: any number of directories


class Pattern(Struct, frozen=True, kw_only=True):
    """One line: which paths it matches, and whether it ignores them or negates an earlier pattern.

    Most lines match names in any directory: those have a `name` and no segments.
    """

    name: re.Pattern[str] | None = None
    segments: Segments = ()
    ignores: bool = True
    only_folders: bool = False


class Patterns(Struct, frozen=True, kw_only=True):
    """Patterns that apply below the directory `base` (a path with a final slash, or empty for the root)."""

    base: str = ""
    patterns: tuple[Pattern, ...] = ()
    faults: tuple[str, ...] = ()

    def verdict(self, source: str, *, folder: bool) -> bool | None:
        """Whether a path is ignored; None if no pattern matches it. The last matching pattern counts.

        Paths inside an ignored directory are not asked about: a walk does not enter it.
        """
        if not source.startswith(self.base):
            return None
        names = source[len(self.base) :].split("/")
        last = names[-1]
        for pattern in reversed(self.patterns):
            if pattern.only_folders and not folder:
                continue
            if pattern.name.fullmatch(last) if pattern.name is not None else _matches(pattern.segments, names):
                return pattern.ignores
        return None


def read_patterns(base: str, lines: Iterable[str]) -> Patterns:
    """Parses patterns, one per line. Invalid ones are skipped and reported."""
    meant = [line for line in lines if line.strip() and not line.startswith("#")]
    sound, faults = [], []
    for line in meant[:MAX_PATTERNS]:
        try:
            sound.append(_read(line))
        except ValueError:
            faults.append(repr(line[:60]))
    if len(meant) > MAX_PATTERNS:
        faults.insert(0, f"those after the first {MAX_PATTERNS:,}")
    return Patterns(base=base, patterns=tuple(sound), faults=tuple(faults[:MAX_FAULTS]))


def _matches(wanted: Segments, names: Sequence[str]) -> bool:
    """Whether the names match. After `**` the first position that fits is best: it leaves most room for the rest."""
    at = name = 0
    after: tuple[int, int] | None = None  # the last `**`, and the first name that it does not cover
    while name < len(names):
        segment = wanted[at] if at < len(wanted) else _NEVER
        if segment is None:
            after = (at + 1, name)
            at += 1
        elif segment.fullmatch(names[name]):
            at, name = at + 1, name + 1
        elif after is None:
            return False
        else:
            after = (after[0], after[1] + 1)
            at, name = after
    return all(segment is None for segment in wanted[at:])


# Reading a line


def _read(line: str) -> Pattern:
    """Parses a line. Raises ValueError for one that could match nothing."""
    words = _without_last_spaces(line)
    negated = words.startswith("!")
    words = words[1:] if negated else words
    only_folders = words.endswith("/")
    words = words.removesuffix("/")
    if not words or len(words) > MAX_PATTERN_CHARACTERS:
        raise ValueError(line)
    if "/" not in words:
        return Pattern(name=_segment(words), ignores=not negated, only_folders=only_folders)
    parts = words.removeprefix("/").split("/")
    segments = [None if _STARS.match(part) else _segment(part) for part in parts]
    if segments[-1] is None:
        segments.append(_ANY)  # the content of a directory, not the directory itself
    return Pattern(segments=tuple(segments), ignores=not negated, only_folders=only_folders)


def _without_last_spaces(line: str) -> str:
    line = line.removesuffix("\r")
    words = line.rstrip(" ")
    escapes = len(words) - len(words.rstrip("\\"))
    return words + " " if escapes % 2 and len(words) < len(line) else words


def _segment(words: str) -> re.Pattern[str]:
    """A name with its wildcards. The part between two stars is searched once (an atomic group): its first
    match is the best.
    """
    pieces = [""]
    at = 0
    while at < len(words):
        sign = words[at]
        at += 1
        if sign == "*":
            pieces.append("")
        elif sign == "?":
            pieces[-1] += "."
        elif sign == "[":
            made, at = _bracket(words, at)
            pieces[-1] += made
        elif sign == "\\":
            if at == len(words):
                raise ValueError(words)
            pieces[-1] += re.escape(words[at])
            at += 1
        else:
            pieces[-1] += re.escape(sign)
    first, *between = pieces
    last = ".*" + between.pop() if between else ""
    return re.compile(first + "".join(f"(?>.*?{piece})" for piece in between if piece) + last, re.DOTALL)


def _bracket(words: str, at: int) -> tuple[str, int]:
    """`[a-z]` from behind its opening bracket as an expression; and the position behind it."""
    negated = words.startswith(("!", "^"), at)
    items = ""
    for item, place in _items(words, at + negated):
        if not item:
            return f"[{'^' if negated else ''}{items}]", place
        items += item
    raise ValueError(words)


def _items(words: str, at: int) -> Iterator[tuple[str, int]]:
    """The items of a bracket expression, each as an expression, and "" at the end."""
    first = True
    while at < len(words) and (first or words[at] != "]"):
        first = False
        end = words.find(":]", at + 2) if words.startswith("[:", at) else -1
        if end >= 0:
            if words[at + 2 : end] not in _CLASSES:
                raise ValueError(words)
            at, item = end + 2, _CLASSES[words[at + 2 : end]]
        else:
            low, at = _sign(words, at)
            item = re.escape(low)
            if words[at : at + 1] == "-" and words[at + 1 : at + 2] not in ("", "]"):
                high, at = _sign(words, at + 1)
                item += f"-{re.escape(high)}" if low <= high else ""
        yield item, at
    if at < len(words):
        yield "", at + 1


def _sign(words: str, at: int) -> tuple[str, int]:
    at += words[at] == "\\"
    if at == len(words):
        raise ValueError(words)
    return words[at], at + 1


_ANY: Final = re.compile(".*", re.DOTALL)
_NEVER: Final = re.compile("(?!)")
