"""Applies the moves of one commit to the current graph, and returns its changes: rows to insert, rows to retire.

Reads only by key, through the locked view, overlaid with this commit's own changes. Live writes and rebuilds run this
same code.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Generic, TypeVar

from msgspec.structs import replace

from weft.core.commits import Changes, LexedText, LockedView, Retirement
from weft.core.errors import Conflict, Forbidden, Invalid, NotFound
from weft.core.kinds import ERASED
from weft.core.types import EdgeVersion, Event, Identity, Interval, NodeVersion, Tx, Viewer
from weft.graph import timeline
from weft.graph.folds import moves_of
from weft.graph.global_changes import GlobalWriteCheck
from weft.graph.moves import SEPARATOR, EndEdge, EndNode, Move, PutEdge, PutNode, SetDeleted, edge_slot
from weft.graph.transactions import spans_commits, transaction_of
from weft.text.lexical import content_hash, lex

MAX_ID_CHARACTERS = 2048
MAX_WEIGHT = 1_000_000.0
_EDGES = (PutEdge, EndEdge)
LexedTexts = dict[bytes, LexedText]
Version = TypeVar("Version", NodeVersion, EdgeVersion)


def apply_events(
    view: LockedView,
    events: Sequence[Event],
    lexed: LexedTexts | None = None,
    viewer: Viewer | None = None,
    check: GlobalWriteCheck | None = None,
) -> Changes:
    """Applies the events of one commit. `lexed` holds texts lexed outside the lock; others are lexed here.

    With a viewer, raises Forbidden where the events touch a node that it may not see: writing to a hidden id must not
    reveal it. Also raises Invalid where one commit of a longer change would change who may see an existing node, delete
    or restore it: that takes effect at once and cannot wait for the close. A rebuild and an import apply what was
    accepted before, and pass no viewer.

    With a check, raises what it raises for moves that need an approval.

    Raises Conflict where the events touch a slot that another open change has touched: to readers that change has not
    happened yet, so the slot would have two answers until it is closed.
    """
    tx = transaction_of(view, events)
    projection = _Projection(view, tx.id, lexed or {}, viewer)
    projection.keeps_identities = viewer is not None and spans_commits(tx, events)
    projection.uses = None if check is None else check.own
    moves = [(event, tuple(moves_of(event))) for event in events]
    projection.expect([move for _, some in moves for move in some])
    for event, some in moves:
        for move in some:
            if check is not None:
                check.judge(move, projection.stood)
            projection.apply(event, move)
    return projection.changes(replace(tx, counts=projection.counted(tx.counts)))


class _Slots(Generic[Version]):
    """Live rows of nodes or edges by slot, overlaid with the rows made and retired in this commit.

    Only rows that hold after some time are read, so a slot with a long past costs no more than a new one. A slot
    without such a time in `_loaded_after` is known completely.
    """

    def __init__(self, load: Callable[[str, int], Sequence[Version]], next_row: int) -> None:
        self._load: Callable[[str, int], Sequence[Version]] = load
        self._live: dict[str, list[Version]] = {}
        self._loaded_after: dict[str, int] = {}
        self.next_row = next_row
        self.made: dict[int, Version] = {}
        self.retired: dict[int, Retirement] = {}

    def live(self, slot: str, after: int) -> list[Version]:
        """Rows of the slot that hold at some time later than `after`, possibly earlier ones too, in order."""
        known = self._live.get(slot)
        if known is not None and (slot not in self._loaded_after or self._loaded_after[slot] <= after):
            return known
        rows = [row for row in self._load(slot, after) if row.row not in self.retired]
        rows += [row for row in known or () if row.row in self.made]
        rows.sort(key=lambda each: each.interval.valid_from)
        self._live[slot], self._loaded_after[slot] = rows, after
        return rows

    def of_new(self, slot: str) -> list[Version]:
        """Rows of a slot that was empty before this commit, as the caller knows."""
        return self._live.setdefault(slot, [])

    def insert(self, row: Version) -> None:
        """Adds a row that was made with the next free number."""
        self.next_row += 1
        self.made[row.row] = row
        rows = self._live[row.slot]
        rows.append(row)
        if len(rows) > 1:
            rows.sort(key=lambda each: each.interval.valid_from)

    def retire(self, row: Version, event: Event, tx: str) -> None:
        self.retired[row.row] = Retirement(row=row.row, at=event.known_at, pos=event.pos, tx=tx)
        self._live[row.slot].remove(row)

    def cut(self, cuts: Sequence[timeline.Cut[Version]], event: Event, tx: str) -> None:
        """Retires each row that loses time, and inserts copies for the spans it keeps."""
        for row, rest in cuts:
            self.retire(row, event, tx)
            for span in rest:
                interval = replace(row.interval, valid_from=span.start, valid_to=span.end)
                self.insert(
                    replace(
                        row,
                        row=self.next_row,
                        interval=interval,
                        recorded_at=event.known_at,
                        born=event.pos,
                        tx=tx,
                    )
                )


class _Projection:
    def __init__(self, view: LockedView, tx: str, lexed: LexedTexts, viewer: Viewer | None) -> None:
        self._view, self._tx, self._lexed, self._viewer = view, tx, lexed, viewer
        node_row, edge_row = view.next_rows()
        self._nodes: _Slots[NodeVersion] = _Slots(view.live_nodes, node_row)
        self._edges: _Slots[EdgeVersion] = _Slots(view.live_edges, edge_row)
        self._identities: dict[str, Identity | None] = {}
        self._changed: dict[str, Identity] = {}
        self._fresh: set[str] = set()  # nodes new in this commit: they have no versions yet
        self._new_edges: Collection[tuple[str, str, str]] = ()  # those without a version before it
        self._texts: LexedTexts = {}
        self._hashes: dict[int, bytes] = {}  # content hashes of moves, by id(move)
        self._slots_of: dict[str, set[str]] = {}
        self._shared_slots_of: dict[tuple[str, str, str], set[str]] = {}  # of edges new in this commit
        self._last_ends: tuple[int, int | None, int, int | None] = (0, 0, 0, 0)
        self._last_interval = Interval(valid_from=0, valid_to=0, asserted_from=0, asserted_to=0)
        self.keeps_identities = False
        self.uses: str | None = None  # the approval that this commit uses up: the operator's record, not the caller's
        self._others = tuple(change for change in view.open_changes() if change != tx)

    def expect(self, moves: Sequence[Move]) -> None:
        """Announces what these moves will read, so that the view may read it at once."""
        ids: dict[str, None] = {}
        edges: list[tuple[str, str, str]] = []
        for move in moves:
            if isinstance(move, _EDGES):
                ids[move.src] = ids[move.dst] = None
                edges.append((move.src, move.rel, move.dst))
            else:
                ids[move.id] = None
                if isinstance(move, PutNode):
                    self._hashes[id(move)] = content_hash(move.name, move.summary, move.text)
        self._new_edges = self._view.expect(list(ids), edges, list(self._hashes.values()))

    def apply(self, event: Event, move: Move) -> None:
        match move:
            case PutEdge():
                self._put_edge(event, move)
            case PutNode():
                self._put_node(event, move)
            case EndNode():
                self._end_node(event, move)
            case EndEdge():
                for end in (move.src, move.dst):
                    self._identity(end)  # raises Forbidden where the viewer may not know of it
                self._end_edge(event, move)
            case SetDeleted():
                known = self._identity(move.id)
                if known is None:
                    raise NotFound(f"there is no node {move.id!r} to delete or restore")
                self._set_identity(replace(known, deleted_at=move.deleted_at))

    def _identity(self, node_id: str) -> Identity | None:
        if node_id not in self._identities:
            if self._viewer is not None and node_id.startswith(ERASED):
                raise NotFound(f"{node_id!r} was erased", hint="write about something else: nothing is left to add to")
            known = self._view.identity(node_id)
            hidden = known is not None and self._viewer is not None and not self._viewer.admits(known.guard)
            if hidden and node_id != self.uses:
                raise Forbidden(f"{node_id!r} is not yours to change", hint="choose another id")
            if known is None:
                self._fresh.add(node_id)
            self._identities[node_id] = known
        return self._identities[node_id]

    def stood(self, node_id: str) -> Identity | None:
        """A node that existed before this commit, else None. Raises Forbidden for a hidden one."""
        known = self._identity(node_id)
        return None if node_id in self._fresh else known

    def _set_identity(self, identity: Identity) -> None:
        known = self._identity(identity.id)
        if known != identity:
            if self.keeps_identities and known is not None and identity.id not in self._fresh:
                raise Invalid(
                    f"who may see {identity.id!r}, or that it is deleted, cannot change inside a longer change",
                    hint="do it in a commit of its own",
                )
            self._identities[identity.id] = self._changed[identity.id] = identity

    def _put_node(self, event: Event, move: PutNode) -> None:
        _check_id(move.id)
        _check_interval(move.id, move.valid_from, move.valid_to)
        known = self._identity(move.id)
        if known is not None and known.kind != move.kind:
            raise Invalid(
                f"{move.id!r} is a {known.kind}, not a {move.kind}", hint="a node keeps its kind: use another id"
            )
        self._set_identity(Identity(id=move.id, kind=move.kind, guard=move.guard))
        if move.slot == move.id and move.id in self._fresh:
            live = self._nodes.of_new(move.slot)
        else:
            self._check_node_slot(move.slot)
            live = self._nodes.live(move.slot, move.valid_from)
        takeover = timeline.take(live, move.valid_from, move.valid_to)
        self._nodes.cut(takeover.cuts, event, self._tx)
        if not takeover.taken:
            return
        text_hash = self._text(move)
        self._slots_of.setdefault(move.id, set()).add(move.slot)
        for span in takeover.taken:
            self._nodes.insert(
                NodeVersion(
                    row=self._nodes.next_row,
                    id=move.id,
                    kind=move.kind,
                    name=move.name,
                    summary=move.summary,
                    text=move.text,
                    props=move.props,
                    focus=move.focus,
                    slot=move.slot,
                    guard=move.guard,
                    recorded_guard=move.guard,
                    interval=self._interval(move, *span),
                    recorded_at=event.known_at,
                    born=event.pos,
                    tx=self._tx,
                    retired_at=None,
                    retired_pos=None,
                    retired_tx=None,
                    deleted_at=None,
                    event=event.pos,
                    content_hash=text_hash,
                )
            )

    def _text(self, move: PutNode) -> bytes:
        key = self._hashes[id(move)]
        if key not in self._texts and not self._view.has_text(key):
            self._texts[key] = self._lexed.get(key) or lex(move.name, move.summary, move.text)
        return key

    def _put_edge(self, event: Event, move: PutEdge) -> None:
        src, dst, slot = move.src, move.dst, move.slot
        name = (src, move.rel, dst)
        _check_edge(move)
        for end in (src, dst):
            known = self._identities[end] if end in self._identities else self._identity(end)
            if known is None:
                problem = f"the edge {_label(move)} names {end!r}, which does not exist"
                raise NotFound(problem, hint="assert the node first")
        own = slot == f"{src}{SEPARATOR}{move.rel}{SEPARATOR}{dst}"
        if own and (name in self._new_edges or src in self._fresh or dst in self._fresh):
            live = self._edges.of_new(slot)
        else:
            self._check_edge_slot(slot)
            live = self._edges.live(slot, move.valid_from)
        if not live:
            taken: Sequence[Interval] = (self._interval(move, move.valid_from, move.valid_to),)
        else:
            takeover = timeline.take(live, move.valid_from, move.valid_to)
            self._edges.cut(takeover.cuts, event, self._tx)
            taken = [self._interval(move, *span) for span in takeover.taken]
        if taken and not own:
            self._shared_slots_of.setdefault(name, set()).add(slot)
        for interval in taken:
            self._edges.insert(
                EdgeVersion(
                    row=self._edges.next_row,
                    src=src,
                    rel=move.rel,
                    dst=dst,
                    props=move.props,
                    weight=move.weight,
                    slot=slot,
                    guard=move.guard,
                    interval=interval,
                    recorded_at=event.known_at,
                    born=event.pos,
                    tx=self._tx,
                    retired_at=None,
                    retired_pos=None,
                    retired_tx=None,
                    event=event.pos,
                )
            )

    def _end_node(self, event: Event, move: EndNode) -> None:
        if self._identity(move.id) is None:
            raise NotFound(f"there is no node {move.id!r} to end")
        self._check_node_slot(move.id)
        slots = {row.slot for row in self._view.live_versions(move.id)} | self._slots_of.get(move.id, set())
        for slot in sorted(slots):
            self._check_node_slot(slot)
            own = [row for row in self._nodes.live(slot, move.at) if row.id == move.id]
            self._nodes.cut(timeline.end(own, move.at, move.until), event, self._tx)

    def _end_edge(self, event: Event, move: EndEdge) -> None:
        name = (move.src, move.rel, move.dst)
        current = {row.slot for row in self._view.live_edge_versions(*name)} | self._shared_slots_of.get(name, set())
        for slot in sorted(current | {edge_slot(*name)}):
            self._check_edge_slot(slot)
            own = [row for row in self._edges.live(slot, move.at) if (row.src, row.rel, row.dst) == name]
            self._edges.cut(timeline.end(own, move.at, move.until), event, self._tx)

    def _check_node_slot(self, slot: str) -> None:
        if self._others and (change := self._view.toucher_of_nodes(slot, self._others)):
            raise _pending(slot, change)

    def _check_edge_slot(self, slot: str) -> None:
        if self._others and (change := self._view.toucher_of_edges(slot, self._others)):
            raise _pending(slot, change)

    def _interval(self, move: PutNode | PutEdge, start: int, end: int | None) -> Interval:
        """The interval of a version. Consecutive versions of one event mostly share the same object."""
        ends = (start, end, move.valid_from, move.valid_to)
        if ends != self._last_ends:
            self._last_ends = ends
            self._last_interval = Interval(
                valid_from=start, valid_to=end, asserted_from=move.valid_from, asserted_to=move.valid_to
            )
        return self._last_interval

    def counted(self, earlier: Mapping[str, int]) -> dict[str, int]:
        now = {
            "nodes": len(self._nodes.made),
            "nodes_retired": len(self._nodes.retired),
            "edges": len(self._edges.made),
            "edges_retired": len(self._edges.retired),
        }
        return {name: earlier.get(name, 0) + count for name, count in now.items()}

    def changes(self, tx: Tx) -> Changes:
        return Changes(
            identities=tuple(self._changed.values()),
            texts=tuple(self._texts.values()),
            nodes=tuple(self._nodes.made.values()),
            nodes_retired=tuple(self._nodes.retired.values()),
            edges=tuple(self._edges.made.values()),
            edges_retired=tuple(self._edges.retired.values()),
            transactions=(tx,),
        )


def _pending(slot: str, change: str) -> Conflict:
    return Conflict(
        f"{slot.strip(SEPARATOR).replace(SEPARATOR, ' ')[:120]!r} is part of change {change}, which is not complete",
        hint="try again when it is closed; if what wrote it has crashed, run that again to resume it",
    )


def _check_id(node_id: str) -> None:
    if not 0 < len(node_id) <= MAX_ID_CHARACTERS or SEPARATOR in node_id:
        raise Invalid(
            f"{node_id[:60]!r} cannot be a node's id",
            hint=f"1 to {MAX_ID_CHARACTERS} characters, none of them a unit separator",
        )


def _check_interval(label: str, valid_from: int, valid_to: int | None) -> None:
    if valid_to is not None and valid_to <= valid_from:
        raise Invalid(
            f"{label!r} would end before it begins",
            hint="valid_to must be later than valid_from (the event's time if absent)",
        )


def _check_edge(move: PutEdge) -> None:
    """Raises Invalid for an edge that cannot be stored. Formats the label only for an error."""
    if SEPARATOR in move.rel:
        raise Invalid(f"{_label(move)!r} has a relation with a unit separator in it", hint="remove it")
    if move.valid_to is not None:
        _check_interval(_label(move), move.valid_from, move.valid_to)
    if not (math.isfinite(move.weight) and 0.0 < move.weight <= MAX_WEIGHT):
        raise Invalid(f"{_label(move)!r} has the weight {move.weight}", hint=f"more than 0, at most {MAX_WEIGHT:.0f}")


def _label(move: PutEdge) -> str:
    return f"{move.src} -{move.rel}-> {move.dst}"
