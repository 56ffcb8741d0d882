"""Asking, approving and denying on the command line; on a real terminal the operator is asked."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
from typing import Any

import pytest
from click.testing import Result

from tests.surfaces.conftest import WEFT, Cli

AGENT = {"WEFT_ROLE": "agent", "WEFT_AGENT": "ann", "WEFT_SESSION": "ann"}
TEXT = "Dates are written as year, month, day."


class Desk:
    """The command line as the operator, or as an agent, uses it: in this process, which is quicker."""

    def __init__(self, cli: Cli, patch: pytest.MonkeyPatch) -> None:
        self.cli, self._patch = cli, patch

    def __call__(self, *arguments: str, agent: bool = False) -> Result:
        with self._patch.context() as context:
            for name, value in AGENT.items() if agent else ():
                context.setenv(name, value)
            return self.cli(*arguments)

    def asked(self, text: str = TEXT) -> dict[str, Any]:
        said = ("--arguments", f"text={text}", "--arguments", "level=global", "--reason", "every project has dates")
        ran = self("request-global-write-approval", "remember", *said, "--json", agent=True)
        assert ran.exit_code == 0, ran.output
        answer: dict[str, Any] = json.loads(ran.stdout)
        return answer

    def written(self, token: str, text: str = TEXT) -> int:
        return self("remember", text, "--level", "global", "--governance-token", token, agent=True).exit_code


@pytest.fixture
def desk(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Desk:
    return Desk(cli, monkeypatch)


def at_terminal(cli: Cli, *arguments: str, typed: str) -> str:
    """The command on a terminal of its own, with these lines typed; what it printed."""
    ours, theirs = pty.openpty()
    child = subprocess.Popen(
        [str(WEFT), *arguments], stdin=theirs, stdout=theirs, stderr=theirs, cwd=cli.root, env=cli.environment()
    )
    os.close(theirs)
    os.write(ours, typed.encode())
    shown = b""
    while select.select([ours], [], [], 30)[0]:
        try:
            piece = os.read(ours, 4096)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        shown += piece
    child.wait(timeout=30)
    os.close(ours)
    return shown.decode()


def test_the_whole_way_without_a_terminal(desk: Desk) -> None:
    refused = desk("remember", TEXT, "--level", "global", agent=True)
    assert refused.exit_code == 1
    assert refused.stdout == ""
    assert refused.stderr.startswith("error: ")
    assert "needs the operator's approval" in refused.stderr
    request = desk.asked()
    looked = desk("approve")
    assert (looked.exit_code, TEXT in looked.stdout, "ann (agent)" in looked.stdout) == (2, True, True)
    assert f"weft approve {request['id']} --yes" in looked.stderr
    assert desk.written(request["token"]) == 1
    approved = desk("approve", request["id"], "--yes")
    assert approved.exit_code == 0
    assert "approved" in approved.stdout
    assert desk.written(request["token"]) == 0
    assert desk.written(request["token"]) == 1


def test_an_agent_cannot_approve(desk: Desk) -> None:
    request = desk.asked()
    for arguments in (("approve", request["id"], "--yes"), ("approve",), ("deny", request["id"])):
        ran = desk(*arguments, agent=True)
        assert ran.exit_code == 1
        assert "only the operator" in ran.stderr
    assert desk.written(request["token"]) == 1


def test_data_is_never_mixed_with_questions(desk: Desk) -> None:
    request = desk.asked()
    ran = desk("approve", request["id"], "--json")
    assert ran.exit_code == 2
    assert json.loads(ran.stdout)["error_code"] == "invalid"
    ran = desk("approve", request["id"], "--yes", "--json")
    assert json.loads(ran.stdout)["approval"]["status"] == "approved"


def test_nothing_waits(desk: Desk) -> None:
    assert "no request waits" in desk("approve").stdout
    gone = desk("approve", "approval:0")
    assert gone.exit_code == 1
    assert "there is no approval request" in gone.stderr


def test_it_is_denied_with_a_reason(desk: Desk) -> None:
    request = desk.asked()
    assert desk("deny", request["id"], "--reason", "one project's matter").exit_code == 0
    listed = desk("approval-list", "--status", "denied", agent=True).stdout
    assert "one project's matter" in listed
    assert desk.written(request["token"]) == 1


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="there are no terminals here")
def test_on_a_terminal_the_operator_is_shown_and_asked(desk: Desk) -> None:
    first, second, third = desk.asked(), desk.asked("Ships whistle twice."), desk.asked("Gulls are fed.")
    shown = at_terminal(desk.cli, "approve", typed="l\nn\nnot ours to say\ny\n")
    for words in ("ann (agent)", TEXT, "Ships whistle twice.", "Gulls are fed.", "every project has dates"):
        assert words in shown
    assert "1 approved, 1 denied, 1 left" in shown
    # The latest is asked about first.
    assert [desk.written(each["token"], text) for each, text in ((third, "Gulls are fed."), (first, TEXT))] == [1, 0]
    assert "not ours to say" in desk("approval-list", "--status", "denied").stdout
    assert desk.written(second["token"], "Ships whistle twice.") == 1


def test_a_request_cannot_steer_the_terminal(desk: Desk) -> None:
    desk.asked("harmless\x1b[2K\x1b[1A\rapproved by the operator")
    shown = desk("approval-list").stdout
    assert "\x1b[2K" not in shown
    assert "harmless" in shown


# ---- proposals


def test_a_proposal_is_listed_shown_and_reviewed(desk: Desk) -> None:
    desk("add-fact", "Mira", "lives_in", "Oslo")
    desk("add-fact", "Mira", "lives_in", "Rome", "--confidence", "0.3")
    listed = desk("proposal-list").stdout
    assert "current: Oslo" in listed
    assert "proposed: Rome" in listed
    assert listed.count("weft://") == 2
    name = json.loads(desk("proposal-list", "--json").stdout)["proposals"][0]["id"]
    one = desk("proposal-list", name).stdout
    assert "current: Oslo · since" in one
    assert "confidence 30%" in one
    assert desk("proposal-review", name, "reject", "--reason", "hearsay").exit_code == 0
    assert "No proposals found." in desk("proposal-list").stdout
    shown = desk("proposal-list", name).stdout
    assert "rejected" in shown
    assert "hearsay" in shown
    assert desk("proposal-review", name, "accept").exit_code == 1
    assert desk("proposal-list", "nothing").exit_code == 1


def test_an_accepted_proposal_ends_what_stood(desk: Desk) -> None:
    desk("add-fact", "Mira", "lives_in", "Oslo")
    desk("add-fact", "Mira", "lives_in", "Rome", "--confidence", "0.3")
    name = json.loads(desk("proposal-list", "--json").stdout)["proposals"][0]["id"]
    assert desk("proposal-review", name, "accept").exit_code == 0
    facts = [each["text"] for each in json.loads(desk("recent", "--kinds", "Fact", "--json").stdout)["nodes"]]
    assert facts == ["Mira lives in Rome"]
