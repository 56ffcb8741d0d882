"""Properties of everyday things, people and services, as people note them: "The launch is on 15 December".

Who leads or looks after what, where something runs or is kept, what is used for what, when something takes place, what
it costs, how many there are, what it is called. A form is a verb between a subject and a value, and both must be whole:
the subject takes up its clause, and the value is of the form's sort. Whatever else the words may mean gives nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from weft.text.extract.assertion import HEDGE, is_sure
from weft.text.extract.findings import FoundFact, Span
from weft.text.extract.names.name_words import DEMONYMS, GIVEN_NAMES, TIME_NAMES, is_plain
from weft.text.extract.statements.sentence import ParsedSentence

MAX_VALUE_WORDS: Final = 6
CONFIDENCE: Final = 0.85
DAY_US: Final = 86_400_000_000

Value = Callable[[ParsedSentence, int], Span | None]


class _Form(NamedTuple):
    """A verb with the property that it gives; `turned` ones tell a property of the value ("Ana leads the team")."""

    predicate: str
    verb: re.Pattern[str]
    value: Value
    turned: str = ""  # the property of the first person: "I lead the team"
    first_person: bool = True


class _Subject(NamedTuple):
    span: Span
    is_speaker: bool = False


def properties(telling: ParsedSentence) -> Iterator[FoundFact]:
    """The facts of a sentence, each form once."""
    if _ANY_VERB.search(telling.sentence) is None:
        return
    yield from _possessed(telling)
    for form in _FORMS:
        for match in form.verb.finditer(telling.sentence):
            if fact := _read(telling, form, match):
                yield fact
                break


def _read(telling: ParsedSentence, form: _Form, match: re.Match[str]) -> FoundFact | None:
    subject = _subject(telling.sentence, match.start(), general=form.predicate == "price")
    value = form.value(telling, match.end()) if subject else None
    if subject is None or value is None or (subject.is_speaker and not form.first_person):
        return None
    if _DOUBTS.match(telling.sentence, value[1]):
        return None
    past = _PAST.match(match[0]) is not None
    if form.turned and not subject.is_speaker:
        if not _is_someone(telling, subject.span):
            return None
        return telling.fact(value, form.predicate, subject.span, CONFIDENCE, past=past, single=True)
    predicate, whose = (form.turned or form.predicate), subject.span
    if predicate == "uses" and (purpose := _purpose(telling.sentence, value[1])):
        whose = purpose if subject.is_speaker or telling.sentence[slice(*whose)].lower() == "they" else whose
    if predicate == "date" and (named := _named_date(telling.sentence, whose)):
        predicate, whose = named
    single = predicate not in _SEVERAL and not (predicate in _TIMES and _RECURS.search(telling.sentence, *whose))
    return telling.fact(whose, predicate, value, CONFIDENCE, past=past, single=single and not subject.is_speaker)


_SEVERAL: Final = frozenset({"has", "uses", "allergic_to", "runs_on", "written_in"})
_TIMES: Final = frozenset({"date", "time", "price", "value", "status"})
_RECURS = re.compile(  # of these there may be another one
    r"\b(?:meeting|call|appointment|session|lesson|class|practice|party|visit|trip|match|game|dinner|lunch|invoice|order"
    r"|payment|date|event|review|amount|total|bill|fee|cost|price)s?$"
)


_PAST = re.compile(
    r" (?:was|were|had|used)\b(?! (?:\w+ )?(?:moved|postponed|raised|lowered|set|changed|reduced|increased|rescheduled"
    r"|pushed|brought|shifted|delayed))"
)
_DOUBTS = re.compile(r"[^.;]{0,60}?\b(?:if|unless|or so|they say|I think|I guess|isn['’]t it|right\?)\b")


# ---- subjects

_NO_NOUN = (
    r"(?:he|she|it|they|there|this|that|these|those|who|whom|which|what|when|where|why|how|if|because|but|or|not"
    r"|never"
    r"|nobody|none|nothing|no|someone|anyone|everyone|somebody|something|is|are|was|were|be|been|am|has|have|had"
    r"|do|does"
    r"|did|will|would|can|could|may|might|should|must|shall|than|as|by|with|without|from|to|into|onto|at|in|on|about"
    r"|after|before|during|until|since|i|you|we|me|him|them|us|said|says|thinks?|thought|hopes?|let|lets|please"
    r"|and|so"
    r"|then|also|only|just|even|for|of)"
)
_WORD = rf"(?!{_NO_NOUN}\b(?!-))\w[\w.'’/&+-]*"
_LEAD = (
    r"(?:(?:(?:since|as of|from|starting) [^,]{1,25}, |(?:now|currently|today|these days|by the way|fyi|update|note"
    r"|news|reminder|also|and|so|ok)[,:]? ))?"
)
_NOUN_SUBJECT = re.compile(
    rf"\W*{_LEAD}(?:(?P<whose>the|an?|our|every|each) )?"
    rf"(?P<noun>(?:(?P<own>my|your|his|her|their|its) )?{_WORD}(?: {_WORD}){{0,4}}"
    rf"(?: (?:of|for|in) (?:the |our |my )?{_WORD}(?: {_WORD}){{0,2}})?)\s*",
    re.IGNORECASE,
)
_SPEAKER = re.compile(rf"\W*{_LEAD}(?P<who>I|we|they)(?:['’](?:m|ve|re))?\s*", re.IGNORECASE)
_CLAUSE = re.compile(r"[.;:!?] |, (?:and|but|so|while) | but | because |—|–")
_NO_THING_YET = re.compile(  # many things, none in particular, or an order
    r"\W*(?:nobody|no one|neither|few|not|hardly|almost|nearly|some|many|most|all|several|both|either|its|ensure|make"
    r"|keep|check|confirm|verify|remember|assume|consider|use|try|always|never|often|[a-z]+ly\b(?=\s*$))\b",
    re.IGNORECASE,
)


def _subject(sentence: str, at: int, *, general: bool = False) -> _Subject | None:
    """The subject that takes up the clause up to a verb; None if there is more in it, or doubt.

    Of things in general ("a die has six sides") only if `general`.
    """
    start = max((cut.end() for cut in _CLAUSE.finditer(sentence, 0, at)), default=0)
    if not is_sure(sentence[start:at]) or _NO_THING_YET.match(sentence, start):
        return None
    if speaker := _SPEAKER.fullmatch(sentence, start, at):
        return _Subject(speaker.span("who"), is_speaker=speaker["who"].lower() != "they")
    noun = _NOUN_SUBJECT.fullmatch(sentence, start, at)
    if noun is None or noun["noun"].endswith("ly"):
        return None
    if (noun["whose"] or "").lower() in ("a", "an", "every", "each") and not general:
        return None
    named = noun["noun"][0].isupper() or noun["noun"][0].isdigit()
    return _Subject(noun.span("noun")) if named or noun["whose"] or noun["own"] else None


_TEAM = re.compile(r".*\b(?:team|group|desk|department|squad|office|company|family)$")


def _is_someone(telling: ParsedSentence, subject: Span) -> bool:
    """Whether a subject is as a whole a name, or a team."""
    name = telling.name_at(subject[0])
    if name is not None and name.span == subject:
        return True
    return _TEAM.match(telling.sentence, *subject) is not None


_PURPOSE = re.compile(
    rf"\s?(?:for|as) (?:the |our |my |all )?(?P<noun>(?!its\b|it\b|now\b){_WORD}(?: {_WORD}){{0,3}})(?=[.,;!]|$)"
)


def _purpose(sentence: str, at: int) -> Span | None:
    """What something is used for: "for the event bus"."""
    found = _PURPOSE.match(sentence, at)
    return found.span("noun") if found else None


_DEADLINE = re.compile(
    r"(?:deadline|due date)(?: (?:for|of) (?:the |our |my )?(?P<of>.+))?$|(?P<whose>.+?)['’]s deadline$", re.I
)
_BIRTHDAY = re.compile(r"(?:(?P<my>my)|(?P<whose>.+?)['’]s) birthday$", re.IGNORECASE)


def _named_date(sentence: str, subject: Span) -> tuple[str, Span] | None:
    """The property that a subject names itself: the deadline of a thing, the birthday of a person."""
    for pattern, predicate in ((_DEADLINE, "deadline"), (_BIRTHDAY, "birthday")):
        if found := pattern.match(sentence, *subject):
            group = next((name for name, words in found.groupdict().items() if words), "")
            if group:
                return predicate, found.span(group)
    return None


# ---- values

_END = r"(?=[.,;!)]?(?:\s|$))"
_NAMED = re.compile(
    r"(?:the )?(?P<value>(?:[A-Z][\w.+#&'’-]*|[a-z]+\d\w*)(?: (?:[A-Z][\w.+#&'’-]*|\d+(?:\.\d+)*(?=[ .,;!]|$)))*)"
)
_NOUN = re.compile(
    rf"(?:(?:the|our|an?|all|all of|every|most of) )?(?P<value>(?:(?:my|his|her|their) )?{_WORD}(?: {_WORD}){{0,5}})"
)
_AMOUNT = re.compile(
    rf"(?:me |us |about |around |only |just |at )*(?P<value>[$€£]\s?\d[\d.,]*\d?|\d[\d.,]* ?(?:euros?|dollars?"
    rf"|pounds?|francs?"
    rf"|cents?|EUR|USD|GBP|CHF|€|\$|£)){_END}"
)
_MEASURE = re.compile(
    r"(?:now |about |around )?(?P<value>(?:\d[\d.,]*|one|two|three|four|five|six|seven|eight|nine|ten|twelve"
    r"|fifteen|twenty"
    r"|thirty|sixty) ?(?:[kMGT]i?B|ms|milliseconds?|s|seconds?|minutes?|hours?|days?|weeks?|percent|%|requests?"
    r"|users?"
    r"|connections?|retries|characters?|tokens?|rows?|items?|km|m|kg|litres?"
    r"|degrees?)(?: per \w+)?)(?![\w-])(?!,? (?:and|away|drive|walk|ride|from|late|early|long|old|off|complete|of"
    r"|free|faster|more|less)\b)"
)
_CLOCK = re.compile(
    r"(?P<value>\d{1,2}(?::|\.|h)\d\d(?: ?[ap]\.?m\.?)?|\d{1,2} ?[ap]\.?m\.?|\d{1,2} o['’]clock|noon|midnight"
    r"|half past \w+|quarter (?:to|past) \w+)(?!\w)"
)
_NUMBER_WORDS = (
    r"(?:\d[\d.,]*\d|\d|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen"
    r"|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|a hundred"
    r"|a dozen)(?:[- ](?:one|two"
    r"|three|four|five|six|seven|eight|nine|hundred|thousand))?"
)
_COUNT = re.compile(
    rf"(?:about |around |over |only |now |exactly |already )?(?P<value>{_NUMBER_WORDS} (?!(?:more|other|of|years?"
    rf"|hours?|minutes?|days?"
    r"|weeks?|months?|times?|things?|problems?|reasons?|ways?|issues?|ideas?|sides?|advantages?|choices?|options?"
    r"|questions?"
    r"|points?|parts?|left|endings?|meanings?|bugs?|seasons?)\b)[a-z][\w-]+(?: [a-z][\w-]*s)?)(?! that\b| who\b)"
)
_CONTAINERS = (
    r"drawer|cupboard|closet|wardrobe|kitchen|garage|folder|binder|box|safe|cellar|attic|office|room|shelf|desk"
    r"|cabinet"
    r"|wallet|bag|backpack|car|shed|fridge|freezer|basement|building|floor|bucket|repository|repo|directory|vault"
    r"|warehouse|archive|library|hallway|hall|garden|bathroom|bedroom|pocket|envelope|locker|lobby|mailbox|barn"
    r"|studio"
    r"|workshop|suitcase|pantry|jar|tin|rack"
)
_CONTAINER = re.compile(
    rf"(?:the |our |my |an? )?(?P<value>(?:{_WORD} ){{0,3}}(?:{_CONTAINERS})(?: (?:of|in|at|next to) (?:the |our "
    rf"|my )?{_WORD}(?: {_WORD})?)?)(?!\w)"
)
_STATE = re.compile(
    rf"(?P<value>open|closed|done|finished|completed?|paid|unpaid|cancell?ed|live|offline|online|down|blocked"
    rf"|broken|fixed"
    rf"|out of order|out of stock|merged|resolved|deprecated|archived|pending|approved|rejected|on hold|sold out|sold"
    rf"|in review|shipped|delivered|overdue|paused|expired|disabled|enabled|frozen)(?: (?:now|again|already"
    rf"|since\b.*|as of\b.*|for\b.*))?{_END}(?=[.!;,]?\s*$)"
)
_GROUPS = (
    r"team|group|department|desk|squad|unit|division|project|office|branch|crew|committee|choir|club|board|class|lab"
    r"|band|company|chapter|guild|workshop|service|region|shift|effort|initiative|programme|program|shop|store|clinic"
)
_GROUP = re.compile(
    rf"(?:the |our |my |its |an? )?(?P<value>(?:{_WORD} ){{0,4}}(?:{_GROUPS})(?: (?:of|in"
    rf"|at) {_WORD}(?: {_WORD})?)?)(?![\w-])"
)


def _matching(pattern: re.Pattern[str]) -> Value:
    def value(telling: ParsedSentence, at: int) -> Span | None:
        found = pattern.match(telling.sentence, at)
        return _trimmed(telling.sentence, found.span("value")) if found else None

    return value


def _trimmed(sentence: str, span: Span) -> Span:
    return (span[0], span[0] + len(sentence[slice(*span)].rstrip(" .,'’")))


def _name(telling: ParsedSentence, at: int) -> Span | None:
    """A name: capitalised, or with a digit; of no time and no people."""
    found = _NAMED.match(telling.sentence, at)
    first = found["value"].split(" ")[0].lower().rstrip(".,") if found else ""
    if found is None or first in TIME_NAMES or first in DEMONYMS or first in ("i", "i'm"):
        return None
    return _trimmed(telling.sentence, found.span("value"))


def _date(telling: ParsedSentence, at: int) -> Span | None:
    date = telling.date_at(at)
    return date.span if date else None


def _day(telling: ParsedSentence, at: int) -> Span | None:
    """A date that is given to the day."""
    date = telling.date_at(at)
    if date is None or date.to_us - date.from_us > DAY_US:
        return None
    return date.span if any(map(str.isdigit, telling.sentence[slice(*date.span)])) else None


_PRODUCT_END = re.compile(
    r"[.,;!)]?(?:$|\s(?:for|as|in|on|at|to|with|and|or|now|instead|since|because|from|again|too|there|here|last|this"
    r"|everywhere)\b|\s\W)"
)


def _product(telling: ParsedSentence, at: int) -> Span | None:
    """A name that is no person's."""
    named = telling.name_at(at)
    is_person = named and named.kind == "Person" and (" " in named.text or named.text.lower() in GIVEN_NAMES)
    found = None if is_person else _name(telling, at)
    return found if found and _PRODUCT_END.match(telling.sentence, found[1]) else None


