"""Splitting of chains and types at separators outside of brackets; paths of folders."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

_OPENING: Final = "<([{"
_CLOSING: Final = ">)]}"


def closing(text: str, at: int) -> int:
    """The index of the bracket that closes the one at an index; the last character if none does."""
    depth = 0
    for place in range(at, len(text)):
        each = text[place]
        if each in _OPENING:
            depth += 1
        elif each in _CLOSING and not (each == ">" and text[place - 1] in "=-"):  # `=>`, `->` close nothing
            depth -= 1
            if depth == 0:
                return place
    return len(text) - 1


@lru_cache(maxsize=20_000)
def split(text: str, mark: str = ",") -> tuple[str, ...]:
    """The parts between separators that are outside of all brackets."""
    if mark not in text:
        return (text,)
    parts, begin, at = [], 0, 0
    while at < len(text):
        if text[at] in _OPENING:
            at = closing(text, at)
        elif text[at] == mark:
            parts.append(text[begin:at])
            begin = at + 1
        at += 1
    return (*parts, text[begin:])


def joined(folder: str, path: str) -> str:
    """A normalised path below a folder; begins with `..` if it leads out of the project."""
    made = posixpath.normpath(posixpath.join(folder, path))
    return "" if made == "." else made


def is_below(path: str, folder: str) -> bool:
    """Whether a path is a folder or below it; everything is below the root, an empty path."""
    return not folder or path == folder or path.startswith(f"{folder}/")


def folders_above(path: str) -> Iterator[str]:
    """The folders around a path, nearest first; the last is the root, an empty path."""
    while path:
        path = path.rpartition("/")[0]
        yield path


def shared_folders(one: str, other: str) -> int:
    """The number of leading folders that two paths share."""
    count = 0
    for left, right in zip(one.split("/"), other.split("/"), strict=False):
        if left != right:
            break
        count += 1
    return count
