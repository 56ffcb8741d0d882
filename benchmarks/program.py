"""The main function of a benchmark program: options, a scratch directory, the result printed and saved."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.latency.measure import save

BUSY_LOAD = 0.5  # of each core: above it, timings tell more of the machine than of weft
Result = dict[str, Any]


def options(about: str, **numbers: float) -> argparse.ArgumentParser:
    """A parser with the options that all programs share and one option for each number, with its default."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in numbers.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(default), default=default)
    parser.add_argument("--directory", default=None, help="where to put stores (a temporary directory if unset)")
    parser.add_argument("--dry", action="store_true", help="print the result, and save none")
    return parser


def run(parser: argparse.ArgumentParser, name: str, measure: Callable[[argparse.Namespace, Path], Result]) -> Result:
    """Measures in a scratch directory and reports. `name` may refer to options: `dedup-{rows}`."""
    given = parser.parse_args()
    warn_if_busy()
    with tempfile.TemporaryDirectory(dir=given.directory or os.environ.get("TMPDIR")) as scratch:
        result = measure(given, Path(scratch))
    report("" if given.dry else name.format(**vars(given)), result)
    return result


def report(name: str, result: Result) -> None:
    """Prints a result, and saves it if it has a name."""
    print(json.dumps(result, indent=2))
    if name:
        print(save(name, result))


def warn_if_busy() -> None:
    """Prints a note on standard error where other programs keep the machine busy."""
    load, cores = os.getloadavg()[0], os.cpu_count() or 1
    if load > BUSY_LOAD * cores:
        print(
            f"note: the machine is busy (load {load:.1f} on {cores} cores): measure again when it is quiet",
            file=sys.stderr,
        )
