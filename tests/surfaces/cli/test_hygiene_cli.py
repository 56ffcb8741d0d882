"""Hygiene from the command line: the command that each finding gives does mend it, and says how to take it back."""

from __future__ import annotations

import json
import shlex

from tests.surfaces.conftest import Cli


def commands(printed: str, begin: str) -> list[list[str]]:
    """The commands of a printed answer that begin like this, as a shell would read them."""
    lines = (line.strip().removeprefix("undo: ").removeprefix("fix: ") for line in printed.splitlines())
    return [shlex.split(line)[1:] for line in lines if line.startswith(begin)]


def test_a_finding_is_mended_by_the_command_it_gives_and_undone_by_the_one_after(cli: Cli) -> None:
    words = "the ramp is lowered only when the harbour master has shown the green lamp"
    cli("remember", words)
    cli("remember", f"{words.capitalize()}.")
    cli("add-entity", "Ida", "--kind", "Person")
    shown = cli("run-hygiene")
    assert shown.exit_code == 0, shown.output
    assert "two of kind Memory say the same" in shown.stdout
    assert f"> {words}" in shown.stdout
    (merge,) = commands(shown.stdout, "weft hygiene apply merge")
    done = cli(*merge)
    assert done.exit_code == 0, done.output
    assert "1 of 1 finding mended" in done.stdout
    assert "say the same" not in cli("run-hygiene").stdout
    (undo,) = commands(done.stdout, "weft hygiene apply undo")
    assert "1 of 1 finding mended" in cli(*undo).stdout
    assert commands(cli("run-hygiene").stdout, "weft hygiene apply merge") == [merge]
    stale = cli("hygiene-apply", "merge", "--ids", "duplicate/a/b/00000000", "--ids", merge[-1])
    assert "0 of 2" in stale.stdout or "1 of 2" in stale.stdout
    assert "stale" in stale.stdout


def test_hygiene_as_json_and_when_it_was_done(cli: Cli) -> None:
    cli("remember", "the deck was painted")
    assert "Hygiene is due" in cli("project-context").stdout
    report = json.loads(cli("run-hygiene", "--json").stdout)
    assert report["status"] == "succeeded"
    assert [each["check"] for each in report["checks"]] == ["duplicate", "decision", "pattern", "entity", "write"]
    assert "Hygiene is due" not in cli("project-context").stdout
    assert cli("run-hygiene", "atlantis").exit_code == 1


def test_a_task_is_routed(cli: Cli) -> None:
    shown = cli("analysis-route", "Compare the two vendors")
    assert shown.stdout.startswith("Go about it by weighing both sides (debate).")
    assert "1. list the options" in shown.stdout
