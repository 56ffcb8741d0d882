"""Vocabulary of time expressions, and the tokenised question that the rules read."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple, Self

from weft.text.extract.quoted import quoted_spans
from weft.text.extract.time.calendar import Period, day_of

Kind = Literal[
    "ago",
    "day",
    "week",
    "weekend",
    "month",
    "quarter",
    "season",
    "year",
    "holiday",
    "past",
    "since",
    "until",
    "between",
    "recent",
]

YEARS = range(1000, 2200)  # other four-digit numbers are amounts
_NO_WORD = "\0"
_TOKEN = re.compile(
    r"(?<!\w-)[0-9]{4}-[0-9]{1,2}(?:-[0-9]{1,2})?(?![0-9])"  # 2023-05-08, but no part of an id
    r"|[0-9]+(?:\.[0-9]+)?(?:st|nd|rd|th)?(?!\w)"  # 8, 1.5, 8th
    r"|\w+(?:['’]\w+)?|[^\w\s]",
    re.IGNORECASE,
)

_MONTH_TEXT = "january february march april may june july august september october november december"
_DAY_TEXT = "monday tuesday wednesday thursday friday saturday sunday"
_ORDINAL_TEXT = """
first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth
sixteenth seventeenth eighteenth nineteenth twentieth
"""
_PAST_TEXT = """
did was were had happened went came called said told met saw left got gave took made wrote sent bought sold found won
lost broke ran spoke paid has have been
"""
_NUMBER_TEXT = "one two three four five six seven eight nine ten eleven twelve"
_UNIT_TEXT = "minute hour day night week fortnight weekend month quarter year decade"
_OPEN_TEXT = "since until till before after by through from between"

MONTHS = {name: number for number, name in enumerate(_MONTH_TEXT.split(), 1)}
MONTHS |= {name[:3]: number for name, number in MONTHS.items()} | {"sept": 9}
# Also verbs, people's names or abbreviations: months only if the context requires it.
UNSURE_MONTHS = {"march", "april", "may", "june", "august"} | {name for name in MONTHS if len(name) < 5} - {"july"}
VERBS = {"march", "may", "mar"}
WEEKDAYS = {name: number for number, name in enumerate(_DAY_TEXT.split())}
SHORT_WEEKDAYS = {name[:3]: number for name, number in WEEKDAYS.items()} | {"tues": 1, "thur": 3, "thurs": 3}
SEASONS = {"spring", "summer", "autumn", "fall", "winter"}
HOLIDAYS = {
    "christmas": "christmas",
    "xmas": "christmas",
    "easter": "easter",
    "halloween": "halloween",
    "thanksgiving": "thanksgiving",
    "valentine": "valentine",
    "valentines": "valentine",
}
UNITS = {form: name for name in _UNIT_TEXT.split() for form in (name, f"{name}s")}
DAY_PARTS = {"morning", "afternoon", "evening", "night"}
NUMBERS = {name: float(number) for number, name in enumerate(_NUMBER_TEXT.split(), 1)}
VAGUE = {"couple": (2.0, 2.0), "few": (2.0, 4.0), "several": (3.0, 6.0)}

PREPOSITIONS = frozenset(f"{_OPEN_TEXT} in during throughout around of early mid late".split())
DAY_LEADS = frozenset(f"{_OPEN_TEXT} on".split())
ORDINAL_WORDS = {name: number for number, name in enumerate(_ORDINAL_TEXT.split(), 1)}
_FUNCTION_TEXT = """
and or but with at in on for did do does was were is are i we you he she they it my our to from of when since so
last this that which who before after until till through while because about by between than as
"""
FUNCTION_WORDS = frozenset(_FUNCTION_TEXT.split())  # none of them goes on with a name: Christmas tree
CONNECTORS = {"and", "or", "&", ",", "versus", "vs", "to", "until", "till", "through", "-", "–"}
UP_TO = {"to", "until", "till", "through", "-", "–"}
PAST_WORDS = frozenset(_PAST_TEXT.split())
REPEATED = {"every", "each", "next", "coming", "upcoming", "any"}  # habits and the future


class TimeMatch(NamedTuple):
    """A period named by the words up to, but not including, `stop`."""

    period: Period
    kind: Kind
    stop: int


class TimeReader:
    """The words of a question in lower case and without 's, and the time at which it was asked.

    Quoted parts are names: their words match nothing. A statement, which does not ask, may tell of plans: what is
    booked for the 24th is not the last 24th.
    """

    __slots__ = ("asked_us", "asks", "is_past", "listed_at", "previous", "raw", "starts", "today", "words")

    def __init__(self, question: str, asked_us: int, *, asks: bool = False) -> None:
        self.raw: list[str] = []
        self.starts: list[int] = []
        for token in _TOKEN.finditer(question):
            self.raw.append(token[0])
            self.starts.append(token.start())
        self.words = [_plain_form(token) for token in self.raw]
        at = 0
        for start, stop in quoted_spans(question):
            while at < len(self.starts) and self.starts[at] < stop:
                if self.starts[at] >= start:
                    self.words[at] = _NO_WORD
                at += 1
        self.asks = asks
        self.asked_us = asked_us
        self.today = day_of(asked_us)
        self.listed_at = -1  # where the last period ended: "and", "or" or a comma may add another
        self.previous: TimeMatch | None = None  # the last period
        self.is_past = any(word in PAST_WORDS or word.endswith("ed") for word in self.words)  # tells what happened

    def asked(self, asked_us: int) -> Self:
        """The same question asked at another time."""
        other = object.__new__(type(self))
        other.words, other.raw, other.starts, other.listed_at = self.words, self.raw, self.starts, self.listed_at
        other.asked_us, other.today = asked_us, day_of(asked_us)
        other.previous, other.is_past, other.asks = self.previous, self.is_past, self.asks
        return other

    def word(self, at: int) -> str:
        """The word at a position, or "" outside of the question."""
        return self.words[at] if 0 <= at < len(self.words) else ""

    def end(self, at: int) -> int:
        """The character at which the word ends."""
        return self.starts[at] + len(self.raw[at])

    def lead(self, at: int) -> str:
        """The word that governs this one: the word before it, ignoring "the"; "in" inside a list of periods.

        "" inside a title, whose small words are capitalised: A Tale Of Winter.
        """
        at -= 1
        if self.word(at) == "the":
            at -= 1
        word = self.word(at)
        if word == "-" and self.word(at - 1) in {"early", "mid", "late"}:
            return self.word(at - 1)
        if word in CONNECTORS and self.listed_at in {at, at - 1 if self.word(at - 1) == "," else at}:
            return "in"
        if at > 0 and len(word) > 1 and self.is_capital(at) and not self.raw[at].isupper():
            return ""
        return word

    def skip_the(self, at: int) -> int:
        """The position after "the", if it is here."""
        return at + 1 if self.word(at) == "the" else at

    def is_capital(self, at: int) -> bool:
        """Whether the word is capitalised though no sentence begins here."""
        return self.raw[at][0].isupper() and self.word(at - 1) not in {"", ".", "?", "!"}

    def is_possessive(self, at: int) -> bool:
        """Whether the word is written with 's."""
        return len(self.raw[at]) > len(self.words[at])

    def ends_clause(self, at: int) -> bool:
        """Whether there is no word here, only punctuation or the end."""
        word = self.word(at)
        return not word or not word[0].isalnum()

    def ends_phrase(self, at: int) -> bool:
        """Whether a noun phrase is over here: the clause ends, or a word of grammar follows."""
        return self.ends_clause(at) or self.word(at) in FUNCTION_WORDS or self.word(at) in DAY_PARTS

    def joined(self, at: int, mark: str) -> bool:
        """Whether the mark directly joins the words before and after it, as in 7/22."""
        if self.word(at) != mark or not 0 < at < len(self.words) - 1:
            return False
        return self.end(at - 1) == self.starts[at] and self.end(at) == self.starts[at + 1]

    def whole(self, at: int) -> int | None:
        """The whole number here (8, 8th), up to four digits."""
        word = self.word(at)
        digits = word[:-2] if word[-2:] in {"st", "nd", "rd", "th"} else word
        return int(digits) if 0 < len(digits) <= 4 and digits.isdecimal() and digits.isascii() else None

    def day_number(self, at: int) -> int | None:
        """The number of a day of a month here: 3, 3rd, third."""
        number = ORDINAL_WORDS.get(self.word(at)) or self.whole(at)
        return number if number is not None and 1 <= number <= 31 else None

    def is_ordinal(self, at: int) -> bool:
        """Whether the number here is an ordinal: 3rd, third."""
        word = self.word(at)
        return word in ORDINAL_WORDS or (word[:1].isdigit() and word[-2:] in {"st", "nd", "rd", "th"})

    def year(self, at: int) -> int | None:
        """The year here."""
        number = self.whole(at) if len(self.word(at)) == 4 else None
        return number if number is not None and number in YEARS else None


def _plain_form(token: str) -> str:
    word = token.lower().replace("’", "'")
    return word[:-2] if word.endswith("'s") else word


def read_amount(reader: TimeReader, at: int) -> tuple[float, float, int] | None:
    """(least, most, next word) of "3", "three", "a", "a couple of", "a few", "half a", "two and a half"."""
    word = reader.word(at)
    if word in {"a", "an"} and (following := reader.word(at + 1)) in VAGUE:
        at, word = at + 1, following
    if word in VAGUE:
        return *VAGUE[word], at + 2 if reader.word(at + 1) == "of" else at + 1
    if word == "half":
        return (0.5, 0.5, at + 2) if reader.word(at + 1) in {"a", "an"} else None
    if word in {"a", "an"}:
        return 1.0, 1.0, at + 1
    value = NUMBERS.get(word)
    if value is None:
        if not word[:1].isdigit() or len(word) > 6 or not word.replace(".", "", 1).isdecimal():
            return None
        value = float(word)
    if reader.words[at + 1 : at + 4] == ["and", "a", "half"]:
        return value + 0.5, value + 0.5, at + 4
    return value, value, at + 1
