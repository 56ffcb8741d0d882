"""Who begins to speak in a line of a plain transcript: after a time and a name, a name and a colon, or a heading.

One way in one file: `weft.transcripts.speech_ways` finds out which.
"""

from __future__ import annotations

import re
from typing import Final, Literal, NamedTuple

from weft.transcripts.stamps import CLOCK, clock_of, instant_of
from weft.transcripts.told_apart import role_of

LOOKED_AT: Final = 300  # characters of a line, to tell who speaks
MAX_LABEL_CHARACTERS: Final = 60
_STAMP: Final = (
    r"(?:(?P<year>\d{4})[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})[T ,]\s{0,3})?"
    + CLOCK
    + r"(?P<zone>Z|[+-]\d\d:?\d\d)?"
)
_STAMPED: Final = re.compile(
    rf"\s{{0,8}}(?P<open>[\[(]?){_STAMP}(?P<close>[\])]?)(?=\W)\s{{0,3}}(?:[-–—|]\s)?\s{{0,8}}"
)
_AFTER: Final = re.compile(r"(?P<label>[^\s:<>\n][^:\n]{0,59}?)\s?:(?:[^\S\n]+|$|(?=\n))")
_NAMED: Final = re.compile(
    rf"\s{{0,8}}(?P<label>[^\W\d][^:()\[\]\n]{{0,59}}?)\s{{0,3}}(?P<open>[\[(]){_STAMP}[\])]\s?:?[^\S\n]*"
)
_LABEL: Final = re.compile(
    r"[ \t]{0,8}(?P<bold>\*\*|__)?(?P<label>[^\W\d_][\w.'’-]{0,39}(?: [\w.'’()@&-]{1,39}){0,3})"
    r"(?(bold)(?:(?P=bold):|:(?P=bold))|:)(?=\s|$)[^\S\n]*"
)
_HEADING: Final = re.compile(r"[ ]{0,3}(?P<level>#{1,6})[ \t]+[\W_]{0,8}(?P<label>\w[^:#*\n]{0,59}?)\s?[:*]{0,3}\s*$")
_ZOOM: Final = re.compile(r"From\s+(?P<name>.{1,60}?)\s+to\s+.+", re.IGNORECASE)
# What stands before a colon and is nobody: remarks, parts of minutes, fields of things that answers list.
_NOBODY: Final = frozenset(
    {
        *("note", "notes", "warning", "caution", "tip", "tips", "hint", "example", "examples", "important", "info"),
        *("edit", "update", "todo", "ps", "summary", "result", "results", "usage", "step", "steps", "option"),
        *("reminder", "date", "time", "subject", "attendees", "agenda", "location", "present", "absent", "apologies"),
        *("participants", "members", "minutes", "topic", "topics", "decision", "decisions", "action", "actions"),
        *("next", "open", "question", "questions", "answer", "problem", "solution", "conclusion", "background"),
        *("title", "author", "authors", "publisher", "isbn", "year", "price", "pages", "genre", "language", "url"),
        *("link", "links", "source", "sources", "email", "phone", "address", "description", "details", "features"),
        *("name", "type", "value", "key", "id", "status", "version", "file", "path", "host", "port", "error", "fatal"),
        *("debug", "trace", "output", "input", "total", "cost", "ingredients", "instructions", "pros", "cons"),
        *("re", "cc", "to", "from", "http", "https", "meeting", "duration", "place", "chair", "recorded", "transcript"),
    }
)

Way = Literal["stamped", "heading", "label"]


class Spoken(NamedTuple):
    """The beginning of a turn: who speaks, where in the line the words begin, when, and whether a time has no day."""

    label: str
    begins: int
    at: int | None = None
    dayless: bool = False


