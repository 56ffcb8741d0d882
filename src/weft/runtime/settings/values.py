"""Readers of setting values. Each raises Invalid with the reason as a predicate, such as "is not a number"."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from weft.core.errors import Invalid
from weft.core.types import SCOPES
from weft.log.draft import check_name
from weft.text.encryption import check_keys

MAX_PREDICATES: Final = 200
MAX_PREDICATE_CHARACTERS: Final = 128
MAX_SHORT_CHARACTERS: Final = 512
MAX_KEYWORDS: Final = 5
MAX_KEYWORD_CHARACTERS: Final = 64
MAX_PATHS: Final = 100
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:\d{1,5})?")


def one_name(value: Any) -> str:
    """A name in the form of account and agent names."""
    return check_name(some_text(value), field="name")


def name_or_none(value: Any) -> str:
    """A name, or an empty string."""
    return one_name(value) if any_text(value) else ""


def some_text(value: Any) -> str:
    """Text that is not blank."""
    if not isinstance(value, str) or not value.strip():
        raise Invalid("is not text")
    return value.strip()


def any_text(value: Any) -> str:
    """Text, which may be empty."""
    if not isinstance(value, str):
        raise Invalid("is not text")
    return value.strip()


def short_text(value: Any) -> str:
    """A short printable text, which may be empty."""
    if len(text := any_text(value)) > MAX_SHORT_CHARACTERS or not text.isprintable():
        raise Invalid(f"has over {MAX_SHORT_CHARACTERS} characters, or unprintable ones")
    return text


def names(value: Any) -> tuple[str, ...]:
    """Names, by commas or as a list."""
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, list | tuple):
        raise Invalid("is not a list of names")
    return tuple(one_name(part) for part in parts if str(part).strip())


def paths(value: Any) -> tuple[str, ...]:
    """Paths of files or directories, by commas or as a list."""
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, list | tuple) or not all(isinstance(part, str) for part in parts):
        raise Invalid("is not a list of paths")
    listed = tuple(dict.fromkeys(part.strip() for part in parts if part.strip()))
    if len(listed) > MAX_PATHS or any("\0" in path for path in listed):
        raise Invalid(f"has over {MAX_PATHS} paths, or an invalid one")
    return listed


def patterns(value: Any) -> tuple[str, ...]:
    """Patterns of files, as .gitignore writes them, by commas or as a list."""
    return paths(value)


def host_names(value: Any) -> tuple[str, ...]:
    """Names or addresses of hosts, with a port or without: memory.example.com, 10.0.0.5:8420, [::1]."""
    listed = tuple(path.lower() for path in paths(value))
    if wrong := [name for name in listed if _HOST.fullmatch(name) is None]:
        raise Invalid(f"has {wrong[0][:80]!r}, which is not a host name (without https:// and path)")
    return listed


def keywords(value: Any) -> tuple[str, ...]:
    """A few words or phrases."""
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, list | tuple) or not all(isinstance(part, str) for part in parts):
        raise Invalid("is not a list of words")
    words = tuple(dict.fromkeys(part.strip() for part in parts if part.strip()))
    if len(words) > MAX_KEYWORDS or any(len(word) > MAX_KEYWORD_CHARACTERS for word in words):
        raise Invalid(f"has over {MAX_KEYWORDS} words, or one of over {MAX_KEYWORD_CHARACTERS} characters")
    return words


def predicates(value: Any) -> tuple[str, ...]:
    """Names of properties."""
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, list | tuple) or not all(isinstance(part, str) for part in parts):
        raise Invalid("is not a list of properties")
    listed = tuple(dict.fromkeys(part.strip() for part in parts if part.strip()))
    if len(listed) > MAX_PREDICATES or any(len(name) > MAX_PREDICATE_CHARACTERS for name in listed):
        raise Invalid(f"has over {MAX_PREDICATES} properties, or one of over {MAX_PREDICATE_CHARACTERS} characters")
    return listed


def sealing_keys(value: Any) -> str:
    """Named encryption keys, or an empty string."""
    return check_keys(any_text(value))


def scopes(value: Any) -> tuple[str, ...]:
    """Scopes, at least one."""
    listed = names(value)
    unknown = [name for name in listed if name not in SCOPES]
    if unknown or not listed:
        raise Invalid(f"has unknown scopes {unknown}; there are {', '.join(SCOPES)}")
    return listed


def one_of(*choices: str) -> Callable[[Any], str]:
    """One of a few words."""

    def read(value: Any) -> str:
        if value not in choices:
            raise Invalid(f"must be one of {', '.join(choices)}")
        return str(value)

    return read


def flag(value: Any) -> bool:
    """Yes or no."""
    words = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}
    if isinstance(value, bool):
        return value
    if str(value).lower() not in words:
        raise Invalid("is neither true nor false")
    return words[str(value).lower()]


def number(least: float, most: float) -> Callable[[Any], float]:
    """A number between two."""

    def read(value: Any) -> float:
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise Invalid("is not a number") from None
        if isinstance(value, bool) or not least <= number <= most:
            raise Invalid(f"must be a number from {least:g} to {most:g}")
        return number

    return read


def unset_or(read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """None for an empty value, else what `read` makes of it."""
    return lambda value: None if value is None or value == "" else read(value)


def whole(least: int, most: int) -> Callable[[Any], int]:
    """A whole number between two."""
    read_number = number(least, most)

    def read(value: Any) -> int:
        if (found := read_number(value)) != int(found):
            raise Invalid("is not a whole number")
        return int(found)

    return read
