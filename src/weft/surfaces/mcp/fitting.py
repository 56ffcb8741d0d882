"""Fitting of data to a bound of characters that few answers reach: long texts are cut, then details go, then rows.

For profiles, which are small, `weft.context.shaping` omits fields and cuts nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

ENVELOPE_CHARACTERS: Final = 1_000  # room for the summary and our own notes
LEAST_CHARACTERS: Final = 200  # of a text: ids, citations and words of a fixed set are shorter, and never cut
MAX_LISTS: Final = 20  # of one answer that are shortened
# What goes first when room is short; the words themselves and their citations never go.
LOW: Final = frozenset({"payload", "props", "stages", "summary", "why"})


def size(value: Any) -> int:
    """Its characters as JSON."""
    return len(msgspec.json.encode(value).decode())


def fit(whole: dict[str, Any], room: int, within: str = "4,000 tokens") -> tuple[dict[str, Any], tuple[str, ...]]:
    """Data of at most `room` characters, and notes on what was removed.

    Texts that would fill the answer alone are cut, then details go, then the last rows of the longest list.
    """
    if size(whole) <= room:
        return whole, ()
    listed = max((len(value) for value in whole.values() if isinstance(value, list)), default=1)
    share = max(room - ENVELOPE_CHARACTERS if listed <= 1 else room // 4, LEAST_CHARACTERS)
    notes: list[str] = []
    kept = whole
    if size(_cut(whole, share)) > room:
        kept = _without_details(whole)
        notes.append("details are omitted, the words are complete")
    data = _cut(kept, share)
    if data != kept:
        alone = "" if listed <= 1 else "; cite one alone to read more of it"
        notes.append(f"texts are cut after {share:,} characters{alone}")
    return _shortened(data, room, notes, within), tuple(notes)


def _cut(value: Any, share: int) -> Any:
    match value:
        case str() if len(value) > share:
            return f"{value[:share]}… ({len(value) - share:,} more characters)"
        case dict():
            return {key: _cut(each, share) for key, each in value.items()}
        case list() | tuple():
            return [_cut(each, share) for each in value]
        case _:
            return value


def _without_details(value: Any) -> Any:
    match value:
        case dict():
            kept = {key: _without_details(each) for key, each in value.items() if key not in LOW}
            return kept | {key: each for key, each in _emptied(value).items() if key in LOW}
        case list() | tuple():
            return [_without_details(each) for each in value]
        case _:
            return value


def _emptied(value: dict[str, Any]) -> dict[str, Any]:
    """The rest of details: texts that appear nowhere else, and required fields as empty."""
    words = {key: each for key, each in value.items() if isinstance(each, str)}
    if words.get("text"):
        words.pop("summary", None)  # of a node that says it all
    lists: dict[str, Any] = {key: [] for key, each in value.items() if isinstance(each, list | tuple)}
    return words | lists | ({"payload": None} if "payload" in value else {})


def _shortened(data: dict[str, Any], room: int, notes: list[str], within: str) -> dict[str, Any]:
    """Removes the last items of the longest list, then of the next, until it fits or all are empty."""
    for _ in range(MAX_LISTS):
        over = size(data) - room
        lists = dict(_lists(data))
        if over <= 0 or not lists:
            break
        where = max(lists, key=lambda path: size(lists[path]))
        kept = _first(lists[where], size(lists[where]) - over)
        gone = len(lists[where]) - len(kept)
        listed = ".".join(where)
        notes.append(f"{gone} of {gone + len(kept)} {listed} are omitted to stay within {within}")
        data = _replaced(data, where, kept)
    return data


def _lists(value: dict[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], list[Any]]]:
    """Lists with items, and the names that lead to them; not lists inside of lists."""
    for name, each in value.items():
        if isinstance(each, dict):
            yield from _lists(each, (*path, name))
        elif isinstance(each, list) and each:
            yield (*path, name), each


def _first(items: list[Any], room: int) -> list[Any]:
    left = room - 2  # the brackets
    for count, item in enumerate(items):
        left -= size(item) + 1
        if left < 0:
            return items[:count]
    return items


def _replaced(data: dict[str, Any], where: tuple[str, ...], kept: list[Any]) -> dict[str, Any]:
    name, *rest = where
    return data | {name: _replaced(data[name], tuple(rest), kept) if rest else kept}
