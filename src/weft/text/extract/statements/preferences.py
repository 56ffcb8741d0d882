"""Likes and dislikes: "I love hiking", "I can't stand noise", "my favourite tea is oolong".

First person is the speaker. Remarks about the moment ("I love your photo", "I like that") and wishes are not
preferences.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from weft.text.extract.assertion import DENIES, HEDGE, clause_before
from weft.text.extract.findings import FoundName, FoundPreference, Polarity, Span

MAX_PREFERENCES: Final = 8  # of one sentence
MAX_OBJECT_WORDS: Final = 14
MAX_SUBJECT_WORDS: Final = 8  # of "… is my favourite"
_HINT: Final = (
    "love", "like", "enjoy", "ador", "prefer", "hate", "dislike",
        "detest", "loath", "despise", "stand", "bear", "favor",
    "favour", "fan of", "into", "obsess", "crazy about", "fond of",
        "rather", "passion", "addicted", "keen on", "hooked on",
)  # fmt: skip
_ADVERBS = (
    r"(?: (?:really|absolutely|truly|just|also|always|still|totally|definitely|simply|honestly|particularly|especially"
    r"|usually|personally|kinda|kind of|quite|do|so|actually|both|mostly|generally|genuinely|very much|much|more|too"
    r"|all"
    r"|especially|even|sometimes|often|pretty|super|currently|completely|deeply|strongly)){0,3}"
)
_NOT = r"(?: (?:do not|don['’]t|never|am not|not))"
_VERB = re.compile(
    rf"\b(?P<who>I|[Ww]e)(?:['’]ve| have)?{_ADVERBS}(?P<not>{_NOT})?{_ADVERBS}"
    r" (?P<verb>love|like|enjoy|adore|prefer|hate|dislike|detest|loathe|despise|(?:can['’]?t|cannot|can not) (?:stand"
    r"|bear)"
    r"|care for) (?=\w|[\"“])"
)
_BEING = re.compile(
    rf"\b(?P<who>I|[Ww]e)(?:['’]m|['’]re| am| are|['’]ve been|['’]ve always been| have been| have always"
    rf" been){_ADVERBS}"
    rf"(?P<not> not)?{_ADVERBS} (?P<verb>(?:such )?(?:an? )?(?:(?:big|huge|massive|real|total|lifelong|avid|great"
    rf"|die-?hard)"
    r" )*(?:fan of|fans of|lover of)|into|obsessed with|crazy about|fond of|passionate about|addicted to|keen on"
    r"|hooked on"
    r"|loving|enjoying) (?=\w|[\"“])"
)
_FAVOURITE = re.compile(
    r"\b(?P<who>[Mm]y|[Oo]ur)(?: (?:all-time|absolute|current|personal|own|all time|new))* favou?rites?"
    r" (?P<of>[^.,;:!?]{0,40}?)"
    r" ?\b(?:is|are|has to be|have to be|has always been) (?:definitely |probably |still |always |actually |the"
    r" )*(?=\w|[\"“])"
)
_IS_FAVOURITE = re.compile(
    r"(?P<object>[^.,;:!?()]{2,80}?) (?:is|are|has always been|have always been)(?: \w+ly| still| also| always)?"
    r" (?:(?:one|some) of )?(?P<who>my)(?: (?:all-time|absolute|personal|all time))* favou?rites?\b"
)
_BARE_FAVOURITE = re.compile(
    r"(?<!is )(?<!s for )(?<!are )(?<!was )(?<!of )(?<!be )\b(?P<who>[Mm]y)(?: (?:all-time|absolute|personal|all time"
    r"|new))* favou?rite (?=[a-zA-Z])"
)
_DROPPED = re.compile(
    r"\W*(?:(?:yeah|yes|yep|oh|wow|same here|totally|definitely|really|absolutely|also|just)\W+){0,3}"
    r"(?P<verb>[Ll]ove|LOVE|[Hh]ate|[Cc]an['’]t stand|[Nn]ot (?:really )?(?:a (?:big |huge )?fan of|into)|[Bb]ig fan"
    r" of|[Hh]uge fan of)"
    r" (?!the\b|you\b|your\b|this\b|that\b|it\b|is\b)(?=\w)"
)
_RATHER = re.compile(r"\b(?P<who>I|[Ww]e)(?:['’]d| would) (?:much |definitely )?rather (?!be\b|not\b)(?=\w)")
_NEVER = re.compile(
    r"\b(?P<who>I|[Ww]e)(?:['’]ve| have)? never (?:really |much |actually )?(?:liked|enjoyed|loved|cared for|been"
    r" into) (?=\w)"
)
_OTHERS = re.compile(
    rf"{_ADVERBS}(?P<not> doesn['’]t| does not)?{_ADVERBS}"
    r" (?P<verb>loves|likes|enjoys|adores|prefers|hates|dislikes|detests|(?:can['’]?t|cannot) stand|love|like|enjoy)"
    r" (?=\w|[\"“])"
)
_END = re.compile(
    r"[.,;:!?()\[\]—–\n\"”]| - | (?:because|since|so|but|when|while|which|who|although|though|after|before|if|as"
    r"|especially"
    r"|whenever|where|unless|until|even|either|too|anyway|lately|right now|these days|nowadays|now"
    r"|and (?:i|we|it|they|he|she|you|that|am|have|had|always|often|usually|recently|would|will|love|like|enjoy|hate"
    r"|prefer|find|think|was|is|are|just|can|there|this|since|[A-Z]\w+ (?:loves|likes|hates|is|was|enjoys|has))|for"
    r" (?:its|their|the way|how|his|her)"
    r"|that (?:i|we|you|it|they|he|she|this|there)|from (?:the|my) (?:first|very)|with (?:you|all my)|in (?:this"
    r"|that) )\b",
    re.IGNORECASE,
)
_NO_OBJECT = re.compile(
    r"(?:it|its|it['’]s|that|that['’]s|this|these|those|them|him|her|you|your|yours|how|what|when|where|why|who"
    r"|whatever"
    r"|the (?:way|idea|fact|sound|look|part|thought|concept|vibe|one|ones|suggestion|suggestions)|an? idea|to"
    r" (?:think|say"
    r"|know|hear|see (?:you|how|that|what|it)|thank|share|ask|add|start|point)|seeing (?:you|your|how|it|them)|hearing"
    r"|everything|something|anything|nothing|one|ones|both|all|each|every|some|any|he|she|we|they|being|so|and|or|too"
    r"|most"
    r"|more|at|in|on|for|with|about|crazy|hell|is|are|was|having you|talking (?:to|with) you|my (?:job|life) (?:too|so)"
    r"|a (?:lot|bit)|there|of|by|from|if|as|having|being|getting to|me|us|myself)\b",
    re.IGNORECASE,
)
_OVER = re.compile(r" (?:to|over|rather than|instead of|than|more than) ")
_STRENGTHS: Final = {
    "love": 1.0, "adore": 1.0, "hate": 1.0, "detest": 1.0, "loathe": 1.0, "despise": 1.0, "like": 0.6, "enjoy": 0.7,
    "prefer": 0.7, "dislike": 0.7, "loves": 1.0, "adores": 1.0, "hates": 1.0, "detests": 1.0, "likes": 0.6,
    "enjoys": 0.7, "prefers": 0.7, "dislikes": 0.7, "into": 0.7, "loving": 0.8, "enjoying": 0.6, "care for": 0.5,
}  # fmt: skip
_DISLIKES = re.compile(r"hate|dislike|detest|loath|despise|stand|bear")


class _Statement(NamedTuple):
    who: str
    verb: str
    negated: bool
    holder: Span
    at: int  # where the object begins


def preferences(sentence: str, names: Sequence[FoundName], speaker: str) -> list[FoundPreference]:
    """The preferences stated by a sentence, in order, at most MAX_PREFERENCES."""
    lower = sentence.lower()
    if not any(hint in lower for hint in _HINT):
        return []
    found = [made for stated in _stated(sentence, names) for made in _made(sentence, stated, speaker)]
    found.extend(_favourites(sentence, speaker))
    found.sort(key=lambda each: each.span)
    single = {each.span: each for each in reversed(found)}
    return sorted(single.values(), key=lambda each: each.span)[:MAX_PREFERENCES]


def _stated(sentence: str, names: Sequence[FoundName]) -> list[_Statement]:
    stated: list[_Statement] = []
    for pattern in (_VERB, _BEING):
        for match in pattern.finditer(sentence):
            stated.append(_Statement("", match["verb"], match["not"] is not None, match.span("who"), match.end()))
    for pattern, verb in ((_RATHER, "prefer"), (_NEVER, "dislike")):
        stated += [
            _Statement("", verb, negated=False, holder=match.span("who"), at=match.end())
            for match in pattern.finditer(sentence)
        ]
    if dropped := _DROPPED.match(sentence):
        verb = dropped["verb"].lower()
        stated.append(
            _Statement(
                "", verb.removeprefix("not "), verb.startswith("not"), (dropped.start("verb"),) * 2, dropped.end()
            )
        )
    for name in names:
        likes = _OTHERS.match(sentence, name.span[1]) if name.kind in {"Person", "Entity"} else None
        plural = likes is not None and likes["verb"] in {"love", "like", "enjoy"} and likes["not"] is None
        if likes and not plural:
            stated.append(_Statement(name.text, likes["verb"], likes["not"] is not None, name.span, likes.end()))
    return stated


def _made(sentence: str, told: _Statement, speaker: str) -> list[FoundPreference]:
    before = clause_before(sentence, told.holder[0])
    verb = told.verb.lower()
    negative = _DISLIKES.search(verb) is not None
    if HEDGE.search(before) or DENIES.search(before) or (negative and told.negated):  # "I don't hate it" says little
        return []
    polarity: Polarity = "dislikes" if negative or told.negated else "likes"
    strength = _STRENGTHS.get(verb, 0.9)
    strength = min(strength, 0.6) if told.negated else strength
    return [
        FoundPreference(
            holder=told.who or speaker,
            polarity=polarity,
            object=sentence[slice(*span)],
            span=span,
            holder_span=told.holder,
            strength=strength,
        )
        for span in _objects(sentence, told.at, prefers=verb.startswith("prefer"))
    ]


def _objects(sentence: str, at: int, *, prefers: bool) -> list[Span]:
    """What is liked, up to the end of the clause, each item of a list separately; [] if nothing is named."""
    if at >= len(sentence):
        return []
    if past := _PAST_LEAD.match(sentence, at):
        at = past.end()
    end = _END.search(sentence, at + 1)
    stop = end.start() if end else len(sentence)
    if prefers and (over := _OVER.search(sentence, at, stop)):
        stop = over.start()
    elif end and end[0] == ",":
        if listed := _LIST.match(sentence, at):
            return [
                span
                for match in _ITEM.finditer(sentence, at, listed.end())
                if (span := _object(sentence, *match.span()))
            ]
        first = _object(sentence, at, stop)
        if first and (more := _ESPECIALLY.match(sentence, stop)):
            end = _END.search(sentence, more.end())
            second = _object(sentence, more.end(), end.start() if end else len(sentence))
            return [first, second] if second else [first]
        return [first] if first else []
    if both := _BOTH.fullmatch(sentence, at, stop):
        return [span for part in (1, 2) if (span := _object(sentence, *both.span(part)))]
    only = _object(sentence, at, stop)
    return [only] if only else []


_WORDS = r"[^\W\d_][\w'’-]*(?: [\w'’-]+){0,4}?"
_ITEM = re.compile(rf"(?:,? (?:and|or) |, )?({_WORDS})(?=,| and | or |[.!;]|$)")
_LIST = re.compile(
    rf"{_WORDS}(?:, (?!the |and |or |i |we |but |so |it|he |she |they |which |who |you ){_WORDS})+,? (?:and|or)"
    rf" {_WORDS}(?=[.!;,]|$)",
    re.IGNORECASE,
)
_BOTH = re.compile(r"([a-z]+ing(?: [\w'’-]+){0,4}) and ([a-z]+ing(?: [\w'’-]+){0,4})|()()")
_ESPECIALLY = re.compile(r",? especially (?:the )?(?=[a-zA-Z])(?!when|if|because|since|after|with|how|in\b|for\b|that)")
_PAST_LEAD = re.compile(
    r"(?:to (?!think|say|know|hear|see (?:you|how|that|what|it)|thank|share|ask|add|start|point)"
    r"|(?:the |an? )?(?:idea|sound|thought|look|sounds) of (?:using |having )?|the (?!way\b|idea\b|fact\b|sound\b"
    r"|part\b)|an? (?!idea\b|lot\b|bit\b))(?=\w)"
)
_LEADING = re.compile(r",? ?(?:and |or )?(?:the |an? )?[\"“]?")
_COMPLIMENT = re.compile(
    r"\b(?:you|your|yours|that|this|these|those|it|its)\b|^the (?:colou?rs?|designs?|photos?|pictures?|pics?|view"
    r"|patterns?|shot|painting|look|outfit"
    r"|suggestions?|thought|ideas?|details?|vibes?|energy|enthusiasm|concept|mix|contrast|combination)\b",
    re.IGNORECASE,
)


def _object(sentence: str, at: int, stop: int) -> Span | None:
    """The span without an article; None if it names nothing by itself or praises the moment."""
    if lead := _LEADING.match(sentence, at, stop):
        at = lead.end()
    text = sentence[at:stop].rstrip()
    words = text.split()
    if not words or len(words) > MAX_OBJECT_WORDS or len(text) < 3:
        return None
    the = "the " if sentence.endswith("the ", 0, at) else ""
    if _NO_OBJECT.match(text) or words[-1] in {"them", "him", "her", "me", "us"} or _COMPLIMENT.search(the + text):
        return None
    return (at, at + len(text))


def _favourites(sentence: str, speaker: str) -> list[FoundPreference]:
    if "avorite" not in sentence and "avourite" not in sentence:
        return []
    found: list[FoundPreference] = []
    for match in _FAVOURITE.finditer(sentence):
        if not HEDGE.search(clause_before(sentence, match.start())) and not DENIES.match(sentence, match.end()):
            spans = _objects(sentence, match.end(), prefers=False)
            found.extend(_favourite(sentence, span, speaker, match.span("who")) for span in spans)
    if not found:
        for match in _BARE_FAVOURITE.finditer(sentence):
            spans = _objects(sentence, match.end(), prefers=False)
            told = spans and not re.search(r"\b(?:is|are|was|were|has|have|would)\b", sentence[slice(*spans[0])])
            if told and not HEDGE.search(clause_before(sentence, match.start())):
                found.append(_favourite(sentence, spans[0], speaker, match.span("who")))
    for match in _IS_FAVOURITE.finditer(sentence):
        text = re.sub(r"^(?:\W|and |but |so |I think |[A-Z]\w+: )+", "", match["object"])
        start = match.end("object") - len(text)
        named = 0 < len(text.split()) <= MAX_SUBJECT_WORDS and not _NO_OBJECT.match(text)
        if named and not HEDGE.search(text) and not DENIES.search(match[0]):
            found.append(_favourite(sentence, (start, match.end("object")), speaker, match.span("who")))
    return found


def _favourite(sentence: str, span: Span, speaker: str, holder: Span) -> FoundPreference:
    return FoundPreference(
        holder=speaker, polarity="likes", object=sentence[slice(*span)], span=span, holder_span=holder, strength=1.0
    )
