"""Reads a source file into symbols, so that every line that is not blank belongs to exactly one of them or to the file.

A function's text holds its decorators and whatever is defined inside it; a class's text is what is left of it without
its methods and inner classes; the file's own text is what stands outside all symbols.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Final, Literal

from msgspec import Struct

from weft.code.languages import grammar_of, language_of
from weft.code.parsing import Parsed
from weft.errors import Invalid, TooLarge

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_SYMBOLS: Final = 10_000
MAX_CLASS_DEPTH: Final = 32  # what is nested deeper stays in the text of the class around it

SymbolKind = Literal["Class", "Function"]
Span = tuple[int, int]

# The last part of a head, of those that are there.
_HEAD_FIELDS: Final = ("return_type", "parameters", "superclasses", "type_parameters", "name")
_TEXT_QUOTES: Final = frozenset(b"rRuU\"'")  # what a docstring's opening is made of: not bytes, not an f-string


class Symbol(Struct, frozen=True, kw_only=True):
    """A class or a function. Lines count from 1, both ends in; `parent` is the class around it, by its place.

    `spans` are the lines that `text` is made of: all of them for a function, those outside its members for a class.
    """

    name: str
    kind: SymbolKind
    signature: str
    docstring: str
    line: int
    end_line: int
    text: str
    spans: tuple[Span, ...]
    parent: int | None = None


class SourceFile(Struct, frozen=True, kw_only=True):
    """A file as its symbols, in the order in which they begin, and what stands outside them."""

    language: str
    module_text: str
    module_spans: tuple[Span, ...]
    symbols: tuple[Symbol, ...]


def read_source(text: str, path: str) -> SourceFile:
    """The symbols of a file. One with errors in it gives those that can be made out; no line is lost.

    Line ends are read as line feeds, as compilers do. Raises TooLarge past 512 KiB or 10,000 symbols, Invalid for a
    file that is in no known language.
    """
    language = language_of(path)
    if language is None:
        raise Invalid(f"{path[-80:]!r} is in no language that weft reads", hint="ingest it as text")
    return symbols_of(Parsed(language, text))


def symbols_of(parsed: Parsed) -> SourceFile:
    """The symbols of what was parsed. Raises TooLarge past 10,000."""
    found = _nest(parsed.raw, _found(parsed))
    if len(found) > MAX_SYMBOLS:
        raise TooLarge(f"holds more than {MAX_SYMBOLS:,} symbols", hint="split the file, or leave it out")
    lines = parsed.text.split("\n")
    top: list[Span] = []
    for each in found:
        (top if each.parent is None else found[each.parent].members).append((each.row, each.to_row))
    module = _outside(lines, 0, len(lines) - 1, top)
    return SourceFile(
        language=parsed.language.name,
        module_text=_text(lines, module),
        module_spans=_counted(module),
        symbols=tuple(_symbol(parsed.raw, lines, each) for each in found),
    )


class _Found(Struct):
    """A definition that the query found: all of it, the same without decorators, and its name."""

    kind: SymbolKind
    name: bytes
    whole: Node
    bare: Node


class _Definition(Struct):
    """A definition on its way to become a symbol: rows count from 0, both ends in, bytes end before `end`."""

    kind: SymbolKind
    name: str
    bare: Node
    end: int
    row: int
    to_row: int
    parent: int | None
    members: list[Span]


def _found(parsed: Parsed) -> list[_Found]:
    """What the query finds, outer before inner."""
    from tree_sitter import QueryCursor

    query = grammar_of(parsed.language)[1]
    by_name: dict[int, _Found] = {}
    for root in parsed.searchable():
        for _, captures in QueryCursor(query).matches(root):
            name = captures["name"][0]
            classes = captures.get("symbol.class")
            node = (classes or captures["symbol.function"])[0]
            start, end = name.start_byte, name.end_byte
            known = by_name.get(start)
            if known is None:
                kind: SymbolKind = "Class" if classes else "Function"
                by_name[start] = _Found(kind, parsed.raw[start:end], node, node)
            else:  # matches come in the order in which they begin: this one is without the decorators
                known.bare = node
    return sorted(by_name.values(), key=lambda each: (each.whole.start_byte, -each.whole.end_byte))


def _nest(raw: bytes, found: list[_Found]) -> list[_Definition]:
    """Puts definitions into the classes around them; leaves out those inside functions."""
    kept: list[_Definition] = []
    around: list[int] = []
    for each in found:
        start, end = each.whole.start_byte, each.whole.end_byte
        while around and kept[around[-1]].end <= start:
            around.pop()
        outer = kept[around[-1]] if around else None
        if outer is not None and (outer.kind == "Function" or len(around) >= MAX_CLASS_DEPTH):
            continue
        if raw[raw.rfind(b"\n", 0, start) + 1 : start].strip():
            continue  # after an error, two may share a line: it belongs to the first
        row, to_row = each.whole.start_point[0], each.whole.end_point[0]
        while to_row > row and not raw[raw.rfind(b"\n", 0, end) + 1 : end].strip():
            end, to_row = raw.rfind(b"\n", 0, end), to_row - 1
        own_name = each.name.decode(errors="replace")
        kept.append(
            _Definition(
                kind=each.kind,
                name=own_name if outer is None else f"{outer.name}.{own_name}",
                bare=each.bare,
                end=end,
                row=row,
                to_row=to_row,
                parent=around[-1] if around else None,
                members=[],
            )
        )
        around.append(len(kept) - 1)
    return kept


def _symbol(raw: bytes, lines: list[str], made: _Definition) -> Symbol:
    spans: tuple[Span, ...] = ((made.row, made.to_row),)
    if made.members:
        spans = _outside(lines, made.row, made.to_row, made.members)
    return Symbol(
        name=made.name,
        kind=made.kind,
        signature=_signature(raw, made.bare),
        docstring=_docstring(raw, made.bare),
        line=made.row + 1,
        end_line=made.to_row + 1,
        text=_text(lines, spans),
        spans=_counted(spans),
        parent=made.parent,
    )


def _outside(lines: list[str], first: int, last: int, members: list[Span]) -> tuple[Span, ...]:
    """The rows from `first` to `last` that are in no member, without blank ones at either end of a piece."""
    spans = []
    begin = first
    for next_row, to_row in (*members, (last + 1, last)):
        end = next_row - 1
        while begin <= end and not lines[begin].strip():
            begin += 1
        while end > begin and not lines[end].strip():
            end -= 1
        if begin <= end:
            spans.append((begin, end))
        begin = to_row + 1
    return tuple(spans)


def _text(lines: list[str], spans: tuple[Span, ...]) -> str:
    return "\n".join([line for first, last in spans for line in lines[first : last + 1]])


def _counted(spans: tuple[Span, ...]) -> tuple[Span, ...]:
    return tuple((first + 1, last + 1) for first, last in spans)


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
