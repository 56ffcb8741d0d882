"""Single-valued facts stated by a sentence: residence, employer, owner, founding date and the like.

Each rule matches the verb phrase, then finds the subject before it and the object after it. A rule that lacks either
gives nothing: a missing fact costs a search, a wrong one costs trust.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from weft.text.extract.assertion import DENIES, clause_before, is_sure
from weft.text.extract.findings import FoundDate, FoundFact, FoundName, Span
from weft.text.extract.names.name_words import OCCUPATIONS
from weft.text.extract.statements.biographies import PRAISE, biography
from weft.text.extract.statements.properties import properties
from weft.text.extract.statements.sentence import ParsedSentence

MAX_FACTS: Final = 16  # of one sentence


def statements(sentence: str, names: Sequence[FoundName], dates: Sequence[FoundDate], speaker: str) -> list[FoundFact]:
    """The facts stated by a sentence, in order, each subject and predicate once; at most MAX_FACTS."""
    telling = ParsedSentence(sentence, names, dates, speaker)
    found: dict[tuple[Span, str], FoundFact] = {}
    for fact in biography(telling):
        found.setdefault((fact.subject_span, fact.predicate), fact)
    lower = sentence.lower()
    for rule in _RULES if _ANY_HINT.search(lower) else ():
        if any(hint in lower for hint in rule.hints):
            for fact in rule.read(telling, rule):
                found.setdefault((fact.subject_span, fact.predicate), fact)
    told = {(fact.subject_span, fact.object_span) for fact in found.values()}
    for fact in properties(telling):
        if (fact.subject_span, fact.object_span) not in told:  # the more particular rules above go first
            found.setdefault((fact.subject_span, fact.predicate), fact)
    return sorted(found.values(), key=lambda fact: (fact.subject_span, fact.object_span))[:MAX_FACTS]


class _Rule(NamedTuple):
    hints: tuple[str, ...]
    predicate: str
    pattern: re.Pattern[str]
    read: Callable[[ParsedSentence, _Rule], Iterator[FoundFact]]
    confidence: float = 0.9


# ---- a verb between a subject and an object


_PAST = re.compile(r"\b(?:was|were|had|lived|worked|served|owned|resided)\b")
_LASTING: Final = frozenset(["lives_in", "works_at", "role", "status", "owner", "head"])  # what can be over


def _sure_subject(telling: ParsedSentence, at: int) -> Span | None:
    clause = clause_before(telling.sentence, at)
    return telling.subject_before(at) if is_sure(clause) else None


def _is_past(telling: ParsedSentence, rule: _Rule, subject: Span, match: re.Match[str]) -> bool:
    return rule.predicate in _LASTING and _PAST.search(telling.sentence, subject[1], match.end()) is not None


def _with_subjects(telling: ParsedSentence, rule: _Rule) -> Iterator[tuple[re.Match[str], Span]]:
    """Matches the rule's verb after a subject, in a clause without doubt."""
    for match in rule.pattern.finditer(telling.sentence):
        subject = _sure_subject(telling, match.start())
        if subject is not None:
            yield match, subject


def _place(telling: ParsedSentence, rule: _Rule) -> Iterator[FoundFact]:
    """Subject, verb, place: a name with its comma chain, or in the first person also a noun."""
    for match, subject in _with_subjects(telling, rule):
        found = telling.place_at(match.end())
        if found is None and telling.sentence[slice(*subject)] in {"I", "We", "we"} and rule.predicate != "born_in":
            found = telling.noun_at(match.end())
        if found is not None:
            past = _is_past(telling, rule, subject, match)
            yield telling.fact(subject, rule.predicate, found, rule.confidence, past=past)


def _named(telling: ParsedSentence, rule: _Rule) -> Iterator[FoundFact]:
    """Subject, verb, name."""
    for match, subject in _with_subjects(telling, rule):
        name = telling.name_at(match.end())
        if name is not None and not _is_one_of_several(telling.sentence, name.span[1]):
            past = _is_past(telling, rule, subject, match) and " by" not in match[0]
            yield telling.fact(subject, rule.predicate, name.span, rule.confidence, past=past)


def _dated(telling: ParsedSentence, rule: _Rule) -> Iterator[FoundFact]:
    """Subject, verb, date."""
    for match, subject in _with_subjects(telling, rule):
        date = telling.date_at(match.end())
        if date is not None:
            yield telling.fact(subject, rule.predicate, date.span, rule.confidence)


def _workplace(telling: ParsedSentence, rule: _Rule) -> Iterator[FoundFact]:
    for match, subject in _with_subjects(telling, rule):
        name = telling.name_at(match.end())
        found = name.span if name else telling.noun_at(match.end())
        text = telling.sentence[slice(*found)] if found else ""
        if found is not None and not _NO_WORKPLACE.match(text):
            past = _is_past(telling, rule, subject, match)
            yield telling.fact(subject, rule.predicate, found, rule.confidence, past=past)


