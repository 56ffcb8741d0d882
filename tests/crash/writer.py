"""A process that writes until it is killed: `python -m crash.writer DIRECTORY SESSION SEED`.

Prints one line per acknowledgement, after the store gave it: the request id and the citations.
"""

from __future__ import annotations

import os
import random
import sys
from contextlib import suppress
from pathlib import Path

from weft.append.append import AppendOptions, append
from weft.backends.sqlite.files import connection
from weft.backends.sqlite.search import words
from weft.backends.sqlite.store import SqliteStore
from weft.core.clock import SystemClock
from weft.core.errors import Conflict
from weft.core.types import SCOPES, Actor, Viewer, Writer
from weft.graph.apply_moves import apply_events
from weft.log.chain import commit_genesis
from weft.log.draft import Draft
from weft.log.kinds import graph, memory

ACCOUNT = "crash"
WORDS = ("warp", "weft", "ctx", "shuttle", "heddle", "reed", "thread", "selvedge")


def _drafts(chance: random.Random, key: str) -> list[Draft]:
    what = chance.random()
    text = " ".join(chance.choices(WORDS, k=chance.choice((4, 20, 200))))
    drafts = [Draft(kind="memory.remembered", payload=memory.Remembered(id=f"memory:{key}", text=text))]
    if what > 0.6:
        home = graph.NodeAssertion(id=f"fact:{key}", kind="Fact", name="home", text=text, slot="ada/home")
        involves = graph.EdgeAssertion(src=f"memory:{key}", rel="INVOLVES", dst=f"fact:{key}")
        drafts.append(Draft(kind="graph.asserted", payload=graph.Asserted(nodes=(home,), edges=(involves,))))
    if what > 0.9:
        drafts.append(Draft(kind="graph.deleted", payload=graph.Deleted(nodes=(f"memory:{key}",))))
    return drafts


def _small_bounds() -> None:
    """Checkpoints and index settling come often enough to be hit."""
    words.SETTLE_AT = 16
    pragmas = dict(connection._PRAGMAS) | {"wal_autocheckpoint": "100"}
    connection._PRAGMAS = tuple(pragmas.items())


def main(directory: str, session: str, seed: str) -> None:
    _small_bounds()
    chance = random.Random(seed)
    clock = SystemClock()
    store = SqliteStore(Path(directory), commit_genesis)
    author = Writer(account=ACCOUNT, session=session, actor=Actor(agent="writer"))
    operator = Viewer(account=ACCOUNT, scopes=frozenset(SCOPES), sensitive=True)
    while True:
        if chance.random() < 0.02:
            with suppress(Conflict):  # the other writer is rebuilding: one at a time
                store.rebuild(
                    operator, lambda view, events: apply_events(view, events), progress=lambda done, total: None
                )
        key = f"{session}-{chance.getrandbits(60):x}"
        done = append(store, author, _drafts(chance, key), clock=clock, options=AppendOptions(request_id=f"r-{key}"))
        line = " ".join((f"r-{key}", *(event.citation for event in done.events)))
        os.write(1, f"{line}\n".encode())  # one write: a line arrives whole or not at all


if __name__ == "__main__":
    main(*sys.argv[1:])
