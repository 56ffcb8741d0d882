"""Captions of meetings: WebVTT and SRT. Cues that one speaker says in a row are one turn; their times name no day."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Final

from weft.transcripts.entries import Bad, Entries, Entry
from weft.transcripts.json_stream import UNREADABLE
from weft.transcripts.text_lines import pieces
from weft.transcripts.told_apart import session_of, told_apart, turn_of

MAX_TOGETHER: Final = 2_000  # characters of cues that are put together: a speech is told in passages
TIMING: Final = re.compile(
    r"\s{0,8}(?:\d{1,3}:)?\d{1,2}:\d{2}[.,]\d{1,3}\s{1,3}-->\s{1,3}(?:\d{1,3}:)?\d{1,2}:\d{2}[.,]\d{1,3}"
)
_VOICE: Final = re.compile(r"<v(?:\.[^\s>]{0,60})?\s+([^>]{1,120})>")
_TAG: Final = re.compile(r"</?(?:v|c|i|b|u|font|lang|ruby|rt)\b[^<>]{0,200}>|<\d{1,3}:[\d:.]{1,16}>")
_NAME: Final = re.compile(r"\s{0,3}[-–]?\s?(?P<name>[^\W\d_][\w.'’-]{0,39}(?: [\w.'’()@&-]{1,39}){0,4}):\s+")


def read(path: Path, start: int = 0) -> Entries:
    """What was said, in order, by whom cues name: `<v Name>`, or `Name: words`."""
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
        for told, words in _cues(path):
            speaker = told or who
            if held and (speaker != who or len(held) + len(words) > MAX_TOGETHER):
                yield turn_of(session, held, who=who)
                held = ""
            who, held = speaker, f"{held} {words}".strip()
        if held:
            yield turn_of(session, held, who=who)
    except UNREADABLE as problem:
        yield Bad(where="the file", reason=f"it cannot be read on: {problem!s:.80}")


def _cues(path: Path) -> Iterator[tuple[str, str]]:
    """Who speaks in each line of a cue, and the words. A name stands until the next: cues go on without it."""
    inside = False
    for begins, piece in pieces(path):
        line = piece.strip()
        if begins and TIMING.match(piece):
            inside = True
        elif begins and not line:
            inside = False
        elif inside and line:
            yield from _said(line)


def _said(line: str) -> Iterator[tuple[str, str]]:
    voices = list(_VOICE.finditer(line))
    for number, voice in enumerate(voices):
        end = voices[number + 1].start() if number + 1 < len(voices) else len(line)
        yield unescape(voice[1]).strip(), _plain(line[voice.end() : end])
    if voices:
        return
    plain = _plain(line)
    named = _NAME.match(plain)
    yield (named["name"], plain[named.end() :]) if named else ("", plain)


def _plain(words: str) -> str:
    return unescape(_TAG.sub("", words)).strip()
