"""Intent of a message by its words: a question, an instruction, a complaint, a greeting or a follow-up."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Literal

from weft.text.extract.question.question import read_question
from weft.text.extract.question.references import resolve
from weft.text.extract.question.small_talk import needs_memory
from weft.text.lexical import fold_case

MessageIntent = Literal["question", "instruction", "complaint", "greeting", "follow_up"]
Complexity = Literal["simple", "complex"]

MAX_READ_CHARACTERS: Final = 2_000
KEY_WORDS: Final = 3  # this few words without a verb are a search
COMPLEX_WORDS: Final = 30
COMPLEX_QUESTIONS: Final = 2
_WORD: Final = re.compile(r"[^\W_]+")
_ASKING_TEXT: Final = """
who whom whose what whats which when where why how is are was were do does did can could will would should has have am
may wer was wann wo warum wie welche welcher welches kann konnen hat haben gibt ist sind qui que quoi quand ou comment
pourquoi quel quelle quelles est combien quien cuando donde como cual cuales cuanto quem quando onde qual quanto chi
dove come perche quale cosa wat wie wanneer waar hoe waarom welke кто что когда где почему как какои сколько
"""
_ASKING: Final = frozenset(_ASKING_TEXT.split())
_COMPLAINT: Final = re.compile(
    r"\b(?:terrible|awful|horrible|unacceptable|disappointed|disappointing|disgusting|rude|worst|useless|scam|broken"
    r"|refund|complain|complaint|angry|furious|ridiculous|never again|still waiting|nobody answers|no one answers"
    r"|have waited|been waiting|does not work|doesn t work|not working|stopped working|crashed|ruined|outrageous"
    r"|beschwerde|beschweren|unverschamt|enttauscht|kaputt|funktioniert nicht|schrecklich|reklamation|warte seit"
    r"|inacceptable|decu|decue|scandaleux|remboursement|plainte|ne marche pas|ne fonctionne pas"
    r"|inaceptable|decepcionado|decepcionada|queja|reembolso|no funciona|pesimo|reclamacao|nao funciona|decepcionante"
    r"|inaccettabile|deluso|delusa|rimborso|reclamo|non funziona|klacht|teleurgesteld|werkt niet"
    r"|ужасно|жалоба|не работает|верните деньги)\b"
)
_FOLLOWING: Final = re.compile(
    r"(?:and|what about|how about|but what|also|then|so|or|und|was ist mit|et|y|e|a|ed|maar|en wat|а|и)\b"
)
_SEVERAL: Final = re.compile(
    r"\b(?:compare|comparison|step by step|in detail|pros and cons|analyse|analyze|explain how|explain why|trade ?offs?"
    r"|differences? between|vergleiche|schritt fur schritt|compara|comparez|confronta|vergelijk)\b"
)


def intent_of(message: str, history: Sequence[str] = ()) -> MessageIntent:
    """The intent of a message. One of only greetings, thanks and acknowledgements is a greeting.

    A follow-up needs a history. A message without a question or complaint is an instruction, a few bare words are a
    question.
    """
    read = message[:MAX_READ_CHARACTERS]
    if not needs_memory(read):
        return "greeting"
    small = " ".join(_WORD.findall(fold_case(read)))
    words = small.split()
    if any(said.strip() for said in history) and _follows(read, small, history):
        return "follow_up"
    asks = "?" in read or "？" in read or "؟" in read or (bool(words) and words[0] in _ASKING)
    if _COMPLAINT.search(small) and not (asks and words[0] in _ASKING):
        return "complaint"
    return "question" if asks or len(words) <= KEY_WORDS else "instruction"


def _follows(message: str, small: str, history: Sequence[str]) -> bool:
    """Whether it depends on the history: it begins like a continuation, or refers back."""
    return _FOLLOWING.match(small) is not None or resolve(message, history).query != message


def complexity_of(message: str) -> Complexity:
    """Complex if it is long, asks several things, or asks for a comparison or an explanation in steps."""
    read = message[:MAX_READ_CHARACTERS]
    words = _WORD.findall(read)
    several = sum(read.count(mark) for mark in "?？؟") >= COMPLEX_QUESTIONS
    named = len(read_question(read).segments) > 1 and len(words) > COMPLEX_WORDS // 2
    asks_much = _SEVERAL.search(" ".join(_WORD.findall(fold_case(read)))) is not None
    return "complex" if len(words) > COMPLEX_WORDS or several or named or asks_much else "simple"
