"""Causes and effects joined by words: because, so, therefore, led to, due to, that's why."""

from __future__ import annotations

import re
from typing import Final

from msgspec.structs import replace

from weft.text.extract.assertion import HEDGE
from weft.text.extract.findings import FoundCause, Span

MAX_CAUSES: Final = 8  # of one sentence
MIN_CHARACTERS: Final = 3
MAX_NOUN_WORDS: Final = 4
_SUBJECT = (
    r"(?:i|we|you|he|she|it|they|my|our|your|his|her|their|the|this|that|there|a|an|these|those|(?-i:[A-Z]\w+)|be"
    r"|make|keep|book"
    r"|choose|pack|just|feel|don['’]t|let|let['’]s|try|check|consider|take|bring|plan|please|no|having|people"
    r"|everyone|get|go)"
)
# (hint, pattern, whether the cause comes first, confidence). The texts before and after the match are the two parts.
_JOINTS: Final[tuple[tuple[str, re.Pattern[str], bool, float], ...]] = (
    ("because", re.compile(r",? (?:(?:mainly|largely|partly|just|simply|only|probably|mostly|maybe) )?because(?: of)?"
        r" (?!you\b.*\?)"), False, 0.95),
    ("due to", re.compile(r",? (?:(?:is|was|are|were) )?(?:(?:mainly|largely|partly|mostly|primarily) )?due to"
        r" (?!be\b|arrive|start|open|close|air|leave)"), False, 0.9),
    ("owing to", re.compile(r",? (?:largely )?owing to "), False, 0.9),
    ("thanks to", re.compile(r"(?<=\w),? thanks to "), False, 0.8),
    ("as a result of", re.compile(r",? as a (?:direct )?result of "), False, 0.9),
    ("on account of", re.compile(r",? on account of "), False, 0.9),
    (" why ", re.compile(r"[,;]? (?:and )?(?:which is|that['’]s|that is|this is) why "), True, 0.95),
    ("lead", re.compile(r",? (?:which )?leading to "), True, 0.85),
    ("led to", re.compile(r",? (?:(?:which|that|and|has|have|had|eventually|ultimately|soon|later|also) ){0,3}(?:led"
        r"|leads|leading) to "), True, 0.85),
    ("result", re.compile(r",? (?:(?:which|that|and|has|have|had|eventually|ultimately) ){0,3}(?:resulted|(?<=which"
        r" )results|(?<=this )results|resulting) in "), True, 0.85),
    ("caus", re.compile(r",? (?:(?:which|that|and|has|have|had|eventually|ultimately) ){0,3}(?:caused|causing"
        r"|(?<=which )causes|(?<=that )causes|(?<=it )causes|(?<=this )causes) (?!by\b)"), True, 0.85),
    ("as a result", re.compile(r"(?:[,;]| and) (?:and )?as a (?:direct )?result,? (?!of\b)"), True, 0.9),
    ("therefore", re.compile(r"(?:[,;]| and) (?:and )?therefore,? "), True, 0.9),
    ("consequently", re.compile(r"(?:[,;]| and) (?:and )?consequently,? "), True, 0.9),
    ("so", re.compile(rf", (?:and )?so (?:now )?(?={_SUBJECT}\b)(?!far\b|that\b|much\b|many\b|i guess|i was wondering"
        rf"|i['’]d|(?:the )?\w+ (?:can|could|will be able|may) )", re.IGNORECASE), True, 0.75),
    ("since", re.compile(r", (?:especially |particularly )?since (?=(?:i|we|you|he|she|it|they|my|our|his|her|their"
        r"|there|that)\b)", re.IGNORECASE), False, 0.7),
)  # fmt: skip
_PASSIVE = re.compile(
    r",? (?:(?:is|was|are|were|been|being|be|gets?|got) )(?:\w+ly )?(?:caused|triggered|brought about) by "
)
_FRONT = re.compile(
    r"\W*(?:[\w ]{1,30}: )?(?P<word>because(?: of)?|since|due to|as a result of|thanks to|owing to) ", re.IGNORECASE
)
_FRONT_TIME = re.compile(
    r"\W*(?:[\w ]{1,30}: )?since (?:then|that|last|the|\d+s?|january|february|march|april|may|june|july|august"
    r"|september|october|november|december|childhood|day|yesterday|when|its|his|her|their|my|moving|starting|joining"
    r"|(?:i|we|you|they|he|she) (?:last|first|started|began|was|were))\b",
    re.IGNORECASE,
)
_BACK = re.compile(
    r"\W*(?:[\w ]{1,30}: )?(?:that['’]s why|that is why|this is why|which is why|as a result,|therefore,|consequently,"
    r"|because of (?:this|that),) ",
    re.IGNORECASE,
)
_PERFECT = re.compile(r"\b(?:has|have|had|['’]ve) (?:\w+ )?(?:been|\w+ed)\b|\bhaven['’]t|\bhasn['’]t")
_CUT_LEFT = re.compile(
    r"[;:\]]|[.!?] |,? but |, (?:although|though|however|yet) |, and (?=(?:I|we|he|she|they|it|you|the|my|this"
    r"|that)\b)| - | – | — |—| (?:said|says|stated|thought|think|thinks|believes?|believed|found|realized|know|mean)"
    r" that |, (?=(?:I|we|he|she|they|you|which|who)\b)| and (?=(?:I|we|he|she|they|it|my)\b)"
)
_CUT_RIGHT = re.compile(
    r"[;\[\]]|[.!?](?:\s|$)|,? but |, (?:so|and so|which|although|though|however|and (?:i|we|he|she|it|they|now|that"
    r"|this|the)|yet) "
    r"| - | – | — |—|, and then |, (?:resulting in|leading to|causing|helping|allowing) | and (?=(?:i|we|he|she|they"
    r"|it)\b)",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"(?:\W|(?:and|but|so|well|yeah|yes|yep|no|oh|also|plus|actually|honestly|anyway|wow|hey|thanks|right|sure|i"
    r" think|i guess|however"
    r"|by the way|remember(?: that)?|please note that|note that|unfortunately|luckily|sadly|fortunately)\b)+",
    re.IGNORECASE,
)
_PRONOUN = re.compile(
    r"(?:(?:it|that|this|which|he|she|they|i|we|you|there|what|them|him|her|us|me)(?:['’]s| is| was| are|['’]re)?(?:"
    r" \w+ly| just| all| been)?"
    r"|not|why|just|simply|and|or|so|is|was|(?:.{0,80} )?what(?:['’]s| is| was))[.!]?",
    re.IGNORECASE,
)
_ORDERS = re.compile(
    r"(?:to \w+ |consider|try|make sure|leave|use|add|set|choose|place|put|write|book|keep|start|create|save|store"
    r"|label|arrange|wear"
    r"|take|bring|bookmark|check|break|focus|look for|organi[sz]e|schedule|ask|include|water|cut|mix|wrap|cook|share"
    r"|plan|read|work)\b",
    re.IGNORECASE,
)


