"""Rebuilds as jobs: begun at once, told to every process, interrupted by a kill and gone on with afterwards."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.code.workbench import Workbench, read_only, served, token_of
from tests.stand_ins import embedding_server
from tests.waiting import wait_for
from weft.backends.sqlite.search import adjacency


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    return Workbench(tmp_path)


MANY = 300  # files that are read for longer than it takes to end a server


def fill(bench: Workbench, files: int, functions: int = 20) -> None:
    """Enough to be busy for a while."""
    for number in range(files):
        body = "".join(f"def f{number}_{n}(x):\n    return f{number}_{n - 1}(x)\n\n\n" for n in range(functions))
        bench.write(f"lib/part{number % 10}/m{number}.py", body)


def jobs_of(bench: Workbench) -> list[dict[str, Any]]:
    told: list[dict[str, Any]] = bench.health().get("jobs", [])
    return told


def test_a_command_is_done_when_it_answers(bench: Workbench) -> None:
    bench.write("a.py", "def a():\n    return b()\n\n\ndef b():\n    return 1\n")
    assert "Pier: incremental rebuild done: 1 file, 1 link, 2 symbols" in bench.weft("index")
    assert "nothing to do" not in bench.weft("index", "--full")
    (last, first) = jobs_of(bench)
    assert (last["mode"], last["state"], first["mode"], first["state"]) == ("full", "done", "incremental", "done")
    assert first["counts"] == {"files": 1, "links": 1, "symbols": 2}
    assert first["asked_at"] <= first["started_at"] <= first["finished_at"]
    told = json.loads(bench.weft("graph", "rebuild", "--mode", "incremental", "--json"))
    assert (told["status"], told["job"]["counts"]) == ("done", {"unchanged": 1})


def test_what_is_indexed_is_published_for_the_walks_of_later_processes(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adjacency, "PUBLISH_AT", 20)
    fill(bench, 3)
    bench.call("graph_rebuild")
    monkeypatch.setattr(adjacency, "build", None)  # which would read every relation
    packed = bench.call("context_pack", task="what calls f1_3?")
    assert any("f1_3" in each.id for each in packed.core_symbols)


def test_an_index_whose_relations_cannot_be_published_is_done_and_says_so(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adjacency, "PUBLISH_AT", 20)
    fill(bench, 3)
    with bench.open() as memory:
        memory.call("remember", text="The pier has an index folder.")
        next(bench.store.rglob("*.db")).with_suffix(".index").write_text("a file where a folder should be")
        told = memory.call("graph_rebuild")
    assert told.status == "done"
    assert any("`weft reindex`" in note for note in told.notes)


def test_only_what_is_named_is_read(bench: Workbench) -> None:
    bench.write("one/a.py", "def a():\n    return 1\n")
    bench.write("two/b.py", "def b():\n    return 1\n")
    assert "1 file, 1 symbol" in bench.weft("index", "one")
    assert bench.health()["files"] == 1
    assert "1 file, 1 symbol" in bench.weft("index", "b.py", where=bench.root / "two")
    (bench.root / "two" / "b.py").unlink()
    assert "1 file ended" in bench.weft("index", "two/b.py")
    assert "the workspace has no file or folder nowhere" in bench.weft("index", "nowhere", code=1)
    assert "is outside the workspace" in bench.weft("index", "..", code=2)


def test_a_server_answers_at_once_and_tells_how_far_it_is(bench: Workbench) -> None:
    fill(bench, 60)
    with served(bench) as server:
        begun = server.call("graph_rebuild", mode="full")
        assert begun["status"] == "queued"
        job = begun["job"]["id"]
        running = server.job(job, "running", "done")
        again = server.call("graph_rebuild", mode="full")
        if running["state"] == "running":
            assert again["job"]["id"] == job
            assert "requested before" in again["notes"][0]
        assert any(each["id"] == job for each in jobs_of(bench))  # another process sees it too
        done = server.job(job, "done")
        assert (done["counts"]["files"], done["counts"]["symbols"]) == (60, 1200)

        def counted() -> dict[str, Any] | None:
            """The counts of a graph's health may be a little old."""
            health: dict[str, Any] = server.call("graph_health")
            return health if health["edges"].get("CALLS", 0) > 1000 else None

        health = wait_for(counted, "counts of today", every=0.1)
        assert (health["files"], health["symbols"], health["pending_changes"]) == (60, 1200, 0)


def test_another_account_is_told_nothing_of_a_job(bench: Workbench) -> None:
    bench.write("a.py", "def a():\n    return 1\n")
    stranger = token_of(bench, "stranger", account="elsewhere")
    with served(bench) as server:
        server.job(server.call("graph_rebuild")["job"]["id"], "done")
        theirs = server.call("graph_health", stranger)
        assert (theirs.get("files", 0), theirs.get("jobs", [])) == (0, [])


