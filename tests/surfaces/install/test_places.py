"""Where files are, on every platform; and which command is written."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from weft.core.errors import Invalid, Misconfigured
from weft.surfaces.install.clients import CLIENTS, Client, client_named, entry, hook, is_entry, is_hook
from weft.surfaces.install.launch import launcher, shell_line
from weft.surfaces.install.places import Machine, Scope

HOMES = {"linux": "/home/ana", "darwin": "/Users/ana", "win32": r"C:\Users\ana"}
PROJECTS = {"linux": "/src/ferry", "darwin": "/src/ferry", "win32": r"D:\ferry"}
ROAMING = r"C:\Users\ana\AppData\Roaming"


def machine(platform: str, **environment: str) -> Machine:
    return Machine(platform=platform, environment=environment, home=HOMES[platform], project=PROJECTS[platform])


@pytest.mark.parametrize(
    ("client", "scope", "platform", "server", "hooks", "instructions"),
    [
        ("claude-code", "user", "linux", "~/.claude.json", "~/.claude/settings.json", "~/.claude/CLAUDE.md"),
        ("claude-code", "user", "win32", r"~\.claude.json", r"~\.claude\settings.json", r"~\.claude\CLAUDE.md"),
        ("claude-code", "project", "darwin", "./.mcp.json", "./.claude/settings.json", "./CLAUDE.md"),
        ("claude-desktop", "user", "linux", "~/.config/Claude/claude_desktop_config.json", None, None),
        (
            "claude-desktop",
            "user",
            "darwin",
            "~/Library/Application Support/Claude/claude_desktop_config.json",
            None,
            None,
        ),
        ("claude-desktop", "user", "win32", ROAMING + r"\Claude\claude_desktop_config.json", None, None),
        ("cursor", "user", "linux", "~/.cursor/mcp.json", "~/.cursor/hooks.json", None),
        ("cursor", "project", "linux", "./.cursor/mcp.json", "./.cursor/hooks.json", "./.cursor/rules/weft.mdc"),
        ("cursor", "project", "win32", r".\.cursor\mcp.json", r".\.cursor\hooks.json", r".\.cursor\rules\weft.mdc"),
        (
            "vscode",
            "user",
            "linux",
            "~/.config/Code/User/mcp.json",
            "~/.copilot/hooks/weft.json",
            "~/.copilot/instructions/weft.instructions.md",
        ),
        (
            "vscode",
            "user",
            "darwin",
            "~/Library/Application Support/Code/User/mcp.json",
            "~/.copilot/hooks/weft.json",
            "~/.copilot/instructions/weft.instructions.md",
        ),
        (
            "vscode",
            "user",
            "win32",
            ROAMING + r"\Code\User\mcp.json",
            r"~\.copilot\hooks\weft.json",
            r"~\.copilot\instructions\weft.instructions.md",
        ),
        (
            "vscode",
            "project",
            "linux",
            "./.vscode/mcp.json",
            "./.github/hooks/weft.json",
            "./.github/instructions/weft.instructions.md",
        ),
        ("gemini", "user", "linux", "~/.gemini/settings.json", "~/.gemini/settings.json", "~/.gemini/GEMINI.md"),
        ("gemini", "project", "darwin", "./.gemini/settings.json", "./.gemini/settings.json", "./GEMINI.md"),
        ("gemini", "user", "win32", r"~\.gemini\settings.json", r"~\.gemini\settings.json", r"~\.gemini\GEMINI.md"),
    ],
)
def test_files(
    client: str, scope: Scope, platform: str, server: str, hooks: str | None, instructions: str | None
) -> None:
    found = client_named(client).where(machine(platform), scope)

    def whole(written: str | None) -> str | None:
        if written is None:
            return None
        if written.startswith("."):
            return PROJECTS[platform] + written[1:]
        return HOMES[platform] + written[1:] if written.startswith("~") else written

    told = tuple(None if each is None else str(each) for each in (found.server, found.hooks, found.instructions))
    assert told == (whole(server), whole(hooks), whole(instructions))


@pytest.mark.parametrize(
    ("client", "platform", "environment", "server"),
    [
        ("claude-code", "linux", {"CLAUDE_CONFIG_DIR": "/opt/c"}, "/opt/c/.claude.json"),
        ("vscode", "linux", {"XDG_CONFIG_HOME": "/cfg"}, "/cfg/Code/User/mcp.json"),
        ("claude-desktop", "win32", {"APPDATA": r"E:\Data"}, r"E:\Data\Claude\claude_desktop_config.json"),
        ("vscode", "linux", {"XDG_CONFIG_HOME": "cfg"}, "/home/ana/.config/Code/User/mcp.json"),
        ("vscode", "darwin", {"XDG_CONFIG_HOME": "/cfg"}, "/Users/ana/Library/Application Support/Code/User/mcp.json"),
    ],
)
def test_the_environment_moves_them(client: str, platform: str, environment: dict[str, str], server: str) -> None:
    assert str(client_named(client).where(machine(platform, **environment), "user").server) == server


def test_names() -> None:
    assert client_named("gemini-cli").name == "gemini"
    with pytest.raises(Invalid) as refused:
        client_named("emacs")
    assert "claude-desktop" in refused.value.hint


# ---- the command

SCRIPT = "/home/ana/my env/bin/weft"
PYTHON = "/home/ana/my env/bin/python"


def start(started: str, *there: str, python: str = PYTHON, path: dict[str, str] | None = None) -> tuple[str, ...]:
    return launcher(started, python, which=(path or {}).get, exists=lambda each: each in there)


@pytest.mark.parametrize(
    ("started", "there", "python", "path", "words"),
    [
        (SCRIPT, [SCRIPT], PYTHON, {"weft": "/usr/bin/weft"}, (SCRIPT,)),
        (
            "/home/ana/.local/bin/weft",
            ["/home/ana/.local/bin/weft", SCRIPT],
            PYTHON,
            {},
            ("/home/ana/.local/bin/weft",),
        ),
        ("/home/ana/my env/lib/pytest/__main__.py", [SCRIPT], PYTHON, {}, (SCRIPT,)),
        ("/home/ana/x.py", ["/usr/bin/weft"], "/usr/local/bin/python3", {"weft": "/usr/bin/weft"}, ("/usr/bin/weft",)),
        (
            "/home/ana/.cache/uv/archive-v0/aB3/bin/weft",
            ["/home/ana/.cache/uv/archive-v0/aB3/bin/weft"],
            "/home/ana/.cache/uv/archive-v0/aB3/bin/python",
            {"uvx": "/home/ana/.local/bin/uvx"},
            ("/home/ana/.local/bin/uvx", "weft-memory"),
        ),
        (
            "/home/ana/.cache/uv/archive-v0/aB3/bin/weft",
            ["/home/ana/.cache/uv/archive-v0/aB3/bin/weft", "/home/ana/.local/bin/weft"],
            "/home/ana/.cache/uv/archive-v0/aB3/bin/python",
            {"weft": "/home/ana/.local/bin/weft"},
            ("/home/ana/.local/bin/weft",),
        ),
        (
            "/home/ana/.local/share/pipx/.cache/1f/bin/weft",
            ["/home/ana/.local/share/pipx/.cache/1f/bin/weft"],
            "/home/ana/.local/share/pipx/.cache/1f/bin/python",
            {},
            ("pipx", "run", "weft-memory"),
        ),
    ],
    ids=["venv", "link", "module", "path", "uvx", "uvx and installed", "pipx run"],
)
def test_what_starts_weft(
    started: str, there: list[str], python: str, path: dict[str, str], words: tuple[str, ...]
) -> None:
    assert start(started, *there, python=python, path=path) == words


def test_no_way_to_start_it_is_said() -> None:
    with pytest.raises(Misconfigured, match="not found"):
        start("/somewhere/main.py")


def test_a_line_for_a_shell() -> None:
    line = shell_line((SCRIPT, "context", "--hook", "cursor"), {"WEFT_ACCOUNT": "my work"})
    assert shlex.split(line) == ["env", "WEFT_ACCOUNT=my work", SCRIPT, "context", "--hook", "cursor"]
    windows = shell_line((r"C:\My Tools\weft.exe", "capture", "--hook", "vscode"), {}, windows=True)
    assert windows == '"C:/My Tools/weft.exe" capture --hook vscode'


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
@pytest.mark.parametrize(
    "words",
    [
        ("/usr/bin/weft",),
        (SCRIPT,),
        ("/usr/bin/uvx", "weft-memory"),
        ("pipx", "run", "weft-memory"),
        (r"C:\Tools\weft.exe",),
    ],
)
def test_what_is_written_is_known_again(client: Client, words: tuple[str, ...]) -> None:
    known = client
    for toolsets in ("", "all", "code,fleet"):
        made = entry(known, words, toolsets, {"WEFT_ACCOUNT": "work"})
        assert is_entry(made)
        assert is_entry(made | {"disabled": True})
    if known.hooks is not None:
        windows = words[0].startswith("C:")
        for verb in ("context", "capture"):
            line = shell_line((*words, verb, "--hook", known.name), {}, windows=windows)
            assert is_hook(known, {"command": line})
            made = hook(known, line)
            assert made.get("hooks", [made])[0]["command"] == line
            assert is_hook(known, {"command": line + " --budget 500"})
            for more in (" && rm x", "; rm x", " | tee x", " $(rm x)", " > x", "\nrm x", " `rm x`", " $HOME", " 'x"):
                assert not is_hook(known, {"command": line + more})
            for before in ("rm x; ", "rm x && ", "sudo ", "X=$(rm x) "):
                assert not is_hook(known, {"command": before + line})
            assert not is_hook(known, {"command": line.replace(known.name, "other")})


@pytest.mark.parametrize(
    "value",
    [
        None,
        "weft",
        {"url": "https://example.org/mcp"},
        {"command": "docker", "args": ["run", "weft"]},
        {"command": "weft", "args": ["mcp", "; rm"]},
        {"command": "/usr/bin/notweft", "args": ["mcp"]},
        {"command": "weft", "args": "mcp"},
        {"command": "uv", "args": ["run", "--directory", "/src/weft", "weft", "mcp"]},
        {"command": "uvx", "args": ["--from", "/src/weft", "weft", "mcp"]},
        {"command": "docker", "args": ["run", "weft-memory", "mcp"]},
    ],
)
def test_what_somebody_else_wrote_is_not_ours(value: object) -> None:
    assert not is_entry(value)


# ---- the guide


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
def test_the_guide_names_every_file_and_every_event(client: Client) -> None:
    guide = (Path(__file__).parents[3] / "docs" / "clients.md").read_text(encoding="utf-8")
    here = machine("linux")
    for scope in client.scopes:
        found = client.where(here, scope)
        for path in (found.server, found.hooks, found.instructions):
            if path is not None:
                written = str(path).replace(here.home, "~").replace(here.project, ".").replace("~/.config/", "")
                assert f"`{written}`" in guide
    if client.hooks is not None:
        row = next(
            line for line in guide.splitlines() if line.startswith(f"| {client.title.replace('Visual Studio', 'VS')} |")
        )
        rows = [line for line in guide.splitlines() if line.startswith(row.split("|")[0] + "|" + row.split("|")[1])]
        for verb, column in (("context", 2), ("capture", 3)):
            events = ", ".join(event for event, each in client.hooks.events if each == verb)
            assert any(line.split("|")[column].strip() == events for line in rows)
