"""Entries that readers yield, and safe conversion of untrusted JSON values."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, Literal

from msgspec import Struct
from msgspec.structs import replace

Role = Literal["user", "assistant"]
MAX_TURN_CHARACTERS: Final = 200_000
MAX_ID_CHARACTERS: Final = 200
MAX_TITLE_CHARACTERS: Final = 200
MAX_SPEAKER_CHARACTERS: Final = 80
# Reasons for omitting a message; the part before the colon is counted.
NOTICE: Final = "a notice of the program: somebody joined, a message was pinned, a call"
MEDIA: Final = "a picture or a file without words"
NO_WORDS: Final = "a message without words"
REPEATED: Final = "a message that occurs twice"
PROGRAM: Final = "a message of a program: the system, a tool"
REPLACEMENT: Final = "\ufffd"
_ROLES: Final[dict[str, Role]] = {
    **dict.fromkeys(("user", "human", "prompt"), "user"),
    **dict.fromkeys(("assistant", "ai", "bot", "chatgpt", "gpt", "model", "response"), "assistant"),
}
_PROGRAMS: Final = frozenset({"system", "developer", "tool", "function", "ipython"})
_GENERIC_STEMS: Final = ("_chat", "result", "messages", "chat")


class ImportedTurn(Struct, frozen=True, kw_only=True):
    """One message. `session` and `id` are the client's; `at` is in microseconds, None if unknown.

    The author is a `role` or the name of a `speaker`; both are empty if unknown. `cwd` is the directory that the
    conversation is about. `dropped` counts the characters cut from a very long text. `stamp` is the time as written,
    for formats in which the rest of the file may change how it is read.
    """

    id: str
    session: str
    text: str
    role: Role | Literal[""] = ""
    speaker: str = ""
    at: int | None = None
    cwd: str = ""
    dropped: int = 0
    stamp: str = ""


class ConversationTitle(Struct, frozen=True, kw_only=True):
    """The client's title of a conversation."""

    session: str
    title: str


class Unreadable(Struct, frozen=True, kw_only=True):
    """A place that cannot be read, and why. `end` is the byte at which reading continues, 0 if it does not."""

    where: str
    reason: str
    end: int = 0


class Omitted(Struct, frozen=True, kw_only=True):
    """A message that is not imported because nobody wrote it or it has no words; counted by reason."""

    reason: str


class ReaderNote(Struct, frozen=True, kw_only=True):
    """A note on how an ambiguous file was read, or on what all of its turns lack."""

    note: str


class ReadTo(Struct, frozen=True, kw_only=True):
    """Everything before byte `end` has been read: the next import may start there."""

    end: int


Entry = ImportedTurn | ConversationTitle | Unreadable | Omitted | ReaderNote | ReadTo
Entries = Iterator[Entry]


# ---- values of untrusted JSON


def as_dict(value: Any) -> dict[str, Any]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """The value if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def as_text(value: Any) -> str:
    """The value if it is a string, else an empty one. Characters that UTF-8 cannot encode are replaced."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def as_label(value: Any, most: int = MAX_ID_CHARACTERS) -> str:
    """A string or whole number as a short text on one line, for ids, names and titles."""
    found = str(value) if isinstance(value, int) and not isinstance(value, bool) else as_text(value)
    return " ".join("".join(c if c.isprintable() else " " for c in found).split())[:most]


def first_label(value: dict[str, Any], keys: Iterable[str]) -> str:
    """The first of these fields that is not empty."""
    return next(filter(None, (as_label(value.get(key)) for key in keys)), "")


def titled(session: str, title: Any) -> Entries:
    """The entry for a title, unless it is empty."""
    if found := as_label(title, MAX_TITLE_CHARACTERS):
        yield ConversationTitle(session=session, title=found)


# ---- turns


def bounded(text: str) -> tuple[str, int]:
    """The text cut to MAX_TURN_CHARACTERS, and the number of characters cut off."""
    return text[:MAX_TURN_CHARACTERS], max(0, len(text) - MAX_TURN_CHARACTERS)


