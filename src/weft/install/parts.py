"""What of weft is, or is to be, in one file of a client; and the texts with it and without it."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from weft.install.block import has_block, put_block, take_block
from weft.install.clients import ENTRY, Client, is_entry, is_hook
from weft.install.edits import add, find, newline_of, put, take, take_item, take_items
from weft.install.jsonc import parse, value_of


class Parts(Struct, frozen=True, kw_only=True):
    """A server's entry, hooks by event, the words of a marked block; any of them may be missing."""

    entry: dict[str, Any] | None = None
    hooks: tuple[tuple[str, dict[str, Any]], ...] = ()
    words: str | None = None

    def __bool__(self) -> bool:
        return self.entry is not None or bool(self.hooks) or self.words is not None


def with_parts(client: Client, text: str, parts: Parts, *, fresh: bool) -> str:
    """The text with these parts in it. What is there already stays in its place, and its other members stay too."""
    if parts.words is not None:
        newline = newline_of(text)
        head = client.head.replace("\n", newline) if fresh else ""
        return head + put_block("", parts.words) if fresh else put_block(text, parts.words)
    if parts.entry is not None:
        text = _with_entry(client, text, parts.entry)
    if parts.hooks:
        text = _with_hooks(client, text, parts)
    return text


def without_parts(client: Client, text: str, *, words: bool) -> str:
    """The text without anything that `with_parts` puts in, and without what that leaves empty."""
    if words:
        return take_block(text)
    held = _value(text, (client.servers, ENTRY))
    if is_entry(held):
        text = take(text, (client.servers, ENTRY))
        if _value(text, (client.servers,)) == {}:
            text = take(text, (client.servers,))
    for event in _events(text):
        text = _without_hooks(client, text, event)
    return text


def parts_in(client: Client, text: str, *, words: bool) -> Parts:
    """The parts that a text has. Raises Invalid if it cannot be read."""
    if words:
        return Parts(words="") if has_block(text) else Parts()
    held = _value(text, (client.servers, ENTRY))
    found = [
        (event, item)
        for event in _events(text)
        for item in _value(text, ("hooks", event))
        if any(is_hook(client, each) for each in _hooks_of(item))
    ]
    order = [event for event, _ in client.hooks.events] if client.hooks else []
    found.sort(key=lambda each: order.index(each[0]) if each[0] in order else len(order))
    return Parts(entry=held if is_entry(held) else None, hooks=tuple(found))


def foreign_entry(client: Client, text: str) -> bool:
    """Whether an entry `weft` is there that installing did not write."""
    held = _value(text, (client.servers, ENTRY))
    return held is not None and not is_entry(held)


def nothing_left(client: Client, text: str, *, words: bool) -> bool:
    """Whether a text says nothing but what a file of ours begins with."""
    if words:
        return text.replace("\r\n", "\n").strip() in ("", client.head.strip())
    version = client.hooks.version if client.hooks else None
    kept = value_of(parse(text))
    return kept in (None, {}, {"version": version}) and "//" not in text and "/*" not in text


def _with_entry(client: Client, text: str, entry: dict[str, Any]) -> str:
    here = (client.servers, ENTRY)
    if not is_entry(_value(text, here)):
        return put(text, here, entry)
    for key, value in entry.items():  # what somebody added to it stays
        text = put(text, (*here, key), value)
    return text


def _with_hooks(client: Client, text: str, parts: Parts) -> str:
    assert client.hooks is not None
    if client.hooks.version is not None and _value(text, ("version",)) is None:
        text = put(text, ("version",), client.hooks.version)
    wanted = dict(parts.hooks)
    for event in _events(text):
        if event not in wanted:
            text = _without_hooks(client, text, event)
    for event, item in wanted.items():
        there = _ours(client, text, event)
        if not there:
            text = add(text, ("hooks", event), item)
        else:
            text = put(text, (*there[0], "command"), _hooks_of(item)[0]["command"])
    return text


def _without_hooks(client: Client, text: str, event: str) -> str:
    before, here = text, ("hooks", event)
    for index, item in reversed(list(enumerate(_value(text, here)))):
        inner = _hooks_of(item)
        if inner and all(is_hook(client, each) for each in inner):
            text = take_item(text, here, index)
        else:
            text = take_items(text, (*here, str(index), "hooks"), lambda each: is_hook(client, each))
    if text != before and _value(text, ("hooks", event)) == []:
        text = take(text, ("hooks", event))
        if _value(text, ("hooks",)) == {}:
            text = take(text, ("hooks",))
    return text


def _ours(client: Client, text: str, event: str) -> list[tuple[str, ...]]:
    """The places of our hooks of one event."""
    found: list[tuple[str, ...]] = []
    for index, item in enumerate(_value(text, ("hooks", event)) or ()):
        here = ("hooks", event, str(index))
        if is_hook(client, item):
            found.append(here)
        elif isinstance(item, dict):
            found += [
                (*here, "hooks", str(number)) for number, each in enumerate(_hooks_of(item)) if is_hook(client, each)
            ]
    return found


def _hooks_of(item: Any) -> list[dict[str, Any]]:
    """The hooks of an entry: of the group, or itself."""
    if not isinstance(item, dict):
        return []
    inner = item.get("hooks", [item])
    return [each for each in inner if isinstance(each, dict)] if isinstance(inner, list) else []


def _events(text: str) -> list[str]:
    held = _value(text, ("hooks",))
    return [event for event, items in held.items() if isinstance(items, list)] if isinstance(held, dict) else []


def _value(text: str, path: tuple[str, ...]) -> Any:
    return value_of(find(parse(text), path))
