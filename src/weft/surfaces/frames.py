"""Frames between processes of weft on one machine: a JSON object and bytes beside it, over a socket.

A request and a reply are a length, JSON, another length and plain bytes. Everything is bounded.
"""

from __future__ import annotations

import json
import socket
import struct
import time
from typing import Any, Final, NamedTuple

MAX_HEAD_BYTES: Final = 1 << 20
MAX_BODY_BYTES: Final = 16 << 20
TAKEN: Final = b"+"
DECLINED: Final = b"-"
_LENGTHS: Final = struct.Struct(">II")
_BLOCK: Final = 1 << 16


class BrokenOff(Exception):
    """The other side is gone, too slow, or does not speak this."""


class Frame(NamedTuple):
    """A JSON object, and bytes beside it."""

    head: dict[str, Any]
    body: bytes = b""


def send(to: socket.socket, frame: Frame, until: float) -> None:
    """Sends a frame. Raises BrokenOff if it does not go in time."""
    head = json.dumps(frame.head).encode()
    rest = memoryview(_LENGTHS.pack(len(head), len(frame.body)) + head + frame.body)
    try:
        while rest:
            to.settimeout(_left(until))
            rest = rest[to.send(rest) :]
    except (OSError, ValueError) as problem:
        raise BrokenOff(str(problem)) from problem


def receive(of: socket.socket, until: float, *, most: int = MAX_BODY_BYTES) -> Frame:
    """The next frame, its body of `most` bytes. Raises BrokenOff if it does not come whole, and in time."""
    head_size, body_size = _LENGTHS.unpack(exactly(of, _LENGTHS.size, until))
    if head_size > MAX_HEAD_BYTES or body_size > most:
        raise BrokenOff("a frame over the limit")
    try:
        head = json.loads(exactly(of, head_size, until))
    except (ValueError, RecursionError) as problem:
        raise BrokenOff("no JSON") from problem
    if not isinstance(head, dict):
        raise BrokenOff("no object")
    return Frame(head, exactly(of, body_size, until))


def exactly(of: socket.socket, size: int, until: float) -> bytes:
    """Reads exactly that many bytes. Raises BrokenOff if they do not arrive in time."""
    read = bytearray()
    try:
        while len(read) < size:
            of.settimeout(_left(until))
            block = of.recv(min(size - len(read), _BLOCK))
            if not block:
                raise BrokenOff("closed")
            read += block
    except (OSError, ValueError) as problem:
        raise BrokenOff(str(problem)) from problem
    return bytes(read)


def _left(until: float) -> float:
    """Seconds that are left. Raises BrokenOff where none are."""
    left = until - time.monotonic()
    if left <= 0:
        raise BrokenOff("too slow")
    return left
