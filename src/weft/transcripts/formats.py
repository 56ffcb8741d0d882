"""The formats that are read, by name, and which of them a file has."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any, Final, Literal, get_args

from msgspec import Struct

from weft.errors import Invalid
from weft.transcripts import claude_code, claude_export, codex, copilot, cursor, gemini
from weft.transcripts.entries import Bad, Entries, mapping
from weft.transcripts.lines import objects, opened, whole

FormatName = Literal["claude-code", "gemini", "cursor", "vscode", "codex", "claude-export"]
FORMATS: Final[tuple[str, ...]] = get_args(FormatName)
LOOKED_AT: Final = 50  # lines, to tell what a file is


class Format(Struct, frozen=True, kw_only=True):
    """How a file is read. `source` tells apart the ids of programs that keep a conversation twice.

    `grows` if the file is only added to, line by line, so that reading can go on where it stopped; `final` if what
    was once written of a turn never changes.
    """

    name: FormatName
    source: str
    read: Callable[[Path, int], Entries]
    grows: bool = False
    final: bool = False


CLAUDE_CODE: Final = Format(name="claude-code", source="claude-code", read=claude_code.read, grows=True, final=True)
GEMINI: Final = Format(name="gemini", source="gemini", read=gemini.read_lines, grows=True)
GEMINI_WHOLE: Final = Format(name="gemini", source="gemini", read=gemini.read_whole)
GEMINI_LOG: Final = Format(name="gemini", source="gemini-log", read=gemini.read_whole)
CURSOR: Final = Format(name="cursor", source="cursor", read=cursor.read)
CURSOR_LINES: Final = Format(name="cursor", source="cursor-lines", read=cursor.read_lines, grows=True, final=True)
COPILOT: Final = Format(name="vscode", source="copilot", read=copilot.read_events, grows=True, final=True)
VSCODE: Final = Format(name="vscode", source="vscode", read=copilot.read_chat)
CODEX: Final = Format(name="codex", source="codex", read=codex.read, grows=True, final=True)
EXPORT: Final = Format(name="claude-export", source="claude-export", read=claude_export.read)

_SQLITE = b"SQLite format 3\x00"
_EVENTS = ("session.start", "user.message", "assistant.message", "assistant.turn_start")


def format_of(path: Path, named: str = "auto") -> Format:
    """The format of a file. Raises NotFound or StoreError where it cannot be read, Invalid where it is none of ours.

    `named` says what it is, where the file itself may be too short to tell.
    """
    with opened(path) as file:
        head = file.read(16)
    if head == _SQLITE:
        found: Format | None = CURSOR
    elif path.suffix == ".json":
        found = _whole(whole(path))
    else:
        lines = islice(objects(path), LOOKED_AT)
        found = next((each for line in lines if not isinstance(line, Bad) and (each := _line(line.value))), None)
    found = found or _named(path, named)
    if found is None:
        known = ", ".join(FORMATS)
        raise Invalid(f"{path} is no conversation that can be read", hint=f"these are read: {known}")
    if named not in ("auto", found.name):
        raise Invalid(f"{path} looks like {found.name}, not like {named}", hint="leave the format out")
    return found


def _line(value: dict[str, Any]) -> Format | None:
    """What a line shows."""
    kind = value.get("type")
    if kind in ("session_meta", "response_item", "event_msg", "turn_context"):
        return CODEX
    if kind in _EVENTS and isinstance(value.get("data"), dict):
        return COPILOT
    if kind in ("user", "assistant") and "uuid" in value and "message" in value:
        return CLAUDE_CODE
    if "projectHash" in value or "$set" in value or "$rewindTo" in value or kind == "gemini":
        return GEMINI
    if isinstance(value.get("kind"), int) and ("v" in value or "k" in value):
        return VSCODE
    if value.get("role") in ("user", "assistant") and isinstance(value.get("message"), dict):
        return CURSOR_LINES
    return None


def _whole(value: Any) -> Format | None:
    """What a file of JSON shows."""
    if isinstance(value, Bad):
        return None
    if isinstance(value, list):
        first = mapping(value[0]) if value else {}
        return EXPORT if "chat_messages" in first else GEMINI_LOG if "messageId" in first else None
    found = mapping(value)
    return VSCODE if "requests" in found else GEMINI_WHOLE if "messages" in found else None


def _named(path: Path, named: str) -> Format | None:
    """By what the caller says, for a file that shows nothing yet or nothing any more."""
    lines = {"claude-code": CLAUDE_CODE, "gemini": GEMINI, "cursor": CURSOR_LINES, "vscode": COPILOT, "codex": CODEX}
    files = {"gemini": GEMINI_WHOLE, "vscode": VSCODE, "claude-export": EXPORT}
    databases = {"cursor": CURSOR}
    return {".jsonl": lines, ".vscdb": databases}.get(path.suffix, files).get(named)