def _noun(telling: ParsedSentence, at: int) -> Span | None:
    found = _NOUN.match(telling.sentence, at)
    if found is None or _NO_THING.match(telling.sentence, found.start("value")) or _MANNER.search(found["value"]):
        return None
    span = _trimmed(telling.sentence, found.span("value"))
    return span if len(telling.sentence[slice(*span)].split()) <= MAX_VALUE_WORDS else None


_NO_THING = re.compile(
    r"(?:up|out|off|over|home|back|away|down|well|way|charge|life|part|lot|bit|time|point|case|fact|idea|truth|day"
    r"|things?|everything|her\b|his\b|their\b|one|ones|conversation|discussion|good|bad|better|here|open|closed)\b",
    re.IGNORECASE,
)
_MANNER = re.compile(r" (?:well|badly|poorly|nicely|mistakes?|better|alone|together|a lot)$")


def _person_or_team(telling: ParsedSentence, at: int) -> Span | None:
    group = _GROUP.match(telling.sentence, at)
    return _trimmed(telling.sentence, group.span("value")) if group else _name(telling, at)


def _place(telling: ParsedSentence, at: int) -> Span | None:
    name = telling.name_at(at)
    if name is not None and not is_plain(name.text.lower()):
        return telling.place_at(at)
    return _matching(_CONTAINER)(telling, at)


