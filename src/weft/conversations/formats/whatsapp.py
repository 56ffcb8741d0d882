"""WhatsApp: the text of an exported chat, alone or in its zip. Dates differ from phone to phone."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from weft.conversations.formats.entries import (
    MAX_TITLE_CHARACTERS,
    MAX_TURN_CHARACTERS,
    MEDIA,
    NOTICE,
    ConversationTitle,
    Entries,
    Entry,
    Omitted,
    ReaderNote,
    Unreadable,
    as_label,
    session_of,
    turn_of,
    with_unique_ids,
)
from weft.conversations.formats.files import Bundle, is_zip, read_errors, text_pieces
from weft.conversations.formats.times import CLOCK, UTC_ASSUMED, clock_of, instant_of
from weft.core.errors import StoreError

DELETED: Final = "a message that was deleted"
MAX_UNKNOWN_WORDS: Final = 10  # unknown words beside times that are reported
AMBIGUOUS: Final = "the dates are ambiguous, and nothing in the file decides: read with the day first"
BY_ORDER: Final = "the dates are ambiguous: read with {} first, which puts the messages in order of time"
MIXED: Final = "some dates have the day first and some the month first: each is read the way that is valid"
_DIRECTION_MARKS: Final = "\u200e\u200f\u202a\u202b\u202c\u202d\ufeff"  # marks of direction
_HEAD: Final = re.compile(
    rf"[{_DIRECTION_MARKS}]{{0,4}}(?P<open>\[?)(?P<a>\d{{1,4}})(?P<sep>[/.\-])(?P<b>\d{{1,2}})(?P=sep)(?P<c>\d{{2,4}})"
    rf",?\s{{1,3}}(?:(?P<before>[^\W\d_]{{1,5}}\.?)\s?)?{CLOCK}"
    r"(?:\s?(?P<after>[^\W\d_]{1,9}\.?(?:\s?[^\W\d_]{1,5}\.?)?))?(?P<close>\](?:\s|$)|\s[-–—]\s)"
)
# Words for before and after noon beside AM and PM, without dots; and words that mean "at".
_MORNING: Final = frozenset(
    ["上午", "凌晨", "早上", "清晨", "午前", "오전", "vorm", "πμ", "sa", "pg", "öö", "de", "ص", "قظ"]
)
_AFTERNOON: Final = frozenset(
    ["下午", "中午", "晚上", "午後", "오후", "nachm", "μμ", "ch", "ptg", "ös", "du", "م", "بظ"]
)
_AT: Final = frozenset(["à", "at", "um", "kl", "klo", "om", "às", "alle"])
_NAME: Final = re.compile(rf"[{_DIRECTION_MARKS}~\s]{{0,6}}(?P<name>[^:\n]{{1,80}}):(?:\s|$)")
# Placeholders of the program in English; in other languages they are imported as words.
_MEDIA: Final = re.compile(
    rf"[{_DIRECTION_MARKS}\s]{{0,4}}(?:<Media omitted>|<attached: [^<>]{{1,200}}>"
    r"|(?:image|video|audio|sticker|GIF|document|Contact card) omitted|[^\n]{1,120} \(file attached\))\s*"
)
_DELETED: Final = re.compile(
    rf"[{_DIRECTION_MARKS}\s]{{0,4}}(?:This message was deleted|You deleted this message)\.?\s*"
)
_NOTICES: Final = ("Messages and calls are end-to-end encrypted", "Messages to this chat and calls are now secured")


class MessageHead(NamedTuple):
    """The date at the beginning of a message: its three numbers, its time, and the column at which the rest begins.

    `word` is an unknown word beside the time: whether it means before or after noon is not known.
    """

    numbers: tuple[int, int, int]
    dotted: bool
    clock: tuple[int, int, int]
    begins: int
    word: str = ""

    @property
    def stamp(self) -> str:
        """The date as written, independent of how its day and month are read."""
        return " ".join(map(str, (*self.numbers, *self.clock, self.word))).strip()


def read(path: Path, start: int = 0) -> Entries:
    """Every message; lines without a date continue the message before. Notices of the program are left out."""
    return with_unique_ids(_entries(path))


def head_of(line: str) -> MessageHead | None:
    """The date at the beginning of a line, if any."""
    found = _HEAD.match(line[:120])
    if found is None or (found["open"] == "[") != found["close"].startswith("]"):
        return None
    clock, digits = clock_of(found), (len(found["a"]), len(found["c"]))
    if clock is None or 3 in digits or (digits[0] == 4 and digits[1] > 2):
        return None
    numbers = (int(found["a"]), int(found["b"]), int(found["c"]))
    beside = [(found[each] or "").lower().replace(".", "").replace(" ", "") for each in ("before", "after")]
    hour, unknown = clock[0], ""
    for word in filter(None, beside):
        if word in _AFTERNOON and hour <= 12:
            hour = hour % 12 + 12
        elif word in _MORNING and hour <= 12:
            hour %= 12
        elif word not in _AFTERNOON | _MORNING | _AT:
            unknown = word
    return MessageHead(numbers, found["sep"] == ".", (hour, *clock[1:]), found.end(), unknown)


def _speaker(line: str, start: int) -> re.Match[str] | None:
    """The author before the colon; None in a notice. A colon inside quotation marks belongs to a title."""
    found = _NAME.match(line, start)
    if found is None or found["name"].count('"') % 2:
        return None
    quoted = any(found["name"].rfind(opens) > found["name"].rfind(ends) for opens, ends in ("“”", "„“", "«»"))
    return None if quoted else found


def is_chat(path: Path, member: str = "") -> bool:
    """Whether two of the first lines begin like messages."""
    heads = 0
    for number, (begins, piece) in enumerate(text_pieces(path, member)):
        head = head_of(piece) if begins else None
        if head is not None and (head.numbers[0] <= 31 or "," in piece[: head.begins]):
            heads += _speaker(piece, head.begins) is not None
        if heads >= 2 or number > 50:
            break
    return heads >= 2


def text_in(path: Path) -> str | None:
    """The name of the chat's text in a zip; empty for a file that is not a zip, None for a zip without one."""
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
            yield Unreadable(where="the zip", reason="it has no chat text")
            return
        order = _Order(head for begins, piece in text_pieces(path, member) if begins and (head := head_of(piece)))
        if order.note:
            yield ReaderNote(note=order.note)
        yield ConversationTitle(
            session=session, title=as_label(path.stem if path.stem != "_chat" else session, MAX_TITLE_CHARACTERS)
        )
        yield from _messages(path, member, session, order)
    except (StoreError, *read_errors()) as problem:  # type: ignore[misc]  # a tuple of exceptions
        yield Unreadable(where="the file", reason=f"reading stops at an error: {problem!s:.120}")


