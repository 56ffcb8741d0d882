"""Names in a sentence: runs of capitalised words and quoted titles, each with a guessed kind.

Decided by spelling and small word lists. The first word of a sentence is capitalised anyway: it counts as a name only
if it is not an ordinary word.
"""

from __future__ import annotations

import re
from typing import Final

from weft.text.extract.findings import FoundName, NameKind, Span, overlaps
from weft.text.extract.names.name_words import (
    COMPASS,
    DEMONYMS,
    FIELDS,
    GENERIC,
    GIVEN_NAMES,
    OCCUPATIONS,
    OPENERS,
    ORGANIZATION_WORDS,
    PLACE_WORDS,
    PLACES,
    RANKS,
    TIME_NAMES,
    TITLES,
    is_plain,
)
from weft.text.extract.quoted import quoted_spans
from weft.text.lexical import STOP_WORDS

MAX_NAMES: Final = 64  # of one text
MAX_NAME_CHARACTERS: Final = 120
MAX_NAME_WORDS: Final = 12

_UPPER = r"[^\W\d_a-zß-öø-ÿ]"
_CAPITAL = re.compile(
    rf"(?<![\w@/\\])(?:(?:[A-Z]\.){{1,4}}(?!\w)"  # J. K., U.S.
    r"|(?:Mr|Mrs|Ms|Dr|St|Jr|Sr|Prof|Gen|Col|Lt|Sgt|Capt|Rev|Mt|Ft|Inc|Ltd|Corp|Co)\."
    rf"|{_UPPER}\w{{0,40}}(?:(?:[-&‐]|['’](?!(?:s|m|ll|d|re|ve|t)\b))\w{{1,40}}){{0,4}}(?:\+\+|#)?"
    rf"|[a-z]{{1,2}}[A-Z][a-z]\w{{1,30}})"
)
_JOINTS: Final = frozenset(
    f" {joint} "
    for joint in (
        "of", "of the", "de", "de la", "de las", "de los", "del", "la", "le", "von", "von der", "van", "van de",
        "van der", "van den", "der", "den", "di", "da", "dos",
            "du", "bin", "ibn", "al", "el", "&", "y", "af", "av", "zu",
        "ter",
    )
) | {" ", "- "}  # fmt: skip
_FOR_AFTER_TEXT = """
committee center centre institute association society award prize foundation campaign department ministry council
movement school office agency
"""
_FOR_AFTER: Final = frozenset(_FOR_AFTER_TEXT.split())
_NUMBER = re.compile(
    r" (?:\d{1,3}(?:\.\d)?)(?![\w.,:/%]|\.\d)(?! ?(?:%|[a-z]{3,}s\b|st|nd|am|pm|million|year|day|week))"
)
_FIRST_AFTER = re.compile(r"[:.!?*\"“•\])]\W*$|^\W*$|^\W*\d{1,3}[.)]\W*$|^\W{0,4}[\w ]{1,30}: $| [-–—] $")
_REGNAL = re.compile(r"(?=[,.)]| \(| of\b|$)")
_TITLED = re.compile(
    r"\W{1,3}(?:\([^)]{0,60}\) )?(?:is|was) (?:an?|the)\b[^.]{0,80}?\b(?:film|novel|album|song|book|series|magazine"
    r"|play"
    r"|single|city|town|village|river|community|game|show|movie|episode|newspaper|opera|band|poem|story|drama|comedy"
    r"|musical|sitcom|painting)\b"
)
_LOOSE_QUOTE = re.compile(r"[\w,;)]\" ([A-Z][^\"“”]{1,100})\"")  # as some corpora write them: his film" The Lanterns"
_WORD = re.compile(r"[^\W_]+")


def mentioned_names(sentence: str, taken: list[Span], speaker: str | None = None) -> list[FoundName]:
    """The names of a sentence in order, not nested and outside the spans already taken.

    `speaker` is known to be a person's name. Months, weekdays, nationalities and "I" are not names.
    """
    quoted = _quoted_names(sentence, taken)
    closed = [*taken, *(name.span for name in quoted)]
    found = [name for run in _runs(sentence, closed) if (name := _name_of(sentence, run, speaker))]
    return sorted([*quoted, *found], key=lambda name: name.span) if quoted else found


