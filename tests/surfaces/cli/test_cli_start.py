"""What a command loads before it does anything: help and completion have to be quick, so they load next to nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.surfaces.conftest import Cli
from weft.operations import MODULES, OPERATIONS, operation
from weft.runtime.operation_index import Listed, command_words, read_index
from weft.surfaces.cli.commands import every_operation
from weft.surfaces.render import RENDERERS, renderer

HELP = "from weft.surfaces.cli.main import main; main({!r})"


def loaded(cli: Cli, statement: str, **environment: str) -> set[str]:
    """The modules in memory after a statement, in a fresh process."""
    code = f"import sys\ntry:\n    {statement}\nexcept SystemExit:\n    pass\nprint(*sys.modules, file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=cli.root,
        env=cli.environment() | environment,
    )
    return set(done.stderr.splitlines()[-1].split())


def verbs(modules: set[str]) -> set[str]:
    """The modules of operations among them."""
    return {each for each in MODULES if f"weft.{each}" in modules}


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["log", "--help"], ["completion", "bash"], ["recal"]])
def test_what_runs_no_operation_loads_none(cli: Cli, arguments: list[str]) -> None:
    modules = loaded(cli, HELP.format(arguments))
    if arguments != ["recal"]:  # only there could a newer operation than the index hide
        assert verbs(modules) == set()
    heavy = ("weft.memory.facade", "weft.retrieval", "weft.text.extract", "numpy", "mcp", "rich")
    assert arguments == ["recal"] or not any(each.startswith(heavy) for each in modules)


def test_names_are_completed_without_any_operation(cli: Cli) -> None:
    asked = {"_WEFT_COMPLETE": "bash_complete", "COMP_WORDS": "weft re", "COMP_CWORD": "1"}
    modules = loaded(cli, HELP.format([]), **asked)
    assert verbs(modules) == set()
    assert "msgspec" not in modules


def test_a_command_loads_its_own_operation_and_what_that_is_made_of(cli: Cli) -> None:
    cli("remember", "words")
    for arguments in (["recall", "--help"], ["recall", "words"]):
        modules = loaded(cli, HELP.format(arguments))
        assert verbs(modules) == {"recall.recall"}
        assert not any(each.startswith("weft.text.extract.statements.facts") for each in modules), (
            "only writing reads words out"
        )
    assert verbs(loaded(cli, HELP.format(["tool-calls"]))) == {"access.audit"}


def test_the_package_is_imported_for_nothing(cli: Cli) -> None:
    assert {each for each in loaded(cli, "import weft") if each.startswith("weft.")} == {"weft.version"}
    assert "weft.memory.facade" in loaded(cli, "import weft; weft.open")
    assert "weft.memory.facade" not in loaded(cli, "import weft; weft.errors.Conflict; weft.NotFound")


def test_help_is_quick(cli: Cli) -> None:
    """In processor time, which others on the machine do not lengthen."""
    began = os.times()
    assert cli.real("--help").code == 0
    ended = os.times()
    assert ended.children_user + ended.children_system - began.children_user - began.children_system < 1.0


def test_the_index_says_what_the_registry_says() -> None:
    found = read_index()
    assert list(found) == [each.name for each in every_operation()], "run `make reference`"
    for each in every_operation():
        line = found[each.name]
        assert (line.effect, line.toolset, line.reach, line.arguments, line.summary) == (
            each.effect,
            each.toolset,
            each.reach,
            each.arguments,
            each.summary,
        ), "run `make reference`"
        assert each.command.split()[1:] == list(command_words(each.name))
        assert isinstance(line, Listed)


def test_an_operation_by_its_name() -> None:
    for each in OPERATIONS:
        assert operation(each.name) is each
    with pytest.raises(KeyError):
        operation("sweep_the_floor")


def test_every_answer_can_be_shown() -> None:
    outputs = {each.output.__name__ for each in every_operation()}
    assert set(RENDERERS) == outputs | {"ToolsFound"}
    for name in outputs:
        assert callable(renderer(name))


def test_json_of_the_index_is_one_operation_a_line() -> None:
    from weft.runtime.operation_index import INDEX

    lines = INDEX.read_text(encoding="utf-8").splitlines()
    assert len(lines) == len(json.loads("\n".join(lines))) + 2
