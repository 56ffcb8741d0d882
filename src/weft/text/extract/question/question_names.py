"""Proper names in a question: capitalised words that do not begin it, joined over particles such as "de"."""

from __future__ import annotations

import re
from typing import Final

from weft.text.extract.time.time_words import MONTHS, WEEKDAYS

_PARTICLES: Final = r"(?:de|den|der|van|von|la|le|el|al|da|di|du|bin|of)"
_WORD: Final = r"[A-Z][\w-]*[a-z][\w-]*"
_TITLE: Final = re.compile(r"\b(?:Dr|Mr|Mrs|Ms|Prof|St)\.? (?=[A-Z])")
_NAME: Final = re.compile(rf"(?<!^)(?<![.?!] )\b{_WORD}(?: (?:{_PARTICLES} )*{_WORD})*")


def names_in(question: str) -> tuple[str, ...]:
    """The names, without weekdays and months. A question in capitals or small letters has none."""
    question = _TITLE.sub("", question.strip().replace("’", "'"))
    found = (each[0].removesuffix("'s") for each in _NAME.finditer(question))
    return tuple(name for name in found if not {name.lower(), name.lower().removesuffix("s")} & {*WEEKDAYS, *MONTHS})
