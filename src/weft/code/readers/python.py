"""Python."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from weft.code.facts import Sort
from weft.code.parsing import Parsed
from weft.code.readers import Described, Match, OwnerAt, Rest

if TYPE_CHECKING:
    from tree_sitter import Node

# The last part of a head, of those that are there.
_HEAD_FIELDS: Final = ("return_type", "parameters", "superclasses", "type_parameters", "name")
_TEXT_QUOTES: Final = frozenset(b"rRuU\"'")  # what a docstring's opening is made of: not bytes, not an f-string


class PythonReader:
    """Reads Python."""

    def describe(self, parsed: Parsed, path: str, definition: Node, sort: Sort, qualifier: str) -> Described:
        raw = parsed.raw
        method: Sort | None = "method" if sort == "function" and qualifier else None
        return Described(signature=_signature(raw, definition), doc=_docstring(raw, definition), sort=method)

    def read(self, parsed: Parsed, path: str, matches: Sequence[Match], owner_at: OwnerAt) -> Rest:
        return Rest()


READER: Final = PythonReader()


def _signature(raw: bytes, definition: Node) -> str:
    """`def name(parameters) -> type`, `class Name(parents)`, on one line."""
    last = next((found for field in _HEAD_FIELDS if (found := definition.child_by_field_name(field))), definition)
    return " ".join(raw[definition.start_byte : last.end_byte].decode(errors="replace").split())


def _docstring(raw: bytes, definition: Node) -> str:
    """The string that its body begins with, as written, without its indentation."""
    body = definition.child_by_field_name("body")
    first = _first(body)
    if body is not None and first is not None and first.type == "comment":
        first = next((each for each in body.named_children if each.type != "comment"), None)
    string = _first(first) if first is not None and first.type == "expression_statement" else None
    if string is None or string.type != "string":
        return ""
    opening, closing = (string.child(0), string.child(string.child_count - 1)) if string.child_count else (None, None)
    if opening is None or closing is None or not _TEXT_QUOTES.issuperset(raw[opening.start_byte : opening.end_byte]):
        return ""
    return inspect.cleandoc(raw[opening.end_byte : closing.start_byte].decode(errors="replace"))


def _first(node: Node | None) -> Node | None:
    return node.named_child(0) if node is not None and node.named_child_count else None
