"""Ids of file nodes and of the symbols in them, and the lines that a node covers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from msgspec import ValidationError, convert

from weft.core.kinds import CHUNK_MARK
from weft.core.types import NodeVersion
from weft.log.citation import file_citation

MAX_SYMBOLS: Final = 10_000
SYMBOL_KINDS: Final = ("Class", "Function", "Test")
Span = tuple[int, int]  # the first and the last line, both in
_ESCAPED: Final = {"#": "%23", CHUNK_MARK: "%C2%B6"}
_MARKS: Final = re.compile(f"[#{CHUNK_MARK}]|%(?=23|25|C2%B6)")


def file_id(project: str | None, path: str) -> str:
    """The id of the node of a file. The marks between a document and its parts are escaped in its path: so no part of
    one document has the id of another.
    """
    name = _MARKS.sub(lambda found: _ESCAPED.get(found[0], found[0].replace("%", "%25")), path)
    return name if project is None else f"{project}/{name}"


def symbol_prefix(project: str | None, path: str) -> str:
    """The prefix of the ids of a source file's symbols."""
    return f"{file_id(project, path)}::"


def spans_of(props: Mapping[str, Any]) -> tuple[Span, ...]:
    """The lines that a node's text is made of, by its properties: pieces of (first, last), both in."""
    spans = props.get("spans")
    if spans is None:
        spans = [[props.get("line"), props.get("end_line")]]
    try:
        return convert(spans, tuple[Span, ...])
    except ValidationError:  # properties are written by callers
        return ()


def line_citation(node: NodeVersion) -> str:
    """The citation of a node as lines of a file; empty where it is of none."""
    source, line = node.props.get("source"), node.props.get("line")
    return file_citation(source, line) if isinstance(source, str) and isinstance(line, int) else ""
