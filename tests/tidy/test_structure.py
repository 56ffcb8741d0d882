"""The structure of the source, read from its syntax trees and imports. Every limit only goes down."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
SOURCE = REPOSITORY / "src" / "weft"

MAX_PARAMETERS = 5
MAX_FUNCTIONS_WITH_MORE = 85  # ports, backends (which repeat the ports) and resolvers mostly
MAX_SMALL_MODULES_OF_ONE = 13  # modules under SMALL lines that one module of the same folder imports
SMALL = 80
MAX_SHARED_FILE_NAMES = 59  # one name in several folders: resolvers and readers of languages, both backends

# Words that make a stranger read a sentence twice.
UNPLAIN = re.compile(r"\b(tells?|told|stood|so many|whence|anew|what holds|at hand|thus|of which)\b", re.IGNORECASE)


@cache
def modules() -> dict[str, tuple[Path, ast.Module]]:
    """Every module by its dotted name."""
    found = {}
    for file in sorted(SOURCE.rglob("*.py")):
        parts = file.relative_to(SOURCE.parent).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = file, ast.parse(file.read_text(encoding="utf-8"))
    return found


def imported(statements: Iterator[ast.AST]) -> Iterator[str]:
    """The modules of weft that these import statements load, parents left out."""
    for each in statements:
        if isinstance(each, ast.ImportFrom) and each.module:
            for alias in each.names:
                inner = f"{each.module}.{alias.name}"
                yield inner if inner in modules() else each.module
        elif isinstance(each, ast.Import):
            yield from (alias.name for alias in each.names)


def loaded_first(tree: ast.AST) -> Iterator[ast.AST]:
    """The statements that run when a module is loaded: neither bodies of functions nor imports for types alone."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
            continue
        yield child
        yield from loaded_first(child)


def test_no_module_imports_itself_in_a_circle() -> None:
    graph = {
        name: {each for each in imported(loaded_first(tree)) if each in modules() and each != name}
        for name, (_, tree) in modules().items()
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as problem:
        pytest.fail(f"import cycle: {problem.args[1]}")


def test_functions_take_few_parameters() -> None:
    wide = [
        f"{name}.{node.name}"
        for name, (_, tree) in modules().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and len(parameters(node)) > MAX_PARAMETERS
    ]
    assert len(wide) <= MAX_FUNCTIONS_WITH_MORE, "group parameters into a type"


def parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    names = [each.arg for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
    return names[1:] if names[:1] in (["self"], ["cls"]) else names


def test_small_modules_serve_more_than_one() -> None:
    importers: dict[str, set[str]] = {}
    for name, (_, tree) in modules().items():
        for each in imported(ast.walk(tree)):
            importers.setdefault(each, set()).add(name)
    alone = [
        name
        for name, (file, _) in modules().items()
        if file.name != "__init__.py"
        and len(file.read_text(encoding="utf-8").splitlines()) < SMALL
        and len(importers.get(name, ())) == 1
        and next(iter(importers[name])).rpartition(".")[0] == name.rpartition(".")[0]
    ]
    assert len(alone) <= MAX_SMALL_MODULES_OF_ONE, f"join one with its importer: {alone}"


def test_file_names_are_seldom_shared() -> None:
    names = Counter(file.name for file, _ in modules().values() if file.name != "__init__.py")
    assert sum(count > 1 for count in names.values()) <= MAX_SHARED_FILE_NAMES


@pytest.mark.parametrize("page", ["commands.md", "operations.md", "settings.md"])
def test_help_is_in_plain_words(page: str) -> None:
    text = (REPOSITORY / "docs" / "reference" / page).read_text(encoding="utf-8")
    assert [match.group() for match in UNPLAIN.finditer(text)] == []