_NO_WORKPLACE = re.compile(
    r"(?:it|home|night|a? ?while|that|this|you|me|us|them|free|\d|my own|ways?|improving|getting|least|once|years|hours"
    r"|weeks|months|some|long|first|balanc)\b",
    re.IGNORECASE,
)


def _is_one_of_several(sentence: str, at: int) -> bool:
    """Whether more names follow: "by Ada Low and Otto Berg"."""
    return re.compile(r"(?:,? and |, | & )[A-Z]").match(sentence, at) is not None


# ---- roles

_ROLE_WORDS = "|".join(sorted(OCCUPATIONS, key=len, reverse=True))
_ROLE = re.compile(
    rf"(?:[A-Za-z][\w-]* ){{0,3}}?(?:{_ROLE_WORDS})(?:(?:, (?:[a-z-]+ )?(?:{_ROLE_WORDS}))*,? and (?:[a-z-]+"
    rf" )?(?:{_ROLE_WORDS}))?\b"
    r"(?! (?:who|that) (?:would|could))(?!-\w)",
)
_PRAISED = re.compile(PRAISE)
_AT = re.compile(r" (?:at|for) (?=the [A-Z]|[A-Z]|a )")


def _role(telling: ParsedSentence, rule: _Rule) -> Iterator[FoundFact]:
    """As in "I'm a nurse", "I work as a barista at Low Coffee"."""
    for match in rule.pattern.finditer(telling.sentence):
        subject = _sure_subject(telling, match.start())
        praise = _PRAISED.match(telling.sentence, match.end())
        role = _ROLE.match(telling.sentence, praise.end() if praise else match.end())
        if (
            subject is None
            or role is None
            or _NOT_ROLE.search(role[0])
            or _NOUN_AFTER.match(telling.sentence, role.end())
        ):
            continue
        past = _is_past(telling, rule, subject, match)
        yield telling.fact(subject, "role", role.span(), rule.confidence, past=past)
        if (at := _AT.match(telling.sentence, role.end())) and (name := telling.name_at(at.end())):
            yield telling.fact(subject, "works_at", name.span, rule.confidence, past=past)


_NOT_ROLE = re.compile(
    r"\b(?:better|good|great|big|bad|terrible|bit|lot|fan|huge|pretty|more|kind|sort|much|few|such|fast|slow|amazing"
    r"|team|language model|best|only|same|real|quick|early|late|by|of|in|for|who|with|from|about|film by|novel|most"
    r"|album|song)\b|^(?:player|model|host|count|general|executive|academic)$"
)
_NOUN_AFTER = re.compile(
    r" (?!who|at|for|in|and|with|by|of|from|now|so|but|who|that|working|based|since|or|on|to|too|as|living|because"
    r"|here|specializ|currently|myself|actually|like|is|which|studying|where)[a-z]"
)


# ---- kin: my wife Ada, Otto's father, Karl

_KIN: Final = {
    "wife": "spouse", "husband": "spouse", "spouse": "spouse", "girlfriend": "partner", "boyfriend": "partner",
    "partner": "partner", "fiancé": "partner", "fiancée": "partner", "fiance": "partner", "fiancee": "partner",
    "father": "father", "dad": "father", "mother": "mother", "mom": "mother", "mum": "mother",
}  # fmt: skip
_KIN_PATTERN = re.compile(
    rf"\b(?:(?P<whose>[Mm]y|[Hh]is|[Hh]er)|['’]s)(?: (?:current|first|second|third|fourth|late|lovely|dear|new"
    rf"|beautiful|beloved|amazing|future))*"
    rf" (?P<kin>{'|'.join(_KIN)})(?P<gap>,? (?:named |called |is named |is called |is |was |the )?(?:\w+ )?)(?=[A-Z])"
)


def _kin(telling: ParsedSentence, rule: _Rule) -> Iterator[FoundFact]:
    for match in rule.pattern.finditer(telling.sentence):
        name = telling.name_at(match.end())
        if (
            name is None
            or name.kind in {"Place", "Organization"}
            or DENIES.search(clause_before(telling.sentence, match.start()))
        ):
            continue
        if match["whose"] and match["whose"].lower() == "my":
            subject: Span | None = match.span("whose")
        elif match["whose"]:
            subject = _nearest_person(telling, match.start()) or match.span("whose")
        else:
            subject = next((each.span for each in telling.names if each.span[1] == match.start()), None)
        if subject is not None and name.text != telling.speaker:
            yield telling.fact(subject, _KIN[match["kin"]], name.span, rule.confidence)


