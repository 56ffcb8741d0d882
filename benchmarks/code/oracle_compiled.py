"""Links of Go and Java packages against their own compilers: go/types (oracle_go) and javac (oracle_java).

Both programs print every call and construction, import, extension and implementation inside a package, from definition
to definition as weft keeps them: what stands inside a function belongs to it, a construction leads to the type. An edge
counts once. Of several Java methods by one name, only the very one that is called counts. Sources come from the module
proxy of Go and from Maven Central.

    python -m benchmarks.code.oracle_compiled --place DIR [--show 20] [--save] [--speed] [SET …]

Readers and resolvers were made with an eye on those sets that are marked `tuned`; of the others, only the figures were
looked at. `--speed` compares reading a package with parsing it and running the query, and nothing else.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import time
import zipfile
from collections import defaultdict
from pathlib import Path
from typing import Any

from msgspec import Struct

from benchmarks.latency.measure import save
from weft.code.parse.definitions import find
from weft.code.parse.parse import ParsedSource
from weft.code.parse.symbols import read_source
from weft.code.resolve.tree import Tree
from weft.files.languages import language_of

HERE = Path(__file__).parent
GOAL_PRECISION, GOAL_RECALL = 0.95, 0.80
JUDGED = ("CALLS", "IMPORTS")
RELATIONS = ("CALLS", "IMPORTS", "DEPENDS_ON", "EXTENDS", "IMPLEMENTS")
ROUNDS = 5
MAVEN = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:get"

Edge = tuple[str, str]


class Package(Struct, frozen=True, kw_only=True):
    """A package: `source` as the language's tool names it; `needs`, other artifacts that javac must see."""

    language: str
    source: str
    tuned: bool = False
    needs: tuple[str, ...] = ()


ANNOTATIONS = (
    "com.google.errorprone:error_prone_annotations:2.28.0",
    "com.google.code.findbugs:jsr305:3.0.2",
    "com.google.guava:failureaccess:1.0.2",
    "com.google.j2objc:j2objc-annotations:3.0.0",
    "org.checkerframework:checker-qual:3.43.0",
    "org.jspecify:jspecify:1.0.0",
)
SETS: dict[str, Package] = {
    "cobra": Package(language="go", source="github.com/spf13/cobra@v1.8.1", tuned=True),
    "zerolog": Package(language="go", source="github.com/rs/zerolog@v1.33.0", tuned=True),
    "chi": Package(language="go", source="github.com/go-chi/chi/v5@v5.1.0", tuned=True),
    "gin": Package(language="go", source="github.com/gin-gonic/gin@v1.10.0", tuned=True),
    "raft": Package(language="go", source="github.com/hashicorp/raft@v1.7.1", tuned=True),
    "client_golang": Package(language="go", source="github.com/prometheus/client_golang@v1.20.5"),
    "viper": Package(language="go", source="github.com/spf13/viper@v1.19.0"),
    "lo": Package(language="go", source="github.com/samber/lo@v1.47.0"),
    "tools": Package(language="go", source="golang.org/x/tools@v0.52.0", tuned=True),
    "gson": Package(language="java", source="com.google.code.gson:gson:2.11.0", tuned=True, needs=ANNOTATIONS),
    "commons-lang3": Package(language="java", source="org.apache.commons:commons-lang3:3.17.0", tuned=True),
    "jsoup": Package(language="java", source="org.jsoup:jsoup:1.18.1", tuned=True, needs=ANNOTATIONS),
    "commons-text": Package(
        language="java",
        source="org.apache.commons:commons-text:1.12.0",
        needs=("org.apache.commons:commons-lang3:3.14.0",),
    ),
    "guava": Package(language="java", source="com.google.guava:guava:33.3.1-jre", needs=ANNOTATIONS),
}


def run(command: list[str], directory: Path, environment: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        command, cwd=directory, env={**os.environ, **(environment or {})}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(command)[:200]}: {done.stderr[-2000:]}")
    return done.stdout


class Background:
    """Where sources, tools and what the compilers say are kept."""

    def __init__(self, place: Path) -> None:
        self.place = place
        place.mkdir(parents=True, exist_ok=True)
        self.go = {"GOPATH": str(place / "go"), "GOCACHE": str(place / "gocache"), "GOFLAGS": "-mod=mod"}

    def sources(self, name: str, package: Package) -> Path:
        """The directory of a package's sources, downloaded if it is not there."""
        root = self.place / "sources" / name
        if not root.exists():
            root.parent.mkdir(exist_ok=True)
            making = root.with_suffix(".part")
            shutil.rmtree(making, ignore_errors=True)
            (self._go_sources if package.language == "go" else self._java_sources)(package, making)
            making.rename(root)
        return root

    def _go_sources(self, package: Package, making: Path) -> None:
        told = run(["go", "mod", "download", "-json", package.source], self.place, self.go)
        shutil.copytree(json.loads(told)["Dir"], making)
        for each in (making, *making.rglob("*")):
            each.chmod(0o755 if each.is_dir() else 0o644)
        run(["go", "mod", "download"], making, self.go)

    def _java_sources(self, package: Package, making: Path) -> None:
        with zipfile.ZipFile(self._artifact(package.source, "sources")) as held:
            held.extractall(making)

    def _artifact(self, name: str, classifier: str = "") -> Path:
        group, artifact, version = name.split(":")
        ending = f"-{classifier}" if classifier else ""
        local = self.place / "maven"
        found = local / group.replace(".", "/") / artifact / version / f"{artifact}-{version}{ending}.jar"
        if not found.exists():
            wanted = f"-Dartifact={name}:jar{':' + classifier if classifier else ''}"
            run(["mvn", "-q", f"-Dmaven.repo.local={local}", MAVEN, wanted, "-Dtransitive=false"], self.place)
        return found

    def told(self, name: str, package: Package) -> list[dict[str, str]]:
        """What the compiler says of a package; kept for the next time."""
        kept = self.place / f"{name}.jsonl"
        if not kept.exists():
            root = self.sources(name, package)
            if package.language == "go":
                program = self.place / "oracle_go"
                run(["go", "build", "-o", str(program), "."], HERE / "oracle_go", self.go)
                said = run([str(program), str(root)], root, self.go)
            else:
                path = os.pathsep.join(str(self._artifact(each)) for each in package.needs)
                said = run(["java", str(HERE / "oracle_java" / "Oracle.java"), str(root), path], self.place)
            kept.write_text(said, encoding="utf-8")
        return [json.loads(line) for line in kept.read_text(encoding="utf-8").splitlines()]


