"""The intent of a question, and how far to follow each view of the graph for it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Literal

from msgspec import Struct

Intent = Literal["WHY", "WHEN", "WHO", "WHAT", "EXPLORE"]
RetrievalClass = Literal["entity", "temporal", "event", "general", "none"]
MAX_DEPTH: Final = 5


class Depths(Struct, frozen=True, kw_only=True):
    """The number of steps to follow each view from the seeds; 0 skips the view."""

    entity: int = 2
    temporal: int = 2
    causal: int = 3


DEPTHS: Final[Mapping[Intent, Depths]] = {
    "WHY": Depths(entity=1, temporal=1, causal=3),
    "WHEN": Depths(entity=1, temporal=3, causal=1),
    "WHO": Depths(entity=3, temporal=1, causal=1),
    "WHAT": Depths(entity=3, temporal=1, causal=1),
    "EXPLORE": Depths(entity=2, temporal=2, causal=2),
}


# ---- word lists and patterns

MAX_READ_CHARACTERS: Final = 2_000
_SENTENCE = re.compile(r"[^.?!\n]+[.?!]?")
_TOKEN = re.compile(r"[^\W_]+(?:'[^\W_]+)*|[^\w\s]")

# A question word asks at the beginning of a clause or after one of these: "do you know why", "in which year".
# Elsewhere it joins clauses: "the lock that is held when the job runs".
_LEADS_TEXT: Final = """
about ago ah also and ask asked asking at but by check clear clue curious exactly explain figure find for from guess
hear heard hey hi idea in into is just know known learn list me oh ok okay on or out please precisely question recall
remember remind roughly say says see show since so still sure tell that's then to understand until us was were with
wonder wondering yes
"""
_LEADS: Final = frozenset(_LEADS_TEXT.split())
_ASKING: Final[Mapping[str, Intent]] = {
    "why": "WHY",
    **dict.fromkeys(("when", "when's"), "WHEN"),
    **dict.fromkeys(("who", "who's", "who'd", "who've", "whom", "whose"), "WHO"),
    **dict.fromkeys(("what", "what's", "which", "how", "how's", "where", "where's"), "WHAT"),
}


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns))


_FEW = r"(?:[\w']+ ){0,3}"  # words of a noun phrase in between
_WHAT_IS = r"what(?:'s| is| was| are| were)?"
_WHOSE = r"(?:the|a|that|my|our|your|his|her|their)"
_PEOPLE = (
    r"(?:person|people|team|engineer|developer|colleague|coworker|teammate|owner|author|reviewer|manager|user|customer"
    r"|client|member|contact|department|vendor|friend|doctor|teacher|maintainer|designer|director|actor|singer|artist"
    r"|player|candidate|employee|stakeholder|supplier|company|companies|organi[sz]ation|group|sibling|brother|sister"
    r"|cousin|uncle|aunt|neighbou?r)s?\b"
)
_MOMENT = (
    r"(?:day|date|time|year|month|week|weekday|weekend|hour|quarter|decade|century)s?\b"
    r"(?! (?:zone|limit|complexity|sheet|series|format|off))"
)
_REASON = r"(?:reasons?|causes?|rationale|motivations?|motives?|explanation|justification|culprit)\b"
_CAUSES = (
    r"(?:caused?|causes|led to|leads to|made|makes|triggered|triggers|drove|drives|broke|prompted|motivated|explains"
    r"|explained|brought about|convinced|forced|prevented|prevents|stopped|stops|kept|keeps)\b"
)
_HAS = r"(?:has |have |had |could have |might have |would have |really |actually |exactly )?"
_BESIDE_TIME = r"\b(?:before|since|timeline|(?<!named )(?<!look )(?<!looks )after(?! all))\b"

# Intent by the phrase from the question word on. The first match wins.
_PHRASES: Final[tuple[tuple[re.Pattern[str], Intent], ...]] = (
    (
        _any(
            r"what (?:do|did|does) (?:we|you|i|they|anyone) (?:\w+ )?know\b",
            r"what can you (?:tell|say)\b",
            r"what do (?:we|you) have (?:on|about)\b",
            rf"{_WHAT_IS} (?:there |all )*(?:to know|known)\b",
            rf"{_WHAT_IS} the (?:overview|big picture|story|background|gist)\b",
        ),
        "EXPLORE",
    ),
    (
        _any(
            r"how come\b",
            r"how did (?:we|it|this|that|they) (?:end up|come to)\b",
            r"what for\b",
            rf"what(?:'s)? {_HAS}{_CAUSES}",
            rf"(?:{_WHAT_IS}|which) {_FEW}{_REASON}",
            r"what .{0,80}\b(?:lead to|led to|result in|resulted in|give rise to|cause|due to|because of)\b",
            rf"{_WHAT_IS} the (?:consequences?|effects?|impact) of\b",
        ),
        "WHY",
    ),
    (
        _any(
            rf"(?:what|which) (?:\w+ )?{_MOMENT}",
            rf"{_WHAT_IS} {_FEW}(?:dates?|deadlines?|timeline|birthday|anniversary|timestamp|(?:last|first) time)\b",
            r"how (?:long ago|recently|soon|far back)\b",
            r"how long (?:has it been|since|before|after|until|till)\b",
            r"how many (?:minutes|hours|days|weeks|months|years)"
            r" (?:ago|since|until|till|before|after|between|elapsed|(?:have |had )?passed)\b",
            r"(?:what|which) order\b",
            r"(?:what|which) .{0,120}\b(?:came|come|comes|happened|happen|occurred|started|began|ended)"
            r" (?:first|last|earlier|later|earliest)\b",
        ),
        "WHEN",
    ),
    (
        _any(
            rf"(?:what|which) (?:of {_WHOSE} )?(?:\w+ )?{_PEOPLE}",
            rf"{_WHAT_IS} {_FEW}names? of {_WHOSE} (?:\w+ )?{_PEOPLE}",
            rf"{_WHAT_IS} {_WHOSE} (?:\w+ )?{_PEOPLE}(?:'s)? name\b",
        ),
        "WHO",
    ),
    (_any(rf"(?:what|which|how|where)\b.{{0,200}}{_BESIDE_TIME}"), "WHEN"),
)
# Intent of texts without a question word: requests, yes-or-no questions, bare key words.
_KEY_WORDS: Final[tuple[tuple[re.Pattern[str], Intent], ...]] = (
    (
        _any(
            r"\btell (?:me|us) (?:\w+ )?(?:about|more)\b",
            r"\b(?:overviews?|explore|exploring|recap|sum up|big picture|deep dive|introduction to)\b",
            r"\bsummar(?:y|ies|i[sz]e|i[sz]ing)\b",
            r"\b(?:everything|anything|all) (?:\w+ ){0,3}(?:about|on|regarding|around|related)\b",
            r"\bbackground (?:on|of|about)\b",
            r"\b(?:brief me|catch me up|fill me in|walk me through)\b",
            r"\b(?:know|hear|learn) (?:more )?about\b",
        ),
        "EXPLORE",
    ),
    (
        _any(
            rf"\b{_REASON}",
            r"\b(?:because|due to|owing to|caused|led to|leads to|leading to|result of|consequences?|post-?mortem)\b",
        ),
        "WHY",
    ),
    (
        _any(
            r"\b(?:owners?|owns?|owned by|responsible|in charge|maintainers?|authors?|assignee|point of contact)\b",
            r"\b(?:someone|somebody|anyone|anybody|who|whom|whose)\b",
            r"\b(?:written|made|created|approved|reviewed|assigned|reported|led|run|built|signed off) by\b",
        ),
        "WHO",
    ),
    (
        _any(
            r"\b(?:timelines?|chronolog\w*|dates?|deadlines?|milestones?|schedule|birthdays?|anniversar(?:y|ies))\b",
            r"\b(?:last|first) time\b",
            r"\b(?:day|days|moment|date) when\b",
            r"\b(?:long ago|history of)\b",
            _BESIDE_TIME,
        ),
        "WHEN",
    ),
)
_HAPPENING = _any(
    r"\bhappen(?:s|ed|ing)?\b",
    r"\b(?:took place|went wrong)\b",
    r"\b(?:meeting|launch|outage|incident|release|deploy|deployment|rollback|conference|party|wedding|trip|interview"
    r"|stand-?up|retro|demo|appointment|call|ceremony|concert|visit|background|migration|review|dinner|birthday)"
    r"(?:s|es)?\b",
)


# ---- reading


def read_intent(query: str) -> Intent:
    """The intent of a question by its own words, WHAT by default. Linear in its length.

    The first asking word and its phrase decide; polite and indirect questions ("do you know why …") are read by what
    they ask. Of a text with question marks only the sentences with one are read, of a report its first line.
    """
    asked = _asked(query)
    before = ""
    for found in _TOKEN.finditer(asked):
        intent = _ASKING.get(found[0])
        if intent is not None and (not before[:1].isalnum() or before in _LEADS):
            return intent if intent != "WHAT" else _of_phrase(asked[found.start() :])
        before = found[0]
    return next((meant for pattern, meant in _KEY_WORDS if pattern.search(asked)), "WHAT")


def _of_phrase(phrase: str) -> Intent:
    return next((meant for pattern, meant in _PHRASES if pattern.match(phrase)), "WHAT")


def _asked(query: str) -> str:
    """The part of a text that asks: lower case, bounded, single-spaced, with plain apostrophes."""
    text = query.strip()[:MAX_READ_CHARACTERS].lower().replace("’", "'")
    if text.count("\n") > 1:
        text = text.partition("\n")[0]
    asking = [found[0] for found in _SENTENCE.finditer(text) if found[0].endswith("?")]
    return " ".join((" ".join(asking) or text).split())


def read_class(query: str, intent: Intent, *, has_window: bool, has_name: bool) -> RetrievalClass:
    """The search that suits a question: "event" for a happening at a time, "temporal" for times, "entity" for people
    and named things, else "general". Never "none": only a caller or the need check decides that nothing is searched.
    """
    happening = _HAPPENING.search(_asked(query)) is not None
    if happening and has_window and intent in ("WHAT", "WHEN"):
        return "event"
    if intent == "WHEN" or (has_window and intent in ("WHAT", "EXPLORE")):
        return "temporal"
    if intent == "WHO" or (has_name and intent in ("WHAT", "EXPLORE") and not happening):
        return "entity"
    return "general"
