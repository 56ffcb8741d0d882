"""Vectors of code are made in the background, and never while somebody waits for an answer."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import weft
from tests.code.workbench import Workbench
from tests.stand_ins import EmbeddingServer, embedding_server
from tests.waiting import wait_for

LONG_S = 30.0
A_WHILE_S = 0.5  # in which a batch would be made many times over


@pytest.fixture
def embedder() -> Iterator[EmbeddingServer]:
    with embedding_server() as server:
        yield server


@pytest.fixture
def serving(tmp_path: Path, embedder: EmbeddingServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[weft.Memory]:
    """A server beside code that is not indexed yet. It counts as idle at once."""
    monkeypatch.setattr("weft.runtime.background.QUIET_S", 0.0)
    bench = Workbench(tmp_path)
    bench.write("a.py", "".join(f"def tie_{n}():\n    return {n}\n\n\n" for n in range(20)))
    with bench.open(embedder="ollama:nomic", embedder_url=embedder.url) as memory:
        memory.ctx.background.kind = "stdio"  # a server: it indexes and embeds when the call is over
        yield memory


def index(serving: weft.Memory) -> None:
    """Begins to, and waits until it is done."""
    job = serving.call("graph_rebuild").job.id
    wait_for(
        lambda: [each for each in serving.call("graph_health").jobs if (each.id, each.state) == (job, "done")], job
    )


def of_code(embedder: EmbeddingServer) -> list[str]:
    return [text for text in embedder.embedded("nomic") if "def tie_" in text]


def test_nothing_is_embedded_while_a_caller_waits(
    serving: weft.Memory, embedder: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weft.runtime.background.YIELD_S", LONG_S)
    with serving.ctx.background.answering():
        index(serving)
        time.sleep(A_WHILE_S)
        assert not of_code(embedder)
    wait_for(lambda: len(of_code(embedder)) == 20, "all vectors")


def test_where_callers_never_cease_it_goes_on_bit_by_bit(
    serving: weft.Memory, embedder: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weft.runtime.background.YIELD_S", 0.01)
    with serving.ctx.background.answering():
        index(serving)
        wait_for(lambda: len(of_code(embedder)) == 20, "all vectors")


def test_a_call_counts_from_its_arguments_to_its_answer(
    serving: weft.Memory, embedder: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weft.runtime.background.YIELD_S", LONG_S)
    background, passed = serving.ctx.background, threading.Event()
    background.let_answers_by()  # nobody waits

    def pass_by() -> None:
        background.let_answers_by()
        passed.set()

    with embedder.held():
        caller = threading.Thread(target=lambda: serving.remember("The ferry leaves at noon."))
        caller.start()
        time.sleep(A_WHILE_S)
        waiting = threading.Thread(target=pass_by)
        waiting.start()
        assert not passed.wait(A_WHILE_S)
    caller.join(LONG_S)
    assert passed.wait(LONG_S / 2)
    waiting.join()