def compare(root: Path, told: list[dict[str, str]], show: int) -> dict[str, Any]:
    """Precision and recall by relation, over the files that the compiler read and weft can read."""
    tree = Tree(root)
    both = {each["src"] for each in told if each["rel"] == "READS"} & set(tree.paths)
    truth: dict[str, set[Edge]] = defaultdict(set)
    for each in told:
        if each["src"].partition("::")[0] in both and each["dst"].partition("::")[0] in both:
            truth[each["rel"]].add((each["src"], each["dst"]))
    ours: dict[str, set[Edge]] = defaultdict(set)
    unresolved = outside = 0
    for path in sorted(both):
        links = tree.links(path)
        unresolved += len(links.unresolved)
        outside += links.outside
        for link in links.links:
            if link.target.path in both:
                target = f"{link.target.path}::{link.target.key}" if link.target.key else link.target.path
                ours[link.relation].add((f"{path}::{link.key}" if link.key else path, target))
    result: dict[str, Any] = {"files": len(both), "unresolved": unresolved, "outside": outside}
    for relation in RELATIONS:
        mine, theirs = ours[relation], truth[relation]
        if relation == "DEPENDS_ON" and not theirs:
            continue  # javac is not asked
        right = len(mine & theirs)
        result[relation] = {
            "ours": len(mine),
            "theirs": len(theirs),
            "precision": round(right / len(mine), 4) if mine else None,
            "recall": round(right / len(theirs), 4) if theirs else None,
        }
        for word, edges in (("wrong ", mine - theirs), ("missed", theirs - mine)):
            for src, dst in sorted(edges)[:show]:
                print(f"  {relation} {word} {src} -> {dst}")
    return result


def speed(root: Path) -> dict[str, float]:
    """Reading a package against parsing it and running its query, in processor time; the best of several turns."""
    texts = []
    for path in sorted(root.rglob("*")):
        language = language_of(path.name)
        if path.is_file() and language is not None and path.stat().st_size < 500_000:
            texts.append((language, path.name, path.read_text(encoding="utf-8", errors="replace")))
    bare, whole = [], []
    for _ in range(ROUNDS):
        began = time.process_time()
        for language, _, text in texts:
            find(ParsedSource(language, text))
        between = time.process_time()
        for _, name, text in texts:
            read_source(text, name)
        bare.append(between - began)
        whole.append(time.process_time() - between)
    size = sum(len(text) for _, _, text in texts) / 1e6
    return {
        "megabytes": round(size, 2),
        "bare_s": round(min(bare), 3),
        "read_s": round(min(whole), 3),
        "read_to_bare": round(min(whole) / min(bare), 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", metavar="SET", help=f"of {', '.join(SETS)}; all without any")
    parser.add_argument("--place", type=Path, required=True, help="where downloads and answers are kept")
    parser.add_argument("--show", type=int, default=0, help="how many differences of each sort are printed")
    parser.add_argument("--save", action="store_true", help="write benchmarks/results")
    parser.add_argument("--speed", action="store_true")
    asked = parser.parse_args()
    if unknown := set(asked.sets) - set(SETS):
        parser.error(f"no such set: {', '.join(sorted(unknown))}; there are {', '.join(SETS)}")
    background = Background(asked.place.resolve())
    print(f"{'set':14} {'':5} {'relation':11} {'ours':>6} {'theirs':>6} {'precision':>9} {'recall':>7}")
    results: dict[str, Any] = {}
    for name in asked.sets or SETS:
        package = SETS[name]
        root = background.sources(name, package)
        result = compare(root, background.told(name, package), asked.show)
        for relation in RELATIONS:
            row = result.get(relation, {"ours": 0, "theirs": 0})
            if row["theirs"] or row["ours"]:
                figures = f"{row['precision'] or 0:9.3f} {row['recall'] or 0:7.3f}"
                mark = "tuned" if package.tuned else ""
                missed = relation in JUDGED and (
                    (row["precision"] or 0) < GOAL_PRECISION or (row["recall"] or 0) < GOAL_RECALL
                )
                short = " short of the goal" if missed else ""
                print(f"{name:14} {mark:5} {relation:11} {row['ours']:6} {row['theirs']:6} {figures}{short}")
        if asked.speed:
            result["speed"] = speed(root)
            print(f"{name:14} reading takes {result['speed']['read_to_bare']} times parsing and querying")
        results[name] = {"source": package.source, "tuned": package.tuned, **result}
    if asked.save:
        goals = {"precision": GOAL_PRECISION, "recall": GOAL_RECALL}
        print(save("code-oracle-go-java", {"goals": goals, "sets": results}))


if __name__ == "__main__":
    main()
