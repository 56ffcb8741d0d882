"""Console script: signals and streams, before anything that takes time is imported.

ctrl-C ends the process at once. Python's own way, an exception at any point of the code, leaves threads of libraries
behind that end the process with noise, or breaks what is just being cleaned up.
"""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType
from typing import Final, NoReturn

INTERRUPTED: Final = 130
SHOW_CURSOR: Final = b"\r\x1b[K\x1b[?25h"  # and clear the row of a bar


def main() -> None:
    """Runs `weft` with the arguments of this process. Servers handle signals themselves while they serve."""
    signal.signal(signal.SIGINT, _leave)
    _stand_in()
    # For numpy, not imported yet, and processes started from here: its threads wait for each other by spinning, which
    # costs a recall more than all of its sums.
    os.putenv("OPENBLAS_NUM_THREADS", "1")
    if sys.argv[1:2] in (["context"], ["capture"]):
        from weft.surfaces.resident.ask import answered

        if answered(sys.argv[1:]):
            return
    from weft.surfaces.cli.main import main as run

    run()


def _stand_in() -> None:
    """Opens /dev/null for streams that this process was started without (`2>&-`); else a file gets their number."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_RDWR)
            if nowhere != number:
                os.dup2(nowhere, number)
                os.close(nowhere)
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8"))


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    """Exits at once: acknowledged writes are in the store, which survives a kill at any moment."""
    try:
        shown = "rich" in sys.modules and os.isatty(2)
        os.write(2, (SHOW_CURSOR if shown else b"") + b"interrupted\n")
    finally:
        os._exit(INTERRUPTED)