def _site(telling: ParsedSentence, at: int) -> Span | None:
    return _name(telling, at) or _noun(telling, at)


# ---- forms

_ADVERB = r"(?:now |currently |still |already |also |usually |always |officially |recently |just |finally |then )?"
_IS = rf" (?:is|are|was|were) {_ADVERB}(?:being )?"
_HAS = rf"(?: (?:has|have|had)|['’]ve)? {_ADVERB}"


def _third(*verbs: str) -> str:
    """Verbs in the third person, or after "I" or "we": "Ana leads", "I lead", but no "lead" of another kind."""
    return "|".join(rf"{verb}s|(?<=\bI ){verb}|(?<=\b[Ww]e ){verb}" for verb in verbs)


def _form(predicate: str, verb: str, value: Value, *, turned: str = "", first_person: bool = True) -> _Form:
    return _Form(predicate, re.compile(verb), value, turned, first_person)


_MOVED = (
    r"(?:postponed|moved|rescheduled|pushed back|pushed|brought forward|shifted|delayed)"
    r"(?: from [^.,]{2,30}?)? (?:to|until|till)"
)
_FORMS: Final = (
    _form("head", rf" {_ADVERB}(?:{_third('lead', 'head')}|is (?:leading|heading)) (?!to\b)", _noun, turned="leads"),
    _form("head", rf" {_ADVERB}(?:{_third('run', 'manage', 'chair')}|is (?:running"
        "|managing)) ", _matching(_GROUP), turned="leads"),
    _form("head", rf"{_IS}(?:led|headed|run|managed|chaired) by ", _name),
    _form("owner", rf" {_ADVERB}(?:{_third('maintain', 'handle')}|looks? after"
        "|takes? care of) ", _noun, turned="responsible_for"),
    _form("owner", rf"(?:{_IS}|['’]m )(?:responsible for|in charge of"
        "|on the hook for) ", _noun, turned="responsible_for"),
    _form("owner", rf"(?:{_HAS})(?:takes?|took|taken) over ", _noun, turned="responsible_for"),
    _form("owner", rf"{_IS}the (?:owner|maintainer) of ", _noun, turned="responsible_for"),
    _form("owner", rf" {_ADVERB}owns? (?!an? |up\b|some\b|two\b|three\b|four\b|\d)", _noun, turned="owns"),
    _form("owner", rf"{_IS}(?:owned|maintained|looked after|handled) by (?:the )?", _person_or_team),
    _form("owner", r" (?:now )?belongs to (?:the )?", _person_or_team),
    _form("hosted_on", rf"{_IS}hosted (?:on|in|at|with) ", _site),
    _form("deployed_on", rf"{_IS}deployed (?:on|to|in|with) ", _name),
    _form("runs_on", rf" {_ADVERB}(?:runs|run on|is running"
        "|are running) (?:on )?(?!version\b)", _name, first_person=False),
    _form("runs_on", r" (?:is|are) (?:now |still )?on (?=[A-Z]\w+ \d)", _name, first_person=False),
    _form("uses", rf"{_HAS}(?:uses?|chose|chosen|picked|selected|adopted|settled on|went with|gone with|opted for"
          r"|decided on|(?:decided|agreed) (?:to use|on)|(?:switched|migrated)(?: (?:over"
          r"|back))?(?: from [\w. +#-]{2,30}?)? to) ", _product),
    _form("written_in", rf"{_IS}(?:written|implemented|programmed) in ", _name),
    _form("date", rf"{_IS}(?:on|set for|scheduled for|planned for|fixed for|scheduled on) ", _date),
    _form("date", rf"{_IS}", _day),
    _form("date", r" (?:takes? place|happens?|will take place|will be) on ", _date),
    _form("date", rf"(?:{_IS}| (?:has|have) been | ){_MOVED} ", _date),
    _form("deadline", rf"{_IS}due (?:on|by) ", _date),
    _form("expires_on", r" (?:expires?|runs? out) (?:on|in) ", _date, first_person=False),
    _form("ends_on", r" ends? (?:on|in) ", _date, first_person=False),
    _form("starts_on", r" (?:starts?|begins?) (?:on|in) ", _date, first_person=False),
    _form("has", rf" {_ADVERB}(?:has|have|employs?) ", _matching(_COUNT)),
    _form("price", rf" {_ADVERB}(?:costs?|is priced at|was priced at"
        "|sells? for) ", _matching(_AMOUNT), first_person=False),
    _form("value", rf"{_IS}(?:(?:raised|lowered|set|changed|reduced|increased|limited"
        "|cut)(?: from [^.,]{{1,20}}?)? to )?",
          _matching(_AMOUNT), first_person=False),
    _form("value", rf"{_IS}(?:(?:raised|lowered|set|changed|reduced|increased|limited"
        "|cut)(?: from [^.,]{{1,20}}?)? to )?",
          _matching(_MEASURE), first_person=False),
    _form("located_in", r" (?:is|are) (?:now |still )?(?:in|at) ", _place, first_person=False),
    _form("located_in", r" (?:is|are) (?:now |still )?(?:on|under|inside"
        "|behind) ", _matching(_CONTAINER), first_person=False),
    _form("located_in", rf"{_IS}(?:kept|stored|hidden|filed|archived|located|saved) (?:in|on|under|at|inside"
        "|behind) ", _site,
          first_person=False),
    _form("reports_to", r" (?:now )?(?:reports?) to (?!work\b)", _name),
    _form("name", rf"{_IS}(?:called|named) ", _name, first_person=False),
    _form("spouse", rf"{_IS}married to ", _name),
    _form("allergic_to", rf"(?:{_IS}|['’]m | am )allergic to ", _noun),
    _form("status", rf"{_IS}", _matching(_STATE), first_person=False),
    _form("opens_at", r" (?:now )?opens? at ", _matching(_CLOCK), first_person=False),
    _form("closes_at", r" (?:now )?closes? at ", _matching(_CLOCK), first_person=False),
    _form("time", rf"(?:{_IS}| (?:now )?(?:starts?|begins?) )at ", _matching(_CLOCK), first_person=False),
    _form("works_at", r" (?:now )?works (?:at|for) (?=the )", _noun),
)  # fmt: skip
_ANY_VERB = re.compile("|".join(dict.fromkeys(form.verb.pattern for form in _FORMS)))


