"""`weft checkout` and its neighbours: into a pipe the prompt alone, on a terminal with what to make of it."""

from __future__ import annotations

import json
import re

from tests.surfaces.cli.test_cli_terminal import shown
from tests.surfaces.conftest import Cli


def kept(cli: Cli) -> None:
    cli("save-decision", "Use Redis for sessions", "Postgres locks were slow")
    cli("work-create", "chore", "Move sessions to Redis")


def test_a_prompt_can_be_piped_to_a_model(cli: Cli) -> None:
    kept(cli)
    done = cli("memory-checkout", "where do sessions live?", "--purpose", "coding")
    assert done.exit_code == 0
    prompt = json.loads(cli("memory-checkout", "where do sessions live?", "--purpose", "coding", "--json").stdout)[
        "prompt"
    ]
    assert done.stdout == f"{prompt}\n"
    assert prompt.startswith("Memory for coding, project ferry.")
    assert '[Decision] "Use Redis for sessions": "Postgres locks were slow"' in prompt


def test_a_terminal_shows_how_far_to_trust_it(cli: Cli) -> None:
    kept(cli)
    text = shown(cli, "memory-checkout", "where do sessions live?", "--purpose", "coding", "--diagnostics")
    assert "\x1b[36m[Decision]\x1b[0m" in text
    assert "holds 50% of the question's words" in text
    assert "of 1,200 tokens" in text
    assert "emphasis implementation, convention, decision" in text
    plain = shown(cli, "memory-checkout", "where do sessions live?", NO_COLOR="1")
    assert "\x1b[3" not in plain.replace("\x1b[?", "")


def test_what_cannot_be_meant_is_told_with_what_can(cli: Cli) -> None:
    kept(cli)
    wrong = cli("memory-checkout", "sessions", "--purpose", "codng")
    assert wrong.exit_code == 2
    assert "choose one of coding, review, release, security, research, coordinate" in wrong.output
    small = cli("memory-checkout", "sessions", "--max-tokens", "50")
    assert small.exit_code != 0
    assert re.search(r"give --max-tokens \d+ or more", small.output)
    risky = cli("memory-checkout", "sessions", "--task-profile", "risk=huge")
    assert risky.exit_code == 2
    assert "low | medium | high" in risky.output


def test_where_things_stand_and_what_happened_last(cli: Cli) -> None:
    kept(cli)
    stands = cli("previous-context").stdout
    assert "Open tasks, by priority" in stands
    assert "Move sessions to Redis" in stands
    cli("record-turns", "night", "--turns", "ana: where do sessions live?", "--turns", "bo: in Redis")
    joined = cli("assemble-context", "sessions", "--session", "night").stdout
    assert joined.index("ana: where do sessions live?") < joined.index("bo: in Redis") < joined.index("Use Redis")
