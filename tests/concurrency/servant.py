"""A process that does what it is told, one line of JSON at a time: `python -m concurrency.servant DIRECTORY`."""

from __future__ import annotations

import json
import os
import signal
import sys
from functools import partial
from pathlib import Path
from typing import Any

from tests.concurrency.member import ACCOUNT, OPERATOR
from weft.append.append import append
from weft.backends.sqlite.files import write_lock
from weft.backends.sqlite.store import SqliteStore
from weft.core.clock import SystemClock
from weft.core.errors import WeftError
from weft.core.queries import TextQuery
from weft.core.types import MAX_READ_EVENTS, NOW, Actor, Writer
from weft.log.chain import commit_genesis
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.testing.scribe import closed, continued, opened
from weft.text.lexical import query_terms

PER_COMMIT = 25


def node(number: int, text: str = "a thread of the long change") -> Draft:
    said = graph.NodeAssertion(id=f"long:{number}", kind="Note", text=f"{text} {number}", project="dock")
    return Draft(kind="graph.asserted", payload=graph.Asserted(nodes=(said,)))


def author(session: str) -> Writer:
    return Writer(account=ACCOUNT, session=session, actor=Actor(agent=session))


class SkewedClock:
    """The machine's clock, off by so much."""

    def __init__(self, skew_us: int) -> None:
        self._clock, self._skew_us = SystemClock(), skew_us

    def now_us(self) -> int:
        return self._clock.now_us() + self._skew_us


class Servant:
    """Its methods are the orders it takes."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.store = SqliteStore(directory, commit_genesis)
        self.held: list[int] = []

    def create(self, name: str, session: str) -> int:
        """Writes into a store of its own, which another is making too."""
        store = SqliteStore(self.directory / name, commit_genesis)
        said = graph.NodeAssertion(id=session, kind="Note", text="first")
        draft = Draft(kind="graph.asserted", payload=graph.Asserted(nodes=(said,)))
        pos = append(store, author(session), [draft], clock=SystemClock()).events[0].pos
        store.close()
        return pos

    def take_turns(self, by: str) -> bool:
        write_lock.HAS_FLOCK = by == "flock"
        return True

    def look_until(self, name: str, pos: int) -> int:
        """Opens and reads a store, again and again, while it is being made."""
        while True:
            store = SqliteStore(self.directory / name, commit_genesis)
            found = store.head(OPERATOR).pos
            store.close()
            if found >= pos:
                return found

    def write(self, node_id: str, text: str, slot: str | None = None, skew_us: int = 0) -> int:
        said = graph.NodeAssertion(id=node_id, kind="Note", text=text, slot=slot)
        draft = Draft(kind="graph.asserted", payload=graph.Asserted(nodes=(said,)))
        return append(self.store, author("small"), [draft], clock=SkewedClock(skew_us)).events[0].recorded_at

    def search(self, words: str) -> list[str]:
        query = TextQuery(terms=query_terms(words))
        return [hit.node.id for hit in self.store.search_text(OPERATOR, NOW, query, limit=10).hits]

    def hold(self, which: str) -> bool:
        """Takes one of the two locks and keeps it."""
        path = self.directory / "accounts" / f"{ACCOUNT}.{which}"
        self.held.append(write_lock._flock(path, write_lock.fcntl.LOCK_EX))
        return True

    def long_change(self, count: int, die_after: int | None = None, resume: str | None = None) -> Any:
        """Writes one change of `count` nodes, PER_COMMIT in each commit; dies by SIGKILL before node `die_after`.

        With `resume`, continues an open change behind the nodes that it already has.
        """
        write = partial(append, self.store, author("long"), clock=SystemClock())
        skipped = 0
        if resume is None:
            write([opened("incremental")])
            tx = self.store.transactions(OPERATOR, limit=1)[0].id
        else:
            tx = resume
            log = self.store.log(OPERATOR, after=0, limit=MAX_READ_EVENTS)
            skipped = sum(not event.kind.startswith("tx.") for _, events in log for event in events)
        for start in range(skipped, count, PER_COMMIT):
            if die_after is not None and start >= die_after:
                os.kill(os.getpid(), signal.SIGKILL)
            write([continued(tx), *map(node, range(start, min(start + PER_COMMIT, count)))])
        write([closed(tx)])
        return {"tx": tx, "drafts": count - skipped, "skipped": skipped}


def main(directory: str) -> None:
    servant = Servant(Path(directory))
    print("ready", flush=True)
    for line in sys.stdin:
        order, arguments = json.loads(line)
        try:
            told = {"answer": getattr(servant, order)(**arguments)}
        except WeftError as problem:
            told = {"error": problem.code, "message": str(problem)}
        print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
