"""Plain transcripts: text whose lines name speakers, by a time and a name, a name and a colon, or a heading.

One file uses one style; `style_of` detects it from what most lines show outside of code blocks.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, Literal, NamedTuple

from weft.conversations.formats.entries import (
    MAX_TITLE_CHARACTERS,
    MAX_TURN_CHARACTERS,
    ConversationTitle,
    Entries,
    Entry,
    ReaderNote,
    Unreadable,
    as_label,
    role_of,
    session_of,
    turn_of,
    with_unique_ids,
)
from weft.conversations.formats.files import read_errors, text_pieces
from weft.conversations.formats.times import CLOCK, UTC_ASSUMED, clock_of, instant_of

NO_DAY: Final = "the times name no day: they are not imported"
HEAD_CHARACTERS: Final = 300  # of a line, in which a speaker is looked for
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
# Words before a colon that are not names: remarks, parts of minutes, fields of listed things.
_NOT_NAMES: Final = frozenset(
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
MAX_LABELS: Final = 10_000  # distinct ones that are counted

StyleKind = Literal["stamped", "heading", "label"]


class TurnStart(NamedTuple):
    """The beginning of a turn: its speaker, the column of the first word, the time, and whether a time has no day."""

    label: str
    begins: int
    at: int | None = None
    no_day: bool = False


class SpeakerStyle(NamedTuple):
    """How a file names speakers. `shape` is that of its times, or the level of its headings.

    `known` are the certain speakers in lower case: they begin turns without a time too, and end an unclosed code block.
    `lower_case` are the names in lower case that count. `sure` if the file is a transcript. In a code block only a line
    with a time begins a turn. `unclosed` is the line of a code fence without its end, -1 if there is none.
    """

    kind: StyleKind
    shape: str = ""
    known: frozenset[str] = frozenset()
    lower_case: frozenset[str] = frozenset()
    sure: bool = False
    unclosed: int = -1

    def begin(self, line: str, *, only_known: bool = False) -> TurnStart | None:
        """The turn that begins with a line, if any; with `only_known`, only of certain speakers."""
        head = line[:HEAD_CHARACTERS]
        turn = self._stamped(head) if self.kind == "stamped" else self._unstamped(head)
        if turn is None or (only_known and not (turn.label.lower() in self.known or role_of(turn.label))):
            return None
        return turn

    def _stamped(self, head: str) -> TurnStart | None:
        if (found := stamped(head)) is None:
            turn = labelled(head)
            return turn if turn is not None and turn.label.lower() in self.known else None
        shape, turn = found
        return turn if shape == self.shape or turn.label.lower() in self.known else None

    def _unstamped(self, head: str) -> TurnStart | None:
        if self.kind == "heading":
            found = heading(head)
            if found is None:
                return None
            level, turn = found
            counts = turn.label.lower() in self.known if not self.shape else level == self.shape
            return turn if counts else None
        label_start = labelled(head)
        if label_start is None or (is_lower_case(label_start.label) and label_start.label not in self.lower_case):
            return None
        return label_start


class CodeFence:
    """Tracks fenced code blocks line by line."""

    def __init__(self) -> None:
        self._open = ""

    @property
    def open(self) -> bool:
        """Whether the current line is inside a block."""
        return self._open != ""

    def holds(self, line: str) -> bool:
        """Whether a line belongs to a block or is one of its fences."""
        mark = line.lstrip()[:3]
        if mark in ("```", "~~~") and self._open in ("", mark):
            self._open = "" if self._open else mark
            return True
        return self.open


def stamped(head: str) -> tuple[str, TurnStart] | None:
    """(shape of the time, turn) of a line with a time before or after the name."""
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


def _at(found: re.Match[str], label: str, begins: int) -> TurnStart:
    clock = clock_of(found)
    if clock is None or not found["year"]:
        return TurnStart(label, begins, no_day=True)
    day = (int(found["year"]), int(found["month"]), int(found["day"]))
    return TurnStart(label, begins, at=instant_of(day, clock, found["zone"] or ""))


def heading(head: str) -> tuple[str, TurnStart] | None:
    """(level, turn) of a Markdown heading."""
    found = _HEADING.match(head)
    return None if found is None else (found["level"], TurnStart(found["label"].strip(), found.end()))


def labelled(head: str) -> TurnStart | None:
    """The turn of `Mira: words`, if that looks like a name."""
    found = _LABEL.match(head)
    return TurnStart(found["label"], found.end()) if found is not None and is_name(found["label"]) else None


def is_name(label: str) -> bool:
    """Whether a label may be a person's name: one word, or up to four of which none begins in lower case."""
    names = label.split(" ")
    if len(label) > MAX_LABEL_CHARACTERS or names[0].lower() in _NOT_NAMES:
        return False
    return len(names) == 1 or not any(each[0].islower() for each in names)


