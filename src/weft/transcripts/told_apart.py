"""Turns of files that give them no ids, or one id twice: each gets one by which the next reading knows it again."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Final, Literal

from msgspec.structs import replace

from weft.transcripts.entries import MAX_ID_CHARACTERS, Entries, Entry, Left, Noted, Role, Turn, bounded, name

MAX_SPEAKER_CHARACTERS: Final = 80
NO_WORDS: Final = "a message without words"
AGAIN: Final = "the same message again"
LOST: Final = "\ufffd"
PROGRAMS: Final = "what a program said: the system, a tool"
_ROLES: Final[dict[str, Role]] = {
    **dict.fromkeys(("user", "human", "prompt"), "user"),
    **dict.fromkeys(("assistant", "ai", "bot", "chatgpt", "gpt", "model", "response"), "assistant"),
}
_PROGRAMS: Final = frozenset({"system", "developer", "tool", "function", "ipython"})


def role_of(label: str) -> Role | Literal["", "program"]:
    """The role that a label names: empty where it is somebody's name, or nothing."""
    found = label.strip().lower()
    return "program" if found in _PROGRAMS else _ROLES.get(found, "")


def turn_of(
    session: str, text: str, *, who: str = "", at: int | None = None, identity: str = "", stamp: str = ""
) -> Turn | Left:
    """A turn of somebody whom a role or a name tells, or why it is none."""
    if (role := role_of(who)) == "program":
        return Left(reason=PROGRAMS)
    text, dropped = bounded(text.replace("\x00", "").strip())
    if not text:
        return Left(reason=NO_WORDS)
    speaker = "" if role else name(who, MAX_SPEAKER_CHARACTERS)
    return Turn(
        id=identity, session=session, text=text, role=role, speaker=speaker, at=at, dropped=dropped, stamp=stamp
    )


def told_apart(entries: Iterable[Entry], *, in_time: bool = True) -> Entries:
    """The same entries, every turn with an id of its own in its conversation; at the end, what the turns lack.

    A turn without an id is told by who says it, when, its words, and which of the same it is: so a file that was added
    to, at its end or anywhere, brings only what is new. Of one id that stands twice, the second is left out if it says
    the same, else it gets a number. Unless `in_time`, turns are not expected to go forward in time.
    """
    seen: Counter[bytes] = Counter()
    last: dict[str, int] = {}
    unspoken = backwards = replaced = 0
    for entry in entries:
        if not isinstance(entry, Turn):
            yield entry
            continue
        said = _digest(entry.session, entry.speaker or entry.role, entry.stamp or str(entry.at), entry.text)
        identity = entry.id or f"said-{said.hex()}"
        under = _digest(entry.session, identity)
        if entry.id and seen[under] and seen[_digest(identity, said.hex())]:
            yield Left(reason=AGAIN)
            continue
        seen[under] += 1
        seen[_digest(identity, said.hex())] += 1
        replaced += LOST in entry.text
        unspoken += not (entry.speaker or entry.role)
        if entry.at is not None:
            backwards += in_time and entry.at < last.get(entry.session, entry.at)
            last[entry.session] = entry.at
        number = seen[under]
        yield replace(entry, id=f"{identity[: MAX_ID_CHARACTERS - 8]}~{number}" if number > 1 else identity)
    if unspoken:
        yield Noted(note=f"who speaks is not told of {_count(unspoken, 'turn')}: kept without a speaker")
    if replaced:
        yield Noted(note=f"{_count(replaced, 'turn')} had signs that are not UTF-8: {LOST} stands for them")
    if backwards:
        yield Noted(note=f"the clock goes back {_count(backwards, 'time')}: turns keep their order and their own times")


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def session_of(path: Path) -> str:
    """What to call the conversation of a file that does not name it: by the file, or by where a generic name stands."""
    stem = path.parent.name if path.stem.lower() in ("_chat", "result", "messages", "chat") else path.stem
    plain = "".join(c for c in stem if c.isascii())
    if plain == stem and stem:
        return stem
    return f"{plain.strip(' -_') or 'chat'}-{hashlib.sha256(stem.encode('utf-8', 'replace')).hexdigest()[:8]}"


def _digest(*parts: str) -> bytes:
    return hashlib.blake2b("\x00".join(parts).encode("utf-8", "replace"), digest_size=10).digest()
