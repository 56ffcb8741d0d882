"""What a parser lets through: one file is skipped, and said to be a fault of weft's; the rest goes on."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from traceback import extract_tb
from typing import Final

from weft.errors import Invalid, WeftError
from weft.screen import Screen

MAX_FAULT_CHARACTERS: Final = 200  # of what an unforeseen error says
TOO_MUCH_MEMORY: Final = "takes too much memory to parse"


@contextmanager
def faults_told(screen: Screen) -> Iterator[None]:
    """Makes Invalid of whatever a parser lets through: one file is skipped, and said to be a fault of weft's."""
    try:
        yield
    except WeftError:
        raise
    except RecursionError as problem:
        raise Invalid("is nested too deeply to be read") from problem
    except MemoryError as problem:
        raise Invalid(TOO_MUCH_MEMORY) from problem
    except Exception as fault:
        frame = extract_tb(fault.__traceback__)[-1]
        what = screen.redact(" ".join(f"{type(fault).__name__} {fault}".split()))[:MAX_FAULT_CHARACTERS]
        where = f"{os.path.basename(frame.filename)}:{frame.lineno}"  # noqa: PTH119
        raise Invalid(
            f"is a file that weft fails on, a fault of weft's: {what} ({where}); please report it with the file"
        ) from fault
