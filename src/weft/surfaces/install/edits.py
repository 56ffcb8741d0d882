"""Edits of JSON text that keep every other byte: comments, order, indentation, line ends.

Each edit is parsed again; one with another effect than intended is refused with Invalid.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, Final

from weft.core.errors import Invalid
from weft.text.jsonc import Child, JsonNode, line_of, parse, value_of

UNIT: Final = "  "  # indentation where the text shows none
Path = tuple[str, ...]


def put(text: str, path: Path, value: Any) -> str:
    """Sets the member at this path. Missing parents are created; an equal value changes nothing.

    Raises Invalid if a parent is not an object.
    """
    node = parse(text)
    if node is None:
        return _meant(text, _begun(text, _nested(path, value)), path, lambda _: value)
    for depth, key in enumerate(path):
        below = find(node, (key,))
        if below is None:
            _must_be(node, "object", path[:depth])
            made = _inserted(text, node, key, _nested(path[depth + 1 :], value))
            return _meant(text, made, path, lambda _: value)
        node = below
    if value_of(node) == value:
        return text
    return _meant(text, _replaced(text, node, value), path, lambda _: value)


def add(text: str, path: Path, item: Any) -> str:
    """Adds an item at the end of the array at this path, which is made if it is missing."""
    node = find(parse(text), path)
    if node is None:
        return put(text, path, [item])
    _must_be(node, "array", path)
    return _meant(text, _inserted(text, node, None, item), path, lambda held: [*held, item])


def take(text: str, path: Path) -> str:
    """Removes the member at this path. Its parent stays, even if it is empty."""
    *above, name = path
    holder = find(parse(text), tuple(above))
    child = _last(holder, name) if holder is not None else None
    if holder is None or child is None:
        return text
    made = _removed(text, holder, child)
    return _meant(text, made, tuple(above), lambda held: {key: each for key, each in held.items() if key != name})


def take_item(text: str, path: Path, index: int) -> str:
    """Removes one item of the array at this path."""
    node = find(parse(text), path)
    assert node is not None
    made = _removed(text, node, node.children[index])
    return _meant(text, made, path, lambda held: [*held[:index], *held[index + 1 :]])


def must_be_once(text: str, path: Path) -> None:
    """Raises Invalid, with the lines, if a key on this path occurs twice: programs differ on which one counts."""
    for depth, key in enumerate(path):
        holder = find(parse(text), path[:depth])
        lines = [line_of(text, each.start) for each in holder.children if each.key == key] if holder else []
        if len(lines) > 1:
            where = " and ".join(str(line) for line in lines)
            raise Invalid(f'lines {where}: "{key}" stands twice', hint="leave one of them, then run this again")


def find(root: JsonNode | None, path: Path) -> JsonNode | None:
    """The value at a path of keys (or of indexes, as digits), or None."""
    node = root
    for key in path:
        if node is None or node.kind == "scalar":
            return None
        if node.kind == "array":
            node = node.children[int(key)].node if key.isdigit() and int(key) < len(node.children) else None
        else:
            child = _last(node, key)
            node = child.node if child else None
    return node


def newline_of(text: str) -> str:
    """The most frequent line end of a text."""
    return "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"


def _last(node: JsonNode, key: str) -> Child | None:
    return next((each for each in reversed(node.children) if each.key == key), None) if node.kind == "object" else None


def _must_be(node: JsonNode, kind: str, path: Path) -> None:
    if node.kind != kind:
        where = ".".join(path) or "the file"
        raise Invalid(f"{where} is not an {kind}", hint="mend it by hand, then run this again")


def _meant(before: str, after: str, path: Path, change: Callable[[Any], Any]) -> str:
    """The changed text, if it says what the old one said with this change at this path, and nothing else."""
    try:
        if value_of(parse(after)) == _along(value_of(parse(before)), path, change):
            return after
    except Invalid:  # what came out is no JSON
        pass
    raise Invalid("its comments or line ends are such that it cannot be changed safely", hint="change it by hand")


def _along(value: Any, path: Path, change: Callable[[Any], Any]) -> Any:
    if not path:
        return change(value)
    key, *below = path
    if isinstance(value, list):
        at = int(key)
        return [*value[:at], _along(value[at], tuple(below), change), *value[at + 1 :]]
    held = value or {}
    return {**held, key: _along(held.get(key), tuple(below), change)}


def _nested(path: Path, value: Any) -> Any:
    for key in reversed(path):
        value = {key: value}
    return value


def _begun(text: str, value: Any) -> str:
    """The first value of a text that has none: after its comments, if there are any."""
    newline = newline_of(text)
    before = text if not text or text.endswith(("\n", "\r")) else text + newline
    return f"{before if before.strip() else ''}{_rendered(value, '', UNIT, newline)}{newline}"


def _inserted(text: str, holder: JsonNode, key: str | None, value: Any) -> str:
    newline, unit = newline_of(text), _unit(text)
    base = _line_indent(text, holder.start)
    last = holder.children[-1] if holder.children else None
    inner_end = holder.end - 1
    at = holder.start + len(text[holder.start : inner_end].rstrip(" \t\r\n"))
    multiline = "\n" in text[holder.start : inner_end] or (not last and ("\n" in text or holder.start == _start(text)))
    indent = _own_indent(text, last.start) if last else None
    indent = base + unit if indent is None else indent
    label = "" if key is None else json.dumps(key, ensure_ascii=False) + ": "
    if multiline:
        closed = "" if last or "\n" in text[at:inner_end] else newline + base
        added = f"{newline}{indent}{label}{_rendered(value, indent, unit, newline)}"
    else:
        closed, added = "", (" " if last else "") + label + json.dumps(value, ensure_ascii=False)
    if last is not None and last.comma is not None:
        added += ","  # the text ends its lists with a comma: so does what is added
    text = text[:at] + added + closed + text[at if not closed else inner_end :]
    return _comma_after(text, last) if last is not None and last.comma is None else text


def _comma_after(text: str, child: Child) -> str:
    return text[: child.node.end] + "," + text[child.node.end :]


def _removed(text: str, holder: JsonNode, child: Child) -> str:
    """Without one child, the comma that goes with it, and the space before it."""
    begin = holder.start + len(_bare(text, holder.start, child.start))
    index = holder.children.index(child)
    if child.comma is not None:
        text = text[:begin] + text[child.comma + 1 :]
    else:
        text = text[:begin] + text[child.node.end :]
        if index and (comma := holder.children[index - 1].comma) is not None:
            text = text[:comma] + text[comma + 1 :]
    if len(holder.children) > 1:
        return text
    emptied = re.compile(r"[ \t\r\n]*[}\]]").match(text, holder.start + 1)
    return text[: holder.start + 1] + text[emptied.end() - 1 :] if emptied else text


def _bare(text: str, start: int, end: int) -> str:
    return text[start:end].rstrip(" \t\r\n")


def _replaced(text: str, node: JsonNode, value: Any) -> str:
    old = text[node.start : node.end]
    if "\n" in old or node.kind == "scalar" or not node.children:
        new = _rendered(value, _line_indent(text, node.start), _unit(text), newline_of(text))
    else:
        new = json.dumps(value, ensure_ascii=False)
    return text[: node.start] + new + text[node.end :]


def _rendered(value: Any, indent: str, unit: str, newline: str) -> str:
    lines = json.dumps(value, indent=unit, ensure_ascii=False).split("\n")
    return (newline + indent).join(lines)


def _unit(text: str) -> str:
    """The indentation unit of the text: that of its first member, if it is on a line of its own."""
    root = parse(text)
    if root is None or not root.children:
        return UNIT
    own, outer = _own_indent(text, root.children[0].start), _line_indent(text, root.start)
    return own[len(outer) :] if own is not None and own.startswith(outer) and own != outer else UNIT


def _own_indent(text: str, at: int) -> str | None:
    """The white space before a position, if it begins its line."""
    indent = text[text.rfind("\n", 0, at) + 1 : at]
    return indent if not indent.strip(" \t") and "\n" in text[:at] else None


def _line_indent(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _start(text: str) -> int:
    root = parse(text)
    return root.start if root else 0
