"""Reading a file that may be anything: a pipe, a link, a device, deleted, or growing while it is read."""

from __future__ import annotations

import os
import stat
from typing import Final

_FLAGS: Final = (
    os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
)  # opening a pipe without a writer does not block


def read_regular(path: str | bytes, most: int) -> bytes | str:
    """The bytes of a regular file of at most `most` bytes, or the reason why not. A larger one is not read at all."""
    try:
        handle = os.open(path, _FLAGS)
    except ValueError:
        return "its name holds a NUL character"
    except FileNotFoundError:
        return "is gone"
    except OSError as problem:
        return "is a link" if os.path.islink(path) else f"cannot be read: {problem.strerror}"  # noqa: PTH114
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            return "is not a file"
        if found.st_size > most:
            return f"larger than {most:,} bytes"
        with os.fdopen(os.dup(handle), "rb") as file:
            raw = file.read(most + 1)
    except OSError as problem:
        return f"cannot be read: {problem.strerror}"
    finally:
        os.close(handle)
    return raw if len(raw) <= most else f"larger than {most:,} bytes"
