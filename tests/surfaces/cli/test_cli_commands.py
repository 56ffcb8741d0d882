"""Commands that the command line has beside one per operation's name: groups, older names, ask, migrate."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

from tests.context.test_synthesis import Writer, writer  # noqa: F401 - a fixture
from tests.older_schema import as_schema_2
from tests.surfaces.conftest import Cli


def answer(cli: Cli, *arguments: str, code: int = 0) -> Any:
    done = cli(*arguments, "--json")
    assert done.exit_code == code, done.output
    return json.loads(done.stdout)


# ---- groups


def test_reports_are_a_group_and_their_older_names_still_work(cli: Cli) -> None:
    first = answer(cli, "report", "write", "Tides", "High at noon.", "--keywords", "tides")
    assert first["status"] == "saved"
    for words in (("report", "list"), ("report-list",), ("report_list",)):
        assert [each["id"] for each in answer(cli, *words)["reports"]] == [first["id"]]
    assert answer(cli, "report-read-latest", "tides") == answer(cli, "report", "read-latest", "tides")
    shown = cli("help", "all").stdout
    assert "report-write" not in shown
    assert "\n  report " in shown


def test_hygiene_runs_by_itself_and_applies(cli: Cli) -> None:
    for _ in range(2):
        cli("remember", "The pump of the old dock is in the shed by the gate.")
    (found,) = [each["id"] for check in answer(cli, "hygiene")["checks"] for each in check.get("findings", ())]
    for words in (("hygiene", "run"), ("hygiene", "ferry"), ("run-hygiene",), ("run-hygiene", "ferry")):
        assert answer(cli, *words)["project"] == "ferry"
    assert found in cli("hygiene").stdout
    assert answer(cli, "hygiene", "apply", "merge", "--ids", found)["status"] == "saved"
    assert answer(cli, "hygiene-apply", "undo", "--ids", found)["status"] == "saved"


# ---- what people write


def test_a_citation_says_which_memory(cli: Cli) -> None:
    kept = answer(cli, "remember", "The tide is high at noon.")
    right = answer(cli, "correct", kept["citation"], "The tide is high at ten.")
    assert right["id"] == kept["id"]
    assert [hit["node"]["text"] for hit in answer(cli, "recall", "tide")["hits"]] == ["The tide is high at ten."]
    gone = answer(cli, "forget", right["citation"])
    assert gone["id"] == kept["id"]
    assert answer(cli, "recall", "tide")["hits"] == []
    assert answer(cli, "forget", kept["id"], "--undo")["id"] == kept["id"]


def test_a_decision_has_its_date(cli: Cli) -> None:
    answer(cli, "save-decision", "Use Redis for sessions", "locks were slow", "--valid-from", "2024-03-01")
    (hit,) = answer(cli, "recall", "sessions", "--as-of", "2024-06")["hits"]
    assert hit["node"]["valid_from"].startswith("2024-03-01")
    assert answer(cli, "recall", "sessions", "--as-of", "2024-02")["hits"] == []
    earlier = answer(cli, "save-decision", "Use Redis for sessions", "it was there", "--valid-from", "2023")
    assert earlier["status"] == "saved", "what was decided before replaces nothing"
    later = answer(cli, "save-decision", "Use Redis for sessions", "measured again", "--valid-from", "2025")
    assert later["status"] == "superseded"
    assert "month must be" in answer(cli, "save-decision", "x", "y", "--valid-from", "2024-13", code=2)["error"]


# ---- ask


def test_ask_without_a_model_shows_the_cited_lines(cli: Cli) -> None:
    kept = answer(cli, "remember", "Deploys freeze on Fridays.")
    shown = cli("ask", "when do deploys freeze?")
    assert shown.exit_code == 0
    assert '"Deploys freeze on Fridays."' in shown.stdout
    assert kept["citation"] in shown.stdout
    assert "no language model is configured" in shown.stdout
    asked = answer(cli, "ask", "when do deploys freeze?")
    assert (asked["status"], "answer" in asked) == ("succeeded", False)
    empty = cli("ask", "who mends the nets?")
    assert (empty.exit_code, "no memory that you may see matches" in empty.stdout) == (0, True)


def test_ask_with_a_model_shows_what_it_wrote_and_from_which_lines(
    cli: Cli,
    monkeypatch: pytest.MonkeyPatch,
    writer: Writer,  # noqa: F811
) -> None:
    kept = answer(cli, "remember", "Deploys freeze on Fridays.")
    writer.said = "They freeze on Fridays [1]."
    monkeypatch.setenv("WEFT_MODEL", "openai:stand-in")
    monkeypatch.setenv("WEFT_MODEL_URL", writer.url)
    shown = cli("ask", "when do deploys freeze?").stdout
    assert shown.index("written by openai:stand-in") < shown.index("> They freeze on Fridays [1].")
    assert shown.index("> They freeze on Fridays [1].") < shown.index(kept["citation"])
    assert answer(cli, "ask", "when do deploys freeze?")["answer"] == writer.said


# ---- migrate


def version(file: Path) -> int:
    db = apsw.Connection(str(file))
    try:
        return int(db.pragma("user_version"))
    finally:
        db.close()


def test_a_store_that_is_current_needs_nothing(cli: Cli) -> None:
    assert "nothing is stored" in cli("migrate").stdout
    cli("remember", "words")
    assert answer(cli, "migrate")["status"] == "nothing_to_do"
    assert "nothing to do: the store has the current schema" in cli("migrate").stdout


def test_every_account_of_an_older_store_is_brought_up_to_date(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    cli("remember", "words")
    monkeypatch.setenv("WEFT_ACCOUNT", "other")
    cli("remember", "other words")
    monkeypatch.delenv("WEFT_ACCOUNT")
    files = [cli.database, cli.database.with_name("other.db")]
    for file in files:
        as_schema_2(file)
    planned = answer(cli, "migrate", "--dry-run")
    assert (planned["status"], [each["found"] for each in planned["files"]]) == ("would_migrate", [2, 2])
    assert [version(file) for file in files] == [2, 2], "a dry run changes nothing"
    done = cli("migrate")
    assert done.exit_code == 0
    assert done.stdout.count("every hash matches") == 2
    assert [version(file) for file in files] == [3, 3]
    assert answer(cli, "migrate")["status"] == "nothing_to_do"
    assert answer(cli, "recall", "words")["hits"]


def test_what_is_too_old_or_too_new_is_left_alone(cli: Cli) -> None:
    cli("remember", "words")
    for found, told in ((1, "weft log export"), (99, "upgrade weft")):
        db = apsw.Connection(str(cli.database))
        db.pragma("user_version", found)
        db.close()
        body = answer(cli, "migrate", code=1)
        assert (body["error_code"], told in body["hint"]) == ("schema_mismatch", True)
        assert version(cli.database) == found


def broken_payload(cli: Cli) -> None:
    db = apsw.Connection(str(cli.database))
    (size,) = next(iter(db.execute("SELECT length(payload) FROM event WHERE pos = 1")))
    db.execute("UPDATE event SET payload = zeroblob(?) WHERE pos = 1", (size,))
    db.close()


def cut_off(cli: Cli, size: int) -> None:
    db = apsw.Connection(str(cli.database))
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    with cli.database.open("r+b") as file:
        file.truncate(size)


@pytest.mark.parametrize(
    ("harm", "told"),
    [
        (broken_payload, "payload was changed"),
        (lambda cli: cut_off(cli, 8_192), "default.db"),
        (lambda cli: cut_off(cli, 0), "the file is empty"),
        (lambda cli: (cli.data / "weft" / "weft-store.json").write_text("[junk"), "weft-store.json"),
        (lambda cli: (cli.data / "weft" / "weft-store.json").write_text("{}"), "it should contain"),
    ],
    ids=["payload", "cut", "empty", "junk marker", "other marker"],
)
def test_a_store_that_is_current_is_verified_too(cli: Cli, harm: Callable[[Cli], object], told: str) -> None:
    items = json.dumps([{"text": f"Crate {n} holds lamps, and came ashore on day {n}."} for n in range(40)])
    cli("remember-many", "--items", items)
    assert "40 events: every hash matches" in cli("migrate").stdout
    harm(cli)
    done = cli("migrate")
    assert done.exit_code == 1
    assert told in done.output
    assert "Traceback" not in done.output
    assert "nothing to do" not in done.output


def test_only_the_operator_migrates(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    cli("remember", "words")
    as_schema_2(cli.database)
    monkeypatch.setenv("WEFT_ROLE", "agent")
    assert answer(cli, "migrate", code=1)["error_code"] == "forbidden"
    assert version(cli.database) == 2


def test_a_text_comes_from_standard_input_in_place_of_a_dash(cli: Cli) -> None:
    done = cli.real("remember", "-", stdin=b"The ferry sails\nat nine.\n")
    assert done.code == 0, done.err
    (node,) = json.loads(cli.real("recent", "--json").out)["nodes"]
    assert node["text"] == "The ferry sails\nat nine."
    empty = cli.real("remember", "-", stdin=b"\n")
    assert (empty.code, "standard input is empty" in empty.err) == (2, True)
    broken = cli.real("remember", "-", stdin=b"\xff\xfe")
    assert (broken.code, "not UTF-8" in broken.err) == (2, True)


def test_items_come_from_a_file_of_json(cli: Cli) -> None:
    items = cli.root / "items.json"
    items.write_text('[{"title": "Use oars", "rationale": "no wind"}]')
    assert answer(cli, "save-decisions", "--items", f"@{items}")["status"] == "saved"
    missing = cli("save-decisions", "--items", "@nowhere.json")
    assert missing.exit_code == 2
    assert "--items: the file cannot be read" in missing.stderr
    assert "@file.json" in cli("save-decisions", "--items", "oars").stderr


def test_a_document_is_shown_by_its_path_and_tagged_as_its_hint_says(cli: Cli) -> None:
    (cli.root / "docs").mkdir()
    (cli.root / "docs" / "piers.md").write_text("# Piers\nThe pier is long.\n")
    cli("ingest", "docs")
    assert "Piers" in cli("show", "docs/piers.md").stdout
    refused = cli("tag", "docs/piers.md", "--agents", "desk")
    assert "is a Document" in refused.stderr
    assert "weft ingest PATH --agents NAME" in refused.stderr
