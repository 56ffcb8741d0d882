"""Moves of each kind of event: one function per kind, one table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from msgspec.structs import asdict

from weft.core.clock import MIN_INSTANT_US, parse_instant
from weft.core.kinds import ERASED
from weft.core.types import Event, Guard
from weft.graph.moves import EndEdge, EndNode, Move, PutEdge, PutNode, SetDeleted, edge_slot, shared_slot
from weft.log.kinds import code, conversation, document, graph, memory, payload_of, rewriting


def moves_of(event: Event) -> Iterable[Move]:
    """The moves of one event; an erased one makes none."""
    payload = payload_of(event)
    fold = FOLDS.get(event.kind)
    return () if payload is None or fold is None else fold(event, payload)


def own_time(event: Event) -> int:
    """The start of an event's content unless it states one: when it happened, else when it was recorded."""
    return event.recorded_at if event.occurred_at is None else event.occurred_at


def guard_of(payload: Any) -> Guard:
    """The guard that a payload, or a node or edge of one, asserts."""
    return Guard(
        project=payload.project, scope=payload.scope, agents=tuple(sorted(payload.agents)), sensitive=payload.sensitive
    )


def _instant(written: str | None, default: int | None) -> int | None:
    return default if written is None else parse_instant(written)


def _begin(written: str | None, event: Event) -> int:
    return own_time(event) if written is None else parse_instant(written)


def _put_node(event: Event, node: graph.NodeAssertion) -> PutNode:
    return PutNode(
        id=node.id,
        kind=node.kind,
        name=node.name,
        summary=node.summary,
        text=node.text,
        props=node.props,
        focus=node.focus,
        slot=node.id if node.slot is None else shared_slot(node.slot, guard_of(node)),
        guard=guard_of(node),
        valid_from=_begin(node.valid_from, event),
        valid_to=_instant(node.valid_to, None),
    )


def _put_edge(event: Event, edge: graph.EdgeAssertion) -> PutEdge:
    return PutEdge(
        src=edge.src,
        rel=edge.rel,
        dst=edge.dst,
        props=edge.props,
        weight=edge.weight,
        slot=edge_slot(edge.src, edge.rel, edge.dst) if edge.slot is None else shared_slot(edge.slot, guard_of(edge)),
        guard=guard_of(edge),
        valid_from=_begin(edge.valid_from, event),
        valid_to=_instant(edge.valid_to, None),
    )


def _plain_edge(
    src: str,
    rel: str,
    dst: str,
    guard: Guard,
    valid_from: int,
    props: Mapping[str, Any] | None = None,
    *,
    until: int | None = None,
) -> PutEdge:
    return PutEdge(
        src=src,
        rel=rel,
        dst=dst,
        props=props or {},
        weight=1.0,
        slot=edge_slot(src, rel, dst),
        guard=guard,
        valid_from=valid_from,
        valid_to=until,
    )


def _remembered(event: Event, payload: memory.Remembered) -> Iterator[Move]:
    guard = guard_of(payload)
    begin = _begin(payload.valid_from, event)
    for entity in payload.entities:
        yield _put_node(event, entity)
    yield PutNode(
        id=payload.id,
        kind=payload.node_kind,
        name=payload.name,
        summary=payload.summary,
        text=payload.text,
        props=payload.props,
        focus=payload.focus,
        slot=payload.id if payload.slot is None else shared_slot(payload.slot, guard),
        guard=guard,
        valid_from=begin,
        valid_to=_instant(payload.valid_to, None),
    )
    for edge in payload.edges:
        yield _put_edge(event, edge)
    for older in payload.supersedes:
        yield _plain_edge(payload.id, "SUPERSEDES", older, guard, begin)


def _asserted(event: Event, payload: graph.Asserted) -> Iterator[Move]:
    for node in payload.nodes:
        yield _put_node(event, node)
    for edge in payload.edges:
        yield _put_edge(event, edge)


def _ended(event: Event, payload: graph.Ended) -> Iterator[Move]:
    at, until = _begin(payload.at, event), _instant(payload.until, None)
    for node in payload.nodes:
        yield EndNode(id=node, at=at, until=until)
    for edge in payload.edges:
        yield EndEdge(src=edge.src, rel=edge.rel, dst=edge.dst, at=at, until=until)


