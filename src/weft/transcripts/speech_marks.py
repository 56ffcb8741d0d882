"""How a plain transcript shows who speaks: a time and a name, a name and a colon, or a heading. One way in one file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Final, Literal, NamedTuple

from weft.transcripts.stamps import CLOCK, clock_of, instant_of
from weft.transcripts.told_apart import role_of

LOOKED_AT: Final = 300  # characters of a line, to tell who speaks
MAX_LABEL_CHARACTERS: Final = 60
MAX_LABELS: Final = 10_000  # different ones, counted
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
_HEADING: Final = re.compile(r"[ ]{0,3}#{1,6}[ \t]+[\W_]{0,8}(?P<label>\w[^:#*\n]{0,59}?)\s?[:*]{0,3}\s*$")
_ZOOM: Final = re.compile(r"From\s+(?P<name>.{1,60}?)\s+to\s+.+", re.IGNORECASE)
_NOBODY: Final = frozenset(
    {
        *("note", "notes", "warning", "caution", "tip", "tips", "hint", "example", "examples", "important", "info"),
        *("edit", "update", "todo", "ps", "summary", "result", "results", "usage", "step", "steps", "option"),
        *("reminder", "date", "time", "subject", "attendees", "agenda", "location"),
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
    """How a file shows who speaks; `shape` is that of its times, `speakers` whose names count (all if None).

    `fenced` if nobody begins to speak in a block of code: times are told from code, and a fence may lack its end.
    """

    way: Way
    shape: str = ""
    speakers: frozenset[str] | None = None
    sure: bool = False
    fenced: bool = False

    def begin(self, line: str) -> Spoken | None:
        """The turn that a line begins, if it does."""
        head = line[:LOOKED_AT]
        if self.way == "stamped":
            found = _stamped(head)
            return found[1] if found is not None and found[0] == self.shape else None
        spoken = _heading(head) if self.way == "heading" else _labelled(head)
        if spoken is None or (self.speakers is not None and spoken.label.lower() not in self.speakers):
            return None
        return spoken


class _Seen:
    """What lines show, counted."""

    def __init__(self) -> None:
        self.shapes: Counter[str] = Counter()
        self.named: Counter[str] = Counter()
        self.headings: Counter[str] = Counter()
        self.labels: Counter[str] = Counter()
        self.filled, self.first = 0, ""

    def add(self, head: str) -> None:
        """One line that is not blank."""
        self.filled += 1
        if (stamped := _stamped(head)) is not None:
            self.shapes[stamped[0]] += 1
            self.named[stamped[0]] += bool(stamped[1].label)
            self.first = self.first or "stamped"
        elif (spoken := _heading(head)) is not None and len(self.headings) < MAX_LABELS:
            self.headings[spoken.label.lower()] += 1
        elif (spoken := _labelled(head)) is not None and len(self.labels) < MAX_LABELS:
            self.labels[spoken.label.lower()] += 1
            self.first = self.first or "label"
        self.first = self.first or "text"

    def join(self, other: _Seen) -> None:
        """Counts what another saw, too."""
        self.filled += other.filled
        for mine, theirs in (
            (self.shapes, other.shapes),
            (self.named, other.named),
            (self.headings, other.headings),
            (self.labels, other.labels),
        ):
            mine.update(theirs)


def marks_of(lines: Iterable[str]) -> Marks:
    """How these lines show who speaks. `sure` if they do: any text has a line that might be read so."""
    seen, coded, fence = _Seen(), _Seen(), Fence()
    for line in lines:
        inside = fence.holds(line)
        if head := line[:LOOKED_AT].strip("\n\r") if line[:LOOKED_AT].strip() else "":
            (coded if inside else seen).add(head)
    fenced = not fence.holds("")
    if not fenced:  # a block that lacks its end is none
        seen.join(coded)
    shape, times = seen.shapes.most_common(1)[0] if seen.shapes else ("", 0)
    if seen.named[shape] >= 2 or (times and seen.first == "stamped"):
        return Marks("stamped", shape=shape, sure=seen.named[shape] >= 2)
    return _unstamped(seen.headings, seen.labels, seen.filled, seen.first)._replace(fenced=fenced)


def _unstamped(headings: Counter[str], labels: Counter[str], filled: int, first: str) -> Marks:
    roles = {each for each in headings if role_of(each)}
    often = {each for each, count in headings.items() if count >= 2}
    if sum(headings[each] for each in roles) >= 2 or len(often) >= 2:
        return Marks("heading", speakers=frozenset(roles | (often if not roles else set())), sure=True)
    spoken = sum(labels.values())
    if first == "label" and spoken >= 2 and spoken * 2 >= filled:
        return Marks("label", sure=True)
    often = {each for each, count in labels.items() if count >= 2 or role_of(each)}
    speakers = frozenset(often | set(list(labels)[:2]))
    plain = sum(labels[each] for each in labels if role_of(each)) >= 2
    return Marks("label", speakers=speakers, sure=plain or (len(labels) >= 2 and any(n >= 2 for n in labels.values())))


class Fence:
    """Follows blocks of code through lines."""

    def __init__(self) -> None:
        self._open = ""

    def holds(self, line: str) -> bool:
        """Whether a line is of a block, or opens or ends one."""
        mark = line.lstrip()[:3]
        if mark in ("```", "~~~") and self._open in ("", mark):
            self._open = "" if self._open else mark
            return True
        return self._open != ""


def _stamped(head: str) -> tuple[str, Spoken] | None:
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


def _heading(head: str) -> Spoken | None:
    found = _HEADING.match(head)
    return None if found is None else Spoken(found["label"].strip(), found.end())


def _labelled(head: str) -> Spoken | None:
    """`Mira: words`: one word, or up to four of which none begins in lower case."""
    if (found := _LABEL.match(head)) is None:
        return None
    names = found["label"].split(" ")
    if (
        len(found["label"]) > MAX_LABEL_CHARACTERS
        or names[0].lower() in _NOBODY
        or (len(names) > 1 and any(each[0].islower() for each in names))
    ):
        return None
    return Spoken(found["label"], found.end())
