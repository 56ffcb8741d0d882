"""What a person reads of everyday answers: who spoke, when, how much, and of which project."""

from __future__ import annotations

import json
import os
import re

from tests.surfaces.conftest import Cli


def test_recent_says_who_spoke_and_when(cli: Cli) -> None:
    cli("record-turns", "harbour", "--at", "2024-05-01", "--turns", "user: It sails at nine.", "--turns", "Ana: Aye.")
    _, *blocks = cli("recent").stdout.split("\n\n")
    told = [re.sub(r" · weft://\S+", "", block).strip() for block in blocks]
    assert "[Message] · 2024-05-01 00:00\n> Ana: Aye." in told
    assert "[Message, user] · 2024-05-01 00:00\n> It sails at nine." in told
    assert any(each.startswith("[Session] ") and "2024-05-01 00:00" in each for each in told)
    assert "[Message, user]" in cli("recall", "sails at nine").stdout


def test_show_tells_facts_with_their_values_and_other_projects(cli: Cli) -> None:
    cli("add-fact", "Ana", "lives_in", "Oslo")
    other = cli.scratch / "other"
    other.mkdir()
    os.chdir(other)
    cli("add-fact", "Ana", "likes", "tea")
    os.chdir(cli.root)
    own, foreign = [line for line in cli("show", "Ana").stdout.splitlines() if "INVOLVES" in line]
    assert "[Fact] Ana lives in Oslo" in own
    assert "project" not in own
    assert "[Fact] Ana likes tea" in foreign
    assert foreign.endswith("project other")


def test_show_tells_the_versions_of_what_changed(cli: Cli) -> None:
    saved = json.loads(cli("remember", "The ferry sails at nine.", "--json").stdout)
    assert "another version:" not in cli("show", saved["id"]).stdout
    assert cli("memory-edit", saved["id"], "--text", "The ferry sails at ten.").exit_code == 0
    shown = cli("show", saved["id"]).stdout
    assert "another version:" in shown
    assert "The ferry sails at nine." in shown


def test_sizes_counts_and_what_is_not_set(cli: Cli) -> None:
    cli("remember", "The ferry sails at nine.")
    first, *_ = cli("stats").stdout.splitlines()
    assert first.startswith("1 event in 1 session, ")
    assert first.endswith(" MB.")
    assert not first.endswith(" 0.0 MB.")
    assert "focus: (none) · default" in cli("config").stdout.splitlines()
    assert "report" in cli("report", "list").stdout
    assert "in 1 node of project ferry" in cli("hygiene").stdout


def test_diff_tells_the_words(cli: Cli) -> None:
    cli("remember", "The ferry sails at nine.")
    assert "The ferry sails at nine." in cli("diff").stdout


def test_a_group_that_needs_a_command_says_which(cli: Cli) -> None:
    done = cli("report", "--json")
    assert done.exit_code == 2
    told = json.loads(done.stdout)
    assert told["error"] == "missing command: write, read-latest, list"
    assert told["hint"].startswith("the usage is `weft report ")
