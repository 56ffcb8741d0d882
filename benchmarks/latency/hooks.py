"""A hook from its start to its answer: by itself, and where a process of the same store is alive.

    python -m benchmarks.latency.hooks --store /some/where [--calls 12] [--dry]

`--store` is a directory with a store as `benchmarks.latency.scale` builds it. Both ways are measured in turns, with the
answer judge and without, since other programs may use the machine too; the least time says most.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import weft
from benchmarks.latency.same_answers import stored_words
from benchmarks.latency.scale import environment
from benchmarks.program import report, warn_if_busy

WEFT = str(Path(sys.executable).with_name("weft"))
WARM_S = 5.0
PR_SET_CHILD_SUBREAPER = 36


@contextmanager
def attached(directory: Path, env: dict[str, str]) -> Iterator[None]:
    """An agent's `weft mcp`, whose client does nothing."""
    with subprocess.Popen(
        [WEFT, "mcp"], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=directory, env=env
    ) as process:
        try:
            time.sleep(WARM_S)
            context(directory, env, "what is there?")  # has it open the store
            time.sleep(WARM_S)
            yield
        finally:
            process.kill()


def adopt() -> None:
    """Has processes whose parent ended become this one's children, whose processor time is known. Linux only."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def context(directory: Path, env: dict[str, str], question: str) -> float:
    """Milliseconds."""
    began = time.perf_counter()
    subprocess.run([WEFT, "context", question], cwd=directory, env=env, check=True, capture_output=True)
    return (time.perf_counter() - began) * 1000


def processor_ms(directory: Path, env: dict[str, str], questions: Sequence[str]) -> float:
    """Of a call by itself, with the process that does its work and goes on after the answer: the median."""
    used = []
    for question in questions:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        context(directory, env, question)
        with suppress(ChildProcessError):
            while True:
                os.waitpid(-1, 0)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return round(statistics.median(used) * 1000, 1)


def measure(directory: Path, judge: str, calls: int) -> dict[str, dict[str, float]]:
    env = environment(directory) | {"PATH": os.environ["PATH"], "WEFT_ANSWER_JUDGE": judge}
    with weft.open(directory=directory, environment=environment(directory)) as mem:
        questions = stored_words(mem, 2 * calls)
    alone = [context(directory, env, each) for each in questions[:calls]]
    used = processor_ms(directory, env, questions[:calls])
    with attached(directory, env):
        beside = [context(directory, env, each) for each in questions[calls:]]
    named = {"by itself": alone, "beside a live process": beside}
    told = {
        name: {
            "least_ms": round(min(times), 1),
            "p50_ms": round(statistics.median(times), 1),
            "most_ms": round(max(times), 1),
        }
        for name, times in named.items()
    }
    told["by itself"]["processor_ms"] = used
    return told


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--calls", type=int, default=12)
    parser.add_argument("--dry", action="store_true", help="print the result, and save none")
    given = parser.parse_args()
    warn_if_busy()
    adopt()
    load = round(os.getloadavg()[0], 1)
    result = {f"answer judge: {judge}": measure(given.store, judge, given.calls) for judge in ("none", "builtin")}
    report("" if given.dry else "hooks", {"load of the machine": load, **result})


if __name__ == "__main__":
    main()
