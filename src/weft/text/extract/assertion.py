"""Detects whether a sentence states a fact, or asks, supposes, denies or jokes. Only statements are kept as facts."""

from __future__ import annotations

import re
from typing import Final

MAX_CLAUSE_CHARACTERS: Final = 200
_ASKS = re.compile(
    r"\W*(?:[\w ]{1,30}: )?(?:so |and |but |well,? |hey,? |oh,? )?(?:who|whom|whose|what|when|where|why|how|which|do"
    r"|does|did"
    r"|is|are|was|were|am|has|have|had|can|could|would|should|will|may|might|shall|isn['’]t|aren['’]t|don['’]t"
    r"|didn['’]t"
    r"|doesn['’]t|haven['’]t|won['’]t|wouldn['’]t)"
    r" (?:i|you|we|he|she|it|they|your|my|the|this|that|there|anyone|someone|people)\b",
    re.IGNORECASE,
)
_SUPPOSES = re.compile(
    r"\b(?:imagine|suppose|supposing|pretend|hypothetically|what if|if only|let['’]s say|as if|would have|could have"
    r"|for example|for instance|e\.g\.)(?!\w)",
    re.IGNORECASE,
)
_JOKES = re.compile(
    r"\b(?:just kidding|kidding|jk|lol|lmao|rofl|haha\w*|hehe\w*|joking|jokes?)\b|😂|🤣|😜|😉| /s\b", re.IGNORECASE
)
HEDGE = re.compile(
    r"\b(?:if|would|might|could|unless|wish|wishes|maybe|perhaps|probably|possibly|whether|should|supposedly|allegedly"
    r"|reportedly|apparently|rumou?red|claims?|claimed|pretends?|hopes?|hoping|wants?|wanted|wanna|dreams?|dreamed"
    r"|dreaming|almost|nearly|would['’]ve|considering|thinking (?:of|about)|assuming|assume|guess|i['’]d|we['’]d"
    r"|he['’]d"
    r"|she['’]d|they['’]d|you['’]d|rather)\b",
    re.IGNORECASE,
)
PLANS = re.compile(
    r"\b(?:will|won['’]t|going to|gonna|plan(?:s|ning|ned)? (?:to|on)|about to|\w+['’]ll|used to|tr(?:y|ying|ied) to"
    r"|once"
    r"|have to|need to|can['’]t wait to|looking (?:to|forward)|excited to|applied|applying)\b",
    re.IGNORECASE,
)
DENIES = re.compile(
    r"\b(?:not|never|no longer|hardly|barely|without|nobody|none|neither|nor|no one|cannot|false|untrue)\b|n['’]t\b",
    re.IGNORECASE,
)
_BOUNDARY = re.compile(r"[;:!?—–\]]|\. |,? but |, (?:and|so|yet|which|although|though|while) | - ")


def asserts(sentence: str) -> bool:
    """Whether a sentence may state a fact: not a question, not a supposition as a whole, not a joke."""
    bare = sentence.rstrip(" \"”’')]*_")
    if bare.endswith("?") or _ASKS.match(sentence) is not None:
        return False
    return _SUPPOSES.search(sentence) is None and _JOKES.search(sentence) is None


def clause_before(sentence: str, at: int) -> str:
    """The text before a position within its clause, at most MAX_CLAUSE_CHARACTERS."""
    before = sentence[max(0, at - MAX_CLAUSE_CHARACTERS) : at]
    start = 0
    for boundary in _BOUNDARY.finditer(before):
        start = boundary.end()
    return before[start:]


def is_sure(clause: str) -> bool:
    """Whether nothing in a clause hedges, plans or denies."""
    return HEDGE.search(clause) is None and PLANS.search(clause) is None and DENIES.search(clause) is None