def causes(sentence: str) -> list[FoundCause]:
    """The causes stated by a sentence, in order, at most MAX_CAUSES.

    Sentences with if, would, might or could state none, nor do parts that are only a pronoun.
    """
    lower = sentence.lower()
    found: list[FoundCause] = []
    if front := _front(sentence):
        found.append(front)
    for hint, pattern, cause_first, confidence in _JOINTS:
        if hint in lower:
            for match in pattern.finditer(sentence):
                if made := _made(sentence, match.span(), cause_first=cause_first, confidence=confidence):
                    found.append(made)
    if " by " in lower and ("caused by" in lower or "triggered by" in lower or "brought about by" in lower):
        for match in _PASSIVE.finditer(sentence):
            if made := _made(sentence, match.span(), cause_first=False, confidence=0.9):
                found.append(made)
    return _chained(_apart(found))[:MAX_CAUSES]


def refers_back(sentence: str) -> Span | None:
    """The effect in a sentence that names the sentence before as its cause: "That's why …"; else None."""
    match = _BACK.match(sentence)
    return _right(sentence, match.end()) if match and not HEDGE.search(sentence) else None


_COMMA_SUBJECT = re.compile(r",(?= (?:I|we|he|she|it|they|you|the|my|there|this|that)\b)")


def _front(sentence: str) -> FoundCause | None:
    """As in "Because CAUSE, EFFECT"."""
    match = _FRONT.match(sentence)
    comma = -1
    if match:
        subject = _COMMA_SUBJECT.search(sentence, match.end())
        comma = subject.start() if subject else sentence.find(",", match.end())
    if match is None or comma < 0 or HEDGE.search(sentence):
        return None
    word = match["word"].lower()
    if word == "since" and (_FRONT_TIME.match(sentence) or _PERFECT.search(sentence, comma)):
        return None
    cause = _trimmed(sentence, match.end(), comma)
    effect = _right(sentence, comma + 1)
    if cause is None or effect is None or _is_because_this(sentence, cause):
        return None
    return FoundCause(cause=cause, effect=effect, confidence=0.7 if word == "since" else 0.9)


