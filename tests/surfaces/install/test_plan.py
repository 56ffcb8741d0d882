"""Installing and uninstalling on real files: what is there stays, what was there comes back."""

from __future__ import annotations

import codecs
import json
import stat
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.surfaces.install.conftest import Box
from tests.surfaces.install.test_edits import GAPS, KEYS, LINES, VALUES, written
from weft.core.clock import SystemClock
from weft.core.errors import Conflict, Invalid, ReadOnly, WeftError
from weft.surfaces.install import plan as planning
from weft.surfaces.install.clients import CLIENTS, INSTRUCTIONS, Client, client_named
from weft.surfaces.install.files import MARK
from weft.surfaces.install.places import Scope
from weft.surfaces.install.plan import InstallPlan, InstallRequest, apply
from weft.text.jsonc import parse, value_of

WORDS = ("/opt/my env/bin/weft",)
CASES = [(client, scope) for client in CLIENTS for scope in client.scopes]
every_client = pytest.mark.parametrize(("client", "scope"), CASES, ids=lambda each: getattr(each, "name", each))


def wish(client: Client, scope: Scope, **more: Any) -> InstallRequest:
    return InstallRequest(client=client, scope=scope, words=WORDS, **more)


def install(box: Box, client: Client, scope: Scope, **more: Any) -> InstallPlan:
    made = planning.install(wish(client, scope, **more), box.machine)
    apply(made, SystemClock())
    return made


def uninstall(box: Box, client: Client, scope: Scope) -> InstallPlan:
    made = planning.uninstall(client, scope, box.machine)
    apply(made, SystemClock())
    return made


def without_backups(box: Box) -> dict[str, bytes]:
    return {name: data for name, data in box.files().items() if MARK not in name}


def read(path: Path) -> Any:
    return value_of(parse(path.read_text(encoding="utf-8-sig")))


@every_client
def test_a_fresh_machine(box: Box, client: Client, scope: Scope) -> None:
    install(box, client, scope)
    where = client.where(box.machine, scope)
    entry = read(Path(where.server))[client.servers]["weft"]
    assert (entry["command"], entry["args"]) == (WORDS[0], ["mcp"])
    assert "env" not in entry
    if client.hooks is not None:
        assert where.hooks is not None
        hooks = read(Path(where.hooks))["hooks"]
        found = [
            (event, item["hooks"][0] if client.hooks.grouped else item) for event in hooks for item in hooks[event]
        ]
        assert [(event, one["command"]) for event, one in found] == [
            (event, f"'{WORDS[0]}' {verb} --hook {client.name}") for event, verb in client.hooks.events
        ]
        assert {one["timeout"] for _, one in found} <= {10, 10_000}
    if where.instructions is not None:
        text = Path(where.instructions).read_text(encoding="utf-8")
        assert INSTRUCTIONS in text
        assert text.startswith(client.head)
    assert planning.is_installed(client, scope, box.machine)
    assert planning.install(wish(client, scope), box.machine).changed == ()
    uninstall(box, client, scope)
    assert box.files() == {}
    assert list(box.home.rglob("*")) == []
    assert not planning.is_installed(client, scope, box.machine)


def test_the_instructions_are_short() -> None:
    assert len(INSTRUCTIONS.splitlines()) + 2 <= 12


@every_client
def test_without_hooks_and_instructions_there_is_one_file(box: Box, client: Client, scope: Scope) -> None:
    install(box, client, scope, hooks=False, instructions=False)
    assert list(box.files()) == [str(Path(client.where(box.machine, scope).server).relative_to(box.home.parent))]
    assert "hooks" not in read(Path(client.where(box.machine, scope).server))


