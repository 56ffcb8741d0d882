"""How right the graph of code is, from the results named `code-…`: one row for each package that a judge has read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from quality_tables import table

Result = dict[str, Any]
RESULTS = ("code-python", "code-typescript", "code-oracle-go-java", "code-rust-oracle")
JAVASCRIPT = frozenset({"express", "fastify", "commander", "hapi", "pino", "koa"})
# Measured without ever reading which edges differ; other results say so themselves.
UNSEEN = frozenset({"sqlparse", "click", "mako", "tanstack-query", "redux-toolkit", "redux", "pino", "koa"})
COLUMNS = ("language, judge", "package", "edges of ours", "calls: precision / recall", "imports: precision / recall")


class Row(NamedTuple):
    """A package against a judge, in percent; None where there was nothing to judge."""

    judge: str
    package: str
    unseen: bool
    edges: int
    calls: tuple[float | None, float | None]
    imports: tuple[float | None, float | None] = (None, None)


def judged_table(results: Mapping[str, Result]) -> str:
    """One table of all packages, by language; nothing without results."""
    rows = [row for name in RESULTS if name in results for row in READERS[name](results[name])]
    told: list[tuple[str, ...]] = []
    judge = ""
    for row in rows:
        package = f"{row.package} *" if row.unseen else row.package
        shown = row.judge if row.judge != judge else ""
        told.append((shown, package, f"{row.edges:,}", _pair(row.calls), _pair(row.imports)))
        judge = row.judge
    tables = (table("", COLUMNS, told), _together(results.get("code-python", {})))
    return "\n".join(each.lstrip("\n") for each in tables if each)


def _together(result: Result) -> str:
    """What two judges of Python say together."""
    columns = ("Python, both judges", "calls of ours", "either has", "denied by both", "of what both have, we have")
    rows = [
        (
            package,
            f"{found['jedi']['ours']:,}",
            f"{both['either'] * 100:.1f}",
            both["denied"],
            f"{both['both'] * 100:.1f}",
        )
        for package, found in result.get("packages", {}).items()
        if (both := found.get("together"))
    ]
    return table("", columns, rows)


def _pair(shares: tuple[float | None, float | None]) -> str:
    return " / ".join("–" if each is None else f"{each:.1f}" for each in shares)


def _percent(found: Mapping[str, Any], *, of: float = 100.0) -> tuple[float | None, float | None]:
    precision, recall = found.get("precision"), found.get("recall")
    return (None if precision is None else precision * of, None if recall is None else recall * of)


def _is_unseen(package: str) -> bool:
    return package.partition(" ")[0] in UNSEEN


def _python(result: Result) -> Iterator[Row]:
    """Each judge of calls; the imports, which jedi judges, beside its own."""
    for at, judge in enumerate(("jedi", "pyright")):
        said = next((each for each in result.get("judges", ()) if each.startswith(judge)), judge)
        for package, found in result["packages"].items():
            if judge in found:
                imports = _percent(found["imports"]) if at == 0 else (None, None)
                calls, ours = _percent(found[judge]), found[judge]["ours"]
                yield Row(f"Python, {said}", package, _is_unseen(package), ours, calls, imports)


def _typescript(result: Result) -> Iterator[Row]:
    packages = result["packages"].items()
    for language, own in (("TypeScript", False), ("JavaScript", True)):
        for package, found in packages:
            if (package in JAVASCRIPT) == own:
                calls = found["calls_precision"], found["calls_recall"]
                imports = found["imports_precision"], found["imports_recall"]
                judge = f"{language}, the checker of TypeScript"
                yield Row(judge, package, _is_unseen(package), found["calls_ours"], calls, imports)


def _go_and_java(result: Result) -> Iterator[Row]:
    for package, found in result["sets"].items():
        judge = "Java, javac" if ":" in found["source"] else "Go, go/types"
        calls, imports = _percent(found["CALLS"]), _percent(found["IMPORTS"])
        yield Row(judge, package, not found["tuned"], found["CALLS"]["ours"], calls, imports)


def _rust(result: Result) -> Iterable[Row]:
    for found in result["sets"]:
        calls = _percent(found, of=1.0)
        yield Row("Rust, rust-analyzer", found["set"], not found["looked_at"], found["edges_judged"], calls)


READERS = {
    "code-python": _python,
    "code-typescript": _typescript,
    "code-oracle-go-java": _go_and_java,
    "code-rust-oracle": _rust,
}
