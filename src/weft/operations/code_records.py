"""Source files and pieces of code as events: what a file holds now, against what the graph says of it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec import Struct, ValidationError, convert
from msgspec.structs import asdict

from weft.code.snippets import python_snippet
from weft.code.symbols import MAX_SYMBOLS, SourceFile, Span, Symbol, read_source
from weft.extract.records import Record
from weft.kinds import CHUNK_MARK
from weft.log.draft import Draft
from weft.log.kinds import code, memory
from weft.loom import Loom
from weft.operations.conversations import LATEST
from weft.queries import Which
from weft.types import Find, Guard, NodeVersion

SYMBOL_KINDS: Final = ("Class", "Function", "Test")
MAX_SIGNATURE_CHARACTERS: Final = 500
_ESCAPED: Final = {"#": "%23", CHUNK_MARK: "%C2%B6"}
_MARKS: Final = re.compile(f"[#{CHUNK_MARK}]|%(?=23|25|C2%B6)")


class Source(Struct, frozen=True, kw_only=True):
    """A version of a source file: its text, a hash that tells it from others, when it was written if that is known."""

    path: str
    text: str
    sha256: str
    at: int | None = None
    record: str | None = None


class Indexing(Struct, frozen=True, kw_only=True):
    """The event that brings the graph up to a version of a file, and how many symbols that version has."""

    draft: Draft
    symbols: int


def file_id(project: str | None, path: str) -> str:
    """The id of the node of a file. The marks between a document and its parts are escaped in its path: so no part of
    one document has the id of another.
    """
    name = _MARKS.sub(lambda found: _ESCAPED.get(found[0], found[0].replace("%", "%25")), path)
    return name if project is None else f"{project}/{name}"


def symbol_prefix(project: str | None, path: str) -> str:
    """How the ids of a source file's symbols begin."""
    return f"{file_id(project, path)}::"


def file_draft(loom: Loom, guard: Guard, record: Record) -> Draft | None:
    """The event of a record with a path to source code; None where the graph says all of it already.

    Raises TooLarge for a file that is too long, Invalid for one that is in no known language.
    """
    digest = hashlib.sha256(record.text.encode()).hexdigest()
    source = Source(path=record.path, text=record.text, sha256=digest, at=record.at, record=record.id)
    found = index(loom, guard, source)
    return None if found is None else found.draft


def snippet_draft(node_id: str, guard: Guard, record: Record) -> Draft | None:
    """The event of a record whose text is a piece of Python that defines something; None where it is not."""
    snippet = python_snippet(record.text)
    if snippet is None:
        return None
    payload = memory.Remembered(
        id=node_id,
        node_kind=snippet.kind,
        name=snippet.name,
        summary=snippet.docstring,
        text=record.text,
        props={"record": record.id},
        **asdict(guard),
    )
    return Draft(kind="memory.remembered", payload=payload, occurred_at=record.at)


def index(loom: Loom, guard: Guard, source: Source) -> Indexing | None:
    """What to write so that the graph shows this version of the file; None where it does.

    Symbols that stand as they are, word for word and line for line, are left alone.
    """
    node_id = file_id(guard.project, source.path)
    known = next(iter(loom.store.nodes(loom.viewer, LATEST, [node_id])), None)
    if known is not None and is_version(known, guard, source):
        return None
    read = read_source(source.text, source.path)
    below = Find(kinds=SYMBOL_KINDS, id_prefix=symbol_prefix(guard.project, source.path))
    found = loom.store.find(loom.viewer, LATEST, below, limit=MAX_SYMBOLS).nodes
    standing = {node.id: node for node in found if node.props.get("part_of") == node_id}
    keys = _keys(read.symbols, _kinds_known(loom, node_id, standing))
    made = [_symbol_text(keys, place, symbol, sensitive=guard.sensitive) for place, symbol in enumerate(read.symbols)]
    gone = set(standing) - {f"{node_id}::{key}" for key in keys}
    # What is told of a later time would hold again from then on: it is taken back, and told anew.
    later = known is not None and source.at is not None and known.interval.asserted_from > source.at
    payload = code.Indexed(
        id=node_id,
        path=source.path,
        language=read.language,
        sha256=source.sha256,
        text=read.module_text,
        end_line=_last_line(read),
        spans=read.module_spans,
        symbols=tuple(
            text for text in made if later or not _stands(text, standing.get(f"{node_id}::{text.key}"), guard, source)
        ),
        ended=() if later else tuple(sorted(gone)),
        withdrawn=(node_id, *sorted(standing)) if later else (),
        record=source.record,
        **asdict(guard),
    )
    draft = Draft(kind="code.indexed", payload=payload, occurred_at=source.at)
    return Indexing(draft=draft, symbols=len(made))


