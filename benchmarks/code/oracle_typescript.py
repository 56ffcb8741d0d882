"""Calls and imports of JavaScript and TypeScript packages against the TypeScript compiler's own checker.

Precision: of our calls inside the package, how many the checker confirms. Recall: of the checker's, how many we have. A
call counts once a pair of definitions. Counted apart: ours at places where the checker has no answer at all (`any`, in
plain JavaScript mostly: it neither confirms nor denies), and what it finds in a function or a type that is no symbol of
ours (a function inside a function, a property of an anonymous type: there is nothing to link to).

    npm install --prefix <compiler> typescript@5 @types/node
    python -m benchmarks.code.oracle_typescript <compiler> <package>=<folder> … [--show 20]
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

from msgspec import Struct

from benchmarks.latency.measure import save
from weft.code.parse.facts import Definition
from weft.code.resolve.tree import Tree

SCRIPT = Path(__file__).with_name("oracle_typescript.mjs")
GOAL_PRECISION = 95.0
GOAL_RECALL = 80.0
ANONYMOUS = frozenset({"default", "exports"})

Edge = tuple[str, str, str, str]  # file and key, file and key


class Judged(Struct, kw_only=True):
    """What came of one package."""

    calls: dict[Edge, str]  # ours, and where
    confirmed: set[Edge]  # all that the checker says of the same places
    expected: dict[tuple[str, str, frozenset[tuple[str, str]]], str]  # the checker's, and where
    silent: dict[tuple[str, int], list[str]]  # where it has no answer: what is called there
    imports: set[tuple[str, str]]
    expected_imports: set[tuple[str, str]]
    without_symbol: int
    files: int
    unresolved: int
    outside: int


def owner(definitions: tuple[Definition, ...], line: int) -> str:
    """The innermost definition around a line."""
    found = [each for each in definitions if each.line <= line <= each.end_line]
    return min(found, key=lambda each: each.end_line - each.line).key if found else ""


def target(definitions: tuple[Definition, ...], line: int, name: str) -> str | None:
    """The definition that a declaration is: of its name, around its line."""
    found = [each for each in definitions if each.line <= line <= each.end_line]
    if not found:
        return None
    nearest = min(found, key=lambda each: each.end_line - each.line)
    anonymous = nearest.name in ANONYMOUS and name in (*ANONYMOUS, "module.exports")
    return nearest.key if nearest.name == name or anonymous else None


def judge(compiler: Path, root: Path) -> Judged:
    """Resolves a package and asks the checker about the same files."""
    tree = Tree(root)
    paths = list(tree.paths)
    answered = subprocess.run(
        ["node", "--max-old-space-size=3000", str(SCRIPT), str(compiler), str(root)],
        input=json.dumps(paths),
        capture_output=True,
        text=True,
        check=True,
    )
    judged = Judged(
        calls={},
        confirmed=set(),
        expected={},
        silent={},
        imports=set(),
        expected_imports=set(),
        without_symbol=0,
        files=len(paths),
        unresolved=0,
        outside=0,
    )
    facts = {path: tree.facts(path) for path in paths}
    for path in paths:
        links = tree.links(path)
        judged.unresolved += len(links.unresolved)
        judged.outside += links.outside
        for link in links.links:
            if link.relation == "CALLS":
                judged.calls[path, link.key, link.target.path, link.target.key] = f"{path}:{link.line}"
            elif link.relation == "IMPORTS" and link.target.path:
                judged.imports.add((path, link.target.path))
    for line in filter(None, answered.stdout.splitlines()):
        said = json.loads(line)
        if "imports" in said:
            if said["imports"] != said["file"]:
                judged.expected_imports.add((said["file"], said["imports"]))
            continue
        found = facts[said["file"]]
        assert found is not None
        if said["silent"]:
            judged.silent.setdefault((said["file"], said["line"]), []).append(said["text"])
        source = owner(found.definitions, said["from"])
        targets = set()
        for to in said["to"]:
            other = facts[to["file"]]
            assert other is not None
            key = target(other.definitions, to["line"], to["name"])
            if key is not None:
                targets.add((to["file"], key))
        if targets:
            for each in (source, owner(found.definitions, said["line"])):
                judged.confirmed.update((said["file"], each, *to) for to in targets)
            where = f"{said['file']}:{said['line']} {' '.join(said['text'].split())}"
            judged.expected.setdefault((said["file"], source, frozenset(targets)), where)
        else:
            judged.without_symbol += bool(said["to"])
    return judged


def wrong_and_silent(judged: Judged) -> tuple[list[str], list[str]]:
    """Ours that the checker does not confirm: those that it denies, and those that it says nothing of."""
    denied, unsaid = [], []
    for edge, where in judged.calls.items():
        if edge in judged.confirmed:
            continue
        path, _, line = where.rpartition(":")
        name = edge[3].rpartition("::")[2]
        known = any(text.endswith(name) for text in judged.silent.get((path, int(line)), ()))
        (unsaid if known else denied).append(f"{where}  {edge[1]} -> {edge[2]}::{edge[3]}")
    return denied, unsaid


def missing(judged: Judged) -> list[str]:
    """The checker's that we do not have."""
    found = []
    for (path, source, targets), where in judged.expected.items():
        if not any((path, source, *to) in judged.calls for to in targets):
            found.append(f"{where}  {source} -> {' or '.join('::'.join(to) for to in sorted(targets))}")
    return found


