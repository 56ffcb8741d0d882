"""Histories of coding agents: found, put to the projects they belong to, taken in once."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import weft
from tests.conversations.test_coding_agents import ABOUT, GEMINI, REQUEST
from tests.surfaces.hooks.conftest import Machine, claude, cursor_database, lines
from weft.core.errors import Forbidden


def answer(machine: Machine, *arguments: str, code: int = 0, **environment: str) -> dict[str, Any]:
    done = machine.run(*arguments, "--json", **environment)
    assert done.code == code, done.err + done.out
    found: dict[str, Any] = json.loads(done.out)
    return found


def claude_code(machine: Machine) -> None:
    place = machine.home / ".claude" / "projects" / "-x"
    lines(place / "s1.jsonl", [claude("user", "Is it late?", 1, cwd=str(machine.root)), claude("assistant", "Yes.", 2)])
    lines(place / "agent-1.jsonl", [claude("user", "of another agent", 9, cwd=str(machine.root))])


def gemini(machine: Machine) -> None:
    place = machine.home / ".gemini" / "tmp" / "ferry"
    lines(place / "chats" / "session-1.jsonl", [ABOUT, *GEMINI])
    (place / ".project_root").write_text(str(machine.root))
    row = {"sessionId": "g1", "messageId": 0, "type": "user", "message": "Is it late?", "timestamp": "2026-03-01"}
    (place / "logs.json").write_text(json.dumps([row]))  # the same again, in the older place


def codex(machine: Machine) -> None:
    def item(role: str, text: str) -> dict[str, Any]:
        content = [{"type": "input_text", "text": text}]
        return {"type": "response_item", "payload": {"type": "message", "role": role, "content": content}}

    meta = {"type": "session_meta", "payload": {"id": "x1", "cwd": str(machine.root)}}
    place = machine.home / ".codex" / "sessions" / "2026" / "03" / "01"
    lines(place / "rollout-1.jsonl", [meta, item("user", "Is it late?"), item("assistant", "Yes.")])


def vscode(machine: Machine) -> None:
    place = machine.home / ".config" / "Code" / "User" / "workspaceStorage" / "abc"
    told = {"version": 3, "sessionId": "v1", "requests": [{**REQUEST, "response": [{"value": "Yes."}]}]}
    (place / "chatSessions").mkdir(parents=True)
    (place / "chatSessions" / "v1.json").write_text(json.dumps(told))
    (place / "workspace.json").write_text(json.dumps({"folder": machine.root.as_uri()}))


def cursor(machine: Machine) -> None:
    import sqlite3

    user = machine.home / ".config" / "Cursor" / "User"
    cursor_database(user / "globalStorage" / "state.vscdb", {"c1": [(1, "Is it late?"), (2, "Yes.")]})
    place = user / "workspaceStorage" / "abc"
    place.mkdir(parents=True)
    (place / "workspace.json").write_text(json.dumps({"folder": machine.root.as_uri()}))
    database = sqlite3.connect(place / "state.vscdb")
    database.execute("CREATE TABLE ItemTable (key TEXT, value BLOB)")
    listed = json.dumps({"allComposers": [{"composerId": "c1"}]})
    database.execute("INSERT INTO ItemTable VALUES ('composer.composerData', ?)", (listed,))
    database.commit()
    database.close()


CLIENTS: dict[str, tuple[Callable[[Machine], None], str]] = {
    "claude-code": (claude_code, "s1"),
    "gemini": (gemini, "g1"),
    "codex": (codex, "x1"),
    "vscode": (vscode, "v1"),
    "cursor": (cursor, "c1"),
}


@pytest.mark.parametrize("client", CLIENTS)
def test_a_history_is_found_and_taken_in_once(machine: Machine, client: str) -> None:
    make, session = CLIENTS[client]
    make(machine)
    seen = answer(machine, "import-history", client, "--dry-run")
    assert not machine.store.exists()
    assert (seen["conversations"], seen["written"], seen["dry_run"], set(seen["projects"])) == (1, 0, True, {"ferry"})
    first = answer(machine, "import-history", client)
    assert (first["conversations"], first["written"], first.get("bad", 0)) == (1, 2, 0)
    assert machine.messages(f"{client}-{session}") == ["user: Is it late?", "assistant: Yes."]
    again = answer(machine, "import-history", client)
    assert (again["conversations"], again["written"], again["unchanged"]) == (1, 0, 2 if client != "gemini" else 3)
    shown = machine.run("import-history", client).out
    assert "1 conversation," in shown
    assert "0 written" in shown
    assert f"{again['unchanged']} already known" in shown


def test_nothing_to_import(machine: Machine) -> None:
    done = answer(machine, "import-history", "cursor")
    assert done["written"] == 0
    assert "no history" in done["notes"][0]


def test_each_conversation_goes_to_its_own_project(machine: Machine, tmp_path: Path) -> None:
    quay = tmp_path / "quay"
    quay.mkdir()
    (quay / "weft.toml").write_text('project = "harbour"\n')
    place = machine.home / ".claude" / "projects"
    lines(place / "a" / "s1.jsonl", [claude("user", "of the ferry", 1, cwd=str(machine.root))])
    lines(place / "b" / "s2.jsonl", [claude("user", "of the harbour", 2, session="s2", cwd=str(quay))])
    lines(place / "c" / "s3.jsonl", [claude("user", "of a place that is gone", 3, session="s3", cwd="/gone/old.dock")])
    lines(place / "d" / "s4.jsonl", [claude("user", "of nowhere", 4, session="s4")])
    only = answer(machine, "import-history", "claude-code", "--project", "harbour")
    assert only["projects"] == {"harbour": 1}
    done = answer(machine, "import-history", "claude-code", WEFT_PROJECT="elsewhere")
    assert (done["written"], done["skipped"]) == (2, 1)
    assert "project is unknown" in "".join(done["left_out"])
    assert machine.messages("claude-code-s1") == ["user: of the ferry"]
    assert machine.messages("claude-code-s2", "harbour") == ["user: of the harbour"]
    assert machine.messages("claude-code-s3", "old.dock") == ["user: of a place that is gone"]


def test_since_and_limit(machine: Machine) -> None:
    place = machine.home / ".claude" / "projects" / "a"
    for number in range(1, 4):
        row = claude("user", f"of day {number}", number, session=f"s{number}", cwd=str(machine.root))
        lines(place / f"s{number}.jsonl", [{**row, "timestamp": f"2026-03-0{number}T10:00:00Z"}])
    assert answer(machine, "import-history", "claude-code", "--since", "2026-03-03")["written"] == 1
    assert machine.messages("claude-code-s3") == ["user: of day 3"]
    assert answer(machine, "import-history", "claude-code", "--limit", "1")["files"] == 1
    assert answer(machine, "import-history", "claude-code")["written"] == 2


def test_one_bad_file_costs_only_itself(machine: Machine) -> None:
    claude_code(machine)
    place = machine.home / ".claude" / "projects" / "-x"
    (place / "s0.jsonl").write_bytes(b"\x00\xff" * 1_000)
    (place / "s9.jsonl").write_text("")
    (place / "locked.jsonl").symlink_to(place / "nowhere.jsonl")
    done = answer(machine, "import-history", "claude-code")
    assert done["written"] == 2
    assert all("s0" in each or "s9" in each for each in done.get("left_out", ()))


def test_what_was_captured_is_not_imported_again(machine: Machine) -> None:
    claude_code(machine)
    path = machine.home / ".claude" / "projects" / "-x" / "s1.jsonl"
    payload = machine.said("claude-code", "s1", "Stop", transcript_path=str(path))
    assert machine.hook("capture", "claude-code", payload).err == ""
    assert answer(machine, "import-history", "claude-code")["written"] == 0
    for state in (machine.store / "transcripts").iterdir():
        state.unlink()
    done = answer(machine, "import-history", "claude-code")
    assert (done["read"], done["written"], done["unchanged"]) == (2, 0, 2)


def test_clients_that_keep_their_files_elsewhere(machine: Machine) -> None:
    claude_code(machine)
    codex(machine)
    (machine.home / ".claude").rename(machine.scratch / "claudes")
    (machine.home / ".codex").rename(machine.scratch / "codices")
    places = {"CLAUDE_CONFIG_DIR": str(machine.scratch / "claudes"), "CODEX_HOME": str(machine.scratch / "codices")}
    for client in ("claude-code", "codex"):
        assert answer(machine, "import-history", client)["written"] == 0
        assert answer(machine, "import-history", client, **places)["written"] == 2


@pytest.mark.parametrize("path", ["/proc/self/mem", "/dev/null", "/"])
def test_what_cannot_be_read_as_a_file(machine: Machine, path: str) -> None:
    found = answer(machine, "ingest-transcript", path, code=1)
    assert found["error_code"] == "store_error"
    assert path.rpartition("/")[2] in found["error"]
    assert found["hint"]


def test_only_the_operator_imports(machine: Machine) -> None:
    environment = machine.environment(WEFT_ROLE="agent", WEFT_AGENT="ann")
    with weft.open(directory=machine.root, environment=environment) as memory, pytest.raises(Forbidden):
        memory.call("import_history", client="cursor")


def test_a_file_by_its_path(machine: Machine, tmp_path: Path) -> None:
    path = tmp_path / "conversations.json"
    message = {"uuid": "m1", "sender": "human", "text": "Is it late?", "created_at": "2026-03-01T10:00:00Z"}
    path.write_text(json.dumps([{"uuid": "e1", "name": "Ferries", "chat_messages": [message]}, 5]))
    done = answer(machine, "ingest-transcript", str(path))
    assert (done["conversations"], done["read"], done["written"], done["bad"]) == (1, 1, 1, 1)
    with machine.open() as memory:
        shown = memory.show("ferry/claude-export-e1").node
        assert shown is not None
        assert (shown.name, shown.valid_from[:10]) == ("Ferries", "2026-03-01")
    strange = answer(machine, "ingest-transcript", str(path), "--project", "other", code=2)
    assert "other" in strange["error"]
    machine.run("project-create", "other")
    named = answer(machine, "ingest-transcript", str(path), "--session", "chat", "--project", "other")
    assert named["written"] == 1
    assert machine.messages("chat", "other") == ["user: Is it late?"]
    assert answer(machine, "ingest-transcript", str(path), "--format", "cursor", code=2)["error_code"] == "invalid"
    assert answer(machine, "ingest-transcript", str(tmp_path / "none"), code=1)["error_code"] == "not_found"
    lines_shown = machine.run("ingest-transcript", str(path)).out
    assert "0 written" in lines_shown
    assert "not changed" in lines_shown
