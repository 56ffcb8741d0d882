"""Processes fight for targets: `python -m benchmarks.fleet.contend --processes 16 --targets 100 --seconds 60`.

Checks what must hold of claims whatever happens: never two holders of one target (by a witness outside weft and by a
replay of the log), a share for every process, and no claim left when all have released theirs.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.fleet.claimant import opened
from benchmarks.program import options, run
from weft.core.types import SCOPES, Viewer
from weft.log.kinds import payload_of
from weft.log.verify import read_commits, verify

ROOT = Path(__file__).resolve().parents[2]
GRACE_S = 120.0


def contend(place: Path, *, processes: int, targets: int, seconds: float) -> dict[str, Any]:
    """Lets processes fight, and says what came of it. Raises AssertionError where a promise was broken.

    Nobody queues for a target: that each process gets some holds where there are more targets than processes.
    """
    (place / "witnesses").mkdir()
    with opened(place, "boss") as boss:
        ids = [boss.call("work_create", kind="bench", title=f"target {n}").id for n in range(targets)]
        (place / "targets.json").write_text(json.dumps(ids))
        reports = _fight(place, [f"agent-{n}" for n in range(processes)], seconds)
        problems = [each for told in reports.values() for each in told["problems"]]
        assert not problems, problems
        held = boss.call("coordination_overview")
        assert held.total == 0, held.active
        releases = _replay(boss)
        viewer = Viewer(account="default", scopes=frozenset(SCOPES), sensitive=True)
        checked = verify(boss.ctx.store, viewer)
        assert checked.problem is None, checked.problem
    got = {name: told["got"] for name, told in reports.items()}
    assert releases == sum(got.values()), "a release is missing in the log"
    assert min(got.values()) > 0 or targets < processes, got
    times = sorted(ms for told in reports.values() for ms in told["claims_ms"])
    return {
        "processes": processes,
        "targets": targets,
        "seconds": seconds,
        "cores": os.cpu_count(),
        "claims": len(times),
        "got": sum(got.values()),
        "refused": sum(told["refused"] for told in reports.values()),
        "least_got": min(got.values()),
        "most_got": max(got.values()),
        "claim_ms": {
            f"p{percent}": times[min(len(times) - 1, len(times) * percent // 100)] for percent in (50, 95, 99)
        },
        "two_holders": 0,
        "lost_releases": 0,
    }


def _fight(place: Path, names: list[str], seconds: float) -> dict[str, dict[str, Any]]:
    environment = {**os.environ, "PYTHONFAULTHANDLER": "1", "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    children = {
        name: subprocess.Popen(
            [sys.executable, "-m", "benchmarks.fleet.claimant", str(place), name, str(seconds)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        for name in names
    }
    try:
        for child in children.values():
            assert child.stdout is not None
            said = child.stdout.readline().strip()
            assert said == "ready", f"said {said!r}: {child.communicate()}"
        for child in children.values():
            assert child.stdin is not None
            child.stdin.write("go\n")
            child.stdin.flush()
        return {name: _answer(child) for name, child in children.items()}
    finally:
        for child in children.values():
            child.kill()
            child.communicate()


def _answer(child: subprocess.Popen[str]) -> dict[str, Any]:
    said, errors = child.communicate(timeout=GRACE_S)
    assert child.returncode == 0, f"exit {child.returncode}: {errors}"
    told: dict[str, Any] = json.loads(said.splitlines()[-1])
    return told


def _replay(boss: Any) -> int:
    """Goes through the log: nobody claims what another holds. Returns how many claims were ended."""
    viewer = Viewer(account="default", scopes=frozenset(SCOPES), sensitive=True)
    holders: dict[str, str] = {}
    ends = 0
    for _, events in read_commits(boss.ctx.store, viewer):
        for event in events:
            payload = payload_of(event)
            if event.kind == "graph.asserted":
                for node in (each for each in payload.nodes if each.kind == "Claim"):
                    holder = node.props["holder"]
                    assert holders.get(node.id, holder) == holder, (
                        f"{node.id} passed from {holders[node.id]} to {holder}"
                    )
                    assert holder == event.actor.agent, f"{event.actor.agent} claimed {node.id} for {holder}"
                    holders[node.id] = holder
            elif event.kind == "graph.ended":
                for node_id in payload.nodes:
                    assert holders.pop(node_id) == event.actor.agent, f"{node_id} was ended by {event.actor.agent}"
                    ends += 1
    assert not holders, holders
    return ends


def main() -> None:
    parser = options(__doc__ or "", processes=16, targets=100, seconds=60.0)

    def measure(given: argparse.Namespace, scratch: Path) -> dict[str, Any]:
        return contend(scratch, processes=given.processes, targets=given.targets, seconds=given.seconds)

    run(parser, "fleet-claims", measure)


if __name__ == "__main__":
    main()
