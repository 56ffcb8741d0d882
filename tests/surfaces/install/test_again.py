"""Installing over what is installed, and taking it out after somebody worked on it: what they wrote stays."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.surfaces.install.conftest import WEFT, Box
from tests.surfaces.install.test_plan import WORDS, every_client, install, read, uninstall, wish, without_backups
from weft.core.clock import SystemClock
from weft.surfaces.install import plan as planning
from weft.surfaces.install.clients import Client, client_named
from weft.surfaces.install.places import Scope
from weft.surfaces.install.plan import InstallRequest, apply


def commands(file: Path) -> list[str]:
    """Every command of a file of hooks, in order."""
    held = read(file)["hooks"]
    items = [item for items in held.values() for item in items]
    return [one["command"] for item in items for one in item.get("hooks", [item])]


def test_hooks_stay_with_the_account_of_the_entry(box: Box) -> None:
    box.weft("mcp", "install", "cursor", "--yes", "--env", "WEFT_ACCOUNT=work")
    before = without_backups(box)
    assert box.answer("mcp", "install", "cursor")["status"] == "unchanged"
    box.weft("mcp", "install", "cursor", "--yes", "--toolsets", "all")
    assert without_backups(box)["home/.cursor/hooks.json"] == before["home/.cursor/hooks.json"]
    assert all(each.startswith("env WEFT_ACCOUNT=work ") for each in commands(box.home / ".cursor" / "hooks.json"))


def test_a_setting_more_replaces_no_other(box: Box) -> None:
    file = box.server_file("cursor")
    box.weft("mcp", "install", "cursor", "--yes", "--env", "WEFT_ACCOUNT=work", "--env", "WEFT_MODEL_KEY=sesame")
    file.write_text(file.read_text().replace('"WEFT_ACCOUNT"', '"HTTPS_PROXY": "x", // mine\n        "WEFT_ACCOUNT"'))
    box.weft("mcp", "install", "cursor", "--yes", "--env", "WEFT_SESSION=s", "--env", "WEFT_ACCOUNT=home")
    assert "// mine" in file.read_text()
    assert read(file)["mcpServers"]["weft"]["env"] == {
        "HTTPS_PROXY": "x",
        "WEFT_ACCOUNT": "home",
        "WEFT_MODEL_KEY": "sesame",
        "WEFT_SESSION": "s",
    }
    (line,) = set(commands(box.home / ".cursor" / "hooks.json")[:1])
    assert line == f"env WEFT_ACCOUNT=home WEFT_SESSION=s {WEFT} context --hook cursor", "no secret, nothing foreign"


def test_options_of_ones_own_stay_on_a_hook_and_go_with_it(box: Box) -> None:
    client, file = client_named("claude-code"), box.home / ".claude" / "settings.json"
    install(box, client, "user")
    assert client.hooks is not None
    file.write_text(file.read_text().replace("context --hook claude-code", "context --hook claude-code --budget 500"))
    assert planning.install(wish(client, "user"), box.machine).changed == ()
    moved = InstallRequest(client=client, scope="user", words=("/usr/bin/weft",))
    apply(planning.install(moved, box.machine), SystemClock())
    assert len(commands(file)) == len(client.hooks.events)
    assert commands(file)[0] == "/usr/bin/weft context --hook claude-code --budget 500"
    uninstall(box, client, "user")
    assert without_backups(box) == {}


def test_hooks_that_were_doubled_become_one_again(box: Box) -> None:
    client, file = client_named("cursor"), box.home / ".cursor" / "hooks.json"
    install(box, client, "user")
    before = file.read_bytes()
    held = json.loads(before)
    held["hooks"]["stop"] += held["hooks"]["stop"]
    file.write_text(json.dumps(held, indent=2))
    install(box, client, "user")
    assert json.loads(file.read_bytes()) == json.loads(before)


def test_cursor_gets_both_commands_at_a_prompt(box: Box) -> None:
    client = client_named("cursor")
    install(box, client, "user")
    held = read(box.home / ".cursor" / "hooks.json")["hooks"]["beforeSubmitPrompt"]
    assert [each["command"] for each in held] == [
        f"'{WORDS[0]}' {verb} --hook cursor" for verb in ("context", "capture")
    ]


@every_client
def test_what_is_not_wanted_any_more_is_taken_out(box: Box, client: Client, scope: Scope) -> None:
    where = client.where(box.machine, scope)
    for path in {where.hooks, where.instructions} - {None}:
        if path == where.instructions and client.head:
            continue
        file = Path(str(path))
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("# Rules\n" if path == where.instructions else '{\n  "mine": 1\n}\n')
    before = box.files()
    install(box, client, scope)
    made = install(box, client, scope, hooks=False, instructions=False)
    assert {each.path for each in made.changed} == {
        Path(str(each)) for each in {where.hooks, where.instructions} - {None}
    }
    after = without_backups(box)
    server = str(Path(where.server).relative_to(box.home.parent))
    assert {name: data for name, data in after.items() if name != server} == {
        name: data for name, data in before.items() if name != server
    }
    held = read(Path(where.server))
    assert "hooks" not in held
    assert held[client.servers]["weft"]["command"] == WORDS[0]
    assert planning.install(wish(client, scope, hooks=False, instructions=False), box.machine).changed == ()
    uninstall(box, client, scope)
    assert without_backups(box) == before


def test_hooks_of_both_scopes_are_noted(box: Box) -> None:
    box.weft("mcp", "install", "claude-code", "--yes")
    noted = box.answer("mcp", "install", "claude-code", "--scope", "project", "--dry-run")["notes"]
    assert any("weft mcp uninstall claude-code --scope user" in note for note in noted)
    quiet = box.answer("mcp", "install", "claude-code", "--scope", "project", "--dry-run", "--no-hooks")["notes"]
    assert not any("--scope user" in note for note in quiet)


@pytest.mark.parametrize(
    ("client", "text", "left"),
    [
        ("claude-code", {"n": 1, "mcpServers": {}}, {"n": 2, "mcpServers": {}}),
        ("claude-code", {"n": 1}, {"n": 2}),
        ("gemini", {"n": 1, "hooks": {}}, {"n": 2, "hooks": {}}),
        ("gemini", {"n": 1, "hooks": {"AfterAgent": []}}, {"n": 2, "hooks": {"AfterAgent": []}}),
    ],
)
def test_an_empty_thing_of_somebody_else_stays(box: Box, client: str, text: Any, left: Any) -> None:
    file = box.server_file(client)
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(text))
    install(box, client_named(client), "user")
    file.write_text(file.read_text().replace('"n": 1', '"n": 2'))
    uninstall(box, client_named(client), "user")
    assert read(file) == left


def test_an_entry_that_runs_a_checkout_is_left(box: Box) -> None:
    file = box.server_file("claude-code")
    file.write_text(
        '{"mcpServers": {"weft": {"command": "uv", "args": ["run", "--directory", "/src/weft", "weft", "mcp"]}}}'
    )
    ran = box.weft("mcp", "uninstall", "claude-code")
    assert "written by hand and stays" in ran.out
    assert box.answer("mcp", "clients")["clients"][0]["installed"] == []
