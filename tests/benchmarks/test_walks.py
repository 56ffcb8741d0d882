"""The ways of one `remember`, `recall` and `context_pack` through the packages do not get longer."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

# How often each way goes back into a package that it left. A limit is raised only where a call does more.
MAX_RETURNS = {"remember": 38, "recall": 54, "context_pack": 53}


def test_a_call_returns_to_no_more_packages_than_before(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.structure.walks"],
        cwd=Path(__file__).parents[2],
        env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    walks = [json.loads(line) for line in done.stdout.splitlines()]
    returns = {each["walk"]: each["returns"] for each in walks}
    assert returns.keys() == MAX_RETURNS.keys()
    assert {name: count for name, count in returns.items() if count > MAX_RETURNS[name]} == {}
