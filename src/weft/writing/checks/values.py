"""Comparison of two values of a property: same, more specific, less specific, or different.

By words alone, and cautiously: values taken for the same end nothing.
"""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from typing import Final, Literal

from weft.text.lexical import name_key

Relation = Literal["same", "finer", "coarser", "other"]

# Properties of which a part of a value is a wider or narrower place. Elsewhere a list is several values: "Ana, Bob".
_PLACE_TEXT = "lives_in located_in located_at based_in headquartered_in hosted_in born_in died_in birthplace works_in"
_PLACES: Final = frozenset(_PLACE_TEXT.split())
_NUMBER = re.compile(r"[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?")
_BRACKETS = re.compile(r"\s*[(\[]([^()\[\]]*)[)\]]")
_PARTS = re.compile(r"\s*[,;/]\s+|\s*;\s*")
_ARTICLE = re.compile(r"^(?:the|a|an)\s+(?=\S)")
_JOINS = re.compile(r"[\s_\-‐-―]+")
_DENIED = re.compile(
    r"^(?:not|never|no longer|isn'?t|is not|aren'?t|wasn'?t|was not|doesn'?t|does not|anything but|other than)\b"
)
_UNKNOWN: Final = frozenset({"unknown", "not known", "unclear", "n/a", "na", "tbd", "tba", "to be decided", "?", ""})
_GUESS = (
    r"(?:maybe|perhaps|probably|possibly|presumably|apparently|supposedly|likely|might be|may be|could be"
    r"|(?:i|we) (?:think|guess|believe|suppose|assume)(?: that)?(?: it['’]?s| it is)?)"
)
_HEDGED = re.compile(rf"^(?:{_GUESS},?\s+(?=\S)|either\s+(?=\S.*\sor\s))+", re.IGNORECASE)
_HEDGED_AFTER = re.compile(rf"(?<=\S)(?:\s*,\s*{_GUESS}|\s*\({_GUESS}\))\s*[.!]*$", re.IGNORECASE)
_VERSION = re.compile(r"^(?:v|version)[ .]*(?=\d)")
_SIGN = re.compile(r"^([$€£¥])\s*(?=\d)")


def relation(predicate: str, old: str, new: str) -> Relation:
    """How a new value relates to an old one of the same property.

    `finer`: it says the same and more ("5", then "5 EUR"; for places "Paris", then "Paris, France"). `coarser`: it says
    less of the same. `other`: anything that words alone cannot decide.
    """
    if value_key(old) == value_key(new):
        return "same"
    if predicate.endswith("version"):
        return "same" if _VERSION.sub("", value_key(old)) == _VERSION.sub("", value_key(new)) else "other"
    if predicate not in _PLACES:
        return _by_number(old, new)
    before, after = _parts(old), _parts(new)
    if before == after:
        return "same"
    if _within(before, after):
        return "finer"
    return "coarser" if _within(after, before) else "other"


def value_key(value: str) -> str:
    """The normal form in which values are compared: case-folded, single-spaced, no outer punctuation or article."""
    return _ARTICLE.sub("", _JOINS.sub(" ", name_key(value))) or value.strip()


def is_denied(value: str) -> bool:
    """Whether a value is a negation ("not Paris") or says that it is unknown, and so is not another value."""
    folded = " ".join(unhedged(value).casefold().replace("’", "'").split())
    return bool(_DENIED.match(folded)) or folded.strip(" .") in _UNKNOWN


def is_hedged(value: str) -> bool:
    """Whether a value is a guess: "maybe Oslo", "I think Oslo", "either Oslo or Bergen", "Oslo?"."""
    return unhedged(value) != value.strip()


def unhedged(value: str) -> str:
    """A guess without its hedging words; a value that consists of nothing else is unchanged."""
    plain = value.strip()
    return _HEDGED_AFTER.sub("", _HEDGED.sub("", plain)).rstrip("? ") or plain


def _parts(value: str) -> tuple[str, ...]:
    """`Paris, France` and `Paris (France)` as their parts, the narrowest first."""
    spread = _BRACKETS.sub(r", \1", value)
    return tuple(key for part in _PARTS.split(spread) if (key := value_key(part)))


def _within(few: tuple[str, ...], many: tuple[str, ...]) -> bool:
    """Whether the few parts are the first or the last of the many: Paris, or France, of `Paris, France`."""
    return 0 < len(few) < len(many) and few in (many[: len(few)], many[-len(few) :])


def _by_number(old: str, new: str) -> Relation:
    """Compares numbers with units: 1,000 is 1000, and 5 EUR says more than 5; but 5 km are not 5 miles."""
    before, after = _measure(old), _measure(new)
    if before is None or after is None or before[0] != after[0]:
        return "other"
    if before[1] == after[1]:
        return "same"
    if before[1] and after[1]:
        return "other"
    return "finer" if after[1] else "coarser"


def _measure(value: str) -> tuple[Decimal, str] | None:
    """The number and unit of a value that is just that."""
    plain = _SIGN.sub("", value.strip())
    found = _NUMBER.match(plain)
    if found is None:
        return None
    rest = plain[found.end() :]
    if any(letter.isdigit() for letter in rest) or rest[:1] in (".", ",", ":", "-", "/"):
        return None
    try:
        sign = _SIGN.match(value.strip())
        return Decimal(found[0].replace(",", "")), " ".join(filter(None, (sign and sign[1], value_key(rest))))
    except InvalidOperation:
        return None
