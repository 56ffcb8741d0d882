"""Everyday attributes: which property a question asks for, and which a sentence tells, whatever words either uses.

"Where do I live?" and "We moved to Nijmegen" share no word, and an embedder finds them hardly alike; both are about
residence. A question and a sentence that share an attribute and a subject are question and answer, and two sentences
that do are two values of one thing. The table holds common English only, nothing of any domain.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Final

from weft.text.extract.question.time_frame import NOW_WORDS
from weft.text.lexical import stems

READ_CHARACTERS: Final = 2_000
# Attributes that a sentence often tells beside another one: where something is, which it is, when, in which state.
_GENERAL: Final = frozenset({"place", "choice", "time", "status"})


@cache
def _table() -> Mapping[str, tuple[re.Pattern[str], re.Pattern[str]]]:
    """Attribute to what asks for it and what tells it."""
    data = files("weft.text.extract").joinpath("attributes.toml").read_text(encoding="utf-8")
    return {name: (_any(row["asks"]), _any(row["tells"])) for name, row in tomllib.loads(data).items()}


def _any(words: Sequence[str]) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{'|'.join(words)})(?!\w)", re.IGNORECASE)


# A sentence without a subject, as people write notes: "Booked the mill."
_IMPLIED: Final = re.compile(
    r"(?:\w+ed|got|left|bought|went|met|made|paid|sold|took|began|quit|found|lost|had|saw|sent|wrote|read|built|chose|set"
    r"|gave|kept|told|won|back|now|still)\b",
    re.IGNORECASE,
)
_WHEN: Final = re.compile(
    r"(?:when|what time|what day|which day|on which day|what date|(?:what|which) is the date)\b", re.IGNORECASE
)
_FIRST_PERSON: Final = re.compile(r"\b(?:I|I'm|I've|I'd|I'll|my|me|mine|we|we're|we've|our|ours|us)\b", re.IGNORECASE)
# Stems of words that ask for an answer, whatever it is about.
REQUEST_STEMS: Final = frozenset(stems("tell show give remind know remember list find please anything something"))
# Stems of the words that ask for an attribute: they are no subject.
_ATTRIBUTE_STEMS: Final = frozenset(
    stems(
        "live lives living home address house flat move work works job employer company lead leads led leader head"
        " charge manage manager responsible own owner handle run runs host hosted deploy located kept stored"
        " cost costs price pay paid fee provider supplier supply supplies vendor use used using choose chose picked"
        " decided time day date deadline due schedule open close working status prefer like dislike favorite version"
        " now current currently much many long often name person people who person year month week"
    )
)


def asked_attributes(question: str) -> frozenset[str]:
    """The attributes that a question asks for; empty where it asks for none of the table."""
    low = question[:READ_CHARACTERS].replace("’", "'")
    if _WHEN.match(low):
        return frozenset({"time"})
    return frozenset(name for name, (asks, _) in _table().items() if asks.search(low))


def subjects(question: str) -> frozenset[str]:
    """The stems of what a question asks about, without the words for the attribute; "me" for the first person.

    Without either it asks about one of those words: "what does the flat cost?".
    """
    words = frozenset(stems(question)) - NOW_WORDS - REQUEST_STEMS
    own = frozenset({"me"}) if _FIRST_PERSON.search(question) else words
    return words - _ATTRIBUTE_STEMS or own


def told_attributes(sentence: str) -> frozenset[str]:
    """The attributes of which a sentence tells."""
    return frozenset(name for name, (_, tells) in _table().items() if tells.search(sentence))


def answering(text: str, wanted: frozenset[str], about: frozenset[str]) -> frozenset[str]:
    """The wanted attributes that a text tells, where it names one of these subjects."""
    words = text[:READ_CHARACTERS].replace("’", "'")
    if not wanted or not about or not (told := wanted & told_attributes(words)):
        return frozenset()
    if about == {"me"}:
        return told if _FIRST_PERSON.search(words) or _IMPLIED.match(words) else frozenset()
    return told if about & set(stems(words)) else frozenset()


def same_attribute(told: frozenset[str], other: frozenset[str]) -> bool:
    """Whether what one sentence tells is a value of what the other one tells."""
    return bool((told & other) - _GENERAL)
