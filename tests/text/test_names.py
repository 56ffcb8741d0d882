"""Names: what a titled text goes by, which runs of words may be names, and which words are slips of the pen."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.text.names import (
    LEAD_CHARACTERS,
    MAX_ALIASES,
    MAX_NAME_WORDS,
    alias_key,
    aliases,
    capital_spans,
    is_misspelling,
    longest,
    name_words,
    runs,
    spelling_words,
)

ANY = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
LETTERS = "abcdefgh"
SHORT = st.text(LETTERS, min_size=1, max_size=7)
LONG = st.text(LETTERS, min_size=9, max_size=14)


def goes_by(name: str, body: str = "") -> dict[str, float]:
    return dict(aliases(name, body))


# ---- aliases


@pytest.mark.parametrize(
    ("name", "body", "expected"),
    [
        ("Velmora", "", {"velmora": 1.0}),
        ("The Glass Heron (film)", "", {"the glass heron film": 1.0, "the glass heron": 0.9}),
        ("Port Ysolde, Tarrin", "", {"port ysolde tarrin": 1.0, "port ysolde": 0.6, "port tarrin": 0.4}),
        ("Tarn, North", "", {"tarn north": 1.0}),  # one word before a comma says too little
        ("Ferry", "The Ysolde Ferry is a boat.", {"ferry": 1.0, "the ysolde ferry": 0.6}),
        ("Ferry", "the Ysolde Ferry is a boat.", {"ferry": 1.0}),  # no capital, no name
        ("Ferry", "Ysolde is a boat.", {"ferry": 1.0}),  # one word says too little
        (
            "M. Okonro",
            "Marta Elin Okonro (born Marta Dravik) was a surveyor, better known as Captain Ash.",
            {"m okonro": 1.0, "marta elin okonro": 0.6, "marta dravik": 0.5, "captain ash": 0.5},
        ),
        ("Marta Elin Okonro", "", {"marta elin okonro": 1.0, "marta okonro": 0.4}),
        ("Marta Elin van Okonro", "", {"marta elin van okonro": 1.0, "marta okonro": 0.4}),
        ("House of Okonro", "", {"house of okonro": 1.0}),  # a title, not a person
        ("", "Marta Elin Okonro was a surveyor.", {}),
        ("  ", "words", {}),
        ("!?", "words", {}),
        ("Żaneta Brûlé’s Café", "", {"zaneta brule cafe": 1.0, "zaneta cafe": 0.4}),
    ],
)
def test_what_a_text_goes_by(name: str, body: str, expected: dict[str, float]) -> None:
    assert goes_by(name, body) == expected


def test_only_the_beginning_of_a_text_names_it() -> None:
    late = "x " * (LEAD_CHARACTERS // 2) + "It is also known as Captain Ash."
    assert goes_by("Okonro", late) == {"okonro": 1.0}


@given(ANY, ANY)
def test_aliases_are_few_sure_and_findable(name: str, body: str) -> None:
    found = aliases(name, body)
    assert len(found) <= MAX_ALIASES
    assert len(dict(found)) == len(found)
    for key, weight in found:
        assert 0.0 < weight <= 1.0
        assert key
        assert alias_key(key) == key, "a name is found by its key"
    if found and alias_key(name):
        assert found[0] == (alias_key(name), 1.0)


@given(ANY)
def test_names_compare_without_case_accents_and_marks(name: str) -> None:
    assert alias_key(alias_key(name)) == alias_key(name)
    assert alias_key(f" “{name}” ") == alias_key(name)


# ---- runs of words that may be names


def keys(text: str, *, need_capital: bool) -> list[str]:
    return [key for _, _, key in runs(name_words(text), need_capital=need_capital)]


def test_a_mention_in_a_text_needs_a_capital_and_one_in_a_question_does_not() -> None:
    assert "velmora" in keys("we saw velmora today", need_capital=False)
    assert "velmora" not in keys("we saw velmora today", need_capital=True)
    assert "velmora" in keys("we saw Velmora today", need_capital=True)
    assert "glass heron" in keys("the Glass heron", need_capital=True), "one capital at either end is enough"
    assert "glass heron" in keys("the glass Heron", need_capital=True)
    assert "apollo 7" in keys("apollo 7", need_capital=True), "a digit counts as one"


def test_plain_words_are_no_names_by_themselves() -> None:
    assert keys("Who", need_capital=False) == keys("The", need_capital=False) == []
    assert "the it" in keys("The It", need_capital=False), "as part of a longer name they are"
    assert keys("Al", need_capital=False) == []


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("The film was made by Elin Dravik in Tarn.", {"Elin Dravik in Tarn", "Elin Dravik", "Tarn"}),
        ("Nobody sails today.", set()),
        ("there is no name here", set()),
        ("", set()),
    ],
)
def test_capitals_tell_of_names_that_no_text_goes_by(sentence: str, expected: set[str]) -> None:
    assert set(capital_spans(sentence)) == expected


@given(ANY)
def test_names_told_by_capitals_stand_in_the_sentence(sentence: str) -> None:
    for span in capital_spans(sentence):
        assert set(alias_key(span).split()) <= set(alias_key(sentence).split())


def test_the_longest_name_counts_and_none_inside_another() -> None:
    words = name_words("the glass heron of port ysolde sang")
    known = {"glass", "glass heron", "heron of port", "port ysolde", "ysolde"}
    found = longest([run for run in runs(words, need_capital=False) if run[2] in known])
    assert [key for _, _, key in found] == ["glass heron", "port ysolde"]


@given(st.lists(st.sampled_from(("Glass", "heron", "Port", "the", "of", "Żar", "7")), max_size=20), st.booleans())
def test_runs_are_what_they_say_and_longest_leaves_no_two_upon_each_other(words: list[str], need: bool) -> None:
    read = name_words(" ".join(words))
    found = list(runs(read, need_capital=need))
    assert len(found) <= MAX_NAME_WORDS * len(read)
    for start, end, key in found:
        assert key == " ".join(word.key for word in read[start:end])
        assert 1 <= end - start <= MAX_NAME_WORDS
    chosen = longest(found)
    for (_, before, _), (after, _, _) in pairwise(chosen):
        assert before <= after
    for start, end, key in found:
        assert any(begin < end and start < stop for begin, stop, _ in chosen), f"{key!r} lies beside all that count"


def test_words_are_read_in_time_that_grows_with_the_text() -> None:
    began = time.process_time()
    for text in ("A" * 100_000, "’s" * 50_000, "A " * 50_000, "é" * 100_000, "(" * 100_000):
        name_words(text)
    for body in ("also known as " * 8_000, "A" * 100_000, "Born Born " * 10_000):
        aliases("Okonro", body)
    assert time.process_time() - began < 5.0


# ---- slips of the pen


@pytest.mark.parametrize("word", ["heron", "ysolde", "velmora", "okonro"])
def test_one_slip_anywhere_is_a_misspelling(word: str) -> None:
    for at in range(len(word) + 1):
        assert is_misspelling(word[:at] + "q" + word[at:], word), "a letter too many"
    for at in range(len(word)):
        assert is_misspelling(word[:at] + "q" + word[at + 1 :], word), "another letter"
        assert is_misspelling(word[:at] + word[at + 1 :], word), "a letter missing"
    for at in range(len(word) - 1):
        swapped = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
        assert swapped == word or is_misspelling(swapped, word), "two letters swapped"


def test_two_slips_are_one_too_many_unless_the_word_is_long() -> None:
    assert not is_misspelling("haron", "heron"[::-1])
    assert not is_misspelling("hqrqn", "heron")
    assert is_misspelling("velmoranqiaq", "velmoranlian")
    assert not is_misspelling("vqlmoranqiaq", "velmoranlian")


@given(st.one_of(st.tuples(SHORT, SHORT), st.tuples(LONG, LONG)))
def test_misspelling_works_both_ways_and_within_bounds(words: tuple[str, str]) -> None:
    one, other = words
    assert is_misspelling(one, other) == is_misspelling(other, one)
    assert not is_misspelling(one, one)
    if is_misspelling(one, other):
        allowed = 2 if len(other) >= 9 else 1
        assert abs(len(one) - len(other)) <= allowed
        changed = sum((set(one) ^ set(other)).__contains__(letter) for letter in set(one) | set(other))
        assert changed <= 2 * allowed


def test_words_too_short_or_of_digits_are_never_misspelt_ones() -> None:
    assert spelling_words("the glass heron of 1984 ysolde") == {"glass", "heron", "ysolde"}
