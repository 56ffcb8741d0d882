"""Source files and pieces of code as events: the difference between a file and its nodes in the graph."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import asdict, replace

from weft.append.append import made_ready
from weft.code.parse.facts import FILE, READER_VERSION, FileFacts
from weft.code.parse.summary import purpose_of
from weft.code.parse.symbols import SourceFile, Symbol
from weft.conversations.turns import LATEST
from weft.core.queries import NodeFilter
from weft.core.slices import in_slices
from weft.core.types import MAX_IDS_PER_READ, NOW, Guard, NodeVersion, When
from weft.documents.keep.source_lines import symbols_of
from weft.log.draft import Draft
from weft.log.kinds import code
from weft.retrieval.citations.file_ids import file_id, spans_of
from weft.runtime.call_context import CallContext
from weft.runtime.read_nodes import read_nodes

MAX_SIGNATURE_CHARACTERS: Final = 500
MAX_CALLS: Final = 50  # of a symbol that are kept as they are written
MAX_IMPORTS: Final = 500
PARENTS_AT_MOST: Final = 4  # that one symbol is part of
MAX_NAME_CHARACTERS: Final = 200  # of such a call, or of a module
_NUMBER: Final = re.compile(r"~[0-9]+\Z")


class SourceVersion(Struct, frozen=True, kw_only=True):
    """A version of a file: its content hash and, if known, its modification time.

    `read` is its parsed content; None for files that are stored by name and hash only.
    """

    path: str
    sha256: str
    read: SourceFile | None = None
    at: int | None = None
    record: str | None = None
    size: int = 0
    blob: str = ""

    @property
    def language(self) -> str:
        """The name of its language; empty for none."""
        return "" if self.read is None else self.read.language


class Indexing(Struct, frozen=True, kw_only=True):
    """The event that updates the graph to a version of a file, and the number of symbols in that version.

    `keys` maps keys of definitions to the different keys of their nodes. `parting` ends membership relations of symbols
    whose class appeared in the file or disappeared from it.
    """

    draft: Draft
    symbols: int
    keys: Mapping[str, str] = {}
    parting: tuple[Draft, ...] = ()

    @property
    def drafts(self) -> tuple[Draft, ...]:
        return (self.draft, *self.parting)


class Then(Struct, frozen=True, kw_only=True):
    """The time span of a historic version, up to the next known one. `standing` are the symbols valid then."""

    at: int
    until: str | None
    standing: Mapping[str, NodeVersion]


def index(
    ctx: CallContext,
    guard: Guard,
    source: SourceVersion,
    known: NodeVersion | None,
    *,
    is_new: bool = False,
    then: Then | None = None,
) -> Indexing:
    """The events that make the graph show this version of the file, now or `then`. `known` is its latest node.

    Symbols whose words and lines are unchanged are not written. `is_new` says that the file was never indexed, which
    saves a lookup.
    """
    if is_new:
        return index_new(guard, source)
    standing = _standing(ctx, guard, source.path) if then is None else then.standing
    symbols = () if source.read is None else source.read.symbols
    keys = _keys(symbols, _kinds_known(ctx, file_id(guard.project, source.path), standing))
    ahead = _ahead(ctx, standing) if then is None and source.at is None else set()
    left = {each: node for each, node in standing.items() if each not in ahead}
    made = _indexing(guard, source, known, left, keys, None if then is None else then.until, ahead)
    when = NOW if then is None else When(valid_at=then.at)
    return replace(made, parting=_parting(ctx, guard, made.draft, standing, when))


def _ahead(ctx: CallContext, standing: Mapping[str, NodeVersion]) -> set[str]:
    """Symbols recorded for a future time, which a present version replaces."""
    now = ctx.store.pin(ctx.viewer, NOW).valid_at or 0
    return {each for each, node in standing.items() if node.interval.valid_from > now}


def keys_renamed(ctx: CallContext, guard: Guard, source: SourceVersion) -> Mapping[str, str]:
    """Maps keys of definitions to the different keys of their nodes, for an existing version of a file."""
    node_id = file_id(guard.project, source.path)
    symbols = () if source.read is None else source.read.symbols
    kinds = {f"{node_id}::{symbol.key}": symbol.kind for symbol in symbols}
    if {node.id: node.kind for node in read_nodes(ctx, LATEST, list(kinds))} == kinds:
        return {}
    keys = _keys(symbols, _kinds_known(ctx, node_id, _standing(ctx, guard, source.path)))
    return {symbol.key: key for symbol, key in zip(symbols, keys, strict=True) if symbol.key != key}


def index_new(guard: Guard, source: SourceVersion) -> Indexing:
    """The same for a file that is new to the graph. Needs no store."""
    symbols = () if source.read is None else source.read.symbols
    return _indexing(guard, source, None, {}, [symbol.key for symbol in symbols], None)


def ready(indexing: Indexing) -> Indexing:
    """The same, with everything that needs no store precomputed. The text contained no secret.

    Raises Invalid for what cannot be stored.
    """
    payload = indexing.draft.payload
    assert isinstance(payload, code.Indexed)
    about = replace(payload, text="", spans=(), symbols=(), imports=(), broken=())
    return replace(indexing, draft=made_ready(indexing.draft, about))


def _indexing(
    guard: Guard,
    source: SourceVersion,
    known: NodeVersion | None,
    standing: Mapping[str, NodeVersion],
    keys: list[str],
    until: str | None,
    ahead: Collection[str] = (),
) -> Indexing:
    node_id = file_id(guard.project, source.path)
    symbols = () if source.read is None else source.read.symbols
    made = () if source.read is None else _symbol_texts(source.read, keys, sensitive=guard.sensitive)
    gone = (set(standing) - {f"{node_id}::{key}" for key in keys}).union(ahead, [node_id] if ahead else [])
    moved = _moved(node_id, made, standing)
    # What is told of a later time would hold again from then on: it is taken back, and told anew.
    later = known is not None and source.at is not None and known.interval.asserted_from > source.at
    payload = code.Indexed(
        id=node_id,
        path=source.path,
        language=source.language,
        sha256=source.sha256,
        text="" if source.read is None else source.read.module_text,
        end_line=1 if source.read is None else _last_line(source.read),
        spans=() if source.read is None else source.read.module_spans,
        symbols=tuple(
            text
            for text in made
            if later or text.key in moved or not _stands(text, standing.get(f"{node_id}::{text.key}"), guard, source)
        ),
        ended=() if later else tuple(sorted(gone)),
        withdrawn=(node_id, *sorted(standing)) if later else (),
        record=source.record,
        reader=READER_VERSION,
        blob=source.blob,
        size=source.size,
        imports=() if source.read is None or guard.sensitive else _imports(source.read.facts),
        broken=() if source.read is None else source.read.broken,
        until=until,
        **asdict(guard),
    )
    return Indexing(
        draft=Draft(kind="code.indexed", payload=payload, occurred_at=source.at),
        symbols=len(made),
        keys={symbol.key: key for symbol, key in zip(symbols, keys, strict=True) if symbol.key != key},
    )


def _moved(node_id: str, made: Sequence[code.SymbolText], standing: Mapping[str, NodeVersion]) -> set[str]:
    """Keys of symbols that moved to another class, or into or out of one."""
    classes: dict[str, str] = {}  # one whose kind changed once has a number, which its members do not know of
    for found in sorted(each.id for each in standing.values() if each.kind == "Class"):
        key = found.removeprefix(f"{node_id}::")
        classes[key] = found
        classes.setdefault(_NUMBER.sub("", key), found)
    moved = set()
    for text in made:
        before = classes.get(text.key.rpartition("::")[0], node_id)
        if f"{node_id}::{text.key}" in standing and before != _around(node_id, text):
            moved.add(text.key)
    return moved


def _around(node_id: str, text: code.SymbolText) -> str:
    return f"{node_id}::{text.parent}" if text.parent else node_id


def _parting(
    ctx: CallContext, guard: Guard, draft: Draft, standing: Mapping[str, NodeVersion], when: When
) -> tuple[Draft, ...]:
    """The events that end the membership of moved symbols."""
    payload = draft.payload
    assert isinstance(payload, code.Indexed)
    moved = _moved(payload.id, payload.symbols, standing)
    around = {f"{payload.id}::{each.key}": _around(payload.id, each) for each in payload.symbols if each.key in moved}
    parted = list[code.Joined]()
    for some in in_slices(list(around), MAX_IDS_PER_READ):
        steps = ctx.store.neighbours(
            ctx.viewer, when, some, rels=("CONTAINS",), direction="in", limit=PARENTS_AT_MOST * len(some)
        )
        for edge in (step.edge for step in steps):
            if edge.src != around[edge.dst] and f"{edge.src}::".startswith(f"{payload.id}::"):
                key = edge.src.removeprefix(payload.id).removeprefix("::")
                parted.append(code.Joined(key, "CONTAINS", edge.dst))
    if not parted:
        return ()
    over = code.Linked(id=payload.id, path=payload.path, parted=tuple(parted), until=payload.until, **asdict(guard))
    return (Draft(kind="code.linked", payload=over, occurred_at=draft.occurred_at),)


def is_version(node: NodeVersion, guard: Guard, source: SourceVersion, language: str) -> bool:
    """Whether a file's node equals this version of the file under the present reader."""
    props = node.props
    same = (props.get("sha256"), props.get("language")) == (source.sha256, language)
    return same and props.get("reader") == READER_VERSION and _told(node, guard, source)


