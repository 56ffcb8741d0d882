"""Exit codes and errors of the command line: each says what is wrong and what to do."""

from __future__ import annotations

import pytest

from tests.surfaces.cli.asking import TRACEBACK, answer
from tests.surfaces.conftest import Cli


@pytest.mark.parametrize(
    ("arguments", "code", "error_code"),
    [
        (("show", "nobody"), 1, "not_found"),
        (("cite", "weft://operator/events/9"), 1, "not_found"),
        (("cite", "nonsense"), 2, "invalid"),
        (("remember", "  "), 2, "invalid"),
        (("remember", "x", "--valid-from", "2026-02-30"), 2, "invalid"),
        (("remember", "x", "--props", "novalue"), 2, "invalid"),
        (("remember", "x", "--kind", "not a kind"), 2, "invalid"),
        (("remember", "x", "--expected-head", "7"), 1, "conflict"),
        (("recall", "x", "--as-of", "someday"), 2, "invalid"),
        (("ingest", "/etc/hostname"), 2, "invalid"),
        (("ingest", "missing.md"), 1, "not_found"),
        (("log", "import", "missing.jsonl"), 1, "not_found"),
        (("log", "show", "--session", "nobody"), 1, "not_found"),
        (("log", "export", "/nowhere/at/all.jsonl"), 1, "store_error"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else str(value),
)
def test_failures_have_a_code_a_message_and_a_hint(
    cli: Cli, arguments: tuple[str, ...], code: int, error_code: str
) -> None:
    cli("remember", "words")
    body = answer(cli, *arguments, code=code)
    assert (body["ok"], body["error_code"]) == (False, error_code)
    assert body["error"]
    assert body["hint"]
    plain = cli(*arguments)
    assert plain.exit_code == code
    assert plain.stderr.splitlines() == [f"error: {body['error']}", f"hint:  {body['hint']}"]
    assert TRACEBACK not in plain.output


@pytest.mark.parametrize(
    "arguments",
    [
        ("remember",),
        ("recall",),
        ("add-fact", "Mira"),
        ("nonsense",),
        ("log", "nonsense"),
        ("recall", "x", "--nonsense"),
        ("recall", "x", "--limit", "0"),
        ("recall", "x", "--limit", "101"),
        ("recall", "x", "--limit", "many"),
        ("remember", "x", "--scope", "secret"),
        ("log", "show", "--after", "-1"),
    ],
    ids=" ".join,
)
def test_a_wrong_command_line_exits_2_and_shows_the_usage(cli: Cli, arguments: tuple[str, ...]) -> None:
    done = cli(*arguments)
    assert done.exit_code == 2
    problem, hint = done.stderr.splitlines()
    assert problem.startswith("error: ")
    assert hint.startswith("hint:  the usage is `weft ")
    assert not cli.data.exists()


def test_an_object_that_is_no_json_is_told_how_one_is_written(cli: Cli) -> None:
    body = answer(cli, "episode-add", "ERROR", "it broke", "--metadata", '{"stack_summary": "first\nsecond"}', code=2)
    assert "--metadata is not JSON" in body["error"]
    assert body["hint"].startswith('write --metadata \'{"name": "value"}\'')


def test_reading_makes_no_files(cli: Cli) -> None:
    for arguments in (("recall", "x"), ("recent",), ("stats",), ("doctor",), ("config",), ("log", "head"), ("diff",)):
        assert cli(*arguments).exit_code == 0
    assert not cli.data.exists()
    assert cli("backup", str(cli.scratch / "copy")).exit_code == 1
    assert not (cli.scratch / "copy").exists()


def test_misconfiguration_stops_with_the_fix(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    (cli.root / "weft.toml").write_text('acount = "typo"\n')
    body = answer(cli, "recent", code=1)
    assert body["error_code"] == "misconfigured"
    assert "unknown setting 'acount'" in body["error"]
    (cli.root / "weft.toml").unlink()
    monkeypatch.setenv("WEFT_STORE", "postgres://host")
    assert "sqlite:///" in answer(cli, "recent", code=1)["hint"]
