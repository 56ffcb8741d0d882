"""Replaces payloads of the log, and the rows that came of them, in one commit that says so.

Rows are looked up outside the write lock, a few at a time; inside it only those that came since.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from weft.append import Writer
from weft.commits import Batch, Changes, LockedView, NewEdgeRow, NewNodeRow, Scrub
from weft.instants import Clock
from weft.log.chain import SALT_BYTES, payload_digest
from weft.log.draft import Draft, Prepared, check_name, prepare, seal
from weft.log.kinds.rewriting import Rewritten, What, Why
from weft.ports import Store
from weft.projection.rewrite import Found, Reworded, Rewrite, lexed_row, scrub_of
from weft.projection.transactions import transaction_of
from weft.types import Event, Identity

READ_AT_ONCE: Final = 200  # nodes or edges whose rows are looked up in one go
NAMED_AT_ONCE: Final = 4_000  # events and tombstones that one `log.rewritten` names
COUNTED: Final = ("nodes", "nodes_retired", "edges", "edges_retired")
Item = TypeVar("Item")


class Behind(Exception):
    """What came since the log was read is concerned too. Nothing was written. Never leaves `weft.erasure`."""


class Overtaken(Behind):
    """Somebody else replaced a payload since it was read: what was made of it must be made again. Nothing was written.

    Rewritings end, and of two the first is through: whoever is overtaken may try for as long as it takes.
    """


def rewrite_of(event: Event, payload: bytes, tx: str) -> Rewrite:
    """An event with another payload and a salt of its own. `tx` is the change that its commit is part of."""
    return Rewrite(
        before=event, after=replace(event, payload=payload, salt=os.urandom(SALT_BYTES), rewritten=True), tx=tx
    )


class Wrote(Struct, frozen=True, kw_only=True):
    """What became of a commit. `renamed` are ids as they were, of nodes that are there no more."""

    citations: tuple[str, ...]
    positions: tuple[int, ...]
    renamed: tuple[str, ...]
    tombstones: tuple[str, ...]
    hold_ms: float


class Rewriter:
    """Writes rewrites. `check` is called inside the lock, with the ids of the nodes that go, and may raise Behind."""

    def __init__(
        self,
        store: Store,
        writer: Writer,
        clock: Clock,
        *,
        check: Callable[[LockedView, Collection[str]], None] = lambda _view, _ids: None,
    ) -> None:
        check_name(writer.account, field="account")
        check_name(writer.session, field="session")
        check_name(writer.actor.agent, field="agent")
        check_name(writer.actor.role, field="role")
        self._store, self._writer, self._clock, self._check = store, writer, clock, check

    def write(self, rewrites: Sequence[Rewrite], *, why: Why, what: What) -> Wrote:
        """One commit of all of them: payloads, rows, and the events that bind them.

        Raises Overtaken where a payload is not the one that was read any more.
        """
        reworded = Reworded(rewrites)
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
        commit, events = seal(
            prepared,
            view,
            account=self._writer.account,
            session=self._writer.session,
            actor=self._writer.actor,
            request_id=None,
            expected_head=None,
            now_us=self._clock.now_us(),
        )
        return Batch(commit=commit, events=events, changes=_changes(view, identities, events), scrub=scrub)

    def standing(self, ids: Collection[str]) -> set[str]:
        """Those of these nodes that are there and not deleted."""
        found: set[str] = set()
        for some in _chunks(tuple(ids)):
            known = self._read(lambda view, some=some: [view.identity(each) for each in some])  # type: ignore[misc]
            found.update(each.id for each in known if each is not None and each.deleted_at is None)
        return found

    def _identities(self, renamed: Mapping[str, str]) -> Iterator[tuple[str, Identity]]:
        """Today's state of the nodes that are there, under their new ids. Whatever changes it since names the node."""
        for ids in _chunks(tuple(renamed)):
            for known in self._read(lambda view, ids=ids: [view.identity(each) for each in ids]):  # type: ignore[misc]
                if known is not None:
                    yield known.id, replace(known, id=renamed[known.id])

    def _look_up(self, reworded: Reworded, upto: tuple[int, int], nodes: tuple[tuple[str, str], ...]) -> Found:
        """What is there below these row numbers."""
        node_rows: list[NewNodeRow] = []
        edge_rows: list[NewEdgeRow] = []
        for ids in _chunks(reworded.node_ids):
            rows = self._read(lambda view, ids=ids: view.node_rows(ids))  # type: ignore[misc]
            node_rows += [new for row in rows if row.row < upto[0] and (new := reworded.node_row(row))]
        for names in _chunks(reworded.edge_names):
            edges = self._read(lambda view, names=names: view.edge_rows(names))  # type: ignore[misc]
            edge_rows += [joint for row in edges if row.row < upto[1] and (joint := reworded.edge_row(row))]
        return Found(node_rows=tuple(node_rows), edge_rows=tuple(edge_rows), nodes=nodes)

    def _read(self, look: Callable[[LockedView], Item]) -> Item:
        """Looks at what a plan would see; writes nothing."""
        found: list[Item] = []

        def plan(view: LockedView) -> Batch:
            found.append(look(view))
            return Batch(commit=None, events=(), changes=Changes())

        self._store.commit(self._writer.account, plan)
        return found[0]


def _check_standing(view: LockedView, rewrites: Iterable[Rewrite]) -> None:
    """Raises Overtaken unless every payload stands as it was read."""
    for each in rewrites:
        before = each.before
        stands = [(event.payload, event.salt) for event in view.events_since(before.pos - 1, limit=1)]
        if stands != [(before.payload, before.salt)]:
            raise Overtaken


def _chunks(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    for start in range(0, len(items), READ_AT_ONCE):
        yield items[start : start + READ_AT_ONCE]


def _drafts(rewrites: Sequence[Rewrite], tombstones: Sequence[str], why: Why, what: What) -> Iterator[Draft]:
    """What says that payloads were replaced: one event, or several where there is too much for one."""
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


def _with_since(view: LockedView, reworded: Reworded, found: Found, upto: tuple[int, int]) -> Found:
    """And the rows that came since: a copy of one that is replaced may be among them."""
    nodes, edges = view.rows_since(*upto)
    return replace(
        found,
        node_rows=(*found.node_rows, *(new for row in nodes if (new := reworded.node_row(row)))),
        edge_rows=(*found.edge_rows, *(joint for row in edges if (joint := reworded.edge_row(row)))),
    )


def _changes(view: LockedView, identities: Iterable[tuple[str, Identity]], events: Sequence[Event]) -> Changes:
    """What the fold makes of `log.rewritten`: nobody sees the tombstones any more.

    Not by `weave`: inside the lock the nodes still go by their old ids.
    """
    at = events[0].known_at
    return Changes(
        identities=tuple(replace(identity, deleted_at=at) for _, identity in identities),
        transactions=(replace(transaction_of(view, events), counts=dict.fromkeys(COUNTED, 0)),),
    )
