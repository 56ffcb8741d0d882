"""How well `context_pack` briefs: is the file that a real release changed in the pack, and what does the pack cost?

    python -m benchmarks.code.context_pack --place DIR [--half tune|held|all] [--only PACKAGE] [--misses]
    python -m benchmarks.code.context_pack --place DIR --calls       tokens against the calls that it replaces

Tasks are entries of the changelogs of real releases (tasks.jsonl): the version before is indexed with the built-in
embedder, the entry's words are the task, the files that the release changed are what should be in the pack.
`eight_calls.json` lists what an agent calls without a pack; each is answered as the MCP server answers, once in the
compact profile (which leaves out what does not fit, so that eight answers are at most eight times as long as one) and
once whole (debug), and its tokens are counted. Downloads and stores stay in DIR.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

import weft
from benchmarks.code.workspaces import opened
from weft.context.budget import Profile, context_tokens
from weft.context.code_pack import ContextPack
from weft.context.tokens import count_tokens
from weft.operations import operation
from weft.surfaces.mcp.answer import success

HERE = Path(__file__).parent
ROUNDS = 5


class Task(Struct, frozen=True, kw_only=True):
    """A real release: the entry of its changelog, and the source files that it changed."""

    package: str
    before: str
    after: str
    half: str
    entry: str
    changed: tuple[str, ...]
    source: str


class Measured(Struct, frozen=True, kw_only=True):
    """Where the changed files came, by budget: 1 is the first file of the pack, 0 none; and how long it took."""

    task: Task
    places: dict[str, int]
    tokens: dict[str, int]
    milliseconds: float


def tasks(half: str, only: str) -> list[Task]:
    """The tasks of a half, or all."""
    lines = (HERE / "tasks.jsonl").read_text(encoding="utf-8").splitlines()
    found = [msgspec.json.decode(line, type=Task) for line in lines]
    return [each for each in found if half in ("all", each.half) and only in ("", each.package)]


def measure(memory: weft.Memory, task: Task) -> Measured:
    """One task at both budgets; the time is the median of some warm calls."""
    places, tokens, took = {}, {}, []
    for profile in ("compact", "balanced"):
        pack = packed(memory, task.entry, profile)
        places[profile] = place_of(task, pack)
        tokens[profile] = count_tokens(pack.text)
    for _ in range(ROUNDS):
        began = time.perf_counter()
        packed(memory, task.entry, "balanced")
        took.append((time.perf_counter() - began) * 1000)
    return Measured(task=task, places=places, tokens=tokens, milliseconds=statistics.median(took))


def packed(memory: weft.Memory, words: str, profile: Profile) -> ContextPack:
    """A pack within what a profile leaves for it."""
    made = memory.run(operation("context_pack"), {"task": words, "budget": context_tokens(profile)})
    assert isinstance(made, ContextPack)
    return made


def place_of(task: Task, pack: ContextPack) -> int:
    """The place of the first changed file among the pack's files; 0 where none is there."""
    files = list(dict.fromkeys(each.file for each in pack.core_symbols))
    return next((at for at, file in enumerate(files, start=1) if file in task.changed), 0)


# The calls that it replaces


def call_tokens(memory: weft.Memory, task: Task, profile: Profile) -> tuple[int, dict[str, int]]:
    """Tokens of the compact pack, and of each call of the list, as the MCP server answers in a profile."""
    pack = packed(memory, task.entry, "compact")
    own = tokens_of(memory, "context_pack", {"task": task.entry, "budget": context_tokens("compact")}, "compact")
    filled: dict[str, Callable[[], str]] = {
        "task": lambda: task.entry,
        "entry": lambda: pack.core_symbols[0].id,
        "second": lambda: pack.core_symbols[min(1, len(pack.core_symbols) - 1)].id,
        "third": lambda: pack.core_symbols[min(2, len(pack.core_symbols) - 1)].id,
    }
    calls = json.loads((HERE / "eight_calls.json").read_text(encoding="utf-8"))["calls"]
    told = {}
    for number, call in enumerate(calls, start=1):
        given = {name: _filled(value, filled) for name, value in call["arguments"].items()}
        told[f"{number} {call['tool']}"] = tokens_of(memory, call["tool"], given, profile)
    return own, told


def _filled(value: Any, words: dict[str, Callable[[], str]]) -> Any:
    if isinstance(value, list):
        return [_filled(each, words) for each in value]
    return words[value[1:-1]]() if isinstance(value, str) and value[1:-1] in words else value


def tokens_of(memory: weft.Memory, name: str, given: dict[str, Any], profile: Profile) -> int:
    """What an answer costs to read, as the server sends it: its words, or its data where that is longer."""
    called = operation(name)
    answer = success(memory.run(called, given), wording=str, profile=profile, operation=called)
    return answer.envelope.token_estimate


# Told


def told(measured: Sequence[Measured]) -> str:
    """Shares of tasks whose changed file is in the pack, by half and budget."""
    lines = []
    for half in ("tune", "held"):
        some = [each for each in measured if each.task.half == half]
        if some:
            shares = ", ".join(
                f"{profile} {sum(each.places[profile] > 0 for each in some) / len(some):.0%}"
                f" (first {sum(each.places[profile] == 1 for each in some) / len(some):.0%})"
                for profile in ("compact", "balanced")
            )
            lines.append(f"{half}: {len(some)} tasks, changed file in the pack: {shares}")
    if measured:
        times = sorted(each.milliseconds for each in measured)
        lines.append(f"median of warm calls: {statistics.median(times):.1f} ms, slowest task {times[-1]:.1f} ms")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--place", type=Path, required=True, help="where downloads and stores are kept")
    parser.add_argument("--half", choices=("tune", "held", "all"), default="all")
    parser.add_argument("--only", default="", help="one package")
    parser.add_argument("--ready", action="store_true", help="only what is indexed already")
    parser.add_argument("--misses", action="store_true", help="show packs that miss the changed file")
    parser.add_argument("--calls", action="store_true", help="count tokens against the calls that a pack replaces")
    given = parser.parse_args()
    measured: list[Measured] = []
    ratios: dict[Profile, list[float]] = {"compact": [], "debug": []}
    for task in tasks(given.half, given.only):
        name = f"{task.package}-{task.before}"
        if given.ready and not (given.place / "stores" / name / "done").exists():
            continue
        with opened(given.place, task.package, task.before) as memory:
            if given.calls:
                for profile, found_ratios in ratios.items():
                    own, others = call_tokens(memory, task, profile)
                    found_ratios.append(sum(others.values()) / own)
                    print(f"{name}: pack {own}, calls {profile} {sum(others.values())} {others}", flush=True)
                continue
            found = measure(memory, task)
            measured.append(found)
            print(f"{name}: {found.places} {found.tokens} {found.milliseconds:.1f} ms", flush=True)
            if given.misses and not found.places["balanced"]:
                print(f"--- {task.entry}\n--- {task.changed}\n{packed(memory, task.entry, 'balanced').text}\n")
    for profile, several in ratios.items():
        if several:
            middle, least = statistics.median(several), min(several)
            print(f"calls answered {profile} against the compact pack: median {middle:.1f}x, least {least:.1f}x")
    print(told(measured))


if __name__ == "__main__":
    main()