def is_lower_case(label: str) -> bool:
    """Whether a label begins in lower case, as keys in code do and names rarely; roles do not count."""
    return label[0].islower() and not role_of(label)


# ---- which style a file has


class _Counts:
    """Counts of what lines show. Labels are counted as written, everything else in lower case."""

    def __init__(self) -> None:
        self.shapes: Counter[str] = Counter()
        self.named: Counter[str] = Counter()
        self.speakers: dict[str, set[str]] = {}
        self.headings: Counter[str] = Counter()
        self.levels: dict[str, str] = {}
        self.labels: Counter[str] = Counter()
        self.filled, self.first, self.first_label = 0, "", ""

    def add(self, head: str) -> None:
        """Counts a line that is not blank."""
        self.filled += 1
        if (timed := stamped(head)) is not None:
            shape, turn = timed
            self.shapes[shape] += 1
            self.named[shape] += bool(turn.label)
            if turn.label and len(speakers := self.speakers.setdefault(shape, set())) < MAX_LABELS:
                speakers.add(turn.label.lower())
            self.first = self.first or "stamped"
        elif (titled := heading(head)) is not None and len(self.headings) < MAX_LABELS:
            level, turn = titled
            self.headings[turn.label.lower()] += 1
            self.levels.setdefault(turn.label.lower(), level)
        elif (labels := labelled(head)) is not None and len(self.labels) < MAX_LABELS:
            self.labels[labels.label] += 1
            self.first_label = self.first_label or labels.label
            self.first = self.first or "label"
        self.first = self.first or "text"

    def join(self, coded: _Counts) -> None:
        """Adds the lines of an unclosed code block: times, and speakers that occur outside of it too."""
        self.shapes.update(coded.shapes)
        self.named.update(coded.named)
        for shape, speakers in coded.speakers.items():
            self.speakers.setdefault(shape, set()).update(speakers)
        for mine, theirs in ((self.headings, coded.headings), (self.labels, coded.labels)):
            mine.update({each: count for each, count in theirs.items() if each in mine or role_of(each)})


def style_of(lines: Iterable[str]) -> SpeakerStyle:
    """The style of these lines. `sure` separates transcripts from texts with a line that looks like one."""
    seen, coded, fence = _Counts(), _Counts(), CodeFence()
    unclosed = -1
    for number, line in enumerate(lines):
        was_open = fence.open
        inside = fence.holds(line)
        if inside and not was_open:
            unclosed, coded = number, _Counts()
        if line[:HEAD_CHARACTERS].strip():
            (coded if inside else seen).add(line[:HEAD_CHARACTERS].strip("\n\r"))
    if fence.open:
        seen.join(coded)
    shape, times = seen.shapes.most_common(1)[0] if seen.shapes else ("", 0)
    if seen.named[shape] >= 2 or (times and seen.first == "stamped"):
        known = frozenset(seen.speakers.get(shape, ()))
        return SpeakerStyle("stamped", shape=shape, known=known, sure=seen.named[shape] >= 2)
    return (_by_headings(seen) or _by_labels(seen))._replace(unclosed=unclosed if fence.open else -1)


