"""What stands where a configuration should: pipes, devices, doubled keys, hard links, no home, no directory."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.surfaces.install.conftest import WEFT, Box
from tests.surfaces.install.test_plan import install, wish
from weft.core.clock import SystemClock
from weft.core.errors import Invalid
from weft.surfaces.install import plan as planning
from weft.surfaces.install.clients import client_named
from weft.surfaces.install.files import MARK
from weft.surfaces.install.plan import apply


def a_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))


ODD: dict[str, Callable[[Path], Any]] = {
    "fifo": os.mkfifo,
    "device": lambda path: path.symlink_to("/dev/zero"),
    "terminal": lambda path: path.symlink_to("/dev/ptmx"),
    "socket": a_socket,
    "directory": Path.mkdir,
    "link to a directory": lambda path: path.symlink_to(path.parent),
}


@pytest.mark.parametrize("make", ODD.values(), ids=ODD.keys())
def test_what_is_no_file_is_named_and_not_opened(box: Box, monkeypatch: pytest.MonkeyPatch, make: Any) -> None:
    monkeypatch.chdir(box.home)  # the name of a socket must be short
    make(Path(".claude.json"))
    ran = box.weft("mcp", "install", "claude-code", "--yes", code=2)
    assert f"{box.home}/.claude.json is " in ran.err
    assert "hint: " in ran.err
    (listed,) = [each for each in box.answer("mcp", "clients")["clients"] if each["client"] == "claude-code"]
    assert ".claude.json is " in listed["problems"][0]
    assert [each.name for each in box.home.iterdir()] == [".claude.json"]


def test_a_pipe_where_a_backup_should_be_stops_nobody(box: Box) -> None:
    client, file = client_named("claude-desktop"), box.server_file("claude-desktop")
    install(box, client, "user")
    os.mkfifo(file.with_name(f"{file.name}{MARK}9"))
    assert [each.action for each in planning.uninstall(client, "user", box.machine).changed] == ["delete"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"mcpServers": {"a": {"command": "x"}},\n"mcpServers": {}}', 'lines 1 and 2: "mcpServers" stands twice'),
        ('{"mcpServers": {"weft": {},\n\n"weft": {}}}', 'lines 1 and 3: "weft" stands twice'),
        ('{"hooks": {"Stop": [],\n"Stop": []}}', 'lines 1 and 2: "Stop" stands twice'),
        ('{"mcpServers": {"weft": {"env": {"A": "1",\n"A": "2"}}}}', 'lines 1 and 2: "A" stands twice'),
    ],
)
def test_keys_that_stand_twice_are_refused(box: Box, text: str, said: str) -> None:
    file = box.server_file("claude-code")
    file.write_text(text)
    for step in ("install", "uninstall"):
        ran = box.weft("mcp", step, "claude-code", "--yes", code=2)
        assert f"{file}: {said}" in ran.err
    assert box.files() == {"home/.claude.json": text.encode()}


def test_keys_that_stand_twice_elsewhere_are_nobodys_business(box: Box) -> None:
    file, text = box.server_file("claude-code"), '{"a": {"b": 1, "b": 2}, "a": 3}'
    file.write_text(text)
    install(box, client_named("claude-code"), "user")
    assert text.removesuffix("}") in file.read_text()


@pytest.mark.parametrize("at", [1, 2, 3])
def test_an_interrupt_at_the_moment_of_renaming_leaves_nothing(
    box: Box, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    client = client_named("claude-code")
    box.server_file("claude-code").write_text('{"a": 1}')
    (box.home / ".claude").mkdir()
    (box.home / ".claude" / "settings.json").write_text('{"b": 2}')
    before = box.files()
    planned = planning.install(wish(client, "user"), box.machine)
    renamed, rename = 0, Path.replace

    def interrupted(source: Path, target: Path) -> Path:
        nonlocal renamed
        renamed += 1
        done = rename(source, target)
        if renamed == at:
            raise KeyboardInterrupt
        return done

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        apply(planned, SystemClock())
    assert renamed >= at
    assert box.files() == before


def test_line_ends_of_old_do_not_hide_the_entry(box: Box) -> None:
    file, text = box.server_file("claude-code"), b'{\r  "mcpServers": {\r    "a": {} // mine\r  }\r}\r'
    file.write_bytes(text)
    with pytest.raises(Invalid, match="cannot be changed safely") as refused:
        planning.install(wish(client_named("claude-code"), "user"), box.machine)
    assert str(file) in refused.value.message
    assert box.files() == {"home/.claude.json": text}


def test_a_very_long_number_is_left_alone(box: Box) -> None:
    file, number = box.server_file("claude-code"), "7" * 5_000
    file.write_text(f'{{"big": {number}}}')
    box.weft("mcp", "install", "claude-code", "--yes")
    assert f'"big": {number}, "mcpServers"' in file.read_text()


def test_other_names_of_a_file_are_told(box: Box) -> None:
    file = box.server_file("claude-code")
    file.write_text('{"a": 1}')
    (box.home / "other.json").hardlink_to(file)
    done = box.answer("mcp", "install", "claude-code", "--yes")
    assert any(f"{file} has other hard links" in note for note in done["notes"])
    assert (box.home / "other.json").read_text() == '{"a": 1}'
    assert "weft" in json.loads(file.read_text())["mcpServers"]


@pytest.mark.parametrize("home", ["", "somewhere", "./home"])
def test_a_home_that_is_no_place_is_refused(box: Box, home: str) -> None:
    for command in (("clients",), ("install", "claude-code", "--yes")):
        ran = box.weft("mcp", *command, code=1, HOME=home)
        assert "HOME is " in ran.err
        assert "hint: " in ran.err
    assert box.files() == {}


def test_a_directory_that_is_gone_is_said(box: Box) -> None:
    shell = shutil.which("sh")
    assert shell is not None
    for command in ("clients", "install claude-code --yes"):
        (box.home / "gone").mkdir()
        ran = subprocess.run(
            [shell, "-c", f"cd '{box.home}/gone' && rmdir '{box.home}/gone' && '{WEFT}' mcp {command}"],
            capture_output=True,
            text=True,
            env=box.environment(),
            timeout=60,
            check=False,
        )
        assert ran.returncode == 1, ran.stderr
        assert "this directory is gone" in ran.stderr
        assert "hint: " in ran.stderr
    assert box.files() == {}


def test_without_a_name_the_clients_are_named(box: Box) -> None:
    for step in ("install", "uninstall"):
        said = box.weft("mcp", step, code=2).err
        assert "claude-code, claude-desktop, cursor, vscode, gemini" in said
