"""WhatsApp: the text of an exported chat, alone or in its zip. Lines look different from phone to phone."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from weft.errors import StoreError
from weft.transcripts.bundles import Bundle, is_zip
from weft.transcripts.entries import (
    MAX_TITLE_CHARACTERS,
    MAX_TURN_CHARACTERS,
    MEDIA,
    NOTICE,
    Bad,
    Entries,
    Entry,
    Left,
    Noted,
    Titled,
    name,
)
from weft.transcripts.json_stream import UNREADABLE
from weft.transcripts.stamps import CLOCK, UTC_TAKEN, clock_of, instant_of
from weft.transcripts.text_lines import pieces
from weft.transcripts.told_apart import session_of, told_apart, turn_of

DELETED: Final = "a message that was deleted"
MAX_WORDS: Final = 10  # told apart
AMBIGUOUS: Final = "its dates can be read in two ways, and nothing in the file decides: the day was taken first"
BY_ORDER: Final = "its dates can be read in two ways: {} first, as only so the chat goes forward in time"
MIXED: Final = "its dates have the day first in some lines and the month first in others: each was read as it can be"
_UNSEEN: Final = "\u200e\u200f\u202a\u202b\u202c\u202d\ufeff"  # marks of direction
_HEAD: Final = re.compile(
    rf"[{_UNSEEN}]{{0,4}}(?P<open>\[?)(?P<a>\d{{1,4}})(?P<sep>[/.\-])(?P<b>\d{{1,2}})(?P=sep)(?P<c>\d{{2,4}})"
    rf",?\s{{1,3}}(?:(?P<before>[^\W\d_]{{1,5}}\.?)\s?)?{CLOCK}"
    r"(?:\s?(?P<after>[^\W\d_]{1,9}\.?(?:\s?[^\W\d_]{1,5}\.?)?))?(?P<close>\](?:\s|$)|\s[-–—]\s)"
)
# Words for the halves of the day beside AM and PM, without dots; and words that say no more than "at".
_MORNING: Final = frozenset(
    ["上午", "凌晨", "早上", "清晨", "午前", "오전", "vorm", "πμ", "sa", "pg", "öö", "de", "ص", "قظ"]
)
_LATER: Final = frozenset(["下午", "中午", "晚上", "午後", "오후", "nachm", "μμ", "ch", "ptg", "ös", "du", "م", "بظ"])
_AT: Final = frozenset(["à", "at", "um", "kl", "klo", "om", "às", "alle"])
_NAME: Final = re.compile(rf"[{_UNSEEN}~\s]{{0,6}}(?P<name>[^:\n]{{1,80}}):(?:\s|$)")
# What programs write for somebody, in English; in other languages these are kept as words.
_MEDIA: Final = re.compile(
    rf"[{_UNSEEN}\s]{{0,4}}(?:<Media omitted>|<attached: [^<>]{{1,200}}>"
    r"|(?:image|video|audio|sticker|GIF|document|Contact card) omitted|[^\n]{1,120} \(file attached\))\s*"
)
_DELETED: Final = re.compile(rf"[{_UNSEEN}\s]{{0,4}}(?:This message was deleted|You deleted this message)\.?\s*")
_NOTICES: Final = ("Messages and calls are end-to-end encrypted", "Messages to this chat and calls are now secured")


class Head(NamedTuple):
    """The beginning of a line with a date: its three numbers, its time, and where the rest begins.

    `word` stands beside the time and is not known: whether it is before or after noon cannot be told.
    """

    numbers: tuple[int, int, int]
    dotted: bool
    clock: tuple[int, int, int]
    begins: int
    word: str = ""

    @property
    def stamp(self) -> str:
        """The same moment is always written so, whatever is found out about its day and its month."""
        return " ".join(map(str, (*self.numbers, *self.clock, self.word))).strip()


def read(path: Path, start: int = 0) -> Entries:
    """Every message; lines without a date go on with the message before them. Notices of the program are left out."""
    return told_apart(_entries(path))


def head_of(line: str) -> Head | None:
    """The date that a line begins with, if it does."""
    found = _HEAD.match(line[:120])
    if found is None or (found["open"] == "[") != found["close"].startswith("]"):
        return None
    clock, digits = clock_of(found), (len(found["a"]), len(found["c"]))
    if clock is None or 3 in digits or (digits[0] == 4 and digits[1] > 2):
        return None
    numbers = (int(found["a"]), int(found["b"]), int(found["c"]))
    said = [(found[each] or "").lower().replace(".", "").replace(" ", "") for each in ("before", "after")]
    hour, unknown = clock[0], ""
    for word in filter(None, said):
        if word in _LATER and hour <= 12:
            hour = hour % 12 + 12
        elif word in _MORNING and hour <= 12:
            hour %= 12
        elif word not in _LATER | _MORNING | _AT:
            unknown = word
    return Head(numbers, found["sep"] == ".", (hour, *clock[1:]), found.end(), unknown)


def _speaker(line: str, start: int) -> re.Match[str] | None:
    """Who writes, up to the colon; None in a notice. A colon inside of quotation marks is of a title."""
    found = _NAME.match(line, start)
    if found is None or found["name"].count('"') % 2:
        return None
    quoted = any(found["name"].rfind(opens) > found["name"].rfind(ends) for opens, ends in ("“”", "„“", "«»"))
    return None if quoted else found


def is_chat(path: Path, member: str = "") -> bool:
    """Whether two of a file's first lines begin as messages do."""
    heads = 0
    for number, (begins, piece) in enumerate(pieces(path, member)):
        head = head_of(piece) if begins else None
        if head is not None and (head.numbers[0] <= 31 or "," in piece[: head.begins]):
            heads += _speaker(piece, head.begins) is not None
        if heads >= 2 or number > 50:
            break
    return heads >= 2


