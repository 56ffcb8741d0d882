"""`weft reindex` in processes of its own: killed, twice at once, and a switch while others write and ask."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import weft
from tests.models.switching.conftest import Open, fill
from tests.stand_ins import EmbeddingServer
from weft.core.errors import Forbidden
from weft.core.queries import Space
from weft.operations import operation
from weft.writing.build.missing_vectors import BATCH_TEXTS

ROOT = Path(__file__).parents[3]
PATIENCE_S = 60.0
REINDEX = ("-c", "from weft.surfaces.cli.entry import main; main()", "reindex")
LOAD = "tests.models.switching.under_load"
Start = Callable[..., subprocess.Popen[str]]


def without_vectors(opened: Open, count: int) -> weft.Memory:
    """A store with many texts and no vectors."""
    memory = opened("none")
    fill(memory, count)
    return memory


def held(memory: weft.Memory) -> Any:
    ctx = memory.ctx
    return ctx.store.space_counts(ctx.operator("look"))


def environment(directory: Path, embedder: str, url: str) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT),
        "HOME": str(directory),
        "WEFT_STORE": f"sqlite://{directory}/store",
        "WEFT_EMBEDDER": embedder,
        "WEFT_EMBEDDER_URL": url,
    }


@pytest.fixture
def start(tmp_path: Path, server: EmbeddingServer) -> Iterator[Start]:
    """Starts processes on the test's store, and sees that none outlives it."""
    running: list[subprocess.Popen[str]] = []

    def begin(*command: str, embedder: str) -> subprocess.Popen[str]:
        made = subprocess.Popen(
            [sys.executable, *command],
            cwd=tmp_path,
            env=environment(tmp_path, embedder, server.url),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        running.append(made)
        return made

    yield begin
    for each in running:
        if each.poll() is None:
            each.kill()
        with suppress(ValueError):  # it was waited for
            each.communicate()


def ended(process: subprocess.Popen[str]) -> str:
    out, errors = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, errors
    return out


def test_progress_has_a_total_and_a_limit_is_kept(opened: Open, server: EmbeddingServer) -> None:
    without_vectors(opened, 300)
    memory = opened("ollama:nomic", server.url)
    seen: list[tuple[str, int, int]] = []
    given = {"limit": 2 * BATCH_TEXTS - 6}
    done = memory.run(operation("reindex"), given, progress=lambda *told: seen.append(told))
    assert done.embedded == given["limit"]  # type: ignore[attr-defined]
    assert ("embedding", BATCH_TEXTS, given["limit"]) in seen
    assert ("embedding", given["limit"], given["limit"]) in seen
    assert held(memory).vectors == {"ollama:nomic": given["limit"]}
    assert memory.call("reindex").embedded == 300 - given["limit"]
    assert memory.call("reindex").embedded == 0
    assert len(server.texts) == 300


def test_only_the_operator_reindexes(opened: Open, server: EmbeddingServer) -> None:
    with pytest.raises(Forbidden):
        opened("ollama:nomic", server.url, WEFT_ROLE="agent").call("reindex")


def test_killed_it_goes_on_where_it_was(opened: Open, server: EmbeddingServer, start: Start) -> None:
    memory = without_vectors(opened, 1_000)
    server.slow_s = 0.05
    killed = start(*REINDEX, embedder="ollama:nomic")
    deadline = time.monotonic() + PATIENCE_S
    while len(server.texts) < 5 * BATCH_TEXTS:
        assert time.monotonic() < deadline
        assert killed.poll() is None
        time.sleep(0.005)
    killed.kill()
    killed.communicate()
    server.slow_s = 0.0
    saved = held(memory).vectors["ollama:nomic"]
    assert saved >= 3 * BATCH_TEXTS  # but for the batch being made, and the one being saved
    told = json.loads(ended(start(*REINDEX, "--json", embedder="ollama:nomic")))
    assert told["embedded"] == 1_000 - saved
    assert held(memory).vectors == {"ollama:nomic": 1_000}
    assert len(server.texts) <= 1_000 + 3 * BATCH_TEXTS


def test_two_at_once_do_the_work_once(opened: Open, server: EmbeddingServer, start: Start) -> None:
    memory = without_vectors(opened, 600)
    server.slow_s = 0.05
    both = [start(*REINDEX, embedder="ollama:nomic") for _ in range(2)]
    for each in both:
        ended(each)
    assert held(memory).vectors == {"ollama:nomic": 600}
    assert len(server.texts) == 600


def test_a_switch_under_load(opened: Open, server: EmbeddingServer, start: Start, tmp_path: Path) -> None:
    """Nobody gets an error, every answer finds something, and no text is left behind."""
    before = without_vectors(opened, 1_000)
    assert opened("ollama:old", server.url).call("reindex").embedded == 1_000
    roles = [("write", "ollama:old"), ("write", "ollama:new"), ("ask", "ollama:old"), ("ask", "ollama:new")]
    others = [
        start("-m", LOAD, what, f"{what}-{at}", str(tmp_path), embedder=embedder)
        for at, (what, embedder) in enumerate(roles)
    ]
    for each in others:
        assert each.stdout is not None
        assert each.stdout.readline() == "ready\n"
    time.sleep(0.3)
    done = json.loads(ended(start(*REINDEX, "--json", embedder="ollama:new")))
    time.sleep(0.3)
    for each in others:
        lines = ended(each).splitlines()
        assert [line for line in lines if line.startswith("problem")] == []
        assert int(lines[-1].split()[1]) > 0
    assert done["switched_from"] == "ollama:old"
    assert before.ctx.store.space(before.ctx.viewer) == Space(model="ollama:new", embedder="ollama:new", url=server.url)
    counted = held(before)
    assert counted.texts > 1_000
    assert counted.vectors["ollama:new"] == counted.texts
