"""`weft mcp install` as people and programs meet it: real processes, a real terminal, the SDK's own client."""

from __future__ import annotations

import json
import os
import pty
import select
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import ClientSession, StdioServerParameters, stdio_client

from tests.surfaces.install.conftest import WEFT, Box
from weft.surfaces.install.clients import CLIENTS, Client
from weft.surfaces.install.files import MARK


def test_it_only_shows_where_nobody_can_be_asked(box: Box) -> None:
    ran = box.weft("mcp", "install", "claude-code", code=1)
    assert f"+++ {box.home}/.claude.json\n" in ran.out
    assert '+      "command": ' in ran.out
    assert "--yes" in ran.err
    assert box.files() == {}
    assert box.answer("mcp", "install", "claude-code", code=1)["status"] == "unasked"
    assert box.answer("mcp", "install", "claude-code", "--dry-run")["status"] == "shown"
    assert box.files() == {}


def test_installing_and_uninstalling(box: Box) -> None:
    done = box.answer("mcp", "install", "claude-code", "--yes")
    assert (done["status"], [each["action"] for each in done["files"]]) == ("done", ["create"] * 3)
    held = json.loads((box.home / ".claude.json").read_text())
    assert held["mcpServers"]["weft"] == {"type": "stdio", "command": str(WEFT), "args": ["mcp"]}
    again = box.weft("mcp", "install", "claude-code")
    assert again.out.startswith("nothing to change")
    found = {each["client"]: each for each in box.answer("mcp", "clients")["clients"]}
    assert found["claude-code"] == {
        "client": "claude-code",
        "title": "Claude Code",
        "found": True,
        "installed": ["user"],
        "problems": [],
    }
    assert found["gemini"]["installed"] == []
    assert "installed (user)" in box.weft("mcp", "clients").out
    elsewhere = box.weft("mcp", "uninstall", "claude-code", "--scope", "project")
    assert "--scope user" in elsewhere.out
    box.weft("mcp", "uninstall", "claude-code", "--yes")
    assert box.files() == {}
    assert box.weft("mcp", "uninstall", "claude-code").out.startswith("nothing to change")


def test_what_changed_is_told_with_its_backup(box: Box) -> None:
    (box.home / ".claude.json").write_text('{"a": 1}')
    ran = box.weft("mcp", "install", "claude-code", "--yes", "--no-hooks", "--no-instructions")
    (backup,) = box.home.glob(f"*{MARK}*")
    assert f"changed  {box.home}/.claude.json  (backup: {backup.name})" in ran.out
    assert "next: restart Claude Code" in ran.out
    assert backup.read_text() == '{"a": 1}'


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("emacs",), "there is no client 'emacs'"),
        (("claude-desktop", "--scope", "project"), "has no configuration of a project"),
        (("cursor", "--env", "PATH=/bin"), "PATH is none"),
        (("cursor", "--env", "WEFT_ACOUNT=x"), "did you mean WEFT_ACCOUNT"),
        (("cursor", "--env", "WEFT_PORT=x"), "--env WEFT_PORT"),
        (("cursor", "--env", "WEFT_ACCOUNT"), "is not KEY=VALUE"),
        (("cursor", "--env", "WEFT_MODEL_KEY=x", "--scope", "project"), "WEFT_MODEL_KEY is a secret"),
    ],
)
def test_what_cannot_be_is_refused(box: Box, arguments: tuple[str, ...], said: str) -> None:
    ran = box.weft("mcp", "install", *arguments, "--yes", code=2)
    assert said in ran.err
    assert "hint: " in ran.err
    assert box.files() == {}


def test_a_toolset_that_is_none_is_refused(box: Box) -> None:
    assert "no toolset 'cod'" in box.weft("mcp", "install", "cursor", "--toolsets", "cod", "--yes", code=1).err
    assert box.files() == {}


def test_damage_is_an_error_with_its_line(box: Box) -> None:
    (box.home / ".claude.json").write_text('{\n  "a" 1\n}')
    ran = box.weft("mcp", "install", "claude-code", "--yes", code=2)
    assert f"{box.home}/.claude.json: line 2, column 7: a colon is missing" in ran.err
    error = box.answer("mcp", "install", "claude-code", "--yes", code=2)
    assert error["error_code"] == "invalid"
    (listed,) = [each for each in box.answer("mcp", "clients")["clients"] if each["client"] == "claude-code"]
    assert "line 2" in listed["problems"][0]


