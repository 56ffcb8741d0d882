"""How long a client waits for `weft mcp`: from starting the process to the answer of tools/list, and memory at rest.

Beside it, in the same run and in turns, a bare server of the SDK with two tools: the difference is weft's own. And what
a call costs beyond the operation that it makes: through the pipe and in this process, in turns, on the same store.

    python -m benchmarks.latency.mcp_start [--rounds 15]
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import weft
from benchmarks.program import options, run
from weft.operations import operation

BARE = """
from mcp.server.mcpserver import MCPServer
server = MCPServer("bare")
@server.tool()
def put(text: str, name: str = "") -> str:
    return "ok"
@server.tool()
def get(query: str, limit: int = 10) -> list[str]:
    return []
server.run(transport="stdio")
"""
GOAL_RATIO = 1.3
GOAL_IDLE_MB = 150.0
GOAL_OVERHEAD_MS = 2.0
CHEAP = ("cite", "recent")  # operations that take less than a call of them may


def environment(scratch: Path) -> dict[str, str]:
    """Nothing of the caller's own but the path to programs."""
    return {"PATH": os.environ["PATH"], "HOME": str(scratch), "XDG_DATA_HOME": str(scratch)}


class Pipe:
    """A client of a few lines: what is measured is the server."""

    def __init__(self, command: list[str], scratch: Path) -> None:
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=scratch, env=environment(scratch)
        )
        self._next = 0

    def send(self, method: str, params: dict[str, Any], **more: Any) -> None:
        assert self.process.stdin is not None
        message = {"jsonrpc": "2.0", "method": method, "params": params, **more}
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        assert self.process.stdout is not None
        self._next += 1
        self.send(method, params, id=self._next)
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())["result"]
        return answer

    def greet(self) -> int:
        """Until the tools are known; how many there are."""
        client = {"name": "bench", "version": "1"}
        self.ask("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=client)
        self.send("notifications/initialized", {})
        return len(self.ask("tools/list")["tools"])

    def resident_mb(self) -> float:
        """From /proc where there is one, else from ps."""
        status = Path(f"/proc/{self.process.pid}/status")
        if status.exists():
            line = next(line for line in status.read_text().splitlines() if line.startswith("VmRSS:"))
            return int(line.split()[1]) / 1024
        listed = subprocess.run(["ps", "-o", "rss=", "-p", str(self.process.pid)], capture_output=True, check=True)
        return int(listed.stdout) / 1024


@contextmanager
def started(command: list[str], scratch: Path) -> Iterator[Pipe]:
    pipe = Pipe(command, scratch)
    try:
        yield pipe
    finally:
        assert pipe.process.stdin is not None
        pipe.process.stdin.close()
        pipe.process.wait(timeout=30)


def start_once(command: list[str], scratch: Path) -> tuple[float, float]:
    """Seconds to the tools, megabytes afterwards."""
    began = time.perf_counter()
    with started(command, scratch) as pipe:
        pipe.greet()
        seconds = time.perf_counter() - began
        return seconds, pipe.resident_mb()


def calls(command: list[str], scratch: Path) -> dict[str, float]:
    """The first call opens the store; later ones are what an agent feels."""
    with started(command, scratch) as pipe:
        pipe.greet()
        times = []
        for number in range(50):
            began = time.perf_counter()
            pipe.ask("tools/call", name="remember", arguments={"text": f"Deploy {number} froze on a Friday."})
            pipe.ask("tools/call", name="recall", arguments={"query": "when did deploys freeze"})
            times.append((time.perf_counter() - began) * 1000)
        return {
            "first_remember_and_recall_ms": round(times[0], 1),
            "later_remember_and_recall_p50_ms": round(statistics.median(times[1:]), 2),
            "resident_after_calls_mb": round(pipe.resident_mb(), 1),
        }


def overhead(command: list[str], scratch: Path, turns: int = 200) -> dict[str, float]:
    """What a call over the pipe takes more than its operation does here: the median of the differences of pairs."""
    with started(command, scratch) as pipe, weft.open(directory=scratch, environment=environment(scratch)) as memory:
        pipe.greet()
        saved = pipe.ask("tools/call", name="remember", arguments={"text": "Deploys freeze on Fridays."})
        given = {"cite": {"citation": saved["structuredContent"]["data"]["citation"]}, "recent": {}}
        found = {}
        for name in CHEAP:
            differences = []
            for _ in range(turns):
                began = time.perf_counter()
                pipe.ask("tools/call", name=name, arguments=given[name])
                between = time.perf_counter()
                memory.run(operation(name), given[name], surface="mcp")
                differences.append((between - began) - (time.perf_counter() - between))
            found[f"overhead_of_{name}_p50_ms"] = round(statistics.median(differences) * 1000, 2)
        return found


def measure(rounds: int) -> dict[str, Any]:
    served, bare = [str(Path(sys.executable).with_name("weft")), "mcp"], [sys.executable, "-c", BARE]
    with tempfile.TemporaryDirectory() as directory:
        scratch = Path(directory)
        for command in (served, bare):  # compiled files and disk cache
            start_once(command, scratch)
        runs = [(start_once(served, scratch), start_once(bare, scratch)) for _ in range(rounds)]
        used = calls(served, scratch)
        more = overhead([*served, "--toolsets", "memory"], scratch)
    weft_ms = statistics.median(run[0][0] for run in runs) * 1000
    bare_ms = statistics.median(run[1][0] for run in runs) * 1000
    # Each pair ran in the same seconds: their ratio is steadier than the ratio of medians on a busy machine.
    ratio = statistics.median(mine[0] / other[0] for mine, other in runs)
    return {
        "rounds": rounds,
        "weft_start_to_tools_p50_ms": round(weft_ms, 1),
        "bare_start_to_tools_p50_ms": round(bare_ms, 1),
        "ratio_p50": round(ratio, 3),
        "goal_ratio": GOAL_RATIO,
        "weft_idle_mb": round(statistics.median(run[0][1] for run in runs), 1),
        "bare_idle_mb": round(statistics.median(run[1][1] for run in runs), 1),
        "goal_idle_mb": GOAL_IDLE_MB,
        **used,
        **more,
        "goal_overhead_ms": GOAL_OVERHEAD_MS,
    }


if __name__ == "__main__":
    run(options(__doc__, rounds=15), "mcp-start", lambda given, scratch: measure(given.rounds))
