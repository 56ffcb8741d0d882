"""One process of a fleet: `python -m concurrency.member ROLE DIRECTORY NAME SECONDS [scramble]`.

Says "ready", waits for a line, works until its time is over and prints what it saw as one line of JSON. A writer
numbers its events from 1; a reader checks that what it sees of each writer has no gap. With `scramble` a writer goes
without the turnstile, as where there is no flock; with `small-log` the write-ahead log is kept to SMALL_BOUND_BYTES.
"""

from __future__ import annotations

import json
import random
import sys
import time
from pathlib import Path

from weft.append.append import AppendOptions, append
from weft.backends.sqlite.files import connection, wal
from weft.backends.sqlite.files import write_lock as turnstile
from weft.backends.sqlite.store import SqliteStore
from weft.core.clock import SystemClock
from weft.core.queries import TextQuery
from weft.core.types import NOW, SCOPES, Actor, Viewer, Writer
from weft.log.chain import commit_genesis
from weft.log.draft import Draft
from weft.log.kinds import memory
from weft.text.lexical import query_terms

ACCOUNT = "fleet"
SMALL_RESTART_PAGES = 1_000
SMALL_BOUND_BYTES = 2 * SMALL_RESTART_PAGES * wal.PAGE_BYTES
OPERATOR = Viewer(account=ACCOUNT, scopes=frozenset(SCOPES), sensitive=True)
WORDS = ("warp", "weft", "ctx", "shuttle", "heddle", "reed", "thread", "selvedge")
LOOK_AHEAD = 50  # nodes that a reader asks for at once


def open_store(directory: str | Path) -> SqliteStore:
    return SqliteStore(Path(directory), commit_genesis)


def draft(name: str, number: int, chance: random.Random) -> Draft:
    text = f"{name} says {number}: " + " ".join(chance.choices(WORDS, k=20))
    return Draft(kind="memory.remembered", payload=memory.Remembered(id=f"{name}:{number}", text=text))


def make_log_small() -> None:
    """A short run meets the bounds of the write-ahead log many times."""
    wal.WAL_RESTART_PAGES, wal.WAL_BOUND_BYTES = SMALL_RESTART_PAGES, SMALL_BOUND_BYTES
    pragmas = dict(connection._PRAGMAS) | {"wal_autocheckpoint": "100"}
    connection._PRAGMAS = tuple(pragmas.items())


def write(store: SqliteStore, name: str, until_s: float) -> dict[str, float]:
    chance, clock = random.Random(name), SystemClock()
    author = Writer(account=ACCOUNT, session=name, actor=Actor(agent=name))
    waits_ms, number = [], 0
    while time.monotonic() < until_s:
        number += 1
        began = time.perf_counter()
        append(
            store,
            author,
            [draft(name, number, chance)],
            clock=clock,
            options=AppendOptions(request_id=f"{name}-{number}"),
        )
        waits_ms.append((time.perf_counter() - began) * 1000)
    waits_ms.sort()
    return {
        "written": number,
        "p50_ms": round(waits_ms[len(waits_ms) // 2], 2),
        "p99_ms": round(waits_ms[int(0.99 * len(waits_ms))], 2),
        "worst_ms": round(waits_ms[-1], 2),
    }


def read(store: SqliteStore, names: list[str], until_s: float) -> dict[str, float]:
    chance = random.Random(0)
    seen, pos, reads, worst_ms = dict.fromkeys(names, 0), 0, 0, 0.0
    while time.monotonic() < until_s:
        began = time.perf_counter()
        head = store.head(OPERATOR)
        assert head.pos >= pos, "the log went back"
        pos = head.pos
        name = chance.choice(names)
        wanted = [f"{name}:{seen[name] + n}" for n in range(1, LOOK_AHEAD + 1)]
        found = [node.id for node in store.nodes(OPERATOR, NOW, wanted)]
        assert found == wanted[: len(found)], f"a gap: {found}"
        seen[name] += len(found)
        asked = TextQuery(terms=query_terms(" ".join(chance.choices(WORDS, k=3))))
        assert store.search_text(OPERATOR, NOW, asked, limit=10).hits or not pos
        reads += 1
        worst_ms = max(worst_ms, (time.perf_counter() - began) * 1000)
    return {"reads": reads, "seen": sum(seen.values()), "worst_ms": round(worst_ms, 2)}


def main(role: str, directory: str, name: str, seconds: str, *options: str) -> None:
    turnstile.HAS_FLOCK = "scramble" not in options
    if "small-log" in options:
        make_log_small()
    store = open_store(directory)
    print("ready", flush=True)
    sys.stdin.readline()
    until_s = time.monotonic() + float(seconds)
    told = write(store, name, until_s) if role == "writer" else read(store, name.split(","), until_s)
    store.close()
    print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
