"""The house rules that a machine can hold. Limits only go down."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import weft
from weft.core import errors
from weft.retrieval.recipes import DEFAULT
from weft.runtime.settings.declared import SETTINGS
from weft.surfaces.cli.commands import every_operation

COMMANDS = every_operation()
REPOSITORY = Path(__file__).parents[2]
SOURCE = REPOSITORY / "src" / "weft"
FILES = sorted(SOURCE.rglob("*.py"))
REFERENCE = REPOSITORY / "docs" / "reference"

MAX_FILE_LINES = 600  # 300 is usual: a file is as long as its one idea
MAX_FUNCTION_LINES = 70
MAX_FOLDER_FILES = 20
MAX_TOP_LEVEL_NAMES = 29
RIDDLES = ("What ", "Which ", "Where ", "Who ", "How ", "Whether ", "When ")
FORBIDDEN_NAMES = {"utils", "helpers", "common", "base", "manager", "engine"}
HEAVY = ("apsw", "numpy", "rich", "markdown_it", "onnxruntime", "tokenizers", "numba", "mcp", "tree_sitter")


def name_of(file: Path) -> str:
    return str(file.relative_to(SOURCE))


def tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def lines(file: Path) -> int:
    return len(file.read_text(encoding="utf-8").splitlines())


# ---- sizes and names


def test_files_stay_short() -> None:
    too_long = {name_of(file): lines(file) for file in FILES if lines(file) > MAX_FILE_LINES}
    assert too_long == {}, "split the file by what it holds"


def test_folders_can_be_read_at_a_glance() -> None:
    folders = [SOURCE, *(each for each in SOURCE.rglob("*") if each.is_dir() and each.name != "__pycache__")]
    modules = {
        name_of(each): len([file for file in each.glob("*.py") if file.name != "__init__.py"]) for each in folders
    }
    assert {name: count for name, count in modules.items() if count > MAX_FOLDER_FILES} == {}, "make sub-packages"
    assert len([each for each in SOURCE.iterdir() if each.name != "__pycache__"]) <= MAX_TOP_LEVEL_NAMES


def test_a_public_class_name_means_one_class() -> None:
    homes: dict[str, set[str]] = {}
    for file in FILES:
        for node in tree(file).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, set()).add(name_of(file))
    shared = {name: sorted(where) for name, where in homes.items() if len(where) > 1}
    assert shared == {}, "name each class for what it is"


def test_functions_stay_short() -> None:
    too_long = {
        f"{name_of(file)}::{node.name}": node.end_lineno - node.lineno + 1
        for file in FILES
        for node in ast.walk(tree(file))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.end_lineno is not None
        and node.end_lineno - node.lineno + 1 > MAX_FUNCTION_LINES
    }
    assert too_long == {}


def test_modules_are_named_for_what_they_hold() -> None:
    named = {name_of(file) for file in FILES if FORBIDDEN_NAMES & set(file.with_suffix("").parts[-1].split("_"))}
    folders = {name_of(each) for each in SOURCE.rglob("*") if each.is_dir() and each.name in FORBIDDEN_NAMES}
    assert named | folders == set()


def test_every_module_says_what_it_is() -> None:
    """A module's docstring begins with a noun or a verb, not with a question."""
    first = {name_of(file): ast.get_docstring(tree(file)) or "" for file in FILES}
    assert [name for name, words in first.items() if not words or words.startswith(RIDDLES)] == []


# ---- one place for the clock and the environment