def _standing(ctx: CallContext, guard: Guard, path: str) -> dict[str, NodeVersion]:
    node_id = file_id(guard.project, path)
    return {node.id: node for node in symbols_of(ctx, LATEST, node_id)}


def _imports(facts: FileFacts) -> tuple[str, ...]:
    """The modules that a file names, as written, each once."""
    named = dict.fromkeys("." * each.level + each.module for each in facts.imports)
    return tuple(each[:MAX_NAME_CHARACTERS] for each in named if each)[:MAX_IMPORTS]


def _told(known: NodeVersion, guard: Guard, source: SourceVersion) -> bool:
    same_time = source.at in (None, known.interval.asserted_from)
    return known.guard == guard and same_time and known.props.get("record") == source.record


def _kinds_known(ctx: CallContext, node_id: str, standing: Mapping[str, NodeVersion]) -> Callable[[str], str | None]:
    """The kind of each key's node, if it ever existed: a node keeps its kind, even ended or deleted."""
    if not standing and not ctx.store.last_versions(ctx.viewer, NodeFilter(ids=(node_id,)), limit=1):
        return lambda key: None

    def kind_of(key: str) -> str | None:
        known = standing.get(f"{node_id}::{key}")
        if known is None:
            which = NodeFilter(ids=(f"{node_id}::{key}",))
            known = next(iter(ctx.store.last_versions(ctx.viewer, which, limit=1)), None)
        return None if known is None else known.kind

    return kind_of


