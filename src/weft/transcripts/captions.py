"""Captions of meetings: WebVTT and SRT. Cues that one speaker says in a row are one turn; their times name no day."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import unescape
from pathlib import Path
from typing import Final, NamedTuple

from weft.transcripts.entries import Bad, Entries, Entry
from weft.transcripts.json_stream import UNREADABLE
from weft.transcripts.speech_marks import is_name, is_small
from weft.transcripts.text_lines import pieces
from weft.transcripts.told_apart import session_of, told_apart, turn_of

MAX_TOGETHER: Final = 2_000  # characters of cues that are put together: a speech is told in passages
MAX_CUE_LINES: Final = 1_000  # what is beyond is taken for the next cue
TIMING: Final = re.compile(
    r"\s{0,8}(?:\d{1,3}:)?\d{1,2}:\d{2}[.,]\d{1,3}\s{1,3}-->\s{1,3}(?:\d{1,3}:)?\d{1,2}:\d{2}[.,]\d{1,3}"
)
_VOICE: Final = re.compile(r"<v(?:\.[^\s>]{0,60})?\s+([^>]{1,120})>")
_TAG: Final = re.compile(r"</?(?:v|c|i|b|u|font|lang|ruby|rt)\b[^<>]{0,200}>|<\d{1,3}:[\d:.]{1,16}>")
_NAME: Final = re.compile(
    r"\s{0,3}(?P<dash>[-–]|>>)?\s?(?P<name>[^\W\d_][\w.'’-]{0,39}(?: [\w.'’()@&-]{1,39}){0,4}):\s+"
)


class _Way(NamedTuple):
    """How a file is written: with `<v Name>`, in which no other name counts; rolling, so that each line comes again."""

    voices: bool
    rolls: bool


def read(path: Path, start: int = 0) -> Entries:
    """What was said, in order, by whom cues name: `<v Name>`, or `Name: words` in the first line of a cue."""
    return told_apart(_entries(path))


def is_captions(path: Path) -> bool:
    """Whether a file begins as captions do."""
    for number, (begins, piece) in enumerate(pieces(path)):
        if begins and (TIMING.match(piece) or (number == 0 and piece.startswith("WEBVTT"))):
            return True
        if number > 20:
            return False
    return False


def _entries(path: Path) -> Iterator[Entry]:
    session, who, held = session_of(path), "", ""
    try:
        way = _way_of(_cues(path))
        for told, words in _spoken(_cues(path), way):
            speaker = told or who
            if held and (speaker != who or len(held) + len(words) > MAX_TOGETHER):
                yield turn_of(session, held, who=who)
                held = ""
            who, held = speaker, f"{held} {words}".strip()
        if held:
            yield turn_of(session, held, who=who)
    except UNREADABLE as problem:
        yield Bad(where="the file", reason=f"it cannot be read on: {problem!s:.80}")


def _cues(path: Path) -> Iterator[list[str]]:
    """The lines of each cue that are not blank. In WebVTT an empty line ends a cue; in SRT the next time does, and the
    number before that is nobody's.
    """
    cue: list[str] = []
    inside = webvtt = apart = False
    number = ""  # behind an empty line: of the next cue, unless something else follows
    for count, (begins, piece) in enumerate(pieces(path)):
        line = piece.strip()
        webvtt = webvtt or (count == 0 and line.startswith("WEBVTT"))
        if begins and TIMING.match(piece):
            if cue:
                yield cue
            cue, number, inside, apart = [], "", True, False
        elif begins and not line:
            apart = True
            inside = inside and not (webvtt and cue and not piece.strip("\r\n"))
        elif inside and line:
            cue += [number] if number else []
            number = line if apart and line.isdecimal() else ""
            cue += [] if number else [line]
            apart = False
            if len(cue) >= MAX_CUE_LINES:
                yield cue
                cue = []
    if number:
        cue.append(number)
    if cue:
        yield cue


def _way_of(cues: Iterable[list[str]]) -> _Way:
    """Rolling captions repeat the line before in most of their cues; people do so now and then."""
    before, again, count = "", 0, 0
    voices = False
    for cue in cues:
        voices = voices or any(_VOICE.search(line) for line in cue)
        lines = [_plain(line) for line in cue]
        again += lines[0] == before
        count += 1
        before = lines[-1]
    return _Way(voices=voices, rolls=again >= 3 and again * 2 > count)


def _spoken(cues: Iterable[list[str]], way: _Way) -> Iterator[tuple[str, str]]:
    """Who speaks in each line of a cue, and the words. A name stands until the next: cues go on without it."""
    before = ""
    for cue in cues:
        again = way.rolls and _plain(cue[0]) == before
        before = _plain(cue[-1])
        for number, line in enumerate(cue[1:] if again else cue):
            yield from _said(line, way, first=number == 0)


def _said(line: str, way: _Way, *, first: bool) -> Iterator[tuple[str, str]]:
    voices = list(_VOICE.finditer(line))
    plain = _plain(line[: voices[0].start()] if voices else line)
    named = None if way.voices else _NAME.match(plain)
    if named is not None and (first or named["dash"]) and is_name(named["name"]) and not is_small(named["name"]):
        yield named["name"], plain[named.end() :]
    elif plain:
        yield "", plain
    for number, voice in enumerate(voices):
        end = voices[number + 1].start() if number + 1 < len(voices) else len(line)
        yield unescape(voice[1]).strip(), _plain(line[voice.end() : end])


def _plain(words: str) -> str:
    return unescape(_TAG.sub("", words)).strip()
