"""Whatever the text, extraction returns, within its bounds, with spans that lie in the text and say what they quote."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from weft.core.clock import MAX_INSTANT_US, MIN_INSTANT_US
from weft.text.extract.extraction import MAX_FOUND, extract
from weft.text.extract.findings import Extraction, Span
from weft.text.extract.names.mentioned_names import MAX_NAMES

_WORDS_TEXT = """because since so therefore due to led caused by I love hate like prefer my favourite is are was born in
on died Anna Low Oslo Elm Corp, (1901 – 1980) "The Lanterns" 8 May 2019 yesterday next Friday two weeks ago 3 km $40 %
@ada a@b.co https://x.y/z src/a.py `f()` _x he She it's wife husband Dr. King of the and, . ! ? : ; user: Ada: 😀 مرحبا
— - ' ’ “ ” ( ) [ ] 12/24 1999 99999999999999 one-year-old I'm 41 years old"""
WORDS = st.sampled_from([*_WORDS_TEXT.split(), "\n"])
TEXTS = st.one_of(st.text(max_size=400), st.lists(WORDS, max_size=80).map(" ".join))
MOMENTS = st.none() | st.integers(MIN_INSTANT_US, MAX_INSTANT_US)


def spans(found: Extraction) -> list[Span]:
    single = [each.span for group in (found.names, found.dates, found.quantities, found.marks) for each in group]
    facts = [span for fact in found.facts for span in (fact.subject_span, fact.object_span)]
    likes = [span for each in found.preferences for span in (each.span, each.holder_span)]
    return [*single, *facts, *likes, *(span for each in found.causes for span in (each.cause, each.effect))]


@given(text=TEXTS, at=MOMENTS, speaker=st.none() | st.text(max_size=20))
@settings(max_examples=100, deadline=None)
@example(text="because " * 10_000, at=None, speaker=None)
@example(text="I love " * 5_000, at=0, speaker="Ada")
@example(text="אני אוהב " * 200, at=0, speaker=None)
@example(text="😀" * 3_000, at=0, speaker=None)
@example(text="A" * 100_000, at=0, speaker=None)
@example(text="in 9999 and next year", at=MAX_INSTANT_US, speaker=None)
def test_any_text_is_read(text: str, at: int | None, speaker: str | None) -> None:
    found = extract(text, at=at, speaker=speaker)
    assert all(0 <= start <= stop <= len(text) for start, stop in spans(found))
    assert all(text[slice(*name.span)] == name.text for name in found.names)
    assert all(text[slice(*mark.span)] == mark.text for mark in found.marks)
    assert all(text[slice(*fact.object_span)] == fact.object for fact in found.facts)
    assert all(date.from_us < date.to_us for date in found.dates)
    assert len(found.names) <= MAX_NAMES
    assert all(len(group) <= MAX_FOUND for group in (found.dates, found.facts, found.causes, found.preferences))


@given(text=TEXTS, at=MOMENTS)
@settings(max_examples=100, deadline=None)
def test_the_same_text_says_the_same(text: str, at: int | None) -> None:
    assert extract(text, at=at) == extract(text, at=at)
