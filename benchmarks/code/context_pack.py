"""How well `context_pack` briefs: is the file that a real release changed in the pack, and what does the pack cost?

    python -m benchmarks.code.context_pack --place DIR [--half tune|held|all] [--only PACKAGE] [--misses]
    python -m benchmarks.code.context_pack --place DIR --calls       tokens against the calls that it replaces

Tasks are entries of the changelogs of real releases (tasks.jsonl): the version before is indexed with the built-in
embedder, the entry's words are the task, the files that the release changed are what should be in the pack.
`eight_calls.json` lists what an agent calls without a pack; each is answered as the MCP server answers, once in the
compact profile (which leaves out what does not fit, so that eight answers are at most eight times as long as one) and
once whole (debug); its tokens are counted in words, as data, and in the longer of the two. Downloads and stores stay
in DIR.
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
from benchmarks.latency.measure import save
from weft.context.budget import context_tokens
from weft.context.code_pack import ContextPack
from weft.context.tokens import count_tokens
from weft.operations import operation
from weft.runtime.priorities import Profile
from weft.surfaces.mcp.answer import success

HERE = Path(__file__).parent
ROUNDS = 5
MOST_TRIES = 5
FORMS = ("words", "data", "longer")
HURRIED = " s these were left out: "  # the note of a search that had no time for all of its stages


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
    made: ContextPack = whole(memory, "context_pack", {"task": words, "budget": context_tokens(profile)})
    return made


def whole(memory: weft.Memory, name: str, given: dict[str, Any]) -> Any:
    """What a call answers with all of its stages. A first one loads a model, and a busy machine may take seconds."""
    for _ in range(MOST_TRIES):
        made = memory.call(name, **given)
        if not any(HURRIED in note for note in getattr(made, "notes", ())):
            return made
    raise SystemExit(f"{name} has no time for all of its stages: this machine is too busy to measure what it answers")


def place_of(task: Task, pack: ContextPack) -> int:
    """The place of the first changed file among the pack's files; 0 where none is there."""
    files = list(dict.fromkeys(each.file for each in pack.core_symbols))
    return next((at for at, file in enumerate(files, start=1) if file in task.changed), 0)


# The calls that it replaces


class Cost(Struct, frozen=True):
    """Tokens of an answer, in each of the two forms that the server sends; a client shows a model one of them."""

    words: int
    data: int

    @property
    def longer(self) -> int:
        """Of the form that costs more."""
        return max(self.words, self.data)


def call_tokens(memory: weft.Memory, task: Task, profile: Profile) -> tuple[Cost, dict[str, Cost]]:
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


def tokens_of(memory: weft.Memory, name: str, given: dict[str, Any], profile: Profile) -> Cost:
    """What an answer costs to read, as the server sends it."""
    called = operation(name)
    answer = success(whole(memory, name, given), wording=str, profile=profile, operation=called)
    return Cost(words=count_tokens(answer.text), data=count_tokens(msgspec.json.encode(answer.envelope).decode()))


def times_fewer(own: Cost, others: dict[str, Cost]) -> dict[str, float]:
    """How many times fewer tokens the pack has than the calls together, by form."""
    return {form: sum(getattr(each, form) for each in others.values()) / getattr(own, form) for form in FORMS}


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


def compared(place: Path, given: Sequence[Task]) -> list[dict[str, Any]]:
    """Each task's pack against the calls that it replaces, answered compact and whole."""
    rows = []
    for task in given:
        with opened(place, task.package, task.before) as memory:
            for profile in ("compact", "debug"):
                own, others = call_tokens(memory, task, profile)
                told = {call: [cost.words, cost.data] for call, cost in others.items()}
                ratios = {form: round(ratio, 2) for form, ratio in times_fewer(own, others).items()}
                name = f"{task.package}-{task.before}"
                rows.append({"task": name, "half": task.half, "profile": profile, "ratios": ratios})
                print(f"{name}: pack {own.words}, {own.data}; calls {profile} {told} {ratios}", flush=True)
    return rows


def told_calls(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Medians and least of the ratios, by profile of the calls, half and form."""
    found: dict[str, Any] = {}
    for profile in ("compact", "debug"):
        for half in ("tune", "held"):
            some = [row["ratios"] for row in rows if (row["profile"], row["half"]) == (profile, half)]
            for form in FORMS if some else ():
                values = [ratios[form] for ratios in some]
                told = {"median": round(statistics.median(values), 1), "least": round(min(values), 1)}
                found[f"calls answered {profile}, {half}, {form}"] = told
    return found


def measured_tasks(place: Path, given: Sequence[Task], *, misses: bool) -> list[Measured]:
    """Where the changed file of each task is in its pack."""
    measured = []
    for task in given:
        with opened(place, task.package, task.before) as memory:
            found = measure(memory, task)
            measured.append(found)
            name = f"{task.package}-{task.before}"
            print(f"{name}: {found.places} {found.tokens} {found.milliseconds:.1f} ms", flush=True)
            if misses and not found.places["balanced"]:
                print(f"--- {task.entry}\n--- {task.changed}\n{packed(memory, task.entry, 'balanced').text}\n")
    return measured


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--place", type=Path, required=True, help="where downloads and stores are kept")
    parser.add_argument("--half", choices=("tune", "held", "all"), default="all")
    parser.add_argument("--only", default="", help="one package")
    parser.add_argument("--ready", action="store_true", help="only what is indexed already")
    parser.add_argument("--misses", action="store_true", help="show packs that miss the changed file")
    parser.add_argument("--calls", action="store_true", help="count tokens against the calls that a pack replaces")
    parser.add_argument("--save", default="", help="the name of the result")
    given = parser.parse_args()
    chosen = tasks(given.half, given.only)
    if given.ready:
        stores = given.place / "stores"
        chosen = [each for each in chosen if (stores / f"{each.package}-{each.before}" / "done").exists()]
    result: dict[str, Any] = {"tasks": len(chosen)}
    if given.calls:
        rows = compared(given.place, chosen)
        result |= {"times fewer tokens": told_calls(rows), "each": rows}
        print(json.dumps(result["times fewer tokens"], indent=2))
    else:
        measured = measured_tasks(given.place, chosen, misses=given.misses)
        places = {f"{each.task.package}-{each.task.before}": each.places for each in measured}
        result |= {"told": told(measured).split("\n"), "place of the changed file; 0 for none": places}
        print(told(measured))
    if given.save:
        print(save(given.save, result))


if __name__ == "__main__":
    main()
