"""Readers of syntax trees, one package per language, each with a `LanguageReader`.

The language's query runs once over a file. Captures of the first sort create definitions, alike for all languages (see
`weft.code.parse.definitions`):

- `@definition.<sort>` with `@name`: a class or a function. If one is found twice by the same name, it begins with its
  first match (with decorators, with `export`); the last match is passed to `describe`.
- `@receiver` beside them: the class of a function that is declared outside of it (Go).
- `@leading`: belongs to the next definition if only blanks are between (attributes, doc comments).
- `@scope` with `@name`: no symbol, but a prefix of the names inside it (`impl`, `namespace`, `mod`).

All other matches are passed to `read` as the query made them.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from weft.code.parse.facts import Binding, Imported, Reference, Sort
from weft.code.parse.parse import ParsedSource
from weft.files.languages import Language

if TYPE_CHECKING:
    from tree_sitter import Node

Match = Mapping[str, "list[Node]"]  # nodes by the name of their capture
OwnerAt = Callable[[int], int]  # the place of the definition around a byte, FILE outside all


class Described(Struct, frozen=True, kw_only=True):
    """A definition's signature on one line, its documentation, and its types as written."""

    signature: str
    doc: str = ""
    sort: Sort | None = None  # where the query cannot tell: an abstract class
    bases: tuple[str, ...] = ()
    interfaces: tuple[str, ...] = ()
    returns: str = ""
    test: bool = False


class Rest(Struct, frozen=True, kw_only=True):
    """The imports, references and bindings of a file."""

    imports: tuple[Imported, ...] = ()
    references: tuple[Reference, ...] = ()
    bindings: tuple[Binding, ...] = ()
    extra: Mapping[str, str] = {}


class LanguageReader(Protocol):
    """Reads one language. Pure: no store, no disk."""

    def describe(self, parsed: ParsedSource, path: str, definition: Node, sort: Sort, qualifier: str) -> Described:
        """The description of one definition; `qualifier` is the first part of its key, empty at the top level."""
        ...

    def read(self, parsed: ParsedSource, path: str, matches: Sequence[Match], owner_at: OwnerAt) -> Rest:
        """Imports, references and bindings, each in source order."""
        ...


@cache
def reader_of(language: Language) -> LanguageReader:
    """The reader of a language; loaded lazily."""
    module = importlib.import_module(f"{__name__}.{language.reader_name}.reader")
    reader: LanguageReader = module.READER
    return reader