@every_client
def test_what_others_wrote_stays(box: Box, client: Client, scope: Scope) -> None:
    """Comments, tabs, line ends, a byte order mark, trailing commas, other servers and other hooks."""
    where = client.where(box.machine, scope)
    text = (
        "// mine\r\n{\r\n"
        f'\t"{client.servers}": {{\r\n\t\t"other": {{"command": "x"}}, // keep\r\n\t}},\r\n'
        '\t"theme": "dark", /* and this */\r\n'
        '\t"hooks": {\r\n\t\t"Stop": [{"hooks": [{"type": "command", "command": "beep"}]}],\r\n\t},\r\n'
        "}\r\n"
    )
    for each in {where.server, where.hooks} - {None}:
        file = Path(str(each))
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(codecs.BOM_UTF8 + text.encode())
    if where.instructions is not None:
        words = Path(where.instructions)
        words.parent.mkdir(parents=True, exist_ok=True)
        words.write_bytes(b"# Rules\r\n\r\nBe kind.")
    before = box.files()
    install(box, client, scope)
    now = Path(where.server).read_bytes()
    assert now.startswith(codecs.BOM_UTF8 + b"// mine\r\n")
    assert b"\n" not in now.replace(b"\r\n", b"")
    for kept in (b"// keep", b"/* and this */", b'"theme": "dark"', b'"command": "beep"'):
        assert kept in now
    assert read(Path(where.server))[client.servers]["other"] == {"command": "x"}
    uninstall(box, client, scope)
    assert without_backups(box) == before


@every_client
def test_uninstalling_without_backups_restores_what_it_can(box: Box, client: Client, scope: Scope) -> None:
    where = client.where(box.machine, scope)
    file = Path(where.server)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text('{\n    "a": 1, // one\n    "' + client.servers + '": {\n        "b": {}\n    }\n}\n')
    before = box.files()
    install(box, client, scope)
    for name in box.files():
        if MARK in name:
            (box.home.parent / name).unlink()
    uninstall(box, client, scope)
    assert without_backups(box) == before


def test_what_was_added_since_stays(box: Box) -> None:
    client = client_named("claude-code")
    file = box.server_file("claude-code")
    file.write_text('{"numStartups": 1}\n')
    install(box, client, "user")
    text = file.read_text()
    file.write_text(text.replace('"numStartups": 1', '"numStartups": 2').replace('"mcp"', '"mcp"'))
    uninstall(box, client, "user")
    assert file.read_text() == '{"numStartups": 2}\n'


def test_installing_again_keeps_what_was_added_to_the_entry(box: Box) -> None:
    client = client_named("cursor")
    install(box, client, "user")
    file = box.server_file("cursor")
    file.write_text(file.read_text().replace('"args"', '"disabled": false, // for now\n      "args"'))
    assert planning.install(wish(client, "user"), box.machine).changed == ()
    install(box, client, "user", toolsets="all")
    assert "// for now" in file.read_text()
    assert read(file)["mcpServers"]["weft"]["args"] == ["mcp", "--toolsets", "all"]


@every_client
def test_a_weft_that_moved_is_changed_in_place(box: Box, client: Client, scope: Scope) -> None:
    install(box, client, scope)
    moved = InstallRequest(client=client, scope=scope, words=("/usr/bin/weft",))
    apply(planning.install(moved, box.machine), SystemClock())
    where = client.where(box.machine, scope)
    assert read(Path(where.server))[client.servers]["weft"]["command"] == "/usr/bin/weft"
    assert not any(b"my env" in data for name, data in without_backups(box).items())
    if client.hooks is not None and where.hooks is not None:
        assert sum(len(items) for items in read(Path(where.hooks))["hooks"].values()) == len(client.hooks.events)
    uninstall(box, client, scope)
    assert without_backups(box) == {}


def test_settings_are_written_for_server_and_hooks(box: Box) -> None:
    client, given = client_named("gemini"), {"WEFT_ACCOUNT": "my work"}
    install(box, client, "project", toolsets="code,all", environment=given, hook_environment=given)
    held = read(box.server_file("gemini", "project"))
    assert held["mcpServers"]["weft"] == {
        "command": WORDS[0],
        "args": ["mcp", "--toolsets", "code,all"],
        "env": {"WEFT_ACCOUNT": "my work"},
    }
    (group,) = held["hooks"]["BeforeAgent"]
    assert group["hooks"][0]["command"] == f"env 'WEFT_ACCOUNT=my work' '{WORDS[0]}' context --hook gemini"
    uninstall(box, client, "project")
    assert box.files() == {}


