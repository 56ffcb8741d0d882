"""How soon a save is found: a server watches a real project, one process saves files, another asks for what they say.

python -m benchmarks.code.watch PROJECT [--saves 100] [--debounce MS] [--place DIRECTORY]

PROJECT is a directory of source code; it is copied, and only the copy is changed. Each save adds a function of a new
name to some Python file of it. A third process asks the store for a function of that name (`find`) as often as it can,
on its own connection, and measures from before the save until it is there. The server, `weft serve`, and the two others
are processes of their own. Prints JSON: p50, p95 and the worst in milliseconds.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import weft
from weft.core.types import NOW, Find

GOAL_P95_MS = 1_000.0
GIVE_UP_S = 20.0
WEFT = str(Path(sys.executable).with_name("weft"))


def environment(place: Path, debounce_ms: int | None) -> dict[str, str]:
    base = {"PATH": os.environ["PATH"], "HOME": str(place / "home"), "XDG_DATA_HOME": str(place / "data")}
    return base | ({} if debounce_ms is None else {"WEFT_WATCH_DEBOUNCE_MS": str(debounce_ms)})


def saver(root: Path, seed: int) -> None:
    """Saves a file for each line that comes in: the name of the new function."""
    files = sorted(root.rglob("*.py"))
    chosen = random.Random(seed)
    for line in sys.stdin:
        file = chosen.choice(files)
        text = file.read_text(encoding="utf-8", errors="replace")
        draft = file.with_name(f".{file.name}.swp")
        draft.write_text(f"{text}\n\ndef {line.strip()}(value):\n    return value\n", encoding="utf-8")
        draft.replace(file)  # as editors save
        sys.stdout.write(f"{file.relative_to(root)}\n")
        sys.stdout.flush()


def measured(root: Path, held: dict[str, str], saves: int) -> list[float]:
    """Milliseconds from each save until what it says is found."""
    found: list[float] = []
    saving = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.code.watch", "--saver", str(root)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert saving.stdin is not None
    assert saving.stdout is not None
    pause = random.Random(7)
    with saving, weft.open(directory=root, environment=held) as memory:
        for number in range(saves):
            name = f"saved_{number}_now"
            began_s = time.perf_counter()
            saving.stdin.write(f"{name}\n")
            saving.stdin.flush()
            saving.stdout.readline()
            find = Find(kinds=("Function",), names=(name,))
            while not memory.ctx.store.find(memory.ctx.viewer, NOW, find, limit=1).nodes:
                if time.perf_counter() - began_s > GIVE_UP_S:
                    raise TimeoutError(f"{name} was not found in {GIVE_UP_S} seconds")
                time.sleep(0.002)
            found.append((time.perf_counter() - began_s) * 1000)
            time.sleep(pause.uniform(0.0, 0.3))
        saving.stdin.close()
    return found


def bench(project: Path, place: Path, saves: int, debounce_ms: int | None) -> dict[str, Any]:
    """Copies, indexes, serves, measures."""
    root, held = place / "project", environment(place, debounce_ms)
    (place / "home").mkdir(parents=True, exist_ok=True)
    shutil.copytree(project, root, ignore=shutil.ignore_patterns("__pycache__", ".git"))
    (root / ".git").mkdir()
    indexed = subprocess.run(
        [WEFT, "index", "--json"], cwd=root, env=held, check=True, capture_output=True, text=True
    ).stdout
    serving = subprocess.Popen([WEFT, "serve", "--port", "0"], cwd=root, env=held, stdout=subprocess.PIPE, text=True)
    assert serving.stdout is not None
    with serving:
        try:
            for line in serving.stdout:
                if line.startswith("listening"):
                    break
            time.sleep(1.0)  # it looks at everything once
            times = sorted(measured(root, held, saves))
        finally:
            serving.terminate()
    return {
        "project": project.name,
        "files": json.loads(indexed)["job"]["counts"].get("files", 0),
        "symbols": json.loads(indexed)["job"]["counts"].get("symbols", 0),
        "saves": len(times),
        "p50_ms": round(times[len(times) // 2], 1),
        "p95_ms": round(times[min(len(times) - 1, int(len(times) * 0.95))], 1),
        "worst_ms": round(times[-1], 1),
        "goal_p95_ms": GOAL_P95_MS,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("project", type=Path)
    parser.add_argument("--saves", type=int, default=100)
    parser.add_argument("--debounce", type=int, default=None)
    parser.add_argument("--place", type=Path, default=None)
    parser.add_argument("--saver", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.saver:
        saver(given.project, seed=1)
        return
    with tempfile.TemporaryDirectory(dir=given.place) as scratch:
        print(json.dumps(bench(given.project.resolve(), Path(scratch), given.saves, given.debounce), indent=1))


if __name__ == "__main__":
    main()