def is_version(node: NodeVersion, guard: Guard, source: Source) -> bool:
    """Whether a file's node says what this version of the file does."""
    return node.props.get("sha256") == source.sha256 and _told(node, guard, source)


def _told(known: NodeVersion, guard: Guard, source: Source) -> bool:
    """With the same rights, of the same time, by the same record."""
    same_time = source.at in (None, known.interval.asserted_from)
    return known.guard == guard and same_time and known.props.get("record") == source.record


def _kinds_known(loom: Loom, node_id: str, standing: Mapping[str, NodeVersion]) -> Callable[[str], str | None]:
    """Which kind a key's node has, if it ever was: a node keeps its kind, be it long ended or deleted."""
    if not standing and not loom.store.last_versions(loom.viewer, Which(ids=(node_id,)), limit=1):
        return lambda key: None

    def kind_of(key: str) -> str | None:
        known = standing.get(f"{node_id}::{key}")
        if known is None:
            which = Which(ids=(f"{node_id}::{key}",))
            known = next(iter(loom.store.last_versions(loom.viewer, which, limit=1)), None)
        return None if known is None else known.kind

    return kind_of


def _keys(symbols: tuple[Symbol, ...], kind_of: Callable[[str], str | None]) -> list[str]:
    """A key for each symbol: its own, numbered on where a node of that key is of another kind, for a node keeps it."""
    keys: list[str] = []
    used = {symbol.key for symbol in symbols}
    for symbol in symbols:
        key, number = symbol.key, 1
        while (number > 1 and key in used) or kind_of(key) not in (None, symbol.kind):
            number += 1
            key = f"{symbol.key}~{number}"
        used.add(key)
        keys.append(key)
    return keys


def _symbol_text(keys: list[str], place: int, symbol: Symbol, *, sensitive: bool) -> code.SymbolText:
    key = keys[place]
    whole = symbol.spans == ((symbol.line, symbol.end_line),)
    return code.SymbolText(
        key=key,
        line=symbol.line,
        end_line=symbol.end_line,
        text=symbol.text,
        kind=symbol.kind,
        name="" if symbol.name == key else symbol.name,
        sort=symbol.sort,
        signature="" if sensitive else symbol.signature[:MAX_SIGNATURE_CHARACTERS],
        parent="" if symbol.parent is None else keys[symbol.parent],
        spans=() if whole else symbol.spans,
    )


def _stands(made: code.SymbolText, node: NodeVersion | None, guard: Guard, source: Source) -> bool:
    if node is None or not _told(node, guard, source) or (node.name, node.text) != (made.name or made.key, made.text):
        return False
    lines = (node.props.get("line"), node.props.get("end_line"), spans_of(node.props))
    return lines == (made.line, made.end_line, made.spans or ((made.line, made.end_line),))


def spans_of(props: Mapping[str, Any]) -> tuple[Span, ...]:
    """The lines that a node's text is made of, by its properties: pieces of (first, last), both in."""
    spans = props.get("spans")
    if spans is None:
        spans = [[props.get("line"), props.get("end_line")]]
    try:
        return convert(spans, tuple[Span, ...])
    except ValidationError:  # properties are anybody's
        return ()


def _last_line(read: SourceFile) -> int:
    ends = [last for _, last in read.module_spans[-1:]] + [symbol.end_line for symbol in read.symbols]
    return max(ends, default=1)
