"""How fast a directory of source code is indexed, without vectors, against no more than parsing and querying it.

    python -m benchmarks.code.indexing DIRECTORY [--rounds 1] [--place DIRECTORY] [--save NAME]

The source files of DIRECTORY are copied (what is in no language that weft reads is left out, as are `site-packages`),
and only the copy is indexed. Each round measures, one after the other, so that a busy machine is busy for all of them:

- the floor, one process that reads and parses every file and runs a query over it: the one that the grammar's own
  package comes with (`plain`), and weft's (`own`), which finds several times as much;
- `weft index` into an empty store: wall time, processor time of all its processes, and their most resident memory,
  summed over them several times a second;
- the same once more, with nothing changed.

Prints JSON. Of several rounds the best of each is told, by wall time, and all of them beside it. Shares are of the
floor: what of the speed of one process that only parses and queries is left. Those by processor time hold on a machine
that does other things as well.

    python -m benchmarks.code.indexing "$(python -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')"
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal

from benchmarks.program import report
from weft.code.parse.parse import grammar_of
from weft.files.languages import Language, language_of

GOAL_SHARE = 0.40
GOAL_UNCHANGED = 0.05
GOAL_MEMORY_MB = 1_500
SETTLED_S = 2.5  # files that were written later than this are read again, to be sure
SAMPLES_S = 0.05
LEFT_OUT = ("site-packages", "__pycache__", "node_modules", ".git")
WEFT = str(Path(sys.executable).with_name("weft"))
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")

Which = Literal["plain", "own"]


def copied(source: Path, root: Path) -> tuple[int, int]:
    """Copies the source files of a directory. How many there are, and their bytes."""
    files = size = 0
    for folder, folders, names in os.walk(source):
        folders[:] = [each for each in folders if each not in LEFT_OUT]
        for name in names:
            path = Path(folder, name)
            if language_of(name) is None or path.is_symlink():
                continue
            place = root / path.relative_to(source)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, place)
            files, size = files + 1, size + place.stat().st_size
    return files, size


# The floor


@cache
def _plain(language: Language) -> tuple[Any, Any]:
    """A grammar, and the query for tags that its package comes with."""
    from tree_sitter import Language as Grammar
    from tree_sitter import Query

    package = importlib.import_module(language.grammar)
    grammar = Grammar(getattr(package, language.entry)())
    return grammar, Query(grammar, package.TAGS_QUERY)


def parse_and_query(root: Path, which: Which) -> dict[str, float]:
    """Parses each file and runs a query over it, in this process. Its own times: starting is not among them."""
    from tree_sitter import Parser, QueryCursor

    paths = [(path, language) for path in sorted(root.rglob("*")) if (language := language_of(path.name)) is not None]
    chosen = _plain if which == "plain" else grammar_of
    for _, language in paths:
        chosen(language)
    began_s, used_s, matches = time.perf_counter(), time.process_time(), 0
    for path, language in paths:
        grammar, query = chosen(language)
        tree = Parser(grammar).parse(path.read_bytes())
        matches += len(QueryCursor(query).matches(tree.root_node))
    return {
        "wall_s": round(time.perf_counter() - began_s, 3),
        "processor_s": round(time.process_time() - used_s, 3),
        "matches": matches,
    }


def floor(root: Path, which: Which) -> dict[str, float]:
    """The same in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.code.indexing", str(root), "--floor", which]
    told: dict[str, float] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return told


# Indexing


def _children(process: int) -> list[int]:
    try:
        return [int(each) for each in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    except OSError:
        return []


def _resident_mb(process: int) -> float:
    """Of a process and of all that it started. Pages that several share count for each: so it is at most this much."""
    try:
        own = int(Path(f"/proc/{process}/statm").read_text().split()[1]) * PAGE_BYTES / 1_000_000
    except OSError:
        return 0.0
    return own + sum(map(_resident_mb, _children(process)))


def indexed(root: Path, environment: dict[str, str]) -> dict[str, Any]:
    """One `weft index`, as a command: times with all of its processes, most memory, and what it counted."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began_s, most_mb = time.perf_counter(), 0.0
    process = subprocess.Popen(
        [WEFT, "index", "--json"],
        cwd=root,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    while process.poll() is None:
        most_mb = max(most_mb, _resident_mb(process.pid))
        time.sleep(SAMPLES_S)
    wall_s = time.perf_counter() - began_s
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert process.stdout is not None
    told = process.stdout.read()
    process.stdout.close()
    if process.returncode:
        raise SystemExit(f"weft index ended with {process.returncode}")
    used_s = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    counts = json.loads(told)["job"]["counts"]
    return {
        "wall_s": round(wall_s, 3),
        "processor_s": round(used_s, 3),
        "resident_mb": round(most_mb),
        "counts": {name: counts.get(name, 0) for name in ("files", "symbols", "links", "unchanged")},
    }


def measured(root: Path, place: Path) -> dict[str, Any]:
    """One round: both floors, everything, nothing."""
    held = {
        "PATH": os.environ["PATH"],
        "HOME": str(place / "home"),
        "XDG_DATA_HOME": str(place / "data"),
        "WEFT_EMBEDDER": "none",
    }
    (place / "home").mkdir(parents=True)
    return {
        "plain": floor(root, "plain"),
        "own": floor(root, "own"),
        "full": indexed(root, held),
        "unchanged": indexed(root, held),
    }


def best(rounds: Sequence[dict[str, Any]], what: str) -> dict[str, Any]:
    """The round that was fastest at something."""
    found: dict[str, Any] = min((each[what] for each in rounds), key=lambda each: each["wall_s"])
    return found


def bench(source: Path, place: Path, rounds: int) -> dict[str, Any]:
    """Copies, and measures so often."""
    root = place / "project"
    files, size = copied(source, root)
    (root / ".git").mkdir()
    time.sleep(SETTLED_S)
    done = [measured(root, place / f"round {number}") for number in range(rounds)]
    plain, own, full, unchanged = (best(done, each) for each in ("plain", "own", "full", "unchanged"))

    def share(of: dict[str, Any], by: str) -> float:
        return round(of[by] / full[by], 3)

    return {
        "directory": source.name,
        "files": files,
        "mb": round(size / 1_000_000, 1),
        "processors": len(os.sched_getaffinity(0)),
        "floor, plain query": plain,
        "floor, own query": own,
        "index from nothing": full,
        "unchanged tree": unchanged,
        "share of the floor, plain query": {each: share(plain, each) for each in ("wall_s", "processor_s")},
        "share of the floor, own query": {each: share(own, each) for each in ("wall_s", "processor_s")},
        "unchanged, of a whole index": round(unchanged["wall_s"] / full["wall_s"], 4),
        "goals": {"share": GOAL_SHARE, "unchanged": GOAL_UNCHANGED, "resident_mb": GOAL_MEMORY_MB},
        "rounds": done,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--place", type=Path, default=None, help="where copy and stores are made; a temporary place")
    parser.add_argument("--save", default="", help="the name of the result")
    parser.add_argument("--floor", choices=("plain", "own"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.floor:
        print(json.dumps(parse_and_query(given.directory, given.floor)))
        return
    with tempfile.TemporaryDirectory(dir=given.place) as scratch:
        result = bench(given.directory.resolve(), Path(scratch), given.rounds)
    report(given.save, result)


if __name__ == "__main__":
    main()
