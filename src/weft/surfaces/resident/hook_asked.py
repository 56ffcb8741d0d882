"""A hook that asks a resident before it loads anything: where that answers, nothing else is imported."""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from typing import Final

from weft.runtime.settings.surroundings import surroundings
from weft.surfaces.hooks.deadline import give_up_at
from weft.surfaces.hooks.hook import read_input
from weft.surfaces.hooks.plain_arguments import PlainArguments, read_plain
from weft.surfaces.resident.ask import Reply, ask, request
from weft.surfaces.resident.place import FOLDER, store_directory

PATIENCE: Final = 1 / 3  # of the time that is left: the rest is for doing the work here
MOST_PATIENCE_S: Final = {"context": 2.0, "capture": 20.0}
MAX_INPUT_BYTES: Final = 8 << 20


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
