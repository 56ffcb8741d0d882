"""What extraction finds in a text. Spans are (start, stop) in characters of the text: `text[start:stop]`."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Span = tuple[int, int]
NameKind = Literal["Person", "Organization", "Place", "Product", "Entity"]
MarkKind = Literal["url", "email", "handle", "hashtag", "path", "identifier"]
Polarity = Literal["likes", "dislikes"]


class FoundName(Struct, frozen=True, kw_only=True):
    """A name as it is written. The kind is a guess; Entity where nothing speaks for another."""

    span: Span
    text: str
    kind: NameKind = "Entity"


class FoundDate(Struct, frozen=True, kw_only=True):
    """A time that the text names: from `from_us` up to, not including, `to_us`."""

    span: Span
    from_us: int
    to_us: int


class FoundQuantity(Struct, frozen=True, kw_only=True):
    """A number and what it counts or measures, in the text's own word; "" where it says none."""

    span: Span
    value: float
    unit: str = ""


class FoundMark(Struct, frozen=True, kw_only=True):
    """An address, a file's path, or a name of code."""

    span: Span
    text: str
    kind: MarkKind


class FoundFact(Struct, frozen=True, kw_only=True):
    """What the text says of a subject. First person is the speaker, by name where it is known, else "I".

    A subject that is only "he", "she" or "it" in its sentence stays so. `past` says that it is told as over ("she
    worked at …"): then it says nothing of today.
    """

    subject: str
    predicate: str
    object: str
    subject_span: Span
    object_span: Span
    confidence: float
    past: bool = False


class FoundPreference(Struct, frozen=True, kw_only=True):
    """What somebody likes or dislikes; strength 0 to 1. The holder's span is empty where the subject is left out."""

    holder: str
    polarity: Polarity
    object: str
    span: Span
    holder_span: Span
    strength: float


class FoundCause(Struct, frozen=True, kw_only=True):
    """Two parts of the text, of which one is said to have brought about the other."""

    cause: Span
    effect: Span
    confidence: float


class Extraction(Struct, frozen=True, kw_only=True):
    """All that was found, each in the order of the text, and what found it."""

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
