"""Work from the command line and over MCP's arguments: a task, what it made, and what a conversation's actions made."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.surfaces.conftest import Cli
from weft.operations import OPERATIONS
from weft.runtime.settings.load import load_settings
from weft.surfaces.arguments import read_arguments
from weft.surfaces.mcp.tools import input_schema


def answer(cli: Cli, *arguments: str) -> Any:
    done = cli(*arguments, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_a_task_its_states_and_what_it_made_are_printed(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    answer(cli, "record-turns", "c1", "--turns", "user: open the gate")
    monkeypatch.setenv("WEFT_CONVERSATION", "c1")
    task = answer(cli, "work-create", "gate-opening", "Open the gate", "--inputs", "gate=north")["id"]
    cli("add-entity", "Odile", "--kind", "Person", "--produced-by-task-id", "Open the gate")
    cli("work-update", task, "--status", "running", "--note", "half way")
    done = cli("work-complete", task, "--result", "It is open.")
    assert done.exit_code == 0, done.output
    shown = cli("work-show", task).stdout
    for words in ("succeeded Open the gate", '{"gate":"north"}', "half way", "It is open.", "[Person] Odile"):
        assert words in shown
    assert "succeeded Open the gate" in cli("work-list", "--status", "succeeded").stdout
    assert "there are no such tasks" in cli("work-list", "--status", "blocked").stdout
    made = cli("work-made").stdout
    assert "[Person] Odile" in made
    assert "raised in" in made
    assert "made by:\n  [Task] Open the gate (succeeded)" in cli("show", "Odile").stdout
    again = cli("work-complete", task)
    assert again.exit_code == 1
    assert "cannot be completed again" in again.stderr


@pytest.mark.parametrize("name", ["remember", "add_entity", "add_entities", "record_turns", "ingest", "tag", "correct"])
def test_every_write_takes_a_task_and_no_tool_list_is_longer_for_it(name: str, tmp_path: Path) -> None:
    operation = next(each for each in OPERATIONS if each.name == name)
    settings = load_settings(tmp_path, {"HOME": str(tmp_path)})
    assert read_arguments(operation, {"producedByTaskId": "t"}, settings) == {"produced_by_task_id": "t"}
    assert "produced_by_task_id" not in input_schema(operation)["properties"]
