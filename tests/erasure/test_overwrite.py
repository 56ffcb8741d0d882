"""Whatever was done to a database, overwriting leaves its rows as they are and nothing of what was deleted."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from weft.backends.sqlite.scrub.overwrite import Overwriter

ALPHABET = "abcdefghijklmnopqrstuvwxyz"


def marker(number: int) -> str:
    """A word that holds no other."""
    return f"<{number:06d}>"


class World:
    """A table and an index with rows of all sizes, changed at random; remembers what was ever in it."""

    def __init__(self, path: Path, secure_delete: str, seed: int) -> None:
        self.db = apsw.Connection(str(path))
        self.db.pragma("journal_mode", "wal")
        self.db.pragma("secure_delete", secure_delete)
        self.db.execute("CREATE TABLE long(id INTEGER PRIMARY KEY, body TEXT)")
        self.db.execute("CREATE TABLE short(word TEXT, id INTEGER, PRIMARY KEY(word, id)) WITHOUT ROWID")
        self.db.execute("CREATE INDEX by_body ON long(body)")
        self.kept: dict[int, str] = {}
        self.gone: set[str] = set()
        self._chance, self._next = random.Random(seed), 0

    def _body(self) -> str:
        self._next += 1
        letters = "".join(self._chance.choices(ALPHABET, k=self._chance.choice((3, 40, 900, 4_000, 4_050, 9_000))))
        return f"{letters[:5]}{marker(self._next)}{letters}{marker(self._next)}"

    def step(self) -> None:
        chosen = self._chance.choice(list(self.kept)) if self.kept else None
        if chosen is None or self._chance.random() < 0.5:
            body = self._body()
            (number,) = self.db.execute("INSERT INTO long(body) VALUES (?) RETURNING id", (body,)).fetchone()
            self.db.execute("INSERT INTO short VALUES (?, ?)", (body[:300], number))
            self.kept[number] = body
            return
        before = self.kept.pop(chosen)
        self.gone.add(before[5:13])
        self.db.execute("DELETE FROM short WHERE word = ? AND id = ?", (before[:300], chosen))
        if self._chance.random() < 0.5:
            self.db.execute("DELETE FROM long WHERE id = ?", (chosen,))
            return
        body = self._body()
        self.db.execute("UPDATE long SET body = ? WHERE id = ?", (body, chosen))
        self.db.execute("INSERT INTO short VALUES (?, ?)", (body[:300], chosen))
        self.kept[chosen] = body

    def steps(self, transactions: int) -> None:
        for _ in range(transactions):
            self.db.execute("BEGIN")
            for _ in range(self._chance.randint(1, 30)):
                self.step()
            self.db.execute("COMMIT")


def overwrite(path: Path, seconds: float) -> None:
    with Overwriter(path, None) as work:
        assert work.empty_log()
        work.find()
        while True:
            assert work.begin()
            work.clean(seconds)
            work.sync()
            if not work.left:
                break
        assert work.empty_log()


@pytest.fixture(params=["off", "fast", "on"])
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path / "some.db", request.param, seed=len(request.param))
    yield made
    made.db.close()


def check_rows(world: World) -> None:
    assert dict(world.db.execute("SELECT id, body FROM long").fetchall()) == world.kept
    assert dict(world.db.execute("SELECT id, word FROM short").fetchall()) == {
        n: b[:300] for n, b in world.kept.items()
    }
    assert world.db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def left_of(world: World, path: Path) -> set[str]:
    data = path.read_bytes() + Path(f"{path}-wal").read_bytes()
    return {word.decode() for word in re.findall(rb"<\d{6}>", data)} & world.gone


def test_nothing_deleted_is_left_and_no_row_changes(world: World, tmp_path: Path) -> None:
    path = tmp_path / "some.db"
    for _ in range(4):  # what was overwritten is used again
        world.steps(40)
        assert left_of(world, path)
        overwrite(path, seconds=0.001)
        assert left_of(world, path) == set()
        check_rows(world)


def test_a_connection_that_read_pages_before_does_not_write_them_back(world: World, tmp_path: Path) -> None:
    world.steps(60)
    other = apsw.Connection(str(tmp_path / "some.db"))
    other.pragma("secure_delete", "fast")
    with Overwriter(tmp_path / "some.db", None) as work:
        assert work.empty_log()
        work.find()
        assert work.begin()
        other.execute("SELECT sum(length(body)), (SELECT count(word) FROM short) FROM long").fetchall()  # in its cache
        work.clean(60.0)
    for number, body in list(world.kept.items())[:50]:
        other.execute("UPDATE long SET body = ? WHERE id = ?", (body.upper(), number))
        other.execute("UPDATE long SET body = ? WHERE id = ?", (body, number))
    assert left_of(world, tmp_path / "some.db") == set()
    other.close()
    check_rows(world)


def test_it_waits_for_whoever_reads_from_the_log(world: World, tmp_path: Path) -> None:
    world.steps(5)
    reader = apsw.Connection(str(tmp_path / "some.db"))
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM long").fetchall()
    world.steps(5)
    with Overwriter(tmp_path / "some.db", None) as work:
        assert not work.begin()
        reader.execute("COMMIT")
        assert work.begin()
        work.clean(1.0)
    reader.close()
    check_rows(world)
