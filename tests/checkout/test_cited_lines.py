"""Every line of every context that reaches an agent cites a source that says what the line quotes."""

from __future__ import annotations

import itertools
import random
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import weft
from tests.checkout.cited_lines import Untraceable, check_context, reader_of
from tests.checkout.harbour import WHEN, WHO, WHY
from tests.retrieval.views_world import CAUSES, CONCEPTS, ENTITIES, EVENTS, MEMORIES
from weft.checkout.prompt_context import CONTEXT, ContextGiven
from weft.core.errors import OverBudget
from weft.retrieval.purposes import PURPOSES

ASKED = (
    WHY,
    WHEN,
    WHO,
    "what do we know about the booking outage?",
    "how do I restart Lantern after a certificate ran out?",
)
BUDGETS = (150, 300, 700, 1_200, 4_000)
ABOUT = [
    *(name for _, name, _ in ENTITIES.values()),
    *(text for _, text, _ in (*EVENTS.values(), *MEMORIES.values())),
    *(text for text, _, _ in CAUSES.values()),
    *(name for name, _, _ in CONCEPTS.values()),
]
FORMS = ("{}", "why {}?", "when {}?", "who {}?", "what about {}?", "tell me all about {}")


def contexts(memory: weft.Memory, question: str, budget: int, **more: Any) -> dict[str, str]:
    """All that a question makes, as it is read. A budget in which nothing fits gives nothing."""
    made: dict[str, str] = {"recall": memory.recall(question, max_tokens=budget).context}
    for name in ("memory_checkout", "assemble_context"):
        try:
            answer = memory.call(name, query=question, max_tokens=budget, **more if name == "memory_checkout" else {})
        except OverBudget:
            continue
        made[name] = getattr(answer, "prompt", "") or getattr(answer, "context", "")
    hook = memory.run(CONTEXT, {"query": question, "max_tokens": max(budget, 200)})
    assert isinstance(hook, ContextGiven)
    return made | {"hook": hook.text}


@pytest.mark.parametrize("budget", BUDGETS)
def test_lines_of_plain_questions(night: weft.Memory, budget: int) -> None:
    cite = reader_of(night)
    counts = {
        (question, name): check_context(text, cite)
        for question in ASKED
        for name, text in contexts(night, question, budget).items()
    }
    assert sum(counts.values()) > len(ASKED) * (2 if budget >= 300 else 1)


def test_lines_of_many_questions_and_purposes(night: weft.Memory) -> None:
    cite, chance = reader_of(night), random.Random(7)
    purposes = itertools.cycle((None, *PURPOSES))
    lines = 0
    for _ in range(25):
        question = chance.choice(FORMS).format(chance.choice(ABOUT).rstrip("."))
        more = {"purpose": next(purposes), "session": chance.choice((None, "standup"))}
        for text in contexts(night, question, chance.choice(BUDGETS), **more).values():
            lines += check_context(text, cite)
    assert lines > 200


def test_lines_of_what_is_told_without_a_question(night: weft.Memory) -> None:
    cite = reader_of(night)
    assert check_context(night.call("previous_context").context, cite) == 4
    brief = night.run(CONTEXT, {})
    assert isinstance(brief, ContextGiven)
    assert check_context(brief.text, cite) == brief.lines > 5


def test_the_checker_finds_what_is_wrong(night: weft.Memory) -> None:
    cite = reader_of(night)
    text = night.recall(WHY).context
    assert check_context(text, cite)
    for wrong in (
        text.replace("ran out unnoticed", "ran out on purpose"),
        text.replace(" [2]", "", 1),
        text.replace("[2] …", "[2] …9", 1),
        text.replace("\n\nSources", '\n99. [Memory] "made up" [1]\n\nSources'),
    ):
        assert wrong != text
        with pytest.raises((Untraceable, weft.core.errors.WeftError)):
            check_context(wrong, cite)


# ---- any words at all

BREAKS = ("\n", "\r\n", "\u2028", "\t", '"', "\\", '\\"', "[3]", "[1] ", "…", " · ", "<", ">", "</memory>", "\u202e")
PIECES = (
    *BREAKS,
    "Sources",
    "\n\nSources\n[1] weft://evil/events/1#00000000",
    "2. [Fact] ",
    "words",
    "naïve",
    "東京",
    "😀",
    " ",
    ": ",
)
AWKWARD = st.lists(st.sampled_from(PIECES), min_size=1, max_size=14).map("".join).filter(lambda text: text.strip())
TEXTS = st.lists(AWKWARD, min_size=1, max_size=5, unique=True)


@pytest.fixture(scope="module")
def pad(tmp_path_factory: pytest.TempPathFactory) -> Iterator[weft.Memory]:
    """A store of words only, which every example adds to."""
    place = tmp_path_factory.mktemp("words")
    environment = {"HOME": str(place), "WEFT_PROJECT": "quay", "WEFT_AUDIT": "off", "WEFT_EMBEDDER": "none"}
    with weft.open("memory://", directory=place, environment=environment) as memory:
        yield memory


@given(texts=TEXTS, times=st.sampled_from((1, 40)), budget=st.sampled_from((300, 1_200)))
def test_lines_of_any_words(pad: weft.Memory, texts: list[str], times: int, budget: int) -> None:
    word = f"harbour{uuid.uuid4().hex[:8]}"  # no other example's
    for number, text in enumerate(texts):
        named = text[:100] if number % 2 else ""
        pad.call("memory_write", kind="Memory", name=named, text=f"{word} {text * times}")
    pad.record_turns(word, [{"speaker": "Ana", "text": f"{word} {text}"} for text in texts])
    cite = reader_of(pad)
    assert sum(check_context(text, cite) for text in contexts(pad, word, budget, session=word).values()) >= 2


def test_a_line_without_a_source_is_warned_about(tmp_path: Path) -> None:
    from weft.checkout.report import unsourced
    from weft.context.arrange import ContextLine
    from weft.core.types import NOW

    environment = {"HOME": str(tmp_path), "WEFT_PROJECT": "quay", "WEFT_AUDIT": "off", "WEFT_EMBEDDER": "none"}
    with weft.open("memory://", directory=tmp_path, environment=environment) as memory:
        kept = memory.remember("The ramp opens at six.")
        (node,) = memory.ctx.store.nodes(memory.ctx.viewer, NOW, [kept.id])
    assert unsourced([ContextLine(node=node, score=1.0, citation=kept.citation)]) == []
    assert unsourced([ContextLine(node=node, score=1.0)] * 2) == ["2 lines without a source citation"]
