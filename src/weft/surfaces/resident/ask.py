"""Asks a resident of the same store, if there is one; the caller does the work itself where this gives no answer."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from weft.surfaces.frames import TAKEN, BrokenOff, Frame, exactly, receive, send
from weft.surfaces.resident.place import MAX_SOCKETS, address, handed_on, identity, open_folder, user_of
from weft.version import __version__

TAKEN_WITHIN_S: Final = 0.03  # for all residents together: one that is gone, or hangs, costs no more than this


class Reply(NamedTuple):
    """What to print to standard output and to standard error."""

    out: str
    err: str


def request(directory: str, working: str, environment: Mapping[str, str], work: Mapping[str, Any]) -> dict[str, Any]:
    """The head of a request: who asks, for which store, with which settings, and what is to be done."""
    return {
        "weft": __version__,
        "store": identity(directory),
        "working": working,
        "environment": handed_on(environment),
        "work": dict(work),
    }


def ask(directory: str, head: Mapping[str, Any], body: bytes, *, until: float) -> Reply | None:
    """The reply of a resident process for this store; None if there is none that accepts and answers in time.

    An accepted request may have been carried out even without a reply.
    """
    taken_until = min(time.monotonic() + TAKEN_WITHIN_S, until)
    folder = open_folder(directory)
    if folder is None:
        return None
    try:
        for name in _names(folder):
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connected:
                if _is_taken(connected, address(folder, name), Frame(dict(head), body), taken_until):
                    return _reply(connected, until)
    finally:
        os.close(folder)
    return None


def _names(folder: int) -> list[str]:
    try:
        return sorted(os.listdir(folder), reverse=True)[:MAX_SOCKETS]
    except OSError:
        return []


def _is_taken(connected: socket.socket, where: str, frame: Frame, until: float) -> bool:
    connected.settimeout(max(0.001, until - time.monotonic()))
    try:
        connected.connect(where)
        if user_of(connected) != os.geteuid():
            return False
        send(connected, frame, until)
        return exactly(connected, 1, until) == TAKEN
    except (OSError, BrokenOff):
        return False


def _reply(connected: socket.socket, until: float) -> Reply | None:
    try:
        head, _ = receive(connected, until)
        return Reply(out=str(head["out"]), err=str(head["err"]))
    except (BrokenOff, KeyError):
        return None