# ---- our payment provider is Stripe; Stripe is our payment provider; Ana's manager is Pedro; the CEO of Acme is Jane

_RELATION = r"(?P<what>[a-z][\w-]*(?: [a-z][\w-]*){0,2}|[A-Z]{2,4}(?: [a-z][\w-]*){0,2})"
_IS_VALUE = r" (?:is|are)(?: now| currently| still)? "
_OURS = re.compile(
    rf"(?:^|(?<=[.;:] )|(?<=, and ))(?P<whose>[Oo]ur|[Mm]y) (?P<adj>new |current |main )?{_RELATION}{_IS_VALUE}"
)
_IS_OURS = re.compile(
    rf"{_IS_VALUE}(?P<whose>our|my) (?:new |current |main )?{_RELATION}(?= now\b|[.,;!]|$| for [a-z]| since )"
)
_OF_NAME = re.compile(
    rf"(?:^|(?<=[.;:] ))(?P<whose>[A-Z][\w-]*(?: [A-Z][\w-]*){{0,2}})['’]s (?:new |current )?{_RELATION}{_IS_VALUE}"
)
_OF_NOUN = re.compile(
    rf"(?:^|(?<=[.;:] ))The (?:new |current )?{_RELATION} (?:of|at"
    rf"|for) (?:the )?(?P<whose>[A-Z][\w-]*(?: [A-Z][\w-]*){{0,3}}){_IS_VALUE}"
)
_HER_NAME = re.compile(
    r"(?P<subject>(?:[Mm]y|[Oo]ur|[Hh]is|[Hh]er) [a-z][\w-]*(?: [a-z][\w-]*)?)['’]s name(?: is|['’]s) "
)
_LITERAL = re.compile(r"(?P<value>[+(]?\d[\d ()./-]{3,}\d|[\w.+-]+@[\w-]+(?:\.[\w-]+)+)")
_MANY_TEXT = """
friend friends colleague colleagues neighbour neighbor neighbours favourite favorite hero hope choice baby love idea
goal dream plan problem name wife husband spouse girlfriend boyfriend partner father mother dad mom mum sister brother
son daughter cousin aunt uncle customer client user guess point question answer day week turn fault birthday passion
life world home everything jam go-to priority
"""
_MANY: Final = frozenset(_MANY_TEXT.split())