@pytest.mark.parametrize("entry", [{"url": "https://example.org"}, {"command": "docker", "args": ["run", "weft"]}, 7])
def test_an_entry_of_somebody_else_is_shown_and_not_removed(box: Box, entry: Any) -> None:
    client, file = client_named("vscode"), box.server_file("vscode")
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"servers": {"weft": entry}}))
    kept = planning.uninstall(client, "user", box.machine)
    assert kept.changed == ()
    assert "by hand" in kept.notes[0]
    planned = planning.install(wish(client, "user"), box.machine)
    assert "by hand" in planned.notes[0]
    assert file in [each.path for each in planned.changed]
    apply(planned, SystemClock())
    assert any(json.loads(each.read_text()) == {"servers": {"weft": entry}} for each in file.parent.glob(f"*{MARK}*"))


def test_a_hook_of_ours_in_a_group_with_others_is_taken_out_alone(box: Box) -> None:
    client, file = client_named("claude-code"), box.home / ".claude" / "settings.json"
    install(box, client, "user")
    held = json.loads(file.read_text())
    held["hooks"]["Stop"][0]["hooks"].append({"type": "command", "command": "beep"})
    held["hooks"]["Stop"].append({"hooks": []})
    file.write_text(json.dumps(held, indent=4))
    uninstall(box, client, "user")
    left = {"hooks": [{"type": "command", "command": "beep"}]}
    assert json.loads(file.read_text()) == {"hooks": {"Stop": [left, {"hooks": []}]}}


@every_client
@pytest.mark.parametrize(
    "damage", [b'{\n  "a": 1\n  "b": 2\n}', b'{"a": "\xff"}', b"[]"], ids=["comma", "bytes", "list"]
)
def test_a_damaged_file_is_named_and_nothing_is_changed(box: Box, client: Client, scope: Scope, damage: bytes) -> None:
    where = client.where(box.machine, scope)
    file = Path(str(where.hooks or where.server))  # the second of them, if there are two
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(damage)
    with pytest.raises(Invalid) as refused:
        planning.install(wish(client, scope), box.machine)
    assert str(file) in refused.value.message
    assert refused.value.hint
    if damage != b"[]":
        assert "line" in refused.value.message
    assert list(box.files().values()) == [damage]


def test_a_read_only_file_is_named_and_nothing_is_changed(box: Box) -> None:
    file = box.home / ".claude" / "settings.json"
    file.parent.mkdir()
    file.write_text("{}")
    file.chmod(0o444)
    before = box.files()
    with pytest.raises(ReadOnly, match="read-only") as refused:
        planning.install(wish(client_named("claude-code"), "user"), box.machine)
    assert "chmod" in refused.value.hint
    assert box.files() == before


def test_a_directory_in_the_way_is_named(box: Box) -> None:
    (box.home / ".cursor").write_text("a file")
    with pytest.raises(WeftError, match=r"\.cursor"):
        planning.install(wish(client_named("cursor"), "user"), box.machine)
    box.server_file("claude-code").mkdir()
    with pytest.raises(Invalid, match="is a directory"):
        planning.install(wish(client_named("claude-code"), "user"), box.machine)


@pytest.mark.parametrize("there", [True, False], ids=["target", "dangling"])
def test_a_link_stays_a_link(box: Box, there: bool) -> None:
    dotfiles, file = box.home / "dotfiles" / "claude.json", box.server_file("claude-code")
    dotfiles.parent.mkdir()
    if there:
        dotfiles.write_text('{"a": 1}\n')
        dotfiles.chmod(0o640)
    file.symlink_to(dotfiles)
    client = client_named("claude-code")
    install(box, client, "user", hooks=False, instructions=False)
    assert file.is_symlink()
    assert read(dotfiles)["mcpServers"]["weft"]["args"] == ["mcp"]
    if there:
        assert stat.S_IMODE(dotfiles.stat().st_mode) == 0o640
        assert [each.name for each in dotfiles.parent.iterdir()] == ["claude.json"]  # the backup is beside the link
    uninstall(box, client, "user")
    assert file.is_symlink()
    assert dotfiles.exists() is there
    assert not there or dotfiles.read_text() == '{"a": 1}\n'


