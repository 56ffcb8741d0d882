"""A process that runs operations when it is told to, at the very moment: `python -m concurrency.racer DIRECTORY NAME`.

A line of JSON names an operation, its input and a moment of the monotonic clock, which all processes of a machine
share. It answers with a line: what the operation said, and when it began and ended.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import msgspec

import weft
from weft.core.errors import WeftError
from weft.operations import OPERATIONS

PROJECT = "race"


def opened(directory: Path, name: str = "operator", agent: str = "") -> weft.Memory:
    """A memory over the store of that directory, words only; the operator's, or that of an agent."""
    environment = {
        "HOME": str(directory),
        "WEFT_EMBEDDER": "none",
        "WEFT_PROJECT": PROJECT,
        "WEFT_SESSION": name,
    }
    if agent:
        environment |= {"WEFT_AGENT": agent, "WEFT_ROLE": "agent"}
    return weft.open(f"sqlite://{directory}/store", directory=directory, environment=environment)


def run(memory: weft.Memory, name: str, given: dict[str, Any]) -> dict[str, Any]:
    operation = next(each for each in OPERATIONS if each.name == name)
    try:
        told: dict[str, Any] = msgspec.to_builtins(memory.run(operation, given))
    except WeftError as problem:
        told = {"status": problem.code, "message": str(problem)}
    return told


def main(directory: str, name: str, agent: str = "") -> None:
    memory = opened(Path(directory), name, agent)
    memory.recall("warm up")
    print("ready", flush=True)
    for line in sys.stdin:
        operation, given, at_s = json.loads(line)
        while time.monotonic() < at_s:
            pass
        began = time.monotonic()
        told = run(memory, operation, given)
        print(json.dumps({**told, "began_s": began, "ended_s": time.monotonic()}), flush=True)
    memory.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
