"""Extraction without a model: names, dates, quantities, addresses, facts, preferences and causes.

One pass over the sentences; each class runs only if a cheap test finds a hint. Questions, suppositions, denials and
jokes give no facts: a missing fact is better than a wrong one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from msgspec.structs import replace

from weft.text.extract.addresses import marks
from weft.text.extract.assertion import asserts
from weft.text.extract.findings import (
    Extraction,
    FoundCause,
    FoundDate,
    FoundFact,
    FoundMark,
    FoundName,
    FoundPreference,
    FoundQuantity,
    Span,
    moved_span,
)
from weft.text.extract.names.mentioned_names import MAX_NAMES, mentioned_names
from weft.text.extract.quantities import quantities
from weft.text.extract.statements.causes import causes, refers_back
from weft.text.extract.statements.facts import statements
from weft.text.extract.statements.preferences import preferences
from weft.text.extract.time.mentioned_dates import mentioned_dates
from weft.text.sentences import sentence_spans

VERSION: Final = "rules/1"
MAX_READ_CHARACTERS: Final = 200_000  # of one text; the rest is not read
MAX_SENTENCE_CHARACTERS: Final = 1_000  # a longer one is read in pieces, without facts, preferences and causes
MAX_FOUND: Final = 256  # of each class except names, per text
MIN_CAUSE_BLANKS: Final = 2  # a shorter sentence ("Yeah!") is not a cause
SPEAKER: Final = "I"
_LABEL = re.compile(r"(?P<name>[^\W\d_][\w.'’-]{0,30}(?: [^\W\d_][\w.'’-]{0,30}){0,2}): (?=\S)")
_ROLES: Final = frozenset(["user", "assistant", "human", "ai", "system", "agent", "bot", "tool"])

_MACHINES: Final = frozenset(["assistant", "ai", "system", "bot", "tool"])


def extract(text: str, *, at: int | None, speaker: str | None = None) -> Extraction:
    """Everything found in a text. Never raises; linear in its length, of which MAX_READ_CHARACTERS are read.

    Relative dates are resolved against `at`, and left out without it. First person is `speaker`, or "I" if neither
    `speaker` nor a label at the start of the text names one.
    """
    text = text[:MAX_READ_CHARACTERS]
    gathered = _Gathered(at, speaker)
    for start, stop in _sentences(text):
        gathered.read(text, start, stop)
    return gathered.done()


class _Gathered:
    """The findings so far."""

    def __init__(self, at: int | None, speaker: str | None) -> None:
        self.at, self.speaker = at, speaker or SPEAKER
        self.names: list[FoundName] = []
        self.dates: list[FoundDate] = []
        self.quantities: list[FoundQuantity] = []
        self.marks: list[FoundMark] = []
        self.facts: list[FoundFact] = []
        self.preferences: list[FoundPreference] = []
        self.causes: list[FoundCause] = []
        self.before: Span | None = None  # the sentence before, if it is a statement

    def read(self, text: str, start: int, stop: int) -> None:
        sentence = text[start:stop]
        if label := _label_of(text, sentence, start, self.speaker):
            self.speaker = label[0] or self.speaker
            sentence, start = sentence[label[1] :], start + label[1]
        found_marks = marks(sentence)
        taken = [mark.span for mark in found_marks]
        dates = mentioned_dates(sentence, self.at)
        names = mentioned_names(sentence, [*taken, *(date.span for date in dates)], self.speaker)
        taken += [*(date.span for date in dates), *(name.span for name in names)]
        self.marks += _shifted(found_marks, start)
        self.dates += _shifted(dates, start)
        self.names += _shifted(names, start)
        if _HAS_NUMBER.search(sentence):
            self.quantities += _shifted(quantities(sentence, taken), start)
        is_statement = stop - start <= MAX_SENTENCE_CHARACTERS and asserts(sentence)
        if is_statement:
            self._add_statements(sentence, start, names, dates)
        self.before = (start, stop) if is_statement and sentence.count(" ") >= MIN_CAUSE_BLANKS else None

    def _add_statements(
        self, sentence: str, start: int, names: Sequence[FoundName], dates: Sequence[FoundDate]
    ) -> None:
        for fact in statements(sentence, names, dates, self.speaker):
            if self.speaker in _MACHINES and fact.subject == self.speaker:
                continue
            moved = replace(
                fact,
                subject_span=moved_span(fact.subject_span, start),
                object_span=moved_span(fact.object_span, start),
            )
            self.facts.append(moved)
        if self.speaker not in _MACHINES:  # a model has no preferences
            for each in preferences(sentence, names, self.speaker):
                moved_holder = moved_span(each.holder_span, start)
                self.preferences.append(replace(each, span=moved_span(each.span, start), holder_span=moved_holder))
        effect = refers_back(sentence)
        if effect is not None and self.before is not None:
            self.causes.append(FoundCause(cause=self.before, effect=moved_span(effect, start), confidence=0.8))
        else:
            for cause in causes(sentence):
                moved_cause = replace(
                    cause, cause=moved_span(cause.cause, start), effect=moved_span(cause.effect, start)
                )
                self.causes.append(moved_cause)

    def done(self) -> Extraction:
        return Extraction(
            names=tuple(self.names[:MAX_NAMES]),
            dates=tuple(self.dates[:MAX_FOUND]),
            quantities=tuple(self.quantities[:MAX_FOUND]),
            marks=tuple(self.marks[:MAX_FOUND]),
            facts=tuple(self.facts[:MAX_FOUND]),
            preferences=tuple(self.preferences[:MAX_FOUND]),
            causes=tuple(self.causes[:MAX_FOUND]),
            version=VERSION,
        )


_HAS_NUMBER = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|twenty|thirty|forty|fifty|sixty"
    r"|seventy|eighty|ninety|hundred|thousand|million|dozen|couple)\b",
    re.IGNORECASE,
)


def _sentences(text: str) -> Iterator[Span]:
    """Sentences line by line; overlong ones in pieces cut at spaces."""
    at = 0
    for line in text.split("\n"):
        for start, stop in sentence_spans(line):
            yield from _pieces(text, at + start, at + stop)
        at += len(line) + 1


def _pieces(text: str, start: int, stop: int) -> Iterator[Span]:
    while stop - start > 2 * MAX_SENTENCE_CHARACTERS:
        cut = text.rfind(" ", start + MAX_SENTENCE_CHARACTERS, start + 2 * MAX_SENTENCE_CHARACTERS)
        cut = cut if cut > 0 else start + 2 * MAX_SENTENCE_CHARACTERS
        yield start, cut
        start = cut
    yield start, stop


def _label_of(text: str, sentence: str, start: int, speaker: str) -> tuple[str, int] | None:
    """The speaker and the length of a label at the beginning of a line: "Ada: ", "user: "."""
    if ": " not in sentence[:100] or (start and text[start - 1] != "\n"):
        return None
    match = _LABEL.match(sentence)
    if match is None:
        return None
    name = match["name"]
    if name.lower() in _ROLES:
        return name.lower(), match.end()
    if name == speaker or (start == 0 and name.istitle() and len(name.split()) <= 2):
        return name, match.end()
    return None


def _shifted(found: Sequence[Any], by: int) -> list[Any]:
    """The findings with spans moved by an offset."""
    return [replace(each, span=moved_span(each.span, by)) for each in found] if by else list(found)
