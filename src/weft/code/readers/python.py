"""Python: what is told of a definition. See `python_names` for imports, uses and what names hold."""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from weft.code.facts import Sort
from weft.code.parsing import Parsed
from weft.code.readers import Described, Match, OwnerAt, Rest
from weft.code.readers.python_chains import annotation_of, text_of
from weft.code.readers.python_names import Names

if TYPE_CHECKING:
    from tree_sitter import Node

# The last part of a head, of those that are there.
_HEAD_FIELDS: Final = ("return_type", "parameters", "superclasses", "type_parameters", "name")
_TEXT_QUOTES: Final = frozenset(b"rRuU\"'")  # what a docstring's opening is made of: not bytes, not an f-string
# What the bases of a class make of it, by the last part of their names.
_SORTS: Final[dict[str, Sort]] = {
    "Protocol": "interface",
    "ABC": "abstract",
    "Enum": "enum",
    "Flag": "enum",
    "IntEnum": "enum",
    "IntFlag": "enum",
    "StrEnum": "enum",
}
_TEST_FILE: Final = re.compile(r"(?:.*/)?(?:test_[^/]*|[^/]*_tests?|tests?)\.pyi?", re.IGNORECASE)


class PythonReader:
    """Reads Python. What it returns is kept as written, with type arguments: `list[Row]` says what a loop gets."""

    def describe(self, parsed: Parsed, path: str, definition: Node, sort: Sort, qualifier: str) -> Described:
        raw = parsed.raw
        signature, doc = _signature(raw, definition), _docstring(raw, definition)
        if sort == "class":
            bases, made = _bases(raw, definition)
            return Described(signature=signature, doc=doc, sort=made, bases=bases)
        returned = definition.child_by_field_name("return_type")
        return Described(
            signature=signature,
            doc=doc,
            sort="method" if qualifier else None,
            returns=annotation_of(raw, returned) if returned is not None else "",
            test=_is_test(raw, definition, path, qualifier),
        )

    def read(self, parsed: Parsed, path: str, matches: Sequence[Match], owner_at: OwnerAt) -> Rest:
        return Names(parsed.raw, owner_at).read(matches)


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


def _bases(raw: bytes, definition: Node) -> tuple[tuple[str, ...], Sort | None]:
    """What a class extends, without type arguments, and what that makes of it."""
    parents = definition.child_by_field_name("superclasses")
    bases: list[str] = []
    made: Sort | None = None
    for each in parents.named_children if parents is not None else ():
        text = text_of(raw, each)
        if each.type == "keyword_argument":
            made = "abstract" if text.rpartition("=")[2].strip().endswith("ABCMeta") else made
        elif each.type in ("identifier", "attribute", "subscript"):
            bases.append("".join(text.partition("[")[0].split()))
            made = made or _SORTS.get(bases[-1].rpartition(".")[2])
    return tuple(bases), made


def _is_test(raw: bytes, definition: Node, path: str, qualifier: str) -> bool:
    """Whether pytest or unittest would run it: by its name, in a file of tests or in a TestCase."""
    name = definition.child_by_field_name("name")
    if name is None or not raw.startswith(b"test", name.start_byte):
        return False
    if _TEST_FILE.fullmatch(path):
        return True
    around = definition.parent
    while around is not None and around.type in ("block", "decorated_definition"):
        around = around.parent
    parents = around.child_by_field_name("superclasses") if qualifier and around is not None else None
    return parents is not None and b"TestCase" in raw[parents.start_byte : parents.end_byte]