def _by_headings(seen: _Counts) -> SpeakerStyle | None:
    """With roles, other headings are content. With names, every heading of their level is a speaker."""
    roles = frozenset(each for each in seen.headings if role_of(each))
    if sum(seen.headings[each] for each in roles) >= 2:
        return SpeakerStyle("heading", known=roles, sure=True)
    often = [each for each, count in seen.headings.items() if count >= 2]
    if len(often) < 2:
        return None
    level = Counter(seen.levels[each] for each in often).most_common(1)[0][0]
    return SpeakerStyle("heading", shape=level, known=frozenset(often), sure=True)


def _by_labels(seen: _Counts) -> SpeakerStyle:
    """In a transcript every name begins a turn, so that nobody's words are attributed to the speaker before."""
    labels = seen.labels
    lower_first = is_lower_case(seen.first_label) if seen.first_label else False
    lower_case = frozenset(
        each for each, count in labels.items() if is_lower_case(each) and (count >= 2 or lower_first)
    )
    names = {each: count for each, count in labels.items() if not is_lower_case(each) or each in lower_case}
    lines = sum(names.values())
    mostly = seen.first == "label" and lines >= 2 and lines * 2 >= seen.filled
    roles = sum(count for each, count in names.items() if role_of(each)) >= 2
    several = len(names) >= 2 and any(count >= 2 for count in names.values())
    known = frozenset(each.lower() for each in names)
    return SpeakerStyle("label", known=known, lower_case=lower_case, sure=mostly or roles or several)


# ---- reading


def read(path: Path, start: int = 0) -> Entries:
    """Every turn. Lines that begin none continue the turn before; text before the first turn has no speaker.

    A turn over the limit is cut into several at line ends.
    """
    return with_unique_ids(_entries(path))


def style_in(path: Path) -> SpeakerStyle:
    """The style of a file: see `style_of`."""
    return style_of(piece for begins, piece in text_pieces(path) if begins)


def _entries(path: Path) -> Entries:
    session = session_of(path)
    try:
        style = style_in(path)
        yield from _turns(path, session, style)
    except read_errors() as problem:
        yield Unreadable(where="the file", reason=f"reading stops at an error: {problem!s:.80}")


def _turns(path: Path, session: str, style: SpeakerStyle) -> Iterator[Entry]:
    turn: TurnStart | None = None
    pending: list[str] = []
    length, titled = 0, path.suffix.lower() not in (".md", ".markdown")
    dated = no_day = False
    starts = _TurnStarts(style)
    for begins, piece in text_pieces(path):
        found = starts.of(piece) if begins else None
        if not titled and begins and piece.strip():
            titled = True
            if found is None and piece.startswith("# "):
                yield ConversationTitle(session=session, title=as_label(piece[2:], MAX_TITLE_CHARACTERS))
                continue
        if found is not None or length > MAX_TURN_CHARACTERS - len(piece):
            yield from _turn(session, pending, turn)
            pending, length = [], 0
        if found is not None:
            turn = found
            dated, no_day = dated or found.at is not None, no_day or found.no_day
        pending.append(piece if found is None else piece[found.begins :])
        length += len(piece)
    yield from _turn(session, pending, turn)
    if dated:
        yield ReaderNote(note=UTC_ASSUMED)
    if no_day:
        yield ReaderNote(note=NO_DAY)


class _TurnStarts:
    """Finds the turns of a file line by line."""

    def __init__(self, style: SpeakerStyle) -> None:
        self._style, self._fence, self._line, self._lost = style, CodeFence(), -1, False

    def of(self, line: str) -> TurnStart | None:
        """The turn that begins with the next line, if any."""
        self._line += 1
        style = self._style
        if style.kind == "stamped" or (style.unclosed >= 0 and self._line > style.unclosed and not self._lost):
            return style.begin(line)
        self._lost = self._lost or self._line == style.unclosed
        if self._lost:
            found = style.begin(line, only_known=True)
            self._lost = found is None
            return found
        return None if self._fence.holds(line) else style.begin(line)


def _turn(session: str, pending: list[str], turn: TurnStart | None) -> Iterator[Entry]:
    text = "".join(pending)
    if turn is not None:
        yield turn_of(session, text, who=turn.label, at=turn.at)
    elif text.strip():
        yield turn_of(session, text)
