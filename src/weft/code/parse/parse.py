"""Parsing a text into a syntax tree, bounded in size and time."""

from __future__ import annotations

import importlib
import re
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from weft.core.errors import Invalid, TooLarge
from weft.files.languages import Language

if TYPE_CHECKING:
    from tree_sitter import Language as Grammar
    from tree_sitter import Node, Query

MAX_SOURCE_BYTES: Final = 524_288
# An error node with more children than this is not searched as a whole: a query takes quadratic time over it.
MAX_ERROR_WIDTH: Final = 2_000
# What stands deeper is not searched: over one part in another in another a query takes quadratic time.
MAX_DEPTH: Final = 1_000
# Text that is no code takes some grammars quadratic time and more (quotes alone; in JavaScript `a: b a: b …`). Code of
# the largest size takes less than a second: what takes longer than this is not parsed.
MAX_PARSE_MS: Final = 10_000
TOO_LONG: Final = "takes too long to parse"
MAX_BROKEN: Final = 20  # places of errors that are told

_LINE_END = re.compile(r"\r\n?")
# The Python grammar takes quadratic time over line ends that are escaped and have nothing between them.
_ESCAPES: Final = 500
_ESCAPED_LINE_ENDS = re.compile(rf"(?:\\\n[ \t\f]*){{{_ESCAPES}}}")


class ParsedSource:
    """A text with normalised line ends and no byte order mark; its bytes; its tree (None if it is not parsed)."""

    __slots__ = ("language", "raw", "root", "text")

    def __init__(self, language: Language, text: str) -> None:
        """Raises TooLarge past MAX_SOURCE_BYTES, Invalid for what takes too long."""
        self.language = language
        self.text = (_LINE_END.sub("\n", text) if "\r" in text else text).removeprefix("\ufeff")
        self.raw = self.text.encode(errors="replace")
        if len(self.raw) > MAX_SOURCE_BYTES:
            raise TooLarge(f"larger than {MAX_SOURCE_BYTES:,} bytes", hint="split the file, or leave it out")
        self.root: Node | None = None
        if self.text.count("\\\n") < _ESCAPES or not _ESCAPED_LINE_ENDS.search(self.text):
            self.root = _parsed(language, self.raw)

    def searchable(self) -> list[Node]:
        """The root; for a broken file with a huge error node, each sound part of it."""
        if self.root is None:
            return []
        if not self.root.has_error:
            return [self.root]
        sound, too_wide, waiting = [], False, [self.root]
        while waiting:
            node = waiting.pop()
            if node.has_error:
                too_wide = too_wide or node.child_count > MAX_ERROR_WIDTH
                waiting.extend(node.named_children)
            elif node.child_count:
                sound.append(node)
        return sound if too_wide else [self.root]

    def matches(self) -> Iterator[dict[str, list[Node]]]:
        """The matches of the language's query, as nodes by capture, in order of their beginning."""
        from tree_sitter import QueryCursor

        cursor = QueryCursor(grammar_of(self.language)[1])
        cursor.set_max_start_depth(MAX_DEPTH)
        for root in self.searchable():
            for _, captures in cursor.matches(root):
                yield captures

    def broken(self) -> tuple[tuple[int, int], ...]:
        """The first line ranges (from 1, inclusive) with syntax errors; everything if nothing was parsed."""
        if self.root is None:
            return ((1, self.text.count("\n") + 1),)
        if not self.root.has_error:
            return ()
        found: list[tuple[int, int]] = []
        waiting = [self.root]
        while waiting and len(found) < MAX_BROKEN:
            node = waiting.pop()
            if node.is_error or node.is_missing:
                found.append((node.start_point[0] + 1, node.end_point[0] + 1))
            elif node.has_error:
                waiting.extend(reversed(node.children))
        return tuple(found)


def _parsed(language: Language, raw: bytes) -> Node:
    from tree_sitter import Parser

    with warnings.catch_warnings():  # the callback that is to replace this limit does not work with bytes
        warnings.filterwarnings("ignore", message="Use the progress_callback", category=DeprecationWarning)
        parser = Parser(grammar_of(language)[0], timeout_micros=MAX_PARSE_MS * 1_000)
    try:
        return parser.parse(raw).root_node
    except ValueError as problem:
        raise Invalid(TOO_LONG, hint="leave the file out: the setting ignore") from problem


QUERIES: Final = Path(__file__).parent / "queries"
_INHERITS: Final = re.compile(r"; inherits: (\w+)\n")


@cache
def grammar_of(language: Language) -> tuple[Grammar, Query]:
    """The grammar and its compiled query; loaded lazily."""
    from tree_sitter import Language as Grammar
    from tree_sitter import Query

    grammar = Grammar(getattr(importlib.import_module(language.grammar), language.entry)())
    return grammar, Query(grammar, _query_text(language.query_name))


def _query_text(name: str) -> str:
    """The text of a query, preceded by the query that its first line inherits from, if any."""
    text = (QUERIES / f"{name}.scm").read_text(encoding="utf-8")
    inherited = _INHERITS.match(text)
    return f"{_query_text(inherited[1])}\n{text}" if inherited else text
