"""Turns of a conversation: who speaks, what they say, where it stands."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.text.extract.speakers import SpokenText, TranscriptTurn, read_speaker, split_at, split_transcript, spoken_by

CHAT = "user: When does the ferry leave?\n\nassistant: At nine.\n\nNote: on Sundays at ten.\n\nuser: Thanks."


def told(turns: tuple[TranscriptTurn, ...]) -> list[tuple[str, str]]:
    return [(turn.speaker or turn.role, turn.text) for turn in turns]


def test_a_transcript_with_plain_roles() -> None:
    turns = split_transcript(CHAT)
    assert told(turns) == [
        ("user", "When does the ferry leave?"),
        ("assistant", "At nine.\n\nNote: on Sundays at ten."),
        ("user", "Thanks."),
    ]
    assert [CHAT[turn.start : turn.end].split(":", maxsplit=1)[0] for turn in turns] == ["user", "assistant", "user"]
    assert not any(turn.speaker for turn in turns)


def test_names_stay_in_front_of_the_words() -> None:
    turns = split_transcript("Mira: Is the ferry late?\n\nJon Aas: It is.\nAgain.\n\nMira: Then I walk.")
    assert told(turns) == [
        ("Mira", "Mira: Is the ferry late?"),
        ("Jon Aas", "Jon Aas: It is.\nAgain."),
        ("Mira", "Mira: Then I walk."),
    ]
    assert not any(turn.role for turn in turns)


@pytest.mark.parametrize(
    "text",
    [
        "user: hello\nassistant: good morning",
        "User: hello\r\n\r\nAssistant: good morning",
        "**User:** hello\n\n**Assistant**: good morning",
        "\n\n  Human: hello\n\n\n  AI: good morning\n",
        "USER:\nhello\n\nASSISTANT:\ngood morning",
    ],
)
def test_exports_write_it_in_many_ways(text: str) -> None:
    assert [turn.text for turn in split_transcript(text)] == ["hello", "good morning"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "user: only one turn",
        "A plain text.\n\nuser: quoted\n\nassistant: quoted too",
        "Note: boots are wet.\n\nWarning: very wet.\n\nNote: still.",
        "Ingredients: rye.\n\nMethod: bake.",
        "Here is what I want: tea\n\nHere is what I get: milk\n\nHere is what I want: tea",
        "https://example.org/a\n\nhttps://example.org/b",
        "def f(x):\n    return {1: 2}\n\nclass A:\n    pass",
        "name: ferry\nport: 8080",
    ],
)
def test_other_texts_are_no_transcripts(text: str) -> None:
    assert split_transcript(text) == ()


def test_given_offsets_win_over_looks() -> None:
    text = "user: one\nassistant: two\nNote: part of two\nuser: three"
    turns = split_at(text, [0, 10, 43])
    assert told(turns) == [("user", "one"), ("assistant", "two\nNote: part of two"), ("user", "three")]


def test_what_stands_before_the_first_offset_is_kept_and_blank_turns_are_not() -> None:
    assert told(split_at("Minutes.\n\nMira: so\n\n   \n\nJon: no", [10, 20, 25])) == [
        ("", "Minutes."),
        ("Mira", "Mira: so"),
        ("Jon", "Jon: no"),
    ]
    assert split_at("user: \n\nassistant:", [0, 8]) == ()


@pytest.mark.parametrize(
    ("offsets", "why"),
    [
        ([0, -3], "outside"),
        ([0, 99], "outside"),
        ([5, 2], "after 5"),
        ([0, 0], "after 0"),
        ([0, 2.5], "whole number"),
        ([True], "whole number"),
        (["0"], "whole number"),
        (list(range(10_001)), "more than"),
    ],
)
def test_offsets_that_make_no_sense_are_refused(offsets: list[int], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        split_at("user: hi\n\nassistant: ho", offsets)


def test_one_turn_with_its_speaker_apart() -> None:
    assert spoken_by("Mira", "hello") == SpokenText(text="Mira: hello", speaker="Mira")
    assert spoken_by("Mira", "Mira: hello") == SpokenText(text="Mira: hello", speaker="Mira")
    assert spoken_by("Assistant", "hello") == SpokenText(text="hello", role="assistant")
    assert spoken_by("user", "user: hello") == SpokenText(text="hello", role="user")
    assert read_speaker("hello there") == SpokenText(text="hello there")
    assert read_speaker("Mira: hello") == SpokenText(text="Mira: hello", speaker="Mira")
    assert read_speaker("Mira:") == SpokenText(text="", speaker="Mira")
    assert read_speaker("Tool: 42") == SpokenText(text="42", role="tool")


words = st.text("abc .:\n*Zé", max_size=40)


@given(st.lists(st.tuples(st.sampled_from(["user: ", "assistant: ", "Mira: ", ""]), words), max_size=6))
def test_turns_stand_where_they_say(parts: list[tuple[str, str]]) -> None:
    text = "\n\n".join(head + body for head, body in parts)
    turns = split_transcript(text)
    assert all(text[turn.start : turn.end].endswith(turn.text) for turn in turns)
    ends = [0, *(turn.end for turn in turns)]
    assert all(turn.start >= end for turn, end in zip(turns, ends, strict=False))
