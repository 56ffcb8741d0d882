"""The formats by name, and recognition of a file's format."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any, Final, Literal, get_args

from msgspec import Struct

from weft.conversations.formats import (
    captions,
    chat_exports,
    messages,
    plain,
    slack,
    streamed_chats,
    whatsapp,
)
from weft.conversations.formats import coding_agents as agents
from weft.conversations.formats.entries import Entries, Unreadable
from weft.conversations.formats.files import Bundle, is_zip, opened, unwrapped
from weft.conversations.formats.json_lines import objects
from weft.conversations.formats.json_stream import EXPORT_NAMES, Glimpse, glimpse
from weft.core.errors import Invalid

FormatName = Literal[
    "claude-code",
    "gemini",
    "cursor",
    "vscode",
    "codex",
    "claude-export",
    "chatgpt",
    "slack",
    "discord",
    "telegram",
    "whatsapp",
    "open-webui",
    "librechat",
    "messages",
    "captions",
    "plain",
]
FormatAsked = Literal["auto", FormatName]
FORMATS: Final[tuple[str, ...]] = get_args(FormatName)
LOOKED_AT: Final = 50  # lines, to recognise a file
MAX_LISTED: Final = 10_000  # files of a folder, to recognise it


class Format(Struct, frozen=True, kw_only=True):
    """How a file is read. `source` distinguishes the ids of programs that keep a conversation twice.

    `grows` if lines are only appended, so that reading can continue; `final` if turns never change once written.
    `by_file` if a conversation may be named only by its file.
    """

    name: FormatName
    source: str
    read: Callable[[Path, int], Entries]
    grows: bool = False
    final: bool = False
    by_file: bool = False


CLAUDE_CODE: Final = Format(
    name="claude-code", source="claude-code", read=agents.CLAUDE_CODE.read, grows=True, final=True
)
GEMINI: Final = Format(name="gemini", source="gemini", read=agents.GEMINI.read, grows=True)
GEMINI_WHOLE: Final = Format(name="gemini", source="gemini", read=agents.read_gemini_whole)
GEMINI_LOG: Final = Format(name="gemini", source="gemini-log", read=agents.read_gemini_whole)
CURSOR: Final = Format(name="cursor", source="cursor", read=agents.read_cursor)
CURSOR_LINES: Final = Format(
    name="cursor", source="cursor-lines", read=agents.CURSOR_LINES.read, grows=True, final=True
)
COPILOT: Final = Format(name="vscode", source="copilot", read=agents.COPILOT.read, grows=True, final=True)
VSCODE: Final = Format(name="vscode", source="vscode", read=agents.read_vscode_chat)
CODEX: Final = Format(name="codex", source="codex", read=agents.CODEX.read, grows=True, final=True)
EXPORT: Final = Format(name="claude-export", source="claude-export", read=chat_exports.CLAUDE.read)
CHATGPT: Final = Format(name="chatgpt", source="chatgpt", read=chat_exports.CHATGPT.read)
SLACK: Final = Format(name="slack", source="slack", read=slack.read)
DISCORD: Final = Format(name="discord", source="discord", read=streamed_chats.DISCORD.read, by_file=True)
TELEGRAM: Final = Format(name="telegram", source="telegram", read=streamed_chats.TELEGRAM.read, by_file=True)
WHATSAPP: Final = Format(name="whatsapp", source="whatsapp", read=whatsapp.read, by_file=True)
OPEN_WEBUI: Final = Format(name="open-webui", source="open-webui", read=chat_exports.OPEN_WEBUI.read)
LIBRECHAT: Final = Format(name="librechat", source="librechat", read=chat_exports.LIBRECHAT.read)
MESSAGES: Final = Format(name="messages", source="messages", read=messages.read, by_file=True)
CAPTIONS: Final = Format(name="captions", source="captions", read=captions.read, by_file=True)
PLAIN: Final = Format(name="plain", source="plain", read=plain.read, by_file=True)
# Not of coding agents: the name alone decides how a file is read.
_OTHERS: Final = (CHATGPT, SLACK, DISCORD, TELEGRAM, WHATSAPP, OPEN_WEBUI, LIBRECHAT, MESSAGES, CAPTIONS, PLAIN)

_SQLITE = b"SQLite format 3\x00"
_EVENTS = ("session.start", "user.message", "assistant.message", "assistant.turn_start")


def format_of(path: Path, named: str = "auto") -> Format:
    """The format of a file, or of an export's folder. Raises NotFound or StoreError if it cannot be read, Invalid if
    its format is unknown.

    `named` gives the format of a file that is too short or ambiguous to recognise.
    """
    chosen = next((each for each in _OTHERS if each.name == named), None)
    if chosen is not None and not path.is_dir():
        opened(path).close()
    found = chosen or _seen(path) or _named(path, named)
    if found is None:
        known = ", ".join(FORMATS)
        raise Invalid(f"{path} is not a known kind of conversation", hint=f"name its format with --format: {known}")
    if named not in ("auto", found.name):
        raise Invalid(f"{path} looks like {found.name}, not like {named}", hint="leave out the format")
    return found


def _seen(path: Path) -> Format | None:
    """The format that a file's content shows."""
    if path.is_dir() and any(map(_is_part, islice(unwrapped(path).iterdir(), MAX_LISTED))):
        return _bundle(path)
    with opened(path) as file:
        head = file.read(16)
    if head == _SQLITE:
        return CURSOR
    if is_zip(path):
        return _bundle(path)
    if path.suffix == ".json":
        with opened(path) as file:
            return _whole(glimpse(file))
    lines = islice(objects(path), LOOKED_AT)
    rows = [line.value for line in lines if not isinstance(line, Unreadable)]
    found = next((each for row in rows if (each := _line(row))), None)
    if found is not None or path.suffix == ".jsonl":
        return found or (MESSAGES if any(map(messages.is_message, rows)) else None)
    return _text(path) if not rows else MESSAGES if messages.is_message(rows[0]) else None


