"""Decoding of rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import apsw
import orjson

from weft.core.clock import MAX_INSTANT_US, MIN_INSTANT_US
from weft.core.queries import Lead
from weft.core.types import Actor, Commit, EdgeVersion, Event, Guard, Interval, NodeVersion, Tx

_EVENT_COLUMNS = (
    "e.pos, s.name, e.seq, e.kind, e.agent, e.role, e.recorded_at, e.known_at, e.occurred_at, e.caused_by, e.task,"
    " e.conversation, e.request_id, e.payload, e.salt, e.payload_hash, e.prev_hash, e.hash, e.rewritten"
)
SELECT_EVENT = f"SELECT {_EVENT_COLUMNS} FROM event e JOIN session s ON s.key = e.session"


def event_of(account: str, row: Sequence[Any]) -> Event:
    """An event, from a row of `SELECT_EVENT`."""
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
        caused_by=tuple(orjson.loads(row[9])) if row[9] else (),
        task=row[10],
        conversation=row[11],
        request_id=row[12],
        payload=row[13],
        salt=row[14],
        payload_hash=row[15],
        prev_hash=row[16],
        hash=row[17],
        rewritten=bool(row[18]),
    )


def commit_of(row: Sequence[Any]) -> Commit:
    """A commit, from its first position, count, time and digest."""
    return Commit(first_pos=row[0], count=row[1], at=row[2], digest=row[3])


def select_nodes(prefix: str = "") -> str:
    """Everything of a node version; callers add WHERE on v (version), n (node), t (text)."""
    return f"""SELECT v.row, n.id, n.kind, t.name, t.summary, t.body, v.props, v.focus, v.slot,
        w.project, w.scope, w.agents, w.sensitive, r.project, r.scope, r.agents, r.sensitive,
        v.valid_from, v.valid_to, v.asserted_from, v.asserted_to, v.recorded_at, v.born, x.id,
        v.retired_at, v.retired_pos, y.id, n.deleted_at, v.event, t.hash
      FROM {prefix}node_version v JOIN {prefix}node n ON n.key = v.node JOIN {prefix}text t ON t.id = v.text
      JOIN {prefix}ward w ON w.id = n.ward JOIN {prefix}ward r ON r.id = v.ward
      JOIN {prefix}tx x ON x.key = v.tx LEFT JOIN {prefix}tx y ON y.key = v.retired_tx"""


@lru_cache(maxsize=4096)
def _interval(ends: tuple[Any, ...], *moments: int | None) -> Interval:
    """A version's interval; those written at once share it. Raises OverflowError for a time out of range: the row is
    damaged.
    """
    for each in (*ends, *moments):
        if each is not None and not MIN_INSTANT_US <= each <= MAX_INSTANT_US:
            raise OverflowError(f"{each} is no valid time")
    valid_from, valid_to, asserted_from, asserted_to = ends
    return Interval(valid_from=valid_from, valid_to=valid_to, asserted_from=asserted_from, asserted_to=asserted_to)


def node_of(row: Sequence[Any]) -> NodeVersion:
    """A node version, from a row of `select_nodes`."""
    return NodeVersion(
        row=row[0],
        id=row[1],
        kind=row[2],
        name=row[3],
        summary=row[4],
        text=row[5],
        props=orjson.loads(row[6]) if row[6] else {},
        focus=row[7],
        slot=row[8] or row[1],
        guard=guard_of(row[9], row[10], row[11], row[12]),
        recorded_guard=guard_of(row[13], row[14], row[15], row[16]),
        interval=_interval(row[17:21], row[21], row[24]),
        recorded_at=row[21],
        born=row[22],
        tx=row[23],
        retired_at=row[24],
        retired_pos=row[25],
        retired_tx=row[26],
        deleted_at=row[27],
        event=row[28],
        content_hash=row[29],
    )


# A lead's columns, of v (version), n (node), t (text): what `lead_of` reads.
LEAD_COLUMNS = "v.row, n.id, n.kind, t.hash, v.props -> '$.part_of', v.props -> '$.conversation', v.props -> '$.role'"


def lead_of(row: Sequence[Any]) -> Lead:
    """A lead, from a row that begins with `LEAD_COLUMNS`. Callers own properties: only a text can name a node."""
    number, node_id, kind, content_hash, whole, conversation, role = row[:7]
    return Lead(
        row=number,
        id=node_id,
        kind=kind,
        content_hash=content_hash,
        whole=_text_of(whole),
        conversation=_text_of(conversation),
        role=_text_of(role),
    )


def _text_of(value: str | None) -> str | None:
    """The text of a JSON string; None for any other value."""
    return orjson.loads(value) if value and value[0] == '"' else None


def load_leads(db: apsw.Connection, found: Sequence[int]) -> dict[int, Lead]:
    """Leads by row number, of rows that passed the guards in the same read transaction."""
    query = f"""SELECT {LEAD_COLUMNS} FROM json_each(?) j CROSS JOIN node_version v ON v.row = j.value
        JOIN node n ON n.key = v.node JOIN text t ON t.id = v.text"""
    return {row[0]: lead_of(row) for row in db.execute(query, (orjson.dumps(found).decode(),))}


def select_edges(prefix: str = "") -> str:
    """Everything of an edge version; callers add WHERE on v (version), e (edge), a (source), b (target)."""
    return f"""SELECT v.row, a.id, e.rel, b.id, v.props, v.weight, v.slot, w.project, w.scope, w.agents, w.sensitive,
        v.valid_from, v.valid_to, v.asserted_from, v.asserted_to, v.recorded_at, v.born, x.id,
        v.retired_at, v.retired_pos, y.id, v.event
      FROM {prefix}edge_version v JOIN {prefix}edge e ON e.key = v.edge
      JOIN {prefix}node a ON a.key = e.src JOIN {prefix}node b ON b.key = e.dst
      JOIN {prefix}ward w ON w.id = v.ward
      JOIN {prefix}tx x ON x.key = v.tx LEFT JOIN {prefix}tx y ON y.key = v.retired_tx"""


def edge_of(row: Sequence[Any]) -> EdgeVersion:
    """An edge version, from a row of `select_edges`."""
    src, rel, dst = row[1], row[2], row[3]
    return EdgeVersion(
        row=row[0],
        src=src,
        rel=rel,
        dst=dst,
        props=orjson.loads(row[4]) if row[4] else {},
        weight=row[5],
        slot=row[6] or f"{src}\x1f{rel}\x1f{dst}",
        guard=guard_of(row[7], row[8], row[9], row[10]),
        interval=_interval(row[11:15]),
        recorded_at=row[15],
        born=row[16],
        tx=row[17],
        retired_at=row[18],
        retired_pos=row[19],
        retired_tx=row[20],
        event=row[21],
    )


@lru_cache(maxsize=1024)
def guard_of(project: str | None, scope: Any, agents: str, sensitive: int) -> Guard:
    """A guard, from the columns of a visibility group."""
    return Guard(project=project, scope=scope, agents=tuple(orjson.loads(agents)), sensitive=bool(sensitive))


def select_tx(prefix: str = "") -> str:
    """Everything of a transaction; callers add WHERE."""
    return (
        "SELECT id, kind, agent, session, at, opened_pos, closed_pos, git_commit, files, counts, duration_ms"
        f" FROM {prefix}tx"
    )


def tx_of(row: Sequence[Any]) -> Tx:
    """A transaction, from a row of `select_tx`."""
    return Tx(
        id=row[0],
        kind=row[1],
        agent=row[2],
        session=row[3],
        at=row[4],
        opened_pos=row[5],
        closed_pos=row[6],
        git_commit=row[7],
        files=tuple(orjson.loads(row[8])),
        counts=orjson.loads(row[9]),
        duration_ms=row[10],
    )


def load_nodes(db: apsw.Connection, rows: Iterable[int]) -> dict[int, NodeVersion]:
    """Versions by row number, of rows that passed the guards in the same read transaction."""
    wanted = orjson.dumps(list(rows)).decode()
    query = f"{select_nodes()} WHERE v.row IN (SELECT value FROM json_each(?))"
    return {row[0]: node_of(row) for row in db.execute(query, (wanted,))}