def _messages(path: Path, member: str, session: str, order: _Order) -> Iterator[Entry]:
    message: _Message | None = None
    pending: list[str] = []
    length, dated = 0, False
    unknown: Counter[str] = Counter()
    for begins, piece in text_pieces(path, member):
        head = head_of(piece) if begins else None
        if head is not None or length > MAX_TURN_CHARACTERS - len(piece):
            yield from _message(session, "".join(pending), message)
            pending, length = [], 0
        if head is not None:
            found = _speaker(piece, head.begins)
            rest = piece[found.end() if found else head.begins :]
            who = found["name"].strip(_DIRECTION_MARKS + "~ \u202f\xa0") if found else ""
            notice = found is None or rest.lstrip(_DIRECTION_MARKS + " ").startswith(_NOTICES)
            message = _Message(who, None if head.word else order.instant(head), notice, head.stamp)
            dated = dated or message.at is not None
            unknown[head.word] += bool(head.word) and not notice
        pending.append(piece if head is None else rest)
        length += len(piece)
    yield from _message(session, "".join(pending), message)
    if dated:
        yield ReaderNote(note=UTC_ASSUMED)
    for word, count in unknown.most_common(MAX_UNKNOWN_WORDS):
        if count:
            yield ReaderNote(
                note=f"{count} messages have an unknown word beside the time ({word}): imported without a time"
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
        yield Omitted(reason=NOTICE)
    elif _MEDIA.fullmatch(text):
        yield Omitted(reason=MEDIA)
    elif _DELETED.fullmatch(text):
        yield Omitted(reason=DELETED)
    else:
        yield turn_of(
            session, text.strip(_DIRECTION_MARKS + " \r\n"), who=message.who, at=message.at, stamp=message.stamp
        )


class _Order:
    """Which number of a date is the day: a number above 12 decides, dots mean day first, else the chronological
    reading.
    """

    def __init__(self, heads: Iterator[MessageHead]) -> None:
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

    def instant(self, head: MessageHead) -> int | None:
        """The time of a message; None if its numbers are not a date."""
        a, b, c = head.numbers
        if a > 31:
            return instant_of((a, b, c), head.clock)
        year = c + 2000 if c < 100 else c
        day_first = self.day_first or head.dotted
        found = instant_of((year, b, a) if day_first else (year, a, b), head.clock)
        return found if found is not None else instant_of((year, a, b) if day_first else (year, b, a), head.clock)
