"""Guarded reads of the log."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from weft.backends.neo4j import columns as rows
from weft.backends.neo4j import cypher_guards as guards
from weft.backends.neo4j.columns import COMMIT, EVENT
from weft.backends.neo4j.read.reading import Reading
from weft.core.commits import rewriting_of
from weft.core.queries import LoggedPayload
from weft.core.types import Commit, Event, RewriteRecord, SessionHead, Viewer

_CITATION: Final = re.compile(r"weft://([^/]+)/events/([0-9]{1,16})(?:#([0-9a-f]{8}))?")
COMMITS_AT_ONCE: Final = 1_000

Rows = Callable[..., list[list[Any]]]


def _open_to(viewer: Viewer) -> str:
    """Every node of the event is visible; events without nodes, and of open changes, are for operators.

    Erased nodes were visible once and hold no words now: their existence may be known.
    """
    made = "(n)<-[:OF]-(v:WeftVersion {g: $g, born: e.pos}) WHERE v.event = e.pos"
    seen = f"({guards.findable()}) OR (e.rewritten AND {guards.was_findable()})"
    hidden = f"EXISTS {{ MATCH {made} AND NOT ({seen}) }}"
    if viewer.operator:
        return f"NOT {hidden}"
    return f"EXISTS {{ MATCH {made} AND NOT v.tx IN $open }} AND NOT {hidden}"


def events(
    reading: Reading, session: str | None, after_seq: int, limit: int, *, newest_first: bool
) -> tuple[Event, ...]:
    """Events past `after_seq` that the viewer may read, in order."""
    order = "DESC" if newest_first else "ASC"
    by = "e.pos" if session is None else "e.seq"
    which = "{a: $a}" if session is None else "{a: $a, session: $session}"
    query = f"""MATCH (e:WeftEvent {which}) WHERE e.pos > 0 AND e.seq > $after AND {_open_to(reading.viewer)}
        RETURN {EVENT} ORDER BY {by} {order} LIMIT $limit"""
    found = reading.rows(query, session=session, after=after_seq, limit=limit)
    return tuple(rows.event_of(reading.viewer.account, row) for row in found)


def counts(reading: Reading) -> tuple[int, int]:
    """(events, sessions) that the viewer may read."""
    query = f"""MATCH (e:WeftEvent {{a: $a}}) WHERE e.pos > 0 AND {_open_to(reading.viewer)}
        RETURN count(*), count(DISTINCT e.session)"""
    found = reading.first(query)
    return (found[0], found[1]) if found else (0, 0)


def session_heads(reading: Reading, limit: int) -> tuple[SessionHead, ...]:
    """Heads of the sessions the viewer can see an event of, latest first."""
    if reading.viewer.operator:  # every session, even without events: verification looks for those
        query = "MATCH (s:WeftSession {a: $a}) RETURN s.name, s.seq, s.hash ORDER BY s.pos DESC LIMIT $limit"
    else:
        query = f"""MATCH (e:WeftEvent {{a: $a}}) WHERE e.pos > 0 AND {_open_to(reading.viewer)}
            WITH e.session AS name, max(e.pos) AS last
            ORDER BY last DESC LIMIT $limit MATCH (s:WeftSession {{a: $a, name: name}})
            RETURN s.name, s.seq, s.hash ORDER BY last DESC"""
    return tuple(SessionHead(session=row[0], seq=row[1], hash=row[2]) for row in reading.rows(query, limit=limit))


def citations(reading: Reading, positions: Sequence[int]) -> dict[int, str]:
    """Citations by position, of events that made a node the viewer may step on."""
    query = f"""UNWIND $positions AS p MATCH (e:WeftEvent {{a: $a, pos: p}}) WHERE EXISTS {{
        MATCH (n)<-[:OF]-(v:WeftVersion {{g: $g, born: e.pos}})
        WHERE v.event = e.pos AND {guards.reachable()} AND NOT v.tx IN $open }} RETURN {EVENT}"""
    found = reading.rows(query, positions=list(dict.fromkeys(positions)))
    return {row[0]: rows.event_of(reading.viewer.account, row).citation for row in found}


def rewriting(reading: Reading, event: Event) -> RewriteRecord | None:
    """The newest `log.rewritten` that names an event."""
    query = f"MATCH (e:WeftEvent {{a: $a, kind: 'log.rewritten'}}) RETURN {EVENT} ORDER BY e.pos DESC"
    told = (rewriting_of(rows.event_of(event.account, row), event) for row in reading.rows(query))
    return next((found for found in told if found is not None), None)


def whole_log(read: Rows, account: str, after: int, limit: int) -> tuple[tuple[Commit, tuple[Event, ...]], ...]:
    """Whole commits past `after`, about `limit` events; at least one commit if there is any."""
    query = (
        f"MATCH (c:WeftCommit {{a: $a}}) WHERE c.first_pos > $after RETURN {COMMIT} ORDER BY c.first_pos LIMIT $limit"
    )
    chosen: list[Commit] = []
    size = 0
    for row in read(query, after=after, limit=min(limit, COMMITS_AT_ONCE)):
        if chosen and size >= limit:
            break
        chosen.append(rows.commit_of(row))
        size += row[1]
    if not chosen:
        return ()
    last = chosen[-1].first_pos + chosen[-1].count - 1
    query = f"MATCH (e:WeftEvent {{a: $a}}) WHERE e.pos >= $first AND e.pos <= $last RETURN {EVENT} ORDER BY e.pos"
    found = [rows.event_of(account, row) for row in read(query, first=chosen[0].first_pos, last=last)]
    by_commit, at = [], 0
    for commit in chosen:
        by_commit.append((commit, tuple(found[at : at + commit.count])))
        at += commit.count
    return tuple(by_commit)


def payloads(reading: Reading, after: int, limit: int) -> tuple[LoggedPayload, ...]:
    """Payloads past a position, each with the first position of its commit."""
    query = """MATCH (e:WeftEvent {a: $a}) WHERE e.pos > $after RETURN e.pos, e.kind, e.payload
        ORDER BY e.pos LIMIT $limit"""
    found = reading.rows(query, after=after, limit=limit)
    if not found:
        return ()
    query = """MATCH (c:WeftCommit {a: $a}) WHERE c.first_pos + c.count > $first AND c.first_pos <= $last
        RETURN c.first_pos ORDER BY c.first_pos"""
    firsts = [first for (first,) in reading.rows(query, first=found[0][0], last=found[-1][0])]
    return tuple(LoggedPayload(pos, firsts[bisect_right(firsts, pos) - 1], kind, raw) for pos, kind, raw in found)


def caused(reading: Reading) -> tuple[tuple[int, tuple[str, ...]], ...]:
    """(position, citations) of the events that name their causes."""
    query = """MATCH (e:WeftEvent {a: $a}) WHERE e.pos > 0 AND e.caused_by IS NOT NULL
        RETURN e.pos, e.caused_by ORDER BY e.pos"""
    return tuple((pos, tuple(causes)) for pos, causes in reading.rows(query))


def header_names(reading: Reading) -> Iterator[tuple[str, str]]:
    """The kind of each name in a header, and the name, once."""
    yield from (("session", name) for (name,) in reading.rows("MATCH (s:WeftSession {a: $a}) RETURN s.name"))
    for column in ("agent", "role", "request_id", "conversation", "task"):
        query = f"MATCH (e:WeftEvent {{a: $a}}) WHERE e.pos > 0 AND e.{column} IS NOT NULL RETURN DISTINCT e.{column}"
        yield from ((column, name) for (name,) in reading.rows(query))


def cited(reading: Reading, wanted: Sequence[str]) -> Mapping[str, int]:
    """The positions of the events that these citations name."""
    named = [(each, match) for each in wanted if (match := _CITATION.fullmatch(each))]
    query = (
        """UNWIND $asked AS q MATCH (e:WeftEvent {a: $a, session: q[1], seq: q[2]}) RETURN q[0], q[3], e.pos, e.hash"""
    )
    asked = [[each, match[1], int(match[2]), match[3]] for each, match in named]
    found = reading.rows(query, asked=asked)
    return {each: pos for each, start, pos, digest in found if start in (None, digest.hex()[:8])}


def events_at(reading: Reading, positions: Sequence[int]) -> tuple[Event, ...]:
    """The events at these positions, in order, each once."""
    query = f"UNWIND $positions AS p MATCH (e:WeftEvent {{a: $a, pos: p}}) RETURN {EVENT} ORDER BY e.pos"
    found = reading.rows(query, positions=sorted(set(positions)))
    return tuple(rows.event_of(reading.viewer.account, row) for row in found)
