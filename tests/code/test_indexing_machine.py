"""However a workspace changes, the graph shows what a fresh store would: files, symbols and links."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

import weft
from weft.code.index.facts_lock import facts_place
from weft.code.index.index import index_workspace
from weft.code.index.links import LINK_RELATIONS
from weft.core.types import NOW, Find

PATHS = (
    "a.py",
    "b.py",
    "pkg/__init__.py",
    "pkg/c.py",
    "pkg/deep/d.py",
    "test_e.py",
    "web/f.ts",
    "web/g.ts",
    "data.bin",
)
MODULES = ("a", "b", "pkg", "pkg.c", "pkg.deep.d", "test_e", "os")
NAMES = ("run", "stop", "load")


@st.composite
def python(draw: st.DrawFn) -> str:
    """A small module: imports, functions that call what was imported, a class with a base."""
    lines = [draw(st.sampled_from(("", "# a comment", '"""About it."""')))]
    for _ in range(draw(st.integers(0, 2))):
        module, name = draw(st.sampled_from(MODULES)), draw(st.sampled_from((*NAMES, "Ship", "*")))
        lines.append(f"from {module} import {name}")
    if draw(st.booleans()):
        lines.append(f"import {draw(st.sampled_from(MODULES))}")
    for name in draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=2)):
        called = draw(st.sampled_from((*NAMES, "Ship().load", "pkg.run", "os.getcwd")))
        lines += [f"def {name}():", f"    return {called}()"]
    if draw(st.booleans()):
        base = draw(st.sampled_from(("", "(Ship)", "(pkg.Ship)")))
        lines += [
            f"class {draw(st.sampled_from(('Ship', 'Boat')))}{base}:",
            "    def load(self):",
            "        self.stop()",
        ]
    if draw(st.integers(0, 5)) == 0:
        lines.append("def broken(:")
    return "\n".join(lines) + "\n"


@st.composite
def typescript(draw: st.DrawFn) -> str:
    other, name = draw(st.sampled_from(("f", "g", "h"))), draw(st.sampled_from(NAMES))
    return f"import {{ {name} }} from './{other}';\nexport function {draw(st.sampled_from(NAMES))}() {{ {name}(); }}\n"


def contents(path: str) -> st.SearchStrategy[str]:
    if path.endswith(".py"):
        return python()
    return typescript() if path.endswith(".ts") else st.sampled_from(("one", "two"))


def shown(memory: weft.Memory) -> tuple[dict[str, Any], set[tuple[Any, ...]]]:
    """What stands: files and symbols with all they say, and every relation between them."""
    ctx = memory.ctx
    kinds = ("File", "Class", "Function", "Test")
    found = ctx.store.find(ctx.viewer, NOW, Find(kinds=kinds), limit=10_000).nodes
    nodes = {node.id: (node.kind, node.name, node.summary, node.text, dict(node.props)) for node in found}
    rels = (*LINK_RELATIONS, "CONTAINS")
    edges = ctx.store.relations(ctx.viewer, NOW, rels, limit=100_000)
    return nodes, {(edge.src, edge.rel, edge.dst, edge.props.get("line")) for edge in edges}


class Workspace(RuleBasedStateMachine):
    """Edits, renames and deletions; indexed as a whole, by the paths that changed or anew, with facts lost at times."""

    @initialize(backend=st.sampled_from(("memory", "sqlite")))
    def begin(self, backend: str) -> None:
        self.scratch = Path(tempfile.mkdtemp(prefix="weft-"))
        self.root = self.scratch / "ship"
        self.root.mkdir()
        self.memory = self.open("memory://" if backend == "memory" else f"sqlite://{self.scratch / 'store'}")
        self.dirty: set[str] = set()

    def open(self, url: str) -> weft.Memory:
        environment = {"HOME": str(self.scratch), "WEFT_EMBEDDER": "none", "WEFT_AUDIT": "off"}
        return weft.open(url, directory=self.root, environment=environment)

    @rule(data=st.data(), path=st.sampled_from(PATHS))
    def write(self, data: st.DataObject, path: str) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(data.draw(contents(path)))
        self.dirty.add(path)

    @rule(path=st.sampled_from(PATHS))
    def remove(self, path: str) -> None:
        if (self.root / path).exists():
            (self.root / path).unlink()
            self.dirty.add(path)

    @rule(path=st.sampled_from(PATHS[:5]), to=st.sampled_from(PATHS[:5]))
    def rename(self, path: str, to: str) -> None:
        if (self.root / path).exists():
            (self.root / to).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).rename(self.root / to)
            self.dirty |= {path, to}

    @rule()
    def index_all(self) -> None:
        index_workspace(self.memory.ctx)
        self.dirty.clear()

    @rule()
    def index_what_changed(self) -> None:
        index_workspace(self.memory.ctx, paths=sorted(self.dirty))
        self.dirty.clear()

    @rule(path=st.sampled_from(PATHS))
    def index_one(self, path: str) -> None:
        index_workspace(self.memory.ctx, paths=[path])
        self.dirty.discard(path)

    @rule()
    def index_anew(self) -> None:
        index_workspace(self.memory.ctx, full=True)
        self.dirty.clear()

    @rule(how=st.sampled_from(("lost", "damaged")))
    def lose_facts(self, how: str) -> None:
        place = facts_place(self.memory.ctx.settings)
        if place is None or not place.exists():
            return
        if how == "lost":
            place.unlink()
        else:
            place.write_bytes(b"not a database" * 100)

    @invariant()
    def same_as_from_scratch(self) -> None:
        if self.dirty:
            return
        fresh = self.open("memory://")
        index_workspace(fresh.ctx)
        now, then = shown(self.memory), shown(fresh)
        fresh.close()
        assert now[0] == then[0]
        assert now[1] == then[1]

    def teardown(self) -> None:
        if hasattr(self, "memory"):
            self.memory.close()
            shutil.rmtree(self.scratch)


TestWorkspace = Workspace.TestCase
