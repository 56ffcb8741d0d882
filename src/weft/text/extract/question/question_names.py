"""Proper names in a question: capitalised words that do not begin it, joined over particles such as "de"."""

from __future__ import annotations

import re
from typing import Final

from weft.text.extract.time.time_words import MONTHS, WEEKDAYS

_PARTICLES: Final = r"(?:de|den|der|van|von|la|le|el|al|da|di|du|bin|of)"
_WORD: Final = r"[A-Z][\w-]*[a-z][\w-]*"
_TITLE: Final = re.compile(r"\b(?:Dr|Mr|Mrs|Ms|Prof|St)\.? (?=[A-Z])")
_NAME: Final = re.compile(rf"(?<!^)(?<![.?!] )\b{_WORD}(?: (?:{_PARTICLES} )*{_WORD})*")


_VERB_BEFORE: Final = re.compile(
    r"\b(?:does|did|do|has|have|had|is|was|were|will|can|could|would|should) $", re.IGNORECASE
)


def is_asked_about(question: str, name: str) -> bool:
    """Whether the question is about the bearer of a name: "where does Carla live?", and not "who leads at Acme?"."""
    question = _TITLE.sub("", question)
    at = question.find(name)
    before, after = question[:at], question[at + len(name) :]
    return at >= 0 and (_VERB_BEFORE.search(before) is not None or after.startswith(("'s", "’s")))


def names_in(question: str) -> tuple[str, ...]:
    """The names, without weekdays and months. A question in capitals or small letters has none."""
    question = _TITLE.sub("", question.strip().replace("’", "'"))
    found = (each[0].removesuffix("'s") for each in _NAME.finditer(question))
    return tuple(name for name in found if not {name.lower(), name.lower().removesuffix("s")} & {*WEEKDAYS, *MONTHS})
