"""Full scans of an account, a little of each row: for erasures and other operator tasks."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

import orjson

from weft.backends.sqlite import rows
from weft.backends.sqlite.files.connections import AccountFiles
from weft.backends.sqlite.query import every, first
from weft.core.queries import LoggedPayload, NodeWords
from weft.core.types import Event, Viewer

if TYPE_CHECKING:
    from weft.backends.sqlite.scrub.sweep import SweepAccess

_CITATION: Final = re.compile(r"weft://([^/]+)/events/([0-9]{1,16})(?:#([0-9a-f]{8}))?")
_WORDS: Final = """SELECT n.id, n.kind, t.name, t.summary, t.body, ifnull(v.props, ''), v.event, t.hash, r.sensitive,
    v.retired_at IS NULL AND n.deleted_at IS NULL
  FROM node_version v JOIN node n ON n.key = v.node JOIN text t ON t.id = v.text JOIN ward r ON r.id = v.ward"""
_EDGES: Final = """SELECT a.id, e.rel, b.id FROM edge e JOIN node a ON a.key = e.src JOIN node b ON b.key = e.dst
  ORDER BY e.key"""
_PAYLOADS: Final = "SELECT pos, kind, payload FROM event WHERE pos > ? ORDER BY pos LIMIT ?"
_COMMITS: Final = """SELECT first_pos FROM commits WHERE first_pos <= ?
  AND first_pos >= (SELECT max(first_pos) FROM commits WHERE first_pos <= ?) ORDER BY first_pos"""
_CITED: Final = """SELECT j.value ->> 0, e.pos FROM json_each(?) j CROSS JOIN session s ON s.name = j.value ->> 1
  CROSS JOIN event e ON e.session = s.key AND e.seq = j.value ->> 2
  WHERE j.value ->> 3 IS NULL OR lower(substr(hex(e.hash), 1, 8)) = j.value ->> 3"""
# FTS5 keeps the tombstones of a segment in pages numbered from here on, until the segment is merged.
TOMBSTONES: Final = 1 << 53
_LEFT: Final = (
    f"SELECT 1 FROM text_index_data WHERE id >= {TOMBSTONES} LIMIT 1",
    "SELECT 1 FROM text t WHERE NOT EXISTS (SELECT 1 FROM node_version v WHERE v.text = t.id) LIMIT 1",
    "SELECT 1 FROM vector v WHERE NOT EXISTS (SELECT 1 FROM text t WHERE t.hash = v.hash) LIMIT 1",
)


# `NodeWords._make` without a Python call per row.
_words = cast("Callable[[tuple[Any, ...]], NodeWords]", partial(tuple.__new__, NodeWords))


class Surveys(AccountFiles):
    """The part of `weft.core.ports.Store` for operators who scan everything."""

    def node_words(
        self, viewer: Viewer, *, ids: Sequence[str] | None = None, of_kind: Callable[[str], bool] | None = None
    ) -> Iterator[NodeWords]:
        viewer.must_be_operator("read every version")
        with self._reading(viewer) as db:
            if db is None:
                return
            which: list[str] = []
            given: list[str] = []
            if ids is not None:
                which.append("n.id IN (SELECT value FROM json_each(?))")
                given.append(orjson.dumps(list(ids)).decode())
            if of_kind is not None:
                there = [kind for (kind,) in every(db, "SELECT DISTINCT kind FROM node")]
                kinds = list(filter(of_kind, there))
                if not kinds:
                    return
                which.append("n.kind IN (SELECT value FROM json_each(?))")
                given.append(orjson.dumps(kinds).decode())
            where = f" WHERE {' AND '.join(which)}" if which else ""
            yield from map(_words, db.execute(f"{_WORDS}{where} ORDER BY v.row", given))

    def edge_names(self, viewer: Viewer) -> Iterator[tuple[str, str, str]]:
        viewer.must_be_operator("read every edge")
        with self._reading(viewer) as db:
            if db is not None:
                yield from db.execute(_EDGES)

    def payloads(self, viewer: Viewer, *, after: int, limit: int) -> tuple[LoggedPayload, ...]:
        viewer.must_be_operator("read the whole log")
        with self._reading(viewer) as db:
            if db is None:
                return ()
            found = every(db, _PAYLOADS, (after, limit))
            if not found:
                return ()
            firsts = [first_pos for (first_pos,) in every(db, _COMMITS, (found[-1][0], found[0][0]))]
            return tuple(
                LoggedPayload(pos, firsts[bisect_right(firsts, pos) - 1], kind, payload) for pos, kind, payload in found
            )

    def caused(self, viewer: Viewer) -> tuple[tuple[int, tuple[str, ...]], ...]:
        viewer.must_be_operator("read the whole log")
        with self._reading(viewer) as db:
            if db is None:
                return ()
            found = db.execute("SELECT pos, caused_by FROM event WHERE caused_by IS NOT NULL ORDER BY pos")
            return tuple((pos, tuple(orjson.loads(causes))) for pos, causes in found)

    def header_names(self, viewer: Viewer) -> Iterator[tuple[str, str]]:
        viewer.must_be_operator("read the whole log")
        with self._reading(viewer) as db:
            if db is None:
                return
            yield from (("session", name) for (name,) in db.execute("SELECT name FROM session"))
            for column in ("agent", "role", "request_id", "conversation", "task"):
                found = db.execute(f"SELECT DISTINCT {column} FROM event WHERE {column} IS NOT NULL")
                yield from ((column, name) for (name,) in found)

    def cited(self, viewer: Viewer, citations: Sequence[str]) -> Mapping[str, int]:
        viewer.must_be_operator("read the whole log")
        with self._reading(viewer) as db:
            named = [(each, *match.groups()) for each in citations if (match := _CITATION.fullmatch(each))]
            asked = [(each, session, int(seq), start) for each, session, seq, start in named]
            return {} if db is None else dict(every(db, _CITED, (orjson.dumps(asked).decode(),)))

    def events_at(self, viewer: Viewer, positions: Sequence[int]) -> tuple[Event, ...]:
        viewer.must_be_operator("read the whole log")
        with self._reading(viewer) as db:
            if db is None:
                return ()
            query = f"{rows.SELECT_EVENT} WHERE e.pos IN (SELECT value FROM json_each(?)) ORDER BY e.pos"
            found = db.execute(query, (orjson.dumps(list(positions)).decode(),))
            return tuple(rows.event_of(viewer.account, row) for row in found)

    def sweep_due(self, viewer: Viewer) -> bool:
        viewer.must_be_operator("ask what is left to sweep")
        with self._reading(viewer) as db:
            return db is not None and any(first(db, query) is not None for query in _LEFT)

    def reindex_due(self, viewer: Viewer) -> bool:
        viewer.must_be_operator("ask for the indexes")
        with self._reading(viewer) as db:
            return db is not None and self._indexes(viewer.account).publish_due(db)

    def _access(self, viewer: Viewer) -> SweepAccess:
        from weft.backends.sqlite.scrub.sweep import SweepAccess

        account = viewer.account
        return SweepAccess(
            reading=partial(self._reading, viewer),
            writing=partial(self._writing, account),
            turn=partial(self._turn, account),
            file=self._file(account),
            vfs=self._vfs,
        )
