"""Links are made with a bounded part of a project's facts in memory, and are the same however small that part is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.code.workbench import Workbench
from weft.code.index import links
from weft.code.index.facts_file import FactsFile
from weft.code.index.links import IndexedProject, ResolvedFile
from weft.code.resolve import tables
from weft.code.resolve.kept import Kept

FILES = 30


def resolved(bench: Workbench) -> list[ResolvedFile | None]:
    (kept,) = bench.store.rglob("*.facts")
    facts = FactsFile(Path(kept))
    project = IndexedProject(facts, bench.root, "pier")
    found = [project.resolved(path) for path in facts.sources()]
    facts.close()
    return found


def test_a_small_memory_makes_the_same_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Workbench(tmp_path)
    for number in range(FILES):
        before = f"from .m{number - 1} import C{number - 1} as Base" if number else "Base = object"
        text = f"{before}\n\n\nclass C{number}(Base):\n    def at{number}(self):\n        return self.at0()\n"
        bench.write(f"lib/m{number}.py", text)
    bench.write("lib/__init__.py", "")
    bench.call("graph_rebuild")
    roomy = resolved(bench)
    assert sum(len(each.links) for each in roomy if each) >= 3 * (FILES - 1)
    tight = type("Tight", (Kept,), {"__init__": lambda self: Kept.__init__(self, 1)})
    monkeypatch.setattr(links, "Kept", tight)
    monkeypatch.setattr(tables, "Kept", tight)
    assert resolved(bench) == roomy


def test_what_was_used_longest_ago_leaves_first() -> None:
    kept: Kept[str] = Kept(10)
    for path in ("a", "b", "c"):
        kept.put(path, path.upper(), 4)
        kept.get("a")
    assert [kept.get(path) for path in ("a", "b", "c")] == ["A", None, "C"]
    kept.put("large", "alone", 99)
    assert [kept.get(path) for path in ("a", "c", "large")] == [None, None, "alone"]
    kept.put("large", "small now", 1)
    kept.put("next", "beside", 9)
    assert (kept.get("large"), kept.get("next")) == ("small now", "beside")
