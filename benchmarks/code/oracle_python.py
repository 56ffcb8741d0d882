"""How far our links of Python agree with those of jedi: calls (and constructions) and imports inside one project.

For every call that Python's own parser finds, jedi says what is called (`goto`, through imports; `infer` where that
leads to a variable). Both sides are told from definition to definition as weft keeps them: what is defined inside a
function belongs to it, a construction leads to the class. An edge of ours that jedi does not have counts against us,
whoever is right; beside that stands the share of those where jedi says anything at all of a call by that name in that
definition. `--differences` prints every edge that one side lacks, to be judged by hand.

    python -m benchmarks.code.oracle_python PACKAGE=DIRECTORY … [--differences] [--save]

DIRECTORY is the folder that holds the package, as unpacked from its source distribution.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jedi

from benchmarks.latency.measure import save
from weft.code.facts import FileFacts
from weft.code.tree import Tree

GOAL_PRECISION = 0.95
GOAL_RECALL = 0.80

Edge = tuple[str, str]


class Judged:
    """One project, read by both."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self.tree = Tree(self.root)
        self.paths = [path for path in self.tree.paths if path.endswith(".py")]
        self._project = jedi.Project(str(self.root), added_sys_path=[str(self.root)])
        self.answered: set[Edge] = set()  # where jedi says something: the caller, the name that is called
        self.seconds = 0.0

    def ours(self) -> tuple[set[Edge], set[Edge]]:
        """Calls and imports, as weft links them."""
        calls, imports = set(), set()
        for path in self.paths:
            for link in self.tree.links(path).links:
                if link.relation == "CALLS":
                    calls.add((_id(path, link.key), _id(link.target.path, link.target.key)))
                elif link.relation == "IMPORTS" and link.target.path:
                    imports.add((path, link.target.path))
        return calls, imports

    def theirs(self) -> tuple[set[Edge], set[Edge]]:
        """The same, as jedi sees them."""
        calls: set[Edge] = set()
        imports: set[Edge] = set()
        for path in self.paths:
            text = (self.root / path).read_text(encoding="utf-8")
            began = time.process_time()
            script = jedi.Script(text, path=str(self.root / path), project=self._project)
            tree = ast.parse(text)
            for line, column in _called(tree):
                owner = self._owner(path, line)
                for target in self._meant(script, line, column, owner):
                    if target != owner or self._is_own_name(target, script, line, column):
                        calls.add((owner, target))
            for target in self._imported(script, path, tree, text):
                if target != path:
                    imports.add((path, target))
            self.seconds += time.process_time() - began
        return calls, imports

    def _goto(self, script: jedi.Script, line: int, column: int) -> list[Any]:
        try:
            return list(script.goto(line, column, follow_imports=True))
        except Exception as error:  # noqa: BLE001  jedi fails inside on some code: no opinion
            print(f"jedi: {error!r} at {line}:{column}", file=sys.stderr)
            return []

    def _meant(self, script: jedi.Script, line: int, column: int, caller: str) -> set[str]:
        found = self._goto(script, line, column)
        if not any(each.type in ("function", "class") for each in found):
            try:
                found = list(script.infer(line, column))
            except Exception as error:  # noqa: BLE001
                print(f"jedi: {error!r} at {line}:{column}", file=sys.stderr)
                found = []
            if any(each.type == "instance" and self._inside(each) for each in found):
                found = self._callable(script, line, column)
        targets = set()
        for each in found:
            if each.type not in ("function", "class"):
                continue
            self.answered.add((caller, each.name))
            inside = self._inside(each)
            if inside is not None and each.line is not None:
                owner = self._owner(inside, each.line)
                if "::" in owner:
                    targets.add(owner)
        return targets

    def _callable(self, script: jedi.Script, line: int, column: int) -> list[Any]:
        """What is called where something with `__call__` is: asked of jedi as if it were written out."""
        lines = script._code.split("\n")
        name = re.match(r"\w+", lines[line - 1][column:])
        end = column + (name.end() if name else 0)
        lines[line - 1] = f"{lines[line - 1][:end]}.__call__{lines[line - 1][end:]}"
        asked = jedi.Script("\n".join(lines), path=script.path, project=self._project)
        return self._goto(asked, line, end + 1)

    def _is_own_name(self, target: str, script: jedi.Script, line: int, column: int) -> bool:
        """Whether a function calls itself, not one that is defined inside it."""
        name = target.rpartition("::")[2].partition("~")[0]
        return any(each.name == name for each in self._goto(script, line, column))

    def _inside(self, name: Any) -> str | None:
        if name.module_path is None:
            return None
        path = Path(name.module_path).resolve()
        if not path.is_relative_to(self.root):
            return None
        inside = path.relative_to(self.root).as_posix()
        return inside if self.tree.facts(inside) is not None else None

    def _owner(self, path: str, line: int) -> str:
        facts = self.tree.facts(path)
        assert facts is not None
        return _id(path, _innermost(facts, line))

    def _imported(self, script: jedi.Script, path: str, tree: ast.AST, text: str) -> Iterator[str]:
        lines = text.split("\n")
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for each in node.names:
                    column = each.col_offset + len(each.name) - 1
                    yield from self._files(self._goto(script, each.lineno, column))
            elif isinstance(node, ast.ImportFrom):
                source = self._source(script, path, node, lines[node.lineno - 1])
                for each in node.names:
                    found = self._goto(script, each.lineno, each.col_offset) if each.name != "*" else []
                    modules = [name for name in found if name.type == "module"]
                    yield from self._files(modules) if modules else source

    def _source(self, script: jedi.Script, path: str, node: ast.ImportFrom, line: str) -> list[str]:
        if node.module:
            place = re.search(r"from\s+[.\s]*([\w.]+)", line[node.col_offset :])
            column = node.col_offset + place.end(1) - 1 if place else node.col_offset
            return list(self._files(self._goto(script, node.lineno, column)))
        package = Path(path).parents[node.level - 1] / "__init__.py"
        return [package.as_posix()] if self.tree.exists(package.as_posix()) else []

    def _files(self, names: list[Any]) -> Iterator[str]:
        for each in names:
            inside = self._inside(each)
            if inside is not None and each.type == "module":
                yield inside