def _keys(symbols: tuple[Symbol, ...], kind_of: Callable[[str], str | None]) -> list[str]:
    """A key for each symbol: its own, or numbered if the node of that key is of another kind, which is fixed."""
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


def _symbol_texts(read: SourceFile, keys: list[str], *, sensitive: bool) -> list[code.SymbolText]:
    calls: list[dict[str, None]] = [{} for _ in keys]
    for each in () if sensitive else read.facts.references:
        if each.owner != FILE:
            calls[each.owner][each.chain] = None
    return [
        _symbol_text(keys, symbol, keys[place], tuple(calls[place]), sensitive=sensitive)
        for place, symbol in enumerate(read.symbols)
    ]


def _symbol_text(
    keys: list[str], symbol: Symbol, key: str, calls: tuple[str, ...], *, sensitive: bool
) -> code.SymbolText:
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
        summary="" if sensitive else purpose_of(symbol, calls),
        calls=tuple(chain[:MAX_NAME_CHARACTERS] for chain in calls[:MAX_CALLS]),
        parent="" if symbol.parent is None else keys[symbol.parent],
        spans=() if whole else symbol.spans,
    )


def _stands(made: code.SymbolText, node: NodeVersion | None, guard: Guard, source: SourceVersion) -> bool:
    if node is None or not _told(node, guard, source):
        return False
    if (node.kind, node.name, node.text) != (made.kind, made.name or made.key, made.text):
        return False
    if _written(node) != (made.sort, made.signature, made.summary, made.calls):
        return False
    lines = (node.props.get("line"), node.props.get("end_line"), spans_of(node.props))
    return lines == (made.line, made.end_line, made.spans or ((made.line, made.end_line),))


def _written(node: NodeVersion) -> tuple[Any, Any, Any, tuple[Any, ...]]:
    """The properties of a symbol's node that describe its code."""
    calls, told = node.props.get("calls"), node.props.get("told", "")
    return node.props.get("sort"), node.props.get("signature"), told, tuple(calls) if isinstance(calls, list) else ()


def _last_line(read: SourceFile) -> int:
    ends = [last for _, last in read.module_spans[-1:]] + [symbol.end_line for symbol in read.symbols]
    return max(ends, default=1)
