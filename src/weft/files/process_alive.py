"""Liveness of the process that wrote a record."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path


@cache
def this_host() -> str:
    """Identifies a set of process ids: the machine's boot, and the PID namespace."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot}/{Path('/proc/self/ns/pid').readlink()}"
    except OSError:  # no Linux
        return os.uname().nodename if hasattr(os, "uname") else ""


def birth_of(pid: int) -> str:
    """The start time of a process, in the system's own count: pids are reused. Empty if unknown."""
    return _stat(pid)[1]


def is_running(pid: int, born: str) -> bool:
    """Whether the process with this pid and start time is alive. A zombie is not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # of another user
        pass
    state, birth = _stat(pid)
    return state != "Z" and birth == born


def _stat(pid: int) -> tuple[str, str]:
    """A process's state and start time; empty if the system does not report them."""
    try:
        told = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        after_name = told.rpartition(")")[2].split()
        return after_name[0], after_name[19]
    except (OSError, IndexError):
        return "", ""