def _is_because_this(sentence: str, cause: Span) -> bool:
    return _PRONOUN.fullmatch(sentence[slice(*cause)]) is not None


def _made(sentence: str, joint: Span, *, cause_first: bool, confidence: float) -> FoundCause | None:
    if not cause_first and _LEANS.search(sentence, max(0, joint[0] - 8), joint[0]):
        return _middle(sentence, joint[1], confidence)
    left, right = _left(sentence, joint[0]), _right(sentence, joint[1])
    if left is None or right is None:
        return None
    if _THAT.match(sentence, joint[0]) and len(sentence[slice(*left)].split()) > MAX_NOUN_WORDS:
        return None  # "… the quarrel that led to …": only the last noun is the cause
    if not cause_first and sentence[joint[0]] == "," and len(sentence[slice(*left)].split()) <= 4:
        return _middle(sentence, joint[1], confidence)
    if _NOUN_JOINT.search(sentence, *joint):  # noun phrases are taken without their article
        if comma := _COMMA_MORE.search(sentence, *right):
            right = (right[0], comma.start())
        right = _past_article(sentence, right)
        left = _past_article(sentence, left) if cause_first else left
    cause, effect = (left, right) if cause_first else (right, left)
    if HEDGE.search(sentence, *cause) or _IFS.search(sentence, *effect):
        return None
    if sentence[joint[0] : joint[1]].lstrip(", ").lower().startswith(("so ", "and so ")) and _is_purpose(
        sentence, left, right
    ):
        return None  # a purpose: "label the boxes, so we find them"
    if sentence[slice(*joint)].strip(", ").lower() == "since" and _PERFECT.search(sentence, *left):
        return None
    return FoundCause(cause=cause, effect=effect, confidence=confidence)


_IFS = re.compile(r"\b(?:if|would|unless|whether|\w+['’]d|wish|maybe|perhaps)\b", re.IGNORECASE)
_INTENDS = re.compile(r"(?:I|we|you)(?:['’]ll| will|['’]m going to|['’]re going to)\b", re.IGNORECASE)
_OTHER_SUBJECT = re.compile(r"(?:it|they|he|she|that|the)\b", re.IGNORECASE)


def _is_purpose(sentence: str, left: Span, right: Span) -> bool:
    """A purpose instead of an effect: "Label the boxes, so we find them." "I'll polish the shoes, so they look new"."""
    if _ORDERS.match(sentence, left[0]):
        return True
    return _INTENDS.match(sentence, left[0]) is not None and _OTHER_SUBJECT.match(sentence, right[0]) is not None