def summary(judged: Judged) -> dict[str, Any]:
    """The figures of one package."""
    denied, unsaid = wrong_and_silent(judged)
    said = len(judged.calls) - len(unsaid)
    had = len(judged.expected) - len(missing(judged))
    both = len(judged.imports & judged.expected_imports)
    return {
        "files": judged.files,
        "calls_ours": len(judged.calls),
        "calls_checker": len(judged.expected),
        "calls_precision": round(100 * (said - len(denied)) / max(1, said), 1),
        "calls_recall": round(100 * had / max(1, len(judged.expected)), 1),
        "calls_checker_silent": len(unsaid),
        "imports_ours": len(judged.imports),
        "imports_checker": len(judged.expected_imports),
        "imports_precision": round(100 * both / max(1, len(judged.imports)), 1),
        "imports_recall": round(100 * both / max(1, len(judged.expected_imports)), 1),
        "checker_targets_without_symbol": judged.without_symbol,
        "unresolved": judged.unresolved,
        "outside": judged.outside,
    }


def show(judged: Judged, count: int) -> None:
    """Some that are wrong, some that are missing."""
    denied, unsaid = wrong_and_silent(judged)
    for title, listed in (("wrong", denied), ("silent", unsaid), ("missing", missing(judged))):
        random.Random(1).shuffle(listed)
        for each in listed[:count]:
            print(f"  {title}  {each}")
        print(f"  {title}: {len(listed)};", Counter(each.partition(":")[0] for each in listed).most_common(8))
    print("  imports wrong", sorted(judged.imports - judged.expected_imports)[:count])
    print("  imports missing", sorted(judged.expected_imports - judged.imports)[:count])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("compiler", type=Path)
    parser.add_argument("packages", nargs="+", metavar="name=folder")
    parser.add_argument("--show", type=int, default=0)
    parser.add_argument("--no-save", action="store_true")
    given = parser.parse_args()
    print(
        f"{'package':<24}{'files':>6}{'calls':>8}{'checker':>9}{'silent':>8}{'prec.':>8}{'recall':>8}{'imports':>9}{'prec.':>8}{'recall':>8}"
    )
    made = {}
    for each in given.packages:
        name, _, folder = each.partition("=")
        judged = judge(given.compiler.resolve(), Path(folder).resolve())
        row = made[name] = summary(judged)
        print(
            f"{name:<24}{row['files']:>6}{row['calls_ours']:>8}{row['calls_checker']:>9}{row['calls_checker_silent']:>8}"
            f"{row['calls_precision']:>8}"
            f"{row['calls_recall']:>8}{row['imports_ours']:>9}{row['imports_precision']:>8}{row['imports_recall']:>8}",
            flush=True,
        )
        if given.show:
            show(judged, given.show)
    if not given.no_save:
        print(save("code-typescript", {"goal_precision": GOAL_PRECISION, "goal_recall": GOAL_RECALL, "packages": made}))


if __name__ == "__main__":
    main()
