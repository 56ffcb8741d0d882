"""What a reader finds in a file, and how values of foreign JSON are taken: by what they are, never by trust."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, Literal

from msgspec import Struct

from weft.errors import Invalid
from weft.instants import MAX_INSTANT_US, MIN_INSTANT_US, parse_instant

Role = Literal["user", "assistant"]
MAX_TURN_CHARACTERS: Final = 200_000
MAX_ID_CHARACTERS: Final = 200
MAX_TITLE_CHARACTERS: Final = 200
NOTICE: Final = "a notice of the program: who joined, what was pinned, a call"
MEDIA: Final = "a picture or a file without words"
_LEAST_MS: Final = 100_000_000_000  # a number of milliseconds; what is smaller counts seconds


class Turn(Struct, frozen=True, kw_only=True):
    """One thing that was said. `session` and `id` are the client's own; `at` is in microseconds, None if not told.

    Who said it is a `role`, or the name of a `speaker`; neither is known where both are empty. `cwd` is the directory
    that the conversation was about. `dropped` characters of a very long text are not in it. `stamp` is the time as it
    is written, where more of the file may show that it means another.
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


class Titled(Struct, frozen=True, kw_only=True):
    """What the client calls a conversation."""

    session: str
    title: str


class Bad(Struct, frozen=True, kw_only=True):
    """Something that cannot be read: where, and why. `end` is where a file goes on behind it, 0 if it does not."""

    where: str
    reason: str
    end: int = 0


class Left(Struct, frozen=True, kw_only=True):
    """Something that is left out because nobody said it, or because it says nothing: counted by its reason."""

    reason: str


class Noted(Struct, frozen=True, kw_only=True):
    """How a file was read where it could be read in two ways, or what all of it lacks."""

    note: str


class Passed(Struct, frozen=True, kw_only=True):
    """All that stands before this byte of a file was read: the next time may begin there."""

    end: int


Entry = Turn | Titled | Bad | Left | Noted | Passed
Entries = Iterator[Entry]


def mapping(value: Any) -> dict[str, Any]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def listing(value: Any) -> list[Any]:
    """The value if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def words(value: Any) -> str:
    """The value if it is text, else none. What cannot be written as UTF-8 is replaced."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def name(value: Any, most: int = MAX_ID_CHARACTERS) -> str:
    """A short text on one line, for ids and titles."""
    found = str(value) if isinstance(value, int) and not isinstance(value, bool) else words(value)
    return " ".join("".join(c if c.isprintable() else " " for c in found).split())[:most]


def moment(value: Any) -> int | None:
    """A time as clients write it: ISO 8601, or a number of seconds or milliseconds. None for anything else."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        if not 0 < value < 1e17:
            return None
        found = int(value * (1_000 if value >= _LEAST_MS else 1_000_000))
        return found if MIN_INSTANT_US <= found < MAX_INSTANT_US else None
    try:
        return parse_instant(words(value))
    except Invalid:
        return None


def bounded(text: str) -> tuple[str, int]:
    """The text, cut where it is longer than any turn needs to be, and how many characters that costs."""
    return text[:MAX_TURN_CHARACTERS], max(0, len(text) - MAX_TURN_CHARACTERS)
