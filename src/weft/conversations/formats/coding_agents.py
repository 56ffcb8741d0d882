"""Session files of coding agents: Claude Code, Codex, Gemini CLI, Cursor, and Copilot in VS Code.

JSON lines, which are only ever appended to, are read by one loop; a `LineFormat` per client says which fields hold
what.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from msgspec import Struct, field

from weft.conversations.formats.client_markup import content_text, without_markup
from weft.conversations.formats.entries import (
    Entries,
    ImportedTurn,
    Role,
    Unreadable,
    as_dict,
    as_label,
    as_list,
    as_text,
    role_turn,
    titled,
)
from weft.conversations.formats.files import opened
from weft.conversations.formats.json_lines import (
    MAX_WHOLE_BYTES,
    JsonLine,
    decoded,
    first_object,
    objects,
    read_lines,
    whole,
)
from weft.conversations.formats.times import as_time

MAX_CWD_CHARACTERS: Final = 4_096
MAX_VALUE_BYTES: Final = 32 << 20
MAX_CONVERSATIONS: Final = 100_000
MAX_ITEMS: Final = 100_000  # of one list in a conversation's change log


_PLAIN_ROLES: Final[dict[str, Role]] = {"user": "user", "assistant": "assistant"}


def _itself(value: dict[str, Any]) -> Iterable[dict[str, Any]]:
    return (value,)


def _no_title(_: dict[str, Any]) -> Any:
    return None


class LineFormat(Struct, frozen=True, kw_only=True):
    """Where the JSON lines of one client hold a message; nested fields are written with dots.

    `messages` gives the messages of a line, `title` its title, if any. `ids` are tried in order; without any, the byte
    at which the line begins is the id. Messages with one of the `hidden` flags are of other agents or the client
    itself. `header` gives the object of the first line that names session and directory.
    """

    client: str
    role: str
    text: str
    roles: Mapping[str, Role] = field(default_factory=lambda: dict(_PLAIN_ROLES))
    ids: tuple[str, ...] = ()
    at: str = "timestamp"
    session: str = ""
    content_kinds: tuple[str, ...] = ("text",)
    hidden: tuple[str, ...] = ()
    messages: Callable[[dict[str, Any]], Iterable[dict[str, Any]]] = _itself
    title: Callable[[dict[str, Any]], Any] = _no_title
    header: Callable[[dict[str, Any]], dict[str, Any]] | None = None

    def read(self, path: Path, start: int = 0) -> Entries:
        """The turns of user and assistant. Tools, their results, thoughts and other agents are left out."""
        about = self.header(first_object(path)) if self.header else {}
        session = as_label(about.get("sessionId")) or as_label(about.get("id")) or path.stem
        cwd = as_label(about.get("cwd"), MAX_CWD_CHARACTERS)

        def of_line(line: JsonLine) -> Entries:
            own = as_label(line.value.get(self.session)) or session
            yield from titled(own, self.title(line.value))
            for message in self.messages(line.value):
                yield from self.turn(as_dict(message), own, cwd=cwd, start=line.start)

        return read_lines(path, start, of_line)

    def turn(
        self, message: dict[str, Any], session: str, *, cwd: str = "", start: int | None = None
    ) -> Iterator[ImportedTurn]:
        """The turn of a message; nothing if nobody wrote it."""
        role = self.roles.get(as_label(_field(message, self.role)))
        identity = next(filter(None, (as_label(_field(message, each)) for each in self.ids)), "")
        if not self.ids:
            identity = f"from-{start}"
        if role is None or not identity or any(message.get(flag) is True for flag in self.hidden):
            return
        text = content_text(_field(message, self.text), self.client, role, self.content_kinds)
        own_cwd = as_label(message.get("cwd"), MAX_CWD_CHARACTERS)
        yield from role_turn(identity, session, role, text, as_time(_field(message, self.at)), own_cwd or cwd)


def _field(value: dict[str, Any], path: str) -> Any:
    found: Any = value
    for key in path.split("."):
        found = as_dict(found).get(key)
    return found


# ---- Claude Code: ~/.claude/projects/<directory>/<session>.jsonl

_TITLES: Final = {"custom-title": "customTitle", "ai-title": "aiTitle"}

CLAUDE_CODE: Final = LineFormat(
    client="claude-code",
    role="type",
    text="message.content",
    ids=("uuid",),
    session="sessionId",
    hidden=("isSidechain", "isMeta", "isCompactSummary", "isApiErrorMessage", "isVisibleInTranscriptOnly"),
    title=lambda value: value.get(_TITLES.get(as_label(value.get("type")), "")),
)


# ---- Codex: ~/.codex/sessions/<year>/<month>/<day>/rollout-*.jsonl


def _codex_messages(value: dict[str, Any]) -> Iterable[dict[str, Any]]:
    item = as_dict(value.get("payload")) if value.get("type") == "response_item" else value
    return ({**item, "timestamp": value.get("timestamp")},) if item.get("type") == "message" else ()


CODEX: Final = LineFormat(
    client="codex",
    role="role",
    text="content",
    content_kinds=("text", "input_text", "output_text"),
    messages=_codex_messages,
    header=lambda value: as_dict(value.get("payload")) or value,
)


# ---- Copilot's own transcript, which its hooks are given: transcripts/*.jsonl of the extension

COPILOT: Final = LineFormat(
    client="vscode",
    role="type",
    roles={"user.message": "user", "assistant.message": "assistant"},
    text="data.content",
    ids=("id", "data.messageId"),
)


# ---- Copilot's chats in VS Code: chatSessions/*.json, or *.jsonl with the log of changes to one

_INITIAL, _SET, _PUSH = range(3)  # kinds of changes; another one deletes


def read_vscode_chat(path: Path, start: int = 0) -> Entries:
    """A conversation in one file, either its current state or the log of changes to it."""
    if path.suffix == ".json":
        value = whole(path)
        if isinstance(value, Unreadable):
            yield value
            return
        yield from _vscode_turns(as_dict(value), path)
        return
    with opened(path) as file:
        size = file.seek(0, 2)
    if size > MAX_WHOLE_BYTES:
        yield Unreadable(where="the file", reason=f"it is larger than {MAX_WHOLE_BYTES:,} bytes")
        return
    state: dict[str, Any] = {}
    for line in objects(path):
        if isinstance(line, Unreadable):
            yield line
        elif not _apply_change(state, line.value):
            yield Unreadable(where=f"line {line.number}", reason="it changes a value that does not exist")
    yield from _vscode_turns(as_dict(state.get("v")), path)


def _apply_change(state: dict[str, Any], change: dict[str, Any]) -> bool:
    """Applies one change to the value `v`; False if it does not apply."""
    if change.get("kind") == _INITIAL:
        state["v"] = change.get("v")
        return True
    steps = ["v", *as_list(change.get("k"))]
    holder: Any = state
    for step in steps[:-1]:
        holder = _at(holder, step)
    last = steps[-1]
    if change.get("kind") == _PUSH:
        items = _at(holder, last)
        if items is None and isinstance(holder, dict):
            holder[last] = items = []
        if not isinstance(items, list):
            return False
        if isinstance(at := change.get("i"), int) and at >= 0:
            del items[at:]
        items.extend(as_list(change.get("v"))[: MAX_ITEMS - len(items)])
        return True
    value = change.get("v") if change.get("kind") == _SET else None
    if isinstance(holder, dict) and isinstance(last, str):
        holder[last] = value
        return True
    if isinstance(holder, list) and isinstance(last, int) and 0 <= last <= len(holder) < MAX_ITEMS:
        holder[last : last + 1] = [value]
        return True
    return False


def _at(holder: Any, step: Any) -> Any:
    if isinstance(holder, dict) and isinstance(step, str):
        return holder.get(step)
    if isinstance(holder, list) and isinstance(step, int) and 0 <= step < len(holder):
        return holder[step]
    return None


def _vscode_turns(value: dict[str, Any], path: Path) -> Entries:
    session = as_label(value.get("sessionId")) or path.stem
    requests = value.get("requests")
    if not isinstance(requests, list):
        yield Unreadable(where="the file", reason="it has no requests")
        return
    yield from titled(session, value.get("customTitle"))
    for number, request in enumerate(map(as_dict, requests), start=1):
        identity = as_label(request.get("requestId")) or str(number)
        at = as_time(request.get("timestamp"))
        message = request.get("message")
        spoken: tuple[tuple[Role, str], ...] = (
            ("user", as_text(as_dict(message).get("text")) or as_text(message)),
            ("assistant", _vscode_answer(as_list(request.get("response")))),
        )
        for role, text in spoken:
            yield from role_turn(f"{identity}.{role}", session, role, without_markup(text, "vscode", role), at)


def _vscode_answer(parts: Iterable[Any]) -> str:
    """The text of an answer: its parts without a kind or of markdown. Tools and thoughts have kinds of their own."""
    found = []
    for part in map(as_dict, parts):
        if part.get("kind") in (None, "markdownContent"):
            content = part.get("content") if "content" in part else part
            found.append(as_text(as_dict(content).get("value")) or as_text(part.get("value")))
    return "".join(found)


# ---- Cursor: agent-transcripts/*.jsonl for hooks, with neither ids nor times

CURSOR_LINES: Final = LineFormat(client="cursor", role="role", text="message.content")


# ---- Cursor: globalStorage/state.vscdb, a database that Cursor keeps open

_BUBBLE_ROLES: Final[dict[str, Role]] = {"1": "user", "2": "assistant"}
_CONVERSATIONS_SQL: Final = (
    "SELECT key, CASE WHEN length(value) <= :most THEN value END FROM cursorDiskKV"
    " WHERE key >= 'composerData:' AND key < 'composerData;' ORDER BY key LIMIT :limit"
)
_MESSAGE_SQL: Final = "SELECT value FROM cursorDiskKV WHERE key = ? AND length(value) <= ?"


def read_cursor(path: Path, start: int = 0) -> Entries:
    """Every conversation of the database, read without locking or writing it.

    A database that changes meanwhile may be read in part; the next import reads the rest.
    """
    opened(path).close()
    try:
        with closing(sqlite3.connect(f"file:{quote(str(path.absolute()))}?mode=ro&immutable=1", uri=True)) as database:
            bounds = {"most": MAX_VALUE_BYTES, "limit": MAX_CONVERSATIONS}
            for key, value in database.execute(_CONVERSATIONS_SQL, bounds):
                session = as_label(as_text(key).partition(":")[2])
                yield from _cursor_conversation(database, session, _decoded(value))
    except sqlite3.Error as problem:
        yield Unreadable(where="the database", reason=f"it cannot be read: {problem!s:.120}")


def _cursor_conversation(database: sqlite3.Connection, session: str, value: dict[str, Any] | None) -> Entries:
    if value is None:
        yield Unreadable(where=f"conversation {session}", reason="it is not JSON, or too large")
        return
    yield from titled(session, value.get("name"))
    begun = as_time(value.get("createdAt"))
    for bubble in _bubbles(database, session, value):
        role = _BUBBLE_ROLES.get(as_label(bubble.get("type")))
        if role is not None and (identity := as_label(bubble.get("bubbleId"))):
            text = without_markup(as_text(bubble.get("text")), "cursor", role)
            yield from role_turn(identity, session, role, text, as_time(bubble.get("createdAt")) or begun)


def _bubbles(database: sqlite3.Connection, session: str, value: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The messages in order: inside the conversation in older versions, else one row each."""
    yield from map(as_dict, as_list(value.get("conversation")))
    for head in map(as_dict, as_list(value.get("fullConversationHeadersOnly"))):
        bubble = as_label(head.get("bubbleId"))
        found = database.execute(_MESSAGE_SQL, (f"bubbleId:{session}:{bubble}", MAX_VALUE_BYTES)).fetchone()
        if found is not None and (message := _decoded(found[0])) is not None:
            yield {"type": head.get("type"), "bubbleId": bubble, **message}


