"""How right the links of Rust code are: against rust-analyzer, which knows the types of everything.

Real crates are had by `cargo vendor`, `rust-analyzer scip` says for each name what it means, and the CALLS of weft are
compared with that: an edge from the definition around a name to the function or method that it means (names in `use`
are not calls). A construction is judged by whether the type is named there at all. What rust-analyzer says nothing of
(code for another platform, tokens of a macro) is counted apart and judges nothing.

    rustup component add rust-analyzer rust-src
    python -m benchmarks.code.rust_oracle [--place /tmp/rust-oracle] [--show 20] [set …]
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import subprocess
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from msgspec import Struct

from benchmarks.code.scip import Occurrence, occurrences
from benchmarks.latency.measure import save
from weft.code.parse.facts import CLASS_SORTS, FILE
from weft.code.parse.parse import ParsedSource, grammar_of
from weft.code.parse.symbols import read_source
from weft.code.resolve.tree import Tree
from weft.files.languages import language_of

# The crates of a workspace; the first is its root, the others are below `crates` and take the place of those outside.
SETS: dict[str, tuple[str, ...]] = {
    "ripgrep": (
        "ripgrep-14.1.1",
        "grep-0.3.2",
        "grep-cli-0.1.11",
        "grep-matcher-0.1.7",
        "grep-printer-0.2.2",
        "grep-regex-0.1.13",
        "grep-searcher-0.1.14",
        "ignore-0.4.23",
        "globset-0.4.15",
    ),
    "clap_builder": ("clap_builder-4.5.20",),
    "hyper": ("hyper-1.5.0",),
    "serde_json": ("serde_json-1.0.128",),
    "regex-automata": ("regex-automata-0.4.8",),
}
LEFT_OUT = shutil.ignore_patterns("Cargo.toml.orig", "Cargo.lock", ".cargo-checksum.json")
LOOKED_AT = frozenset({"ripgrep", "clap_builder", "hyper"})  # the rules were written with these in view, no others
GOAL_PRECISION, GOAL_RECALL = 95.0, 80.0
READ_ROUNDS = 5
Edge = tuple[str, int, str, int]  # from: file and place of the definition (FILE for the file); to


class Judged(Struct, kw_only=True):
    """The edges of a set, by verdict, with lines for a look."""

    right: int = 0
    wrong: list[str] = []
    unknown: int = 0  # nothing is said of the name
    found: int = 0
    missed: list[str] = []
    made_right: int = 0
    made_wrong: list[str] = []


def fetched(place: Path, name: str) -> Path:
    """The directory of a set, downloaded and indexed by rust-analyzer if it is not there."""
    root = place / name
    if not (root / "Cargo.toml").exists():
        vendored = _vendored(place / f"{name}.wanted", SETS[name])
        for at, crate in enumerate(SETS[name]):
            target = root if at == 0 else root / "crates" / crate.rpartition("-")[0]
            shutil.copytree(vendored / crate, target, ignore=LEFT_OUT, dirs_exist_ok=True)
        _join(root, [crate.rpartition("-")[0] for crate in SETS[name][1:]])
    index = place / f"{name}.scip"
    if not index.exists():
        settings = place / "features.json"
        settings.write_text(json.dumps({"cargo": {"features": "all"}}))
        command = ["rust-analyzer", "scip", ".", "--config-path", str(settings)]
        subprocess.run([*command, "--output", str(index)], cwd=root, check=True, capture_output=True)
    return root


def _vendored(folder: Path, crates: tuple[str, ...]) -> Path:
    """Where cargo puts crates and all that they need, each in a folder by name and version. Nothing is built."""
    (folder / "src").mkdir(parents=True, exist_ok=True)
    (folder / "src/lib.rs").touch()
    wanted = "\n".join(f'{own} = "={version}"' for own, _, version in (each.rpartition("-") for each in crates))
    about = '[package]\nname = "wanted"\nversion = "0.0.0"\nedition = "2021"\n\n[workspace]\n\n[dependencies]\n'
    (folder / "Cargo.toml").write_text(f"{about}{wanted}\n")
    command = ("cargo", "vendor", "--quiet", "--versioned-dirs")
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return folder / "vendor"


def _join(root: Path, others: list[str]) -> None:
    """Makes a workspace of what was published crate by crate."""
    if others:
        members = ", ".join(f'"crates/{each}"' for each in others)
        patches = "\n".join(f'{each} = {{ path = "crates/{each}" }}' for each in others)
        with (root / "Cargo.toml").open("a") as manifest:
            manifest.write(f"\n[workspace]\nmembers = [{members}]\n\n[patch.crates-io]\n{patches}\n")
    elif "[workspace]" not in (root / "Cargo.toml").read_text():
        with (root / "Cargo.toml").open("a") as manifest:
            manifest.write("\n[workspace]\n")


class Truth:
    """What rust-analyzer says, in terms of weft's definitions."""

    def __init__(self, tree: Tree, index: Path) -> None:
        self._tree = tree
        self._lines = {path: (tree.root / path).read_text(encoding="utf-8").split("\n") for path in tree.paths}
        self._uses = {path: _use_lines(tree.root / path) for path in tree.paths}
        self.defined: dict[str, list[tuple[str, int]]] = defaultdict(list)
        self.functions: dict[Edge, int] = {}
        self.said: dict[tuple[str, int], set[str]] = defaultdict(set)  # names by definition around them
        self.types: dict[tuple[str, int], set[tuple[str, int]]] = defaultdict(set)
        self.missing: list[str] = []  # functions that weft does not know
        every = [each for each in occurrences(index) if each.path in self._lines and "local " not in each.symbol[:6]]
        for each in every:
            if each.defined:
                self._define(each)
        for each in every:
            if not each.defined:
                self._refer(each)

    def _define(self, each: Occurrence) -> None:
        name = self._text(each)
        place = self.around(each.path, each.line)
        facts = self._tree.facts(each.path)
        if facts is None or place == FILE or facts.definitions[place].name != name:
            if each.symbol.endswith("().") and place == FILE:
                self.missing.append(f"{each.path}:{each.line + 1} {name}")
            return
        self.defined[each.symbol].append((each.path, place))

    def _text(self, each: Occurrence) -> str:
        return self._lines[each.path][each.line].encode()[each.start : each.end].decode(errors="replace")

    def around(self, path: str, line: int) -> int:
        """The innermost definition around a line (from 0)."""
        facts = self._tree.facts(path)
        best = FILE
        for place, each in enumerate(facts.definitions if facts is not None else ()):
            if each.line <= line + 1 <= each.end_line:
                best = place
        return best

    def _refer(self, each: Occurrence) -> None:
        line = self._lines[each.path][each.line]
        if line.lstrip().startswith("//") or each.line in self._uses[each.path]:
            return
        owner = (each.path, self.around(each.path, each.line))
        self.said[owner].add(self._text(each).removeprefix("r#"))
        head = each.symbol
        if head.endswith("#"):
            self.types[owner].update(self.defined.get(head, ()))
            parent = head[:-1].rpartition("#")[0]
            self.types[owner].update(self.defined.get(f"{parent}#", ()))
        if "impl#[" in head and head.endswith("]"):  # `Self`
            module, _, name = head.rpartition("impl#[")
            self.types[owner].update(
                self.defined.get(f"{module}{name.partition(']')[0].strip('`').partition('<')[0]}#", ())
            )
        for to in self.defined.get(head, ()) if head.endswith(("().", "!")) else ():
            self.functions.setdefault((*owner, *to), each.line + 1)


