"""Files of agents are looked at when a server starts: every tool of weft that they name exists, or it stops."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.surfaces.conftest import Cli
from tests.surfaces.mcp.clients import HELLO
from weft.core.errors import Invalid, Misconfigured
from weft.runtime.settings.load import load_settings
from weft.surfaces.agent_files import MAX_FILES
from weft.surfaces.front_matter import tools_of
from weft.surfaces.starting import check_start

Check = Callable[..., tuple[str, ...]]
FOUND = ("Read", "mcp__weft__recall")


@pytest.fixture
def check(tmp_path: Path) -> Check:
    """The start of a server whose agents are in `tmp_path/agents`."""
    (tmp_path / "agents").mkdir()

    def run(files: str = "agents", *, network: bool = False, **settings: str) -> tuple[str, ...]:
        given = {f"WEFT_{name.upper()}": value for name, value in settings.items()}
        environment = {"HOME": str(tmp_path / "home"), "WEFT_AGENT_FILES": files, **given}
        return check_start(load_settings(tmp_path, environment), network=network)

    return run


def write(directory: Path, name: str, tools: str) -> Path:
    file = directory / "agents" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"---\nname: {file.stem}\ntools: {tools}\n---\n\nYou are careful.\n", encoding="utf-8")
    return file


def defects(check: Check, **settings: str) -> list[str]:
    with pytest.raises(Misconfigured) as wrong:
        check(**settings)
    return wrong.value.message.splitlines()


@pytest.mark.parametrize(
    "text",
    [
        "---\ntools: Read, mcp__weft__recall\n---\n",
        "---\r\nname: x\r\ntools: Read, mcp__weft__recall\r\n---\r\nwords\r\n",
        "\ufeff---\ntools: Read,mcp__weft__recall\n---\n",
        "---\ntools: Read, mcp__weft__recall # what it needs\n---\n",
        '---\ntools: "Read, mcp__weft__recall"\n---\n',
        "---\n\"tools\" : 'Read', 'mcp__weft__recall'\n---\n",
        "---\ntools: [Read, 'mcp__weft__recall'] # both\n---\n",
        '---\ntools: [\n  "Read",\n  "mcp__weft__recall",\n]\nmodel: x\n---\n',
        "---\ntools:\n  - Read\n\n  # the memory\n  - mcp__weft__recall # finds\nmodel: x\n---\n",
        "---\ntools:\n- Read\n- 'mcp__weft__recall'\nother:\n- mcp__weft__nothing\n---\n",
        "---\ntools: Read,\n  mcp__weft__recall\nmodel: x\n---\n",
        "---\ntools: >-\n  Read,\n  mcp__weft__recall\nmodel: x\n...\n",
        "---\ntools:\n  Read, mcp__weft__recall\n---\n",
        "---\ndescription: tools: none\ntools: Read mcp__weft__recall\n---\ntools: mcp__weft__nothing\n",
    ],
)
def test_tools_are_read_however_they_are_written(text: str) -> None:
    assert tools_of(text) == FOUND


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# An agent\n\ntools: mcp__weft__nothing\n",
        "---\nname: x\n---\ntools: mcp__weft__nothing\n",
        "---\n\nA rule above, and no more.\n",
        "---\ntools:\nmodel: x\n---\n",
        "---\ntools_of: mcp__weft__nothing\nmore:\n  tools: mcp__weft__nothing\n---\n",
        "\n---\ntools: mcp__weft__nothing\n---\n",
    ],
)
def test_a_file_that_names_no_tools_has_none(text: str) -> None:
    assert tools_of(text) == ()


def test_commas_inside_brackets_do_not_part_names() -> None:
    assert tools_of("---\ntools: Bash(git log:*, git show:*), Task(a, b), Read\n---\n") == (
        "Bash(git log:*, git show:*)",
        "Task(a, b)",
        "Read",
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("---\ntools: Read\n\nYou are careful.\n", "no closing ---"),
        ("---\ntools:\n  read: true\n---\n", "neither comma-separated names"),
        ("---\ntools: [Read, Grep\n---\n", "]"),
        ('---\ntools: "Read, Grep\n---\n', "not closed"),
    ],
)
def test_tools_that_cannot_be_read_are_told(text: str, why: str) -> None:
    with pytest.raises(Invalid, match=why):
        tools_of(text)


def test_tools_of_weft_of_other_servers_and_of_the_program_pass(check: Check, tmp_path: Path) -> None:
    write(tmp_path, "one.md", "Read, Bash(git log:*), mcp__weft__recall, mcp__plugin_tide-kit_weft__remember")
    write(tmp_path, "deep/two.md", "mcp__github__search, mcp__plugin_browser_browser__click, mcp__weftworks__deploy")
    write(
        tmp_path, "deep/three.md", "mcp__weft, mcp__weft__*, mcp__weft__work_*, mcp__weft__show, mcp__weft__find_tool"
    )
    write(tmp_path, "deep/notes.txt", "mcp__weft__nothing")
    assert check() == ("agent files: 3 checked; every weft tool in them exists",)


def test_every_defect_of_every_file_is_told_on_a_line_of_its_own(check: Check, tmp_path: Path) -> None:
    one = write(tmp_path, "one.md", "Read, mcp__weft__recal, mcp__weft_recall, mcp__weft__")
    two = write(
        tmp_path, "two.md", "mcp__plugin_tides_weft__memory-search, MCP__weft__cite, mcp__weft__key_new, mcp____x"
    )
    told = "weft tools are written mcp__weft__<tool>"
    assert defects(check) == [
        f"{one}: mcp__weft__recal: weft has no tool of that name; did you mean mcp__weft__recall?",
        f"{one}: mcp__weft_recall: malformed: {told}; did you mean mcp__weft__recall?",
        f"{one}: mcp__weft__: malformed: {told}",
        f"{two}: mcp__plugin_tides_weft__memory-search: weft has no tool of that name; "
        "did you mean mcp__plugin_tides_weft__memory_search?",
        f"{two}: MCP__weft__cite: malformed: {told}; did you mean mcp__weft__cite?",
        f"{two}: mcp__weft__key_new: is a command, not a tool",
        f"{two}: mcp____x: malformed: {told}",
    ]


def test_what_is_excluded_on_purpose_is_said_and_passes(check: Check, tmp_path: Path) -> None:
    file = write(tmp_path, "one.md", "mcp__weft__recall, mcp__weft__erase, mcp__plugin_x_weft__purge")
    assert check(exclude="erase,purge") == (
        "excluded tools (setting exclude): purge, erase",
        f"{file}: excluded by the settings: mcp__weft__erase, mcp__plugin_x_weft__purge",
        "agent files: 1 checked; every weft tool in them exists",
    )


def test_what_the_caller_may_not_call_is_a_defect(check: Check, tmp_path: Path) -> None:
    file = write(tmp_path, "one.md", "mcp__weft__recall, mcp__weft__ingest, mcp__weft__remember, mcp__weft__find_tool")
    check()
    assert [line.partition(": ")[2].partition(":")[0] for line in defects(check, network=True)] == ["mcp__weft__ingest"]
    assert len(defects(check, allow="public")) == 2
    (line,) = defects(check, allow="recall,remember,ingest", exclude="ingest", toolsets="core")
    assert line.startswith(f"{file}: mcp__weft__find_tool")


def test_a_tool_that_is_not_listed_passes_with_a_word_on_how_to_reach_it(check: Check, tmp_path: Path) -> None:
    write(tmp_path, "one.md", "mcp__weft__show")
    remark, _ = check()
    assert "serve toolset memory, or name mcp__weft__find_tool" in remark
    assert len(check(toolsets="memory")) == 1


def test_what_cannot_be_looked_at_is_a_defect(check: Check, tmp_path: Path) -> None:
    (tmp_path / "agents" / "latin.md").write_bytes(b"---\ntools: caf\xe9\n---\n")
    (tmp_path / "agents" / "gone.md").symlink_to(tmp_path / "agents" / "nowhere.md")
    (tmp_path / "agents" / "loop.md").symlink_to(tmp_path / "agents" / "loop.md")
    (tmp_path / "agents" / "large.md").write_bytes(b"---\n" + b"x" * 2_000_000)
    told = "\n".join(defects(check, files="agents,missing.md"))
    assert "latin.md: cannot be read: it is not UTF-8" in told
    assert "gone.md: is a broken link" in told
    assert "loop.md: is a broken link" in told
    assert "large.md: is larger than" in told
    assert "missing.md: no such file or directory" in told


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_a_defect(check: Check, tmp_path: Path) -> None:
    write(tmp_path, "one.md", "Read").chmod(0)
    (line,) = defects(check)
    assert "one.md: cannot be read: Permission denied" in line


def test_links_that_lead_out_and_things_that_are_no_files_are_left_alone(check: Check, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    secret = outside / "secret.md"
    secret.write_text("---\ntools: mcp__weft__nothing\n---\n", encoding="utf-8")
    agents = tmp_path / "agents"
    write(tmp_path, "one.md", "mcp__weft__recall")
    (agents / "out.md").symlink_to(secret)
    (agents / "there").symlink_to(outside)
    (agents / "again.md").symlink_to(agents / "one.md")
    os.mkfifo(agents / "pipe.md")
    remark, last = check()
    assert "out.md: skipped: it links to a file outside" in remark
    assert last.startswith("agent files: 1 checked")
    with pytest.raises(Misconfigured, match=r"secret\.md: mcp__weft__nothing"):
        check(files="outside")


def test_more_files_than_anyone_has_are_refused(check: Check, tmp_path: Path) -> None:
    for number in range(MAX_FILES + 1):
        (tmp_path / "agents" / f"{number}.md").touch()
    (line,) = defects(check)
    assert "over 1,000 files" in line


def test_a_server_with_sound_files_says_so_and_serves(cli: Cli) -> None:
    agents = cli.root / ".claude" / "agents"
    agents.mkdir(parents=True)
    (agents / "one.md").write_text("---\ntools: mcp__weft__recall\n---\n", encoding="utf-8")
    line = b'{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": ' + repr(HELLO).replace("'", '"').encode()
    done = cli.real("mcp", stdin=line + b"}\n", WEFT_AGENT_FILES=".claude/agents")
    assert done.code == 0
    assert b'"serverInfo"' in done.out
    assert "weft mcp: agent files: 1 checked; every weft tool in them exists\n" in done.err


def test_a_server_with_unsound_files_stops(cli: Cli) -> None:
    file = cli.root / "one.md"
    file.write_text("---\ntools: mcp__weft__recal\n---\n", encoding="utf-8")
    done = cli.real("mcp", WEFT_AGENT_FILES=str(file))
    assert (done.code, done.out) == (1, b"")
    assert f"{file}: mcp__weft__recal: weft has no tool of that name; did you mean mcp__weft__recall?" in done.err
    assert "hint:" in done.err
    assert "Traceback" not in done.err
