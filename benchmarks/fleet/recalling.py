"""Recall over many episodes, and claims on a large store: `python -m benchmarks.fleet.recalling --episodes 100000`.

A write waits for the disk, so the disk alone and the load of the machine are measured beside it.
"""

from __future__ import annotations

import argparse
import os
import random
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import weft
from benchmarks.latency.measure import percentiles
from benchmarks.program import options, run
from weft.core.clock import to_iso
from weft.fleet.episodes.writing import agent_record_id, own_guard
from weft.log.draft import Draft
from weft.log.kinds.graph import Asserted, EdgeAssertion, NodeAssertion

PROJECT = "fleet"
AT_ONCE = 1_000
AGENTS = tuple(f"agent-{n}" for n in range(20))
ENTITIES = 500
DAY_US = 86_400_000_000
WORDS = tuple(
    "session cookie login cache retry queue index vector schema migration token deploy test flaky timeout parser lock "  # noqa: SIM905
    "budget render stream socket worker header payload commit merge branch upload search ranking filter graph".split()
)
TYPES = ("OBSERVATION", "EDIT", "TEST_RESULT", "ERROR")


def opened(place: Path) -> weft.Memory:
    environment = {"HOME": str(place), "WEFT_PROJECT": PROJECT, "WEFT_AUDIT": "off", "WEFT_SENSITIVE": "on"}
    return weft.open(f"sqlite://{place}/store", directory=place, environment=environment)


def fill(memory: weft.Memory, episodes: int, chance: random.Random) -> None:
    """Writes episodes as `episode_add` does, many in a commit, over a year."""
    guard = own_guard(memory.ctx)
    now = memory.ctx.clock.now_us()
    records = {agent: agent_record_id(agent, guard) for agent in AGENTS}
    things = [f"thing-{n}" for n in range(ENTITIES)]
    nodes = [
        NodeAssertion(id=record, kind="AgentRecord", name=agent, project=PROJECT) for agent, record in records.items()
    ]
    nodes += [NodeAssertion(id=thing, kind="Entity", name=f"Thing {thing}", project=PROJECT) for thing in things]
    memory.ctx.append([Draft(kind="graph.asserted", payload=Asserted(nodes=tuple(nodes)))])
    for start in range(0, episodes, AT_ONCE):
        made, edges = [], []
        for number in range(start, min(start + AT_ONCE, episodes)):
            agent, kind = chance.choice(AGENTS), chance.choice(TYPES)
            node_id = f"episode-{number}"
            text = f"{' '.join(chance.choices(WORDS, k=12))} {number}"
            made.append(
                NodeAssertion(
                    id=node_id,
                    kind="Episode",
                    name=text[:60],
                    text=text,
                    props={"type": kind, "agent": agent, "session": f"{agent}-1"},
                    project=PROJECT,
                    valid_from=to_iso(now - int((episodes - number) / episodes * 365 * DAY_US)),
                )
            )
            edges.append(EdgeAssertion(src=node_id, rel="BY", dst=records[agent], project=PROJECT))
            for thing in chance.sample(things, 2):
                edges.append(EdgeAssertion(src=node_id, rel="INVOLVES", dst=thing, project=PROJECT))
        memory.ctx.append([Draft(kind="graph.asserted", payload=Asserted(nodes=tuple(made), edges=tuple(edges)))])


def synced(file: Path) -> None:
    """A small write that is on the disk when this returns: what every commit waits for at least."""
    with file.open("ab") as out:
        out.write(bytes(4_096))
        out.flush()
        os.fsync(out.fileno())


def timed(calls: Iterable[Callable[[], object]]) -> dict[str, float]:
    """Milliseconds of each call by the clock, and of the processor: where others keep it busy, that one tells more."""
    used: list[float] = []

    def counted(call: Callable[[], object]) -> Callable[[], object]:
        def run() -> None:
            began = time.process_time()
            call()
            used.append((time.process_time() - began) * 1000)

        return run

    told = percentiles(counted(call) for call in calls)
    used.sort()
    shares = {f"processor_p{share}_ms": round(used[len(used) * share // 100], 3) for share in (50, 95)}
    return {**told, **shares}


def measure(given: argparse.Namespace, scratch: Path) -> dict[str, Any]:
    with opened(scratch) as memory:
        fill(memory, given.episodes, random.Random(0))
        memory.call("reindex")
        return {"episodes": given.episodes, **asked(memory, given.calls, scratch)}


def asked(memory: weft.Memory, calls: int, scratch: Path) -> dict[str, Any]:
    """What calls take on a store that is filled."""
    chance = random.Random(1)

    def words() -> str:
        return " ".join(chance.choices(WORDS, k=4)) + f" {chance.randrange(10_000)}"

    def recall(**more: Any) -> Any:
        return lambda: memory.call("episode_recall", query=words(), **more)

    for _ in range(5):
        recall()()
    tasks = [memory.call("task_create", title=f"task {n}").id for n in range(calls)]
    return {
        "load_per_core": round(os.getloadavg()[0] / (os.cpu_count() or 1), 1),
        "disk_alone": percentiles((lambda: synced(scratch / "synced")) for _ in range(calls)),
        "recall": timed(recall() for _ in range(calls)),
        "recall_with_entities": timed(recall(entities=[f"thing-{chance.randrange(ENTITIES)}"]) for _ in range(calls)),
        "recall_of_an_agent": timed(recall(agent=chance.choice(AGENTS)) for _ in range(calls)),
        "recall_since_a_month": timed(recall(since="a month ago") for _ in range(calls)),
        "claim": timed((lambda task=task: memory.call("agent_claim", target=task, intent="work")) for task in tasks),
        "overview": timed((lambda: memory.call("coordination_overview")) for _ in range(20)),
        "episode_add": timed(
            (lambda: memory.call("episode_add", type="OBSERVATION", content=words())) for _ in range(calls)
        ),
    }


def main() -> None:
    run(options(__doc__ or "", episodes=100_000, calls=200), "fleet-recall-{episodes}", measure)


if __name__ == "__main__":
    main()
