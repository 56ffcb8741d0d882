"""Reads SCIP indexes (what rust-analyzer and others write): who refers to what, in which line. No more than needed.

The format is protocol buffers; the few fields that matter are read by hand, so that nothing is added to install.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

DEFINITION_ROLE = 1


class Occurrence(Struct, frozen=True):
    """A symbol in a file: its line and columns in bytes from 0, and whether it is defined there."""

    path: str
    symbol: str
    line: int
    start: int
    end: int
    defined: bool


def occurrences(index: Path) -> Iterator[Occurrence]:
    """All of an index, document by document."""
    for number, document in _fields(index.read_bytes()):
        if number != 2 or not isinstance(document, bytes):
            continue
        fields = list(_fields(document))
        path = next(value.decode() for field, value in fields if field == 1 and isinstance(value, bytes))
        for field, value in fields:
            if field == 2 and isinstance(value, bytes):
                made = _occurrence(path, value)
                if made is not None:
                    yield made


def _occurrence(path: str, data: bytes) -> Occurrence | None:
    places: list[int] = []
    symbol, roles = "", 0
    for number, value in _fields(data):
        if number == 1 and isinstance(value, bytes):
            places = list(_numbers(value))
        elif number == 2 and isinstance(value, bytes):
            symbol = value.decode()
        elif number == 3 and isinstance(value, int):
            roles = value
    if len(places) not in (3, 4) or not symbol:
        return None
    return Occurrence(path, symbol, places[0], places[1], places[-1], bool(roles & DEFINITION_ROLE))


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    at = 0
    while at < len(data):
        tag, at = _number(data, at)
        kind = tag & 7
        if kind == 0:
            value, at = _number(data, at)
            yield tag >> 3, value
        elif kind == 2:
            length, at = _number(data, at)
            yield tag >> 3, data[at : at + length]
            at += length
        else:
            at += 8 if kind == 1 else 4


def _numbers(data: bytes) -> Iterator[int]:
    at = 0
    while at < len(data):
        value, at = _number(data, at)
        yield value


def _number(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7