def _possessed(telling: ParsedSentence) -> Iterator[FoundFact]:
    """Properties that are named by a noun of somebody's."""
    sentence = telling.sentence
    for pattern in (_OURS, _OF_NAME, _OF_NOUN):
        for match in pattern.finditer(sentence):
            value = _one_value(telling, match.end())
            if value and _is_one(match["what"]) and not _DOUBTS.match(sentence, value[1]):
                yield telling.fact(match.span("whose"), _property(match["what"]), value, CONFIDENCE, single=True)
    for match in _IS_OURS.finditer(sentence):
        subject = _subject(sentence, match.start())
        name = telling.name_at(subject.span[0]) if subject else None
        if subject and name and name.span == subject.span and _is_one(match["what"]):
            yield telling.fact(match.span("whose"), _property(match["what"]), subject.span, CONFIDENCE, single=True)
    for match in _HER_NAME.finditer(sentence):
        if value := _name(telling, match.end()):
            yield telling.fact(match.span("subject"), "name", value, CONFIDENCE, single=True)


def _one_value(telling: ParsedSentence, at: int) -> Span | None:
    literal = _LITERAL.match(telling.sentence, at)
    if literal and telling.date_at(at) is None:
        return _trimmed(telling.sentence, literal.span("value"))
    title = _TITLE.match(telling.sentence, at)
    return _name(telling, title.end() if title else at)


_TITLE = re.compile(r"(?:Mr|Mrs|Ms|Dr|Prof)\.? ")


def _is_one(what: str) -> bool:
    words = what.lower().split()
    return _MANY.isdisjoint(words) and HEDGE.search(what) is None and not re.search(rf"\b{_NO_NOUN}\b", what)


def _property(what: str) -> str:
    return what.lower().replace(" ", "_").replace("-", "_")