def _is_part(file: Path) -> bool:
    """Whether a file belongs to the top level of an export."""
    return bool(
        file.name in ("users.json", "channels.json")
        or EXPORT_NAMES.fullmatch(file.name)
        or slack.DAY.fullmatch(file.name)
    )


def _text(path: Path) -> Format | None:
    """The format of a text file."""
    with opened(path) as file:
        if b"\x00" in file.read(4_096) and not file.seek(0) and file.read(2) not in (b"\xff\xfe", b"\xfe\xff"):
            return None  # no text
    if captions.is_captions(path):
        return CAPTIONS
    if whatsapp.is_chat(path):
        return WHATSAPP
    return PLAIN if plain.style_in(path).sure else None


def _bundle(path: Path) -> Format | None:
    """The format of a zip or folder with many files."""
    with Bundle(path) as bundle:
        listed = next((each for each in bundle.names if EXPORT_NAMES.fullmatch(PurePosixPath(each).name)), "")
        if listed:
            with bundle.open(listed) as file:
                return _whole(glimpse(file))
        if any(slack.DAY.fullmatch(PurePosixPath(each).name) for each in bundle.names):
            return SLACK
    if path.is_dir():
        return None
    text = whatsapp.text_in(path)
    return WHATSAPP if text and whatsapp.is_chat(path, text) else None


def _line(value: dict[str, Any]) -> Format | None:
    """The format that a JSON line shows."""
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


def _whole(seen: Glimpse) -> Format | None:
    """The format that a JSON file shows."""
    first = seen.first
    if seen.kind == "list":
        if "chat_messages" in first:
            return EXPORT
        if "mapping" in first:
            return CHATGPT
        if isinstance(first.get("chat"), dict) or isinstance(first.get("history"), dict):
            return OPEN_WEBUI
        if "conversationId" in first and ("messages" in first or "messagesTree" in first):
            return LIBRECHAT
        if messages.is_message(first):
            return MESSAGES
        return GEMINI_LOG if "messageId" in first else None
    fields = set(seen.fields)
    if "requests" in fields:
        return VSCODE
    if "mapping" in fields:
        return CHATGPT
    if "chats" in fields or ({"type", "id", "messages"} <= fields and first.get("type") in ("message", "service")):
        return TELEGRAM
    if {"channel", "messages"} <= fields and ("guild" in fields or "author" in first):
        return DISCORD
    if "conversationId" in fields and fields & {"messages", "messagesTree"}:
        return LIBRECHAT
    if "messages" in fields and "projectHash" not in fields and messages.is_message(first):
        return MESSAGES
    if fields & {"conversations", "conversation", "turns"} and messages.is_message(first):
        return MESSAGES
    return GEMINI_WHOLE if "messages" in fields else None


def _named(path: Path, named: str) -> Format | None:
    """The format given by the caller, for a file that shows none."""
    lines = {"claude-code": CLAUDE_CODE, "gemini": GEMINI, "cursor": CURSOR_LINES, "vscode": COPILOT, "codex": CODEX}
    files = {"gemini": GEMINI_WHOLE, "vscode": VSCODE, "claude-export": EXPORT}
    databases = {"cursor": CURSOR}
    return {".jsonl": lines, ".vscdb": databases}.get(path.suffix, files).get(named)
