"""Messages to screen, one per line of a text file: attempts to steer an assistant, and harmless look-alikes."""

from __future__ import annotations

import re
from pathlib import Path

_ESCAPE = re.compile(r"\\(n|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})")
OWN = ("injections", "injections_held_out", "injections_second")
HARMLESS = ("harmless", "harmless_held_out", "harmless_second")


def read(name: str) -> list[str]:
    """The messages of a file. Lines that begin with `# ` are remarks; escapes are read as in JSON."""
    lines = (Path(__file__).parent / f"{name}.txt").read_text(encoding="utf-8").split("\n")
    return [_ESCAPE.sub(_character, line) for line in lines if line and not line.startswith("# ")]


def _character(found: re.Match[str]) -> str:
    return "\n" if found[1] == "n" else chr(int(found[1][1:], 16))
