"""What is particular to a language when its syntax trees are read: one module each, one `Reader` in it.

The language's query is run once over a file. Its captures are of two sorts. These make definitions, for all languages
alike (see `weft.code.definitions`):

- `@definition.<sort>` with `@name`: a class or a function, whole. One that is found twice by the same name counts from
  its first match on (with its decorators, with `export`); the last match is what `describe` gets.
- `@receiver` beside them: the class that a function belongs to although it stands outside of it (Go).
- `@leading`: belongs to the definition that comes next, if only blanks stand between (attributes, doc comments).
- `@scope` with `@name`: no symbol, but what stands inside is called after it (`impl`, `namespace`, `mod`).

All other matches are the reader's own, and come to `read` as the query made them.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from weft.code.facts import Binding, Imported, Reference, Sort
from weft.code.languages import Language
from weft.code.parsing import Parsed

if TYPE_CHECKING:
    from tree_sitter import Node

Match = Mapping[str, "list[Node]"]  # nodes by the name of their capture
OwnerAt = Callable[[int], int]  # the place of the definition around a byte, FILE outside all


class Described(Struct, frozen=True, kw_only=True):
    """What is told of a definition: its head on one line, what its author says of it, its types as written."""

    signature: str
    doc: str = ""
    sort: Sort | None = None  # where the query cannot tell: an abstract class
    bases: tuple[str, ...] = ()
    interfaces: tuple[str, ...] = ()
    returns: str = ""
    test: bool = False


class Rest(Struct, frozen=True, kw_only=True):
    """What else a file says."""

    imports: tuple[Imported, ...] = ()
    references: tuple[Reference, ...] = ()
    bindings: tuple[Binding, ...] = ()
    extra: Mapping[str, str] = {}


class Reader(Protocol):
    """Reads one language. Pure: no store, no disk."""

    def describe(self, parsed: Parsed, path: str, definition: Node, sort: Sort, qualifier: str) -> Described:
        """What is told of one definition; `qualifier` is what its key begins with, empty at the top."""
        ...

    def read(self, parsed: Parsed, path: str, matches: Sequence[Match], owner_at: OwnerAt) -> Rest:
        """Imports, references and bindings, each in the order in which they stand."""
        ...


@cache
def reader_of(language: Language) -> Reader:
    """The reader of a language; loaded when first needed."""
    module = importlib.import_module(f"{__name__}.{language.reader_name}")
    reader: Reader = module.READER
    return reader
