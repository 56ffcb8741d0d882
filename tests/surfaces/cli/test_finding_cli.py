"""Conversations, likeness, explanations and receipts on the command line."""

from __future__ import annotations

import json

from tests.surfaces.conftest import Cli


def test_what_was_said_is_printed_in_its_place(cli: Cli) -> None:
    cli("record-turns", "standup", "--turns", "Mira: the gauge is broken", "--turns", "Jon: who repairs it?")
    cli("record-turns", "lunch", "--turns", "user: is there soup?")
    done = cli("conversation-search", "gauge", "--session", "standup", "--limit", "1")
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert lines[0] == "1 message."
    assert lines[2] == "1. ferry/standup"
    assert lines[3].endswith(" · found")
    assert lines[4] == "> Mira: the gauge is broken"
    assert lines[6] == "> Jon: who repairs it?"
    soup = cli("conversation-search", "soup", "--limit", "1").stdout
    assert "· user · " in soup
    assert "> is there soup?" in soup
    wrong = cli("conversation-search", "gauge", "--session", "nowhere")
    assert (wrong.exit_code, "hint:" in wrong.stderr) == (1, True)
    assert cli("conversation-search", "gauge", "--neighbours", "9").exit_code == 2


def test_what_is_alike_is_printed_best_first(cli: Cli) -> None:
    cli("remember", "The tide gauge stands at the north quay.", "--name", "Gauge")
    cli("remember", "The north quay has a tide gauge and a crane.")
    done = cli("find-similar", "Gauge")
    assert done.exit_code == 0
    assert "and a crane" in done.stdout.splitlines()[3]
    assert "note: no embedder" in done.stdout
    assert "and a crane" in cli("find-similar", "--text", "a crane at the quay").stdout
    assert cli("find-similar").exit_code == 2


def test_a_receipt_is_printed_again_and_explained(cli: Cli) -> None:
    cli("remember", "The tide gauge stands at the north quay.", "--name", "Gauge")
    asked = cli("recall", "where is the tide gauge?", "--receipt", "--json")
    answer = json.loads(asked.stdout)
    cli("remember", "Where the tide gauge is, nobody knows any more.")
    again = cli("answer", answer["receipt"], "--json")
    assert json.loads(again.stdout) == answer
    assert cli("answer", answer["receipt"]).stdout == cli("answer", answer["receipt"]).stdout
    assert "north quay" in cli("answer", answer["receipt"]).stdout
    assert "nobody knows" not in cli("answer", answer["receipt"]).stdout
    kept = cli("explain", answer["receipt"]).stdout
    assert answer["hits"][0]["node"]["id"] in kept
    told = cli("explain", "where is the tide gauge?", "Gauge").stdout
    assert "answered: it is number " in told
    assert "found by text: place " in told
    assert cli("answer", "receipt:none").exit_code == 1
    assert cli("explain", "where?").exit_code == 2