def _called(tree: ast.AST) -> Iterator[tuple[int, int]]:
    """Where the names of what is called stand: line, column (in characters)."""
    for node in ast.walk(tree):
        called = [node.func] if isinstance(node, ast.Call) else list(getattr(node, "decorator_list", ()))
        for each in called:
            if isinstance(each, ast.Name):
                yield each.lineno, each.col_offset
            elif isinstance(each, ast.Attribute) and each.end_lineno and each.end_col_offset:
                yield each.end_lineno, each.end_col_offset - len(each.attr)


def _innermost(facts: FileFacts, line: int) -> str:
    found = ""
    for each in facts.definitions:  # in the order in which they begin: an inner one comes later
        if each.line <= line <= each.end_line:
            found = each.key
    return found


def _id(path: str, key: str) -> str:
    return f"{path}::{key}" if key else path


def compare(ours: set[Edge], theirs: set[Edge], answered: set[Edge]) -> dict[str, Any]:
    """Counts and shares. `unanswered` are edges of ours where jedi says nothing: neither that nor anything else."""
    both = len(ours & theirs)
    lacking = [(source, target.rpartition("::")[2].partition("~")[0]) for source, target in ours - theirs]
    unanswered = sum(each not in answered for each in lacking)
    return {
        "ours": len(ours),
        "jedi": len(theirs),
        "both": both,
        "unanswered": unanswered,
        "precision": round(both / len(ours), 4) if ours else None,
        "precision_where_answered": round(both / (len(ours) - unanswered), 4) if ours else None,
        "recall": round(both / len(theirs), 4) if theirs else None,
    }


def main() -> int:
    """Prints a table; 1 if a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", nargs="+", metavar="PACKAGE=DIRECTORY")
    parser.add_argument("--differences", action="store_true", help="print every edge that only one side has")
    parser.add_argument("--save", action="store_true", help="write the result to benchmarks/results")
    chosen = parser.parse_args()
    results: dict[str, Any] = {}
    for each in chosen.packages:
        name, _, directory = each.partition("=")
        judged = Judged(Path(directory))
        our_calls, our_imports = judged.ours()
        their_calls, their_imports = judged.theirs()
        results[name] = {
            "files": len(judged.paths),
            "calls": compare(our_calls, their_calls, judged.answered),
            "imports": compare(our_imports, their_imports, our_imports | their_imports),
            "jedi_seconds": round(judged.seconds, 1),
        }
        for what, mine, other in (("calls", our_calls, their_calls), ("imports", our_imports, their_imports)):
            shares = results[name][what]
            print(f"{name:12} {what:8} {shares}", flush=True)
            if chosen.differences:
                for sign, edges in (("+", mine - other), ("-", other - mine)):
                    for source, target in sorted(edges):
                        print(f"  {sign} {what} {source}  ->  {target}")
    if chosen.save:
        print(save("code-python", {"judge": f"jedi {jedi.__version__}", "packages": results}))
    calls = [each["calls"] for each in results.values()]
    return int(any(each["precision_where_answered"] < GOAL_PRECISION or each["recall"] < GOAL_RECALL for each in calls))


if __name__ == "__main__":
    sys.exit(main())
