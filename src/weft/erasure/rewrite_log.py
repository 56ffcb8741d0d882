"""Replacement of payloads in the log, and of the rows derived from them, in one commit that records it.

Rows are looked up outside the write lock, in batches; inside it only newer ones.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from weft.core.clock import Clock
from weft.core.commits import Batch, Changes, LockedView, NewEdgeRow, NewNodeRow, Scrub
from weft.core.ports import Store
from weft.core.slices import in_slices
from weft.core.types import Event, Identity, Viewer, Writer
from weft.graph.rewrite import EventRewrite, RewrittenRows, RowChanges, lexed_row, scrub_of
from weft.graph.transactions import transaction_of
from weft.log.chain import SALT_BYTES, payload_digest
from weft.log.draft import Draft, Prepared, chained, check_name, prepare
from weft.log.kinds.rewriting import Rewritten, What, Why
from weft.runtime.call_context import CallContext

READ_AT_ONCE: Final = 200  # nodes or edges whose rows are looked up at once
NAMED_AT_ONCE: Final = 4_000  # events and tombstones in one `log.rewritten`
COUNTED: Final = ("nodes", "nodes_retired", "edges", "edges_retired")
Item = TypeVar("Item")
Progress = Callable[[str, int, int], None]


class Behind(Exception):
    """Newer events are affected too. Nothing was written. Never leaves `weft.erasure.erase_log`."""


class Overtaken(Behind):
    """Somebody else has replaced a payload that was read: its rewrite must be made again. Nothing was written.

    Of two concurrent rewriters the first wins, so that retrying always ends.
    """


def rewrite_of(event: Event, payload: bytes, tx: str) -> EventRewrite:
    """An event with another payload and a new salt. `tx` is the change that its commit belongs to."""
    return EventRewrite(
        before=event, after=replace(event, payload=payload, salt=os.urandom(SALT_BYTES), rewritten=True), tx=tx
    )


class RewriteAccess(Struct, frozen=True, kw_only=True):
    """A store, the writer and the operator who rewrite its log, and where progress is reported."""

    store: Store
    writer: Writer
    viewer: Viewer
    clock: Clock
    progress: Progress

    @classmethod
    def of(cls, ctx: CallContext, viewer: Viewer, *, store: Store | None = None) -> RewriteAccess:
        """Of a call: its own store, unless another is given."""
        found = ctx.store if store is None else store
        return cls(store=found, writer=ctx.writer, viewer=viewer, clock=ctx.clock, progress=ctx.progress)


class Wrote(Struct, frozen=True, kw_only=True):
    """The outcome of a commit. `renamed` are former ids of nodes that are tombstones now."""

    citations: tuple[str, ...]
    positions: tuple[int, ...]
    renamed: tuple[str, ...]
    tombstones: tuple[str, ...]
    hold_ms: float


class Rewriter:
    """Writes rewrites. `check` is called inside the lock with the ids to erase, and may raise Behind."""

    def __init__(
        self,
        access: RewriteAccess,
        *,
        check: Callable[[LockedView, Collection[str]], None] = lambda _view, _ids: None,
    ) -> None:
        writer = access.writer
        check_name(writer.account, field="account")
        check_name(writer.session, field="session")
        check_name(writer.actor.agent, field="agent")
        check_name(writer.actor.role, field="role")
        self._store, self._writer, self._clock, self._check = access.store, writer, access.clock, check

    def write(self, rewrites: Sequence[EventRewrite], *, why: Why, what: What) -> Wrote:
        """Writes payloads, rows and the events that bind them in one commit.

        Raises Overtaken if a payload has changed since it was read.
        """
        reworded = RowChanges(rewrites)
        renamed = reworded.renamed()
        upto = self._read(lambda view: view.next_rows())
        identities = tuple(self._identities(renamed))
        tombstones = tuple(identity.id for _, identity in identities)
        found = self._look_up(reworded, upto, tuple((old, identity.id) for old, identity in identities))
        prepared = prepare(list(_drafts(rewrites, tombstones, why, what)))
        lexed = {text.content_hash: text for text in map(lexed_row, found.node_rows)}
        began_s = 0.0

        def plan(view: LockedView) -> Batch:
            nonlocal began_s
            began_s = time.perf_counter()
            _check_standing(view, rewrites)
            self._check(view, renamed)
            scrub = scrub_of(view, rewrites, reworded, _with_since(view, reworded, found, upto), lexed)
            return self._sealed(view, prepared, scrub, identities)

        batch = self._store.commit(self._writer.account, plan)
        return Wrote(
            citations=tuple(event.citation for event in batch.events),
            positions=tuple(event.pos for event in batch.events),
            renamed=tuple(renamed),
            tombstones=tombstones,
            hold_ms=round((time.perf_counter() - began_s) * 1000, 2),
        )

    def _sealed(
        self, view: LockedView, prepared: Sequence[Prepared], scrub: Scrub, identities: Sequence[tuple[str, Identity]]
    ) -> Batch:
        now_us = self._clock.now_us()
        commit, events = chained(prepared, view, self._writer, request_id=None, now_us=now_us)
        return Batch(commit=commit, events=events, changes=_changes(view, identities, events), scrub=scrub)

    def standing(self, ids: Collection[str]) -> set[str]:
        """Those of these nodes that exist and are not deleted."""
        found: set[str] = set()
        for some in in_slices(tuple(ids), READ_AT_ONCE):
            known = self._read(lambda view, some=some: [view.identity(each) for each in some])  # type: ignore[misc]
            found.update(each.id for each in known if each is not None and each.deleted_at is None)
        return found

    def _identities(self, renamed: Mapping[str, str]) -> Iterator[tuple[str, Identity]]:
        """The current state of existing nodes, under their new ids. Later changes of it name the node."""
        for ids in in_slices(tuple(renamed), READ_AT_ONCE):
            for known in self._read(lambda view, ids=ids: [view.identity(each) for each in ids]):  # type: ignore[misc]
                if known is not None:
                    yield known.id, replace(known, id=renamed[known.id])

    def _look_up(
        self, reworded: RowChanges, upto: tuple[int, int], nodes: tuple[tuple[str, str], ...]
    ) -> RewrittenRows:
        """The rows below these row numbers."""
        node_rows: list[NewNodeRow] = []
        edge_rows: list[NewEdgeRow] = []
        for ids in in_slices(reworded.node_ids, READ_AT_ONCE):
            rows = self._read(lambda view, ids=ids: view.node_rows(ids))  # type: ignore[misc]
            node_rows += [new for row in rows if row.row < upto[0] and (new := reworded.node_row(row))]
        for names in in_slices(reworded.edge_names, READ_AT_ONCE):
            edges = self._read(lambda view, names=names: view.edge_rows(names))  # type: ignore[misc]
            edge_rows += [joint for row in edges if row.row < upto[1] and (joint := reworded.edge_row(row))]
        return RewrittenRows(node_rows=tuple(node_rows), edge_rows=tuple(edge_rows), nodes=nodes)

    def _read(self, look: Callable[[LockedView], Item]) -> Item:
        """Reads a view of the store without writing."""
        found: list[Item] = []

        def plan(view: LockedView) -> Batch:
            found.append(look(view))
            return Batch(commit=None, events=(), changes=Changes())

        self._store.commit(self._writer.account, plan)
        return found[0]


def _check_standing(view: LockedView, rewrites: Iterable[EventRewrite]) -> None:
    """Raises Overtaken unless every payload is still the one that was read."""
    for each in rewrites:
        before = each.before
        stands = [(event.payload, event.salt) for event in view.events_since(before.pos - 1, limit=1)]
        if stands != [(before.payload, before.salt)]:
            raise Overtaken


def _drafts(rewrites: Sequence[EventRewrite], tombstones: Sequence[str], why: Why, what: What) -> Iterator[Draft]:
    """The events that record the replacement; several if there is too much for one."""
    named = [
        (each.before.session, each.before.seq, payload_digest(each.after.salt or b"", each.after.payload or b"").hex())
        for each in rewrites
    ]
    starts = range(0, max(len(named), len(tombstones)), NAMED_AT_ONCE)
    for start in starts:
        payload = Rewritten(
            why=why,
            what=what,
            events=tuple(named[start : start + NAMED_AT_ONCE]),
            nodes=tuple(tombstones[start : start + NAMED_AT_ONCE]),
        )
        yield Draft(kind="log.rewritten", payload=payload)


def _with_since(view: LockedView, reworded: RowChanges, found: RewrittenRows, upto: tuple[int, int]) -> RewrittenRows:
    """Adds newer rows, which may include copies of replaced ones."""
    nodes, edges = view.rows_since(*upto)
    return replace(
        found,
        node_rows=(*found.node_rows, *(new for row in nodes if (new := reworded.node_row(row)))),
        edge_rows=(*found.edge_rows, *(joint for row in edges if (joint := reworded.edge_row(row)))),
    )


def _changes(view: LockedView, identities: Iterable[tuple[str, Identity]], events: Sequence[Event]) -> Changes:
    """The graph's fold of `log.rewritten`: the tombstones become invisible.

    Not by `weave`: inside the lock the nodes still have their former ids.
    """
    at = events[0].known_at
    return Changes(
        identities=tuple(replace(identity, deleted_at=at) for _, identity in identities),
        transactions=(replace(transaction_of(view, events), counts=dict.fromkeys(COUNTED, 0)),),
    )
