"""What of long texts is shown within a small budget: what is nearest to the question, most of it of the best."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import weft
from tests.checkout.cited_lines import check_context, reader_of
from weft.context.excerpts import Excerpts
from weft.context.tokens import count_tokens
from weft.text.lexical import stems
from weft.text.one_line import flat

QUAY = " ".join(f"The quay of pier {number} was painted by its keepers." for number in range(1, 12))
NOTICES = ("A heron of rare plumage", "The mayor of Odda", "One stray dog", "Some driftwood", "An old brass lamp")
FERRY = "Tickets for the ferry are sold at the kiosk. They cost nine crowns. Children go free."


def asked(question: str) -> dict[str, float]:
    return dict.fromkeys(stems(question), 1.0)


def test_a_long_text_is_told_around_the_answer_and_what_follows_it() -> None:
    shown = Excerpts(f"{QUAY} {FERRY} {QUAY}", asked("where are tickets sold?")).within(120).prose
    assert shown == "… Tickets for the ferry are sold at the kiosk. They cost nine crowns. Children go free. …"


def test_rows_and_items_are_shown_whole_and_in_their_order() -> None:
    rows = "\n".join(f"| crane {number} | {number} tons |" for number in range(30))
    text = f"{rows}\n| winch | 90 tons |\n{rows}\n- the anchor: 7 tons"
    shown = Excerpts(text, asked("winch, anchor")).within(90).prose
    assert shown.startswith("… | winch | 90 tons |")
    assert shown.endswith("… - the anchor: 7 tons") or "the anchor: 7 tons" in shown


def test_meaning_finds_what_words_do_not() -> None:
    text = f"{QUAY} {FERRY}"
    at = text.index("They cost")
    near = [(0, len(QUAY), 0.1), (at, at + len("They cost nine crowns."), 0.8)]
    assert "They cost nine crowns." in Excerpts(text, asked("what is the price?"), near).within(80).prose


def test_a_text_that_has_nothing_to_do_with_the_question_is_told_as_it_begins() -> None:
    assert Excerpts(QUAY, asked("ferry")).within(70).prose == "The quay of pier 1 was painted by its keepers. …"
    assert Excerpts(QUAY, {}).within(10_000).prose == QUAY


PIECES = ("words ", "ferry ", "。", "…", ". The", "\n", "\n- ", "| a | b |\n", "x" * 50, "東京", "! ", "\u202e", " ")


@given(st.lists(st.sampled_from(PIECES), max_size=60).map("".join), st.integers(20, 300))
def test_every_piece_between_dots_stands_in_the_text_and_none_is_too_long(text: str, most: int) -> None:
    shown = Excerpts(text, asked("the ferry")).within(most).prose
    assert len(shown) <= most
    source = flat(text)
    for piece in filter(None, (each.strip() for each in shown.split("…"))):
        assert piece in source


@pytest.mark.parametrize("budget", [240, 300, 700])
def test_a_small_budget_is_spent_on_the_answer(tmp_path: Path, budget: int) -> None:
    environment = {"HOME": str(tmp_path), "WEFT_PROJECT": "quay", "WEFT_AUDIT": "off", "WEFT_EMBEDDER": "none"}
    with weft.open("memory://", directory=tmp_path, environment=environment) as memory:
        memory.remember(f"{QUAY} {FERRY} {QUAY}")
        for number in range(5):
            memory.remember(f"Ferry tickets, notice {number}. " + f"{NOTICES[number]} was seen at the pier. " * 12)
        question = "where are tickets for the ferry sold?"
        cite = reader_of(memory)
        for text in (
            memory.recall(question, max_tokens=budget).context,
            memory.call("memory_checkout", query=question, max_tokens=budget).prompt,
        ):
            assert "Tickets for the ferry are sold at the kiosk. They cost nine crowns." in text
            assert 0.9 * budget <= count_tokens(text) <= budget
            assert check_context(text, cite) >= 2


def test_a_briefing_has_the_room_that_nothing_else_needs(tmp_path: Path) -> None:
    environment = {"HOME": str(tmp_path), "WEFT_PROJECT": "quay", "WEFT_AUDIT": "off", "WEFT_EMBEDDER": "none"}
    with weft.open("memory://", directory=tmp_path, environment=environment) as memory:
        memory.record_turns("night", [{"speaker": "Ana", "text": f"Turn {at} about the crane."} for at in range(12)])
        done = [f"Crane {number} of the northern pier was greased and its brake was tried." for number in range(5)]
        memory.call("session_compact", session="night", done=done)
        answer = memory.call("memory_checkout", query="crane", session="night", max_tokens=300)
    assert all(each in answer.prompt for each in done)
    assert not any("no memory that was found supports them" in each for each in answer.warnings)
