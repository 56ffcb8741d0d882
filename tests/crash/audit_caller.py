"""A process that asks and asks: `python -m crash.audit_caller DIRECTORY SESSION COUNT`.

Prints the number of each call when its answer is there. Without a count (0) it goes on until it is killed.
"""

from __future__ import annotations

import itertools
import sys
import time
from pathlib import Path

import weft
from weft.operations import OPERATIONS

PAUSE_S = 0.004  # who calls faster than anybody can write has a queue of more than a second


def open_at(directory: Path, session: str, *, audit: str = "on") -> weft.Memory:
    """The memory that callers and the test share."""
    environment = {
        "HOME": str(directory),
        "WEFT_EMBEDDER": "none",
        "WEFT_PROJECT": "quay",
        "WEFT_SESSION": session,
        "WEFT_AUDIT": audit,
    }
    return weft.open(f"sqlite://{directory}/store", directory=directory, environment=environment)


def main(directory: Path, session: str, count: int) -> None:
    head = next(each for each in OPERATIONS if each.name == "log_head")
    memory = open_at(directory, session)
    for number in range(1, count + 1) if count else itertools.count(1):
        memory.run(head, {"limit": number % 100 + 1})
        time.sleep(PAUSE_S)
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()
    # It leaves without closing: what waits is written at exit.


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
