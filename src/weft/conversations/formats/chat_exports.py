"""Exports of chat clients as JSON lists of conversations: Claude, ChatGPT, Open WebUI, LibreChat.

One loop reads them; an `ExportFormat` per client says where a conversation holds its name, title, messages and times.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from weft.conversations.formats.client_markup import NO_CLIENT, content_text, without_markup
from weft.conversations.formats.entries import (
    PROGRAM,
    Entries,
    ImportedTurn,
    Omitted,
    Role,
    Unreadable,
    as_dict,
    as_label,
    as_list,
    as_text,
    first_label,
    role_of,
    role_turn,
    session_of,
    titled,
    turn_of,
    with_unique_ids,
)
from weft.conversations.formats.json_stream import conversations
from weft.conversations.formats.times import as_time

MAX_DEPTH: Final = 10_000

_Json = dict[str, Any]


class ExportFormat(Struct, frozen=True, kw_only=True):
    """How the conversations of one client are read.

    `session` names the fields with the conversation's id; unless `needs_id`, one without is named by its file and
    number. `turn` makes the entry of a message, given the session and the time of the conversation. `incomplete` is
    reported for a conversation without an id, or without messages unless it `may_be_empty`. With `own_ids`, the
    client's ids are unique and every message has one.
    """

    session: tuple[str, ...]
    messages: Callable[[_Json], list[_Json]]
    turn: Callable[[_Json, str, int | None], Iterator[ImportedTurn | Omitted]]
    title: Callable[[_Json], Any] = lambda row: row.get("title")
    begun: Callable[[_Json], int | None] = lambda row: None
    may_be_empty: Callable[[_Json], bool] = lambda row: False
    needs_id: bool = False
    own_ids: bool = False
    incomplete: str = "it has no messages"

    def read(self, path: Path, start: int = 0) -> Entries:
        """Every conversation of an export, one at a time: an export may be larger than memory."""
        return self._entries(path) if self.own_ids else with_unique_ids(self._entries(path))

    def _entries(self, path: Path) -> Entries:
        for number, row in conversations(path):
            if isinstance(row, Unreadable):
                yield row
                continue
            session = first_label(row, self.session)
            if not self.needs_id:
                session = session or f"{session_of(path)}-{number}"
            messages = self.messages(row)
            if not session or not (messages or self.may_be_empty(row)):
                yield Unreadable(where=f"conversation {number}", reason=self.incomplete)
                continue
            yield from titled(session, self.title(row))
            begun = self.begun(row)
            for message in messages:
                yield from self.turn(message, session, begun)


def _rows(value: Any) -> list[_Json]:
    return [as_dict(each) for each in as_list(value)]


def _branch(tree: _Json, last: str, parent: str) -> list[_Json]:
    """The nodes from the root to `last`, following `parent` upwards; a cycle in a damaged tree ends it."""
    found: list[_Json] = []
    seen: set[str] = set()
    while last in tree and last not in seen:
        seen.add(last)
        found.append(as_dict(tree[last]))
        last = as_text(found[-1].get(parent))
    return found[::-1]


def _role(who: str) -> Role:
    return "assistant" if role_of(who) == "assistant" else "user"


# ---- Claude Desktop and claude.ai: conversations.json of the account

_CLAUDE_ROLES: Final[dict[str, Role]] = {"human": "user", "assistant": "assistant"}


def _claude_turn(message: _Json, session: str, _: int | None) -> Iterator[ImportedTurn]:
    role = _CLAUDE_ROLES.get(as_label(message.get("sender")))
    if role is None or not (identity := as_label(message.get("uuid"))):
        return
    content = content_text(message.get("content"), NO_CLIENT, role)
    text = content or without_markup(as_text(message.get("text")), NO_CLIENT, role)
    yield from role_turn(identity, session, role, text, as_time(message.get("created_at")))


CLAUDE: Final = ExportFormat(
    session=("uuid",),
    title=lambda row: row.get("name"),
    messages=lambda row: _rows(row.get("chat_messages")),
    turn=_claude_turn,
    may_be_empty=lambda row: True,
    needs_id=True,
    own_ids=True,
    incomplete="it has no uuid",
)


# ---- ChatGPT: conversations.json of the account. A conversation is a tree; the branch shown last counts

HIDDEN: Final = "a message that the program does not show"
_CHATGPT_KINDS: Final = ("text", "multimodal_text")  # other kinds are code for tools, their output, thoughts
# Citations are written between private-use characters; the name in an entity citation was shown.
_CITATION: Final = re.compile("\ue200([^\ue200\ue201]{0,2000})\ue201")
_PRIVATE_USE: Final = re.compile("[\ue200-\ue20f]")
_ENTITY_NAME: Final = re.compile(r'entity[^"]{0,4}"[^"]{0,80}",\s?"([^"]{1,200})"')


def _chatgpt_messages(row: _Json) -> list[_Json]:
    """The messages up to the one shown last, or else the newest. One without a time has that of the one before."""
    tree, last = as_dict(row.get("mapping")), as_label(row.get("current_node"))
    if tree and last not in tree:
        last = max((as_time(as_dict(as_dict(node).get("message")).get("create_time")) or 0, key)
                   for key, node in tree.items())[1]  # fmt: skip
    at = row.get("create_time")
    found = []
    for node in _branch(tree, last, "parent"):
        if message := as_dict(node.get("message")):
            at = at if as_time(message.get("create_time")) is None else message["create_time"]
            found.append({**message, "create_time": at})
    return found


def _chatgpt_turn(message: _Json, session: str, _: int | None) -> Iterator[ImportedTurn | Omitted]:
    about, content = as_dict(message.get("metadata")), as_dict(message.get("content"))
    role = role_of(as_label(as_dict(message.get("author")).get("role")))
    if about.get("is_visually_hidden_from_conversation") is True:
        yield Omitted(reason=HIDDEN)
    elif role not in ("user", "assistant") or message.get("recipient", "all") != "all":
        yield Omitted(reason=PROGRAM)
    elif content.get("content_type") not in _CHATGPT_KINDS:
        yield Omitted(reason=f"a message of the kind {as_label(content.get('content_type'), 40) or 'unknown'}")
    else:
        parts = (each if isinstance(each, str) else as_dict(each).get("text") for each in as_list(content.get("parts")))
        text = without_markup(_without_citations("\n".join(filter(None, map(as_text, parts)))), NO_CLIENT, role)
        at = as_time(message.get("create_time"))
        yield turn_of(session, text, who=role, at=at, identity=as_label(message.get("id")))


def _without_citations(text: str) -> str:
    def shown(found: re.Match[str]) -> str:
        entity = _ENTITY_NAME.match(found[1])
        return entity[1] if entity else ""

    return _PRIVATE_USE.sub("", _CITATION.sub(shown, text)) if _PRIVATE_USE.search(text) else text


CHATGPT: Final = ExportFormat(
    session=("conversation_id", "id"),
    messages=_chatgpt_messages,
    turn=_chatgpt_turn,
    may_be_empty=lambda row: bool(as_dict(row.get("mapping"))),
    needs_id=True,
    incomplete="it has no id or no messages",
)


# ---- Open WebUI: chats with a message tree, of which the branch shown last counts


def _webui_chat(row: _Json) -> _Json:
    return as_dict(row.get("chat")) or row


def _webui_messages(row: _Json) -> list[_Json]:
    history = as_dict(_webui_chat(row).get("history"))
    branch = _branch(as_dict(history.get("messages")), as_text(history.get("currentId")), "parentId")
    return branch or _rows(_webui_chat(row).get("messages"))


def _webui_turn(message: _Json, session: str, begun: int | None) -> Iterator[ImportedTurn | Omitted]:
    who = as_label(message.get("role"))
    text = content_text(message.get("content"), NO_CLIENT, _role(who))
    at = as_time(message.get("timestamp")) or begun
    yield turn_of(session, text, who=who, at=at, identity=as_label(message.get("id")))


OPEN_WEBUI: Final = ExportFormat(
    session=("id",),
    title=lambda row: row.get("title") or _webui_chat(row).get("title"),
    messages=_webui_messages,
    begun=lambda row: as_time(row.get("created_at")) or as_time(_webui_chat(row).get("timestamp")),
    turn=_webui_turn,
)


# ---- LibreChat: a branch, a list of all messages, or messages nested in the messages they answer


def _librechat_messages(row: _Json) -> list[_Json]:
    """Messages before their answers, however deeply nested."""
    found: list[_Json] = []
    stack = [iter(as_list(row.get("messagesTree")) or as_list(row.get("messages")))]
    while stack:
        following = next(stack[-1], None)
        if following is None:
            stack.pop()
            continue
        found.append(as_dict(following))
        if (below := as_list(found[-1].get("children"))) and len(stack) < MAX_DEPTH:
            stack.append(iter(below))
    return found


def _librechat_turn(message: _Json, session: str, _: int | None) -> Iterator[ImportedTurn | Omitted]:
    mine = message.get("isCreatedByUser")
    who = "user" if mine is True else "assistant" if mine is False else as_label(message.get("sender"))
    spoken = without_markup(as_text(message.get("text")), NO_CLIENT, _role(who))
    text = spoken or content_text(message.get("content"), NO_CLIENT, _role(who))
    at = as_time(message.get("createdAt"))
    yield turn_of(session, text, who=who, at=at, identity=as_label(message.get("messageId")))


LIBRECHAT: Final = ExportFormat(session=("conversationId",), messages=_librechat_messages, turn=_librechat_turn)
