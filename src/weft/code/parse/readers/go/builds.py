"""Build constraints of Go files: comments above the package, and file names."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

# A plain build is one on Linux, without tags of one's own: where a name is defined for each system, that one is meant.
_GIVEN: Final = frozenset({"linux", "unix", "amd64", "gc", "cgo"})
_SYSTEMS_TEXT = """
aix android darwin dragonfly freebsd illumos ios js linux netbsd openbsd plan9 solaris wasip1 windows
"""
_SYSTEMS: Final = frozenset(_SYSTEMS_TEXT.split())
_MACHINES_TEXT = """
386 amd64 arm arm64 loong64 mips mips64 mips64le mipsle ppc64 ppc64le riscv64 s390x wasm
"""
_MACHINES: Final = frozenset(_MACHINES_TEXT.split())
_EXPRESSION: Final = re.compile(r"^//go:build\s+(.+)$", re.MULTILINE)
_OLD: Final = re.compile(r"^//\s*\+build\s+(.+)$", re.MULTILINE)
_TOKEN: Final = re.compile(r"&&|\|\||[!()]|[\w.]+")
MAX_CHARACTERS: Final = 500


def build_of(head: str, path: str) -> str:
    """The build constraint of a file as an expression; empty for none. `head` is the text above its package clause."""
    parts = (
        [found[1].strip()] if (found := _EXPRESSION.search(head)) else [_modern(line) for line in _OLD.findall(head)]
    )
    stem = path.rpartition("/")[2].removesuffix(".go").removesuffix("_test")
    names = stem.split("_")[1:][-2:]
    parts += [each for each in names[-1:] if each in _MACHINES | _SYSTEMS]
    if len(names) == 2 and names[0] in _SYSTEMS and names[1] in _MACHINES:
        parts.append(names[0])
    return (parts[0] if len(parts) == 1 else " && ".join(f"({each})" for each in parts))[:MAX_CHARACTERS]


def _modern(line: str) -> str:
    return " || ".join(f"({each.replace(',', ' && ')})" for each in line.split())


@lru_cache(maxsize=1024)
def is_plain(build: str) -> bool:
    """Whether a default build includes a file with this constraint; an invalid constraint counts as met."""
    tokens = _TOKEN.findall(build)
    if not tokens:
        return True
    value, rest = _any(tokens)
    return value or bool(rest)


def _any(tokens: list[str]) -> tuple[bool, list[str]]:
    value, tokens = _all(tokens)
    while tokens[:1] == ["||"]:
        other, tokens = _all(tokens[1:])
        value = value or other
    return value, tokens


def _all(tokens: list[str]) -> tuple[bool, list[str]]:
    value, tokens = _one(tokens)
    while tokens[:1] == ["&&"]:
        other, tokens = _one(tokens[1:])
        value = value and other
    return value, tokens


def _one(tokens: list[str]) -> tuple[bool, list[str]]:
    if not tokens:
        return True, []
    first, rest = tokens[0], tokens[1:]
    if first == "!":
        value, rest = _one(rest)
        return not value, rest
    if first == "(":
        value, rest = _any(rest)
        return value, rest[1:]
    return first in _GIVEN or first.startswith("go1"), rest