def text_in(path: Path) -> str | None:
    """The chat's text in a zip; empty for a file that is none, None for a zip without it."""
    if not is_zip(path):
        return ""
    with Bundle(path) as bundle:
        texts = [each for each in bundle.names if each.endswith(".txt")]
        return next((each for each in texts if each.endswith("_chat.txt")), texts[0] if len(texts) == 1 else None)


def _entries(path: Path) -> Iterator[Entry]:
    session = session_of(path)
    try:
        member = text_in(path)
        if member is None:
            yield Bad(where="the zip", reason="there is no text of a chat in it")
            return
        order = _Order(head for begins, piece in pieces(path, member) if begins and (head := head_of(piece)))
        if order.note:
            yield Noted(note=order.note)
        yield Titled(session=session, title=name(path.stem if path.stem != "_chat" else session, MAX_TITLE_CHARACTERS))
        yield from _messages(path, member, session, order)
    except (*UNREADABLE, StoreError) as problem:
        yield Bad(where="the file", reason=f"it cannot be read on: {problem!s:.120}")


def _messages(path: Path, member: str, session: str, order: _Order) -> Iterator[Entry]:
    message: _Message | None = None
    held: list[str] = []
    length, dated = 0, False
    unknown: Counter[str] = Counter()
    for begins, piece in pieces(path, member):
        head = head_of(piece) if begins else None
        if head is not None or length > MAX_TURN_CHARACTERS - len(piece):
            yield from _message(session, "".join(held), message)
            held, length = [], 0
        if head is not None:
            found = _speaker(piece, head.begins)
            rest = piece[found.end() if found else head.begins :]
            who = found["name"].strip(_UNSEEN + "~ \u202f\xa0") if found else ""
            notice = found is None or rest.lstrip(_UNSEEN + " ").startswith(_NOTICES)
            message = _Message(who, None if head.word else order.instant(head), notice, head.stamp)
            dated = dated or message.at is not None
            unknown[head.word] += bool(head.word) and not notice
        held.append(piece if head is None else rest)
        length += len(piece)
    yield from _message(session, "".join(held), message)
    if dated:
        yield Noted(note=UTC_TAKEN)
    for word, count in unknown.most_common(MAX_WORDS):
        if count:
            yield Noted(
                note=f"{count} messages have a word beside the time that is not known ({word}): kept without it"
            )


class _Message(NamedTuple):
    who: str
    at: int | None
    notice: bool
    stamp: str


def _message(session: str, text: str, message: _Message | None) -> Iterator[Entry]:
    if message is None:
        if text.strip():
            yield turn_of(session, text)
    elif message.notice:
        yield Left(reason=NOTICE)
    elif _MEDIA.fullmatch(text):
        yield Left(reason=MEDIA)
    elif _DELETED.fullmatch(text):
        yield Left(reason=DELETED)
    else:
        yield turn_of(session, text.strip(_UNSEEN + " \r\n"), who=message.who, at=message.at, stamp=message.stamp)


class _Order:
    """Which of a date's numbers is the day: a number above 12 tells, dots mean day first, else the chat's own order."""

    def __init__(self, heads: Iterator[Head]) -> None:
        days = months = 0
        back = {True: 0, False: 0}
        last: dict[bool, tuple[int, ...]] = {True: (), False: ()}
        undecided = False
        for head in heads:
            a, b, c = head.numbers
            if a > 31 or head.dotted:
                days += 1 if head.dotted and a <= 31 else 0
                continue
            days, months, undecided = days + (a > 12), months + (b > 12), True
            for day_first in (True, False):
                moment = (c, *((b, a) if day_first else (a, b)), *head.clock)
                back[day_first] += moment < last[day_first]
                last[day_first] = moment
        self.day_first, self.note = True, ""
        if days and months:
            self.day_first, self.note = days >= months, MIXED
        elif months:
            self.day_first = False
        elif not days and undecided:
            self.day_first = back[True] <= back[False]
            tied = back[True] == back[False]
            self.note = AMBIGUOUS if tied else BY_ORDER.format("the day" if self.day_first else "the month")

    def instant(self, head: Head) -> int | None:
        """When a message was written; None where its numbers are no date."""
        a, b, c = head.numbers
        if a > 31:
            return instant_of((a, b, c), head.clock)
        year = c + 2000 if c < 100 else c
        day_first = self.day_first or head.dotted
        found = instant_of((year, b, a) if day_first else (year, a, b), head.clock)
        return found if found is not None else instant_of((year, a, b) if day_first else (year, b, a), head.clock)
