"""The gate lets every question through, and only stops what asks for nothing."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.text.extract.question.small_talk import may_be_passed_over, needs_memory

SMALL_TALK = [
    "hello",
    "Hi there!",
    "Good morning everyone",
    "hey hey",
    "How are you?",
    "thanks",
    "Thank you so much!!",
    "ok thanks, bye",
    "thx :-)",
    "ok",
    "Okay.",
    "OK 👍",
    "yes please",
    "Yes, go ahead",
    "no, thank you",
    "continue",
    "Please continue.",
    "go on",
    "Got it, thanks!",
    "sounds good, let's do it",
    "That’s great",
    "I'm good, thanks",
    "lol",
    "hmm...",
    "never mind",
    "Danke schön!",
    "Guten Morgen",
    "Merci beaucoup",
    "S'il vous plaît, oui",
    "¡Muchas gracias!",
    "Grazie mille, ciao",
    "Obrigada!",
    "Tack så mycket",
    "Dziękuję",
    "Teşekkür ederim",
    "Спасибо!",
    "ありがとうございます",
    "谢谢",
    "감사합니다",
    "",
    "   ",
    "...",
    "?!",
    "🙂🙂",
]
QUESTIONS = [
    "hello world",
    "thanks, and when does the ferry leave?",
    "ok, what about Redis",
    "Redis",
    "redis",
    "yes, the blue one",
    "no, Thursday",
    "go on with the migration",
    "continue the report",
    "thanks Ilse",
    "ok 42",
    "7",
    "2026-05-08",
    '"hello"',
    "`ok`",
    "thanks_list",
    "hello.py",
    "say hello",
    "good morning routine",
    "team",
    "everyone",
    "retry",
    "test",
    "next",
    "start",
    "the same one",
    "why?",
    "who",
    "and then what",
    "tell me more",
    "later today we fly",
    "great wall",
    "I like trains",
    "danke für die Adresse von Otto",
    "merci pour le dossier",
    "привет от Маши",
    "你好世界",
    "x",
    "C++",
    "ok " * 40,
    "thanks " * 100,
]


@pytest.mark.parametrize("message", SMALL_TALK)
def test_small_talk_needs_no_memory(message: str) -> None:
    assert not needs_memory(message)
    assert not needs_memory(message.upper())


@pytest.mark.parametrize("message", QUESTIONS)
def test_anything_else_is_looked_up(message: str) -> None:
    assert needs_memory(message)


@given(st.sampled_from(SMALL_TALK), st.text("abcdefghijklmnopqrstuvwxyz", min_size=14, max_size=20))
def test_one_word_of_content_is_enough(talk: str, word: str) -> None:
    assert needs_memory(f"{talk} {word}")
    assert needs_memory(f"{word}, {talk}")


@pytest.mark.parametrize(
    ("message", "may"),
    [
        ("that was brilliantly done, cheers", True),
        ("ok great stuff", True),
        ("thanks a million", True),
        ("is that ok", False),  # asks
        ("great, and the ferry?", False),
        ("thanks Ilse", False),  # names
        ("ok 42", False),
        ('great, "Night Ferry"', False),
        ("redis sessions", False),  # no small talk in it
        ("ok the billing ledger rounding tests", False),  # too much else
        ("ok " * 60, False),
    ],
)
def test_a_model_may_pass_over_what_asks_and_names_nothing(message: str, may: bool) -> None:
    assert may_be_passed_over(message) is may


@pytest.mark.parametrize("piece", ["thanks ", "!", ":-) ", "ok", "(:"])
def test_long_messages_are_read_quickly(piece: str) -> None:
    began = time.process_time()
    needs_memory(piece * (32_768 // len(piece)))
    may_be_passed_over(piece * (32_768 // len(piece)))
    assert time.process_time() - began < 0.25
