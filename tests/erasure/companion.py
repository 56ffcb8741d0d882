"""A process beside an erasure: `python -m tests.erasure.companion STORE write|read|erase NAME`.

`write` and `read` go on until their input ends, then say what they did; `erase` erases the subject and ends.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

from tests.erasure.planting import SUBJECT, erase, store_at, subject_texts
from weft.backends.sqlite.store import SqliteStore
from weft.core.types import NOW
from weft.testing.clock import ManualClock
from weft.testing.scribe import Scribe, node
from weft.testing.viewers import OPERATOR
from weft.text.lexical import stems


def asked_to_stop() -> bool:
    try:
        return os.read(0, 1) == b""
    except BlockingIOError:
        return False


def write(store: SqliteStore, name: str) -> list[str]:
    scribe, written = Scribe(store, ManualClock(), session=name), []
    while not asked_to_stop():
        time.sleep(0.03)
        written.append(f"{name}{len(written)}")
        scribe.write(node(written[-1], f"{name} wrote number{len(written)} beside others", name=f"Note {written[-1]}"))
    return written


def read(store: SqliteStore, name: str) -> list[str]:
    """Every read is of one state: a word that is found leads to a node that says it."""
    scribe, wrong = Scribe(store, ManualClock()), []
    word = subject_texts()[0].words[1]
    while not asked_to_stop():
        time.sleep(0.01)  # others need the processor too
        for found in scribe.search(word).hits:
            (version,) = store.nodes(OPERATOR, NOW, [found.node.id]) or (None,)
            if version is not None and stems(word)[0] not in stems(version.text) and version.text:
                wrong.append(f"{found.node.id}: {version.text[:40]}")
        if not scribe.search("number1").hits and not store.nodes(OPERATOR, NOW, ["n0"]):
            wrong.append("n0 is gone")
    return wrong


if __name__ == "__main__":
    place, what, who = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    os.set_blocking(0, False)
    opened = store_at(place)
    if what == "erase":
        print("begun", flush=True)
        erase(opened, SUBJECT)
    else:
        print("begun", flush=True)
        print(json.dumps(write(opened, who) if what == "write" else read(opened, who)))
    opened.close()
