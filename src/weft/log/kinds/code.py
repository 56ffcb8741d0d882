"""Family `code`: source files, by symbol."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from weft.core.types import Scope

Span = tuple[int, int]


class SymbolText(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A class or function, with its lines in the file (from 1, inclusive).

    Its node is `<file>::<key>`; `name` is its qualified name if that is not the key; `parent` is the key of the class
    it is a member of. `spans` are the lines of `text` if they are not all of them. `sort` is the kind of class or
    function, `summary` one line on its purpose; `calls` are its references as written, each once.
    """

    key: str
    line: int
    end_line: int
    text: str
    kind: Literal["Class", "Function", "Test"] = "Function"
    name: str = ""
    parent: str = ""
    spans: tuple[Span, ...] = ()
    sort: str = ""
    signature: str = ""
    summary: str = ""
    calls: tuple[str, ...] = ()


class Indexed(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One version of a source file. `text` is the content outside its symbols, on the lines of `spans`.

    `symbols` are new or changed since the version before; the nodes in `ended` were in that version and are gone. The
    nodes in `withdrawn` were recorded for a later time than this one: they never held.

    `reader` is the version of the parser, `blob` git's id of the content, `size` its bytes; `imports` are the modules
    it names, as written, `broken` the lines that do not parse. A file in no known language has no text here. `until` is
    the start of the next version already recorded, for a version read late from history.
    """

    id: str
    path: str
    language: str
    sha256: str
    text: str
    end_line: int
    spans: tuple[Span, ...] = ()
    symbols: tuple[SymbolText, ...] = ()
    ended: tuple[str, ...] = ()
    withdrawn: tuple[str, ...] = ()
    record: str | None = None
    project: str | None = None
    focus: str | None = None
    scope: Scope = "admin"
    agents: tuple[str, ...] = ()
    sensitive: bool = False
    reader: int = 0
    blob: str = ""
    size: int = 0
    imports: tuple[str, ...] = ()
    broken: tuple[Span, ...] = ()
    until: str | None = None


class Outside(Struct, frozen=True, array_like=True, gc=False):
    """A module or package outside the project: its node and its name."""

    id: str
    name: str


class Joined(Struct, frozen=True, array_like=True, gc=False):
    """A relation from a symbol of the file (by its key; empty for the file) to a node, with its line."""

    key: str
    relation: str
    target: str
    line: int = 0


class Linked(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The references of a file, as last resolved: relations that are new, and those that ended.

    `outside` are the targets of new relations that no file defines. `unresolved` counts the unresolved references of
    the file. `until` is as for the version.
    """

    id: str
    path: str
    joined: tuple[Joined, ...] = ()
    parted: tuple[Joined, ...] = ()
    outside: tuple[Outside, ...] = ()
    unresolved: int = 0
    until: str | None = None
    project: str | None = None
    scope: Scope = "admin"
    agents: tuple[str, ...] = ()
    sensitive: bool = False
