"""Links are made with a bounded part of a project's facts in memory, and are the same however small that part is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.code.workbench import Workbench

FILES = 30
MODULE = """from .m{before} import C{before} as Base


class C{number}(Base):
    def at{number}(self):
        return self.at0()
"""


def linked(scratch: Path) -> Any:
    bench = Workbench(scratch)
    bench.write("lib/__init__.py", "")
    bench.write("lib/m0.py", "class C0:\n    def at0(self):\n        return self.missing()\n")
    for number in range(1, FILES):
        bench.write(f"lib/m{number}.py", MODULE.format(number=number, before=number - 1))
    counts = bench.call("graph_rebuild").job.counts
    edges = bench.call("graph_edges", rel="CALLS", limit=100).edges
    return counts, sorted((each.src, each.dst) for each in edges)


def test_a_small_memory_makes_the_same_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counts, calls = linked(tmp_path / "roomy")
    assert (counts["links"], len(calls)) == (4 * (FILES - 1), FILES - 1)
    assert {dst.rpartition("::")[2] for _, dst in calls} == {"at0"}, "through all modules between"
    monkeypatch.setattr("weft.code.resolve.kept.MAX_WEIGHT", 1)
    assert linked(tmp_path / "tight") == (counts, calls)
