"""Resource limits of a process that parses untrusted files: total memory, processor time per file.

The kernel ends a process that exceeds them. On a platform without such limits, the waiting process ends it.
"""

from __future__ import annotations

import math
import os
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct

with suppress(ImportError):  # not a Unix
    import resource

Why = Literal["time", "memory", "killed", "died"]
OUT_OF_MEMORY: Final = 77  # exit code of a process that ran out of memory and could still report it
_STATM: Final = Path("/proc/self/statm")


class Limits(Struct, frozen=True, kw_only=True):
    """Memory beyond the process's initial size; processor time for a file alone, and for one among several.

    The largest accepted source file takes less than a second and 150 MB.
    """

    memory_bytes: int = 1 << 30
    alone_s: int = 5
    among_s: int = 2


def limit_memory(limits: Limits) -> None:
    """Limits this process to this much more memory, and disables core dumps."""
    with suppress(NameError, OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with suppress(NameError, OSError, ValueError, IndexError):
        most = int(_STATM.read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE") + limits.memory_bytes
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        if hard == resource.RLIM_INFINITY or most < hard:
            resource.setrlimit(resource.RLIMIT_AS, (most, hard))


def limit_time(seconds: int) -> None:
    """Limits this process to this much more processor time, until the next call."""
    with suppress(NameError, OSError, ValueError):
        hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(time.process_time()) + seconds, hard))


def why_ended(code: int, *, peak_bytes: int, limits: Limits | None) -> Why:
    """The cause of a process's end, by its exit code. A parser that gets no memory mostly crashes in its own way."""
    if -code == getattr(signal, "SIGXCPU", 0):
        return "time"
    if -code == getattr(signal, "SIGKILL", 9):
        return "killed"
    near = limits is not None and peak_bytes > limits.memory_bytes // 2
    return "memory" if code == OUT_OF_MEMORY or near else "died"
