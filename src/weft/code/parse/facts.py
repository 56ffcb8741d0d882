"""Facts of a source file as written: definitions, imports, references and bindings. Nothing is resolved.

A chain is an expression as far as names show it: names joined by dots (or `::`, where the language writes that), `()`
for a call, `[]` for an index, a leading `?` for anything else: `self.store.find`, `open_store().find`, `rows[].close`,
`?.strip`. Facts are a function of a file's text and its path alone.
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
    """A class or a function. `key` is its place in the file (`Class::method`, `~n` where a key comes again).

    `parent` is the place of the class that it is a member of, FILE without one: the class may come later in the file
    (Go, Rust). `bases` and `interfaces` are what it extends and implements, `returns` the declared type of what it
    returns, all as written, without type arguments. `test` says that it is a test, as the language's runners see it.
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
        """Its own name."""
        return self.key.rpartition("::")[2].partition("~")[0]


class Imported(Struct, frozen=True, array_like=True, gc=False):
    """A name that comes from elsewhere: `name` of `module`, called `alias` here.

    An empty name is the module itself, `*` everything in it. `level` counts the dots of a relative import. `exported`
    says that the name is passed on to whoever imports this file. `owner` is the definition that it stands in.
    """

    module: str
    name: str
    alias: str
    line: int
    level: int = 0
    exported: bool = False
    owner: int = FILE


class Reference(Struct, frozen=True, array_like=True, gc=False):
    """A use: a call, a construction, or a name that stands for a definition without being called. See chains above.

    `arguments` is what a call is given, as chains, where a language has several functions by one name; else None.
    """

    owner: int
    form: Form
    chain: str
    line: int
    arguments: tuple[str, ...] | None = None


class Binding(Struct, frozen=True, array_like=True, gc=False):
    """What a name holds inside its owner: a declared type (`declared`) or a value, as a chain.

    The names of a class's fields are bound to the class: `self.store: Store` is `store` of the class.
    """

    owner: int
    name: str
    chain: str
    declared: bool
    line: int


class FileFacts(Struct, frozen=True, array_like=True):
    """All of it. `extra` holds what one language alone needs (a package's name), by name."""

    path: str
    language: str
    definitions: tuple[Definition, ...] = ()
    imports: tuple[Imported, ...] = ()
    references: tuple[Reference, ...] = ()
    bindings: tuple[Binding, ...] = ()
    extra: Mapping[str, str] = {}

    def interface(self) -> str:
        """A digest of all that other files can see of this one: while it stays, what they refer to stays."""
        shown = [replace(each, line=0, end_line=0) for each in self.definitions]
        imports = [replace(each, line=0) for each in self.imports]
        classes = {place for place, each in enumerate(self.definitions) if each.sort in CLASS_SORTS}
        bound = [replace(each, line=0) for each in self.bindings if each.owner == FILE or each.owner in classes]
        return hashlib.sha256(msgspec.msgpack.encode((shown, imports, bound, self.extra))).hexdigest()
