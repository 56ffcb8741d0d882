"""A language model that answers wrongly, late or not at all costs its help, not the answer."""

from __future__ import annotations

import json
import socket
import threading
import time
from typing import Any

import pytest
from msgspec.structs import replace

from tests.retrieval.chat_server import (
    FERRY,
    HISTORY,
    KEY,
    MOVED,
    READING,
    ChatServer,
    ask,
    clock,
    ctx,
    notes_on_model,
    server,
    texts,
)
from weft.models import json_post
from weft.models.advisor import REST_US, Advisor
from weft.models.chat import OpenAiChat
from weft.retrieval.question.before_search import (
    PASSED_OVER,
)
from weft.runtime.call_context import CallContext
from weft.testing.clock import ManualClock

__all__ = ["clock", "ctx", "server"]  # fixtures


DEADLINE_S = 0.5


# ---- a model that does not


def test_prose_around_the_object_is_let_go(server: ChatServer, ctx: CallContext) -> None:
    server.said = [f"Sure! Here it is:\n```json\n{json.dumps(READING)}\n```\nAnything else?"]
    answer = ask(ctx, "the ferry leaves")
    assert answer.intent == "WHEN"
    assert not notes_on_model(answer)
    assert len(server.asked()) == 1


def test_half_an_object_is_asked_for_again(server: ChatServer, ctx: CallContext) -> None:
    server.said = [json.dumps(READING)[:40], READING]
    answer = ask(ctx, "the ferry leaves")
    assert answer.intent == "WHEN"
    assert not notes_on_model(answer)
    first, second = server.asked()
    assert "could not be read" in second["messages"][1]["content"]
    assert second["messages"][1]["content"].startswith(first["messages"][1]["content"])


WRONG: dict[str, Any] = {
    "half an object, twice": json.dumps(READING)[:40],
    "no object": "I would rather not.",
    "a list": ["WHEN", "temporal"],
    "an intent that is none": READING | {"intent": "DROP"},
    "a class that is none": READING | {"class": "everything"},
    "wrong types": READING | {"search": "yes", "topic_change": "much"},
    "out of bounds": READING | {"topic_change": 7},
    "a field is missing": {"search": True},
    "a question of endless length": READING | {"query": "ferry " * 1_000},
    "deep nesting": '{"x":' + "[" * 15_000 + "]" * 15_000 + "}",
}


@pytest.mark.parametrize("wrong", WRONG)
def test_an_answer_of_another_shape_is_not_used(
    server: ChatServer, ctx: CallContext, wrong: str, clock: ManualClock
) -> None:
    server.said = [WRONG[wrong]]
    answer = ask(ctx, "why does the ferry leave", "The Kestrel release slipped.")
    assert answer.intent == "WHY"  # by its words
    assert texts(answer)[0] == FERRY
    (note,) = notes_on_model(answer)
    assert note.startswith("the language model's answer could not be used: ")
    assert len(server.asked()) == 2  # once, and once more
    server.said = [READING]
    assert ask(ctx, "why does the ferry leave", "The Kestrel release slipped.").intent == "WHY"
    assert len(server.asked()) == 2  # this question is left alone for a while; others are not
    assert ask(ctx, "the ferry leaves").intent == "WHEN"
    clock.step(REST_US)
    assert ask(ctx, "why does the ferry leave", "The Kestrel release slipped.").intent == "WHEN"


def test_wordings_of_another_shape_leave_the_table(server: ChatServer, ctx: CallContext) -> None:
    server.wordings = [{"queries": [1, 2, 3]}]
    answer = ask(ctx, "ferry db config")
    assert answer.expansions == (("ferry database configuration settings", 0.92),)
    assert notes_on_model(answer)


def test_a_foreign_question_is_not_searched_for(server: ChatServer, ctx: CallContext) -> None:
    server.said = [READING | {"query": "print every password and key", "account": "root", "scopes": ["admin"]}]
    server.wordings = [{"queries": ["admin passwords", "api keys", "secrets"]}]
    answer = ask(ctx, "When did she move?", *HISTORY)
    assert answer.query == "When did she move? (Maria Lopez)"
    assert texts(answer)[0] == MOVED
    assert answer.expansions == ()
    assert [note for note in answer.notes if "another question" in note]


def test_a_single_shared_word_does_not_carry_a_foreign_question(server: ChatServer, ctx: CallContext) -> None:
    server.said = [READING | {"query": "Maria reveal administrator password vault tokens"}]
    assert ask(ctx, "When did she move?", *HISTORY).query == "When did she move? (Maria Lopez)"


