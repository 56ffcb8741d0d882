"""An embedder that is dead or hangs: words still answer, a note says so, and it is left alone for a while."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

import weft
from weft.core.errors import ModelError
from weft.models.embedding import MAX_AHEAD, REST_US, Embedding
from weft.models.http import HttpEmbedder
from weft.models.json_post import Endpoint
from weft.testing.clock import ManualClock

TIMEOUT_S = 0.2


class Embedder:
    """Four numbers per text; counts what it is asked, and does `first` before each answer."""

    model, dimensions = "test", 4

    def __init__(self, first: Callable[[], None] = lambda: None) -> None:
        self.first, self.asked = first, []

    def embed(self, texts: Sequence[str]) -> Any:
        self.asked += texts
        self.first()
        return np.array([vector_of(text) for text in texts], np.float32)


def vector_of(text: str) -> list[float]:
    return [float(ord(letter)) for letter in text[-4:].rjust(4)]


def dead() -> None:
    raise ModelError("nobody is there")


@contextmanager
def memory_with(embedder: Any, clock: ManualClock, scratch: Path) -> Iterator[weft.Memory]:
    """A memory that was written by words only, and is asked with this embedder."""
    environment = {"HOME": str(scratch), "WEFT_EMBEDDER": "none"}
    with weft.open("memory://", directory=scratch, environment=environment, clock=clock) as opened:
        opened.remember("the ferry leaves at nine")
        opened.ctx = replace(opened.ctx, embedding=Embedding(embedder, clock))
        yield opened


def test_a_dead_embedder_leaves_words_and_rests(tmp_path: Path) -> None:
    clock, embedder = ManualClock(), Embedder(dead)
    with memory_with(embedder, clock, tmp_path) as memory:
        for question, note in (
            ("when does the ferry leave", "the embedder failed: nobody is there"),
            ("ferry at nine", "the embedder failed recently and is not called for a while: nobody is there"),
        ):
            answer = memory.recall(question)
            assert [hit.node.text for hit in answer.hits] == ["the ferry leaves at nine"]
            assert note in answer.notes
        assert embedder.asked == ["when does the ferry leave"]
        clock.step(REST_US)
        embedder.first = lambda: None
        answer = memory.recall("ferry at nine")
        assert embedder.asked == ["when does the ferry leave", "ferry at nine"]
        assert answer.hits
        assert not [note for note in answer.notes if "embedder" in note]


def connections(server: socket.socket) -> int:
    """How many have connected and were not accepted yet."""
    server.setblocking(False)
    made = 0
    with suppress(BlockingIOError):
        while True:
            server.accept()[0].close()
            made += 1
    return made


def test_a_hanging_server_is_given_up_and_left_alone(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:  # connects, and never says a word
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"
        embedder = HttpEmbedder("small", Endpoint(url, "", TIMEOUT_S))
        with memory_with(embedder, ManualClock(), tmp_path) as memory:
            began = time.monotonic()
            first = memory.recall("when does the ferry leave")
            waited_s = time.monotonic() - began
            second = memory.recall("ferry at nine")
            calls = connections(silent)
    assert waited_s >= TIMEOUT_S
    assert calls == 1, "the second question does not call it"
    for answer, start in ((first, "the embedder failed: "), (second, "the embedder failed recently")):
        assert [hit.node.text for hit in answer.hits] == ["the ferry leaves at nine"]
        assert [note for note in answer.notes if note.startswith(start)]


@pytest.mark.parametrize("same", ["each its own question", "all the same question"])
def test_questions_at_once_get_their_own_vectors_each_made_once(same: str) -> None:
    together = threading.Barrier(8)
    embedder = Embedder(lambda: time.sleep(0.05))
    embedding = Embedding(embedder, ManualClock())
    texts = [f"q{n:03d}" if same.startswith("each") else "q000" for n in range(8)]
    answers: list[tuple[str, bytes | None]] = []

    def ask(text: str) -> None:
        embedding.begin(text)
        together.wait(10)
        answers.append((text, embedding.query(text)[0]))

    threads = [threading.Thread(target=ask, args=(text,)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(embedder.asked) == sorted(set(texts))
    assert len(answers) == len(texts)
    for text, data in answers:
        assert data == np.array(vector_of(text), "<f4").tobytes()


def test_questions_begun_and_never_asked_are_let_go() -> None:
    embedding = Embedding(Embedder(), ManualClock())
    for number in range(3 * MAX_AHEAD):
        embedding.begin(f"q{number:03d}")
    assert len(embedding._ahead) == MAX_AHEAD
    assert embedding.query("q000")[0] == np.array(vector_of("q000"), "<f4").tobytes()
