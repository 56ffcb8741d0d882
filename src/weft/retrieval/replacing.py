"""Whether what was said later may replace what was said before: only where it tells of the same thing anew.

A reader acts on this, so it is stricter than what puts the newer of two first: to miss an update costs less than to
call something outdated that is not.
"""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct

from weft.lexical import fold_case, stems
from weft.retrieval.sessions import OTHERS
from weft.sentences import sentence_spans

READ_CHARACTERS: Final = 2_000  # of one text
LEAST_SHARED: Final = 2  # words that are no numbers: these are what an update changes
OF_THE_SHORTER: Final = 0.5
OF_THE_LONGER: Final = 0.25
_ASKS = re.compile(
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


def may_replace(new: Said, old: Said) -> bool:
    """Whether both tell something of the same thing, and not the same of it.

    Never where either asks, where an assistant is the newer one to speak, where two people speak of themselves, where
    both are of one conversation, or where the first thing that each names is another.
    """
    if new.by in OTHERS or (new.conversation and new.conversation == old.conversation):
        return False
    if new.by and old.by and new.by != old.by:
        return False
    if asks(new.words) or asks(old.words):
        return False
    told, before = _content(new.words), _content(old.words)
    shared = {word for word in told & before if not word.isdigit()}
    if told == before or len(shared) < LEAST_SHARED:
        return False
    few, many = sorted((_plain(told), _plain(before)))
    return len(shared) >= OF_THE_SHORTER * few and len(shared) >= OF_THE_LONGER * many and _same_first(new, old)


def asks(words: str) -> bool:
    """Whether half of a text or more is questions, or it begins as one that has no question mark."""
    text = words[:READ_CHARACTERS].strip()
    sentences = [text[start:end] for start, end in sentence_spans(text)] or [text]
    asked = sum(len(each) for each in sentences if each.rstrip(" \"'”’)").endswith("?"))
    return 2 * asked >= len(text) or (len(sentences) == 1 and _ASKS.match(text) is not None)


def _content(words: str) -> set[str]:
    return set(stems(words[:READ_CHARACTERS]))


def _plain(content: set[str]) -> int:
    return sum(not word.isdigit() for word in content)


def _same_first(new: Said, old: Said) -> bool:
    """Whether the first names of both are one; a text that names nothing may be of anything."""
    first = [_first_name(each.words) for each in (new, old)]
    return not all(first) or first[0] == first[1]


def _first_name(words: str) -> str:
    from weft.extract.mentioned_names import mentioned_names  # lists of names, which few questions need

    found = mentioned_names(words[:READ_CHARACTERS], [])
    return fold_case(found[0].text) if found else ""
