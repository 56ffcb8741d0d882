"""Splits a source file into symbols, so that every non-blank line belongs to exactly one of them or to the file.

A function's text includes its decorators and nested definitions; a class's text excludes its methods and inner classes;
the file's own text is outside all symbols. A member that begins in the middle of a line has its own text, and the line
also stays with the class: `interface Store { get(): Row }`.
"""

from __future__ import annotations

from functools import partial
from typing import Literal

from msgspec import Struct

from weft.code.parse.definitions import Owners, Placed, find, place
from weft.code.parse.facts import CLASS_SORTS, FILE, Definition, FileFacts
from weft.code.parse.parse import ParsedSource
from weft.code.parse.readers import Described, reader_of
from weft.core.errors import Invalid, TooLarge
from weft.files.languages import language_of
from weft.retrieval.citations.file_ids import MAX_SYMBOLS, Span

SymbolKind = Literal["Class", "Function", "Test"]


class Symbol(Struct, frozen=True, kw_only=True, gc=False):
    """A class, a function or a test. Lines count from 1, inclusive; `parent` is the place of the enclosing class.

    `name` is qualified (`Class.method`), `key` is unique in the file (`Class::method~2`). `spans` are the lines of
    `text`: all of a function, those outside its members for a class.
    """

    name: str
    key: str
    kind: SymbolKind
    sort: str
    signature: str
    docstring: str
    line: int
    end_line: int
    text: str
    spans: tuple[Span, ...]
    parent: int | None = None


class SourceFile(Struct, frozen=True, kw_only=True):
    """A file with its symbols in order, the text outside them, and its documentation.

    `broken` are the first line ranges with syntax errors.
    """

    language: str
    module_text: str
    module_spans: tuple[Span, ...]
    symbols: tuple[Symbol, ...]
    facts: FileFacts
    broken: tuple[Span, ...] = ()


def read_source(text: str, path: str) -> SourceFile:
    """The symbols of a file. A file with syntax errors yields those that are recognisable; no line is lost.

    Line ends are normalised. Raises TooLarge past 512 KiB or 10,000 symbols, Invalid for a file in an unsupported
    language.
    """
    language = language_of(path)
    if language is None:
        raise Invalid(f"{path[-80:]!r} is in no language that weft reads", hint="ingest it as text")
    return symbols_of(ParsedSource(language, text), path)


def symbols_of(parsed: ParsedSource, path: str = "") -> SourceFile:
    """The symbols of a parsed text. Raises TooLarge past 10,000."""
    found, matches = find(parsed)
    placed = place(parsed.raw, found)
    if len(placed) > MAX_SYMBOLS:
        raise TooLarge(f"holds more than {MAX_SYMBOLS:,} symbols", hint="split the file, or leave it out")
    reader = reader_of(parsed.language)
    described = [reader.describe(parsed, path, each.bare, each.sort, each.qualifier) for each in placed]
    rest = reader.read(parsed, path, matches, Owners(placed).at)
    lines = parsed.text.split("\n")
    members: list[list[Span]] = [[] for _ in placed]
    top: list[Span] = []
    for each in placed:
        if not each.inline:
            (top if each.outer == FILE else members[each.outer]).append((each.row, each.to_row))
    module = _outside(lines, 0, len(lines) - 1, top)
    return SourceFile(
        language=parsed.language.name,
        module_text=_text(lines, module),
        module_spans=_counted(module),
        symbols=tuple(map(partial(_symbol, parsed.raw, lines), placed, described, members)),
        facts=FileFacts(
            path=path,
            language=parsed.language.name,
            definitions=tuple(map(_definition, placed, described)),
            imports=rest.imports,
            references=rest.references,
            bindings=rest.bindings,
            extra=rest.extra,
        ),
        broken=parsed.broken(),
    )


def _definition(placed: Placed, described: Described) -> Definition:
    return Definition(
        key=placed.key,
        sort=described.sort or placed.sort,
        line=placed.row + 1,
        end_line=placed.to_row + 1,
        parent=placed.parent,
        bases=described.bases,
        interfaces=described.interfaces,
        returns=described.returns,
        test=described.test,
    )


def _symbol(raw: bytes, lines: list[str], placed: Placed, described: Described, members: list[Span]) -> Symbol:
    spans: tuple[Span, ...] = ((placed.row, placed.to_row),)
    if members:
        spans = _outside(lines, placed.row, placed.to_row, members)
    is_class = placed.sort in CLASS_SORTS
    return Symbol(
        name=".".join(part.partition("~")[0] for part in placed.key.split("::")),
        key=placed.key,
        kind="Class" if is_class else "Test" if described.test else "Function",
        sort=described.sort or placed.sort,
        signature=described.signature,
        docstring=described.doc,
        line=placed.row + 1,
        end_line=placed.to_row + 1,
        text=_text(lines, spans) if not placed.inline else raw[placed.start : placed.end].decode(errors="replace"),
        spans=_counted(spans),
        parent=None if placed.parent == FILE else placed.parent,
    )


def _outside(lines: list[str], first: int, last: int, members: list[Span]) -> tuple[Span, ...]:
    """The rows from `first` to `last` outside all members, without blank ones at either end of a piece."""
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
