"""What a file tells, as turns."""

from __future__ import annotations

from pathlib import Path

from weft.conversations.formats.entries import ImportedTurn, Unreadable
from weft.conversations.formats.formats import format_of


def turns(path: Path, start: int = 0) -> list[ImportedTurn]:
    return [each for each in format_of(path).read(path, start) if isinstance(each, ImportedTurn)]


def told(path: Path) -> list[tuple[str, str]]:
    return [(turn.role, turn.text) for turn in turns(path)]


def bad(path: Path) -> list[Unreadable]:
    return [each for each in format_of(path).read(path, 0) if isinstance(each, Unreadable)]


GEMINI = [
    {"id": "1", "timestamp": "2026-03-01T10:00:00Z", "type": "user", "content": [{"text": "Is it late?"}]},
    {"id": "2", "timestamp": "2026-03-01T10:00:05Z", "type": "gemini", "content": "Yes.", "toolCalls": [{"id": "t"}]},
    {"id": "3", "timestamp": "2026-03-01T10:00:06Z", "type": "info", "content": "Update available"},
]


ABOUT = {"sessionId": "g1", "projectHash": "abc", "startTime": "2026-03-01T10:00:00Z"}
