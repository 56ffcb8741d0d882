"""An embedder that is dead, slow or wrong: writes are kept, one note says so, and `reindex` adds what is missing."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import weft
from tests.models.switching.conftest import Open, fill
from tests.stand_ins import EmbeddingServer, listening
from tests.waiting import wait_for
from weft.core.errors import ModelError
from weft.models.embedding import REST_US
from weft.models.http import OllamaEmbedder
from weft.models.json_post import Endpoint
from weft.testing.clock import ManualClock


def missing(memory: weft.Memory) -> int:
    held = memory.stats().vectors
    assert held is not None
    return held.missing


def vector_notes(answer: Any) -> list[str]:
    """What a write says of vectors."""
    items = [item.notes for item in getattr(answer, "items", ())]
    return [note for notes in (answer.notes, *items) for note in notes if "vector" in note]


def document(folder: Path) -> Path:
    file = folder / "guide.md"
    file.write_text("# Harbour\n\nFerries leave at nine.\n\n## Tides\n\nThe tide is low at six in the morning.\n")
    return file


def source(folder: Path) -> Path:
    file = folder / "tide.py"
    file.write_text('def low_tide(hour):\n    """Whether the water is low."""\n    return hour == 6\n')
    return file


def transcript(folder: Path) -> Path:
    file = folder / "talk.txt"
    file.write_text("Ada: when is low tide?\nBen: at six, every morning.\n")
    return file


WRITES: dict[str, Callable[[weft.Memory, Path], Any]] = {
    "remember": lambda memory, _: memory.remember("The pilot boards at dawn."),
    "add_fact": lambda memory, _: memory.add_fact("Ada", "lives_in", "Bergen"),
    "memory_write": lambda memory, _: memory.memory_write("Note", "Ropes are checked on Mondays."),
    "report_write": lambda memory, _: memory.call("report_write", title="Berths", body="We book berths by phone."),
    "correct": lambda memory, _: memory.correct(memory.recent().nodes[0].id, "The ferry leaves at ten."),
    "remember_many": lambda memory, _: memory.call(
        "remember_many", items=[{"text": f"Ship {number} came in."} for number in range(5)]
    ),
    "record_turns": lambda memory, _: memory.record_turns("talk", ["Ada: when is low tide?", "Ben: at six."]),
    "ingest a document": lambda memory, folder: memory.ingest(document(folder)),
    "ingest source code": lambda memory, folder: memory.ingest(source(folder)),
    "ingest a transcript": lambda memory, folder: memory.call("ingest_transcript", path=str(transcript(folder))),
}


@pytest.mark.parametrize("kind", WRITES)
def test_every_way_to_write_survives(
    opened: Open, server: EmbeddingServer, tmp_path: Path, clock: ManualClock, kind: str
) -> None:
    memory = opened("ollama:nomic", server.url)
    memory.remember("The ferry leaves at nine.")
    assert missing(memory) == 0
    server.fault = (500, b"out of memory")
    asked = len(server.texts)
    folder = tmp_path / "project"
    folder.mkdir()
    answer = WRITES[kind](memory, folder)
    notes = vector_notes(answer)
    assert len(notes) == 1, answer.notes
    assert "saved without vectors, `weft reindex` adds them" in notes[0]
    assert missing(memory) > 0
    assert len(server.texts) == asked
    clock.step(REST_US)
    server.fault = None
    done = memory.call("reindex")
    assert done.embedded > 0
    assert done.notes == ()
    assert missing(memory) == 0


def test_a_failed_embedder_is_left_alone_and_asked_again(
    opened: Open, server: EmbeddingServer, clock: ManualClock
) -> None:
    memory = opened("ollama:nomic", server.url)
    server.lasts = 0
    assert vector_notes(memory.remember("The ferry leaves at nine."))
    server.lasts = None
    for number in range(3):
        assert len(vector_notes(memory.remember(f"Ship {number} came in."))) == 1
    assert server.texts == []
    clock.step(REST_US)
    assert not vector_notes(memory.remember("The pilot boards at dawn."))
    assert "The pilot boards at dawn." in server.embedded("nomic")


WRONG: dict[str, Callable[[list[list[float]]], Any]] = {
    "not a number": lambda rows: [[float("nan")] * len(rows[0]) for _ in rows],
    "too few rows": lambda rows: rows[1:],
    "rows of different lengths": lambda rows: [row[: 3 + at] for at, row in enumerate(rows)],
    "zeros": lambda rows: [[0.0] * len(row) for row in rows],
    "words": lambda rows: ["hello" for _ in rows],
}


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_vectors_never_reach_the_store(opened: Open, server: EmbeddingServer, wrong: str) -> None:
    memory = opened("ollama:nomic", server.url)
    server.wrong = WRONG[wrong]
    answer = memory.record_turns("talk", [f"Ada: ship {number} came in." for number in range(5)])
    assert len(vector_notes(answer)) == 1
    held = memory.stats().vectors
    assert held is not None
    assert held.by_model == {}
    assert memory.recall("which ships came in").hits
    (check,) = [check for check in memory.doctor().checks if check.name == "vectors"]
    assert not check.ok
    assert check.hint


def test_another_dimension_by_the_same_name_is_kept_out(opened: Open, server: EmbeddingServer) -> None:
    """Somebody put another model behind the address: what is written and asked goes on by words."""
    opened("ollama:nomic", server.url).remember("The ferry leaves at nine.")
    server.wrong = lambda rows: [row[:4] for row in rows]
    memory = opened("ollama:nomic", server.url)
    answer = memory.remember("The pilot boards at dawn.")
    assert any("a different model under the same name" in note for note in answer.notes)
    asked = memory.recall("when does the pilot board")
    assert asked.hits[0].node.text == "The pilot boards at dawn."
    assert any("4 dimensions where the vectors here have 16" in note for note in asked.notes)
    with pytest.raises(weft.core.errors.WeftError, match="16 dimensions here, not 4"):
        memory.call("reindex")


def test_a_server_that_dies_in_the_middle_leaves_what_was_saved(
    opened: Open, server: EmbeddingServer, clock: ManualClock
) -> None:
    fill(opened("none"), 300)
    memory = opened("ollama:nomic", server.url)
    texts = missing(memory)
    assert texts == 300
    server.lasts = 4  # requests of 64 texts
    with pytest.raises(ModelError) as caught:
        memory.call("reindex")
    assert "run `weft reindex` again to continue" in caught.value.hint
    left = missing(memory)
    assert 0 < left < texts
    server.lasts = None
    before = len(server.texts)
    assert memory.call("reindex").embedded == left
    assert missing(memory) == 0
    assert left <= len(server.texts) - before <= left + 1


def test_a_slow_server_holds_a_write_up_no_longer_than_its_limit(
    opened: Open, server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weft.models.DEFAULT_TIMEOUT_S", 0.3)
    memory = opened("ollama:nomic", server.url)
    monkeypatch.setattr(memory.ctx.embedding._embedder, "_endpoint", Endpoint(server.url, "", 0.3))
    with server.held():
        answer = memory.remember("The ferry leaves at nine.")  # it comes back while the server is still at it
    assert "did not answer within 0.3 s" in vector_notes(answer)[0]


# ---- the whole call has a limit, however the server spends it


@contextmanager
def trickling(first: bytes, drop: bytes) -> Iterator[str]:
    """A server that says the first bytes at once and one more every 50 ms, for as long as anybody listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.05)
        over = threading.Event()

        def serve() -> None:
            while not over.is_set():
                try:
                    peer, _ = server.accept()
                except TimeoutError:
                    continue
                with peer:
                    try:
                        peer.sendall(first)
                        while not over.wait(0.05):
                            peer.sendall(drop)
                    except OSError:
                        continue

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}"
        finally:
            over.set()
            thread.join()


