"""Embedders over HTTP: the port's contract, wrong servers, and the settings that choose one."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from tests.stand_ins import listening
from weft.core.errors import Misconfigured, ModelError, TooLarge
from weft.core.ports import Embedder
from weft.models import embedder_from, json_post
from weft.models.http import BATCH_TEXTS, HttpEmbedder, OllamaEmbedder
from weft.models.json_post import Endpoint

KEY = "sk-very-secret"


# ---- over HTTP: a stand-in that speaks the real protocols on a real socket


def vector_of(text: str) -> list[float]:
    """Unnormalised, and telling texts apart."""
    return [3.0, float(len(text)), float(sum(map(ord, text)) % 101), -1.0]


@dataclass
class ModelServer:
    """Answers as `/v1/embeddings` and `/api/embed` do; `faults` are played first, one per request."""

    url: str = ""
    requests: list[tuple[str, dict[str, str], dict[str, Any]]] = field(default_factory=list)
    faults: list[tuple[int, bytes]] = field(default_factory=list)
    change: Callable[[list[list[float]]], list[list[float]]] = list
    hang: threading.Event = field(default_factory=threading.Event)
    hangs: bool = False

    def answer(self, path: str, headers: dict[str, str], body: dict[str, Any]) -> tuple[int, bytes]:
        self.requests.append((path, headers, body))
        if self.hangs:
            self.hang.wait(10)
        if self.faults:
            return self.faults.pop(0)
        vectors = self.change([vector_of(text) for text in body["input"]])
        if path == "/api/embed":
            return 200, json.dumps({"model": body["model"], "embeddings": vectors}).encode()
        if path != "/v1/embeddings":
            return 404, b"404 page not found"
        data = [{"object": "embedding", "index": index, "embedding": row} for index, row in enumerate(vectors)]
        return 200, json.dumps({"object": "list", "data": data[::-1], "model": body["model"]}).encode()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    monkeypatch.setattr(json_post, "RETRY_PAUSE_S", 0.01)
    played = ModelServer()

    with listening(played.answer) as url:
        played.url = url
        yield played
        played.hang.set()


def openai(server: ModelServer, *, dimensions: int | None = None, timeout_s: float = 5.0) -> HttpEmbedder:
    return HttpEmbedder("small", Endpoint(f"{server.url}/v1/", KEY, timeout_s), dimensions=dimensions)


def ollama(server: ModelServer, *, dimensions: int | None = None, timeout_s: float = 5.0) -> OllamaEmbedder:
    return OllamaEmbedder("nomic", Endpoint(server.url, "", timeout_s), dimensions=dimensions)


Maker = Callable[..., HttpEmbedder | OllamaEmbedder]


both = pytest.mark.parametrize("make", [openai, ollama])


@both
def test_served_rows_are_normalised_and_in_order(server: ModelServer, make: Maker) -> None:
    texts = ["one", "three hundred", "b"]
    expected = np.array([vector_of(text) for text in texts])
    rows = make(server).embed(texts)
    assert rows.dtype == np.float32
    assert rows == pytest.approx(expected / np.linalg.norm(expected, axis=1, keepdims=True), abs=1e-6)


def test_requests_follow_each_protocol(server: ModelServer) -> None:
    openai(server).embed(["x", " "])
    ollama(server).embed(["x"])
    (path, headers, body), (path2, headers2, body2) = server.requests
    assert (path, body) == ("/v1/embeddings", {"model": "small", "input": ["x", "."]})
    assert headers["Authorization"] == f"Bearer {KEY}"
    assert (path2, body2) == ("/api/embed", {"model": "nomic", "input": ["x"], "truncate": False})
    assert "Authorization" not in headers2


@both
def test_many_texts_go_in_bounded_batches(server: ModelServer, make: Maker) -> None:
    texts = [f"text {number}" for number in range(BATCH_TEXTS + 3)]
    rows = make(server).embed(texts)
    assert [len(body["input"]) for _, _, body in server.requests] == [BATCH_TEXTS, 3]
    assert np.array_equal(rows[-1], make(server).embed(texts[-1:])[0])


@both
def test_dimensions_are_asked_for_once_when_not_stated(server: ModelServer, make: Maker) -> None:
    embedder = make(server)
    assert embedder.embed([]).shape == (0, 4)
    assert embedder.dimensions == 4
    assert len(server.requests) == 1
    assert make(server, dimensions=7).dimensions == 7
    assert len(server.requests) == 1


WRONG: dict[str, Callable[[list[list[float]]], list[list[float]]]] = {
    "short": lambda vectors: [row[:3] for row in vectors],
    "ragged": lambda vectors: [vectors[0], *([row[:2] for row in vectors[1:]])],
    "empty": lambda vectors: [[] for _ in vectors],
    "nan": lambda vectors: [[float("nan")] * 4 for _ in vectors],
    "infinite": lambda vectors: [[float("inf")] * 4 for _ in vectors],
    "overflowing": lambda vectors: [[1e300] * 4 for _ in vectors],
    "null": lambda vectors: [[None] * 4 for _ in vectors],  # type: ignore[list-item]
    "zero": lambda vectors: [[0.0] * 4 for _ in vectors],
    "missing one": lambda vectors: vectors[:-1],
    "one too many": lambda vectors: [*vectors, vectors[0]],
}


@both
@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_vectors_are_refused(server: ModelServer, make: Maker, wrong: str) -> None:
    server.change = WRONG[wrong]
    with pytest.raises(ModelError) as caught:
        make(server, dimensions=4).embed(["one", "two"])
    assert caught.value.hint
    assert len(server.requests) == 1


@both
def test_a_dimension_that_changes_later_is_refused(server: ModelServer, make: Maker) -> None:
    embedder = make(server)
    embedder.embed(["one"])
    server.change = WRONG["short"]
    with pytest.raises(ModelError, match="3 dimensions where 4 were due"):
        embedder.embed(["one"])


@both
@pytest.mark.parametrize("answer", [b"<html>hello</html>", b"", b'{"error": "no"}', b"[]", b"\xff\xfe"])
def test_answers_that_are_not_embeddings_are_refused(server: ModelServer, make: Maker, answer: bytes) -> None:
    server.faults = [(200, answer)]
    with pytest.raises(ModelError, match="no embeddings"):
        make(server).embed(["one"])


def test_indexes_that_do_not_match_are_refused(server: ModelServer) -> None:
    item = {"index": 0, "embedding": [1.0]}
    server.faults = [(200, json.dumps({"data": [item, item]}).encode())]
    with pytest.raises(ModelError, match="indexes"):
        openai(server).embed(["one", "two"])


@both
@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_passing_fault_is_tried_once_more(server: ModelServer, make: Maker, status: int) -> None:
    server.faults = [(status, b"busy")]
    assert make(server).embed(["one"]).shape == (1, 4)
    server.faults = [(status, b"busy"), (status, b"busy")]
    with pytest.raises(ModelError, match=f"answered {status}: busy"):
        make(server).embed(["one"])
    assert len(server.requests) == 4


def test_a_refusal_is_not_repeated_and_does_not_show_the_key(server: ModelServer) -> None:
    server.faults = [(401, f"Incorrect API key provided: {KEY}".encode())]
    with pytest.raises(ModelError, match="answered 401") as caught:
        openai(server).embed(["one"])
    assert len(server.requests) == 1
    assert KEY not in str(caught.value)
    assert KEY not in repr(Endpoint(server.url, KEY))


@both
def test_a_hang_ends_at_the_timeout_without_a_retry(server: ModelServer, make: Maker) -> None:
    server.hangs = True
    with pytest.raises(ModelError, match=r"did not answer within 0\.3 s"):
        make(server, timeout_s=0.3).embed(["one"])
    assert len(server.requests) == 1


def test_an_unreachable_server_is_a_model_error(server: ModelServer) -> None:
    with pytest.raises(ModelError, match="cannot be reached"):
        OllamaEmbedder("nomic", Endpoint("http://127.0.0.1:1")).embed(["one"])


@both
def test_a_text_too_long_to_send_is_refused(server: ModelServer, make: Maker) -> None:
    with pytest.raises(TooLarge, match="text 0 "):
        make(server).embed(["x" * 200_001])
    assert server.requests == []


@pytest.mark.parametrize(
    ("url", "key", "timeout_s"),
    [
        ("ftp://host", "", 5.0),
        ("http://", "", 5.0),
        ("http://host:port", "", 5.0),
        ("http://user:secret@host", "", 5.0),
        ("http://host/?a=b", "", 5.0),
        ("http://host", "with\nnewline", 5.0),
        ("http://host", "", 0.0),
    ],
)
def test_unusable_endpoints_are_misconfigured(url: str, key: str, timeout_s: float) -> None:
    with pytest.raises(Misconfigured) as caught:
        Endpoint(url, key, timeout_s)
    assert "secret" not in str(caught.value)


# ---- chosen by setting


@pytest.mark.parametrize(
    ("name", "model"),
    [("builtin", "minilm-l6-v2/int8"), ("ollama:nomic:v1.5", "ollama:nomic:v1.5"), ("openai:small", "openai:small")],
)
def test_a_setting_names_an_embedder(name: str, model: str) -> None:
    embedder: Embedder | None = embedder_from(name)
    assert embedder is not None
    assert embedder.model == model


def test_the_url_and_the_key_reach_the_server(server: ModelServer) -> None:
    embedder = embedder_from("openai:small", url=f"{server.url}/v1", key=KEY)
    assert embedder is not None
    embedder.embed(["x"])
    assert server.requests[0][1]["Authorization"] == f"Bearer {KEY}"


def test_none_is_no_embedder() -> None:
    assert embedder_from("none") is None


@pytest.mark.parametrize("name", ["", "ollama", "ollama:", "builtin:x", "word2vec"])
def test_an_unknown_name_is_misconfigured_with_the_choices(name: str) -> None:
    with pytest.raises(Misconfigured, match="builtin, none, ollama:<model>, openai:<model>"):
        embedder_from(name)