def role_of(label: str) -> Role | Literal["", "program"]:
    """The role that a label names; empty for a person's name or an empty label."""
    found = label.strip().lower()
    return "program" if found in _PROGRAMS else _ROLES.get(found, "")


def role_turn(
    identity: str, session: str, role: Role, text: str, at: int | None = None, cwd: str = ""
) -> Iterator[ImportedTurn]:
    """The turn of a role, cut to the limit; nothing if the text is empty."""
    text, dropped = bounded(text)
    if text:
        yield ImportedTurn(id=identity, session=session, role=role, text=text, at=at, cwd=cwd, dropped=dropped)


def turn_of(
    session: str, text: str, *, who: str = "", at: int | None = None, identity: str = "", stamp: str = ""
) -> ImportedTurn | Omitted:
    """The turn of an author given as a role or a name, or the reason for omitting it."""
    if (role := role_of(who)) == "program":
        return Omitted(reason=PROGRAM)
    text, dropped = bounded(text.replace("\x00", "").strip())
    if not text:
        return Omitted(reason=NO_WORDS)
    speaker = "" if role else as_label(who, MAX_SPEAKER_CHARACTERS)
    return ImportedTurn(
        id=identity, session=session, text=text, role=role, speaker=speaker, at=at, dropped=dropped, stamp=stamp
    )


def with_unique_ids(entries: Iterable[Entry], *, chronological: bool = True) -> Entries:
    """The same entries, each turn with an id unique in its conversation, then notes on what the turns lack.

    The id of a turn without one is a digest of its author, time and text, so a file that grew anywhere yields the same
    ids for the turns it had. Of two turns with one id, the second is omitted if it is the same, else numbered. Turns
    out of order are reported if `chronological`.
    """
    seen: Counter[bytes] = Counter()
    last: dict[str, int] = {}
    anonymous = backwards = replaced = 0
    for entry in entries:
        if not isinstance(entry, ImportedTurn):
            yield entry
            continue
        content = _digest(entry.session, entry.speaker or entry.role, entry.stamp or str(entry.at), entry.text)
        identity = entry.id or f"said-{content.hex()}"
        key = _digest(entry.session, identity)
        if entry.id and seen[key] and seen[_digest(identity, content.hex())]:
            yield Omitted(reason=REPEATED)
            continue
        seen[key] += 1
        seen[_digest(identity, content.hex())] += 1
        replaced += REPLACEMENT in entry.text
        anonymous += not (entry.speaker or entry.role)
        if entry.at is not None:
            backwards += chronological and entry.at < last.get(entry.session, entry.at)
            last[entry.session] = entry.at
        number = seen[key]
        yield replace(entry, id=f"{identity[: MAX_ID_CHARACTERS - 8]}~{number}" if number > 1 else identity)
    if anonymous:
        yield ReaderNote(note=f"{_turns(anonymous)} without a speaker: the file does not name one")
    if replaced:
        yield ReaderNote(note=f"{_turns(replaced)} with bytes that are not UTF-8: replaced by {REPLACEMENT}")
    if backwards:
        yield ReaderNote(note=f"{_turns(backwards)} earlier than the turn before: order and times are kept as they are")


def _turns(count: int) -> str:
    return "1 turn" if count == 1 else f"{count} turns"


def _digest(*parts: str) -> bytes:
    return hashlib.blake2b("\x00".join(parts).encode("utf-8", "replace"), digest_size=10).digest()


# ---- names of conversations


def session_of(path: Path) -> str:
    """The name of a conversation whose file does not name it: the file's name, or the folder's for a generic one."""
    stem = path.parent.name if path.stem.lower() in _GENERIC_STEMS else path.stem
    plain = "".join(c for c in stem if c.isascii())
    if plain == stem and stem:
        return stem
    return f"{plain.strip(' -_') or 'chat'}-{hashlib.sha256(stem.encode('utf-8', 'replace')).hexdigest()[:8]}"


def session_name(client: str, session: str) -> str:
    """The name of a client's conversation: the same for hooks, imports and single files."""
    kept = re.sub(r"[^A-Za-z0-9._:@+-]+", "-", session).strip("-")[:MAX_ID_CHARACTERS]
    return f"{client}-{kept or 'unnamed'}"
