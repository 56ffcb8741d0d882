"""Short helpers that write to a store as operations do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.append.append import AppendOptions, AppendResult, Fence, append
from weft.append.privacy import PrivacyFilter
from weft.core.clock import to_iso
from weft.core.ports import Store
from weft.core.queries import TextMatches, TextQuery
from weft.core.types import NOW, Actor, Event, Viewer, When, Writer
from weft.graph.apply_moves import apply_events
from weft.graph.digest import graph_digest
from weft.log.draft import Draft
from weft.log.jsonl import write_lines
from weft.log.kinds import graph, memory, transaction
from weft.log.verify import read_commits
from weft.testing.clock import ManualClock
from weft.testing.viewers import OPERATOR
from weft.text.lexical import query_terms

UNSEALED = PrivacyFilter(redacts=False, keys=None)  # backends store what they are given: encryption happens above them


def iso(at: int | None) -> str | None:
    """A time as payloads write it."""
    return None if at is None else to_iso(at)


def node(node_id: str, text: str = "", *, kind: str = "Note", at: int | None = None, **fields: Any) -> Draft:
    """Asserts a node. `at` is the start of its validity, `until` an explicit end."""
    until: int | None = fields.pop("until", None)
    assertion = graph.NodeAssertion(
        id=node_id, kind=kind, text=text, valid_from=iso(at), valid_to=iso(until), **{"scope": "public", **fields}
    )
    return Draft(kind="graph.asserted", payload=graph.Asserted(nodes=(assertion,)))


def edge(src: str, rel: str, dst: str, *, at: int | None = None, until: int | None = None, **fields: Any) -> Draft:
    """Asserts an edge."""
    assertion = graph.EdgeAssertion(
        src=src, rel=rel, dst=dst, valid_from=iso(at), valid_to=iso(until), **{"scope": "public", **fields}
    )
    return Draft(kind="graph.asserted", payload=graph.Asserted(edges=(assertion,)))


def memory_of(node_id: str, text: str, **fields: Any) -> Draft:
    """Remembers a text."""
    return Draft(
        kind="memory.remembered", payload=memory.Remembered(id=node_id, text=text, **{"scope": "public", **fields})
    )


def ended(*nodes: str, at: int | None = None) -> Draft:
    """Ends the validity of nodes."""
    return Draft(kind="graph.ended", payload=graph.Ended(nodes=nodes, at=iso(at)))


def edge_ended(src: str, rel: str, dst: str, *, at: int | None = None) -> Draft:
    """Ends the validity of an edge."""
    name = graph.EdgeName(src=src, rel=rel, dst=dst)
    return Draft(kind="graph.ended", payload=graph.Ended(edges=(name,), at=iso(at)))


def deleted(*nodes: str) -> Draft:
    """Deletes nodes."""
    return Draft(kind="graph.deleted", payload=graph.Deleted(nodes=nodes))


def restored(*nodes: str) -> Draft:
    """Restores deleted nodes."""
    return Draft(kind="graph.restored", payload=graph.Restored(nodes=nodes))


def noted(tx_kind: transaction.TxKind, **fields: Any) -> Draft:
    """Describes its commit."""
    return Draft(kind="tx.noted", payload=transaction.Noted(tx_kind=tx_kind, **fields))


def opened(tx_kind: transaction.TxKind = "full_rebuild", **fields: Any) -> Draft:
    """Begins a change of several commits; must come first in its commit."""
    return Draft(kind="tx.opened", payload=transaction.Opened(tx_kind=tx_kind, **fields))


def continued(tx: str) -> Draft:
    """One more slice of an open change."""
    return Draft(kind="tx.continued", payload=transaction.Continued(tx=tx))


def closed(tx: str) -> Draft:
    """The last slice of an open change."""
    return Draft(kind="tx.closed", payload=transaction.Closed(tx=tx))


class Scribe:
    """A store, a manual clock and a writer."""

    def __init__(self, store: Store, clock: ManualClock, *, viewer: Viewer = OPERATOR, session: str = "main") -> None:
        self.store, self.clock, self.viewer, self.session = store, clock, viewer, session

    def write(
        self,
        *drafts: Draft,
        session: str | None = None,
        agent: str = "writer",
        request_id: str | None = None,
        expected_head: int | None = None,
        fence: Fence | None = None,
    ) -> AppendResult:
        """Appends all drafts in one commit."""
        writer = Writer(account=self.viewer.account, session=session or self.session, actor=Actor(agent=agent))
        return append(
            self.store,
            writer,
            drafts,
            clock=self.clock,
            options=AppendOptions(request_id=request_id, expected_head=expected_head, fence=fence, privacy=UNSEALED),
        )

    def one(self, draft: Draft, **options: Any) -> Event:
        """Appends one event in its own commit, an hour after the previous one."""
        self.clock.step()
        return self.write(draft, **options).events[0]

    def open_change(self, *drafts: Draft) -> str:
        """Begins a long change with these drafts in its first slice; returns its id."""
        self.clock.step()
        return f"tx-{self.write(opened(), *drafts).events[0].hash.hex()[:16]}"

    # Looking

    def texts(self, *ids: str, valid_at: int | None = None, known_at: int | None = None) -> dict[str, str]:
        """The texts of these nodes for the operator at a time, by id."""
        when = When(valid_at=valid_at, known_at=known_at)
        return {found.id: found.text for found in self.store.nodes(self.viewer, when, ids)}

    def reached(self, start: str, *, viewer: Viewer | None = None, when: When = NOW, **options: Any) -> list[str]:
        """The direct neighbours of a node, in order."""
        steps = self.store.neighbours(viewer or self.viewer, when, (start,), **options)
        return [step.node.id for step in steps]

    def search(self, words: str, *, viewer: Viewer | None = None, when: When = NOW, **options: Any) -> TextMatches:
        """Searches by words; `limit` apart, options go to the query."""
        limit: int = options.pop("limit", 20)
        query = TextQuery(terms=query_terms(words), **options)
        return self.store.search_text(viewer or self.viewer, when, query, limit=limit)

    # The whole

    def digest(self) -> str:
        """The digest of the current graph."""
        return graph_digest(self.store.graph_rows(self.viewer))

    def rebuild(self, progress: Callable[[int, int], None] = lambda _done, _all: None) -> None:
        """Rebuilds the graph from the log."""
        self.store.rebuild(self.viewer, apply_events, progress=progress)

    def export(self) -> list[bytes]:
        """The log as JSON lines."""
        return list(write_lines(self.viewer.account, read_commits(self.store, self.viewer)))
