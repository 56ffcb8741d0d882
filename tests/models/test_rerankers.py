"""Rerankers behind HTTP: each protocol changes the order; each fault leaves it as it was, with a note, in time."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from msgspec.structs import replace

from tests.retrieval.reranking import BEFORE, KEY, RerankServer, ask, order, served, serving, why, world
from weft.core.errors import Misconfigured, ModelError
from weft.models import json_post, reranker_from
from weft.models.reranker_in_use import REST_US
from weft.models.rerankers import MAX_TEXT_CHARACTERS, CrossEncoderReranker
from weft.testing.clock import ManualClock

SHORT_S = 0.3
SKIPPED = "the reranker failed, so its step was skipped: "


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[RerankServer]:
    monkeypatch.setattr(json_post, "RETRY_PAUSE_S", 0.01)
    with serving() as played:
        yield played


every_protocol = pytest.mark.parametrize("kind", ["http", "late", "openai"])
STRATEGIES = {"http": "cross-encoder", "late": "late-interaction", "openai": "language-model"}


@every_protocol
def test_what_the_server_prefers_comes_first_and_says_so(server: RerankServer, kind: str) -> None:
    ctx = world()
    assert order(ask(ctx)) == BEFORE
    answer = ask(replace(ctx, reranker=served(kind, server)))
    assert order(answer) == ["ten", "nine", "blue", "train"]
    assert why(answer, "ten").startswith(f"{kind}:small ({STRATEGIES[kind]}): 0.9, rank 1 of 4, weight 0.")
    assert not [note for note in answer.notes if "rerank" in note]
    assert len(server.requests) == 1


def test_requests_follow_each_protocol(server: RerankServer) -> None:
    for kind in STRATEGIES:
        served(kind, server).rank("Where's Éva?", ["Éva sails", " ", "lone \ud800"])
    (path, headers, body), (path2, _, body2), (path3, headers3, body3) = server.requests
    assert path == "/v1/rerank"
    assert body == {
        "model": "small",
        "query": "Where's Éva?",
        "documents": ["Éva sails", ".", "lone ?"],
        "top_n": 3,
    }
    assert headers["Authorization"] == headers3["Authorization"] == f"Bearer {KEY}"
    assert path2 == "/v1/late-interaction"
    assert body2["query_tokens"] == ["where", "eva"]
    assert body2["documents"] == [
        {"index": 0, "tokens": ["eva", "sails"]},
        {"index": 1, "tokens": []},
        {"index": 2, "tokens": ["lone"]},
    ]
    assert path3 == "/v1/chat/completions"
    assert body3["response_format"] == {"type": "json_object"}
    assert json.loads(body3["messages"][1]["content"])["texts"][0] == {"index": 0, "text": "Éva sails"}


def test_a_bare_list_of_scores_is_taken_too(server: RerankServer) -> None:
    server.bare = True
    assert order(ask(replace(world(), reranker=served("http", server))))[0] == "ten"


@every_protocol
def test_what_is_sent_is_bounded(server: RerankServer, kind: str) -> None:
    reranker = served(kind, server)
    server.wanted = "x0 "
    found = reranker.rank("q" * 50_000, [f"x{number} " * 10_000 for number in range(80)])
    assert len(json.dumps(server.requests[0][2])) < (MAX_TEXT_CHARACTERS + 4_000) * 50
    assert len(found) == 80
    assert found[0] == 0.9
    assert set(found[reranker.most :]) == {None}


# ---- faults: the order before, to the last bit, and a note


def row_of(index: Any, score: Any) -> dict[str, Any]:
    return {"index": index, "relevance_score": score, "score": score}


FAULTS: dict[str, Callable[[RerankServer], Any]] = {
    "500": lambda server: setattr(server, "status", 500),
    "404": lambda server: setattr(server, "status", 404),
    "prose": lambda server: setattr(server, "raw", b"Text 2 is the best by far."),
    "half JSON": lambda server: setattr(server, "raw", b'{"results": [{"index": 0, "relevance_sc'),
    "nothing": lambda server: setattr(server, "raw", b""),
    "another object": lambda server: setattr(server, "raw", b'{"error": "no"}'),
    "foreign index": lambda server: setattr(server, "change", lambda rows: [*rows[1:], row_of(4, 0.9)]),
    "negative index": lambda server: setattr(server, "change", lambda rows: [*rows[1:], row_of(-1, 0.9)]),
    "index in words": lambda server: setattr(server, "change", lambda rows: [row_of("ten", 0.9)]),
    "repeated index": lambda server: setattr(server, "change", lambda rows: [*rows, rows[0]]),
    "NaN": lambda server: setattr(server, "change", lambda rows: [*rows[1:], row_of(0, float("nan"))]),
    "infinite": lambda server: setattr(server, "change", lambda rows: [row_of(0, float("inf"))]),
    "score in words": lambda server: setattr(server, "change", lambda rows: [row_of(0, "high")]),
    "no score": lambda server: setattr(server, "change", lambda rows: [row_of(0, None)]),
    "no rows": lambda server: setattr(server, "change", lambda rows: []),
}


@every_protocol
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_leaves_the_order_as_it_was(server: RerankServer, kind: str, fault: str) -> None:
    ctx = world()
    before = ask(ctx)
    FAULTS[fault](server)
    answer = ask(replace(ctx, reranker=served(kind, server)))
    assert answer.ranked == before.ranked
    assert len([note for note in answer.notes if note.startswith(SKIPPED)]) == 1
    assert not [note for note in answer.notes if KEY in note]
    assert server.requests


@every_protocol
def test_nobody_there_and_a_server_that_hangs_cost_one_deadline(server: RerankServer, kind: str) -> None:
    ctx = world()
    before = ask(ctx)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        nobody = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
    refused = reranker_from(f"{kind}:small", clock=ManualClock(), url=nobody)
    answer = ask(replace(ctx, reranker=refused))
    assert answer.ranked == before.ranked
    assert [note for note in answer.notes if note.startswith(SKIPPED) and "cannot be reached" in note]
    server.hangs = True
    hanging = replace(ctx, reranker=served(kind, server, deadline_s=SHORT_S))
    began = time.monotonic()
    answer = ask(hanging)
    assert time.monotonic() - began >= SHORT_S
    assert answer.ranked == before.ranked
    assert [note for note in answer.notes if note.startswith(SKIPPED) and "within 0.3 s" in note]


def test_a_server_that_trickles_is_given_up_in_time() -> None:
    stop = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def drip() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.sendall(b"HTTP/1.1 200 OK\r\n")
                while not stop.wait(SHORT_S / 4):
                    try:
                        connection.sendall(b"X-Slow: 1\r\n")
                    except OSError:
                        return
                connection.sendall(b"Content-Length: 0\r\n\r\n")

        thread = threading.Thread(target=drip)
        thread.start()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        reranker = reranker_from("http:small", clock=ManualClock(), url=url, deadline_s=SHORT_S)
        answer = ask(replace(world(), reranker=reranker))  # it comes while the server still trickles
        stop.set()
        thread.join()
    assert order(answer) == BEFORE
    assert [note for note in answer.notes if note.startswith(SKIPPED)]


def test_after_a_failure_the_server_is_left_alone_for_a_while(server: RerankServer) -> None:
    clock = ManualClock()
    ctx = replace(world(clock=clock), reranker=served("http", server, clock=clock))
    server.raw = b"no"
    ask(ctx)
    server.raw = None
    clock.step(REST_US - 1)
    answer = ask(ctx)
    assert [note for note in answer.notes if "failed recently and is not called for a while" in note]
    assert (order(answer), len(server.requests)) == (BEFORE, 1)
    clock.step(1)
    answer = ask(ctx)
    assert (order(answer)[0], len(server.requests)) == ("ten", 2)
    assert not [note for note in answer.notes if "rerank" in note]


@every_protocol
def test_a_partial_answer_reranks_only_what_it_names(server: RerankServer, kind: str) -> None:
    ctx = world()
    before = {each.node.id: each for each in ask(ctx).ranked or ()}
    server.wanted = "noon"
    server.change = lambda rows: [row for row in rows if row["index"] in (1, 3)]
    answer = ask(replace(ctx, reranker=served(kind, server)))
    assert [note for note in answer.notes if "scored only 2 of 4 hits" in note]
    after = {each.node.id: each for each in answer.ranked or ()}
    for untouched in ("nine", "blue"):
        assert after[untouched] == before[untouched]
        assert order(answer).index(untouched) == BEFORE.index(untouched)
    assert why(answer, "train")
    assert order(answer) == (["nine", "train", "blue", "ten"] if kind != "openai" else BEFORE), "its word counts less"


def test_a_model_without_a_name_is_refused() -> None:
    with pytest.raises(Misconfigured, match="has no name"):
        CrossEncoderReranker("", json_post.Endpoint("http://127.0.0.1:1"))


def test_a_failure_is_an_error_of_the_model(server: RerankServer) -> None:
    server.change = lambda rows: [row_of(9, 0.5)]
    with pytest.raises(ModelError, match="text 9 where 0 to 1 were sent") as caught:
        served("http", server).rank("q", ["a", "b"])
    assert caught.value.hint
