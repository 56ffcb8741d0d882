"""Isolation of parser failures: the file is skipped and reported as a bug of weft; others are read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from traceback import extract_tb
from typing import Final

from weft.append.privacy import PrivacyFilter
from weft.core.errors import Invalid, WeftError

MAX_FAULT_CHARACTERS: Final = 200  # of an unexpected error's message
TOO_MUCH_MEMORY: Final = "takes too much memory to parse"


@contextmanager
def faults_told(privacy: PrivacyFilter) -> Iterator[None]:
    """Turns any exception of a parser into Invalid, so that only its file is skipped."""
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
        what = privacy.redact(" ".join(f"{type(fault).__name__} {fault}".split()))[:MAX_FAULT_CHARACTERS]
        where = f"{os.path.basename(frame.filename)}:{frame.lineno}"  # noqa: PTH119
        raise Invalid(
            f"cannot be parsed because of a bug in weft: {what} ({where}); please report it with the file"
        ) from fault
