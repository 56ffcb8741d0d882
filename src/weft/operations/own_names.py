"""Conversations that are called by their file: two files may have one name, and one file may move or grow.

A file goes on with the conversation of its name if it begins as that does. Otherwise the name is another file's, and
something is put behind it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Final

from weft.extract.records import Record

BEGINNING: Final = 8  # turns that are compared
MAX_NAMES: Final = 1_000  # files of one name that begin with the same turn


def mark_of(first: Sequence[Record], standing: Callable[[str], Sequence[tuple[str, str]]]) -> str:
    """What to put behind the name of a file that begins with these turns: nothing where the name is free, or its own.

    `standing` gives for such a mark the turns that stand under it: of each its record and its text. Where records have
    other ids by another mark, only what is behind the last colon counts.
    """
    if not first:
        return ""
    begins = [(_own(each.id), each.text) for each in first[:BEGINNING]]
    dated = all(each.at is not None for each in first[:BEGINNING])
    digest = hashlib.sha256("\x00".join(begins[0]).encode("utf-8", "replace")).hexdigest()[:8]
    marks = ("", f"-{digest}", *(f"-{digest}-{number}" for number in range(2, MAX_NAMES)))
    for mark in marks:
        stood = [(_own(record), text) for record, text in standing(mark)]
        if not stood or _is_same(begins, stood, dated=dated):
            return mark
    return marks[-1]


def _own(record: str) -> str:
    return record.rpartition(":")[2]


def _is_same(begins: list[tuple[str, str]], stood: list[tuple[str, str]], *, dated: bool) -> bool:
    """Whether turns are of one conversation. With their dates turns are known anywhere: a newer export may begin later.
    Without, anybody may say hello.
    """
    if dated:
        return not set(begins).isdisjoint(stood)
    both = min(len(begins), len(stood), BEGINNING)
    return begins[:both] == stood[:both]
