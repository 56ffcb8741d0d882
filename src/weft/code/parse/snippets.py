"""Recognises texts that are Python as a whole, and the definition in them."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from weft.code.parse.parse import MAX_SOURCE_BYTES, ParsedSource
from weft.code.parse.symbols import SymbolKind, symbols_of
from weft.core.errors import Invalid
from weft.files.languages import LANGUAGES

if TYPE_CHECKING:
    from tree_sitter import Node

# Cheap, and true of all code that holds a definition: most prose is told apart here.
_DEFINITION: Final = re.compile(r"^[ \t]*(?:async[ \t]+def|def|class)[ \t]+[^\W\d]\w*[ \t]*[(:\[]", re.MULTILINE)
_PYTHON: Final = next(language for language in LANGUAGES if language.name == "python")
# What a piece of code begins with. Others (a bare name, a tuple of names) are statements too, and as often prose.
_BEGINNINGS: Final = frozenset(
    [
        "class_definition",
        "decorated_definition",
        "for_statement",
        "function_definition",
        "future_import_statement",
        "if_statement",
        "import_from_statement",
        "import_statement",
        "try_statement",
        "type_alias_statement",
        "with_statement",
    ]
)
_BEGINNING_EXPRESSIONS: Final = frozenset({"assignment", "augmented_assignment", "call", "string"})


class Snippet(Struct, frozen=True, kw_only=True):
    """The first definition of a piece of code."""

    name: str
    kind: SymbolKind
    docstring: str


def may_define(text: str) -> bool:
    """Whether a text may be Python that contains a definition; a very cheap test."""
    return len(text) <= MAX_SOURCE_BYTES and _DEFINITION.search(text) is not None


def python_snippet(text: str) -> Snippet | None:
    """The definition in a text that is entirely valid Python; else None."""
    if not may_define(text):
        return None
    try:
        parsed = ParsedSource(
            _PYTHON, textwrap.dedent(text).strip("\r\n")
        )  # a method may be quoted with its indentation
        symbols = symbols_of(parsed).symbols if _is_code(parsed.root) else ()
    except Invalid:
        return None
    if not symbols:
        return None
    return Snippet(name=symbols[0].name, kind=symbols[0].kind, docstring=symbols[0].docstring)


def _is_code(root: Node | None) -> bool:
    if root is None or root.has_error:
        return False
    first = next((node for node in root.named_children if node.type != "comment"), None)
    return first is not None and _is_beginning(first)


def _is_beginning(statement: Node) -> bool:
    if statement.type != "expression_statement":
        return statement.type in _BEGINNINGS
    expression = statement.named_child(0) if statement.named_child_count else None
    return expression is not None and expression.type in _BEGINNING_EXPRESSIONS
