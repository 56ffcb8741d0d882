"""The console script: what has to hold before anything is imported that takes time.

Whoever presses ctrl-C is let go at once. Python's own way, an exception wherever it happens to be, leaves threads of
libraries behind that end the process with noise, or breaks what is just being put away.
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
    """Runs `weft` with the arguments of this process. Servers take signals over while they serve."""
    signal.signal(signal.SIGINT, _leave)
    _stand_in()
    from weft.surfaces.cli.main import main as run

    run()


def _stand_in() -> None:
    """Streams that this process was started without (`2>&-`) lead nowhere; else a file would get their number."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_RDWR)
            if nowhere != number:
                os.dup2(nowhere, number)
                os.close(nowhere)
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8"))


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    """What was acknowledged is in the store: it takes a kill at any moment."""
    try:
        shown = "rich" in sys.modules and os.isatty(2)
        os.write(2, (SHOW_CURSOR if shown else b"") + b"interrupted\n")
    finally:
        os._exit(INTERRUPTED)
