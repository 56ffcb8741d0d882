"""Rows changed by rewritten payloads, found by projecting each event as it was and as it will be.

Both projections have the same moves, one by one: a row made by a move takes its new content from the corresponding one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from weft.core.commits import LexedText, LockedView, NewEdgeRow, NewNodeRow, NewPayload, Scrub
from weft.core.errors import Corrupt, Invalid
from weft.core.types import EdgeVersion, Event, NodeVersion
from weft.graph.folds import moves_of
from weft.graph.moves import Move, PutEdge, PutNode, edge_slot
from weft.log.canonical import decode
from weft.log.kinds import payload_of
from weft.text.encryption import is_sealed
from weft.text.lexical import content_hash, lex

EdgeKey = tuple[str, str, str]
Put = TypeVar("Put", PutNode, PutEdge)


class EventRewrite(Struct, frozen=True, kw_only=True):
    """An event before and after: another payload and salt. `tx` is the transaction of its commit."""

    before: Event
    after: Event
    tx: str

    def moves(self) -> tuple[tuple[Move, Move], ...]:
        """The moves of both, in pairs. Raises Corrupt if they differ in shape."""
        try:
            pairs = tuple(zip(moves_of(self.before), moves_of(self.after), strict=True))
        except ValueError as problem:
            raise Corrupt(f"a new payload for {self.before.citation} would do something else") from problem
        for old, new in pairs:
            if type(old) is not type(new):
                raise Corrupt(f"a new payload for {self.before.citation} would do something else")
        return pairs


def check_same_names(rewrites: Iterable[EventRewrite]) -> None:
    """Raises Invalid unless the moves differ only in their words."""
    for each in rewrites:
        for old, new in each.moves():
            if _without_words(old) != _without_words(new):
                raise Invalid(
                    f"a new payload for {each.before.citation} names something else, or holds at another time",
                    hint="only words may change: names, texts, summaries, properties",
                )


def check_only_sealed(rewrites: Iterable[EventRewrite]) -> None:
    """Raises Invalid unless payloads differ only in encrypted strings, and their moves only in words."""
    for each in rewrites:
        if not _alike(decode(each.before.payload or b"{}"), decode(each.after.payload or b"{}")):
            raise Invalid(
                f"a new payload for {each.before.citation} differs in more than encrypted words",
                hint="only encrypted strings may change; write a new version to change anything else",
            )
    check_same_names(rewrites)


def _alike(old: Any, new: Any) -> bool:
    """Whether two JSON values differ only in encrypted strings."""
    if isinstance(old, dict) and isinstance(new, dict):
        return old.keys() == new.keys() and all(_alike(old[name], new[name]) for name in old)
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(map(_alike, old, new))
    if isinstance(old, str) and isinstance(new, str):
        return old == new or (is_sealed(old) and is_sealed(new))
    return bool(type(old) is type(new) and old == new)


def _without_words(move: Move) -> Move:
    match move:
        case PutNode():
            return replace(move, name="", summary="", text="", props={})
        case PutEdge():
            return replace(move, props={})
        case _:
            return move


class RowChanges:
    """The new content of rows, by the events that made them."""

    def __init__(self, rewrites: Iterable[EventRewrite]) -> None:
        self._nodes: dict[tuple[int, str], list[tuple[PutNode, PutNode]]] = {}
        self._edges: dict[tuple[int, EdgeKey], list[tuple[PutEdge, PutEdge]]] = {}
        relations: dict[EdgeKey, str] = {}
        for each in rewrites:
            pos = each.before.pos
            for old, new in each.moves():
                if isinstance(old, PutNode) and isinstance(new, PutNode):
                    self._nodes.setdefault((pos, old.id), []).append((old, new))
                elif isinstance(old, PutEdge) and isinstance(new, PutEdge):
                    self._edges.setdefault((pos, _key(old)), []).append((old, new))
                    if old.rel != new.rel:
                        relations[_key(old)] = new.rel
        self.relations = tuple(relations.items())

    @property
    def node_ids(self) -> tuple[str, ...]:
        """The nodes, by current id, of which a row changes."""
        changed = (key for (_, key), pairs in self._nodes.items() if any(_node_differs(*pair) for pair in pairs))
        return tuple(dict.fromkeys(changed))

    @property
    def edge_names(self) -> tuple[EdgeKey, ...]:
        """The same for edges."""
        changed = (key for (_, key), pairs in self._edges.items() if any(_edge_differs(*pair) for pair in pairs))
        return tuple(dict.fromkeys(changed))

    def node_row(self, row: NodeVersion) -> NewNodeRow | None:
        """The new content of a row; None if it is unchanged."""
        pairs = self._nodes.get((row.event, row.id), [])
        if not any(_node_differs(*pair) for pair in pairs):
            return None
        pairs = [pair for pair in pairs if _begins(pair[0]) == _asserted(row)]
        if len(pairs) > 1:
            pairs = [pair for pair in pairs if _text(pair[0]) == row.content_hash and pair[0].props == row.props]
        new = _last(pairs, row)
        return NewNodeRow(
            row=row.row,
            name=new.name,
            summary=new.summary,
            text=new.text,
            content_hash=_text(new),
            props=new.props,
            slot=new.slot,
        )

    def edge_row(self, row: EdgeVersion) -> NewEdgeRow | None:
        """The same for an edge's row."""
        pairs = self._edges.get((row.event, (row.src, row.rel, row.dst)), [])
        if not any(_edge_differs(*pair) for pair in pairs):
            return None
        pairs = [pair for pair in pairs if _begins(pair[0]) == _asserted(row)]
        if len(pairs) > 1:
            pairs = [pair for pair in pairs if pair[0].props == row.props and pair[0].weight == row.weight]
        new = _last(pairs, row)
        return NewEdgeRow(row=row.row, props=new.props, slot=new.slot)

    def renamed(self) -> dict[str, str]:
        """The nodes that get another id: old to new."""
        pairs = (pair for both in self._nodes.values() for pair in both)
        return {old.id: new.id for old, new in pairs if old.id != new.id}


