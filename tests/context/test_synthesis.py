"""A written answer may rest on the lines it was given, and on nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.retrieval.small_worlds import WordEmbedder
from tests.retrieval.views_world import call, night
from tests.stand_ins import listening
from weft.backends.memory import MemoryStore
from weft.context.synthesis import checked
from weft.log.chain import commit_genesis
from weft.models.advisor import Advisor
from weft.models.chat import chat_from
from weft.runtime.call_context import CallContext
from weft.testing.clock import ManualClock

QUESTION = "Why could nobody book a crossing?"
SOURCES = ("weft://harbour/events/1#aa", "weft://harbour/events/2#bb")


class Writer:
    """A chat server that writes the same to whoever asks, and keeps what it was asked."""

    def __init__(self) -> None:
        self.said: Any = ""
        self.asked: list[dict[str, Any]] = []
        self.url = ""

    def answer(self, path: str, headers: dict[str, str], body: dict[str, Any]) -> tuple[int, bytes]:
        self.asked.append(body)
        status = 200 if isinstance(self.said, str) else self.said
        return status, json.dumps({"choices": [{"message": {"role": "assistant", "content": self.said}}]}).encode()


@pytest.fixture
def writer() -> Iterator[Writer]:
    made = Writer()
    with listening(made.answer) as url:
        made.url = f"{url}/v1"
        yield made


@pytest.fixture
def ctx(writer: Writer) -> CallContext:
    clock = ManualClock()
    made = night(MemoryStore(commit_genesis, clock=clock), clock, embedder=WordEmbedder())
    return replace(made, advisor=Advisor(chat_from("openai:small", url=writer.url, key=""), clock))


def test_an_answer_is_written_from_the_lines(ctx: CallContext, writer: Writer) -> None:
    writer.said = "The retries used up all connections [1][2]."
    answer = call(ctx, "recall", query=QUESTION, intent="WHY", synthesize=True)
    assert answer["answer"] == "The retries used up all connections [1][2]."
    shown = json.loads(writer.asked[-1]["messages"][-1]["content"])
    assert shown["question"] == QUESTION
    assert shown["lines"] == answer["context"]


def test_a_source_that_was_not_given_is_removed_and_noted(ctx: CallContext, writer: Writer) -> None:
    writer.said = "It was the certificate [1]. It was sabotage [99], see weft://other/events/7#dead."
    answer = call(ctx, "recall", query=QUESTION, intent="WHY", synthesize=True)
    assert "[1]" in answer["answer"]
    assert "99" not in answer["answer"]
    assert "weft://other" not in answer["answer"]
    assert any("2 sources that it was not given" in note and "[99]" in note for note in answer["notes"])


@pytest.mark.parametrize("said", ["It was sabotage.", "", "   ", "See [42] and [43].", 500])
def test_an_answer_that_rests_on_nothing_is_left_out(ctx: CallContext, writer: Writer, said: Any) -> None:
    writer.said = said
    answer = call(ctx, "recall", query=QUESTION, intent="WHY", synthesize=True)
    assert "answer" not in answer
    assert answer["hits"]
    assert any("language model" in note for note in answer["notes"])


def test_who_wrote_it_is_told(ctx: CallContext, writer: Writer) -> None:
    writer.said = "The retries used up all connections [1]."
    answer = call(ctx, "recall", query=QUESTION, intent="WHY", synthesize=True)
    assert answer["written_by"] == ctx.advisor.model
    writer.said = "It was sabotage."
    assert "written_by" not in call(ctx, "recall", query=QUESTION, intent="WHY", synthesize=True)


def test_a_model_that_fails_is_told_of_once(ctx: CallContext, writer: Writer) -> None:
    writer.said = 500
    notes = call(ctx, "recall", query=QUESTION, synthesize=True)["notes"]
    assert len([note for note in notes if "language model" in note]) == 1
    again = call(ctx, "recall", query=QUESTION, intent="WHY", synthesize=True)["notes"]  # left alone for a while
    assert len([note for note in again if "language model" in note]) == 1


@pytest.mark.parametrize(
    ("written", "left"),
    [
        ("The answer is 42, see [1] and [77].", "The answer is 42, see [1]."),
        (
            "It was the certificate [1]. It was so [99], see weft://x/events/7#d.",
            "It was the certificate [1]. It was so.",
        ),
        ("It holds [1] (see [9]).", "It holds [1]."),
        ("A [1] , [3] and b [4], c.", "A [1], and b, c."),
        ("Use main() of .env 1.5 [1]: it came in [8].", "Use main() of .env 1.5 [1]: it came in."),
        ("Sun and rain [1] , untidy .", "Sun and rain [1] , untidy ."),
    ],
)
def test_what_led_to_a_removed_source_goes_with_it(written: str, left: str) -> None:
    assert checked(written, SOURCES)[0] == left


def test_without_a_model_a_note_says_so(ctx: CallContext) -> None:
    bare = replace(ctx, advisor=Advisor(None, ManualClock()))
    answer = call(bare, "recall", query=QUESTION, synthesize=True)
    assert any("set `model`" in note for note in answer["notes"])
    assert answer["hits"]


@given(st.text(alphabet="[]()0123456789, andsewft:/#.", max_size=80))
def test_whatever_is_written_no_foreign_number_is_left(written: str) -> None:
    import re

    text, _ = checked(written, SOURCES)
    for numbers in re.findall(r"\[(\d{1,4})\]", text):
        assert 1 <= int(numbers) <= len(SOURCES)
