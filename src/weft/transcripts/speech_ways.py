"""Finds out how a plain transcript shows who speaks: what most of its lines show, outside of blocks of code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from weft.transcripts.speech_marks import LOOKED_AT, Fence, Marks, heading, is_small, labelled, stamped
from weft.transcripts.told_apart import role_of

MAX_LABELS: Final = 10_000  # different ones, counted


class _Seen:
    """What lines show, counted. Labels are counted as they are written, all others in small letters."""

    def __init__(self) -> None:
        self.shapes: Counter[str] = Counter()
        self.named: Counter[str] = Counter()
        self.speakers: dict[str, set[str]] = {}
        self.headings: Counter[str] = Counter()
        self.levels: dict[str, str] = {}
        self.labels: Counter[str] = Counter()
        self.filled, self.first, self.first_label = 0, "", ""

    def add(self, head: str) -> None:
        """One line that is not blank."""
        self.filled += 1
        if (timed := stamped(head)) is not None:
            shape, spoken = timed
            self.shapes[shape] += 1
            self.named[shape] += bool(spoken.label)
            if spoken.label and len(speakers := self.speakers.setdefault(shape, set())) < MAX_LABELS:
                speakers.add(spoken.label.lower())
            self.first = self.first or "stamped"
        elif (titled := heading(head)) is not None and len(self.headings) < MAX_LABELS:
            level, spoken = titled
            self.headings[spoken.label.lower()] += 1
            self.levels.setdefault(spoken.label.lower(), level)
        elif (labels := labelled(head)) is not None and len(self.labels) < MAX_LABELS:
            self.labels[labels.label] += 1
            self.first_label = self.first_label or labels.label
            self.first = self.first or "label"
        self.first = self.first or "text"

    def join(self, coded: _Seen) -> None:
        """Counts what a block of code shows that lacks its end: times, and who speaks outside of it too."""
        self.shapes.update(coded.shapes)
        self.named.update(coded.named)
        for shape, speakers in coded.speakers.items():
            self.speakers.setdefault(shape, set()).update(speakers)
        for mine, theirs in ((self.headings, coded.headings), (self.labels, coded.labels)):
            mine.update({each: count for each, count in theirs.items() if each in mine or role_of(each)})


def marks_of(lines: Iterable[str]) -> Marks:
    """How these lines show who speaks. `sure` if they do: any text has a line that might be read so."""
    seen, coded, fence = _Seen(), _Seen(), Fence()
    unclosed = -1
    for number, line in enumerate(lines):
        was_open = fence.open
        inside = fence.holds(line)
        if inside and not was_open:
            unclosed, coded = number, _Seen()
        if line[:LOOKED_AT].strip():
            (coded if inside else seen).add(line[:LOOKED_AT].strip("\n\r"))
    if fence.open:
        seen.join(coded)
    shape, times = seen.shapes.most_common(1)[0] if seen.shapes else ("", 0)
    if seen.named[shape] >= 2 or (times and seen.first == "stamped"):
        known = frozenset(seen.speakers.get(shape, ()))
        return Marks("stamped", shape=shape, known=known, sure=seen.named[shape] >= 2)
    return (_by_headings(seen) or _by_labels(seen))._replace(unclosed=unclosed if fence.open else -1)


def _by_headings(seen: _Seen) -> Marks | None:
    """With roles, other headings are of what is said. With names, every heading of their level is a name."""
    roles = frozenset(each for each in seen.headings if role_of(each))
    if sum(seen.headings[each] for each in roles) >= 2:
        return Marks("heading", known=roles, sure=True)
    often = [each for each, count in seen.headings.items() if count >= 2]
    if len(often) < 2:
        return None
    level = Counter(seen.levels[each] for each in often).most_common(1)[0][0]
    return Marks("heading", shape=level, known=frozenset(often), sure=True)


def _by_labels(seen: _Seen) -> Marks:
    """Where one speaks, every name begins a turn: else somebody's words would be put into another's mouth."""
    labels = seen.labels
    in_small = is_small(seen.first_label) if seen.first_label else False
    small = frozenset(each for each, count in labels.items() if is_small(each) and (count >= 2 or in_small))
    names = {each: count for each, count in labels.items() if not is_small(each) or each in small}
    spoken = sum(names.values())
    mostly = seen.first == "label" and spoken >= 2 and spoken * 2 >= seen.filled
    roles = sum(count for each, count in names.items() if role_of(each)) >= 2
    several = len(names) >= 2 and any(count >= 2 for count in names.values())
    known = frozenset(each.lower() for each in names)
    return Marks("label", known=known, small=small, sure=mostly or roles or several)
