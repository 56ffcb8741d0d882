"""Parts of weft in a client's file (server entry, hooks, instruction block): finding, adding and removing them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from msgspec import Struct

from weft.core.errors import Invalid
from weft.surfaces.install.clients import ENTRY, Client, HookLine, hook_line, is_entry, is_hook
from weft.surfaces.install.edits import add, find, must_be_once, newline_of, put, take, take_item
from weft.text.jsonc import parse, value_of

BEGIN: Final = "<!-- weft:begin -->"
END: Final = "<!-- weft:end -->"
_BLOCK: Final = re.compile(re.escape(BEGIN) + r".*?" + re.escape(END), re.DOTALL)


class Parts(Struct, frozen=True, kw_only=True):
    """A server entry, hooks by event, the text of a marked block; each may be missing."""

    entry: dict[str, Any] | None = None
    hooks: tuple[tuple[str, dict[str, Any]], ...] = ()
    words: str | None = None

    def __bool__(self) -> bool:
        return self.entry is not None or bool(self.hooks) or self.words is not None


def with_parts(client: Client, text: str, parts: Parts, *, fresh: bool) -> str:
    """The text with these parts and no other hooks of weft. Existing parts stay in place, with the user's additions.

    Raises Invalid if the text cannot be parsed, or cannot be changed safely.
    """
    if parts.words is not None:
        newline = newline_of(text)
        head = client.head.replace("\n", newline) if fresh else ""
        return head + put_block("", parts.words) if fresh else put_block(text, parts.words)
    _must_be_once(client, text)
    if parts.entry is not None:
        text = _with_entry(client, text, parts.entry)
    return _with_hooks(client, text, parts)


def without_parts(client: Client, text: str, *, words: bool, earlier: str = "") -> str:
    """The text without the parts of weft and without members that this leaves empty.

    Members of the `earlier` text, from before the installation, stay even if empty.
    """
    if words:
        return take_block(text)
    held = _value(text, (client.servers, ENTRY))
    if is_entry(held):
        text = take(text, (client.servers, ENTRY))
        text = _without_empty(text, (client.servers,), earlier)
    for event in _events(text):
        text = _without_hooks(client, text, event, keep=(), earlier=earlier)
    return text


def parts_in(client: Client, text: str, *, words: bool) -> Parts:
    """The parts of weft in a text. Raises Invalid if it cannot be parsed."""
    if words:
        return Parts(words="") if has_block(text) else Parts()
    _must_be_once(client, text)
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
    """Whether there is an entry `weft` that installing did not write."""
    held = _value(text, (client.servers, ENTRY))
    return held is not None and not is_entry(held)


def nothing_left(client: Client, text: str, *, words: bool) -> bool:
    """Whether a text has nothing but the beginning that weft writes."""
    if words:
        return text.replace("\r\n", "\n").strip() in ("", client.head.strip())
    version = client.hooks.version if client.hooks else None
    kept = value_of(parse(text))
    return kept in (None, {}, {"version": version}) and "//" not in text and "/*" not in text


def _with_entry(client: Client, text: str, entry: dict[str, Any]) -> str:
    here = (client.servers, ENTRY)
    if not is_entry(_value(text, here)):
        return put(text, here, entry)
    for key, value in entry.items():  # members that the user added stay, also in its environment
        members = {(key, name): each for name, each in value.items()} if isinstance(value, dict) else {(key,): value}
        for path, each in members.items():
            text = put(text, (*here, *path), each)
    return text


def _must_be_once(client: Client, text: str) -> None:
    """Raises Invalid for a duplicate key among those that are read or changed."""
    here = (client.servers, ENTRY)
    environment, hooks = _value(text, (*here, "env")), _value(text, ("hooks",))
    for name in environment if isinstance(environment, dict) else ():
        must_be_once(text, (*here, "env", name))
    for path in ((*here, "command"), (*here, "args"), (*here, "env")):
        must_be_once(text, path)
    if client.hooks is not None and client.hooks.version is not None:
        must_be_once(text, ("version",))
    for event in hooks if isinstance(hooks, dict) else ():
        must_be_once(text, ("hooks", event))


def _with_hooks(client: Client, text: str, parts: Parts) -> str:
    wanted = [(event, item, _line_of(client, item)) for event, item in parts.hooks]
    if wanted and client.hooks and client.hooks.version is not None and _value(text, ("version",)) is None:
        text = put(text, ("version",), client.hooks.version)
    for event in _events(text):
        text = _without_hooks(client, text, event, keep=[ours.verb for each, _, ours in wanted if each == event])
    for event, item, ours in wanted:
        there = next(((place, each) for place, each in _ours(client, text, event) if each.verb == ours.verb), None)
        if there is None:
            text = add(text, ("hooks", event), item)
        else:
            place, held = there
            text = put(text, (*place, "command"), " ".join((_hooks_of(item)[0]["command"], *held.extra)))
    return text


def _without_hooks(client: Client, text: str, event: str, *, keep: Sequence[str], earlier: str = "") -> str:
    """The text without our hooks of one event, except the first of each verb to `keep`."""
    gone, seen = [], set()
    for place, line in _ours(client, text, event):
        if line.verb in seen or line.verb not in keep:
            gone.append(place)
        seen.add(line.verb)
    for *holder, index in reversed(gone):
        text = take_item(text, tuple(holder), int(index))
        if len(holder) > len(("hooks", event)) and _value(text, tuple(holder)) == []:  # a group that held only ours
            text = take_item(text, ("hooks", event), int(holder[-2]))
    if not gone or _value(text, ("hooks", event)) != []:
        return text
    return _without_empty(_without_empty(text, ("hooks", event), earlier), ("hooks",), earlier)


def _without_empty(text: str, path: tuple[str, ...], earlier: str) -> str:
    """The text without the member at this path if it is empty and was not there earlier."""
    empty = _value(text, path) in ({}, []) and find(parse(earlier), path) is None
    return take(text, path) if empty else text


def _ours(client: Client, text: str, event: str) -> list[tuple[tuple[str, ...], HookLine]]:
    """The paths of our hooks of one event, with their commands."""
    found: list[tuple[tuple[str, ...], HookLine]] = []
    for index, item in enumerate(_value(text, ("hooks", event)) or ()):
        here = ("hooks", event, str(index))
        inner = item.get("hooks") if isinstance(item, dict) else None
        hooks = (
            [((*here, "hooks", str(number)), each) for number, each in enumerate(inner)]
            if isinstance(inner, list)
            else [(here, item)]
        )
        found += [(place, line) for place, each in hooks if (line := hook_line(client, each)) is not None]
    return found


def _line_of(client: Client, item: dict[str, Any]) -> HookLine:
    """The command of a hook of ours or of its group."""
    return next(line for each in _hooks_of(item) if (line := hook_line(client, each)) is not None)


def _hooks_of(item: Any) -> list[dict[str, Any]]:
    """The hooks of a group, or the single hook itself."""
    if not isinstance(item, dict):
        return []
    inner = item.get("hooks", [item])
    return [each for each in inner if isinstance(each, dict)] if isinstance(inner, list) else []


def _events(text: str) -> list[str]:
    held = _value(text, ("hooks",))
    return [event for event, items in held.items() if isinstance(items, list)] if isinstance(held, dict) else []


def _value(text: str, path: tuple[str, ...]) -> Any:
    return value_of(find(parse(text), path))


# ---- the marked block of a text file


def put_block(text: str, words: str) -> str:
    """The text with this block: replacing the one it has, else at the end after an empty line.

    Raises Invalid for an unpaired or repeated mark.
    """
    newline = newline_of(text)
    block = newline.join((BEGIN, *words.splitlines(), END))
    if (found := _found(text)) is not None:
        return text[: found.start()] + block + text[found.end() :]
    if not text:
        return block + newline
    # The block ends as the text ended, so that taking it out can tell whether the text had a last line end.
    return text + newline + block + newline if text.endswith("\n") else text + newline * 2 + block


def take_block(text: str) -> str:
    """The text without the block."""
    if (found := _found(text)) is None:
        return text
    before, after = text[: found.start()], text[found.end() :]
    for ending in ("\r\n", "\n"):
        if after.startswith(ending):
            return before.removesuffix(ending) + after.removeprefix(ending)
        if not after and before.endswith(ending * 2):
            return before.removesuffix(ending * 2)
    return before + after


def has_block(text: str) -> bool:
    """Whether the text has the block. Raises Invalid for an unpaired or repeated mark."""
    return _found(text) is not None


def _found(text: str) -> re.Match[str] | None:
    if text.count(BEGIN) != text.count(END) or text.count(BEGIN) > 1:
        line = text[: text.find(BEGIN if BEGIN in text else END)].count("\n") + 1
        raise Invalid(
            f"line {line}: the marks {BEGIN} and {END} are not a pair",
            hint="keep one of each, in this order, or remove them all",
        )
    found = _BLOCK.search(text)
    if found is None and BEGIN in text:
        raise Invalid(f"{END} comes before {BEGIN}", hint="keep one of each, in this order, or remove them all")
    return found
