"""Properties of a question by its words: whom it asks about, which time, how much, which things."""

from __future__ import annotations

import re

from msgspec import Struct

from weft.text.extract.identifiers import identifiers
from weft.text.extract.quoted import quoted_spans
from weft.text.extract.time.time_words import MONTHS, WEEKDAYS
from weft.text.lexical import STOP_WORDS

MAX_SEGMENTS = 5
MAX_FIRST_LINE_CHARACTERS = 300
REPORT_CHARACTERS = 200
REPORT_LINES = 3


class QuestionTraits(Struct, frozen=True, kw_only=True):
    """Properties of a question. Each flag is a hint for ranking, never a filter.

    `asks_assistant`: about what the assistant said. `asks_advice`: asks for a suggestion, so the asker's preferences
    matter. `segments`: the things it names, if several (2 to 5). `is_report`: long and of several lines, like an issue;
    the flags and segments then come from its first line. `identifiers`: code names.
    """

    asks_assistant: bool
    asks_advice: bool
    is_report: bool
    first_line: str
    segments: tuple[str, ...]
    identifiers: tuple[str, ...]


def read_question(text: str) -> QuestionTraits:
    """Reads a question in time linear in its length. Never raises."""
    stripped = text.strip()
    first_line = stripped.partition("\n")[0].strip()[:MAX_FIRST_LINE_CHARACTERS]
    is_report = _is_report(stripped)
    asked = first_line if is_report else stripped
    low = asked.lower().replace("’", "'")
    asks_assistant = _ASSISTANT.search(low) is not None
    return QuestionTraits(
        asks_assistant=asks_assistant,
        asks_advice=not asks_assistant and _ADVICE.search(low) is not None,
        is_report=is_report,
        first_line=first_line,
        segments=_segments(asked),
        identifiers=identifiers(stripped),
    )


def _is_report(text: str) -> bool:
    if len(text) < REPORT_CHARACTERS:
        return False
    return sum(1 for line in text.split("\n") if line.strip()) >= REPORT_LINES


# ---- flags

_ADVERBS = r"(?:(?:also|already|once|just|previously|earlier|originally|initially|actually|had|have) ){0,2}"
_SAID = (
    r"told|said|mentioned|recommended|suggested|gave|given|provided|listed|wrote|written|described|explained|created|made"
    r"|advised|shared|named|showed|shown|helped|proposed|offered|generated|drafted|outlined|pointed out|came up with"
    r"|called|taught|answered|replied|quoted|cited|referred to|talked about"
)
_SAY = (
    r"tell|say|mention|recommend|suggest|give|provide|list|write|describe|explain|create|make|advise|share|name|show"
    r"|propose|offer|generate|draft|outline|point out|come up with|call|teach|answer|quote|cite|refer to|talk about"
)
_TALK = (
    r"(?:chats?|conversations?|discussions?|talks?|sessions?|exchanges?|messages?|answers?|repl(?:y|ies)|responses?)"
)
_ASSISTANT = re.compile(
    rf"\byou(?:'ve|'d)? {_ADVERBS}(?:{_SAID})\b"
    rf"|\bdid you {_ADVERBS}(?:{_SAY})\b"
    r"|\bremind me\b|\brefresh my memory\b"
    rf"|\b(?:our|the|my|a|that|this) (?:last|previous|earlier|past|prior|recent|other|first) {_TALK}\b|\bour {_TALK}\b"
    r"|\bwe (?:(?:had|have|once|just|also|already|finally|previously|last|both) )?"
    r"(?:talked|discussed|chatted|spoke|spoken|decided|agreed|covered|went over|came up with|settled)\b"
    r"|\byour (?:suggestions?|recommendations?|advice|list|answer|explanation|reply|response|example)\b"
)
_ADVICE = re.compile(
    r"\b(?:recommend|suggest|advise|propose|recommendations?|suggestions?|tips?|ideas?|advice|inspiration|pointers)\b"
    r"|\bshould (?:i|we)\b|\bwhat to\b|\bwhat (?:would|could|might) (?:i|be)\b|\bhow (?:can|could|might) (?:i|we)\b"
    r"|\bhelp me (?:choose|pick|decide|find|plan|with)\b|\byou think\b"
    r"|(?:^|[.!?;,:] ?)any(?:thing|one|where)? [^.?!\n]{1,120}\?"
)


# ---- segments

_SENTENCE = re.compile(r"(?<=[.?!])\s+|\n")
_JOINT = re.compile(
    r"\b(?:or|and|before|after|than|versus|vs|compared (?:to|with)|between|when|while|since|instead of|as well as)\b"
)  # lower case only: "And" is part of a title
_LIST_MARK = re.compile(r"[,;:](?=\s)")
_CONTENT = re.compile(r"[^\W_]+")
# Words of a question's frame, which name no thing.
_FRAME_TEXT = """
ago amount average came combined come day days difference different earlier earliest first happen happened hour hours
end last late later latest less long many minute minutes month months more most much newer now number often older order
pass passed past remind start sum take tell time times today total week weeks wondering year years yesterday younger
"""
_FRAME = STOP_WORDS.union(_FRAME_TEXT.split(), MONTHS, WEEKDAYS)


def _segments(text: str) -> tuple[str, ...]:
    quoted = dict.fromkeys(text[start:stop].strip() for start, stop in quoted_spans(text))
    named = [part for part in quoted if _has_content(part)]
    if len(named) > 1:
        return tuple(named[:MAX_SEGMENTS])
    for sentence in _SENTENCE.split(text):
        if len(parts := _sides(sentence)) > 1:
            return tuple(parts[:MAX_SEGMENTS])
    return ()


def _sides(sentence: str) -> list[str]:
    """The parts of a sentence around its conjunctions.

    The words before "between", a colon or a choice ("first, A or B") are the frame of the question and left out; before
    an "and" they may hold the first thing.
    """
    joints = list(_JOINT.finditer(sentence))
    if not joints:
        return []
    marks = list(_LIST_MARK.finditer(sentence))
    between = next((joint.end() for joint in joints if joint[0] == "between"), 0)
    is_choice = any(joint[0] == "or" for joint in joints)
    frame_end = between or next((mark.end() for mark in marks if is_choice or mark[0] == ":"), 0)
    cuts = sorted(match.span() for match in (*joints, *marks))
    after_frame = _cut(sentence, [cut for cut in cuts if cut[0] >= frame_end], frame_end)
    return after_frame if len(after_frame) > 1 or not frame_end else _cut(sentence, cuts, 0)


def _cut(sentence: str, cuts: list[tuple[int, int]], at: int) -> list[str]:
    parts = []
    for start, stop in (*cuts, (len(sentence), len(sentence))):
        part = sentence[at:start].strip(" \t,;:.?!")
        if part and _has_content(part):
            parts.append(part)
            if len(parts) == MAX_SEGMENTS:
                break
        at = stop
    return parts


def _has_content(part: str) -> bool:
    return any(word.lower() not in _FRAME for word in _CONTENT.findall(part))
