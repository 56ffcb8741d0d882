"""Columns of queries, and what they decode to."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from typing import Any, Final

import orjson

from weft.backends.neo4j.cypher_guards import NONE
from weft.core.queries import Lead
from weft.core.types import Actor, Commit, EdgeVersion, Event, Guard, Interval, NodeVersion, Tx

MAX_KEY: Final = 500  # characters of an indexed text: the server's indexes take about 8,000 bytes
SEPARATOR: Final = "\x1f"  # begins a shared slot, joins the parts of an edge's own

EVENT: Final = (
    "e.pos, e.session, e.seq, e.kind, e.agent, e.role, e.recorded_at, e.known_at, e.occurred_at, e.caused_by, e.task,"
    " e.conversation, e.request_id, e.payload, e.salt, e.payload_hash, e.prev_hash, e.hash, e.rewritten"
)


def bounded(text: str) -> str:
    """A text as it is indexed: a long one by its hash."""
    return text if len(text) <= MAX_KEY else SEPARATOR + sha256(text.encode()).hexdigest()


def pair_of(src: str, rel: str, dst: str) -> str:
    """The key of an edge's versions."""
    return sha256(SEPARATOR.join((src, rel, dst)).encode()).hexdigest()


def event_of(account: str, row: Sequence[Any]) -> Event:
    """An event, from the columns EVENT."""
    return Event(
        pos=row[0],
        account=account,
        session=row[1],
        seq=row[2],
        kind=row[3],
        actor=Actor(agent=row[4], role=row[5]),
        recorded_at=row[6],
        known_at=row[7],
        occurred_at=row[8],
        caused_by=tuple(row[9] or ()),
        task=row[10],
        conversation=row[11],
        request_id=row[12],
        payload=row[13],
        salt=row[14],
        payload_hash=row[15],
        prev_hash=row[16],
        hash=row[17],
        rewritten=row[18],
    )


def event_row(event: Event) -> dict[str, Any]:
    """The properties of an event."""
    return {
        "pos": event.pos,
        "session": event.session,
        "seq": event.seq,
        "kind": event.kind,
        "agent": event.actor.agent,
        "role": event.actor.role,
        "recorded_at": event.recorded_at,
        "known_at": event.known_at,
        "occurred_at": event.occurred_at,
        "caused_by": list(event.caused_by) or None,
        "task": event.task,
        "conversation": event.conversation,
        "request_id": event.request_id,
        "payload": event.payload,
        "salt": event.salt,
        "payload_hash": event.payload_hash,
        "prev_hash": event.prev_hash,
        "hash": event.hash,
        "rewritten": event.rewritten,
    }


COMMIT: Final = "c.first_pos, c.count, c.at, c.digest"


def commit_of(row: Sequence[Any]) -> Commit:
    """A commit, from the columns COMMIT."""
    return Commit(first_pos=row[0], count=row[1], at=row[2], digest=row[3])


# Of v (version), n (node), t (text), joined by JOINED.
JOINED: Final = "(n)<-[:OF]-(v)-[:SAYS]->(t)"
NODE: Final = (
    "v.row, n.id, n.kind, t.name, t.summary, t.body, v.props, v.focus, v.slot, n.project, n.scope, n.agents,"
    " n.sensitive, v.project, v.scope, v.agents, v.sensitive, v.valid_from, v.valid_to, v.asserted_from, v.asserted_to,"
    " v.recorded_at, v.born, v.tx, v.retired_at, v.retired_pos, v.retired_tx, n.deleted_at, v.event, t.hash"
)


def node_of(row: Sequence[Any]) -> NodeVersion:
    """A node version, from the columns NODE."""
    return NodeVersion(
        row=row[0],
        id=row[1],
        kind=row[2],
        name=row[3],
        summary=row[4],
        text=row[5],
        props=orjson.loads(row[6]) if row[6] else {},
        focus=None if row[7] == NONE else row[7],
        slot=row[8] or row[1],
        guard=guard_of(row[9], row[10], tuple(row[11]), row[12]),
        recorded_guard=guard_of(row[13], row[14], tuple(row[15]), row[16]),
        interval=Interval(valid_from=row[17], valid_to=row[18], asserted_from=row[19], asserted_to=row[20]),
        recorded_at=row[21],
        born=row[22],
        tx=row[23],
        retired_at=row[24],
        retired_pos=row[25],
        retired_tx=row[26],
        deleted_at=row[27],
        event=row[28],
        content_hash=bytes.fromhex(row[29]),
    )


@lru_cache(maxsize=1024)
def guard_of(project: str, scope: Any, agents: tuple[str, ...], sensitive: bool) -> Guard:  # noqa: FBT001 - a column
    """A guard, from its columns."""
    return Guard(project=None if project == NONE else project, scope=scope, agents=agents, sensitive=sensitive)


def guard_row(guard: Guard) -> dict[str, Any]:
    """The columns of a guard."""
    return {
        "project": NONE if guard.project is None else guard.project,
        "scope": guard.scope,
        "agents": list(guard.agents),
        "sensitive": guard.sensitive,
    }


# Of v, n, t.
LEAD: Final = "v.row, n.id, n.kind, t.hash, v.leads"


def lead_of(row: Sequence[Any]) -> Lead:
    """A lead, from the columns LEAD."""
    whole, conversation, role = (None if each == NONE else each for each in row[4] or (NONE, NONE, NONE))
    return Lead(
        row=row[0],
        id=row[1],
        kind=row[2],
        content_hash=bytes.fromhex(row[3]),
        whole=whole,
        conversation=conversation,
        role=role,
    )


# Of e (edge version), a (source), b (target): (a)-[e:EDGE]->(b). e's own guard is today's, the recorded one is `was_`.
EDGE: Final = (
    "e.row, a.id, e.rel, b.id, e.props, e.weight, e.slot, e.was_project, e.was_scope, e.was_agents, e.was_sensitive,"
    " e.valid_from, e.valid_to, e.asserted_from, e.asserted_to, e.recorded_at, e.born, e.tx,"
    " e.retired_at, e.retired_pos, e.retired_tx, e.event"
)


def edge_of(row: Sequence[Any]) -> EdgeVersion:
    """An edge version, from the columns EDGE."""
    src, rel, dst = row[1], row[2], row[3]
    return EdgeVersion(
        row=row[0],
        src=src,
        rel=rel,
        dst=dst,
        props=orjson.loads(row[4]) if row[4] else {},
        weight=row[5],
        slot=row[6] or SEPARATOR.join((src, rel, dst)),
        guard=guard_of(row[7], row[8], tuple(row[9]), row[10]),
        interval=Interval(valid_from=row[11], valid_to=row[12], asserted_from=row[13], asserted_to=row[14]),
        recorded_at=row[15],
        born=row[16],
        tx=row[17],
        retired_at=row[18],
        retired_pos=row[19],
        retired_tx=row[20],
        event=row[21],
    )


TX: Final = (
    "x.id, x.kind, x.agent, x.session, x.at, x.opened_pos, x.closed_pos, x.git_commit, x.files, x.counts, x.duration_ms"
)


def tx_of(row: Sequence[Any]) -> Tx:
    """A transaction, from the columns TX."""
    return Tx(
        id=row[0],
        kind=row[1],
        agent=row[2],
        session=row[3],
        at=row[4],
        opened_pos=row[5],
        closed_pos=row[6],
        git_commit=row[7],
        files=tuple(row[8]),
        counts=orjson.loads(row[9]),
        duration_ms=row[10],
    )
