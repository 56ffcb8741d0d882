"""A process that claims and releases targets for a while: `python -m benchmarks.fleet.claimant DIRECTORY NAME SECONDS`.

While it holds a target it also keeps a file of that name that no other process could create: a witness that asks weft
nothing. It ends with a line of JSON: what it got, and what went wrong.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from pathlib import Path
from typing import Any

import weft

PROJECT = "fleet"
HELD_S = 0.004  # of work while a claim is held


def opened(directory: Path, name: str) -> weft.Memory:
    """The memory of one agent, in a session of its own."""
    environment = {
        "HOME": str(directory),
        "WEFT_AGENT": name,
        "WEFT_ROLE": "agent",
        "WEFT_SESSION": f"{name}-1",
        "WEFT_PROJECT": PROJECT,
        "WEFT_EMBEDDER": "none",
        "WEFT_AUDIT": "off",
    }
    return weft.open(f"sqlite://{directory}/store", directory=directory, environment=environment)


class Claimant:
    """One process's part in the fight."""

    def __init__(self, directory: Path, name: str) -> None:
        self.memory = opened(directory, name)
        self._witnesses = directory / "witnesses"
        self._chance = random.Random(name)
        self.claims_ms: list[float] = []
        self.got: list[str] = []
        self.refused = 0
        self.problems: list[str] = []

    def fight(self, targets: list[str], seconds: float) -> None:
        """Claims one target after another until the time is over; each it gets it releases."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            target = self._chance.choice(targets)
            began = time.perf_counter()
            answer = self.memory.call("agent_claim", target=target, intent="hold it for a moment")
            self.claims_ms.append((time.perf_counter() - began) * 1000)
            if answer.status == "conflict":
                self.refused += 1
            else:
                self._hold(target)

    def _hold(self, target: str) -> None:
        witness = self._witnesses / target
        try:
            os.close(os.open(witness, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            self.problems.append(f"{target} had two holders")
            return
        time.sleep(HELD_S)
        witness.unlink()
        released = self.memory.call("agent_release", target=target, outcome="success")
        if released.status != "released":
            self.problems.append(f"{target}: the release said {released.status}")
        self.got.append(target)

    def report(self) -> dict[str, Any]:
        return {
            "got": len(self.got),
            "refused": self.refused,
            "claims_ms": [round(each, 3) for each in self.claims_ms],
            "problems": self.problems,
        }


def main(directory: str, name: str, seconds: str) -> None:
    place = Path(directory)
    targets = json.loads((place / "targets.json").read_text())
    claimant = Claimant(place, name)
    claimant.memory.call("agent_status")  # the modules and the connection
    print("ready", flush=True)
    sys.stdin.readline()
    claimant.fight(targets, float(seconds))
    print(json.dumps(claimant.report()), flush=True)
    claimant.memory.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
