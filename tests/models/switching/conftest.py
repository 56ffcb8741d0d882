"""Memories on disk whose embedder is a server of the test's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

import weft
from tests.stand_ins import EmbeddingServer, embedding_server
from weft.log.draft import Draft
from weft.log.kinds.memory import Remembered
from weft.models import json_post
from weft.testing.clock import ManualClock

Open = Callable[..., weft.Memory]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddingServer]:
    monkeypatch.setattr(json_post, "RETRY_PAUSE_S", 0.01)
    with embedding_server() as played:
        yield played


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def opened(tmp_path: Path, clock: ManualClock) -> Iterator[Open]:
    """Opens the test's store with an embedder: another process, as far as the store can tell."""
    with ExitStack() as stack:

        def open_with(embedder: str, url: str = "", **more: str) -> weft.Memory:
            environment = {"HOME": str(tmp_path), "WEFT_EMBEDDER": embedder, "WEFT_EMBEDDER_URL": url, **more}
            memory = weft.open(f"sqlite://{tmp_path}/store", directory=tmp_path, environment=environment, clock=clock)
            return stack.enter_context(memory)

        yield open_with


def fill(memory: weft.Memory, count: int) -> None:
    """Many short texts, in a commit each hundred."""
    for start in range(0, count, 100):
        made = [
            Remembered(id=f"ship-{number}", text=f"Ship number {number} came in.")
            for number in range(start, min(start + 100, count))
        ]
        memory.ctx.append([Draft(kind="memory.remembered", payload=each) for each in made])