def test_secrets_stay_out_of_command_lines(box: Box) -> None:
    given = ("--env", "WEFT_MODEL_KEY=sesame", "--env", "WEFT_ACCOUNT=work")
    done = box.answer("mcp", "install", "cursor", "--yes", *given)
    assert any("WEFT_MODEL_KEY" in note for note in done["notes"])
    assert "sesame" in (box.home / ".cursor" / "mcp.json").read_text()
    hooks = (box.home / ".cursor" / "hooks.json").read_text()
    assert "env WEFT_ACCOUNT=work " in hooks
    assert "sesame" not in hooks


def test_a_colourful_file_cannot_steer_the_terminal(box: Box) -> None:
    (box.home / ".claude.json").write_text('{"a": "\x9b31m\u202e"}')
    assert "\x9b" not in box.weft("mcp", "install", "claude-code", code=1).out


def test_a_path_with_spaces_and_a_link_keep_working(box: Box) -> None:
    program = box.home / "my tools" / "weft"
    program.parent.mkdir()
    program.symlink_to(WEFT)
    box.weft("mcp", "install", "cursor", "--yes", program=program)
    held = json.loads((box.home / ".cursor" / "mcp.json").read_text())
    assert held["mcpServers"]["weft"]["command"] == str(program)
    assert tools_of(box, held["mcpServers"]["weft"]) >= {"recall", "remember"}


# ---- a terminal


class Terminal:
    """The command on a terminal, with somebody who types."""

    def __init__(self, box: Box, *arguments: str) -> None:
        self._master, slave = pty.openpty()
        self._process = subprocess.Popen(
            [str(WEFT), *arguments],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=box.project,
            env=box.environment(TERM="dumb"),
            start_new_session=True,
        )
        os.close(slave)
        self.seen = ""

    def until(self, words: str) -> None:
        deadline = time.monotonic() + 30
        while words not in self.seen and time.monotonic() < deadline and self._read():
            pass
        assert words in self.seen, self.seen

    def type(self, words: str) -> None:
        os.write(self._master, words.encode())

    def end(self) -> int:
        while self._read():
            pass
        code = self._process.wait(timeout=30)
        os.close(self._master)
        return code

    def _read(self) -> bool:
        ready, _, _ = select.select([self._master], [], [], 30)
        try:
            data = os.read(self._master, 65_536) if ready else b""
        except OSError:  # the other side has gone
            data = b""
        self.seen += data.decode(errors="replace").replace("\r\n", "\n")
        return bool(data)


def test_on_a_terminal_it_asks_and_no_is_the_default(box: Box) -> None:
    terminal = Terminal(box, "mcp", "install", "gemini")
    terminal.until("change these files? [y/N]")
    terminal.type("\n")
    assert terminal.end() == 1
    assert "nothing was changed" in terminal.seen
    assert box.files() == {}
    terminal = Terminal(box, "mcp", "install", "gemini-cli")
    terminal.until("change these files?")
    terminal.type("y\n")
    assert terminal.end() == 0
    assert set(box.files()) == {"home/.gemini/settings.json", "home/.gemini/GEMINI.md"}


# ---- what was written works


def tools_of(box: Box, entry: dict[str, Any]) -> set[str]:
    """Starts a server exactly as a configuration says, as a client does, and lists its tools."""
    found: set[str] = set()

    async def ask() -> None:
        parameters = StdioServerParameters(
            command=entry["command"],
            args=entry["args"],
            env=box.environment() | entry.get("env", {}),
            cwd=box.project,
        )
        with (box.home / "stderr").open("w") as errlog:
            async with stdio_client(parameters, errlog=errlog) as (read, write), ClientSession(read, write) as session:
                await session.initialize()
                found.update(tool.name for tool in (await session.list_tools()).tools)

    anyio.run(ask)
    return found


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
def test_what_was_installed_is_started_as_written_and_answers(box: Box, client: Client) -> None:
    scope = client.scopes[-1]
    more = ("--toolsets", "magma", "--env", "WEFT_ACCOUNT=work")
    box.weft("mcp", "install", client.name, "--scope", scope, "--yes", *more)
    entry = json.loads(box.server_file(client.name, scope).read_text())[client.servers]["weft"]
    assert tools_of(box, entry) >= {"recall", "remember", "causal_expand"}


def test_serving_goes_on_as_before(box: Box) -> None:
    assert tools_of(box, {"command": str(WEFT), "args": ["mcp"]}) >= {"recall", "remember", "cite"}
    assert "no such command" in box.weft("mcp", "instal", code=2).err.lower()


