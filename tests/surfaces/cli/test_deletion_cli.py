"""Deleting, restoring, purging, erasing and clearing from the command line."""

from __future__ import annotations

import json

from tests.surfaces.conftest import Cli

DOCKS = "# Docks\nThey are wet.\n\n## Cranes\nThe red crane is slow.\n"


def told(cli: Cli, *arguments: str) -> dict[str, object]:
    done = cli(*arguments, "--json")
    assert done.exit_code == 0, done.output
    made: dict[str, object] = json.loads(done.stdout)
    return made


def test_a_file_is_deleted_listed_restored_and_read_again(cli: Cli) -> None:
    (cli.root / "docks.md").write_text(DOCKS)
    cli("ingest", "docks.md")
    done = cli("delete", "docks.md", "--reason", "moved")
    assert done.exit_code == 0, done.output
    assert "5 nodes (2 Chunk, 1 Document, 2 Section)" in done.stdout
    assert "weft restore ferry/docks.md" in done.stdout
    listed = cli("deletion-list").stdout
    assert "by operator" in listed
    assert "because moved" in listed
    assert "until" in listed
    assert "red crane" not in cli("recall", "red crane").stdout
    assert cli("delete", "docks.md").exit_code == 1
    assert cli("restore", "docks.md").exit_code == 0
    assert "red crane" in cli("recall", "red crane").stdout
    cli("delete", "docks.md")
    assert told(cli, "ingest", "docks.md")["revived"] == 1
    assert "No deletions found." in cli("deletion-list").stdout


def test_erasing_says_how_to_go_on_and_what_went(cli: Cli) -> None:
    for text in ("Ana Berg keeps the key.", "The mill is open.", "Nets dry slowly."):
        cli("remember", text)
    first = cli("erase", "--subject", "Ana Berg")
    assert first.exit_code == 0, first.output
    assert "would be erased for good" in first.stdout
    assert "repeat with --yes" in first.stdout
    assert "key" in cli("recall", "who keeps the key?").stdout
    done = cli("erase", "--subject", "Ana Berg", "--yes")
    assert done.exit_code == 0, done.output
    assert "out of weft's reach: backups" in done.stdout
    citation = next(word for word in done.stdout.split() if word.startswith("weft://"))
    cited = cli.real("cite", citation, WEFT_SENSITIVE="true")
    assert b"log.rewritten" in cited.out, cited.err
    assert "Berg" not in cli("log", "export", "-").stdout
    assert cli("log", "verify").exit_code == 0
    assert cli("erase", "--subject", "Ana Berg", "--yes").exit_code == 1


def test_bad_requests_end_with_the_right_code(cli: Cli) -> None:
    cli("remember", "The mill is open.")
    for arguments, code in (
        (("erase",), 2),
        (("erase", "--subject", "mill", "--source", "a.md"), 2),
        (("erase", "--subject", "x"), 2),
        (("erase", "--subject", "mill", "--yes"), 2),  # most of what is there: needs the account's name
        (("erase", "--everything", "--yes", "--confirm", "nobody"), 2),
        (("erase", "--source", "none.md", "--yes"), 1),
        (("erase", "--session", "none", "--yes"), 1),
        (("restore", "nothing"), 1),
        (("delete", "*"), 1),
        (("purge", "--now", "nothing"), 1),
        (("clear-graph", "--undo"), 1),
    ):
        done = cli(*arguments)
        assert done.exit_code == code, (arguments, done.output)
        assert "hint:" in done.stderr, arguments
    assert "mill" in cli("recall", "mill").stdout


def test_an_agent_may_delete_and_not_erase(cli: Cli) -> None:
    cli("remember", "The mill is open.")
    agent = {"WEFT_ROLE": "agent", "WEFT_AGENT": "scout"}
    assert cli.real("erase", "--subject", "mill", "--yes", **agent).code == 1
    assert "only the operator" in cli.real("purge", **agent).err
    assert "mill" in cli("recall", "mill").stdout


def test_a_project_is_cleared_and_comes_back(cli: Cli) -> None:
    cli("remember", "The mill is open.")
    asked = cli("clear-graph")
    assert asked.exit_code == 1
    assert "--confirm ferry" in asked.stdout
    assert "mill" in cli("recall", "mill").stdout
    assert cli("clear-graph", "--confirm", "ferry").exit_code == 0
    assert told(cli, "recall", "mill")["status"] == "empty"
    assert "cleared: `weft clear-graph --undo` brings it back" in cli("deletion-list").stdout
    assert cli("clear-graph", "--undo").exit_code == 0
    assert "mill" in cli("recall", "mill").stdout
    assert "nothing is due" in cli("purge").stdout


def test_what_forget_does_is_said_and_why_a_memory_was_corrected(cli: Cli) -> None:
    cli("remember", "The key rotates every 90 days.")
    cited = json.loads(cli("recent", "--json").stdout)["nodes"][0]["citation"]
    cli("correct", cited, "The key rotates every 60 days.", "--reason", "misread the portal")
    assert "because misread the portal" in cli("show", cited).stdout
    assert cli("forget", cited).stdout.startswith("Removed from view.")
    assert cli("forget", cited, "--undo").stdout.startswith("Brought back into view.")
    assert cli("forget", cited, "--undo").stdout.startswith("It is in view.")
