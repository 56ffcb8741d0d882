"""Result types of extraction. Spans are (start, stop) in characters: `text[start:stop]`."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Span = tuple[int, int]
NameKind = Literal["Person", "Organization", "Place", "Product", "Entity"]
MarkKind = Literal["url", "email", "handle", "hashtag", "path", "identifier"]
Polarity = Literal["likes", "dislikes"]


def moved_span(span: Span, by: int) -> Span:
    """A span that begins and ends so many characters later."""
    return (span[0] + by, span[1] + by)


class FoundName(Struct, frozen=True, kw_only=True):
    """A name as written. The kind is a guess, Entity by default."""

    span: Span
    text: str
    kind: NameKind = "Entity"


class FoundDate(Struct, frozen=True, kw_only=True):
    """A time that the text names: from `from_us` up to, but not including, `to_us`."""

    span: Span
    from_us: int
    to_us: int


class FoundQuantity(Struct, frozen=True, kw_only=True):
    """A number and its unit or what it counts, in the text's words; "" if there is none."""

    span: Span
    value: float
    unit: str = ""


class FoundMark(Struct, frozen=True, kw_only=True):
    """An address, a file path or a code name."""

    span: Span
    text: str
    kind: MarkKind


class FoundFact(Struct, frozen=True, kw_only=True):
    """A fact about a subject. First person is the speaker, by name if known, else "I".

    A subject that is only "he", "she" or "it" in its sentence stays as it is. `past` marks facts told as over ("she
    worked at …"), which say nothing of today; `single` those that leave no room for another value at the same time.
    """

    subject: str
    predicate: str
    object: str
    subject_span: Span
    object_span: Span
    confidence: float
    past: bool = False
    single: bool = False


class FoundPreference(Struct, frozen=True, kw_only=True):
    """A person's like or dislike, strength 0 to 1. The holder's span is empty if the sentence omits the subject."""

    holder: str
    polarity: Polarity
    object: str
    span: Span
    holder_span: Span
    strength: float


class FoundCause(Struct, frozen=True, kw_only=True):
    """Two parts of the text, one of which is stated as the cause of the other."""

    cause: Span
    effect: Span
    confidence: float


class Extraction(Struct, frozen=True, kw_only=True):
    """All findings, each class in the order of the text, and the version of the extractor."""

    names: tuple[FoundName, ...] = ()
    dates: tuple[FoundDate, ...] = ()
    quantities: tuple[FoundQuantity, ...] = ()
    marks: tuple[FoundMark, ...] = ()
    facts: tuple[FoundFact, ...] = ()
    preferences: tuple[FoundPreference, ...] = ()
    causes: tuple[FoundCause, ...] = ()
    version: str


def overlaps(span: Span, others: list[Span]) -> bool:
    """Whether a span shares a character with any of the others."""
    start, stop = span
    return any(start < other[1] and other[0] < stop for other in others)
