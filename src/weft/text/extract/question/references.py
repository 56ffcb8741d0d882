"""Resolution of references ("it", "her", "that file") in a question from the messages before it.

The question keeps its words; the referents are appended: "When did she move? (Maria Lopez)". A wrong guess adds a
search word and removes none.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from msgspec import Struct

from weft.text.extract.names.mentions import MessageMention, Sort, may_be_name, mentions_of, said
from weft.text.lexical import STOP_WORDS, fold_case, stems

MAX_MESSAGES: Final = 4
MAX_QUERY_CHARACTERS: Final = 400  # longer questions name their topic
MAX_READ_CHARACTERS: Final = 2_000  # of a question, to detect a change of topic
MAX_ADDED: Final = 3
TIED: Final = 0.25  # factor for a question that refers back
SURE_WORDS: Final = 4  # this many new content words are a certain change of topic


class ResolvedQuestion(Struct, frozen=True, kw_only=True):
    """A question with its references written out, and the likelihood of a topic change (0 to 1)."""

    query: str
    topic_change: float = 0.0


class _Reference(NamedTuple):
    word: str
    sort: Sort
    noun: str = ""


def resolve(query: str, history: Sequence[str]) -> ResolvedQuestion:
    """The question with references written out from the last MAX_MESSAGES messages, oldest first.

    A question without references, or one that names the referent itself, is returned unchanged.
    """
    messages = [said(message) for message in history[-MAX_MESSAGES:]]
    if not any(messages):
        return ResolvedQuestion(query=query)
    found = _references(query) if len(query) <= MAX_QUERY_CHARACTERS else []
    change = _topic_change(query, messages, refers=bool(found))
    if not found:
        return ResolvedQuestion(query=query, topic_change=change)
    mentions = [mentions_of(message) for message in reversed(messages)]
    here = set(stems(query))
    added: list[str] = []
    for reference in found:
        if (mention := _meant(reference, mentions, here, added)) and mention not in added:
            added.append(mention)
        if len(added) == MAX_ADDED:
            break
    if not added:
        return ResolvedQuestion(query=query, topic_change=change)
    return ResolvedQuestion(query=f"{query.rstrip()} ({', '.join(added)})", topic_change=change)


# ---- references

_TOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)*|[^\w\s]")
_PEOPLE_TEXT = "she her hers herself he him his himself they them their theirs themselves"
_PEOPLE: Final = frozenset(_PEOPLE_TEXT.split())
_THINGS: Final = frozenset(["it", "its", "itself"])
_POINTING: Final = frozenset(["this", "that", "these", "those", "same", "such"])
_CODE_TEXT = """
file files function method class module script path package branch variable test endpoint table folder directory repo
config query command component type struct
"""
_CODE: Final = frozenset(_CODE_TEXT.split())
_PERSON_NOUNS_TEXT = (
    "guy man woman person girl boy lady friend colleague customer client doctor developer engineer user"
)
_PERSON_NOUNS: Final = frozenset(_PERSON_NOUNS_TEXT.split())
_PLACE_NOUNS_TEXT = "place city town country village restaurant hotel office shop store building street area"
_PLACE_NOUNS: Final = frozenset(_PLACE_NOUNS_TEXT.split())
_NOUNS: Final = _CODE | _PERSON_NOUNS | _PLACE_NOUNS
_SEVERAL: Final = frozenset(["they", "them", "their", "theirs", "themselves"])
# Before these "that" stands alone ("that was"); before other words it is part of a noun phrase ("that bike").
_VERBS_TEXT = """
is was were are be been did does do has have had will would can could should might may happen happened happens mean
means meant work works worked come came go went get got look looks looked sound sounds take took cost costs start
started end ended still again happening fail fails failed break breaks broke really actually also now not exactly before
after since because in on at for during with from
"""
_VERBS: Final = frozenset(_VERBS_TEXT.split())
# After these "that" may begin a noun phrase ("about that file"); after others it joins clauses ("the book that we").
_OPENERS_TEXT = """
about in of on with for to from at by into over under near and or but than like is was were are did does do why when who
how what where which open show fix change update use used run delete rename read see find edit explain visit meet met
buy bought like liked love get got want need after before since until during call all any not
"""
_OPENERS: Final = frozenset(_OPENERS_TEXT.split())
_AUXILIARIES_TEXT = "is are was were be been isn't aren't wasn't will would can could has have had"
_AUXILIARIES: Final = frozenset(_AUXILIARIES_TEXT.split())
_TIMES: Final = frozenset(
    ["day", "time", "week", "month", "year", "morning", "evening", "night", "moment", "way", "case"]
)
_MORE = re.compile(
    r"\W*(?:please )?(?:tell me more|more (?:details?|info|information|about (?:it|that|this))|and why|why|when|who"
    r"|where|how so|how come|since when|what else|anything else)\W*"
)


def _references(query: str) -> list[_Reference]:
    """The words of a question that refer to something outside of it, in order."""
    written = _TOKEN.findall(query)
    words = [fold_case(word).replace("’", "'") for word in written]
    if _MORE.fullmatch(" ".join(words)):
        return [_Reference(" ".join(words).strip(" ?!.,"), "thing")]
    found = []
    for at, word in enumerate(words):
        bare = word.partition("'")[0]
        after = words[at + 1] if at + 1 < len(words) else ""
        before = words[at - 1] if at else ""
        reference = None
        if bare in _PEOPLE:
            reference = None if _names_somebody(written[:at]) else _Reference(word, "person")
        elif bare in _THINGS:
            reference = None if _names_something(words[:at]) else _Reference(word, "thing")
        elif bare in _POINTING:
            reference = _pointing(word, before, after)
        elif bare == "there" and word == bare and not _is_existential(before, after):
            reference = _Reference(word, "place")
        elif bare in {"former", "latter"} and before == "the" and (not after or not after[0].isalnum()):
            reference = _Reference(f"the {word}", "thing")
        elif bare in _CODE and before == "the" and bare.startswith("file"):
            reference = _Reference(f"the {word}", "code", bare)
        if reference and reference not in found:
            found.append(reference)
    return found


def _pointing(word: str, before: str, after: str) -> _Reference | None:
    """Reference of "that", "those two", "that file", "the same one"; None if it joins clauses or points at a time."""
    bare = word.partition("'")[0]
    if bare in {"same", "such"} and before != "the":
        return None
    if bare == "same":
        return _Reference(f"the same{f' {after}' if after.isalnum() else ''}", _sort_of(after), _noun(after))
    if bare == "such" or after in _TIMES:
        return None
    begins = not before or not before[0].isalnum() or before in _OPENERS
    if word != bare or not after or not after[0].isalnum():  # "that's …", or at the end: "did you like that?"
        return _Reference(bare, "thing")
    if after in _VERBS:
        return _Reference(word, "thing") if begins else None
    if (begins or after in _NOUNS) and after not in STOP_WORDS:
        return _Reference(f"{word} {after}", _sort_of(after), _noun(after))
    return _Reference(f"{word} one", "thing") if after in {"one", "ones"} else None


def _sort_of(noun: str) -> Sort:
    if noun in _CODE:
        return "code"
    if noun in _PERSON_NOUNS:
        return "person"
    return "place" if noun in _PLACE_NOUNS else "thing"


def _noun(word: str) -> str:
    return word if word.isalnum() and word not in {"one", "ones", "thing", "things"} else ""


def _is_existential(before: str, after: str) -> bool:
    """Whether "there" names no place: "is there a", "there are", "hello there"."""
    return after in _AUXILIARIES or before in _AUXILIARIES or before in {"hi", "hello", "hey"}


def _names_somebody(before: Sequence[str]) -> bool:
    """Whether a name precedes the word: "when did Maria say that she …"."""
    named = any(word[0].isupper() and may_be_name(word) for word in before[1:])
    return named or (bool(before) and before[0].endswith(("'s", "’s")) and may_be_name(before[0]))


def _names_something(before: Sequence[str]) -> bool:
    """Whether a thing precedes the word: "where is the bike, and who fixed it"."""
    lead = {"the", "a", "an", "my", "our", "your", "his", "her", "their", "this", "that", "which", "what"}
    return any(one in lead and other[0].isalnum() and other not in STOP_WORDS for one, other in pairwise(before))


# ---- referents


def _meant(
    reference: _Reference, mentions: Sequence[Sequence[MessageMention]], here: set[str], added: Collection[str]
) -> str | None:
    """The likeliest referent: the latest mention of a fitting sort that is not in the question already."""
    usable = [[each for each in found if _is_new(each, here, added)] for found in mentions]
    if reference.noun and reference.sort != "code" and (named := _of_noun(reference.noun, usable)):
        return named
    for found in usable:
        fitting = [each for each in found if reference.sort in each.likely]
        if reference.sort == "thing":
            fitting.sort(key=_is_somebody)
        if fitting:
            return _with_company(fitting, reference)
    if reference.word in _SEVERAL:
        return next((each.text for found in usable for each in found), None)
    return None


def _is_new(mention: MessageMention, here: set[str], added: Collection[str]) -> bool:
    words = set(stems(mention.text))
    return mention.text not in added and not words <= here


def _of_noun(noun: str, mentions: Sequence[Sequence[MessageMention]]) -> str | None:
    """For "that restaurant": a name in the sentence about a restaurant, else the words used there."""
    wanted = set(stems(noun))
    for found in mentions:
        for each in found:
            if wanted & set(stems(each.text)):
                beside = [other.text for other in found if other.sentence is each.sentence and not other.is_plain]
                return each.text if not each.is_plain or not beside else beside[0]
    return None


def _is_somebody(mention: MessageMention) -> int:
    """Rank of a mention as referent of "it": people come last, full names after first words of a sentence."""
    if "person" not in mention.likely or not mention.text.istitle():
        return 0
    return 2 if " " in mention.text else int(mention.sentence.lstrip().startswith(mention.text))


def _with_company(fitting: Sequence[MessageMention], reference: _Reference) -> str:
    """For "they", both names of "Anna and Otto"."""
    first = fitting[0]
    if reference.word in _SEVERAL:
        for other in fitting[1:]:
            both = f"{first.text} and {other.text}"
            if both in first.sentence:
                return both
    return first.text


# ---- the topic

_TURN = re.compile(
    r"^\W*(?:by the way|btw|anyway|on another (?:note|topic)|new (?:topic|question)|different (?:topic|question)"
    r"|unrelated|changing (?:the )?(?:topic|subject)|something else|moving on)\b",
    re.IGNORECASE,
)
_STAY = re.compile(r"^\W*(?:and|also|what about|how about|so|then|but)\b", re.IGNORECASE)


def _topic_change(query: str, messages: Sequence[str], *, refers: bool) -> float:
    """The likelihood that the question leaves the topic: the share of its content words that are new."""
    if _TURN.match(query):
        return 0.9
    words = set(stems(query[:MAX_READ_CHARACTERS]))
    if not words:
        return 0.0
    before = {stem for message in messages for stem in stems(message)}
    new = len(words - before) / len(words)
    tie = TIED if refers else 0.5 if _STAY.match(query) else 1.0
    return round(new * min(1.0, len(words) / SURE_WORDS) * tie, 3)
