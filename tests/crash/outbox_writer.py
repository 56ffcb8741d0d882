"""A process that writes while the store is now free, now held: `python -m crash.outbox_writer DIRECTORY SESSION SEED`.

Prints one line per acknowledgement: the number of the write and its status. What cannot be written waits in the outbox
and goes in before the next write that can.
"""

from __future__ import annotations

import os
import random
import sys
import time
from pathlib import Path
from typing import Any

import weft
from weft.append import outbox
from weft.backends.sqlite.files import write_lock as turnstile
from weft.files import file_lock
from weft.log.draft import Draft
from weft.log.kinds import memory
from weft.writing.build.commit import commit

WAIT_S = 0.01  # a short one: the lock is held longer than this


def open_at(directory: Path, session: str) -> weft.Memory:
    """The memory that writers and the test share."""
    environment = {
        "HOME": str(directory),
        "WEFT_EMBEDDER": "none",
        "WEFT_AUDIT": "off",
        "WEFT_ACCOUNT": "crash",
        "WEFT_SESSION": session,
    }
    return weft.open(f"sqlite://{directory / 'store'}", directory=directory, environment=environment)


def _slow_steps(chance: random.Random) -> None:
    """Time between the steps of putting, delivering and removing, so that a kill falls there too."""
    sync, remove = outbox.sync_path, outbox._ignore_missing

    def slow_sync(directory: Path) -> None:
        time.sleep(chance.random() * 0.003)
        sync(directory)
        time.sleep(chance.random() * 0.003)

    def slow_remove(do: Any, *paths: Path) -> None:
        time.sleep(chance.random() * 0.01)
        remove(do, *paths)

    outbox.sync_path = file_lock.sync_path = slow_sync
    outbox._ignore_missing = slow_remove


def main(directory: str, session: str, seed: str) -> None:
    chance = random.Random(seed)
    turnstile.WAIT_S = WAIT_S
    _slow_steps(chance)
    ctx = open_at(Path(directory), session).ctx
    number = 0
    while True:
        number += 1
        said = memory.Remembered(id=f"{session}:{number}", text=f"write {number} of {session}")
        request = f"{session}-{number}" if chance.random() < 0.5 else None
        done = commit(ctx, [Draft(kind="memory.remembered", payload=said)], request_id=request)
        os.write(1, f"{number} {done.status}\n".encode())  # one write: a line arrives whole or not at all


if __name__ == "__main__":
    main(*sys.argv[1:])
