"""Vectors of what is ingested: each text once, and never a reason to stop."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

import weft
from tests.places import Place
from tests.stand_ins import EmbeddingServer, embedding_server
from weft.models import json_post
from weft.models.embedding import REST_US
from weft.testing.clock import ManualClock


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddingServer]:
    monkeypatch.setattr(json_post, "RETRY_PAUSE_S", 0.01)
    with embedding_server() as played:
        yield played


def opened(place: Place, server: EmbeddingServer) -> weft.Memory:
    return place.open(embedder="ollama:harbour", embedder_url=server.url)


def missing(memory: weft.Memory) -> int:
    held = memory.stats().vectors
    assert held is not None
    return held.missing


def write(place: Place, files: int) -> None:
    for number in range(files):
        text = f"# Berth {number}\n\nShip {number * 7} lies here.\n\n## Rules\n\nNo fires on deck.\n"
        (place.root / f"{number:03}.md").write_text(text)
    (place.root / "m.py").write_text("def mast() -> int:\n    return 2\n")


def test_every_text_is_embedded_once_in_batches_across_files(place: Place, server: EmbeddingServer) -> None:
    write(place, 60)
    memory = opened(place, server)
    done = memory.ingest(place.root)
    assert (done.documents, done.files, done.notes) == (60, 1, ())
    texts = server.embedded("harbour")
    assert texts.count("Rules\nNo fires on deck.") == 1, "what all documents say is one text"
    assert sum("return 2" in text for text in texts) == 1
    assert missing(memory) == 0
    before = len(texts)
    (place.root / "007.md").write_text("Moved on Monday.\n\n" + (place.root / "007.md").read_text())
    memory.ingest(place.root)
    new = server.embedded("harbour")[before:]
    assert any("Moved on Monday" in text for text in new)
    assert not any("Ship" in text and "Moved" not in text for text in new), "what moved down has its vector"


def test_an_embedder_that_dies_costs_vectors_and_one_note(
    place: Place, server: EmbeddingServer, clock: ManualClock
) -> None:
    write(place, 150)
    server.lasts = 2
    memory = opened(place, server)
    done = memory.ingest(place.root)
    assert (done.documents, done.files, done.skipped) == (150, 1, ())
    assert len(done.notes) == 1
    assert "weft reindex" in done.notes[0]
    assert missing(memory) > 0, "what was embedded before is kept"
    server.lasts = None
    clock.step(REST_US)
    assert memory.ingest(place.root).unchanged == 151
    memory.call("reindex")
    assert missing(memory) == 0


def test_files_are_written_while_others_are_embedded(place: Place, server: EmbeddingServer) -> None:
    write(place, 200)
    server.slow_s = 0.15
    memory = opened(place, server)
    seen: list[int] = []
    over = threading.Event()

    def look() -> None:
        with place.open() as other:
            while not over.is_set():
                seen.append(other.stats().store.events)
                time.sleep(0.05)

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        memory.ingest(place.root)
    finally:
        over.set()
        watcher.join()
    assert len(set(seen)) > 2, "what is stopped halfway has kept what it had"