def _deleted(event: Event, payload: graph.Deleted | rewriting.Rewritten) -> Iterator[Move]:
    for node in payload.nodes:
        yield SetDeleted(id=node, deleted_at=event.known_at)


def _restored(event: Event, payload: graph.Restored) -> Iterator[Move]:
    for node in payload.nodes:
        yield SetDeleted(id=node, deleted_at=None)


def _ingested(event: Event, payload: document.Ingested) -> Iterator[Move]:
    guard, begin = guard_of(payload), own_time(event)
    for gone in payload.ended:
        yield EndNode(id=gone, at=begin)
    document_node = graph.NodeAssertion(
        id=payload.id,
        kind="Document",
        name=payload.title,
        summary=payload.summary,
        props={**payload.props, **_file(payload), "sha256": payload.sha256, "line": 1}
        | ({"form": payload.form} if payload.form else {}),
        focus=payload.focus,
        **asdict(guard),
    )
    yield _put_node(event, document_node)
    for section in payload.sections:
        node = graph.NodeAssertion(
            id=section.id,
            kind="Section",
            name=section.title,
            summary=section.summary,
            text=section.text,
            props={
                **_file(payload),
                **_document(payload),
                "line": section.line,
                "end_line": section.end_line,
                "level": section.level,
            },
            focus=payload.focus,
            **asdict(guard),
        )
        yield _put_node(event, node)
        yield _plain_edge(section.parent or payload.id, "CONTAINS", section.id, guard, begin)
        for chunk in section.chunks:
            yield _put_node(event, _chunk(payload, chunk))
            yield _plain_edge(section.id, "CONTAINS", chunk.id, guard, begin)


def _file(payload: document.Ingested) -> dict[str, str]:
    """The source property of a document. A document given as text has no file and is cited by its event.

    Erased documents of early versions, which had no form, have an empty source.
    """
    return {"source": payload.source} if payload.source or not payload.form else {}


def _document(payload: document.Ingested) -> dict[str, str]:
    """The document of a part: ids may share a prefix. Early versions, which had no form, did not record it."""
    return {"document": payload.id} if payload.form else {}


def _chunk(payload: document.Ingested, chunk: document.ChunkText) -> graph.NodeAssertion:
    """A chunk has no name of its own: it is found by the headings above it, beside its words."""
    return graph.NodeAssertion(
        id=chunk.id,
        kind="Chunk",
        summary=chunk.summary,
        text=chunk.text,
        props={**chunk.props, **_file(payload), **_document(payload), "line": chunk.line, "end_line": chunk.end_line},
        focus=payload.focus,
        **asdict(guard_of(payload)),
    )


def _recorded(event: Event, payload: conversation.Recorded) -> Iterator[Move]:
    guard = guard_of(payload)
    made_from = {} if payload.record is None else {"record": payload.record}
    for gone in payload.ended:
        yield EndNode(id=gone, at=MIN_INSTANT_US)
    if payload.opens:
        whole = {"whole": True, **made_from} if payload.whole else {}
        archived = {"archived": True} if payload.archived else {}
        node = graph.NodeAssertion(
            id=payload.id,
            kind="Session",
            name=payload.title,
            props={**whole, **archived},
            focus=payload.focus,
            valid_from=payload.begins,
            **asdict(guard),
        )
        yield _put_node(event, node)
    part_of = {"part_of": payload.id} if payload.whole else {}
    for said in payload.messages:
        who = {"speaker": said.speaker} if said.speaker else {"role": said.role} if said.role else {}
        judged = {"verdict": said.verdict} if said.verdict else {}
        message = graph.NodeAssertion(
            id=said.id,
            kind="Message",
            text=said.text,
            props={"conversation": payload.id, "seq": said.seq, **who, **judged, **made_from, **part_of},
            focus=payload.focus,
            valid_from=said.at,
            **asdict(guard),
        )
        yield _put_node(event, message)
        yield _plain_edge(payload.id, "CONTAINS", said.id, guard, _begin(said.at, event))


def _symbol_id(file: str, key: str) -> str:
    """The node id of a symbol. An erased symbol has a token as key and as id, without the file's name."""
    return key if key.startswith(ERASED) else f"{file}::{key}"