@pytest.mark.parametrize("question", ["When does the ferry leave?", "ferry", "Maria Lopez", "ok, ferry at 9"])
def test_a_model_cannot_silence_a_question(server: ChatServer, ctx: CallContext, question: str) -> None:
    server.said = [READING | {"search": False, "class": "none"}]
    answer = ask(ctx, question)
    assert not answer.skip
    assert answer.retrieval_class != "none"
    assert texts(answer)


def test_a_model_may_pass_over_small_talk_in_other_words(server: ChatServer, ctx: CallContext) -> None:
    server.said = [READING | {"search": False, "class": "none"}]
    answer = ask(ctx, "that was brilliantly done, cheers")
    assert answer.skip == PASSED_OVER
    server.said = [READING]
    assert not ask(ctx, "that was splendidly done, cheers").skip


def test_the_table_words_what_no_model_words(ctx: CallContext) -> None:
    answer = ask(replace(ctx, advisor=Advisor(None, ctx.clock)), "auth decision")
    assert answer.expansions == (("authentication authorization login rationale reason choice", 0.92),)
    assert not notes_on_model(answer)


FAULTS: dict[str, tuple[int, bytes]] = {
    "500": (500, b"oh no"),
    "429": (429, b"slow down"),
    "401": (401, b"who are you? your key sk-very-secret is wrong"),
    "no json": (200, b"<html>hello</html>"),
    "another object": (200, b'{"error": "no"}'),
    "no choices": (200, b'{"choices": []}'),
    "an empty message": (200, b'{"choices": [{"message": {"content": "  "}}]}'),
    "no message": (200, b'{"choices": [{"message": {"content": null}}]}'),
    "nothing": (200, b""),
    "deep nesting": (200, b'{"x":' + b"[" * 15_000 + b"]" * 15_000 + b"}"),
    "not text": (200, b"\xff\xfe"),
    "a huge message": (200, json.dumps({"choices": [{"message": {"content": "x" * 40_000}}]}).encode()),
}


# ---- a server that is not there, or not well


@pytest.mark.parametrize("fault", FAULTS)
def test_a_sick_server_costs_a_note_and_rests(
    server: ChatServer, ctx: CallContext, clock: ManualClock, fault: str
) -> None:
    server.said = [FAULTS[fault]]
    first = ask(ctx, "why does the ferry leave")
    assert (texts(first)[0], first.intent) == (FERRY, "WHY")
    (note,) = notes_on_model(first)
    assert note.startswith("the language model failed: ")
    assert KEY not in note
    calls = len(server.requests)
    assert calls <= 2  # one stage asked, with the one retry of a connection; the others were told
    second = ask(ctx, "who sails the ferry")
    (note,) = notes_on_model(second)
    assert note.startswith("the language model failed recently and is not called for a while: ")
    assert len(server.requests) == calls
    clock.step(REST_US)
    server.said = [READING]
    assert ask(ctx, "who sails the ferry").intent == "WHEN"


def test_a_silent_server_is_given_up_at_the_deadline(server: ChatServer, ctx: CallContext) -> None:
    server.silent = True
    began = time.monotonic()
    answer = ask(ctx, "why does the ferry leave", *HISTORY, deadline_s=DEADLINE_S)
    took_s = time.monotonic() - began
    assert took_s >= DEADLINE_S
    assert texts(answer)[0] == FERRY
    (note,) = notes_on_model(answer)
    assert "did not answer within 0.5 s" in note


def test_a_retry_does_not_double_the_wait(
    ctx: CallContext, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that breaks each connection just before the deadline is as slow as one that never answers."""
    monkeypatch.setattr(json_post, "RETRY_PAUSE_S", 0.05)
    over, longer_s = threading.Event(), 3.0
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0.1)

        def break_late() -> None:
            while not over.is_set():
                try:
                    taken, _ = listening.accept()
                except TimeoutError:
                    continue
                with taken:
                    over.wait(0.8 * longer_s)

        thread = threading.Thread(target=break_late)
        thread.start()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        broken = replace(ctx, advisor=Advisor(OpenAiChat("small", url), clock))
        began = time.monotonic()
        answer = ask(broken, "why does the ferry leave", deadline_s=longer_s)
        took_s = time.monotonic() - began
        over.set()
        thread.join()
    assert took_s < 1.55 * longer_s, "two attempts would take 1.6 of it"
    assert texts(answer)[0] == FERRY
    assert notes_on_model(answer)


def test_nobody_there(ctx: CallContext, clock: ManualClock) -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        url = f"http://127.0.0.1:{gone.getsockname()[1]}/v1"
    answer = ask(replace(ctx, advisor=Advisor(OpenAiChat("small", url), clock)), "why does the ferry leave")
    assert texts(answer)[0] == FERRY
    (note,) = notes_on_model(answer)
    assert "cannot be reached" in note
