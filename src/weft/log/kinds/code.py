"""Family `code`: source files, by symbol."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from weft.types import Scope

Span = tuple[int, int]


class SymbolText(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A class or a function, with the lines it takes in the file (from 1, both in).

    Its node is `<file>::<key>`; `name` is its qualified name where that is not the key; `parent` is the key of the
    class that it is a member of. `spans` are the lines that `text` is made of, where they are not all of them. `sort`
    says what kind of class or function it is, `summary` in a line what it is for; `calls` are the
    references in it as they are written, each once.
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
    """One version of a source file. `text` is what stands outside its symbols, on the lines of `spans`.

    `symbols` are those that are new or changed since the version before; the nodes in `ended` were in that version and
    are gone. The nodes in `withdrawn` were told of a later time than this one: they never held.

    `reader` is the version of what read it, `blob` git's id of the content, `size` its bytes; `imports` are the modules
    that it names, as written, `broken` the lines that do not parse. A file in no known language has no text here.
    `until` is when the next version begins that is told already: of a version that is read late, out of history.
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
    """A module or package that is not part of the project: the node of it, and its name."""

    id: str
    name: str


class Joined(Struct, frozen=True, array_like=True, gc=False):
    """A relation from a symbol of the file (by its key; empty for the file) to a node, as of a line of the file."""

    key: str
    relation: str
    target: str
    line: int = 0


class Linked(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a file refers to, as resolved when it was last looked at: relations that are new, and those that are over.

    `outside` are the nodes that new relations lead to and that no file makes. `unresolved` counts the references that
    could not be told, of all that the file holds. `until` is as for the version.
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
