"""Words: packing loses nothing, and both backends find and score alike whatever is written."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.properties.running import SqlitePlace, memory_store
from weft.append.import_log import import_log
from weft.backends.sqlite.search import words
from weft.core.commits import LexedText
from weft.core.queries import TermStat
from weft.testing.clock import ManualClock
from weft.testing.scribe import Scribe, node
from weft.testing.viewers import OPERATOR
from weft.text import lexical

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=30)
WORDY = st.lists(st.sampled_from(("naïve", "ﷺ", "⑴", "ͺ", "½", "foo_bar", "fooBar", "it's", "x"))).map(" ".join) | TEXT


def weigh(texts: list[LexedText], *stems: str) -> lexical.Weighed:
    """How often each stem is in each text, and a score without lengths."""
    known = [TermStat(term=stem, weight=1.0, document_frequency=1, idf=1.0) for stem in stems]
    return lexical.Bm25(known, mean_length=1.0, k1=1.0, b=0.0).weigh([(text.vector, text.length) for text in texts])


@settings(max_examples=100)
@given(st.lists(st.tuples(WORDY, WORDY, WORDY), max_size=4), WORDY)
def test_packing_and_weighing_keep_every_count(texts: list[tuple[str, str, str]], asked: str) -> None:
    made = [lexical.lex(*text) for text in texts]
    stems = dict.fromkeys(lexical.stems(f"{asked} {' '.join(' '.join(text) for text in texts)}"))
    # Two stems with one hash count as one; such a pair is no matter of packing.
    stems = list({lexical.term_hash(stem): stem for stem in reversed(stems)}.values())
    weighed = weigh(made, *stems)
    every = range(len(texts))
    for text, lexed, parts, counts in zip(texts, made, weighed.parts(every), weighed.counted(every), strict=True):
        fields = [lexical.stems(each) for each in text]
        assert lexed.length == sum(map(len, fields))
        assert set(lexical.term_hashes(lexed.vector)) == {lexical.term_hash(stem) for field in fields for stem in field}
        expected: Counter[str] = Counter()
        for weight, field in zip(lexical.FIELD_WEIGHTS, fields, strict=True):
            for stem in field:
                expected[stem] += weight  # type: ignore[assignment]
        assert dict(counts) == expected
        assert {term: pytest.approx(part) for term, part in parts} == {
            term: 2.0 * count / (count + 1.0) for term, count in expected.items()
        }


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
            import_log(place.store, OPERATOR, scribe.export, clock=clock)
            other = Scribe(place.store, clock)
            for question in (asked, *(f"{name} {body}" for name, body in texts)):
                assert other.search(question) == scribe.search(question)
        finally:
            place.close()