def test_a_job_whose_server_was_killed_is_interrupted_and_the_next_goes_on(bench: Workbench) -> None:
    fill(bench, MANY)
    with served(bench) as server:
        job = server.call("graph_rebuild")["job"]["id"]

        def far() -> dict[str, Any] | None:
            found = next(each for each in server.call("graph_health")["jobs"] if each["id"] == job)
            return found if found["state"] != "queued" and found.get("done", 0) >= 5 else None

        assert wait_for(far, "work under way")["state"] == "running"
        os.kill(server.started.process.pid, signal.SIGKILL)
        server.started.process.wait(10)
    (told,) = jobs_of(bench)
    assert (told["id"], told["state"]) == (job, "interrupted")
    assert "continues where it stopped" in told["hint"]
    assert any("interrupted" in hint for hint in bench.health()["hints"])
    with served(bench) as server:
        done = server.job(server.call("graph_rebuild")["job"]["id"], "done")
        assert done["counts"].get("files", 0) + done["counts"].get("unchanged", 0) == MANY
        assert server.call("graph_health")["files"] == MANY


def test_a_server_that_is_told_to_end_stops_its_rebuild(bench: Workbench) -> None:
    fill(bench, MANY)
    with served(bench) as server:
        job = server.call("graph_rebuild")["job"]["id"]
        server.job(job, "running")
        assert server.started.stop(signal.SIGTERM) == 0
        assert server.started.said[-1] == "ended"
    (told,) = jobs_of(bench)
    assert told["state"] == "interrupted"
    assert "done" in bench.weft("index")


def test_a_store_that_cannot_be_written_refuses_with_a_hint(bench: Workbench) -> None:
    bench.write("a.py", "def a():\n    return 1\n")
    bench.weft("index")
    bench.write("a.py", "def a():\n    return 2\n")
    shut = read_only(bench.store)
    if not shut:
        pytest.skip("no directory can be made read-only here")
    told = bench.weft("index", code=1, prefix=shut)
    assert "jobs cannot be kept beside the store" in told
    assert "hint:" in told
    health = json.loads(bench.weft("graph", "health", "--json", prefix=shut))
    assert (health["pending"], health["files"]) == (["a.py"], 1)


def test_old_jobs_go_and_what_is_no_job_is_passed_over(bench: Workbench) -> None:
    bench.write("a.py", "def a():\n    return 1\n")
    bench.weft("index")
    (good,) = (bench.store / "jobs").glob("job-*.json")
    raw = json.loads(good.read_bytes())
    for number in range(60):
        old = raw | {"id": f"job-00000000-0000-7000-8000-{number:012}"}
        (bench.store / "jobs" / f"{old['id']}.json").write_text(json.dumps(old))
    (bench.store / "jobs" / "job-ffff.json").write_bytes(b"\xff{")
    bench.weft("index")
    assert len(list((bench.store / "jobs").glob("job-*.json"))) <= 51
    assert [each["state"] for each in jobs_of(bench)] == ["done"] * 5


def test_a_command_embeds_what_it_reads_for_a_moment_and_keeps_all_that_it_made(bench: Workbench) -> None:
    fill(bench, 2)
    bench.weft("index")  # without an embedder: no text has a vector
    with embedding_server() as server:
        given = {"embedder": "ollama:nomic", "embedder_url": server.url}
        told = bench.weft("index", **given)
        assert "`weft reindex` adds them" in told
        assert told.count("found by words only") == 1
        assert server.texts == []  # nothing was read, so nothing is embedded
        missing = bench.health(**given)["vectors_pending"]
        server.slow_s = 1.2  # so that there is no time for all
        bench.write("more.py", "def more():\n    return 1\n")
        assert "`weft reindex` adds them" in bench.weft("index", **given)
        assert 0 < len(server.texts) < missing
        assert bench.health(**given)["vectors_pending"] == missing + 2 - len(server.texts)


def test_documents_that_were_read_are_not_said_to_be_unread(bench: Workbench) -> None:
    bench.write("a.py", "def a():\n    return 1\n")
    bench.write("README.md", "# Pier\n\nWhere boats lie.\n")
    assert "1 document is not read here" in bench.weft("index")
    bench.weft("index-docs")
    told = bench.weft("index")
    assert "incremental rebuild done: 1 unchanged." in told
    assert "not read here" not in told


def test_a_caller_whose_scopes_do_not_reach_the_code_is_told_so(bench: Workbench) -> None:
    fill(bench, files=2)
    bench.weft("index")
    bearer = token_of(bench, "guest", scopes=("public",))
    with served(bench) as server:
        health = server.call("graph_health", bearer)
        assert any("scopes" in hint for hint in health["hints"])
        assert not any("graph_rebuild" in hint for hint in health["hints"])
        status, body = server.send("graph_rebuild", bearer)
        assert (status, body["error_code"]) == (403, "forbidden")
        assert "scopes" in body["error"]
        assert "operator" in body["hint"]
