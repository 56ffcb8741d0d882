"""Stand-ins for model servers: they speak the real protocols, over real sockets."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from zlib import crc32

Answer = Callable[[str, dict[str, str], dict[str, Any]], tuple[int, bytes]]
DIMENSIONS = 16
HELD_S = 60.0  # a server is held no longer than this


def _set_event() -> threading.Event:
    event = threading.Event()
    event.set()
    return event


@contextmanager
def listening(answer: Answer) -> Iterator[str]:
    """A server that answers posted JSON, by path, headers and body; its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, said = answer(self.path, dict(self.headers), body)
            try:
                if status == 0:  # hangs up without a word
                    return
                self.send_response(status)
                self.send_header("Content-Length", str(len(said)))
                self.end_headers()
                self.wfile.write(said)
            except ConnectionError:  # the client gave up, as some tests mean it to
                return

        def log_message(self, *args: object) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def vector_of(text: str, model: str) -> list[float]:
    """Its words, thrown into a few places by the model's name: alike texts are near, and no two models agree."""
    places = [0.01] * DIMENSIONS
    for word in text.lower().split():
        places[crc32(f"{model} {word.strip('.,?')}".encode()) % DIMENSIONS] += 1.0
    return places


@dataclass
class EmbeddingServer:
    """Answers as `/v1/embeddings` and `/api/embed` do, with any model's name. Safe to change while it is asked."""

    url: str = ""
    texts: list[tuple[str, str]] = field(default_factory=list)  # (model, text), as they came
    keys: set[str] = field(default_factory=set)
    fault: tuple[int, bytes] | None = None
    wrong: Callable[[list[list[float]]], Any] = list
    refuses: Callable[[str], bool] = lambda _: False
    lasts: int | None = None  # requests that are answered before it hangs up on everybody
    slow_s: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _free: threading.Event = field(default_factory=_set_event)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Answers nobody meanwhile."""
        self._free.clear()
        try:
            yield
        finally:
            self._free.set()

    def answer(self, path: str, headers: dict[str, str], body: dict[str, Any]) -> tuple[int, bytes]:
        with self._lock:
            self.keys.add(headers.get("Authorization", ""))
            if self.lasts is not None:
                self.lasts -= 1
                if self.lasts < 0:
                    return 0, b""
        time.sleep(self.slow_s)
        self._free.wait(HELD_S)
        if self.fault is not None:
            return self.fault
        model, texts = body["model"], body["input"]
        if any(map(self.refuses, texts)):
            return 400, b'{"error": "the input length exceeds the context length"}'
        with self._lock:
            self.texts += [(model, text) for text in texts]
        vectors = self.wrong([vector_of(text, model) for text in texts])
        if path == "/api/embed":
            return 200, json.dumps({"model": model, "embeddings": vectors}).encode()
        rows = [{"object": "embedding", "index": at, "embedding": row} for at, row in enumerate(vectors)]
        return 200, json.dumps({"object": "list", "data": rows, "model": model}).encode()

    def embedded(self, model: str) -> list[str]:
        """What it was given for a model, in order."""
        with self._lock:
            return [text for name, text in self.texts if name == model]


@contextmanager
def embedding_server() -> Iterator[EmbeddingServer]:
    """One that listens while the block runs."""
    played = EmbeddingServer()
    with listening(played.answer) as url:
        played.url = url
        yield played
