"""Facts of a source file as written: definitions, imports, references and bindings, unresolved.

A chain represents an expression by its names, joined by dots (or `::` in languages that write that): `()` is a call,
`[]` an index, a leading `?` anything else: `self.store.find`, `open_store().find`, `rows[].close`, `?.strip`. Facts
depend only on a file's text and path.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Final, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

# Changes whenever facts of the same text change: what was read by an older version is read again.
READER_VERSION: Final = 2
FILE: Final = -1  # the place of what stands outside all definitions

Sort = Literal["class", "interface", "trait", "abstract", "struct", "enum", "function", "method"]
CLASS_SORTS: Final[frozenset[str]] = frozenset({"class", "interface", "trait", "abstract", "struct", "enum"})
Form = Literal["call", "new", "name"]


class Definition(Struct, frozen=True, array_like=True, gc=False):
    """A class or a function. `key` is its place in the file (`Class::method`, with `~n` for repeated keys).

    `parent` is the place of the class that it is a member of, or FILE; the class may come later in the file (Go, Rust).
    `bases` and `interfaces` are its supertypes, `returns` the declared result type, all as written, without type
    arguments. `test` says that the language's test runners would run it.
    """

    key: str
    sort: Sort
    line: int
    end_line: int
    parent: int = FILE
    bases: tuple[str, ...] = ()
    interfaces: tuple[str, ...] = ()
    returns: str = ""
    test: bool = False

    @property
    def name(self) -> str:
        return self.key.rpartition("::")[2].partition("~")[0]


class Imported(Struct, frozen=True, array_like=True, gc=False):
    """An imported name: `name` of `module`, called `alias` here.

    An empty name is the module itself, `*` all its names. `level` counts the dots of a relative import. `exported`
    names are re-exported to importers of this file. `owner` is the definition around the import.
    """

    module: str
    name: str
    alias: str
    line: int
    level: int = 0
    exported: bool = False
    owner: int = FILE


class Reference(Struct, frozen=True, array_like=True, gc=False):
    """A use: a call, a construction, or a name that refers to a definition without a call. See chains above.

    `arguments` are the arguments of a call as chains, in languages with overloading; else None.
    """

    owner: int
    form: Form
    chain: str
    line: int
    arguments: tuple[str, ...] | None = None


class Binding(Struct, frozen=True, array_like=True, gc=False):
    """The value of a name inside its owner: a declared type (`declared`) or a chain.

    Fields are bound to their class: `self.store: Store` binds `store` of the class.
    """

    owner: int
    name: str
    chain: str
    declared: bool
    line: int


class FileFacts(Struct, frozen=True, array_like=True):
    """All facts of a file. `extra` holds language-specific ones, such as the package name."""

    path: str
    language: str
    definitions: tuple[Definition, ...] = ()
    imports: tuple[Imported, ...] = ()
    references: tuple[Reference, ...] = ()
    bindings: tuple[Binding, ...] = ()
    extra: Mapping[str, str] = {}

    def interface(self) -> str:
        """A digest of everything that other files can see of this one; while it is equal, their links stay valid."""
        shown = [replace(each, line=0, end_line=0) for each in self.definitions]
        imports = [replace(each, line=0) for each in self.imports]
        classes = {place for place, each in enumerate(self.definitions) if each.sort in CLASS_SORTS}
        bound = [replace(each, line=0) for each in self.bindings if each.owner == FILE or each.owner in classes]
        return hashlib.sha256(msgspec.msgpack.encode((shown, imports, bound, self.extra))).hexdigest()