_THAT = re.compile(r" that ")
_LEANS = re.compile(r"(?:\bbut|\band|,)$")


def _middle(sentence: str, at: int, confidence: float) -> FoundCause | None:
    """As in "…, but because of CAUSE, EFFECT"."""
    comma = sentence.find(",", at)
    cause = _trimmed(sentence, at, comma) if comma > 0 else None
    effect = _right(sentence, comma + 1) if comma > 0 else None
    if cause is None or effect is None or HEDGE.search(sentence, at, effect[1]) or _RELATIVE.match(sentence, effect[0]):
        return None
    return FoundCause(cause=_past_article(sentence, cause), effect=effect, confidence=confidence)


_RELATIVE = re.compile(r"(?:which|who|whose|where|resulting|leading)\b")
_COMMA_MORE = re.compile(r",(?= (?:in|on|at|having|an?|the|with|after|during|by|from|for|as|[a-z]+ing)\b| ['`])")
_NOUN_JOINT = re.compile(r"\b(?:of|to|in|by|caus\w+) $")
_ARTICLE = re.compile(r"(?:the|an?) ", re.IGNORECASE)


def _past_article(sentence: str, span: Span) -> Span:
    article = _ARTICLE.match(sentence, *span)
    return (article.end(), span[1]) if article else span


def _left(sentence: str, stop: int) -> Span | None:
    start = 0
    for cut in _CUT_LEFT.finditer(sentence, 0, stop):
        inside = sentence.find(")", cut.end(), stop)
        if inside < 0 or "(" in sentence[cut.end() : inside]:  # not in the middle of brackets
            start = cut.end()
    return _trimmed(sentence, start, stop)


def _right(sentence: str, start: int) -> Span | None:
    cut = _CUT_RIGHT.search(sentence, start)
    return _trimmed(sentence, start, cut.start() if cut else len(sentence))


def _trimmed(sentence: str, start: int, stop: int) -> Span | None:
    """A span without introductory words and final punctuation; None if hardly anything is left."""
    if lead := _LEAD.match(sentence, start, stop):
        start = lead.end()
    text = sentence[start:stop]
    if ")" in text and "(" not in text:
        text = text[: text.index(")")]
    text = text.rstrip(" ,.;:!?\"”'’*")
    if len(text) < MIN_CHARACTERS or _PRONOUN.fullmatch(text):
        return None
    return (start, start + len(text))


def _apart(found: list[FoundCause]) -> list[FoundCause]:
    """Causes in the order of the text; of two over the same words the one with more confidence."""
    kept: list[FoundCause] = []
    for each in sorted(found, key=lambda cause: -cause.confidence):
        if not any(_same(each, other) for other in kept):
            kept.append(each)
    return sorted(kept, key=lambda cause: min(cause.cause, cause.effect))


def _chained(found: list[FoundCause]) -> list[FoundCause]:
    """Where a cause is itself a cause and its effect, only the effect goes on: "A led to B, so C" is A, B, C.

    Likewise, of an effect that is a cause and its effect only the cause.
    """

    def holds(outer: Span, inner: FoundCause) -> bool:
        return all(outer[0] <= part[0] and part[1] <= outer[1] for part in (inner.cause, inner.effect))

    chained = []
    for each in found:
        within = next((other for other in found if other is not each and holds(each.cause, other)), None)
        effect = next((other for other in found if other is not each and holds(each.effect, other)), None)
        cause = within.effect if within else each.cause
        chained.append(replace(each, cause=cause, effect=effect.cause if effect else each.effect))
    return chained


def _same(one: FoundCause, other: FoundCause) -> bool:
    def meet(a: Span, b: Span) -> bool:
        return a[0] < b[1] and b[0] < a[1]

    return (meet(one.cause, other.cause) or meet(one.cause, other.effect)) and (
        meet(one.effect, other.effect) or meet(one.effect, other.cause)
    )
