"""Quick looks for names and ids find all that the exact ones do."""

from __future__ import annotations

import re
import sys

from hypothesis import given
from hypothesis import strategies as st

from weft.log.canonical import canonical
from weft.projection.name_search import NameSearch, fold
from weft.projection.tokens import one_of

LETTERS = "aAiIıİsSſkKKßẞéÉ *\"\\-'"
NAMES = st.text(LETTERS, min_size=1, max_size=6)


@given(names=st.lists(NAMES, min_size=1, max_size=3), before=NAMES, after=NAMES, which=st.integers(0, 2))
def test_a_quick_look_never_misses_a_name(names: list[str], before: str, after: str, which: int) -> None:
    search = NameSearch(names)
    text = f"{before} {names[which % len(names)].swapcase()} {after}"
    if search.holds(text):
        assert search.may_hold(text)
        assert search.may_stand_in(canonical({"text": text}))


def test_letters_that_a_pattern_takes_for_equal_fold_to_one() -> None:
    for letter in filter(str.isalpha, map(chr, range(sys.maxunicode))):
        for other in {letter.upper(), letter.lower(), letter.swapcase()}:
            if len(other) == 1 and re.fullmatch(re.escape(letter), other, re.IGNORECASE):
                assert fold(letter) == fold(other), (letter, other)


@given(
    texts=st.lists(st.text("ab:.é", min_size=1, max_size=5), min_size=1, max_size=8), said=st.text("ab:.é", max_size=12)
)
def test_one_of_many_finds_the_longest_that_begins_first(texts: list[str], said: str) -> None:
    by_length = "|".join(map(re.escape, sorted(texts, key=len, reverse=True)))
    assert re.findall(one_of(texts), said) == re.findall(by_length, said)
    assert re.findall(one_of(texts).encode(), said.encode()) == re.findall(by_length.encode(), said.encode())