def _quoted_names(sentence: str, taken: list[Span]) -> list[FoundName]:
    """Quoted titles: all their words except small ones are capitalised."""
    if '"' not in sentence and "“" not in sentence and "'" not in sentence and "‘" not in sentence:
        return []
    found: list[FoundName] = []
    spans = [*quoted_spans(sentence), *(match.span(1) for match in _LOOSE_QUOTE.finditer(sentence))]
    for opened, stop in spans:
        start = opened + len(sentence[opened:stop]) - len(sentence[opened:stop].lstrip())
        text = sentence[start:stop].rstrip(" ,.")
        words = _WORD.findall(text)
        large = [word for word in words if word[0].isupper() or word[0].isdigit()]
        small = sum(len(word) > 4 and word not in large for word in words)
        enough = large and len(words) <= MAX_NAME_WORDS and not small and len(large) * 2 >= len(words)
        ordinary = len(words) == 1 and is_plain(words[0].lower()) and sentence[start - 1] in "'‘"
        span = (start, start + len(text))
        if enough and not ordinary and not overlaps(span, [*taken, *(name.span for name in found)]):
            found.append(FoundName(span=span, text=text))
    return found


def _runs(sentence: str, closed: list[Span]) -> list[list[re.Match[str]]]:
    """Runs of capitalised words that may form one name."""
    runs: list[list[re.Match[str]]] = []
    end = -1
    for match in _CAPITAL.finditer(sentence):
        word = match[0]
        if not (word[0].isupper() or word[1:2].isupper() or word[2:3].isupper()):
            continue
        if closed and overlaps(match.span(), closed):
            end = -1
            continue
        gap = sentence[end : match.start()] if end >= 0 else ""
        if word in {"I", "A"} and not (gap == " " and word == "I" and _REGNAL.match(sentence, match.end())):
            end = -1
            continue
        if gap and len(runs[-1]) < MAX_NAME_WORDS and _joins(gap, runs[-1], word):
            runs[-1].append(match)
        else:
            runs.append([match])
        end = match.end()
    return runs


def _joins(gap: str, run: list[re.Match[str]], word: str) -> bool:
    """Whether a word continues the run before it, given the text between them."""
    if gap == " for ":
        return run[-1][0].lower() in _FOR_AFTER
    if gap == ", ":
        return word in {"Inc.", "Inc", "Ltd.", "Ltd", "LLC", "Jr.", "Jr", "Sr."}
    if gap in {"'s ", "’s "}:  # St John's College
        return word.lower() in ORGANIZATION_WORDS or word.lower() in PLACE_WORDS
    if gap == " of the " and run[0][0].lower() in GIVEN_NAMES:
        return False
    return gap in _JOINTS


def _name_of(sentence: str, run: list[re.Match[str]], speaker: str | None) -> FoundName | None:
    """The name in a run of capitalised words, or None."""
    initial = _FIRST_AFTER.search(sentence[: run[0].start()][-40:]) is not None
    words = [match[0].lower().replace("’", "'") for match in run]
    first, last = 0, len(run)
    quoted = sentence[: run[0].start()].rstrip()[-1:] in {'"', "“"}
    is_title = words[0] == "the" and last > 1 and (not initial or quoted or _is_titled(sentence, run[-1].end()))
    while first < last and not is_title and _opens(words, first, run, initial=initial and first == 0):
        first += 1
    while last > first and (words[last - 1] in TIME_NAMES or words[last - 1] in STOP_WORDS):
        if run[last - 1][0].isupper():  # II, US
            break
        last -= 1
    if first == last:
        return None
    at_start = initial and first == 0
    kept = words[first:last]
    start, stop = run[first].start(), run[last - 1].end()
    if not _is_name(sentence, kept, run[first:last], at_start=at_start):
        return None
    if number := _NUMBER.match(sentence, stop):
        stop = number.end() if kept[-1] not in TIME_NAMES else stop
    text = sentence[start:stop]
    if len(text) > MAX_NAME_CHARACTERS:
        return None
    before = sentence[max(0, start - 24) : start]
    return FoundName(span=(start, stop), text=text, kind=_kind(text, kept, before, sentence[stop : stop + 24], speaker))


def _is_titled(sentence: str, at: int) -> bool:
    """Whether a description of a film, a book or the like follows: then "The" belongs to its name."""
    return _TITLED.match(sentence, at) is not None


def _opens(words: list[str], at: int, run: list[re.Match[str]], *, initial: bool) -> bool:
    """Whether this word only precedes the name: "Hey Evan", "In Paris", "The Texans", "Actress Ada Low"."""
    word = words[at].rstrip(".")
    if word in TIME_NAMES:
        return True
    if word in RANKS and at + 1 < len(words):
        return True
    if run[at][0].isupper() and len(word) > 1 and not initial and word not in {"the", "a", "an"}:
        return False
    if word in GENERIC or (word in OPENERS and (initial or word not in {"new", "old", "great", "last", "second"})):
        return True
    alone = at + 1 < len(words)
    return alone and initial and (word in OCCUPATIONS or word.endswith(("ly", "ing"))) and word not in TITLES


