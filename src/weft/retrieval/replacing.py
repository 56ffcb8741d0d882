"""Whether what was said later may replace what was said before: only where it tells of the same thing anew.

A reader acts on this, so it is stricter than what puts the newer of two first: to miss an update costs less than to
call something outdated that is not.
"""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct

from weft.lexical import stems
from weft.retrieval.sessions import OTHERS
from weft.sentences import sentence_spans

READ_CHARACTERS: Final = 2_000  # of one text
MAX_SENTENCES: Final = 12
LEAST_SHARED: Final = 2  # words that are no numbers: these are what an update changes
OF_THE_SHORTER: Final = 0.6
OF_THE_LONGER: Final = 0.25
FIRST_PERSON: Final = re.compile(r"\b(?:I|I'm|I've|I'd|I'll|my|me|mine|we|our|us)\b", re.IGNORECASE)
_ASKS: Final = re.compile(
    r"(?:please |can you |could you )?(?:tell|remind|show|give|help) me\b"
    r"|(?:what|who|whom|whose|where|when|which|how|why|is|are|was|were|do|does|did|can|could|should|would|will|has|have)"
    r"\b(?! ?['’])",
    re.IGNORECASE,
)


class Said(Struct, frozen=True, kw_only=True):
    """What stands for a node: its words, who said them and in which conversation; empty where nobody knows."""

    words: str
    by: str = ""
    conversation: str = ""


def may_replace(new: Said, old: Said, question: str) -> bool:
    """Whether both tell something of the same thing, and not the same of it, as far as the question goes.

    Never by a question, by an assistant, by a turn of the same conversation, or where two people speak of themselves.
    """
    if new.by in OTHERS or (new.conversation and new.conversation == old.conversation):
        return False
    if new.by and old.by and new.by != old.by and any(FIRST_PERSON.search(each.words) for each in (new, old)):
        return False
    wanted = set(stems(question))
    later = [stems(each) for each in _told(new.words)]
    return any(_anew(each, stems(before), wanted) for before in _told(old.words) for each in later)


def _anew(new: list[str], old: list[str], wanted: set[str]) -> bool:
    """Whether one sentence tells anew what another told of what is wanted.

    The newer one has the first word of the older one that carries meaning, every word of the question that the older
    one has, and most words of the shorter of both.
    """
    asked = wanted & set(old)
    if not asked or set(new) == set(old) or not {old[0], *asked} <= set(new):
        return False
    shared = len(_plain(new) & _plain(old))
    few, many = sorted((len(_plain(new)), len(_plain(old))))
    return shared >= max(LEAST_SHARED, OF_THE_SHORTER * few, OF_THE_LONGER * many)


def _told(words: str) -> list[str]:
    """The first sentences of a text that do not ask."""
    text = words[:READ_CHARACTERS]
    sentences = [text[start:end].strip() for start, end in sentence_spans(text)]
    return [each for each in sentences if not each.endswith("?") and not _ASKS.match(each)][:MAX_SENTENCES]


def _plain(content: list[str]) -> set[str]:
    return {word for word in content if not word.isdigit()}
