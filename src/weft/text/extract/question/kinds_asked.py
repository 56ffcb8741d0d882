"""The kind of memories that a question asks to be listed: our decisions, all preferences, the facts about Ana.

A person who only writes notes has decisions and preferences all the same: `tells_kind` knows them by their words.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from weft.text.lexical import STOP_WORDS, tokens

_KINDS: Final = {
    "decisions": "Decision",
    "preferences": "Preference",
    "facts": "Fact",
    "patterns": "Pattern",
    "learnings": "Learning",
    "lessons": "Learning",
}
_PLURALS: Final = "|".join(_KINDS)
_NO_ADJECTIVE: Final = r"(?!(?:between|and|or|for|in|about|from|with|than|to|is|are|how|why|when|where|who|that|if)\b)"
_WHAT: Final = rf"(?:{_NO_ADJECTIVE}[\w’']+ ){{0,4}}?(?P<KIND>{_PLURALS})\b"
_ASKED: Final = re.compile(
    rf"(?:please )?(?:(?:can|could) you )?(?:list|show|give|tell|name)(?: me| us)? (?:about )?"
    rf"{_WHAT.replace('KIND', 'listed')}"
    rf"|(?:what|which)(?:'s| is| are| were| was)? {_WHAT}"
    rf"|(?:all|every|any|our|my|their|recent|latest|known|\w+['’]s?)(?: of)?(?: the| our| my)?(?: \w+)? "
    rf"(?P<alone>{_PLURALS})\b"
    rf"|(?P<first>{_PLURALS}) (?:about|on|of|since|from|in|for|by|regarding|concerning|we|made|before|after|until"
    r"|between)\b"
)
_DECIDED: Final = re.compile(
    r"(?:so |and )?what(?: else)? (?:did|have|had|has) (?:we|i|they|the team|everyone)(?: all)? (?:decided?|agreed?)"
    r"(?: on| to do)?\b"
)
_FRAME_TEXT: Final = """
list show give tell name made make making taken take took know known knew recorded record had hold held kept keep
decide decided agree agreed there exist so far together recent latest important main currently current last
"""
_FRAME: Final = STOP_WORDS | frozenset([*_FRAME_TEXT.split(), *_KINDS])
_TELLS: Final = {
    "Decision": re.compile(
        r"(?<!not )(?<!to )\b(?:decided|agreed (?:to|on|that)|settled on|chose|opted|going with|voted (?:to|for))\b"
        r"|\bdecision:",
        re.IGNORECASE,
    ),
    "Preference": re.compile(
        r"\b(?:I|we|he|she|they|[A-Z]\w+)(?: really| always| much| would| don't| doesn't)?"
        r" (?:prefers?|likes?|loves?|hates?|dislikes?|rather have)\b|\b[Ff]avou?rite\b",
    ),
}
WORDS_OF: Final = {
    "Decision": "decided agreed settled chose opted going voted decision",
    "Preference": "prefer prefers like likes love loves hate hates dislikes favourite favorite",
}


@lru_cache(maxsize=64)
def kind_asked(question: str) -> str:
    """The kind of which a question, in lower case and without its times, asks for a list; "" if it asks for none."""
    text = " ".join(question.split()).strip(" ?.!")
    if found := _ASKED.match(text):
        return next(_KINDS[each] for each in found.groupdict().values() if each)
    return "Decision" if (asked := _DECIDED.match(text)) and not subject_of_kind(text[asked.end() :]) else ""


def subject_of_kind(question: str) -> frozenset[str]:
    """What the listed ones are to be about."""
    return frozenset(tokens(question)) - _FRAME


def tells_kind(text: str, kind: str) -> bool:
    """Whether a note tells something of a kind, such as a decision, in its own words."""
    told = _TELLS.get(kind)
    return told is not None and told.search(text) is not None