SAMPLE = {
    "session_id": "s-1",
    "sessionId": "s-1",
    "conversation_id": "s-1",
    "generation_id": "g-1",
    "prompt": "why redis?",
    "prompt_response": "because of row locks",
    "text": "because of row locks",
    "source": "startup",
    "reason": "other",
    "trigger": "auto",
    "stop_hook_active": False,
}


@pytest.mark.parametrize("client", [each for each in CLIENTS if each.hooks], ids=lambda client: client.name)
def test_hooks_run_by_a_shell_as_written_succeed(box: Box, client: Client) -> None:
    assert client.hooks is not None
    box.weft("mcp", "install", client.name, "--yes")
    where = client.where(box.machine, "user")
    hooks = json.loads(Path(str(where.hooks)).read_text())["hooks"]
    assert set(hooks) == {event for event, _ in client.hooks.events}
    shell = shutil.which("sh")
    assert shell is not None
    for event, item in ((event, item) for event, items in hooks.items() for item in items):
        (one,) = item.get("hooks", [item])
        told = SAMPLE | {"hook_event_name": event, "hookEventName": event, "cwd": str(box.project)}
        told |= {"transcript_path": str(box.home / "none.jsonl"), "workspace_roots": [str(box.project)]}
        done = subprocess.run(
            [shell, "-c", one["command"]],
            input=json.dumps(told),
            capture_output=True,
            text=True,
            cwd=box.project,
            env=box.environment(),
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, (event, done.stdout, done.stderr)
        if done.stdout.strip() and client.name != "claude-code":
            assert isinstance(json.loads(done.stdout), dict), "these clients read nothing but JSON"


# ---- the history


def keep_a_conversation(box: Box) -> None:
    """One conversation, as Claude Code keeps it."""
    file = box.home / ".claude" / "projects" / "-ferry" / "11111111-1111-4111-8111-111111111111.jsonl"
    file.parent.mkdir(parents=True)
    lines = [
        {"type": "user", "uuid": "u1", "message": {"role": "user", "content": "Why do we keep limits in Redis?"}},
        {
            "type": "assistant",
            "uuid": "u2",
            "message": {"role": "assistant", "content": "Row locks made workers wait."},
        },
    ]
    more = {"sessionId": file.stem, "cwd": str(box.project), "timestamp": "2026-05-08T09:30:00.000Z"}
    file.write_text("".join(json.dumps(line | more) + "\n" for line in lines))


def test_the_history_is_imported_if_that_is_wanted(box: Box) -> None:
    keep_a_conversation(box)
    done = box.answer("mcp", "install", "claude-code", "--yes", "--import-history", "--env", "WEFT_ACCOUNT=work")
    assert (done["history"]["conversations"], done["history"]["written"]) == (1, 2)
    assert "Row locks" in box.weft("recall", "redis limits", WEFT_ACCOUNT="work").out
    assert "Row locks" not in box.weft("recall", "redis limits").out, "it goes where the client will look"


def test_without_a_terminal_no_history_is_imported_unasked(box: Box) -> None:
    keep_a_conversation(box)
    assert box.answer("mcp", "install", "claude-code", "--yes")["history"] is None
    ran = box.weft("mcp", "install", "claude-desktop", "--yes", "--import-history", code=2)
    assert "ingest-transcript" in ran.err
    assert not box.server_file("claude-desktop").exists()


def test_on_a_terminal_the_history_is_offered(box: Box) -> None:
    keep_a_conversation(box)
    terminal = Terminal(box, "mcp", "install", "claude-code", "--yes")
    terminal.until("import its history: 1 conversation? [y/N]")
    terminal.type("y\n")
    assert terminal.end() == 0
    assert "Row locks" in box.weft("recall", "redis limits").out


def test_what_was_imported_is_not_offered_again(box: Box) -> None:
    keep_a_conversation(box)
    box.weft("mcp", "install", "claude-code", "--yes", "--import-history")
    terminal = Terminal(box, "mcp", "install", "claude-code", "--yes", "--toolsets", "all")
    assert terminal.end() == 0
    assert "import its history" not in terminal.seen
    (file,) = (box.home / ".claude" / "projects").rglob("*.jsonl")
    file.write_text(file.read_text() + file.read_text().replace('"u1"', '"u3"').replace('"u2"', '"u4"'))
    terminal = Terminal(box, "mcp", "install", "claude-code", "--yes", "--toolsets", "memory")
    terminal.until("import its history: 1 conversation?")
    terminal.type("n\n")
    assert terminal.end() == 0