def _use_lines(path: Path) -> set[int]:
    language = language_of(path.name)
    assert language is not None
    root = ParsedSource(language, path.read_text(encoding="utf-8")).root
    lines: set[int] = set()
    waiting = [root] if root is not None else []
    while waiting:
        node = waiting.pop()
        if node.type == "use_declaration":
            lines.update(range(node.start_point[0], node.end_point[0] + 1))
        else:
            waiting.extend(node.named_children)
    return lines


def judged(tree: Tree, truth: Truth) -> Judged:
    """Our edges against the truth's."""
    result = Judged(wrong=[], missed=[], made_wrong=[])
    places = {
        path: {each.key: at for at, each in enumerate(facts.definitions)}
        for path in tree.paths
        if (facts := tree.facts(path)) is not None
    }
    ours: set[Edge] = set()
    same = _alternatives(tree, truth)
    for path in tree.paths:
        facts = tree.facts(path)
        assert facts is not None
        if facts.language != "rust":
            continue
        for link in tree.links(path).links:
            if link.relation != "CALLS":
                continue
            owner = (path, places[path][link.key] if link.key else FILE)
            to = (link.target.path, places[link.target.path][link.target.key])
            _judge(result, truth, tree, owner, to, link.line, ours, same)
    for edge, line in truth.functions.items():
        if edge in ours:
            result.found += 1
        else:
            result.missed.append(f"{edge[0]}:{line} → {_named(tree, (edge[2], edge[3]))}")
    return result


def _alternatives(tree: Tree, truth: Truth) -> dict[tuple[str, int], list[tuple[str, int]]]:
    """Definitions that are one for rust-analyzer, or of which each build has one: same file, key and trait."""
    same: dict[tuple[str, int], list[tuple[str, int]]] = defaultdict(list)
    groups: list[list[tuple[str, int]]] = list(truth.defined.values())
    for path in tree.paths:
        facts = tree.facts(path)
        by_name: dict[Any, list[tuple[str, int]]] = defaultdict(list)
        for at, each in enumerate(facts.definitions if facts is not None else ()):
            by_name[each.key.partition("~")[0], each.interfaces].append((path, at))
        groups += by_name.values()
    for group in groups:
        for to in group:
            same[to] += group
    return same