def _nearest_person(telling: ParsedSentence, at: int) -> Span | None:
    before = [name for name in telling.names if name.span[1] <= at]
    people = [name for name in before if name.kind == "Person"] or [name for name in before if name.kind == "Entity"]
    return people[-1].span if people else None


_LOWER_WORDS = re.compile(r"(?:[a-z-]+ ){1,3}")


def _child(telling: ParsedSentence, rule: _Rule) -> Iterator[FoundFact]:
    """As in "The son of Karl Low and Ada Berg"."""
    for match in rule.pattern.finditer(telling.sentence):
        subject = _sure_subject(telling, match.start()) or (telling.main_subject() if match[0][0] == "," else None)
        past = _LOWER_WORDS.match(telling.sentence, match.end())
        parent = telling.name_at(match.end()) or (telling.name_at(past.end()) if past else None)
        if subject is None or parent is None or parent.span == subject:
            continue
        gap = telling.sentence[match.end() : parent.span[0]]
        second = re.compile(r"(?: \([^)]*\))?,? and (?:his (?:\w+ )?wife,? |wife )?").match(
            telling.sentence, parent.span[1]
        )
        other = telling.name_at(second.end()) if second else None
        woman = re.search(r"(?:Queen|Princess|Lady|Countess|Duchess|Empress)", gap)
        yield telling.fact(subject, "mother" if woman else "father", parent.span, rule.confidence)
        if other and not woman:
            yield telling.fact(subject, "mother", other.span, rule.confidence)


# ---- age, status, name, version


def _number(telling: ParsedSentence, rule: _Rule) -> Iterator[FoundFact]:
    for match in rule.pattern.finditer(telling.sentence):
        if subject := _sure_subject(telling, match.start()):
            yield telling.fact(subject, rule.predicate, match.span("object"), rule.confidence)


def _named_me(telling: ParsedSentence, rule: _Rule) -> Iterator[FoundFact]:
    for match in rule.pattern.finditer(telling.sentence):
        name = telling.name_at(match.end())
        if name and is_sure(clause_before(telling.sentence, match.start())):
            yield telling.fact(match.span("who"), rule.predicate, name.span, rule.confidence)


def _versioned(telling: ParsedSentence, rule: _Rule) -> Iterator[FoundFact]:
    for match in rule.pattern.finditer(telling.sentence):
        if is_sure(clause_before(telling.sentence, match.start())):
            yield telling.fact(match.span("who"), rule.predicate, match.span("object"), rule.confidence)


def _rule(
    read: Callable[[ParsedSentence, _Rule], Iterator[FoundFact]],
    predicate: str,
    hints: str,
    pattern: str,
    confidence: float = 0.9,
) -> _Rule:
    return _Rule(tuple(hints.split("|")), predicate, re.compile(pattern), read, confidence)


