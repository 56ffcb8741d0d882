"""Splits a transcript into turns: speaker, words and position.

A speaker line is `Mira: words` or `user: words`. A plain role (user, assistant, …) adds nothing to a search, so the
words of its turns are kept alone; a name is kept in front of the words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

PLAIN_ROLES: Final = frozenset({"user", "assistant", "human", "ai", "system", "tool"})
MAX_LABEL_CHARACTERS: Final = 40
MAX_TURNS: Final = 10_000

# Words before a colon at the start of a paragraph that are not names.
NOT_SPEAKERS: Final = frozenset(
    {
        "answer",
        "caution",
        "conclusion",
        "danger",
        "disclaimer",
        "edit",
        "example",
        "examples",
        "fix",
        "hint",
        "idea",
        "important",
        "info",
        "note",
        "notes",
        "option",
        "ps",
        "question",
        "questions",
        "reason",
        "reminder",
        "result",
        "results",
        "solution",
        "step",
        "steps",
        "summary",
        "tip",
        "tips",
        "title",
        "todo",
        "update",
        "usage",
        "warning",
    }
)
_LABEL = re.compile(
    r"(?P<bold>\*\*)?(?P<label>[^\W\d_][\w.'’-]*(?: [\w.'’()-]+){0,3})(?(bold)(?:\*\*:|:\*\*)|:)(?=\s|$)[^\S\n]*"
)
_PARAGRAPH = re.compile(r"\A|\n[^\S\n]*\n+(?=[^\S\n]*\S)")
_LINE = re.compile(r"\A|\n")
_SPACES = re.compile(r"\s*")


class TranscriptTurn(Struct, frozen=True, kw_only=True):
    """One turn. `speaker` is a name, `role` a plain role; both are empty if unknown.

    `text` is what is stored: the words, with a named speaker in front. Its source is `[start, end)` of the whole text.
    """

    text: str
    start: int
    end: int
    speaker: str = ""
    role: str = ""


class SpokenText(Struct, frozen=True, kw_only=True):
    """A text whose speaker line has been parsed."""

    text: str
    speaker: str = ""
    role: str = ""


def read_speaker(text: str) -> SpokenText:
    """The speaker of a text that may begin with a speaker line; an empty text if the speaker says nothing."""
    label, begins = _label_at(text, 0)
    words = text[begins:].strip()
    if label.lower() in PLAIN_ROLES:
        return SpokenText(text=words, role=label.lower())
    return SpokenText(text=text if words else "", speaker=label)


def spoken_by(who: str, words: str) -> SpokenText:
    """Words of a speaker given separately, in the form of `read_speaker`."""
    who = " ".join(who.split())
    if _label_at(words, 0)[0].lower() == who.lower():
        return read_speaker(words)
    if who.lower() in PLAIN_ROLES:
        return SpokenText(text=words, role=who.lower())
    return SpokenText(text=f"{who}: {words}" if words.strip() else "", speaker=who)


def split_at(text: str, offsets: Sequence[int]) -> tuple[TranscriptTurn, ...]:
    """Turns that begin at given offsets (characters from 0); blank ones are left out.

    Raises ValueError with the reason for offsets that are negative, not rising, past the end or too many.
    """
    if len(offsets) > MAX_TURNS:
        raise ValueError(f"more than {MAX_TURNS:,} turn offsets")
    before = -1
    for offset in offsets:
        if isinstance(offset, bool) or not isinstance(offset, int):
            raise ValueError(f"a turn offset is not a whole number: {offset!r:.40}")
        if not 0 <= offset <= len(text):
            raise ValueError(f"the turn offset {offset!r:.40} is outside the text of {len(text)} characters")
        if offset <= before:
            raise ValueError(f"the turn offset {offset} does not come after {before}")
        before = offset
    starts = list(offsets) if offsets and offsets[0] == 0 else [0, *offsets]
    return _turns(text, starts)


def split_transcript(text: str) -> tuple[TranscriptTurn, ...]:
    """The turns of a text that looks like a transcript; none for any other text.

    It begins with a speaker line, and turns begin at paragraphs that do. With plain roles two turns are enough, and
    only plain roles begin turns, also line by line. With names there must be two, one of them speaking twice: `Note: …`
    and `Warning: …` are not a conversation.
    """
    first, _ = _label_at(text, _skip_spaces(text, 0))
    if not first:
        return ()
    plain = first.lower() in PLAIN_ROLES
    for breaks in (_PARAGRAPH, _LINE) if plain else (_PARAGRAPH,):
        starts = []
        labels = []
        for match in breaks.finditer(text):
            label, _ = _label_at(text, _skip_spaces(text, match.end()))
            if label and (not plain or label.lower() in PLAIN_ROLES):
                starts.append(match.end())
                labels.append(label.lower())
        if len(starts) > MAX_TURNS:
            return ()
        if len(labels) >= 2 and (plain or 2 <= len(set(labels)) < len(labels)):
            return _turns(text, starts)
    return ()


def _turns(text: str, starts: Sequence[int]) -> tuple[TranscriptTurn, ...]:
    turns = []
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        words = text[start:end].strip()
        spoken = read_speaker(words)
        if spoken.text:
            first = start + text[start:end].index(words)
            turns.append(
                TranscriptTurn(
                    text=spoken.text, start=first, end=first + len(words), speaker=spoken.speaker, role=spoken.role
                )
            )
    return tuple(turns)


def _skip_spaces(text: str, at: int) -> int:
    found = _SPACES.match(text, at)
    return found.end() if found else at


def _label_at(text: str, at: int) -> tuple[str, int]:
    """(label, start of the words) of a speaker line at this position; ("", at) if there is none.

    One word, or up to four of which none begins in lower case: `Here is what I want: tea` names nobody.
    """
    match = _LABEL.match(text, at, at + MAX_LABEL_CHARACTERS + 8)
    label = match["label"] if match else ""
    words = label.split(" ")
    if not match or len(label) > MAX_LABEL_CHARACTERS or label.lower() in NOT_SPEAKERS:
        return "", at
    if words[0].lower() in NOT_SPEAKERS or (len(words) > 1 and any(word[0].islower() for word in words)):
        return "", at
    return label, match.end()
