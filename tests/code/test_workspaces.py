"""Which directory code tools work on: the server's own, or one that its caller chose and may choose."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.code.workbench import Workbench, served, token_of
from weft.code.ask.workspaces import workspace_of
from weft.core.errors import Forbidden, Invalid, NotFound
from weft.operations import operation


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    made = Workbench(tmp_path)
    made.write("a.py", "def a():\n    return 1\n")
    other = tmp_path / "quay"
    other.mkdir()
    (other / "b.py").write_text("def b():\n    return 1\n\n\ndef c():\n    return b()\n")
    (other / "src").mkdir()
    (other / "src" / "d.py").write_text("def d():\n    return 1\n")
    return made


def test_code_tools_work_on_what_was_chosen_and_memories_stay(bench: Workbench, tmp_path: Path) -> None:
    with bench.open() as memory:
        choose, rebuild = operation("graph_set_workspace"), operation("graph_rebuild")
        memory.run(rebuild, {})
        chosen = memory.run(choose, {"workspace_root": str(tmp_path / "quay")})
        assert (chosen.project, chosen.workspace, chosen.indexed) == ("quay", str(tmp_path / "quay"), False)
        assert any("graph_rebuild" in note for note in chosen.notes)
        here = workspace_of(memory.ctx)
        assert (here.settings.root, here.settings.project) == (tmp_path / "quay", "quay")
        assert here.writer == memory.ctx.writer
        assert here.viewer == memory.ctx.viewer
        done = memory.run(rebuild, {})
        assert (done.project, done.job.counts["files"]) == ("quay", 2)
        assert memory.remember("The bell rings at noon.").status == "saved"
        (bell,) = [each for each in memory.recent().nodes if "bell" in each.text]
        assert bell.project == "pier"
        assert memory.run(choose, {"workspace_root": "."}).project == "pier"
        assert memory.call("graph_health").files == 1


def test_a_folder_of_sources_is_all_that_is_read(bench: Workbench, tmp_path: Path) -> None:
    with bench.open() as memory:
        given = {"workspace_root": str(tmp_path / "quay"), "source_dir": "src"}
        assert memory.call("graph_set_workspace", **given).source_dir == "src"
        assert memory.call("graph_rebuild").job.counts["files"] == 1


@pytest.mark.parametrize(
    ("given", "problem", "words"),
    [
        ({"workspace_root": "nowhere"}, NotFound, "there is no directory"),
        ({"workspace_root": "a.py"}, Invalid, "is a file"),
        ({"workspace_root": ".", "project_id": "no name"}, Invalid, "project_id"),
        ({"workspace_root": ".", "source_dir": ".."}, Invalid, "outside the workspace"),
        ({"workspace_root": ".", "source_dir": "src"}, NotFound, "the workspace has no folder src"),
        ({"workspace_root": "a\x00b"}, Invalid, "NUL"),
    ],
)
def test_what_cannot_be_chosen_is_refused_with_a_hint(
    bench: Workbench, given: dict[str, str], problem: type[Exception], words: str
) -> None:
    with bench.open() as memory, pytest.raises(problem, match=words) as caught:
        memory.call("graph_set_workspace", **given)
    assert getattr(caught.value, "hint", "")


def test_two_directories_do_not_share_a_project(bench: Workbench, tmp_path: Path) -> None:
    """One that is called the same would end the files of the other."""
    bench.weft("index")  # takes the name
    twin = tmp_path / "elsewhere" / "pier"
    twin.mkdir(parents=True)
    with bench.open() as memory, pytest.raises(Forbidden, match="another directory"):
        memory.call("graph_set_workspace", workspace_root=str(twin))


def test_a_project_that_the_environment_names_is_not_that_of_another_directory(
    bench: Workbench, tmp_path: Path
) -> None:
    with bench.open(project="harbour") as memory:
        assert memory.call("graph_set_workspace", workspace_root=str(tmp_path / "quay")).project == "quay"
        assert memory.call("graph_set_workspace", workspace_root=".").project == "harbour"


def test_callers_over_http_choose_among_what_the_operator_named(bench: Workbench, tmp_path: Path) -> None:
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    other = token_of(bench, "other")
    with served(bench, workspaces=str(tmp_path / "quay")) as server:
        for place in (str(hidden), str(tmp_path / "never"), "/", ".."):
            status, body = server.send("graph_set_workspace", workspace_root=place)
            assert (status, body["error_code"]) == (403, "forbidden")
            assert "workspaces" in body["hint"]
        chosen = server.call("graph_set_workspace", workspace_root=str(tmp_path / "quay"))
        assert (chosen["workspace"], chosen["project"], chosen["watcher"] != "not_started") == ("quay", "quay", True)
        server.job(server.call("graph_rebuild")["job"]["id"], "done")
        assert server.call("graph_health")["files"] == 2
        theirs = server.call("graph_health", other)
        assert (theirs["project"], theirs.get("files", 0)) == ("pier", 0)  # another token's choice is its own
        status, body = server.send("graph_set_workspace", workspace_root=".", project_id="quay")
        assert (status, body["error_code"]) == (403, "forbidden")
        assert str(tmp_path) not in json.dumps(server.call("graph_health"))  # where on the machine it is stays unsaid


def test_stdio_keeps_what_was_chosen_for_its_later_calls(bench: Workbench, tmp_path: Path) -> None:
    with bench.started("mcp", "--toolsets", "code", toolsets="code") as server:
        process = server.process
        assert process.stdin is not None

        def ask(number: int, method: str, params: dict[str, object]) -> dict[str, object]:
            assert process.stdin is not None
            sent = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            process.stdin.write(json.dumps(sent) + "\n")
            process.stdin.flush()
            answer: dict[str, object] = json.loads(server.line(f'"id":{number},'))
            return answer

        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        ask(1, "initialize", hello)
        process.stdin.write('{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
        given = {"workspace_root": str(tmp_path / "quay")}
        chosen = ask(2, "tools/call", {"name": "graph_set_workspace", "arguments": given})
        assert "Watcher: not_started" in json.dumps(chosen)  # opt-in here
        health = json.dumps(ask(3, "tools/call", {"name": "graph_health", "arguments": {}}))
        assert "quay: nothing is indexed yet" in health


def test_who_sees_less_is_told_of_nothing_else(bench: Workbench) -> None:
    with bench.open(scopes="public") as memory:
        memory.call("graph_rebuild")
    bench.write("secret/hid.py", "import a\n\n\ndef hid():\n    return a.a() + open('x')\n")
    with bench.open() as memory:
        memory.call("graph_rebuild")
        bench.write("secret/hid.py", "def hid():\n    return 2\n")
        bench.write("secret/new.py", "def new():\n    return 2\n")
        bench.write("a.py", "def a():\n    return 2\n")
        whole = memory.call("graph_health")
    assert whole.pending == ("a.py", "secret/hid.py", "secret/new.py")
    assert (whole.files, whole.jobs[0].counts["files"], whole.outside is not None) == (2, 1, True)
    with bench.open(scopes="public") as memory:
        told = memory.call("graph_health")
    assert (told.files, told.symbols, told.pending, told.pending_changes) == (1, 1, ("a.py",), 1)
    assert (told.outside, told.unresolved, told.vectors_pending, told.latest_tx) == (None, None, None, None)
    assert [(job.state, job.counts) for job in told.jobs] == [("done", {}), ("done", {})]
    assert "secret" not in str(told)


def test_a_workspace_is_not_told_what_changed_in_another(bench: Workbench, tmp_path: Path) -> None:
    with bench.open() as memory:
        health, choose = operation("graph_health"), operation("graph_set_workspace")
        memory.call("graph_rebuild")
        own = memory.run(health, {})
        memory.run(choose, {"workspace_root": str(tmp_path / "quay")})
        assert (memory.run(health, {}).latest_tx, memory.run(health, {}).tx_count) == (None, 0)
        memory.call("graph_rebuild")
        theirs = memory.run(health, {})
        assert (theirs.latest_tx.id != own.latest_tx.id, theirs.tx_count) == (True, 1)
        memory.run(choose, {"workspace_root": "."})
        assert memory.run(health, {}).latest_tx == own.latest_tx


def test_a_workspace_that_is_gone_is_not_up_to_date(bench: Workbench) -> None:
    with bench.open() as memory:
        memory.call("graph_rebuild")
        assert memory.call("graph_health").summary.endswith("; up to date")
        bench.root.rename(bench.root.with_name("aside"))
        told = memory.call("graph_health")
    assert "its directory is missing" in told.summary
    assert "up to date" not in told.summary
    assert (told.files, told.pending_changes) == (1, 0)
