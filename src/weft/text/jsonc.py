"""A parser of JSON with comments and trailing commas that keeps the position of every value."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any, Final, Literal

from msgspec import Struct

from weft.core.errors import Invalid

MAX_DEPTH: Final = 200
_SPACE: Final = re.compile(r"[ \t\r\n]*")
_GAP: Final = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING: Final = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_SCALAR: Final = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null", re.ASCII)
_NEWLINE: Final = re.compile(r"\r\n|\r|\n")


class JsonNode(Struct):
    """A value and its position: text[start:end]. `children` are members of an object or items of an array."""

    kind: Literal["object", "array", "scalar"]
    start: int
    end: int = 0
    value: Any = None
    children: list[Child] = []


class Child(Struct):
    """A member (with key) or an item (without); `start` is the position of the key, or of the value."""

    key: str | None
    start: int
    node: JsonNode
    comma: int | None = None  # position of the comma after it


@lru_cache(maxsize=4)  # nodes are never changed after parsing
def parse(text: str) -> JsonNode | None:
    """The value of a text; None for only space and comments. Raises Invalid with line and column."""
    reader = _Reader(text)
    at = reader.gap(0)
    if at == len(text):
        return None
    node = reader.value(at, depth=0)
    if (rest := reader.gap(node.end)) != len(text):
        raise reader.damage(rest, "text after the end of the value")
    return node


def value_of(node: JsonNode | None) -> Any:
    """A node as plain Python values. The last of duplicate keys counts, as in every client."""
    if node is None:
        return None
    if node.kind == "object":
        return {child.key: value_of(child.node) for child in node.children}
    if node.kind == "array":
        return [value_of(child.node) for child in node.children]
    return node.value


def line_of(text: str, at: int) -> int:
    """The line number of a position."""
    return len(_NEWLINE.findall(text[:at])) + 1


def _plain(written: str) -> Any:
    try:
        return json.loads(written)
    except ValueError:  # more digits than Python converts; kept as written
        return written


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text

    def damage(self, at: int, what: str) -> Invalid:
        before = self.text[:at]
        column = at - max(before.rfind("\n"), before.rfind("\r"))
        return Invalid(f"line {line_of(self.text, at)}, column {column}: {what}")

    def gap(self, at: int) -> int:
        """The end of the space and comments at this position."""
        space = _SPACE.match(self.text, at)
        end = space.end() if space else at
        if not self.text.startswith("/", end):
            return end
        found = _GAP.match(self.text, end)
        end = found.end() if found else end
        if self.text.startswith("/*", end):
            raise self.damage(end, "unterminated comment")
        return end

    def value(self, at: int, *, depth: int) -> JsonNode:
        if depth > MAX_DEPTH:
            raise self.damage(at, f"nested more than {MAX_DEPTH} deep")
        first = self.text[at : at + 1]
        if first in ("{", "["):
            return self.container(at, depth)
        if first == '"':
            return self.string(at)
        if found := _SCALAR.match(self.text, at):
            return JsonNode("scalar", at, found.end(), _plain(found[0]))
        raise self.damage(at, "a value is missing" if first in ("", "}", "]", ",") else "not a JSON value")

    def string(self, at: int) -> JsonNode:
        found = _STRING.match(self.text, at)
        if not found:
            raise self.damage(at, "unterminated string")
        try:
            return JsonNode("scalar", at, found.end(), json.loads(found[0]))
        except ValueError as problem:
            raise self.damage(at, "unknown escape in a string") from problem

    def container(self, at: int, depth: int) -> JsonNode:
        kind: Literal["object", "array"] = "object" if self.text[at] == "{" else "array"
        closing = "}" if kind == "object" else "]"
        node = JsonNode(kind, at)
        here = self.gap(at + 1)
        while not self.text.startswith(closing, here):
            if node.children and node.children[-1].comma is None:
                raise self.damage(here, f"a comma or {closing} is missing")
            child = self.member(here, depth) if kind == "object" else self.item(here, depth)
            here = self.gap(child.node.end)
            if self.text.startswith(",", here):
                child.comma = here
                here = self.gap(here + 1)
            node.children.append(child)
        node.end = here + 1
        return node

    def member(self, at: int, depth: int) -> Child:
        if not self.text.startswith('"', at):
            raise self.damage(at, "a key in quotes or } is missing")
        key = self.string(at)
        colon = self.gap(key.end)
        if not self.text.startswith(":", colon):
            raise self.damage(colon, "a colon is missing")
        return Child(key.value, at, self.value(self.gap(colon + 1), depth=depth + 1))

    def item(self, at: int, depth: int) -> Child:
        node = self.value(at, depth=depth + 1)
        return Child(None, at, node)