def _judge(
    result: Judged,
    truth: Truth,
    tree: Tree,
    owner: tuple[str, int],
    to: tuple[str, int],
    line: int,
    ours: set[Edge],
    same: dict[tuple[str, int], list[tuple[str, int]]],
) -> None:
    facts = tree.facts(to[0])
    assert facts is not None
    definition = facts.definitions[to[1]]
    text = f"{owner[0]}:{line} → {_named(tree, to)}"
    if definition.sort in CLASS_SORTS:
        if to in truth.types[owner]:
            result.made_right += 1
        elif definition.name in truth.said[owner] or "Self" in truth.said[owner]:
            result.made_wrong.append(text)
        else:
            result.unknown += 1
        return
    for each in same.get(to, [to]):  # one symbol with several definitions (for platforms) counts as one
        ours.add((*owner, *each))
    if any((*owner, *each) in truth.functions for each in same.get(to, [to])):
        result.right += 1
    elif definition.name in truth.said[owner]:
        result.wrong.append(text)
    else:
        result.unknown += 1


def _named(tree: Tree, to: tuple[str, int]) -> str:
    facts = tree.facts(to[0])
    assert facts is not None
    return f"{to[0]}::{facts.definitions[to[1]].key}"


def reading_ratio(root: Path, paths: tuple[str, ...]) -> float:
    """Reading files whole against parsing them and running the query, both in this run."""
    from tree_sitter import Query, QueryCursor

    texts = [(path, (root / path).read_text(encoding="utf-8")) for path in paths if path.endswith(".rs")]
    language = language_of("a.rs")
    assert language is not None
    query: Query = grammar_of(language)[1]
    bare = whole = 1e9
    for _ in range(READ_ROUNDS):
        begun = time.perf_counter()
        for _, text in texts:
            parsed = ParsedSource(language, text)
            if parsed.root is not None:
                QueryCursor(query).matches(parsed.root)
        bare, begun = min(bare, time.perf_counter() - begun), time.perf_counter()
        for path, text in texts:
            read_source(text, path)
        whole = min(whole, time.perf_counter() - begun)
    return whole / bare


def measured(place: Path, name: str, show: int) -> dict[str, Any]:
    """One set, as a row."""
    root = fetched(place, name)
    tree = Tree(root)
    truth = Truth(tree, place / f"{name}.scip")
    result = judged(tree, truth)
    for title, rows in (("wrong", result.wrong), ("made wrong", result.made_wrong), ("missed", result.missed)):
        for text in random.Random(7).sample(rows, min(show, len(rows))):
            print(f"  {title}: {text}")
    judged_edges = result.right + len(result.wrong)
    made = result.made_right + len(result.made_wrong)
    return {
        "set": name,
        "crates": SETS[name],
        "looked_at": name in LOOKED_AT,
        "files": len(tree.paths),
        "edges_judged": judged_edges,
        "precision": round(100 * result.right / max(judged_edges, 1), 1),
        "true_edges": result.found + len(result.missed),
        "recall": round(100 * result.found / max(result.found + len(result.missed), 1), 1),
        "constructions_judged": made,
        "construction_precision": round(100 * result.made_right / max(made, 1), 1),
        "nothing_said": result.unknown,
        "functions_unknown_to_weft": len(truth.missing),
        "read_over_parse_and_query": round(reading_ratio(root, tuple(tree.paths)), 2),
    }


def main() -> None:
    """Measures the sets, prints a table; saves a dated file if it was all of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", help=", ".join(SETS))
    parser.add_argument("--place", type=Path, default=Path("/tmp/rust-oracle"))
    parser.add_argument("--show", type=int, default=0, help="so many edges of each verdict, taken at random")
    given = parser.parse_args()
    rows = [measured(given.place, name, given.show) for name in given.sets or SETS]
    print(f"{'set':14}{'files':>6}{'judged':>8}{'precision':>11}{'true':>8}{'recall':>8}{'made':>8}{'read/parse':>12}")
    for row in rows:
        print(
            f"{row['set']:14}{row['files']:>6}{row['edges_judged']:>8}{row['precision']:>10}%{row['true_edges']:>8}"
            f"{row['recall']:>7}%{row['construction_precision']:>7}%{row['read_over_parse_and_query']:>12}"
        )
    if not given.sets:
        save("code-rust-oracle", {"goals": {"precision": GOAL_PRECISION, "recall": GOAL_RECALL}, "sets": rows})


if __name__ == "__main__":
    main()
