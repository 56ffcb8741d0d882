"""A process that writes or asks until its standard input ends; prints how often, and how long each took."""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path

import weft
from weft.core.errors import WeftError


def main(what: str, name: str, directory: str) -> None:
    over = threading.Event()

    def wait() -> None:
        sys.stdin.read()
        over.set()

    took, number = [], 0
    with weft.open(directory=Path(directory)) as memory:
        memory.recall("warm")
        print("ready", flush=True)
        threading.Thread(target=wait, daemon=True).start()
        while not over.is_set():
            began = time.perf_counter()
            number += 1
            try:
                if what == "write":
                    kept = memory.remember(f"The {name} of ship number {number} came in.")
                    problems = [note for note in kept.notes if "vector" in note or "embedder" in note]
                else:
                    answer = memory.recall(f"Which ship number {number} came in?")
                    problems = [note for note in answer.notes if "failed" in note or "cannot be asked" in note]
                    problems += [] if answer.hits else ["nothing was found"]
            except WeftError as problem:
                problems = [f"{problem.message} {problem.hint}"]
            if problems:
                print(f"problem {problems}", flush=True)
            took.append(time.perf_counter() - began)
            over.wait(0.01)
    print(f"done {number} {sorted(took)[len(took) // 2] * 1000:.1f}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
