"""Residues: payloads of the same kind and shape, without a word about erased nodes.

An erased part keeps what the graph's fold needs to make the same rows: kind, guard, times and position. Its name, text,
properties and reasons are removed, and its id becomes a token. Other parts keep their words, with tokens in place of
erased ids.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from weft.core.errors import Corrupt
from weft.graph.placeholders import KEPT_KINDS, SYMBOL, Tokens, is_free, strings
from weft.log.kinds import code, conversation, document, graph, memory, transaction

Part = TypeVar("Part", graph.NodeAssertion, memory.Remembered)

# Fields that are kept: who may see a node and of which kind it is.
_KEPT_FIELDS: Final = frozenset(
    {"project", "focus", "agents", "scope", "kind", "node_kind", "language", "tx_kind", "tag", "extracted"}
)


_KEPT_NAMES: Final = frozenset({"id", "name"})  # also kept for projects and focus areas


def residue(kind: str, payload: Any, tokens: Tokens) -> Any:
    """The payload without erased words; the same object if it has none.

    Raises Corrupt if an erased id or name would remain in it: that must never be written.
    """
    make = RESIDUES.get(kind)
    left = payload if make is None else make(payload, tokens)
    if left == payload:
        left = payload
    if make is not None and (found := _left(msgspec.to_builtins(left), tokens)):
        raise Corrupt(
            f"the residue of a {kind} event would keep {found[:40]!r}, which is to be erased",
            hint="its commit was not written; please report this with the kind of event",
        )
    return left


def _left(value: Any, tokens: Tokens) -> str | None:
    """A text in which something erased remains."""
    for text in _checked(value):
        if tokens.holds_id(text) or tokens.holds_name(text):
            return text
    return None


def _checked(value: Any) -> Iterator[str]:
    """The texts of a payload that must not contain anything erased."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        kept = value.get("kind") in KEPT_KINDS or value.get("node_kind") in KEPT_KINDS
        for key, item in value.items():
            if key == "props":
                yield from strings(item)
            elif key == "rel":
                yield from (item, item.replace("_", " ")) if is_free(item) else ()
            elif key not in _KEPT_FIELDS and not (kept and key in _KEPT_NAMES):
                yield from _checked(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _checked(item)


def _ids(ids: tuple[str, ...], tokens: Tokens) -> tuple[str, ...]:
    return tuple(map(tokens.id, ids))


def _reason(reason: str, tokens: Tokens, *, touched: bool) -> str:
    """The reason of an event, removed with any part of it."""
    return "" if touched or tokens.holds_name(reason) or tokens.holds_id(reason) else reason


def _node(node: graph.NodeAssertion, tokens: Tokens) -> graph.NodeAssertion:
    if tokens.gone(node.id):
        return replace(node, id=tokens.id(node.id), name="", summary="", text="", props={}, slot=tokens.slot(node.slot))
    if node.kind in KEPT_KINDS:
        node = _bare(node, tokens)
    return replace(
        node,
        name=tokens.clean(node.name),
        summary=tokens.clean(node.summary),
        text=tokens.clean(node.text),
        props=tokens.clean_value(node.props),
        slot=tokens.slot(node.slot),
    )


def _bare(part: Part, tokens: Tokens) -> Part:
    """A project or focus area keeps its name; other words are removed if they contain an erased name."""
    return replace(
        part,
        summary="" if tokens.holds_name(part.summary) else part.summary,
        text="" if tokens.holds_name(part.text) else part.text,
        props={key: value for key, value in part.props.items() if not tokens.holds_name({key: value})},
    )


def _edge(edge: graph.EdgeAssertion, tokens: Tokens) -> graph.EdgeAssertion:
    wordless = tokens.gone(edge.src) or tokens.gone(edge.dst) or tokens.holds_name(edge.props)
    return replace(
        edge,
        src=tokens.id(edge.src),
        rel=tokens.relation(edge.src, edge.rel, edge.dst),
        dst=tokens.id(edge.dst),
        props={} if wordless else tokens.clean_value(edge.props),
        slot=tokens.slot(edge.slot),
    )


def _edge_name(edge: graph.EdgeName, tokens: Tokens) -> graph.EdgeName:
    """The ends of an ended edge need not be nodes."""
    rel = tokens.relation(edge.src, edge.rel, edge.dst)
    return graph.EdgeName(src=tokens.clean(edge.src), rel=rel, dst=tokens.clean(edge.dst))


def _remembered(payload: memory.Remembered, tokens: Tokens) -> memory.Remembered:
    parts = replace(
        payload,
        slot=tokens.slot(payload.slot),
        entities=tuple(_node(each, tokens) for each in payload.entities),
        edges=tuple(_edge(each, tokens) for each in payload.edges),
        supersedes=_ids(payload.supersedes, tokens),
    )
    if tokens.gone(payload.id):
        return replace(
            parts, id=tokens.id(payload.id), text="", name="", summary="", props={}, gate=None, extracted=None
        )
    if payload.node_kind in KEPT_KINDS:
        parts = _bare(parts, tokens)
    gate = payload.gate
    if gate is not None and gate.nearest is not None:
        gate = None if tokens.holds_name(gate.nearest) else replace(gate, nearest=tokens.clean(gate.nearest))
    text = tokens.clean(parts.text)
    return replace(
        parts,
        text=text,
        name=tokens.clean(parts.name),
        summary=tokens.clean(parts.summary),
        props=tokens.clean_value(parts.props),
        gate=gate,
        extracted=payload.extracted if text == payload.text else None,  # it refers to characters of the text
    )


def _asserted(payload: graph.Asserted, tokens: Tokens) -> graph.Asserted:
    nodes = tuple(_node(each, tokens) for each in payload.nodes)
    edges = tuple(_edge(each, tokens) for each in payload.edges)
    touched = (nodes, edges) != (payload.nodes, payload.edges)
    return graph.Asserted(nodes=nodes, edges=edges, reason=_reason(payload.reason, tokens, touched=touched))


def _ended(payload: graph.Ended, tokens: Tokens) -> graph.Ended:
    nodes = _ids(payload.nodes, tokens)
    edges = tuple(_edge_name(each, tokens) for each in payload.edges)
    touched = (nodes, edges) != (payload.nodes, payload.edges)
    return replace(payload, nodes=nodes, edges=edges, reason=_reason(payload.reason, tokens, touched=touched))


def _deleted(payload: graph.Deleted, tokens: Tokens) -> graph.Deleted:
    nodes = _ids(payload.nodes, tokens)
    reason = _reason(payload.reason, tokens, touched=nodes != payload.nodes)
    return replace(payload, nodes=nodes, reason=reason, deletion=tokens.clean(payload.deletion))


def _restored(payload: graph.Restored, tokens: Tokens) -> graph.Restored:
    nodes = _ids(payload.nodes, tokens)
    return replace(payload, nodes=nodes, reason=_reason(payload.reason, tokens, touched=nodes != payload.nodes))


def _ingested(payload: document.Ingested, tokens: Tokens) -> document.Ingested:
    sections = tuple(_section(each, tokens) for each in payload.sections)
    whole = tokens.gone(payload.id)
    parts = [part for each in payload.sections for part in (each.id, *(chunk.id for chunk in each.chunks))]
    any_gone = whole or any(map(tokens.gone, parts))
    return replace(
        payload,
        id=tokens.id(payload.id),
        source="" if whole else payload.source,
        title="" if whole else tokens.clean(payload.title),
        # It summarises erased parts, even if this version does not list them.
        summary="" if any_gone or tokens.stood_in(payload.id) else tokens.clean(payload.summary),
        sha256="" if any_gone else payload.sha256,  # a hash could confirm a guess at the erased text
        sections=sections,
        ended=_ids(payload.ended, tokens),
    )


def _section(section: document.SectionText, tokens: Tokens) -> document.SectionText:
    gone = tokens.gone(section.id)
    touched = gone or tokens.stood_in(section.id) or any(tokens.gone(each.id) for each in section.chunks)
    return replace(
        section,
        id=tokens.id(section.id),
        title="" if gone else tokens.clean(section.title),
        text="" if gone else tokens.clean(section.text),
        parent=None if section.parent is None else tokens.id(section.parent),
        summary="" if touched else tokens.clean(section.summary),
        chunks=tuple(_chunk(each, tokens) for each in section.chunks),
    )


def _chunk(chunk: document.ChunkText, tokens: Tokens) -> document.ChunkText:
    gone = tokens.gone(chunk.id)
    return replace(
        chunk,
        id=tokens.id(chunk.id),
        text="" if gone else tokens.clean(chunk.text),
        summary="" if gone else tokens.clean(chunk.summary),
        props={} if gone else tokens.clean_value(chunk.props),
    )


def _recorded(payload: conversation.Recorded, tokens: Tokens) -> conversation.Recorded:
    whole = tokens.gone(payload.id)
    hidden = whole or tokens.holds_name(payload.title)  # the title of an earlier event
    return replace(
        payload,
        id=tokens.id(payload.id),
        messages=tuple(_said(each, tokens) for each in payload.messages),
        title="" if hidden else tokens.clean(payload.title),
        record=None if whole or tokens.holds_name(payload.record) else payload.record,
        ended=_ids(payload.ended, tokens),
    )


def _said(said: conversation.MessageText, tokens: Tokens) -> conversation.MessageText:
    if tokens.gone(said.id):
        return replace(said, id=tokens.id(said.id), text="", speaker="", role="", verdict="")
    return replace(said, text=tokens.clean(said.text))


def _indexed(payload: code.Indexed, tokens: Tokens) -> code.Indexed:
    whole = tokens.gone(payload.id)
    any_gone = whole or any(tokens.gone(f"{payload.id}{SYMBOL}{each.key}") for each in payload.symbols)
    return replace(
        payload,
        id=tokens.id(payload.id),
        path="" if whole else payload.path,
        sha256="" if any_gone else payload.sha256,
        text="" if whole else tokens.clean(payload.text),
        symbols=tuple(_symbol(payload.id, each, tokens) for each in payload.symbols),
        ended=_ids(payload.ended, tokens),
        withdrawn=_ids(payload.withdrawn, tokens),
        record=None if whole else payload.record,
        blob="" if any_gone else payload.blob,
        imports=() if whole else tuple(map(tokens.clean, payload.imports)),
    )


def _symbol(file: str, symbol: code.SymbolText, tokens: Tokens) -> code.SymbolText:
    gone = tokens.gone(f"{file}{SYMBOL}{symbol.key}")
    return replace(
        symbol,
        key=_key(file, symbol.key, tokens),
        name="" if gone else symbol.name,
        text="" if gone else tokens.clean(symbol.text),
        parent=_key(file, symbol.parent, tokens) if symbol.parent else "",
        signature="" if gone else tokens.clean(symbol.signature),
        summary="" if gone else tokens.clean(symbol.summary),
        calls=() if gone else tuple(map(tokens.clean, symbol.calls)),
    )


def _linked(payload: code.Linked, tokens: Tokens) -> code.Linked:
    return replace(
        payload,
        id=tokens.id(payload.id),
        path="" if tokens.gone(payload.id) else payload.path,
        joined=tuple(_joined(payload.id, each, tokens) for each in payload.joined),
        parted=tuple(_joined(payload.id, each, tokens) for each in payload.parted),
        outside=tuple(
            code.Outside(id=tokens.id(each.id), name="" if tokens.gone(each.id) else tokens.clean(each.name))
            for each in payload.outside
        ),
    )


def _joined(file: str, joined: code.Joined, tokens: Tokens) -> code.Joined:
    return replace(joined, key=_key(file, joined.key, tokens) if joined.key else "", target=tokens.id(joined.target))


def _key(file: str, key: str, tokens: Tokens) -> str:
    """The key of a symbol: a token if the symbol is erased."""
    return tokens.ids.get(f"{file}{SYMBOL}{key}", key)


def files_left(files: tuple[str, ...], tokens: Tokens) -> tuple[str, ...]:
    """The files of a transaction that may still be named."""
    return tuple(
        each for each in files if each not in tokens.files and not tokens.holds_id(each) and not tokens.holds_name(each)
    )


def _with_files(payload: Any, tokens: Tokens) -> Any:
    return replace(payload, files=files_left(payload.files, tokens))


def _continued(payload: transaction.Continued, tokens: Tokens) -> transaction.Continued:
    return replace(payload, cursor="" if tokens.holds_name(payload.cursor) else tokens.clean(payload.cursor))


# `log.rewritten` is missing here: it contains no words.
RESIDUES: Final[Mapping[str, Callable[[Any, Tokens], Struct]]] = {
    "memory.remembered": _remembered,
    "graph.asserted": _asserted,
    "graph.ended": _ended,
    "graph.deleted": _deleted,
    "graph.restored": _restored,
    "document.ingested": _ingested,
    "conversation.recorded": _recorded,
    "code.indexed": _indexed,
    "code.linked": _linked,
    "tx.noted": _with_files,
    "tx.opened": _with_files,
    "tx.continued": _continued,
    "tx.closed": _with_files,
}
