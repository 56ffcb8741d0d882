"""Ten thousand mixed events: written live, folded again in another process, rebuilt in place: one graph."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.golden.make_golden import ACCOUNT, OPERATOR, FixedClock, Mixer
from weft.backends.sqlite.store import SqliteStore
from weft.graph.apply_moves import apply_events
from weft.graph.digest import graph_digest
from weft.log.chain import commit_genesis
from weft.log.jsonl import write_lines
from weft.log.verify import read_commits

EVENTS = 5_000

FRESH_PROCESS = """
import sys
from pathlib import Path
from weft.append.import_log import import_log
from weft.backends.sqlite.store import SqliteStore
from weft.core.clock import SystemClock
from weft.log.chain import commit_genesis
from weft.graph.digest import graph_digest
from weft.core.types import SCOPES, Viewer

log, target, account = sys.argv[1:]
viewer = Viewer(account=account, scopes=frozenset(SCOPES), sensitive=True)
store = SqliteStore(Path(target), commit_genesis, clock=SystemClock())
done = import_log(store, viewer, lambda: Path(log).open("rb"), clock=SystemClock())
print(done.digest, graph_digest(store.graph_rows(viewer)))
store.close()
"""


@pytest.mark.timeout(240)
def test_live_fresh_and_rebuilt_are_one_graph(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "live", commit_genesis, clock=FixedClock())
    Mixer(store, seed=10_000, batch=200, words=5).run(EVENTS)
    head = store.head(OPERATOR)
    assert head.pos >= EVENTS
    live = graph_digest(store.graph_rows(OPERATOR))

    log = tmp_path / "log.jsonl"
    log.write_bytes(b"".join(write_lines(ACCOUNT, read_commits(store, OPERATOR))))
    done = subprocess.run(
        [sys.executable, "-W", "ignore::ResourceWarning", "-c", FRESH_PROCESS, log, tmp_path / "fresh", ACCOUNT],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": os.environ["PATH"], "PYTHONHASHSEED": "12345"},
    )
    assert done.stdout.split() == [head.digest.hex(), live]

    store.rebuild(OPERATOR, apply_events, progress=lambda _done, _all: None)
    assert graph_digest(store.graph_rows(OPERATOR)) == live
    store.close()
