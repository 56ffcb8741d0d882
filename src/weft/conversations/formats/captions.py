"""Captions of meetings: WebVTT and SRT. Consecutive cues of one speaker are one turn; their times name no day."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import unescape
from pathlib import Path
from typing import Final, NamedTuple

from weft.conversations.formats.entries import Entries, Entry, Unreadable, session_of, turn_of, with_unique_ids
from weft.conversations.formats.files import read_errors, text_pieces
from weft.conversations.formats.plain import is_lower_case, is_name

MAX_JOINED: Final = 2_000  # characters of cues joined into one turn
MAX_CUE_LINES: Final = 1_000  # further lines count as the next cue
TIMING: Final = re.compile(
    r"\s{0,8}(?:\d{1,3}:)?\d{1,2}:\d{2}[.,]\d{1,3}\s{1,3}-->\s{1,3}(?:\d{1,3}:)?\d{1,2}:\d{2}[.,]\d{1,3}"
)
_VOICE: Final = re.compile(r"<v(?:\.[^\s>]{0,60})?\s+([^>]{1,120})>")
_TAG: Final = re.compile(r"</?(?:v|c|i|b|u|font|lang|ruby|rt)\b[^<>]{0,200}>|<\d{1,3}:[\d:.]{1,16}>")
_NAME: Final = re.compile(
    r"\s{0,3}(?P<dash>[-–]|>>)?\s?(?P<name>[^\W\d_][\w.'’-]{0,39}(?: [\w.'’()@&-]{1,39}){0,4}):\s+"
)


class _Style(NamedTuple):
    """Style of a file: names as `<v Name>`, which exclude other names; rolling captions, which repeat lines."""

    voices: bool
    rolls: bool


def read(path: Path, start: int = 0) -> Entries:
    """The speech in order, with speakers from `<v Name>` or from `Name: words` in the first line of a cue."""
    return with_unique_ids(_entries(path))


def is_captions(path: Path) -> bool:
    """Whether a file begins like captions."""
    for number, (begins, piece) in enumerate(text_pieces(path)):
        if begins and (TIMING.match(piece) or (number == 0 and piece.startswith("WEBVTT"))):
            return True
        if number > 20:
            return False
    return False


def _entries(path: Path) -> Iterator[Entry]:
    session, who, pending = session_of(path), "", ""
    try:
        style = _style_of(_cues(path))
        for named, words in _speeches(_cues(path), style):
            speaker = named or who
            if pending and (speaker != who or len(pending) + len(words) > MAX_JOINED):
                yield turn_of(session, pending, who=who)
                pending = ""
            who, pending = speaker, f"{pending} {words}".strip()
        if pending:
            yield turn_of(session, pending, who=who)
    except read_errors() as problem:
        yield Unreadable(where="the file", reason=f"reading stops at an error: {problem!s:.80}")


def _cues(path: Path) -> Iterator[list[str]]:
    """The non-blank lines of each cue. A WebVTT cue ends at an empty line, an SRT cue at the next time; the number
    before that time is dropped.
    """
    cue: list[str] = []
    inside = webvtt = apart = False
    number = ""  # after an empty line: of the next cue, unless text follows
    for count, (begins, piece) in enumerate(text_pieces(path)):
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


def _style_of(cues: Iterable[list[str]]) -> _Style:
    """Rolling captions repeat the line before in most cues."""
    before, again, count = "", 0, 0
    voices = False
    for cue in cues:
        voices = voices or any(_VOICE.search(line) for line in cue)
        lines = [_plain(line) for line in cue]
        again += lines[0] == before
        count += 1
        before = lines[-1]
    return _Style(voices=voices, rolls=again >= 3 and again * 2 > count)


def _speeches(cues: Iterable[list[str]], style: _Style) -> Iterator[tuple[str, str]]:
    """(speaker, words) of each line; the speaker is empty if the line names none and the last one continues."""
    before = ""
    for cue in cues:
        again = style.rolls and _plain(cue[0]) == before
        before = _plain(cue[-1])
        for number, line in enumerate(cue[1:] if again else cue):
            yield from _speech(line, style, first=number == 0)


def _speech(line: str, style: _Style, *, first: bool) -> Iterator[tuple[str, str]]:
    voices = list(_VOICE.finditer(line))
    plain = _plain(line[: voices[0].start()] if voices else line)
    named = None if style.voices else _NAME.match(plain)
    if named is not None and (first or named["dash"]) and is_name(named["name"]) and not is_lower_case(named["name"]):
        yield named["name"], plain[named.end() :]
    elif plain:
        yield "", plain
    for number, voice in enumerate(voices):
        end = voices[number + 1].start() if number + 1 < len(voices) else len(line)
        yield unescape(voice[1]).strip(), _plain(line[voice.end() : end])


def _plain(words: str) -> str:
    return unescape(_TAG.sub("", words)).strip()
