"""Paths of each client's files, as pure functions of platform, environment, home and project."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath, PurePosixPath, PureWindowsPath
from typing import Literal

from msgspec import Struct

Scope = Literal["user", "project"]


class Machine(Struct, frozen=True, kw_only=True):
    """What paths depend on. `platform` is as in `sys.platform`: linux, darwin, win32."""

    platform: str
    environment: Mapping[str, str]
    home: str
    project: str

    def path(self, written: str) -> PurePath:
        """A path of this platform."""
        return PureWindowsPath(written) if self.platform == "win32" else PurePosixPath(written)

    @property
    def windows(self) -> bool:
        return self.platform == "win32"


class Places(Struct, frozen=True, kw_only=True):
    """The files of one client in one scope; None where it has none. `trace` exists if the client is installed."""

    server: PurePath
    hooks: PurePath | None = None
    instructions: PurePath | None = None
    trace: PurePath


def application_directory(machine: Machine) -> PurePath:
    """The user's directory for settings of desktop applications."""
    home = machine.path(machine.home)
    if machine.platform == "win32":
        given = machine.environment.get("APPDATA")
        return machine.path(given) if given else home / "AppData" / "Roaming"
    if machine.platform == "darwin":
        return home / "Library" / "Application Support"
    given = machine.environment.get("XDG_CONFIG_HOME")
    return machine.path(given) if given and machine.path(given).is_absolute() else home / ".config"


def claude_code(machine: Machine, scope: Scope) -> Places:
    """Claude Code: CLAUDE_CONFIG_DIR moves all user files, `.claude.json` too."""
    home, project = machine.path(machine.home), machine.path(machine.project)
    given = machine.environment.get("CLAUDE_CONFIG_DIR")
    own = machine.path(given) if given else home / ".claude"
    if scope == "project":
        here = project / ".claude"
        return Places(
            server=project / ".mcp.json", hooks=here / "settings.json", instructions=project / "CLAUDE.md", trace=own
        )
    server = (own if given else home) / ".claude.json"
    return Places(server=server, hooks=own / "settings.json", instructions=own / "CLAUDE.md", trace=own)


def claude_desktop(machine: Machine, scope: Scope) -> Places:
    """Claude Desktop: one file per user."""
    directory = application_directory(machine) / "Claude"
    return Places(server=directory / "claude_desktop_config.json", trace=directory)


def cursor(machine: Machine, scope: Scope) -> Places:
    """Cursor: rules are files in projects only; a user's rules are kept inside the program."""
    own = machine.path(machine.home) / ".cursor"
    here = machine.path(machine.project) / ".cursor" if scope == "project" else own
    rules = here / "rules" / "weft.mdc" if scope == "project" else None
    return Places(server=here / "mcp.json", hooks=here / "hooks.json", instructions=rules, trace=own)


def vscode(machine: Machine, scope: Scope) -> Places:
    """Visual Studio Code, default profile; hooks and instructions are separate files that it collects."""
    home, project = machine.path(machine.home), machine.path(machine.project)
    user = application_directory(machine) / "Code" / "User"
    server, beside = (user / "mcp.json", home / ".copilot")
    if scope == "project":
        server, beside = project / ".vscode" / "mcp.json", project / ".github"
    return Places(
        server=server,
        hooks=beside / "hooks" / "weft.json",
        instructions=beside / "instructions" / "weft.instructions.md",
        trace=user,
    )


def gemini(machine: Machine, scope: Scope) -> Places:
    """Gemini CLI: servers and hooks in one file."""
    own, project = machine.path(machine.home) / ".gemini", machine.path(machine.project)
    settings = (project / ".gemini" if scope == "project" else own) / "settings.json"
    words = (project if scope == "project" else own) / "GEMINI.md"
    return Places(server=settings, hooks=settings, instructions=words, trace=own)
