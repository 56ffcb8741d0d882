"""How far our links of Python agree with two judges, jedi and pyright: calls (and constructions) inside one project.

For every call that Python's own parser finds, each judge says what is called: jedi by `goto` through imports (`infer`
where that leads to a variable), pyright as `oracle_pyright` tells. Both sides are told from definition to definition as
weft keeps them: what is defined inside a function belongs to it, a construction leads to the class. What is measured:

- against one judge: `precision` is the share of our edges that it has, whoever is right about the others, and
  `precision_where_answered` the same without those edges where the judge says nothing of a call by that name in that
  definition; `recall` is the share of its edges that we have;
- `either`: the share of our edges that at least one judge has. `denied` are those that neither has though both say
  something of a call by that name there: what is wrong, or what both lack;
- `both`: the share of the edges which both judges have that we have, too.

Imports are judged by jedi. `--differences` prints our edges that no judge has (`!` if they are denied, else `+`) and
those that all judges have and we lack (`-`).

    npm install pyright
    python -m benchmarks.code.oracle_python PACKAGE=DIRECTORY … --pyright node_modules/.bin/pyright-langserver
        [--differences] [--save]

DIRECTORY is the folder that holds the package, as unpacked from its wheel or source distribution. Without --pyright
jedi judges alone. The goals are for what one of the judges says, and for what all of them say.
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jedi
from parso.cache import parser_cache

from benchmarks.code.oracle_pyright import Pyright
from benchmarks.code.python_calls import Edge, Spot, Text, definition_id, joined
from benchmarks.latency.measure import save
from weft.code.resolve.tree import Tree

GOAL_PRECISION = 0.95
GOAL_RECALL = 0.80


class Judged:
    """One project, read by us and by jedi."""

    def __init__(self, root: Path) -> None:
        parser_cache.clear()  # what jedi remembers of another project it forgets halfway, and then fails
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
                    calls.add((joined(path, link.key), joined(link.target.path, link.target.key)))
                elif link.relation == "IMPORTS" and link.target.path:
                    imports.add((path, link.target.path))
        return calls, imports

    def theirs(self) -> tuple[set[Edge], set[Edge]]:
        """The same, as jedi sees them."""
        calls: set[Edge] = set()
        imports: set[Edge] = set()
        for path in self.paths:
            source = (self.root / path).read_text(encoding="utf-8")
            began = time.process_time()
            script = jedi.Script(source, path=str(self.root / path), project=self._project)
            text = Text(source)
            for spot in text.called():
                owner = definition_id(self.tree, path, spot[0])
                for target in self._meant(script, text, spot, owner):
                    if target != owner or self._is_own_name(target, script, spot):
                        calls.add((owner, target))
            for target in self._imported(script, path, text):
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

    def _meant(self, script: jedi.Script, text: Text, spot: Spot, caller: str) -> set[str]:
        line, column, _ = spot
        found = self._goto(script, line, column)
        if not any(each.type in ("function", "class") for each in found):
            try:
                found = list(script.infer(line, column))
            except Exception as error:  # noqa: BLE001
                print(f"jedi: {error!r} at {line}:{column}", file=sys.stderr)
                found = []
            if any(each.type == "instance" and self._inside(each) for each in found):
                found = self._callable(script, text, spot)
        targets = set()
        for each in found:
            if each.type not in ("function", "class"):
                continue
            self.answered.add((caller, each.name))
            inside = self._inside(each)
            if inside is not None and each.line is not None:
                owner = definition_id(self.tree, inside, each.line)
                if "::" in owner:
                    targets.add(owner)
        return targets

    def _callable(self, script: jedi.Script, text: Text, spot: Spot) -> list[Any]:
        """What is called where something with `__call__` is: asked of jedi as if it were written out."""
        changed, places = text.with_calls([spot])
        return self._goto(jedi.Script(changed, path=script.path, project=self._project), *places[0])

    def _is_own_name(self, target: str, script: jedi.Script, spot: Spot) -> bool:
        """Whether a function calls itself, not one that is defined inside it."""
        name = target.rpartition("::")[2].partition("~")[0]
        return any(each.name == name for each in self._goto(script, *spot[:2]))

    def _inside(self, name: Any) -> str | None:
        if name.module_path is None:
            return None
        path = Path(name.module_path).resolve()
        if not path.is_relative_to(self.root):
            return None
        inside = path.relative_to(self.root).as_posix()
        return inside if self.tree.facts(inside) is not None else None

    def _imported(self, script: jedi.Script, path: str, text: Text) -> Iterator[str]:
        for node in ast.walk(text.tree):
            if isinstance(node, ast.Import):
                for each in node.names:
                    column = each.col_offset + len(each.name) - 1
                    yield from self._files(self._goto(script, each.lineno, column))
            elif isinstance(node, ast.ImportFrom):
                source = self._source(script, path, node, text.lines[node.lineno - 1])
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


def lacking(edges: set[Edge], answered: set[Edge]) -> set[Edge]:
    """The edges of a caller and a name of which a judge says nothing."""
    return {each for each in edges if (each[0], each[1].rpartition("::")[2].partition("~")[0]) not in answered}


def compare(ours: set[Edge], theirs: set[Edge], answered: set[Edge]) -> dict[str, Any]:
    """Counts and shares. `unanswered` are edges of ours of which the judge says neither that nor anything else."""
    both = len(ours & theirs)
    unanswered = len(lacking(ours - theirs, answered))
    return {
        "ours": len(ours),
        "judge": len(theirs),
        "both": both,
        "unanswered": unanswered,
        "precision": _share(both, len(ours)),
        "precision_where_answered": _share(both, len(ours) - unanswered),
        "recall": _share(both, len(theirs)),
    }


def together(ours: set[Edge], judges: list[tuple[set[Edge], set[Edge]]]) -> dict[str, Any]:
    """Counts and shares against two judges, each with its edges and where it answered."""
    (first, _), (second, _) = judges
    agreed = first & second
    return {
        "either": _share(len(ours & (first | second)), len(ours)),
        "denied": len(denied(ours, judges)),
        "both": _share(len(ours & agreed), len(agreed)),
        "agreed": len(agreed),
        "judges_agree": _share(len(agreed), len(first | second)),
    }


def denied(ours: set[Edge], judges: list[tuple[set[Edge], set[Edge]]]) -> set[Edge]:
    """Edges that no judge has, though each says something of a call by that name in that definition."""
    alone = ours.difference(*(edges for edges, _ in judges))
    return alone.difference(*(lacking(alone, answered) for _, answered in judges))


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


def judged(directory: Path, pyright: str, *, differences: bool) -> dict[str, Any]:
    """One package against the judges."""
    package = Judged(directory)
    calls, imports = package.ours()
    their_calls, their_imports = package.theirs()
    judges = [(their_calls, package.answered)]
    found: dict[str, Any] = {"files": len(package.paths), "jedi": compare(calls, *judges[0])}
    seconds = {"jedi": round(package.seconds, 1)}
    if pyright:
        second = Pyright(package.root, package.tree, pyright)
        judges.append((second.calls(), second.answered))
        seconds["pyright"] = round(second.end(), 1)
        found["pyright"] = compare(calls, *judges[1])
        found["together"] = together(calls, judges)
    found["imports"] = compare(imports, their_imports, imports | their_imports)
    if differences:
        agreed = set.intersection(*(edges for edges, _ in judges))
        alone = calls.difference(*(edges for edges, _ in judges))
        against = denied(calls, judges)
        for sign, edges in (("!", against), ("+", alone - against), ("-", agreed - calls)):
            for source, target in sorted(edges):
                print(f"  {sign} {source}  ->  {target}")
    return {**found, "judge_seconds": seconds}


def reaches_goals(found: dict[str, Any]) -> bool:
    """Whether calls and imports of one package are as right and as many as they should be."""
    calls = found.get("together")
    right = calls["either"] if calls else found["jedi"]["precision"]
    there = calls["both"] if calls else found["jedi"]["recall"]
    shares = [(right, there), (found["imports"]["precision"], found["imports"]["recall"])]
    return all((one or 0) >= GOAL_PRECISION and (other or 0) >= GOAL_RECALL for one, other in shares)


def main() -> int:
    """Prints a table; 1 if a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", nargs="+", metavar="PACKAGE=DIRECTORY")
    parser.add_argument("--pyright", default="", metavar="PROGRAM", help="pyright's language server: a second judge")
    parser.add_argument(
        "--differences", action="store_true", help="print our edges that no judge has (!: denied), and what we lack (-)"
    )
    parser.add_argument("--save", action="store_true", help="write the result to benchmarks/results")
    chosen = parser.parse_args()
    results: dict[str, Any] = {}
    for each in chosen.packages:
        name, _, directory = each.partition("=")
        results[name] = judged(Path(directory), chosen.pyright, differences=chosen.differences)
        for what, shares in results[name].items():
            print(f"{name:16} {what:14} {shares}", flush=True)
    judges = [f"jedi {jedi.__version__}"]
    if chosen.pyright:
        beside = Path(chosen.pyright).with_name("pyright")
        judges.append(subprocess.run([beside, "--version"], capture_output=True, text=True, check=True).stdout.strip())
    if chosen.save:
        print(save("code-python", {"judges": judges, "packages": results}))
    return int(not all(map(reaches_goals, results.values())))


if __name__ == "__main__":
    sys.exit(main())