def _indexed(event: Event, payload: code.Indexed) -> Iterator[Move]:
    guard, begin, until = guard_of(payload), own_time(event), _instant(payload.until, None)
    made_from = {} if payload.record is None else {"record": payload.record}
    place = {"path": payload.path, "source": payload.path, **made_from}
    for never in payload.withdrawn:
        yield EndNode(id=never, at=MIN_INSTANT_US)
    for gone in payload.ended:
        yield EndNode(id=gone, at=begin, until=until)
    about = {"language": payload.language, "sha256": payload.sha256, "line": 1, "end_line": payload.end_line}
    yield PutNode(
        id=payload.id,
        kind="File",
        name=payload.path,
        summary="",
        text=payload.text,
        props={**place, **about, "spans": [list(span) for span in payload.spans], **_read_by(payload)},
        focus=payload.focus,
        slot=payload.id,
        guard=guard,
        valid_from=begin,
        valid_to=until,
    )
    for symbol in payload.symbols:
        node_id = _symbol_id(payload.id, symbol.key)
        yield PutNode(
            id=node_id,
            kind=symbol.kind,
            name=symbol.name or symbol.key,
            summary=payload.path,
            text=symbol.text,
            props=_about_symbol(payload, symbol, place),
            focus=payload.focus,
            slot=node_id,
            guard=guard,
            valid_from=begin,
            valid_to=until,
        )
    for symbol in payload.symbols:  # a class may follow its members
        around = _symbol_id(payload.id, symbol.parent) if symbol.parent else payload.id
        yield _plain_edge(around, "CONTAINS", _symbol_id(payload.id, symbol.key), guard, begin, until=until)


def _read_by(payload: code.Indexed) -> dict[str, Any]:
    """Properties of files that only newer events carry."""
    told: dict[str, Any] = {"reader": payload.reader} if payload.reader else {}
    told |= {"blob": payload.blob} if payload.blob else {}
    told |= {"size": payload.size} if payload.size else {}
    told |= {"imports": list(payload.imports)} if payload.imports else {}
    return told | ({"broken": [list(span) for span in payload.broken]} if payload.broken else {})


def _about_symbol(payload: code.Indexed, symbol: code.SymbolText, place: Mapping[str, Any]) -> dict[str, Any]:
    props = {**place, "part_of": payload.id, "line": symbol.line, "end_line": symbol.end_line}
    if symbol.spans:
        props["spans"] = [list(span) for span in symbol.spans]
    if symbol.sort:
        props["sort"], props["signature"] = symbol.sort, symbol.signature
    if symbol.calls:
        props["calls"] = list(symbol.calls)
    if symbol.summary:
        # Not in the node's summary: it repeats the text or the name, and indexing it twice would skew scores.
        props["told"] = symbol.summary
    return props


def _linked(event: Event, payload: code.Linked) -> Iterator[Move]:
    guard, begin, until = guard_of(payload), own_time(event), _instant(payload.until, None)
    for each in payload.outside:
        outside = graph.NodeAssertion(id=each.id, kind="Import", name=each.name, **asdict(guard))
        yield _put_node(event, outside)
    for over in payload.parted:
        src = _symbol_id(payload.id, over.key) if over.key else payload.id
        yield EndEdge(src=src, rel=over.relation, dst=over.target, at=begin, until=until)
    src, of = payload.id, ""
    for new in payload.joined:
        if new.key != of:  # sorted by source
            src, of = _symbol_id(payload.id, new.key) if new.key else payload.id, new.key
        where = {"line": new.line} if new.line else {}
        yield _plain_edge(src, new.relation, new.target, guard, begin, where, until=until)


FOLDS: Final[Mapping[str, Callable[[Event, Any], Iterator[Move]]]] = {
    "memory.remembered": _remembered,
    "graph.asserted": _asserted,
    "graph.ended": _ended,
    "graph.deleted": _deleted,
    "graph.restored": _restored,
    "document.ingested": _ingested,
    "conversation.recorded": _recorded,
    "code.indexed": _indexed,
    "code.linked": _linked,
    "log.rewritten": _deleted,
}
