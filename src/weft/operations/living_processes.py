"""Whether the process that wrote something down still runs."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path


@cache
def this_host() -> str:
    """What tells one set of process numbers from another: the machine since it was started, and the container."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot}/{Path('/proc/self/ns/pid').readlink()}"
    except OSError:  # no Linux
        return os.uname().nodename if hasattr(os, "uname") else ""


def birth_of(pid: int) -> str:
    """When a process was started, in the system's own count: numbers are given again. Empty where that is not told."""
    return _stat(pid)[1]


def is_running(pid: int, born: str) -> bool:
    """Whether the process of this number, born then, is there. One that is dead and not buried yet is not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # of another user
        pass
    state, birth = _stat(pid)
    return state != "Z" and birth == born


def _stat(pid: int) -> tuple[str, str]:
    """A process's state and when it was started; empty where the system does not tell."""
    try:
        told = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        after_name = told.rpartition(")")[2].split()
        return after_name[0], after_name[19]
    except (OSError, IndexError):
        return "", ""
