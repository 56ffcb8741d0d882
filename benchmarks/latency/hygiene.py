"""What hygiene of a whole project costs, in time on the clock and of the processor.

python -m benchmarks.latency.hygiene --rows 100000
"""

from __future__ import annotations

import os
import random
import resource
import time
from pathlib import Path
from typing import Any

import weft
from benchmarks.latency.corpus import VOCABULARY, Words
from benchmarks.latency.measure import rate
from benchmarks.latency.run import in_batches
from benchmarks.program import options, run
from weft.core.clock import SystemClock, to_iso
from weft.core.types import Guard
from weft.log.draft import Draft
from weft.log.kinds import graph, memory
from weft.operations import OPERATIONS
from weft.upkeep.hygiene.run import HygieneReport
from weft.writing.build.references import entity_id

GOAL_S = 30.0
DAY_US = 86_400_000_000
KINDS = ("Memory", "Memory", "Memory", "Fact", "Decision", "Pattern", "Context", "Preference")
PLANTED = 50  # of each sort
ENTITIES = 0.1  # of all nodes


def told(node_id: str, text: str, kind: str, days: int, project: str) -> Draft:
    begin = to_iso(SystemClock().now_us() - days * DAY_US)
    payload = memory.Remembered(id=node_id, node_kind=kind, text=text, project=project, valid_from=begin)
    return Draft(kind="memory.remembered", payload=payload)


def thing(kind: str, name: str) -> Draft:
    node = graph.NodeAssertion(id=entity_id(kind, name, Guard()), kind=kind, name=name)
    return Draft(kind="graph.asserted", payload=graph.Asserted(nodes=(node,)))


def corpus(rows: int, project: str) -> list[Draft]:
    """Rows of every kind, none of them old; a tenth of them follow a handful of templates, as what agents write does.

    Among them are so many of each problem as PLANTED says.
    """
    words, chance = Words(seed=11), random.Random(11)
    names = [Words._spell(number) for number in range(VOCABULARY)]
    templates = [words.text(20, 30) for _ in range(10)]
    drafts: list[Draft] = []
    for number in range(int(rows * (1 - ENTITIES))):
        text = words.text()
        if number % 10 == 0:
            text = f"{chance.choice(templates)} {chance.choice(names)} {chance.choice(names)}"
        elif number % 10 == 1:
            text = f"{chance.choice(templates)} {number}"
        drafts.append(told(f"n{number}", text, KINDS[number % len(KINDS)], number % 80, project))
    for number in range(PLANTED):
        text = words.text(15, 30)
        drafts.append(told(f"a{number}", text, "Memory", 2, project))
        drafts.append(told(f"b{number}", f"{text} indeed" if number % 2 else text.upper(), "Memory", 1, project))
        drafts.append(told(f"d{number}", words.text(), "Decision", 181, project))
        drafts.append(told(f"p{number}", words.text(), "Pattern", 91, project))
    things = int(rows * ENTITIES)
    drafts += [
        thing(("Person", "Service", "Mention")[number % 3], f"{names[number]} {number}") for number in range(things)
    ]
    drafts += [thing("Entity", f"{names[number]} {number}") for number in range(PLANTED)]
    chance.shuffle(drafts)
    return drafts


def measure(rows: int, directory: Path) -> dict[str, Any]:
    environment = {"HOME": str(directory), "WEFT_EMBEDDER": "none"}
    result: dict[str, Any] = {"rows": rows, "goal_s": GOAL_S, "load": os.getloadavg()[0], "cores": os.cpu_count()}
    with weft.open(f"sqlite://{directory}/store", directory=directory, environment=environment) as mem:
        drafts = corpus(rows, mem.ctx.settings.project)
        result["bulk"] = rate(len(drafts), in_batches(mem, drafts))
        del drafts
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        run_hygiene = next(each for each in OPERATIONS if each.name == "run_hygiene")
        steps: list[tuple[str, int, int]] = []
        began, cpu = time.perf_counter(), time.process_time()
        report = mem.run(run_hygiene, {}, progress=lambda *step: steps.append(step))
        result["seconds"] = round(time.perf_counter() - began, 2)
        result["cpu_seconds"] = round(time.process_time() - cpu, 2)
        assert isinstance(report, HygieneReport)
        result["nodes_told"] = report.nodes
        result["found"] = {each.check: each.found for each in report.checks}
        result["problems"] = [each.problem for each in report.checks if each.problem or each.at_least]
        result["progress_steps"] = len(steps)
        result["peak_memory_mb"] = [
            round(each / 1024) for each in (before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
        ]
        result["met"] = result["seconds"] <= GOAL_S
    return result


if __name__ == "__main__":
    run(options(__doc__, rows=100_000), "hygiene-{rows}", lambda given, scratch: measure(given.rows, scratch))