_RULES: Final[tuple[_Rule, ...]] = (
    _rule(_place, "lives_in", "live|living in|resid|based in", r" (?:lives?|living|lived|resid(?:es?|ing|ed)|based)"
        r" (?:in|near) (?:a city called |the city of |downtown )?"),
    _rule(_place, "lives_in", "moved|relocated", r" (?:moved|relocated)(?: (?:back|over|out|up))? to (?=[A-Z])", 0.85),
    _rule(_place, "born_in", "born", r" (?:born|raised) (?:and raised )?(?:on [^,]{3,24} )?(?:in|at) (?=[A-Z]|the )"),
    _rule(_dated, "born_on", "born", r" born(?: (?:in|at) [A-Z](?:(?! and )[\w ,'’-]){2,50}?)?(?= (?:on|in) | \w+ \d)"),
    _rule(_dated, "died_on", "died", r" (?:died|passed away)(?: (?:in|at) [A-Z][\w ,]{2,40}?| (?:from|of)"
        r" [\w ]{3,30}?)?(?= (?:on|in) )"),
    _rule(_place, "died_in", "died", r" died (?:on [^,]{3,24} )?(?:in|at) (?=[A-Z])"),
    _rule(_place, "located_in", "located|situated|headquartered", r" (?:located|situated|headquartered) (?:\w+ly"
        r" )?(?:in|within|inside) (?=[A-Z]|the )"),
    _rule(_place, "capital_of", "capital", r" the (?:capital|capital city|capital and largest city|national capital)"
        r" of "),
    _rule(_dated, "founded_on", "founded|established|formed|incorporated|created", r" (?:founded|established|formed"
        r"|incorporated|organized)(?: by [^,.]{3,40}?)?(?: in [A-Z]\w+)?(?= (?:on|in) )"),
    _rule(_dated, "released_on", "released|published|premiered", r" (?:(?:first |originally |initially )?(?:released"
        r"|published)|premiered)(?: \w+ly)?(?: (?:by|in|through) [A-Z][^,.]{2,40}?)?(?= (?:on|in) )"),
    _rule(_named, "owner", "owned by|subsidiary of", r" (?:(?:wholly |fully |currently |jointly )?owned(?: and"
        r" operated)? by|a (?:\w+[- ])?(?:\w+ )?subsidiary of) "),
    _rule(_named, "head", "led by|headed by", r" (?:currently )?(?:headed|led) by "),
    _rule(_named, "spouse", "married", r" (?:married(?: to)?) (?:the |his \w+ |her \w+ )?(?=[A-Z]|actor|actress"
        r"|fellow)"),
    _rule(_workplace, "works_at", "work", r" (?:works?|working|worked) (?:at|for) ", 0.85),
    _rule(_workplace, "works_at", "job|position|employed", r" (?:(?:have|got|started|landed|accepted|took) (?:an? |my"
        r" )?(?:new )?(?:\w+ )?(?:job|position|role)|employed) (?:at|with|by) ", 0.85),
    _rule(_role, "role", "work|serv", r" (?:works?|working|worked|serves?|served) as (?:an? |the )?"),
    _rule(_role, "role", "work", r" (?:works?|working|worked) (?:at|for) [^,.;]{2,40}? as (?:an? |the )"),
    _rule(_role, "role", "m a| is a| are a|s a |re a", r"(?:['’](?:m|s|re)| (?:am|is|was|are|were))(?: (?:also|now"
        r"|currently|actually|just|still|originally))* (?:an?|the) (?=[a-z])", 0.85),
    _rule(_role, "role", "promoted|became|hired", r" (?:(?:got |been )?promoted to|became|hired as) (?:an? |the"
        r" )?(?=[a-z])", 0.85),
    _rule(_kin, "", "wife|husband|spouse|friend|partner|fianc|father|mother|dad|mom|mum", _KIN_PATTERN.pattern),
    _rule(_child, "", "son of|daughter of", r",? (?:an?|the) (?:\w+[ -]){0,5}?(?:son|daughter|child) of ", 0.85),
    _rule(_named, "spouse", "wife of|widow of|husband of|wife and widow", r" (?:an?|the) (?:\w+ ){0,2}(?:wife|widow"
        r"|husband)(?: and widow)? of (?:[a-z-]+ ){0,2}"),
    _rule(_number, "age", "years old|year old|year-old", r" (?:around |about |only |just |now |already |all"
        r" )?(?P<object>\d{1,3}[ -]years?)[ -]old\b"),
    _rule(_number, "age", "'m |’m |i am |turned", r"(?:(?<=I['’]m)|(?<=I am)|(?<=urned)) (?P<object>\d{1,2})(?=[.!,]|"
        r" and\b| now\b| this\b| years old|$)", 0.85),
    _rule(_number, "status", "married|divorced|retired|separated|single|widow|engaged|extinct|defunct|cancel",
          r"(?:['’](?:m|re|s)| (?:am|is|are|was|were|got|been|became))(?: (?:now|currently|still|recently|already"
          r"|officially|finally|also))* (?P<object>(?:happily )?married(?! to\b| [A-Z]| in\b| on\b| his| her| at\b)"
          r"|divorced(?! in)|retired(?= and|[.,!]|$)|separated(?= and| from|[.,!])|single(?=[.,!]| and)|widowed"
          r"|engaged(?= to [A-Z]| to my|!)|extinct|defunct|cancell?ed)\b", 0.8),
    _rule(_named_me, "name", "name", r"\b(?P<who>[Mm]y) name(?: is|['’]s) ", 0.95),
    _rule(_number, "elevation", "elevation", r" (?:at )?an elevation of (?P<object>[\d,.]+ ?(?:m|ft|feet|metres"
        r"|meters))\b"),
    _rule(_versioned, "version", "version|upgraded|updated|running", r"(?P<who>\b[A-Z][\w.+-]*)(?: is| was)?(?: now|"
        r" currently)?(?: at| on| running| upgraded to| updated to)? (?:version "
        r"|v)(?P<object>\d+(?:\.\d+){0,3}[\w.-]*\w|\d)\b", 0.85),
    _rule(_versioned, "version", "upgraded|updated|bumped|migrated", r" (?:upgraded|updated|bumped|migrated)"
        r" (?P<who>[A-Z]?[\w-]+)(?: from \S+)? to (?:version |v)?(?P<object>\d+(?:\.\d+){0,3})\b", 0.85),
)  # fmt: skip
_ANY_HINT: Final = re.compile("|".join(sorted({re.escape(hint) for rule in _RULES for hint in rule.hints})))
