"""The write-ahead log: long while a read lasts, short again when it has ended, gone when the last one closes."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from tests.concurrency.member import ACCOUNT, OPERATOR, open_store
from tests.concurrency.servant import author, node
from weft.append.append import append
from weft.backends.sqlite.files import connection, wal
from weft.backends.sqlite.files.wal import WalPolicy
from weft.backends.sqlite.store import SqliteStore
from weft.core.clock import SystemClock
from weft.core.types import NOW

RESTART_PAGES = 300
BOUND_BYTES = 2 * RESTART_PAGES * wal.PAGE_BYTES


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    pragmas = dict(connection._PRAGMAS) | {"wal_autocheckpoint": "50"}
    monkeypatch.setattr(connection, "_PRAGMAS", tuple(pragmas.items()))
    monkeypatch.setattr(wal, "WAL_RESTART_PAGES", RESTART_PAGES)
    monkeypatch.setattr(wal, "WAL_BOUND_BYTES", BOUND_BYTES)
    monkeypatch.setattr(wal, "RESTART_WAIT_MS", 20)
    return tmp_path / "store"


def write(store: SqliteStore, first: int, count: int) -> None:
    for number in range(first, first + count):
        append(store, author("main"), [node(number)], clock=SystemClock())


def file_bytes(place: Path) -> int:
    return (place / "accounts" / f"{ACCOUNT}.db-wal").stat().st_size


def test_a_long_read_is_waited_for_once(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[int] = []
    fail = WalPolicy._set_failed_at
    monkeypatch.setattr(WalPolicy, "_set_failed_at", lambda self, logged: (tries.append(logged), fail(self, logged)))
    store = open_store(place)
    write(store, 0, 20)
    reader = apsw.Connection(str(place / "accounts" / f"{ACCOUNT}.db"))
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM event").fetchall()
    write(store, 20, 100)
    reader.execute("COMMIT")
    reader.execute("BEGIN")  # from here on it reads what is in the file now, and stays
    (seen,) = reader.execute("SELECT count(*) FROM event").fetchone()
    write(store, 120, 300)
    assert file_bytes(place) > BOUND_BYTES, "a read that lasts keeps the file"
    assert len(tries) <= 1, "and nobody waits for it again and again"
    other = open_store(place)
    write(other, 420, 20)
    assert len(tries) <= 1, "nor do others who did not try"
    other.close()
    assert reader.execute("SELECT count(*) FROM event").fetchall() == [(seen,)]
    reader.execute("COMMIT")
    write(store, 440, 80)
    assert file_bytes(place) <= BOUND_BYTES, "short again"
    reader.close()
    assert len(store.nodes(OPERATOR, NOW, [f"long:{n}" for n in range(520)])) == 520
    store.close()
    assert not (place / "accounts" / f"{ACCOUNT}.db-wal").exists()


def test_it_never_spoils_a_commit(place: Path) -> None:
    """What was committed stays committed, whatever becomes of the copying."""
    db = apsw.Connection(str(place.parent / "x.db"))
    db.pragma("journal_mode", "wal")
    policy = WalPolicy(db)
    db.close()
    policy.shorten()
    policy.copy()
    assert policy.frames() == (0, 0)
