"""Words: packing loses nothing, and both backends find and score alike whatever is written."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft import lexical
from weft.adopt import adopt
from weft.backends.sqlite import words
from weft.testing.clock import ManualClock
from weft.testing.scribe import Scribe, node
from weft.testing.viewers import OPERATOR
from weft.queries import TermStat

from .running import SqlitePlace, memory_store

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=30)
WORDY = st.lists(st.sampled_from(("naïve", "ﷺ", "⑴", "ͺ", "½", "foo_bar", "fooBar", "it's", "x"))).map(" ".join) | TEXT


@settings(max_examples=200)
@given(WORDY, WORDY, WORDY)
def test_packing_and_unpacking_keep_every_count(name: str, summary: str, body: str) -> None:
    text = lexical.lex(name, summary, body)
    fields = [lexical.stems(each) for each in (name, summary, body)]
    unpacked = lexical.unpack(text.vector)
    assert len(unpacked) == len(fields)
    for field, (hashes, counts) in zip(fields, unpacked, strict=True):
        expected: Counter[int] = Counter()
        for stem in field:
            expected[lexical.term_hash(stem)] += 1
        assert list(hashes) == sorted(hashes)
        assert dict(zip(hashes, counts, strict=True)) == expected
    assert text.length == sum(map(len, fields))
    assert set(lexical.term_hashes(text.vector)) == {lexical.term_hash(stem) for field in fields for stem in field}


@given(WORDY, WORDY, WORDY)
def test_weights_of_fields_add_up(name: str, summary: str, body: str) -> None:
    text = lexical.lex(name, summary, body)
    for stem in lexical.stems(f"{name} {summary} {body}"):
        frequency = sum(
            weight * sum(lexical.term_hash(each) == lexical.term_hash(stem) for each in lexical.stems(field))
            for weight, field in zip(lexical.FIELD_WEIGHTS, (name, summary, body), strict=True)
        )
        known = TermStat(term=stem, weight=1.0, document_frequency=1, idf=1.0)
        score, parts = lexical.Bm25([known], mean_length=text.length, k1=1.0, b=0.0).score(text.vector, text.length)
        assert score == pytest.approx(2.0 * frequency / (frequency + 1.0))
        assert parts == ((stem, score),)


@given(st.tuples(WORDY, WORDY, WORDY), st.tuples(WORDY, WORDY, WORDY))
def test_a_content_hash_names_one_text(one: tuple[str, str, str], two: tuple[str, str, str]) -> None:
    assert (lexical.content_hash(*one) == lexical.content_hash(*two)) == (one == two)


@settings(max_examples=15)
@given(texts=st.lists(st.tuples(WORDY, WORDY), min_size=1, max_size=8), asked=WORDY)
def test_both_backends_find_and_score_alike(texts: list[tuple[str, str]], asked: str) -> None:
    clock = ManualClock()
    scribe = Scribe(memory_store(clock), clock)
    for number, (name, body) in enumerate(texts):
        scribe.one(node(f"n{number}", body, name=name))
    place = SqlitePlace(clock)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(words, "SETTLE_AT", 3)
        try:
            adopt(place.store, OPERATOR, scribe.export, clock=clock)
            other = Scribe(place.store, clock)
            for question in (asked, *(f"{name} {body}" for name, body in texts)):
                assert other.search(question) == scribe.search(question)
        finally:
            place.close()
