"""One account inside a write transaction: its lock, its head, and its queries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import neo4j

from weft.backends.neo4j.bolt import in_one
from weft.backends.neo4j.columns import event_row
from weft.core.types import AccountHead, Commit, Event

ROWS_AT_ONCE: Final = 5_000  # of one statement's list parameter

# The first statement takes the account's exclusive lock, the second reads what the lock protects.
MARKS: Final = 100  # of an account's last write transactions
_LOCK: Final = f"""MERGE (x:WeftAccount {{a: $a}}) ON CREATE SET x.space = $space, x.name = $name, x.turns = []
    SET x.turns = x.turns[-{MARKS}..] + [$turn]"""
_STATE: Final = """MATCH (x:WeftAccount {a: $a})
    RETURN x.pos, x.at, x.digest, x.g, x.folding"""


class LockedAccount:
    """One account, locked until the transaction ends. `g` names the graph rows that readers see."""

    def __init__(self, tx: neo4j.Transaction, a: str, *, space: str, name: str, genesis: bytes, turn: str) -> None:
        self.tx, self.a, self.account = tx, a, name
        self.run(_LOCK, space=space, name=name, turn=turn)
        (found,) = self.rows(_STATE)
        self.idle = False  # nothing was written: the transaction need not be committed
        self.is_new = found[0] is None
        self.head = (
            AccountHead(pos=0, at=0, digest=genesis)
            if self.is_new
            else AccountHead(pos=found[0], at=found[1], digest=found[2])
        )
        self.g: str = found[3] or f"{a}#1"
        self.folding: str | None = found[4]  # the side graph of a running rebuild

    def rows(self, query: str, **params: Any) -> list[list[Any]]:
        """All rows of a query; `$a` is the account."""
        return [record.values() for record in self.tx.run(in_one(query), p={"a": self.a, **params})]

    def run(self, query: str, **params: Any) -> None:
        """A statement without rows."""
        self.tx.run(in_one(query), p={"a": self.a, **params}).consume()

    def each(self, query: str, rows: Sequence[Any], **params: Any) -> None:
        """A statement that unwinds `$rows`, in bounded parts; none without rows."""
        for start in range(0, len(rows), ROWS_AT_ONCE):
            self.run(query, rows=rows[start : start + ROWS_AT_ONCE], **params)

    def write_log(self, commit: Commit, events: Sequence[Event]) -> None:
        """Appends events and their commit."""
        last = {event.session: event for event in events}
        self.each(
            """UNWIND $rows AS r MERGE (s:WeftSession {a: $a, name: r.name})
                SET s.seq = r.seq, s.hash = r.hash, s.pos = r.pos""",
            [{"name": name, "seq": each.seq, "hash": each.hash, "pos": each.pos} for name, each in last.items()],
        )
        self.each("UNWIND $rows AS r CREATE (e:WeftEvent {a: $a}) SET e += r", [event_row(event) for event in events])
        end = commit.first_pos + commit.count - 1
        self.run(
            """CREATE (:WeftCommit {a: $a, first_pos: $first, count: $count, at: $at, digest: $digest})
               WITH 1 AS one MATCH (x:WeftAccount {a: $a})
               SET x.pos = $end, x.at = $at, x.digest = $digest, x.g = $g""",
            first=commit.first_pos,
            count=commit.count,
            at=commit.at,
            digest=commit.digest,
            end=end,
            g=self.g,
        )
        self.head = AccountHead(pos=end, at=commit.at, digest=commit.digest)