def _decoded(value: Any) -> dict[str, Any] | None:
    try:
        found = decoded(value) if isinstance(value, str | bytes) else None
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


# ---- Gemini CLI: ~/.gemini/tmp/<project>/chats/session-*.jsonl (earlier .json), and the older logs.json


def _gemini_messages(value: dict[str, Any]) -> Iterable[dict[str, Any]]:
    return (value, *as_list((as_dict(value.get("$set")) or value).get("messages")))


def _gemini_title(value: dict[str, Any]) -> Any:
    return None if "type" in value else (as_dict(value.get("$set")) or value).get("summary")


# A message is written again whenever it grows. A rewound message was said all the same, and is kept.
GEMINI: Final = LineFormat(
    client="gemini",
    role="type",
    roles={"user": "user", "gemini": "assistant"},
    text="content",
    ids=("id",),
    messages=_gemini_messages,
    title=_gemini_title,
    header=lambda value: {"sessionId": value.get("sessionId")},
)


def read_gemini_whole(path: Path, start: int = 0) -> Entries:
    """A conversation in one file that is rewritten each time, or the older list of user input."""
    value = whole(path)
    if isinstance(value, Unreadable):
        yield value
    elif isinstance(value, list):
        yield from _gemini_log(value, path)
    else:
        value = as_dict(value)
        session = as_label(value.get("sessionId")) or path.stem
        if not isinstance(value.get("messages"), list):
            yield Unreadable(where="the file", reason="it has no messages")
        yield from titled(session, value.get("summary"))
        for message in as_list(value.get("messages")):
            yield from GEMINI.turn(as_dict(message), session)


def _gemini_log(rows: list[Any], path: Path) -> Entries:
    """The older log: only the user's input, of all sessions in a directory."""
    for number, value in enumerate(map(as_dict, rows), start=1):
        text = content_text(value.get("message"), "gemini", "user")
        if value.get("type") == "user" and not text.startswith("/"):
            session = as_label(value.get("sessionId")) or path.parent.name
            identity = as_label(value.get("messageId")) or str(number)
            yield from role_turn(f"log-{identity}", session, "user", text, as_time(value.get("timestamp")))
