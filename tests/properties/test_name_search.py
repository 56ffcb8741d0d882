"""Names are found however they are written; quick looks for names and ids find all that the exact ones do."""

from __future__ import annotations

import re
import sys
import unicodedata

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from weft.graph.placeholders import one_of
from weft.log.canonical import canonical
from weft.text.lexical import name_key
from weft.text.name_search import NameSearch
from weft.text.spelling import fold, ways

LETTERS = "aAiIıİsSſkKKßẞéÉeﬁfﬀЙйИ각각が\u0301\u3099Ａａ℀№½ʼ’'-–‐­ *\"\\_.(株㈱张ที่नी\t\n\u00a0"
NAMES = st.text(LETTERS, min_size=1, max_size=6)
AROUND = st.text(LETTERS + "xyz,;", max_size=6)
# Ways to write a name that weft takes for the same one, or that a reader cannot tell apart.
WAYS = (
    str.upper,
    str.lower,
    str.swapcase,
    str.title,
    lambda name: unicodedata.normalize("NFD", name),
    lambda name: unicodedata.normalize("NFKC", name),
    lambda name: "".join(c for c in unicodedata.normalize("NFD", name) if not unicodedata.combining(c)),
    lambda name: name.replace("'", "’"),
    lambda name: name.replace("’", "'"),
    lambda name: name.replace("-", "‐"),
    lambda name: name.replace("–", "-"),
    lambda name: name.replace(" ", "\n\t "),
    lambda name: name.replace("ss", "ß"),
    lambda name: "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in name),
    lambda name: f"({name}),",
)


@given(names=st.lists(NAMES, min_size=1, max_size=3), before=AROUND, after=AROUND, ways=st.lists(st.sampled_from(WAYS)))
@example(names=["сc"], before="℀", after="", ways=[])
def test_a_quick_look_never_misses_a_name(names: list[str], before: str, after: str, ways: list) -> None:  # type: ignore[type-arg]
    search = NameSearch(names)
    written = names[0]
    for way in ways:
        written = way(written)
    for text in (f"{before} {written} {after}", f"{before}{written}{after}"):
        # By the exact pattern alone, without the quick look that stands before it.
        exact = search._pattern.search(fold(text)) or search._relation.search(fold(text))
        if exact:
            assert search.may_hold(text)
            assert search.may_stand_in(canonical({"text": text}))


@given(name=st.one_of(NAMES, st.text(min_size=1, max_size=8)), ways=st.lists(st.sampled_from(WAYS), max_size=3))
def test_what_weft_takes_for_the_same_name_is_found(name: str, ways: list) -> None:  # type: ignore[type-arg]
    written = name
    for way in ways:
        written = way(written)
    assume(name_key(written) == name_key(name))
    assume(any(letter.isalnum() for letter in name_key(name)))
    for text in (written, f"with {written} today", f"with\n{written}'s bees", f'"{written}"'):
        assert NameSearch([name]).holds(text), text


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("José Álvarez", "Jose Alvarez came"),
        ("Jose Alvarez", "JOSE\u0301 ÁLVAREZ's boat"),
        ("Ines Groß", "INES GROSS SAID"),
        ("Ines Gross", "ines groß"),
        ("Sean O'Brien", "Sean O’Brien said"),
        ("Sean O’Brien", "Sean O'Brien’s"),
        ("Anne-Marie", "Anne‑Marie and Anne–Marie"),
        ("Mara Quill", "Ｍara Ｑｕｉｌｌ"),
        ("Mara Quill", "Mara\t\n Quill"),
        ("Mara Quill", "Mara\u00a0Quill"),
        ("Mara Quill", "by mara_quill.md"),
        ("Zhorvathane", "Zhor\u00advathane"),
        ("张伟", "昨天张伟来了"),
        ("山田 太郎", "昨日山田太郎が来た"),
        ("สมชาย", "เมื่อวานสมชายมา"),
        ("김민수", "어제 김민수가 왔다"),
        ("Tom", "我是Tom的朋友"),
        ("नीरज", "कल नीरज आया"),
        ("Мария", "с МАРИЯ, вчера"),
    ],
)
def test_a_name_is_found(name: str, text: str) -> None:
    search = NameSearch([name])
    assert search.holds(text)
    assert search.may_stand_in(canonical({"text": text}))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Ann", "planning, Anna and joann"),
        ("Ann", "ann_age and plän-änn_x"),
        ("José", "Josés and josef"),
        ("Mara Quill", "Mara Quills, Mara and Quill"),
        ("राम", "रामायण"),
        ("민수", "민숙"),
    ],
)
def test_part_of_a_word_is_no_name(name: str, text: str) -> None:
    assert not NameSearch([name]).holds(text)


def test_a_name_in_a_relation() -> None:
    search = NameSearch(["Mara Quill", "Sean O'Brien"])
    assert all(map(search.holds_as_relation, ("FUNDED_BY_MARA_QUILL", "OF_SEAN_O_BRIEN", "SEAN_OBRIEN_OF")))
    assert not any(map(search.holds_as_relation, ("FUNDED_BY_MARA", "TAMARA_QUILL", "MARA_QUILLS")))


def test_no_name_is_found_nowhere() -> None:
    search = NameSearch(["", " "])
    assert not search
    assert not search.holds("anything é")
    assert not search.may_hold("anything é")
    assert not search.holds_as_relation("ANY")


def test_the_list_of_letters_that_fold_is_whole() -> None:
    """No word that holds such a letter is missed."""
    one, several, nothing = ways()
    for letter in map(chr, (*range(0x80, 0xD800), *range(0xE000, sys.maxunicode + 1))):
        folded = fold(letter)
        if folded != letter:
            known = nothing if not folded else one[folded] if len(folded) == 1 else several[folded]
            assert letter in known, hex(ord(letter))


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