def test_permissions_stay_and_new_files_are_ones_own(box: Box) -> None:
    settings = box.home / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text("{}")
    settings.chmod(0o604)
    install(box, client_named("claude-code"), "user")
    assert stat.S_IMODE(settings.stat().st_mode) == 0o604
    (backup,) = settings.parent.glob(f"*{MARK}*")
    assert stat.S_IMODE(backup.stat().st_mode) == 0o604
    assert stat.S_IMODE(box.server_file("claude-code").stat().st_mode) == 0o600


def test_what_changed_between_looking_and_writing_is_not_lost(box: Box) -> None:
    client, file = client_named("claude-code"), box.home / ".claude" / "settings.json"
    planned = planning.install(wish(client, "user"), box.machine)
    file.parent.mkdir()
    file.write_text('{"new": true}')
    with pytest.raises(Conflict, match="in the meantime"):
        apply(planned, SystemClock())
    assert without_backups(box) == {"home/.claude/settings.json": b'{"new": true}'}, "what was written first is undone"


def test_a_write_that_fails_half_way_leaves_everything_as_it_was(box: Box) -> None:
    client = client_named("claude-code")
    box.server_file("claude-code").write_text('{"a": 1}')
    before = box.files()
    planned = planning.install(wish(client, "user"), box.machine)
    (box.home / ".claude").write_text("now a file")  # where a directory is wanted
    with pytest.raises(ReadOnly, match="nothing was changed"):
        apply(planned, SystemClock())
    assert box.files() == before | {"home/.claude": b"now a file"}


def test_many_installations_in_one_second_have_backups_of_their_own(box: Box) -> None:
    client, file = client_named("claude-desktop"), box.server_file("claude-desktop")
    file.parent.mkdir(parents=True)
    file.write_text("{}")
    for _ in range(3):
        install(box, client, "user")
        uninstall(box, client, "user")
        assert file.read_text() == "{}"
    assert len(list(file.parent.glob(f"*{MARK}*"))) == 6


# ---- generated configurations


@st.composite
def configurations(draw: st.DrawFn, client: Client) -> bytes | None:
    """Anything that such a file may hold: nothing, empty things, other people's servers and hooks, in any spelling."""
    value: dict[str, Any] = draw(st.dictionaries(KEYS, VALUES, max_size=2))
    if draw(st.booleans()):
        value[client.servers] = draw(st.dictionaries(KEYS, st.dictionaries(KEYS, VALUES, max_size=2), max_size=2))
    if draw(st.booleans()):
        events = client.hooks.events if client.hooks else (("Stop", "capture"),)
        item = st.just({"hooks": [{"type": "command", "command": "beep"}]}) | st.just({"command": "beep"})
        some = st.sampled_from([event for event, _ in events])
        value["hooks"] = draw(st.dictionaries(some, st.lists(item, max_size=2), max_size=2))
    spelt = draw(
        st.just(None) | st.just("") | written(value) | st.builds(json.dumps, st.just(value), indent=st.just(2))
    )
    if spelt is None:
        return None
    mark = codecs.BOM_UTF8 if draw(st.booleans()) else b""
    return mark + (draw(GAPS) + spelt + draw(GAPS)).encode()


@st.composite
def words_files(draw: st.DrawFn) -> bytes | None:
    if draw(st.booleans()):
        return None
    return (draw(st.sampled_from(["\n", "\r\n"])).join(draw(LINES))).encode()


@given(st.data(), st.sampled_from(CASES), st.booleans())
def test_install_and_uninstall_give_back_every_byte(
    data: st.DataObject, case: tuple[Client, Scope], hooks: bool
) -> None:
    client, scope = case
    with tempfile.TemporaryDirectory() as scratch:
        box = Box(Path(scratch))
        where = client.where(box.machine, scope)
        for path in dict.fromkeys((where.server, where.hooks, where.instructions)):
            if path is None:
                continue
            made = data.draw(words_files() if path == where.instructions else configurations(client))
            if made is not None:
                file = Path(str(path))
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(made)
        before = box.files()
        install(box, client, scope, hooks=hooks)
        assert planning.install(wish(client, scope, hooks=hooks), box.machine).changed == ()
        entry = read(Path(where.server))[client.servers]["weft"]
        assert entry["args"] == ["mcp"]
        uninstall(box, client, scope)
        assert without_backups(box) == before
