"""Family `code`: source files, by symbol."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from weft.types import Scope

Span = tuple[int, int]


class SymbolText(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A class or a function, with the lines it takes in the file (from 1, both in).

    Its node is `<file>::<key>`; `name` is its qualified name where that is not the key; `parent` is the key of the
    class around it. `spans` are the lines that `text` is made of, where they are not all of them.
    """

    key: str
    line: int
    end_line: int
    text: str
    kind: Literal["Class", "Function"] = "Function"
    name: str = ""
    parent: str = ""
    spans: tuple[Span, ...] = ()


class Indexed(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One version of a source file. `text` is what stands outside its symbols, on the lines of `spans`.

    `symbols` are those that are new or changed since the version before; the nodes in `ended` were in that version and
    are gone. The nodes in `withdrawn` were told of a later time than this one: they never held.
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
