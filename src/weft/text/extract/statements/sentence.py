"""A sentence prepared for fact rules: its names and dates by position, and its subject."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import Final

from weft.text.extract.findings import FoundDate, FoundFact, FoundName, Span

_ADVERBS = (
    r"(?: (?:also|currently|now|still|just|actually|really|recently|originally|later|then|first|both|always|already"
    r"|finally|permanently|presently|once|soon|eventually|mostly|briefly|again|either|temporarily|proudly"
    r"|happily)){0,2}"
)
_VERBS = r"(?:(?:['’](?:m|ve|re|s))|(?: (?:am|is|are|was|were|have|has|had|been|being|do|did|got|get)))*"
_FIRST = re.compile(rf"\b(?P<who>I|[Ww]e)(?:{_VERBS}{_ADVERBS}){{1,2}}$")
_PRONOUN = re.compile(rf"\b(?P<who>[Hh]e|[Ss]he|[Ii]t|[Tt]hey)(?:{_VERBS}{_ADVERBS}){{1,2}}$")
_NAME_GAP = re.compile(
    rf"\s?(?:\([^)]{{0,160}}\)\s?)?(?:,? (?:who|which|that),?)?(?:, [^,]{{2,60}},)?(?:{_VERBS}{_ADVERBS}){{1,2}},?"
)
_NOUN = re.compile(
    rf"(?:.*(?:[,;:.] |\b(?:and|but|that|because|so) ))?(?P<article>(?:[Tt]he|[Aa]n?) )?(?P<who>(?:(?:[Mm]y|[Oo]ur"
    rf"|[Tt]his|[Hh]is|[Hh]er"
    rf"|[Ii]ts|[Tt]heir) )?(?:[a-z][\w'-]* ){{0,3}}[a-z][\w'-]+)(?:{_VERBS}{_ADVERBS}){{1,2}}$"
)
_NO_SUBJECT_TEXT = """
he she it they we i you there who which that this these those what where when and but or so not if because as in on at
to of for with from by is was are were been being itself himself herself has have had be then also one first later now
once still
"""
_NO_SUBJECTS: Final = frozenset(_NO_SUBJECT_TEXT.split())
_RANK = re.compile(
    r"(?:the )?(?:(?:[A-Z]\w+ )?(?:Dr|Mr|Mrs|Ms|Prof|St)\. |(?:King|Queen|Prince|Princess|President|Sir|Lady|Lord"
    r"|Count|Countess"
    r"|Duke|Duchess|Emperor|Empress|Pope|Professor|Captain|General|actor|actress|singer|director|politician|producer"
    r"|writer|author|fellow \w+|film director|musician|painter|businessman) )?",
)
_OPENING = re.compile(r"\W*(?P<who>I|We|He|She|It|They)\b")
_AND = re.compile(r"\band(?: (?:was|were|is|are|has|had|later|then|also|now|currently|subsequently|eventually))*$")
_WHO = re.compile(
    r"\b(?:is|was) an? [^,.;]{2,80} (?:who|that|which)(?: (?:is|was|also|has))*$"
)  # … was a painter who was
MAX_NOUN_WORDS: Final = 6
_NOUN_END = re.compile(
    r"[.,;:!?()\[\]—–\n\"”]| - | (?:because|since|so|but|when|while|which|who|whom|whose|although|though|after|before"
    r"|if|as"
    r"|and|where|until|now|right|for|with|that|to|from|during|too|during|currently|at the moment|anymore|full-time"
    r"|part-time|these days|in|on|at|by|is|was|has)\b",
)


class ParsedSentence:
    """A sentence with its names, dates and speaker."""

    __slots__ = ("_name_starts", "dates", "names", "sentence", "speaker")

    def __init__(self, sentence: str, names: Sequence[FoundName], dates: Sequence[FoundDate], speaker: str) -> None:
        self.sentence, self.names, self.dates, self.speaker = sentence, names, dates, speaker
        self._name_starts = [name.span[0] for name in names]

    def name_at(self, at: int) -> FoundName | None:
        """The name that begins here, after "the" and a rank."""
        for start in (at, rank.end() if (rank := _RANK.match(self.sentence, at)) else at, self._past_the(at)):
            index = bisect_left(self._name_starts, start)
            if index < len(self.names) and self.names[index].span[0] == start:
                return self.names[index]
        return None

    def _past_the(self, at: int) -> int:
        return at + 4 if self.sentence.startswith("the ", at) else at

    def place_at(self, at: int) -> Span | None:
        """The place named here, with the larger places after its commas."""
        name = self.name_at(at)
        if name is None:
            return None
        start, stop = name.span
        while self.sentence.startswith(", ", stop):
            index = bisect_left(self._name_starts, stop + 2)
            if index == len(self.names) or self.names[index].span[0] != stop + 2:
                break
            following = self.names[index].span
            if self.sentence.startswith((" and", ", and", " is", " was", "'s"), following[1]) and stop > name.span[1]:
                break
            stop = following[1]
        return (start, stop)

    def date_at(self, at: int) -> FoundDate | None:
        """The date that begins here, after "on", "in" or "the"."""
        past = re.compile(r"\s?(?:on |in )?(?:the )?(?:early |late |mid-)?").match(self.sentence, at)
        end = past.end() if past else at
        return next((date for date in self.dates if at <= date.span[0] <= end), None)

    def noun_at(self, at: int) -> Span | None:
        """The noun phrase from here without an article; None if it is too long."""
        if self.sentence.startswith(("a ", "an ", "the "), at):
            at = self.sentence.index(" ", at) + 1
        end = _NOUN_END.search(self.sentence, at)
        stop = end.start() if end else len(self.sentence)
        text = self.sentence[at:stop].rstrip()
        words = text.split()
        if not words or len(words) > MAX_NOUN_WORDS or words[0].lower() in _NO_SUBJECTS:
            return None
        return (at, at + len(text))

    def subject_before(self, at: int) -> Span | None:
        """The subject of the verb at this position: first person, a name, a noun or a pronoun.

        None if it cannot be determined; a pronoun counts only if at most one name precedes it.
        """
        before = self.sentence[:at].rstrip()
        tail = before[-160:]
        shift = len(before) - len(tail)
        if first := _FIRST.search(tail):
            return (shift + first.start("who"), shift + first.end("who"))
        for name in reversed(self.names):
            stop = name.span[1]
            if stop <= at:
                if at - stop <= 200 and _NAME_GAP.fullmatch(self.sentence[stop : len(before)]):
                    return self._whole_subject(name)
                break
        if pronoun := _PRONOUN.search(tail):
            named = [name for name in self.names if name.span[1] < at]
            if len(named) > 1:
                return None
            return named[0].span if named else (shift + pronoun.start("who"), shift + pronoun.end("who"))
        if (_AND.search(tail) and "," not in tail[-30:]) or _WHO.search(tail):
            return self.main_subject()
        if noun := _NOUN.match(tail):
            words = noun["who"].lower().split()
            if not _NO_SUBJECTS.intersection(words):
                return (shift + noun.start("who"), shift + noun.end("who"))
        return None

    def _whole_subject(self, name: FoundName) -> Span | None:
        """None for a name inside a phrase ("the mother of Ada"), which is not the subject."""
        before = self.sentence[: name.span[0]].rstrip().removesuffix(" the")
        last = before.rpartition(" ")[2].lower()
        if last in {
            "of",
            "in",
            "at",
            "from",
            "to",
            "with",
            "for",
            "by",
            "and",
            "or",
            "on",
            "near",
            "than",
            "like",
            "&",
            "across",
            "along",
            "over",
        }:
            return None
        return name.span

    def main_subject(self) -> Span | None:
        """The pronoun or name at the beginning of the sentence."""
        if opening := _OPENING.match(self.sentence):
            return opening.span("who")
        first = self.names[0].span if self.names else None
        return first if first and self.sentence[: first[0]].strip('"“ ') in {"", "The"} else None

    def fact(
        self,
        subject: Span,
        predicate: str,
        found: Span,
        confidence: float,
        *,
        past: bool = False,
        single: bool = False,
    ) -> FoundFact:
        """A fact about a subject; first person is the speaker."""
        who = self.sentence[slice(*subject)]
        named = self.speaker if who in {"I", "We", "we", "My", "my", "Our", "our", "me", "I'm"} else who
        return FoundFact(
            subject=named,
            predicate=predicate,
            object=self.sentence[slice(*found)],
            subject_span=subject,
            object_span=found,
            confidence=confidence,
            past=past,
            single=single,
        )
