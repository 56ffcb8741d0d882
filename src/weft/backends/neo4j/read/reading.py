"""The state that one read answers from: the account's graph, its head, and the moment asked about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from weft.backends.neo4j.bolt import READ_S, BoltServer, Row
from weft.backends.neo4j.cypher_guards import BothClocks, rights
from weft.core.types import AccountHead, Viewer, When

_STATE: Final = """MATCH (x:WeftAccount {a: $a}) WHERE x.pos IS NOT NULL
    OPTIONAL MATCH (y:WeftTx {g: x.g, open: true}) RETURN x.g, x.pos, x.at, x.digest, collect(y.id)"""
_POSITION: Final = (
    "MATCH (c:WeftCommit {a: $a}) WHERE c.at <= $known RETURN c.first_pos + c.count - 1 ORDER BY c.at DESC LIMIT 1"
)
_UNFINISHED: Final = """MATCH (x:WeftTx {g: $g, long: true})
    WHERE x.opened_pos <= $pos AND (x.closed_pos IS NULL OR x.closed_pos > $pos) RETURN x.id"""


class Reading:
    """One account for one viewer. Rows that a later commit writes are past `pos`, so no query of it sees them."""

    def __init__(self, server: BoltServer, viewer: Viewer, a: str, row: Row) -> None:
        self._server, self.viewer, self.a = server, viewer, a
        self.g: str = row[0]
        self.head = AccountHead(pos=row[1], at=row[2], digest=row[3])
        self.open: list[str] = row[4]

    @classmethod
    def of(cls, server: BoltServer, viewer: Viewer, a: str) -> Reading | None:
        """The account's state; None before its first commit."""
        found = server.read(_STATE, {"a": a})
        return cls(server, viewer, a, found[0]) if found else None

    def rows(self, query: str, *, timeout_s: float = READ_S, **params: Any) -> list[Row]:
        """All rows; `$a`, `$g` and the viewer's rights are given."""
        given = {"a": self.a, "g": self.g, **rights(self.viewer), "open": self.open}
        return self._server.read(query, {**given, **params}, timeout_s=timeout_s)

    def first(self, query: str, **params: Any) -> Row | None:
        """The first row, or None."""
        found = self.rows(query, **params)
        return found[0] if found else None

    def position_at(self, at: int) -> int:
        """The last position known at a time."""
        if at >= self.head.at:
            return self.head.pos
        found = self.first(_POSITION, known=at)
        return found[0] if found else 0

    def unfinished_at(self, pos: int) -> tuple[str, ...]:
        """Changes that were not closed at a position."""
        return tuple(tx for (tx,) in self.rows(_UNFINISHED, pos=pos))

    def moment(self, when: When, now_us: int) -> BothClocks:
        """Both clocks. 'Now' is not before the log's last time."""
        valid_at = max(now_us, self.head.at) if when.valid_at is None else when.valid_at
        if when.known_at is None or when.known_at >= self.head.at:
            return BothClocks(valid_at, self.head.pos, tuple(self.open))
        pos = self.position_at(when.known_at)
        return BothClocks(valid_at, pos, self.unfinished_at(pos))


def paged(reading: Reading, query: str, at_once: int, **params: Any) -> Sequence[Row]:
    """All rows of a query that continues `$after` the last row's first column."""
    found: list[Row] = []
    after: Any = params.pop("after", 0)
    while True:
        page = reading.rows(query, after=after, limit=at_once, **params)
        found += page
        if len(page) < at_once:
            return found
        after = page[-1][0]