class Marks(NamedTuple):
    """How a file shows who speaks. `shape` is that of its times, or of its headings.

    `known` are who surely speaks, in small letters: they do so without a time too, and after code that lacks its end.
    `small` are names in small letters, which count only if they are among these. If `sure`, somebody does speak.
    In a block of code nobody begins to, unless a time tells. One that opens at line `unclosed` (-1 if none) lacks its
    end: it ends where one who surely speaks does.
    """

    way: Way
    shape: str = ""
    known: frozenset[str] = frozenset()
    small: frozenset[str] = frozenset()
    sure: bool = False
    unclosed: int = -1

    def begin(self, line: str, *, only_known: bool = False) -> Spoken | None:
        """The turn that a line begins, if it does; with `only_known`, of those who surely speak."""
        head = line[:LOOKED_AT]
        spoken = self._stamped(head) if self.way == "stamped" else self._unstamped(head)
        if spoken is None or (only_known and not (spoken.label.lower() in self.known or role_of(spoken.label))):
            return None
        return spoken

    def _stamped(self, head: str) -> Spoken | None:
        if (found := stamped(head)) is None:
            spoken = labelled(head)
            return spoken if spoken is not None and spoken.label.lower() in self.known else None
        shape, spoken = found
        return spoken if shape == self.shape or spoken.label.lower() in self.known else None

    def _unstamped(self, head: str) -> Spoken | None:
        if self.way == "heading":
            found = heading(head)
            if found is None:
                return None
            level, spoken = found
            counts = spoken.label.lower() in self.known if not self.shape else level == self.shape
            return spoken if counts else None
        spoken_of = labelled(head)
        if spoken_of is None or (is_small(spoken_of.label) and spoken_of.label not in self.small):
            return None
        return spoken_of


class Fence:
    """Follows blocks of code through lines."""

    def __init__(self) -> None:
        self._open = ""

    @property
    def open(self) -> bool:
        """Whether a block began and has not ended."""
        return self._open != ""

    def holds(self, line: str) -> bool:
        """Whether a line is of a block, or opens or ends one."""
        mark = line.lstrip()[:3]
        if mark in ("```", "~~~") and self._open in ("", mark):
            self._open = "" if self._open else mark
            return True
        return self.open


def stamped(head: str) -> tuple[str, Spoken] | None:
    """A line with a time: the shape of that, and who speaks, whose name may stand before it or after it."""
    if (found := _STAMPED.match(head)) is not None and (found["open"] != "") == (found["close"] != ""):
        if clock_of(found) is None:
            return None
        name = _AFTER.match(head, found.end())
        label = name["label"].strip() if name else ""
        if zoom := _ZOOM.fullmatch(label):
            label = zoom["name"]
        begins = name.end() if name else found.end()
        return f"{found['open']}{'day' if found['year'] else ''}", _at(found, label, begins)
    if (found := _NAMED.match(head)) is not None and clock_of(found) is not None:
        return f"name{found['open']}", _at(found, found["label"].strip(), found.end())
    return None


def _at(found: re.Match[str], label: str, begins: int) -> Spoken:
    clock = clock_of(found)
    if clock is None or not found["year"]:
        return Spoken(label, begins, dayless=True)
    day = (int(found["year"]), int(found["month"]), int(found["day"]))
    return Spoken(label, begins, at=instant_of(day, clock, found["zone"] or ""))


def heading(head: str) -> tuple[str, Spoken] | None:
    """A line that is a heading: its level, and whom it names."""
    found = _HEADING.match(head)
    return None if found is None else (found["level"], Spoken(found["label"].strip(), found.end()))


def labelled(head: str) -> Spoken | None:
    """`Mira: words`, where that looks like a name."""
    found = _LABEL.match(head)
    return Spoken(found["label"], found.end()) if found is not None and is_name(found["label"]) else None


def is_name(label: str) -> bool:
    """Whether somebody may be called so: one word, or up to four of which none begins in lower case."""
    names = label.split(" ")
    if len(label) > MAX_LABEL_CHARACTERS or names[0].lower() in _NOBODY:
        return False
    return len(names) == 1 or not any(each[0].islower() for each in names)


def is_small(label: str) -> bool:
    """Whether a label is written as keys in code are, and names seldom. Roles are no names."""
    return label[0].islower() and not role_of(label)
