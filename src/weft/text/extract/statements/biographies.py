"""Facts from the first sentence of an article: "Ada Low (8 May 1901 – 1980) was a Danish painter".

The brackets give birth and death; the words after "is a" give nationality, role, location, and a work's date and
author.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from weft.text.extract.assertion import HEDGE
from weft.text.extract.findings import FoundFact, FoundName, NameKind, Span, moved_span
from weft.text.extract.names.name_words import DEMONYMS, OCCUPATIONS
from weft.text.extract.statements.sentence import ParsedSentence

MAX_BRACKETS_CHARACTERS: Final = 240
_BRACKETS = re.compile(rf"\s?\((?P<inside>[^)]{{0,{MAX_BRACKETS_CHARACTERS}}})\)")
_IS = re.compile(
    r"(?:,? (?:also|better|commonly|formerly|officially|professionally)? ?(?:known|called|styled|credited|referred"
    r" to)(?: \w+)?(?: as| simply)?[^,]{0,60},?|\s"
    r"|, [^,]{2,60},|\s?\([^)]{0,240}\)){0,2}\s?,? (?P<verb>is|was|are|were)(?: also| currently| now)? "
)
_DEMONYM = "|".join(sorted(DEMONYMS, key=len, reverse=True))
_NATION = re.compile(
    rf"(?:[A-Z]\w+- ?born )?(?P<nation>(?:South |North |New |Saudi |Puerto |Sri"
    rf" )?(?i:{_DEMONYM})(?:[-–](?i:{_DEMONYM}|Rican|Lankan))*)(?![\w])"
    r"(?!-(?:language|style|based|speaking|themed|born)|- born)(?=,? [a-z0-9]|-)(?! and [A-Z])"
    rf"|(?P<twice>(?i:{_DEMONYM})) (?=(?:{_DEMONYM})\b)",
)
PRAISE = (
    r"(?:(?:former|retired|noted|renowned|famous|late|prominent|well-known|award-winning|acclaimed|leading|early"
    r"|independent|professional|first|influential|celebrated|semi-retired|contemporary|pioneering|self-taught"
    r"|upcoming|successful|popular|amazing|great|talented|brilliant|legendary|respected|highly \w+) )*"
)
_HEAD = re.compile(rf"(?:an?|the|one of the) (?P<praise>{PRAISE})(?P<year>\d{{4}} )?(?P<middle>{PRAISE})")
_OCCUPATION = "|".join(sorted(OCCUPATIONS, key=len, reverse=True))
_ROLE = re.compile(
    rf"(?:[A-Za-z][\w'-]* ){{0,4}}?(?:{_OCCUPATION})(?:(?:, | and |, and |/)(?:[a-z][\w'-]*"
    rf" ){{0,3}}?(?:{_OCCUPATION}))*(?P<of> of (?:the )?[A-Z][\w'’ -]{{2,40}}?(?=[,.]| from| at| in| who| and"
    rf"|$))?(?![\w'-])"
)
_NO_ROLE = re.compile(
    r"\b(?:by|of|in|for|who|which|that|was|is|with|from|about|on|film|novel|song|album|book|series)\b"
)
_WORK = re.compile(
    r"[^.,;]{0,80}?\b(?:film|novel|album|song|book|series|single|movie|play|opera|comedy|drama|documentary|musical"
    r"|magazine"
    r"|novella|memoir|piece|symphony|composition|game|soundtrack|EP|sitcom|thriller|western|short|episode|poem"
    r"|painting|romance|feature)\b"
)
_BY = re.compile(
    r"\b(?:(?:written |produced |co-written |edited |scored |filmed )?(?:,? ?and )?directed by|written(?: and \w+)?"
    r" by|(?:novel|book|album|song|single|novella|play|poem|opera|memoir|painting|story|series|comedy|drama|musical"
    r"|film)s? by|composed by|created by|authored by)"
    r" (?:[a-z]+(?: [a-z]+){0,3} )?(?=[^\W\d_a-z])"
)
_DIRECTED = re.compile(r"\bdirected by (?:[a-z]+(?: [a-z]+){0,3} )?(?=[^\W\d_a-z])")
_SEVERAL = re.compile(r"(?:,? and |,? & |, )[A-Z]")
_SITES = (
    "village|town|city|municipality|community|commune|district|suburb|neighbou?rhood|hamlet|county|parish|settlement"
    "|borough"
    "|province|region|township|locality|river|lake|mountain|island|park|school|university|college|museum|station"
    "|airport"
    "|hospital|church|stadium|bridge|castle|building|street|road|valley|bay|beach|forest|peninsula|creek|hotel|theatre"
    "|theater|library|company|canyon|peak|hill|cemetery|prison|area|barangay|census-designated place|stream|tributary"
    "|volcano"
)
_SITE = re.compile(rf"[^.;]{{0,70}}?\b(?:{_SITES})s?\b[^.;]{{0,40}}?,? (?:located |situated |based )?(?:in|within) ")
_NO_NATION_TEXT = """
western eastern native latin roman christian catholic protestant muslim islamic hindu buddhist jewish hindi tamil
telugu malayalam bengali marathi punjabi urdu kannada cantonese mandarin hebrew yiddish victorian byzantine
"""
_NO_NATIONS: Final = frozenset(_NO_NATION_TEXT.split())
_PERSON_KINDS: Final = frozenset(["Person", "Entity"])
_AT = re.compile(r",? (?:at|for) (?=the [A-Z]|[A-Z])")


def biography(telling: ParsedSentence) -> Iterator[FoundFact]:
    """The facts of a sentence that defines its subject, and the roles and works that it mentions in passing."""
    yield from _in_passing(telling)
    subject = _subject(telling)
    if subject is None:
        return
    at = subject.span[1]
    if brackets := _BRACKETS.match(telling.sentence, at):
        yield from _lifetime(telling, subject, brackets)
    match = _IS.match(telling.sentence, at)
    if match and not HEDGE.search(telling.sentence[: match.end()]):
        yield from _being(telling, subject, match)


_PRONOUN = re.compile(r"\W*(?P<who>He|She|It)(?= (?:is|was) )")
_FUNCTION = (
    "the|an?|and|or|of|by|with|to|in|on|at|from|for|his|her|my|their|our|your|its|as|is|was|are|were|that|who|but"
    "|than|named|called"
    "|former|late|prominent|famous|noted|fellow|first|second|renowned|becoming|became|met|saw|like|including"
)
_PASSING = re.compile(
    rf"(?<![\w-])(?P<nation>(?:(?:South|North|New|Saudi) )?(?:{_DEMONYM})"
    rf" )?(?P<role>(?:(?!(?:{_FUNCTION})\b)[a-z][\w-]* ){{0,2}}?(?:[a-z]+-)?(?:{_OCCUPATION}))"
    rf"(?P<gap>,? )$",
    re.IGNORECASE,
)
_YEAR_AFTER = re.compile(r"\"\s?\(\s?(\d{4})(?: film| album| novel| song)?\)")
_BY_AFTER = re.compile(r"\"(?:\s?\(\s?\d{4}\))?,? by (?=[^\W\d_a-z])")


def _in_passing(telling: ParsedSentence) -> Iterator[FoundFact]:
    """The painter Ada Low; "The Lanterns" (1950); "The Lanterns" by Ada Low."""
    for name in telling.names:
        start, stop = name.span
        if telling.sentence.startswith('"', stop):
            if year := _YEAR_AFTER.match(telling.sentence, stop):
                yield telling.fact(name.span, "released_on", year.span(1), 0.85)
            by = _BY_AFTER.match(telling.sentence, stop)
            maker = telling.name_at(by.end()) if by else None
            if maker and not _SEVERAL.match(telling.sentence, maker.span[1]):
                yield telling.fact(name.span, "creator", maker.span, 0.85)
        elif name.kind == "Person" and start:
            yield from _apposition(telling, name)


def _apposition(telling: ParsedSentence, name: FoundName) -> Iterator[FoundFact]:
    offset = max(0, name.span[0] - 60)
    last = telling.sentence[offset : name.span[0]].rstrip(", ").rpartition(" ")[2]
    if last.rpartition("-")[2] not in OCCUPATIONS:
        return
    match = _PASSING.search(telling.sentence[offset : name.span[0]])
    if match is None or not match["role"][0].islower() or HEDGE.search(telling.sentence[:offset]):
        return
    if match["gap"] != " " and not telling.sentence.startswith(",", name.span[1]):
        return  # a list: "a painter, Ada Low and …"
    yield telling.fact(name.span, "role", moved_span(match.span("role"), offset), 0.85)
    if match["nation"] and match["nation"][0].isupper() and match["nation"].strip().lower() not in _NO_NATIONS:
        yield telling.fact(
            name.span, "nationality", moved_span((match.start("nation"), match.end("nation") - 1), offset), 0.85
        )


def _subject(telling: ParsedSentence) -> FoundName | None:
    """The name at the beginning of the sentence, or "he", "she" or "it"."""
    if pronoun := _PRONOUN.match(telling.sentence):
        kind: NameKind = "Entity" if pronoun["who"] == "It" else "Person"
        return FoundName(span=pronoun.span("who"), text=pronoun["who"], kind=kind)
    first = telling.names[0] if telling.names else None
    if first is None or first.span[0] > 12:
        return None
    lead = telling.sentence[: first.span[0]].strip().strip("\"“'‘").rstrip()
    return first if lead in {"", "The", "A", "An", "Dr.", "Sir", "Lady", "King", "Queen"} else None


# ---- brackets


_BORN = re.compile(r"(?:.{0,80}[;,] )?\s?(?:born|b\.)(?: [A-Z][\w.'’ -]{2,60},)?(?: on| in)? ")
_IN_PLACE = re.compile(r",? (?:in )?(?=[^\W\d_a-z])")


def _lifetime(telling: ParsedSentence, subject: FoundName, brackets: re.Match[str]) -> Iterator[FoundFact]:
    start, stop = brackets.span("inside")
    dates = [date for date in telling.dates if start <= date.span[0] and date.span[1] <= stop]
    if not dates:
        return
    inside = brackets["inside"]
    if _BORN.match(inside):
        yield telling.fact(subject.span, "born_on", dates[0].span, 0.95)
        yield from _place_after(telling, subject, dates[0].span[1], stop, "born_in")
        return
    if len(dates) != 2 or inside[: dates[0].span[0] - start].strip(" cfl.") or "film" in inside:
        return
    between = telling.sentence[dates[0].span[1] : dates[1].span[0]]
    if not re.search(r"[–—]|\s-\s|^-$|--", between) or subject.kind not in _PERSON_KINDS | {"Place"}:
        return
    yield telling.fact(subject.span, "born_on", dates[0].span, 0.9)
    yield from _place_after(telling, subject, dates[0].span[1], dates[1].span[0], "born_in")
    yield telling.fact(subject.span, "died_on", dates[1].span, 0.9)
    yield from _place_after(telling, subject, dates[1].span[1], stop, "died_in")


def _place_after(
    telling: ParsedSentence, subject: FoundName, at: int, stop: int, predicate: str
) -> Iterator[FoundFact]:
    gap = _IN_PLACE.match(telling.sentence, at, stop)
    place = telling.place_at(gap.end()) if gap else None
    if place and place[1] <= stop:
        yield telling.fact(subject.span, predicate, place, 0.85)


# ---- is a …


def _being(telling: ParsedSentence, subject: FoundName, match: re.Match[str]) -> Iterator[FoundFact]:
    sentence = telling.sentence
    head = _HEAD.match(sentence, match.end())
    if head is None:
        return
    at = head.end()
    is_work = _is_work(sentence, at)
    if head["year"] and is_work:
        yield telling.fact(subject.span, "released_on", (head.start("year"), head.end("year") - 1), 0.9)
    nation = _NATION.match(sentence, at)
    if nation and nation[0][0].isupper():
        group = "nation" if nation["nation"] else "twice"
        if nation[group].lower() not in _NO_NATIONS:
            yield telling.fact(subject.span, "nationality", nation.span(group), 0.9)
        at = nation.end()
        at += len(sentence[at:]) - len(sentence[at:].lstrip())
    if is_work:
        yield from _maker(telling, subject, at)
        return
    yield from _occupation(telling, subject, at, past=match["verb"] in {"was", "were"})
    yield from _site(telling, subject, at)


_NOT_ITS_WORK = re.compile(
    rf"[ -](?:(?:and|or) [a-z]+ )?(?:{_OCCUPATION}|industry|studio|studios|festival|company|school|career|maker|star"
    rf"|critic)\b"
)


def _is_work(sentence: str, at: int) -> bool:
    """Whether the first noun for a work is the subject itself: not in "a film actress"."""
    work = _WORK.match(sentence, at)
    return work is not None and _NOT_ITS_WORK.match(sentence, work.end()) is None


def _maker(telling: ParsedSentence, subject: FoundName, at: int) -> Iterator[FoundFact]:
    match = _DIRECTED.search(telling.sentence, at) or _BY.search(telling.sentence, at)
    name = telling.name_at(match.end()) if match else None
    if match and name and not _SEVERAL.match(telling.sentence, name.span[1]):
        yield telling.fact(subject.span, "creator", name.span, 0.85)


def _occupation(telling: ParsedSentence, subject: FoundName, at: int, *, past: bool) -> Iterator[FoundFact]:
    sentence = telling.sentence
    praise = re.compile(PRAISE).match(sentence, at)
    at = praise.end() if praise else at
    role = _ROLE.match(sentence, at)
    if role is None or subject.kind == "Organization":
        return
    words = sentence[role.start() : role.start("of") if role["of"] else role.end()]
    if (
        _NO_ROLE.search(words)
        or words in {"player", "model", "host", "count", "general", "executive"}
        or _goes_on(sentence, role.end())
    ):
        return
    yield telling.fact(subject.span, "role", role.span(), 0.85, past=past)
    if (place := _AT.match(sentence, role.end())) and (name := telling.name_at(place.end())):
        yield telling.fact(subject.span, "works_at", name.span, 0.85, past=past)


def _goes_on(sentence: str, at: int) -> bool:
    """Whether the noun phrase continues after the role: "an actress award"."""
    return (
        re.compile(
            r"[ -](?!who|and|from|at|in|for|of|with|best|known|born|active|based|whose|that|or|by|on|as|during|to"
            r"|which|currently|working|noted|famous|living|since|but|he|she)[a-z]"
        ).match(sentence, at)
        is not None
    )


def _site(telling: ParsedSentence, subject: FoundName, at: int) -> Iterator[FoundFact]:
    match = _SITE.match(telling.sentence, at)
    if match is None or subject.kind == "Person":
        return
    place = _inner_place(telling, match.end())
    if place:
        yield telling.fact(subject.span, "located_in", place, 0.85)


def _inner_place(telling: ParsedSentence, at: int) -> Span | None:
    """The place named here, after "the province of"."""
    past = re.compile(
        r"(?:the )?(?:[A-Za-z]+ ){0,3}?(?:(?:province|state|county|district|city|town|region|municipality|republic"
        r"|island|borough|suburb|village|prefecture|department) of )?"
    ).match(telling.sentence, at)
    return telling.place_at(at) or (telling.place_at(past.end()) if past else None)
