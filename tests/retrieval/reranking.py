"""A small world to rerank, a reranker that says what it is told, and a server that speaks the three protocols."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.properties.running import memory_store
from tests.retrieval.small_worlds import PROJECT, WordEmbedder, context_over, embed_all
from tests.stand_ins import listening
from weft.core.ports import Reranker
from weft.core.types import NOW
from weft.models import reranker_from
from weft.retrieval import recipes
from weft.retrieval.pipeline import Answer, Ask, Stage, run
from weft.retrieval.scoring.rank import Rank
from weft.retrieval.scoring.rerank import Rerank
from weft.runtime.call_context import CallContext
from weft.testing.clock import ManualClock
from weft.testing.scribe import Scribe, memory_of

KEY = "sk-very-secret"
QUESTION = "the ferry leaves to Tarn"  # a statement, which has no time frame
TEXTS = {
    "nine": "the ferry to Tarn leaves at nine, said the harbour master",
    "ten": "the ferry to Tarn leaves at ten on Sundays, said the harbour master",
    "blue": "the ferry is blue",
    "train": "trains leave at noon",
}
BEFORE = ["nine", "ten", "blue", "train"]


def with_stage(stage: Rerank) -> tuple[Stage, ...]:
    """The default recipe with this stage before the last, whether or not it has one already."""
    kept = [each for each in recipes.DEFAULT if each.name not in ("rerank", "rank")]
    return (*kept, stage, Rank(tail=0.0))


def world(texts: Mapping[str, str] = TEXTS, *, clock: ManualClock | None = None, vectors: bool = False) -> CallContext:
    clock = clock or ManualClock()
    store = memory_store(clock)
    scribe = Scribe(store, clock)
    for node_id, text in texts.items():
        scribe.one(memory_of(node_id, text, project=PROJECT))
    if vectors:
        embed_all(store, clock)
    return context_over(store, clock, embedder=WordEmbedder() if vectors else None)


def ask(ctx: CallContext, stage: Rerank | None = None, *, question: str = QUESTION, limit: int = 10) -> Answer:
    return run(with_stage(stage or Rerank()), ctx, Ask(query=question, when=NOW, limit=limit, projects=(PROJECT, None)))


def order(answer: Answer) -> list[str]:
    return [each.node.id for each in answer.ranked or ()]


def why(answer: Answer, node_id: str) -> str:
    found = next(each for each in answer.ranked or () if each.node.id == node_id)
    return next((source.detail for source in found.sources if source.name == "rerank"), "")


class Said:
    """Says the scores it was given, by the start of each text, or does something else."""

    name, strategy, weight, most = "said", "test", 1.0, 50

    def __init__(self, say: Callable[[Sequence[str]], Sequence[float | None]]) -> None:
        self.say, self.asked = say, []

    def rank(self, query: str, texts: Sequence[str]) -> Sequence[float | None]:
        self.asked += [list(texts)]
        return self.say(texts)


@dataclass
class RerankServer:
    """Prefers texts that hold `wanted`. `change` turns its rows into those of a bad day; `raw` replaces the body."""

    url: str = ""
    wanted: str = "sundays"
    requests: list[tuple[str, dict[str, str], dict[str, Any]]] = field(default_factory=list)
    change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]] = list
    raw: bytes | None = None
    status: int = 200
    bare: bool = False
    hang: threading.Event = field(default_factory=threading.Event)
    hangs: bool = False

    def answer(self, path: str, headers: dict[str, str], body: dict[str, Any]) -> tuple[int, bytes]:
        self.requests.append((path, headers, body))
        if self.hangs:
            self.hang.wait(10)
        if self.status != 200:
            return self.status, b"no"
        if path == "/v1/chat/completions":
            texts = [each["text"] for each in json.loads(body["messages"][1]["content"])["texts"]]
            rows = self.change(self.rows(texts, "score"))
            content = json.dumps({"scores": rows}) if self.raw is None else self.raw.decode()
            return 200, json.dumps({"choices": [{"message": {"role": "assistant", "content": content}}]}).encode()
        if path == "/v1/rerank":
            texts = body["documents"]
        elif path == "/v1/late-interaction":
            texts = [" ".join(each["tokens"]) for each in body["documents"]]
        else:
            return 404, b"no such path"
        rows = self.change(self.rows(texts, "score" if self.bare else "relevance_score"))
        answer: Any = rows if self.bare else {"id": "x", "results": rows}
        return 200, json.dumps(answer).encode() if self.raw is None else self.raw

    def rows(self, texts: Sequence[str], called: str) -> list[dict[str, Any]]:
        found = [{"index": at, called: 0.9 if self.wanted in text.lower() else 0.1} for at, text in enumerate(texts)]
        return sorted(found, key=lambda row: -row[called])


@contextmanager
def serving() -> Iterator[RerankServer]:
    """A server that listens while the block runs."""
    played = RerankServer()

    with listening(played.answer) as url:
        played.url = f"{url}/v1"
        yield played
        played.hang.set()


def served(kind: str, server: RerankServer, *, clock: ManualClock | None = None, deadline_s: float = 3.0) -> Reranker:
    found = reranker_from(f"{kind}:small", clock=clock or ManualClock(), url=server.url, key=KEY, deadline_s=deadline_s)
    assert found is not None
    return found
