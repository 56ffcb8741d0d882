"""What a person reads of everyday answers: who spoke, when, how much, and of which project."""

from __future__ import annotations

import json
import os
import re
import subprocess

import pytest

from tests.surfaces.conftest import Cli


def test_recent_says_who_spoke_and_when(cli: Cli) -> None:
    cli("record-turns", "harbour", "--at", "2024-05-01", "--turns", "user: It sails at nine.", "--turns", "Ana: Aye.")
    _, *blocks = cli("recent").stdout.split("\n\n")
    told = [re.sub(r" · weft://\S+", "", block).strip() for block in blocks]
    assert "[Message] · 2024-05-01\n> Ana: Aye." in told
    assert "[Message, user] · 2024-05-01\n> It sails at nine." in told
    assert any(each.startswith("[Session] ") and "2024-05-01" in each for each in told)
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


def test_a_citation_of_what_was_corrected_says_by_what_and_why(cli: Cli) -> None:
    first = json.loads(cli("remember", "The ferry sails at nine.", "--json").stdout)
    cli("correct", first["id"], "The ferry sails at ten.", "--reason", "misread the board")
    told = cli("cite", first["citation"]).stdout
    assert told.startswith(f"{first['citation']} said this, which was corrected since.")
    assert "misread the board" in told
    assert "> The ferry sails at ten." in told
    assert "> The ferry sails at nine." in told
    now = json.loads(cli("recall", "when does the ferry sail?", "--json").stdout)["hits"][0]["node"]["citation"]
    assert "still says what was cited" in cli("cite", now).stdout


def test_a_citation_of_what_was_taken_back_says_why(cli: Cli) -> None:
    first = json.loads(cli("remember", "The ferry sails at nine.", "--json").stdout)
    done = json.loads(cli("remember", "It was a joke.", "--takes-back", first["citation"], "--json").stdout)
    for citation in (first["citation"], done["citation"]):
        told = cli("cite", citation).stdout
        assert "said this, which was withdrawn since." in told
        assert "because It was a joke." in told
    assert "because It was a joke." in cli("show", first["id"]).stdout


def test_what_happened_last_is_the_most_recent_whenever_it_was_written_down(cli: Cli) -> None:
    for day in ("2026-03-05", "2026-03-09", "2026-03-07"):
        cli("remember", f"The log of {day}.", "--occurred-at", day)
    told = [line for line in cli("recent").stdout.splitlines() if line.startswith(">")]
    assert told == ["> The log of 2026-03-09.", "> The log of 2026-03-07.", "> The log of 2026-03-05."]
    prompt = cli("checkout", "paint the boat").stdout
    days = re.findall(r"log of 2026-03-(\d\d)", prompt)
    assert days == sorted(days), prompt


def test_former_values_of_an_entity_are_shown(cli: Cli) -> None:
    cli("add-fact", "Ana", "lives_in", "Oslo", "--valid-from", "2020-01-01")
    cli("add-fact", "Ana", "lives_in", "Rome", "--valid-from", "2023-01-01")
    told = cli("show", "Ana").stdout
    assert "[Fact] Ana lives in Oslo · 2020-01-01 to 2023-01-01" in told.partition("earlier:")[2]


def test_a_difference_is_of_this_project(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    cli("remember", "The ferry sails at nine.")
    monkeypatch.setenv("WEFT_PROJECT", "other")
    assert "nothing changed" in cli("diff").stdout
    assert "The ferry sails" in cli("diff", "--everywhere").stdout


def test_a_difference_is_taken_since_what_git_calls_a_commit(cli: Cli) -> None:
    for arguments in (("init", "-q"), ("commit", "-q", "--allow-empty", "-m", "first"), ("tag", "v1")):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments], cwd=cli.root, check=True)
    cli("remember", "The ferry sails at nine.")
    for name in ("HEAD", "v1"):
        assert "The ferry sails at nine." in cli("diff", name).stdout
    assert "neither a moment in time nor a commit" in cli("diff", "v2").output


def test_a_difference_names_what_has_a_title(cli: Cli) -> None:
    cli("save-decision", "Glaze the mugs in tenmoku", "celadon crawled on stoneware")
    (told,) = [line for line in cli("diff").stdout.splitlines() if "[Decision]" in line]
    assert "Glaze the mugs in tenmoku" in told
    assert "celadon crawled on stoneware" in told


def test_errors_and_notes_name_options_as_they_are_typed(cli: Cli) -> None:
    assert "error: --as-of is neither a moment" in cli("recall", "x", "--as-of", "blah").output
    assert "'abc' is not a valid number" in cli("recall", "x", "--limit", "abc").output
    assert (
        "--valid-to must be later than --valid-from"
        in cli("remember", "x", "--valid-from", "2026-02-01", "--valid-to", "2026-01-01").output
    )


def test_a_group_that_needs_a_command_says_which(cli: Cli) -> None:
    done = cli("report", "--json")
    assert done.exit_code == 2
    told = json.loads(done.stdout)
    assert told["error"] == "missing command: write, read-latest, list"
    assert told["hint"].startswith("the usage is `weft report ")


def test_a_name_is_of_this_project_before_others(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    cli("remember", "The boat waits.", "--name", "Ana")
    monkeypatch.setenv("WEFT_PROJECT", "other")
    cli("remember", "She paints the boat.", "--name", "Ana")
    assert "She paints the boat." in cli("show", "Ana").stdout
    monkeypatch.setenv("WEFT_PROJECT", "third")
    assert "names 2 nodes" in cli("show", "Ana").output
