"""Stores on the command line: backups, foreign directories and files, settings, rights."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import apsw
import pytest

import weft
from tests.surfaces.cli.asking import answer
from tests.surfaces.conftest import Cli
from weft.upkeep import store as upkeep


def test_a_backup_opens_as_a_store(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    cli("remember", "words")
    copy = cli.scratch / "copy"
    assert cli("backup", str(copy)).exit_code == 0
    assert cli("backup", str(copy)).exit_code == 2, "never over another"
    monkeypatch.setenv("WEFT_STORE", f"sqlite://{copy}")
    assert [hit["node"]["text"] for hit in answer(cli, "recall", "words")["hits"]] == ["words"]
    assert cli("doctor").exit_code == 0
    assert cli("remember", "more").exit_code == 0


def test_a_directory_that_is_not_a_store_is_left_alone(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    taken = cli.scratch / "photos"
    taken.mkdir()
    (taken / "cat.jpg").write_bytes(b"cat")
    monkeypatch.setenv("WEFT_STORE", f"sqlite://{taken}")
    for arguments in (("remember", "x"), ("recall", "x"), ("doctor",)):
        body = answer(cli, *arguments, code=1)
        assert body["error_code"] == "not_a_store"
        assert "empty or new directory" in body["hint"]
    assert [each.name for each in taken.iterdir()] == ["cat.jpg"]
    monkeypatch.setenv("WEFT_STORE", f"sqlite://{taken / 'cat.jpg'}")
    assert answer(cli, "remember", "x", code=1)["error_code"] == "not_a_store"
    assert answer(cli, "backup", str(taken), code=1)["error_code"] in ("not_a_store", "store_error")


def test_a_file_of_another_program_is_not_opened(cli: Cli) -> None:
    cli("remember", "words")
    for suffix in ("", "-wal", "-shm"):
        cli.database.with_name(cli.database.name + suffix).unlink(missing_ok=True)
    other = apsw.Connection(str(cli.database))
    other.execute("CREATE TABLE theirs(x); INSERT INTO theirs VALUES (1)")
    other.close()
    assert answer(cli, "recall", "x", code=1)["error_code"] == "not_a_store"
    cli.database.write_bytes(b"not a database at all" * 100)
    assert answer(cli, "recall", "x", code=1)["error_code"] == "not_a_store"


def test_a_store_of_a_newer_weft_is_refused(cli: Cli) -> None:
    cli("remember", "words")
    connection = apsw.Connection(str(cli.database))
    connection.pragma("user_version", 99)
    connection.close()
    body = answer(cli, "recall", "x", code=1)
    assert body["error_code"] == "schema_mismatch"
    assert "99" in body["error"]
    assert body["hint"] == "upgrade weft"


def test_init_names_the_project_once(cli: Cli) -> None:
    made = answer(cli, "init", "raft")
    assert made["project"] == "raft"
    assert Path(made["path"]).read_text().splitlines()[-1] == 'project = "raft"'
    assert answer(cli, "remember", "words")["status"] == "saved"
    assert answer(cli, "recent")["nodes"][0]["project"] == "raft"
    again = answer(cli, "init", "barge", code=1)
    assert again["error_code"] == "conflict"
    assert "raft" in (cli.root / "weft.toml").read_text()
    assert answer(cli, "init", 'x"y', code=2)["error_code"] == "invalid"


def test_settings_show_their_origin(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    own = cli.home / ".config" / "weft" / "weft.toml"
    own.parent.mkdir(parents=True)
    own.write_text('agent = "filed"\n')
    (cli.root / "weft.toml").write_text('project = "raft"\n')
    monkeypatch.setenv("WEFT_SESSION", "shell")
    shown = {each["name"]: each for each in answer(cli, "config")["settings"]}
    assert shown["agent"]["origin"] == str(own)
    assert shown["project"]["origin"] == str(cli.root / "weft.toml")
    assert shown["session"]["origin"] == "WEFT_SESSION"
    assert shown["store"]["value"] == f"sqlite://{cli.data / 'weft'}"


def test_agents_may_read_but_not_maintain(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    cli("remember", "words")
    monkeypatch.setenv("WEFT_ROLE", "agent")
    assert cli("recall", "words").exit_code == 0
    body = answer(cli, "rebuild", code=1)
    assert body["error_code"] == "forbidden"
    assert body["hint"] == "ask the operator to do it"


def test_a_rebuild_beside_writers_is_no_problem(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    cli("remember", "words")
    real = upkeep.graph_digest

    def digest_then_write(rows: Any) -> str:
        found = real(rows)
        with weft.open() as other:
            other.remember("written meanwhile")
        return found

    monkeypatch.setattr(upkeep, "graph_digest", digest_then_write)
    body = answer(cli, "rebuild")
    assert body["equal"] is None
    assert "meanwhile" in body["notes"][0]
    shown = cli("rebuild")
    assert shown.exit_code == 0
    assert "meanwhile" in shown.output


def test_the_python_api_and_the_command_line_share_one_store(cli: Cli) -> None:
    with weft.open() as memory:
        memory.remember("from Python")
    assert [node["text"] for node in answer(cli, "recent")["nodes"]] == ["from Python"]


def test_the_store_is_for_its_owner_to_write(cli: Cli) -> None:
    cli("remember", "words")
    assert not cli.database.stat().st_mode & stat.S_IWOTH