def _is_name(sentence: str, words: list[str], run: list[re.Match[str]], *, at_start: bool) -> bool:
    if _is_generic(words):
        return False
    if len(words) == 1:
        word, written = words[0], run[0][0]
        hyphened = word.split("-")
        if hyphened[0] in DEMONYMS and len(hyphened) > 1:
            return False
        if len(word) < 2 or word.strip(".") in TITLES or word in RANKS:
            return False
        if written.isupper() and len(word) > 1:
            return not is_plain(word) or word in PLACES
        ordinary = all(is_plain(part) for part in hyphened)
        if at_start and not sentence.startswith(" (", run[0].end()):
            return not ordinary or _is_titled(sentence, run[0].end())
        return word not in OPENERS and not (ordinary and _ADJECTIVE.match(sentence[: run[0].start()][::-1]))
    if at_start and all(is_plain(word) for word in words):
        after = sentence[run[-1].end() : run[-1].end() + 3]
        return after[:1] not in {"", ":", "*"} and any(part.islower() for part in sentence.split())
    return True


_ADJECTIVE = re.compile(r" (?:a|na)\b")  # read backwards: "a Music director"


def _is_generic(words: list[str]) -> bool:
    """Peoples, languages, fields of study, occupations, abbreviations of common nouns."""
    if words[-1].removesuffix("s") in DEMONYMS or words[-1] in {"zealander", "zealanders"}:
        return all(word.removesuffix("s") in DEMONYMS or word in COMPASS or word == words[-1] for word in words)
    if all(word in DEMONYMS or word in GENERIC or word in TIME_NAMES for word in words):
        return True
    common = words[-1] in FIELDS or words[-1] in OCCUPATIONS
    return common and all(is_plain(word) or word in RANKS for word in words)


def _kind(text: str, words: list[str], before: str, after: str, speaker: str | None) -> NameKind:
    """The likely kind of a name, from its own words first, then from the words around it."""
    last, first = words[-1], words[0].rstrip(".")
    if (
        text == speaker
        or first in TITLES
        or (first in GIVEN_NAMES and not any(word in ORGANIZATION_WORDS for word in words))
    ):
        return "Person" if text not in {"Austin", "Jordan", "Florence", "Virginia", "Georgia"} else "Place"
    if last in ORGANIZATION_WORDS or words[0] in {"university", "bank", "department", "ministry"}:
        return "Organization"
    if (
        text.lower() in PLACES
        or last in PLACE_WORDS
        or first in {"mount", "lake", "fort", "port", "san", "santa", "st"}
    ):
        return "Place"
    if last in PLACES and before.endswith(("in ", "to ", "from ", "near ")):
        return "Place"
    if any(character.isdigit() for character in text) and not text[0].isdigit():
        return "Product"
    return _kind_by_place(text, words, before, after)


_PERSON_BEFORE = re.compile(
    r"(?:\b(?:by|with|starring|friend|wife|husband|brother|sister|son|daughter|cousin|boss|colleague|partner|named"
    r"|actor"
    r"|actress|director|singer|writer|author|poet|composer|guitarist|architect|girlfriend|boyfriend|neighbor|neighbour"
    r"|niece|nephew|mother|father|married|hey|hi|thanks|hello),? )$",
    re.IGNORECASE,
)
_PLACE_BEFORE = re.compile(r"\b(?:in|near|visit(?:ed|ing)?|moved to|trip to|live in|flew to|from|to|city of|town of) $")
_PERSON_AFTER = re.compile(
    r"(?:,? who\b| (?:said|says|told|thinks|and I\b)|['’]s (?:wife|husband|mother|father)| \(born)"
)
_ORGANIZATION_BEFORE = re.compile(
    r"\b(?:work(?:s|ed|ing)? (?:at|for)|job at|intern(?:ship)? at|joined|company|brand) $"
)
_PRODUCT_BEFORE = re.compile(r"\b(?:using|use|used|app|bought (?:a|an|the)|new|play(?:ed|ing)?|installed) $")


def _kind_by_place(text: str, words: list[str], before: str, after: str) -> NameKind:
    if _ORGANIZATION_BEFORE.search(before):
        return "Organization"
    if _PERSON_BEFORE.search(before) or _PERSON_AFTER.match(after):
        return "Person"
    if _PLACE_BEFORE.search(before):
        return "Place"
    if _PRODUCT_BEFORE.search(before):
        return "Product"
    if text.isupper() and 2 < len(text) <= 6:
        return "Organization"
    if 2 <= len(words) <= 3 and not any(is_plain(word) for word in words) and " the " not in text:
        return "Person"
    return "Entity"
