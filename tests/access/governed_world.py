"""How the graph stands."""

from __future__ import annotations

from typing import Any

import weft
from weft.graph.digest import graph_digest
from weft.testing.clock import DAY_US, ManualClock


def finding(boss: weft.Memory, clock: ManualClock) -> str:
    """What hygiene says of a decision that nobody has looked at for long."""
    boss.call("save_decision", title="Paint the cranes yellow", level="global")
    clock.step(200 * DAY_US)
    report = boss.call("run_hygiene", level="global")
    (found,) = [each for check in report.checks if check.check == "decision" for each in check.findings]
    name: str = found.id
    return name


def gone(boss: weft.Memory) -> str:
    node = boss.remember("The old harbour rules hold.", level="global")
    boss.forget(node.id)
    return node.id


def filled(given: Any, world: dict[str, str]) -> Any:
    """A call with the ids of this world."""
    match given:
        case str():
            return world[given[1:-1]] if given.startswith("{") else given
        case list():
            return [filled(each, world) for each in given]
        case dict():
            return {name: filled(value, world) for name, value in given.items()}
        case _:
            return given


def stands(memory: weft.Memory) -> str:
    return graph_digest(memory.ctx.store.graph_rows(memory.ctx.operator("look at the graph")))
