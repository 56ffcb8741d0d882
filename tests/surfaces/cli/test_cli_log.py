"""The log on the command line: export, import, and what is noticed when somebody changed it."""

from __future__ import annotations

import apsw
import pytest

from tests.surfaces.cli.asking import answer
from tests.surfaces.conftest import Cli


def tamper(cli: Cli, statement: str, *values: object) -> None:
    """Changes the database behind weft's back."""
    connection = apsw.Connection(str(cli.database))
    connection.execute(statement, values)
    connection.close()


def test_export_and_import_through_files(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    cli("remember", "one")
    cli("add-fact", "Mira", "role", "lead")
    file = cli.scratch / "log.jsonl"
    head = answer(cli, "log", "head")
    assert answer(cli, "log", "export", str(file)) == {"path": str(file), "events": 2, "digest": head["digest"]}
    before = file.read_bytes()
    again = answer(cli, "log", "export", str(file), code=2)
    assert "exists already" in again["error"]
    assert file.read_bytes() == before
    assert cli("log", "export", "-").stdout_bytes == before
    monkeypatch.setenv("XDG_DATA_HOME", str(cli.scratch / "elsewhere"))
    taken = answer(cli, "log", "import", str(file))
    assert taken == {"events": 2, "already_there": 0, "exact": True, "digest": head["digest"]}
    assert answer(cli, "log", "head") == head
    assert answer(cli, "rebuild")["equal"]
    assert answer(cli, "log", "import", str(file))["events"] == 0


def test_a_damaged_file_is_not_imported(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    cli("remember", "the real words")
    log = cli("log", "export", "-").stdout_bytes
    monkeypatch.setenv("XDG_DATA_HOME", str(cli.scratch / "elsewhere"))
    file = cli.scratch / "bad.jsonl"
    for damaged, complaint in (
        (log.replace(b"the real words", b"the fake words"), "payload was changed"),
        (log[:-40], "line"),
        (b"".join(log.splitlines(keepends=True)[:-1]), "stops before its end"),
    ):
        file.write_bytes(damaged)
        body = answer(cli, "log", "import", str(file), code=1)
        assert body["error_code"] == "corrupt"
        assert complaint in body["error"]
    assert not (cli.scratch / "elsewhere").exists()
    assert cli("log", "import", "-", stdin=log.replace(b"real", b"fake")).exit_code == 1


@pytest.mark.parametrize(
    ("statement", "values", "complaint"),
    [
        ("UPDATE event SET payload = ? WHERE pos = 2", (b'{"id":"x","text":"forged"}',), "events/2"),
        ("UPDATE event SET agent = 'mallory' WHERE pos = 2", (), "events/2"),
        ("UPDATE event SET recorded_at = recorded_at - 1 WHERE pos = 2", (), "events/2"),
        ("DELETE FROM event WHERE pos = 2", (), "position 2"),
        ("DELETE FROM event WHERE pos = 3", (), "position 3"),
        ("UPDATE commits SET at = at + 1 WHERE first_pos = 2", (), "events/2"),
    ],
    ids=["payload", "agent", "time", "gap", "tail", "commit"],
)
def test_verify_names_what_was_changed_and_exits_1(
    cli: Cli, statement: str, values: tuple[object, ...], complaint: str
) -> None:
    for number in range(3):
        cli("remember", f"note {number}")
    assert cli("log", "verify").exit_code == 0
    tamper(cli, statement, *values)
    body = answer(cli, "log", "verify", code=1)
    assert complaint in body["problem"]
    plain = cli("log", "verify")
    assert plain.exit_code == 1
    assert body["problem"] in plain.stdout
    diagnosis = answer(cli, "doctor", code=1)
    assert [check["name"] for check in diagnosis["checks"] if not check["ok"]] == ["log"]


def test_a_missing_tail_shows_against_a_digest_kept_elsewhere(cli: Cli) -> None:
    cli("remember", "one")
    kept = answer(cli, "log", "head")["digest"]
    assert cli("log", "verify", "--head", kept).exit_code == 0
    cli("remember", "two")
    assert cli("log", "verify", "--head", kept).exit_code == 1
    assert cli("log", "verify", "--head", "short").exit_code == 2


def test_a_citation_that_differs_exits_1(cli: Cli) -> None:
    citation = answer(cli, "remember", "words")["citation"]
    assert cli("cite", citation).exit_code == 0
    done = cli("cite", citation[:-8] + "00000000")
    assert done.exit_code == 1
    assert "no longer says what was cited" in done.stdout


def test_a_damaged_graph_is_found_and_mended_by_rebuild(cli: Cli) -> None:
    cli("remember", "the ferry docks at noon")
    tamper(cli, "DELETE FROM node_version")
    first = cli("rebuild")
    assert first.exit_code == 1, "it was different: say so"
    assert "different from before" in first.stdout
    assert cli("rebuild").exit_code == 0
    assert len(answer(cli, "recall", "ferry")["hits"]) == 1