class RewrittenRows(Struct, frozen=True, kw_only=True):
    """The rows that rewrites change, with their new content, and (id, new id) of stored nodes."""

    node_rows: tuple[NewNodeRow, ...] = ()
    edge_rows: tuple[NewEdgeRow, ...] = ()
    nodes: tuple[tuple[str, str], ...] = ()


def scrub_of(
    view: LockedView,
    rewrites: Sequence[EventRewrite],
    reworded: RowChanges,
    found: RewrittenRows,
    lexed: Mapping[bytes, LexedText] | None = None,
) -> Scrub:
    """All replacements. `lexed` holds texts lexed outside the lock; others are lexed here."""
    ready = lexed or {}
    texts = {row.content_hash: ready.get(row.content_hash) or lexed_row(row) for row in found.node_rows}
    return Scrub(
        payloads=_new_payloads(rewrites),
        nodes=found.nodes,
        edges=reworded.relations,
        node_rows=found.node_rows,
        edge_rows=found.edge_rows,
        texts=tuple(text for text in texts.values() if not view.has_text(text.content_hash)),
        files=_files_left(view, rewrites),
    )


def scrub_here(view: LockedView, rewrites: Sequence[EventRewrite]) -> Scrub:
    """The same, with everything read inside the lock."""
    reworded = RowChanges(rewrites)
    rows, edges = view.node_rows(reworded.node_ids), view.edge_rows(reworded.edge_names)
    found = RewrittenRows(
        node_rows=tuple(new for row in rows if (new := reworded.node_row(row))),
        edge_rows=tuple(joint for edge in edges if (joint := reworded.edge_row(edge))),
        nodes=tuple(pair for pair in reworded.renamed().items() if view.identity(pair[0])),
    )
    return scrub_of(view, rewrites, reworded, found)


def lexed_row(row: NewNodeRow) -> LexedText:
    """A new row's text, ready for the index."""
    return lex(row.name, row.summary, row.text)


def _new_payloads(rewrites: Iterable[EventRewrite]) -> tuple[NewPayload, ...]:
    """The new payloads of the log."""
    return tuple(
        NewPayload(pos=each.before.pos, payload=each.after.payload or b"", salt=each.after.salt or b"")
        for each in rewrites
    )


def change_of(events: Sequence[Event]) -> str:
    """The transaction of a commit: an open one that continues, or its own."""
    marks = (payload_of(event) for event in events if event.kind in ("tx.continued", "tx.closed"))
    return next((mark.tx for mark in marks), f"tx-{events[0].hash.hex()[:16]}")


def _files_left(view: LockedView, rewrites: Iterable[EventRewrite]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The transactions that lose files through a rewrite, each with the files they keep."""
    gone: dict[str, set[str]] = {}
    for each in rewrites:
        if each.before.kind.startswith("tx."):
            before, after = payload_of(each.before), payload_of(each.after)
            taken = set(getattr(before, "files", ())) - set(getattr(after, "files", ()))
            gone.setdefault(each.tx, set()).update(taken)
    found = ((tx, view.transaction(tx)) for tx, files in gone.items() if files)
    return tuple((tx, tuple(f for f in known.files if f not in gone[tx])) for tx, known in found if known is not None)


def _last(pairs: Sequence[tuple[Put, Put]], row: NodeVersion | EdgeVersion) -> Put:
    if not pairs:
        raise Corrupt(
            f"row {row.row} differs from the event at {row.event} that it was made from",
            hint="run `weft rebuild`, then repeat this",
        )
    return pairs[-1][1]


def _key(move: PutEdge) -> EdgeKey:
    return move.src, move.rel, move.dst


def _text(move: PutNode) -> bytes:
    return content_hash(move.name, move.summary, move.text)


def _begins(move: PutNode | PutEdge) -> tuple[int, int | None]:
    return move.valid_from, move.valid_to


def _asserted(row: NodeVersion | EdgeVersion) -> tuple[int, int | None]:
    return row.interval.asserted_from, row.interval.asserted_to


def _node_differs(old: PutNode, new: PutNode) -> bool:
    """Differences in a row's content; a changed node id is handled once per node."""
    said = (old.name, old.summary, old.text, old.props) != (new.name, new.summary, new.text, new.props)
    return said or (old.slot != old.id and old.slot != new.slot)


def _edge_differs(old: PutEdge, new: PutEdge) -> bool:
    alone = old.slot == edge_slot(*_key(old))
    return old.props != new.props or (not alone and old.slot != new.slot)
