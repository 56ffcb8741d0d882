"""A server of a language model, and questions that are asked with one."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from msgspec.structs import replace

from tests.retrieval.small_worlds import PROJECT, context_over, remembered
from tests.stand_ins import listening
from weft.backends.memory import MemoryStore
from weft.core.types import When
from weft.log.chain import commit_genesis
from weft.models import json_post
from weft.models.advisor import Advisor
from weft.models.chat import OpenAiChat
from weft.retrieval.pipeline import Answer, Ask, Stage, run
from weft.retrieval.question.before_search import (
    ReadIntent,
    ResolveReferences,
    Reword,
    SmallTalk,
)
from weft.retrieval.question.understand import Understand
from weft.retrieval.scoring.rank import Rank
from weft.retrieval.scoring.words_and_meaning import WordsAndMeaning
from weft.retrieval.sources.by_words import SearchWords
from weft.retrieval.sources.gather import Gather
from weft.runtime.call_context import CallContext
from weft.testing.clock import ManualClock

KEY = "sk-very-secret"


FERRY = "the ferry to Ysolde leaves at nine"


MOVED = "Maria Lopez moved to Lisbon to be near her sister"


HISTORY = ("Did Maria Lopez like the city?", "She did, as far as I know.")


READING = {"search": True, "query": None, "intent": "WHEN", "class": "temporal", "topic_change": 0.25}


WORDINGS = {"queries": ["departure time of the ferry", "ferry timetable", "at what hour does the ferry sail"]}


@dataclass
class ChatServer:
    """Answers as `/v1/chat/completions` does: the `said` one by one, then the last again; questions for wordings get
    `wordings`. A (status, body) is sent as it is.
    """

    url: str = ""
    said: list[Any] = field(default_factory=lambda: [READING])
    wordings: list[Any] = field(default_factory=lambda: [WORDINGS])
    requests: list[tuple[str, dict[str, str], dict[str, Any]]] = field(default_factory=list)
    silent: bool = False
    over: threading.Event = field(default_factory=threading.Event)

    def answer(self, path: str, headers: dict[str, str], body: dict[str, Any]) -> tuple[int, bytes]:
        self.requests.append((path, headers, body))
        if self.silent:
            self.over.wait(60)
        script = self.wordings if "other wordings" in body["messages"][0]["content"] else self.said
        said = script.pop(0) if len(script) > 1 else script[0]
        if isinstance(said, tuple):
            return said
        content = said if isinstance(said, str) else json.dumps(said)
        message = {"role": "assistant", "content": content}
        done = {"id": "1", "object": "chat.completion", "choices": [{"index": 0, "message": message}]}
        return 200, json.dumps(done).encode()

    def asked(self, *, wordings: bool = False) -> list[dict[str, Any]]:
        return [b for _, _, b in self.requests if ("other wordings" in b["messages"][0]["content"]) == wordings]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    monkeypatch.setattr(json_post, "RETRY_PAUSE_S", 0.01)
    played = ChatServer()

    with listening(played.answer) as url:
        played.url = f"{url}/v1"
        yield played
        played.over.set()


def small_recipe(deadline_s: float = 3.0) -> tuple[Stage, ...]:
    attend = (
        SmallTalk(deadline_s=deadline_s),
        ResolveReferences(deadline_s=deadline_s),
        ReadIntent(deadline_s=deadline_s),
    )
    return (*attend, Reword(deadline_s=deadline_s), Understand(), SearchWords(), Gather(), WordsAndMeaning(), Rank())


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def ctx(server: ChatServer, clock: ManualClock) -> CallContext:
    store = MemoryStore(commit_genesis, clock=clock)
    plain = context_over(store, clock)
    guard = {"project": PROJECT, "scope": "public"}
    plain.append([remembered(number, "", text, 0, **guard) for number, text in enumerate((FERRY, MOVED))])
    return replace(plain, advisor=Advisor(OpenAiChat("small", server.url, KEY), clock))


def ask(ctx: CallContext, query: str, *history: str, deadline_s: float = 3.0, **more: Any) -> Answer:
    asked = Ask(query=query, when=When(), limit=5, projects=(PROJECT, None), history=history, **more)
    return run(small_recipe(deadline_s), ctx, asked)


def texts(answer: Answer) -> list[str]:
    return [candidate.node.text for candidate in answer.ranked or ()]


def notes_on_model(answer: Answer) -> list[str]:
    return [note for note in answer.notes if note.startswith("the language model")]
