"""Plain transcripts: text in which lines say who speaks. See `weft.transcripts.speech_marks` for how they may."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from weft.transcripts.entries import MAX_TITLE_CHARACTERS, MAX_TURN_CHARACTERS, Bad, Entries, Entry, Noted, Titled, name
from weft.transcripts.json_stream import UNREADABLE
from weft.transcripts.speech_marks import Fence, Marks, Spoken
from weft.transcripts.speech_ways import marks_of
from weft.transcripts.stamps import UTC_TAKEN
from weft.transcripts.text_lines import pieces
from weft.transcripts.told_apart import session_of, told_apart, turn_of

DAYLESS: Final = "its times name no day: they are not kept"


def read(path: Path, start: int = 0) -> Entries:
    """Every turn; lines that begin none go on with the turn before them. What stands before the first has no speaker.

    A turn that is longer than one may be is cut into several, at the ends of lines.
    """
    return told_apart(_entries(path))


def marks_in(path: Path) -> Marks:
    """How a file shows who speaks."""
    return marks_of(piece for begins, piece in pieces(path) if begins)


def _entries(path: Path) -> Entries:
    session = session_of(path)
    try:
        marks = marks_in(path)
        yield from _turns(path, session, marks)
    except UNREADABLE as problem:
        yield Bad(where="the file", reason=f"it cannot be read on: {problem!s:.80}")


def _turns(path: Path, session: str, marks: Marks) -> Iterator[Entry]:
    spoken: Spoken | None = None
    held: list[str] = []
    length, titled = 0, path.suffix.lower() not in (".md", ".markdown")
    dated = dayless = False
    begun = _Beginnings(marks)
    for begins, piece in pieces(path):
        found = begun.of(piece) if begins else None
        if not titled and begins and piece.strip():
            titled = True
            if found is None and piece.startswith("# "):
                yield Titled(session=session, title=name(piece[2:], MAX_TITLE_CHARACTERS))
                continue
        if found is not None or length > MAX_TURN_CHARACTERS - len(piece):
            yield from _turn(session, held, spoken)
            held, length = [], 0
        if found is not None:
            spoken = found
            dated, dayless = dated or found.at is not None, dayless or found.dayless
        held.append(piece if found is None else piece[found.begins :])
        length += len(piece)
    yield from _turn(session, held, spoken)
    if dated:
        yield Noted(note=UTC_TAKEN)
    if dayless:
        yield Noted(note=DAYLESS)


class _Beginnings:
    """Follows a file line by line, and says where somebody begins to speak."""

    def __init__(self, marks: Marks) -> None:
        self._marks, self._fence, self._line, self._lost = marks, Fence(), -1, False

    def of(self, line: str) -> Spoken | None:
        """The turn that the next line begins, if it does."""
        self._line += 1
        marks = self._marks
        if marks.way == "stamped" or (marks.unclosed >= 0 and self._line > marks.unclosed and not self._lost):
            return marks.begin(line)
        self._lost = self._lost or self._line == marks.unclosed
        if self._lost:
            found = marks.begin(line, only_known=True)
            self._lost = found is None
            return found
        return None if self._fence.holds(line) else marks.begin(line)


def _turn(session: str, held: list[str], spoken: Spoken | None) -> Iterator[Entry]:
    """What was said so far; nothing where blanks stand before the first who speaks."""
    text = "".join(held)
    if spoken is not None:
        yield turn_of(session, text, who=spoken.label, at=spoken.at)
    elif text.strip():
        yield turn_of(session, text)
