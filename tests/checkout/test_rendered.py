"""Contexts as they reach an agent, of one fixed corpus. WEFT_UPDATE_SNAPSHOTS=1 rewrites the kept ones."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import weft
from tests.checkout.harbour import WHEN, WHO, WHY, masked
from tests.kept_text import check_kept
from weft.context.tokens import count_tokens

SNAPSHOTS = Path(__file__).parent / "snapshots"
QUESTIONS = {"why": WHY, "when": WHEN, "who": WHO}
BUDGETS = {"300": 300, "1200": 1_200, "unlimited": 100_000}
NAMES = [f"{form}-{name}-{size}" for form in ("recall", "checkout") for name in QUESTIONS for size in BUDGETS]


def rendered(memory: weft.Memory, name: str) -> str:
    form, question, size = name.split("-")
    if form == "recall":
        return memory.recall(QUESTIONS[question], max_tokens=BUDGETS[size]).context
    answer = memory.call("memory_checkout", query=QUESTIONS[question], max_tokens=BUDGETS[size])
    assert isinstance(answer.prompt, str)
    return answer.prompt


@pytest.mark.parametrize("name", NAMES)
def test_contexts_as_they_reach_an_agent(night: weft.Memory, name: str) -> None:
    text = masked(rendered(night, name)) + "\n"
    check_kept(SNAPSHOTS / f"{name}.txt", text)


def test_no_context_is_left_over() -> None:
    assert {file.stem for file in SNAPSHOTS.glob("*")} == set(NAMES)


@pytest.mark.parametrize("form", ["recall", "checkout"])
@pytest.mark.parametrize("question", ["why", "when"])  # one person answers "who"
def test_what_is_around_the_memories_takes_little_of_a_small_budget(
    night: weft.Memory, form: str, question: str
) -> None:
    text = rendered(night, f"{form}-{question}-300")
    memories = [line for line in text.split("\n") if re.match(r"\d+\. \[", line)]
    assert len(memories) >= 4
    assert sum(map(count_tokens, memories)) >= 0.55 * count_tokens(text)
    footer = text[text.index("\nSources\n") :]
    assert count_tokens(footer) <= 0.25 * count_tokens(text)


def test_why_is_told_along_causes_when_in_time_and_who_by_entity(night: weft.Memory) -> None:
    why = rendered(night, "checkout-why-1200")
    chain = ("renewed by hand", "ran out unnoticed", "without a pause", "used up all", "Nobody could book")
    places = [why.index(words) for words in chain]
    assert places == sorted(places)
    when = rendered(night, "checkout-when-1200").partition("Without a date")[0]
    days = re.findall(r"· (?:since )?(\d{4}-\d\d-\d\d)", when)
    assert days == sorted(days)
    assert len(days) >= 2
    who = rendered(night, "checkout-who-1200")
    assert who.index('"Ines Calder" (Person)') < who.index('[Person] "Ines Calder"') < who.index("[Decision]")
