"""How far one call travels: the files and packages that `remember`, `recall` and `context_pack` enter.

    python -m benchmarks.structure.walks [--list]

Each command runs once to warm up, so that lazy imports and caches are filled, and once under `sys.setprofile`. A step
is the first call into a file of weft during that run, in order. `changes` counts steps whose top-level package differs
from that of the step before, `returns` those changes that lead to a package that was entered before.

It measures in which order a reader meets new files. It does not count later calls into a file entered already, module
bodies (imports), functions answered from a cache, and other threads (audit, background work). Functions,
comprehensions and generators count alike, by their file. A helper in a low package (`text`, `core`) counts as much
as control flow, so joining files that are used together lowers the number as much as calling back less.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import tempfile
from pathlib import Path
from types import FrameType
from typing import Any

import weft

SOURCE = Path(weft.__file__).parent
SAMPLE = '''"""Routes of a ferry."""


class Ferry:
    """A ferry with a route."""

    def depart(self, port: str) -> str:
        return announce(port)


def announce(port: str) -> str:
    """Announces a departure."""
    return f"leaving {port}"
'''
WALKS = {
    "remember": ["remember", "The night ferry moved to Dover because the old pier closed in May 2026."],
    "recall": ["recall", "why did the night ferry move?"],
    "context_pack": ["context-pack", "announce the port when the ferry departs"],
}


def files_entered(arguments: list[str]) -> list[str]:
    """The files of weft in the order in which a command first calls into them."""
    from weft.surfaces.cli.main import main as command

    order: dict[str, None] = {}
    prefix = str(SOURCE) + os.sep

    def note(frame: FrameType, event: str, _: Any) -> None:
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(prefix) and frame.f_code.co_name != "<module>":
            order.setdefault(name[len(prefix) :])

    sys.setprofile(note)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
            command(arguments)
    finally:
        sys.setprofile(None)
    return list(order)


def figures(files: list[str]) -> dict[str, int]:
    rooms = [file.partition(os.sep)[0] for file in files]
    seen: set[str] = set()
    changes = returns = 0
    for before, room in zip([None, *rooms], rooms, strict=False):
        if room != before:
            changes += 1
            returns += room in seen
        seen.add(room)
    return {"files": len(files), "packages": len(set(rooms)), "changes": changes, "returns": returns}


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        project = Path(scratch, "ferry")
        project.mkdir()
        (project / "routes.py").write_text(SAMPLE, encoding="utf-8")
        os.environ.update(HOME=scratch, WEFT_STORE=f"sqlite://{scratch}/store", WEFT_EMBEDDER="none")
        os.chdir(project)
        files_entered(["index"])
        for name, arguments in WALKS.items():
            files_entered(arguments)
            files = files_entered([*arguments[:1], arguments[1] + " again"])
            print(json.dumps({"walk": name, **figures(files)}))
            if "--list" in sys.argv:
                print("\n".join(f"  {file}" for file in files))


if __name__ == "__main__":
    main()
