"""ChatGPT: the account's export, `conversations.json` (or `conversations-000.json` …), packed or not.

A conversation is a tree of messages: what was written anew stands in branches. The branch that was last shown counts.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

from weft.transcripts.entries import (
    MAX_TITLE_CHARACTERS,
    Bad,
    Entries,
    Left,
    Titled,
    Turn,
    listing,
    mapping,
    moment,
    name,
    words,
)
from weft.transcripts.exports import conversations
from weft.transcripts.spoken import NO_CLIENT, said
from weft.transcripts.told_apart import PROGRAMS, role_of, told_apart, turn_of

HIDDEN: Final = "a message that the program does not show"
_WORDS: Final = ("text", "multimodal_text")  # other contents are code for tools, what tools gave, thoughts

# The program writes citations between signs of its own, which no font shows; a name in them was shown.
_MARKED: Final = re.compile("\ue200([^\ue200\ue201]{0,2000})\ue201")
_SIGNS: Final = re.compile("[\ue200-\ue20f]")
_NAMED: Final = re.compile(r'entity[^"]{0,4}"[^"]{0,80}",\s?"([^"]{1,200})"')


def read(path: Path, start: int = 0) -> Entries:
    """Every conversation of an export, one at a time: an export may be larger than memory."""
    return told_apart(_entries(path))


def _entries(path: Path) -> Entries:
    for number, each in conversations(path):
        if isinstance(each, Bad):
            yield each
            continue
        session = name(each.get("conversation_id")) or name(each.get("id"))
        tree = mapping(each.get("mapping"))
        if not session or not tree:
            yield Bad(where=f"conversation {number}", reason="it has no id, or no messages")
            continue
        if title := name(each.get("title"), MAX_TITLE_CHARACTERS):
            yield Titled(session=session, title=title)
        begun = moment(each.get("create_time"))
        for message in _branch(tree, name(each.get("current_node"))):
            begun = moment(message.get("create_time")) or begun  # without a time it has that of the one before
            yield _message(message, session, begun)


def _branch(tree: dict[str, Any], last: str) -> list[dict[str, Any]]:
    """The messages from the first to the last that is shown; without that, to the newest."""
    if last not in tree:
        dated = [
            (moment(mapping(mapping(node).get("message")).get("create_time")) or 0, key) for key, node in tree.items()
        ]
        last = max(dated)[1]
    found: list[dict[str, Any]] = []
    seen: set[str] = set()
    while last in tree and last not in seen:  # a damaged tree may go round
        seen.add(last)
        node = mapping(tree[last])
        found.append(mapping(node.get("message")))
        last = words(node.get("parent"))
    return [message for message in reversed(found) if message]


def _message(message: dict[str, Any], session: str, at: int | None) -> Turn | Left:
    about, content = mapping(message.get("metadata")), mapping(message.get("content"))
    if about.get("is_visually_hidden_from_conversation") is True:
        return Left(reason=HIDDEN)
    role = role_of(name(mapping(message.get("author")).get("role")))
    if role not in ("user", "assistant") or message.get("recipient", "all") != "all":
        return Left(reason=PROGRAMS)
    if content.get("content_type") not in _WORDS:
        return Left(reason=f"a message of the kind {name(content.get('content_type'), 40) or 'unknown'}")
    parts = (each if isinstance(each, str) else mapping(each).get("text") for each in listing(content.get("parts")))
    text = said(_shown("\n".join(filter(None, map(words, parts)))), NO_CLIENT, role)
    return turn_of(session, text, who=role, at=at, identity=name(message.get("id")))


def _shown(text: str) -> str:
    """Words without the program's own signs."""

    def named(found: re.Match[str]) -> str:
        name = _NAMED.match(found[1])
        return name[1] if name else ""

    return _SIGNS.sub("", _MARKED.sub(named, text)) if _SIGNS.search(text) else text