HEAD = b"HTTP/1.1 200 OK\r\n"


@pytest.mark.parametrize(
    ("first", "drop"),
    [
        pytest.param(b"HTTP/1.1 200", b" ", id="status line"),
        pytest.param(HEAD, b"X-Wait: 1\r\n", id="headers"),
        pytest.param(HEAD + b"X-Long: ", b"x", id="one header"),
        pytest.param(HEAD + b"Content-Length: 100000\r\n\r\n", b" ", id="body"),
        pytest.param(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n", id="chunks"),
        pytest.param(b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 100 Continue\r\n\r\n", id="continue"),
    ],
)
def test_an_answer_that_trickles_is_given_up_in_time(first: bytes, drop: bytes) -> None:
    with trickling(first, drop) as url:
        with pytest.raises(ModelError, match="did not answer within"):  # though the server never stops
            OllamaEmbedder("nomic", Endpoint(url, timeout_s=0.4)).embed(["one"])
        wait_for(lambda: all(thread.name != "weft-model-call" for thread in threading.enumerate()))


def test_both_attempts_share_one_limit() -> None:
    """It hangs up once, late, and hangs for good the second time."""
    over = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            peer, _ = server.accept()
            time.sleep(2.0)
            peer.close()
            second, _ = server.accept()
            with second:
                over.wait(10.0)

        thread = threading.Thread(target=serve)
        thread.start()
        began = time.monotonic()
        with pytest.raises(ModelError):
            OllamaEmbedder("nomic", Endpoint(f"http://127.0.0.1:{server.getsockname()[1]}", timeout_s=2.5)).embed(["a"])
        assert time.monotonic() - began < 4.2, "each attempt had a limit of its own: 4.5 s"
        over.set()
        thread.join()


# ---- texts over the model's context


def test_a_text_over_the_context_is_read_in_pieces(server: EmbeddingServer) -> None:
    server.refuses = lambda text: len(text) > 2_000
    long = "harbour " * 1_000
    embedder = OllamaEmbedder("nomic", Endpoint(server.url))
    rows = embedder.embed(["short", long, "other"])
    assert rows.shape == (3, 16)
    assert rows[1] @ embedder.embed(["harbour"])[0] > 0.99
    assert max(map(len, server.embedded("nomic"))) <= 2_000


def test_a_server_that_refuses_everything_is_not_asked_for_ever(server: EmbeddingServer) -> None:
    server.fault = (400, b"no such model")
    count = 0

    def counted(*given: Any) -> tuple[int, bytes]:
        nonlocal count
        count += 1
        return server.answer(*given)

    with listening(counted) as url, pytest.raises(ModelError, match="no such model"):
        OllamaEmbedder("nomic", Endpoint(url)).embed(["word " * 20_000, *["short"] * 40])
    assert count < 20


def test_one_text_that_cannot_be_embedded_keeps_no_other_back(opened: Open, server: EmbeddingServer) -> None:
    fill(opened("none"), 150)
    memory = opened("ollama:nomic", server.url)
    texts = missing(memory)

    server.refuses = lambda text: "number 77 " in text
    done = memory.call("reindex")
    assert done.embedded == texts - 1
    assert done.in_use == "ollama:nomic"
    assert any(note.startswith("1 texts were refused by the embedder") for note in done.notes)
    assert missing(memory) == 1
    assert "Ship number 77 came in." in [hit.node.text for hit in memory.recall("ship 77", limit=50).hits]
    server.refuses = lambda _: False
    assert memory.call("reindex").embedded == 1
