"""Hooks answered by a resident process of the same store; without an answer the hook does the work itself.

Imports little: nothing else is loaded where a resident answers.
"""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final, NamedTuple

from weft.runtime.settings.surroundings import surroundings
from weft.surfaces.frames import TAKEN, BrokenOff, Frame, exactly, receive, send
from weft.surfaces.hooks.deadline import give_up_at
from weft.surfaces.hooks.hook import read_input
from weft.surfaces.hooks.plain_arguments import PlainArguments, read_plain
from weft.surfaces.resident.place import (
    FOLDER,
    MAX_SOCKETS,
    address,
    handed_on,
    identity,
    open_folder,
    store_directory,
    user_of,
)
from weft.version import __version__

PATIENCE: Final = 1 / 3  # of the time that is left: the rest is for doing the work here
MOST_PATIENCE_S: Final = {"context": 2.0, "capture": 20.0}

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


def answered(arguments: list[str]) -> bool:
    """Whether a resident of the user's store answered this hook. If not, the hook does the work itself.

    Doing the work twice is harmless: one kind only reads, the other is idempotent.
    """
    plain = read_plain(arguments)
    directory = None if plain is None else store_directory(surroundings())
    if plain is None or directory is None or not os.path.isdir(f"{directory}/{FOLDER}"):  # noqa: PTH112
        return False
    until = give_up_at(plain.deadline_s)
    try:
        raw = b"" if plain.client is None else read_input(until)
        reply = _asked(plain, directory, raw, until)
    except Exception:  # noqa: BLE001 - told by the hook itself, if it meets the same
        return False
    if reply is None:
        return False
    with suppress(OSError):  # nobody listens any more
        _print(reply)
    return True


def _asked(plain: PlainArguments, directory: str, raw: bytes, until: float) -> Reply | None:
    try:
        working = os.getcwd()  # noqa: PTH109 - before pathlib is needed
    except OSError:
        return None
    work = {"command": plain.command, "client": plain.client, "query": plain.query, "budget": plain.budget}
    patience_s = min(MOST_PATIENCE_S[plain.command], (until - time.monotonic()) * PATIENCE)
    return ask(directory, request(directory, working, surroundings(), work), raw, until=time.monotonic() + patience_s)


def _print(reply: Reply) -> None:
    if "\x1b" in reply.out and not sys.stdout.isatty():
        import click  # takes codes of a terminal out

        click.echo(reply.out, nl=False)
    else:
        sys.stdout.buffer.write(reply.out.encode("utf-8", "replace"))
    sys.stdout.flush()
    sys.stderr.write(reply.err)
    sys.stderr.flush()