def used(file: Path) -> Iterator[str]:
    """Every dotted name a file uses, imports spelt out."""
    for node in ast.walk(tree(file)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield f"{node.value.id}.{node.attr}"
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize(
    ("names", "home"),
    [
        (
            {"datetime.now", "datetime.utcnow", "datetime.today", "date.today", "time.time", "time.time_ns"},
            "core/clock.py",
        ),
        ({"os.environ", "os.getenv", "os.environb"}, "runtime/settings/surroundings.py"),
    ],
    ids=["clock", "environment"],
)
def test_one_file_only(names: set[str], home: str) -> None:
    found = {name_of(file) for file in FILES if names & set(used(file))}
    assert found == {home}


# ---- the public names


def test_public_names_are_sorted_and_there() -> None:
    assert weft.__all__ == sorted(weft.__all__)
    assert [name for name in weft.__all__ if not hasattr(weft, name)] == []


def error_classes() -> list[type[errors.WeftError]]:
    found = inspect.getmembers(errors, inspect.isclass)
    return [each for _, each in found if issubclass(each, errors.WeftError)]


def test_every_error_is_public_drawn_in_the_tree_and_has_a_code_of_its_own() -> None:
    drawn = (errors.__doc__ or "").split()
    for each in error_classes():
        assert each.__name__ in drawn, f"draw {each.__name__} in the docstring of weft.core.errors"
        assert each.__name__ in weft.__all__
        assert each.__doc__
    codes = [each.code for each in error_classes()]
    assert len(codes) == len(set(codes))


def test_the_tree_is_drawn_as_it_is() -> None:
    """A class stands under its parent, one step further in."""
    rows = [line for line in (errors.__doc__ or "").splitlines() if line.split() and line.startswith("    ")]
    path: list[tuple[int, str]] = []
    for row in rows:
        name = next(word for word in row.split() if word[0].isalpha())
        depth = row.index(name)
        while path and path[-1][0] >= depth:
            path.pop()
        found = getattr(errors, name)
        assert found.__base__.__name__ == (path[-1][1] if path else "Exception")
        path.append((depth, name))
    assert len(rows) == len(error_classes())


def test_operations_are_told_apart() -> None:
    names = [operation.name for operation in COMMANDS]
    assert len(names) == len(set(names))
    for operation in COMMANDS:
        assert operation.summary[0].islower(), f"{operation.name}: a summary is a phrase"
        assert not operation.summary.endswith(".")
        assert operation.run.__doc__, f"{operation.name} needs a docstring: it is the long help"
        assert set(operation.arguments) <= set(operation.input.__struct_fields__)


# ---- the reference


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate_reference", REPOSITORY / "docs" / "generate_reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_reference_is_what_the_code_says() -> None:
    for name, text in generator().pages().items():
        kept = (REFERENCE / name).read_text(encoding="utf-8")
        assert kept == text, f"docs/reference/{name} is out of date: run `make reference`"


def test_figures_in_documents_are_those_of_the_results() -> None:
    program = REPOSITORY / "docs" / "generate_benchmarks.py"
    done = subprocess.run([sys.executable, str(program), "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_index_is_what_the_code_says() -> None:
    assert read_index_file() == generator().index(), "the index of operations is out of date: run `make reference`"


def test_the_signatures_of_memory_are_those_of_the_operations() -> None:
    kept = (SOURCE / "memory" / "methods.pyi").read_text(encoding="utf-8")
    assert kept == generator().signatures(), "the signatures of Memory are out of date: run `make reference`"


def read_index_file() -> str:
    return (SOURCE / "runtime" / "operation_index.json").read_text(encoding="utf-8")


def test_the_guide_lists_the_stages_of_the_recipe_in_order() -> None:
    guide = (REPOSITORY / "docs" / "recall.md").read_text(encoding="utf-8")
    rows = guide.split("| stage | what it does |\n|---|---|\n")[1].split("\n\n")[0].splitlines()
    named = [name for row in rows for name in row.split("|")[1].strip().split(", ")]
    assert named == [stage.name for stage in DEFAULT]


def test_commands_that_are_no_operations_are_documented() -> None:
    page = generator().pages()["commands.md"]
    for name in ("mcp", "mcp install", "serve", "completion", "migrate", "help"):
        assert f"\n### weft {name}\n" in page
    assert "| 130 | interrupted |" in page


def test_every_operation_and_setting_is_documented() -> None:
    operations = (REFERENCE / "operations.md").read_text(encoding="utf-8")
    settings = (REFERENCE / "settings.md").read_text(encoding="utf-8")
    assert [operation.name for operation in COMMANDS if f"\n## {operation.name}\n" not in operations] == []
    assert [setting.name for setting in SETTINGS if f"`{setting.variable}`" not in settings] == []
    for operation in COMMANDS:
        section = operations.split(f"\n## {operation.name}\n")[1].split("\n## ")[0]
        missing = [field for field in operation.input.__struct_fields__ if f"| `{field}` |" not in section]
        assert missing == [], operation.name


# ---- a quick start


def loaded_after(statement: str) -> set[str]:
    """The heavy packages in memory after a statement, in a fresh process."""
    code = f"import sys\ntry:\n    {statement}\nexcept SystemExit:\n    pass\nprint(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return {name.split(".")[0] for name in done.stderr.split()} & set(HEAVY)


@pytest.mark.parametrize(
    "statement",
    [
        "import weft",
        "from weft.surfaces.cli.main import main; main(['--help'])",
        "from weft.surfaces.cli.main import main; main(['recall', '--help'])",
    ],
)
def test_help_and_import_wait_for_no_heavy_package(statement: str) -> None:
    assert loaded_after(statement) == set()
