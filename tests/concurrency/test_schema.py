"""Making a store and upgrading it while others are at work."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import apsw
import pytest

from tests.concurrency.fleet import Hand
from tests.concurrency.member import ACCOUNT, OPERATOR, open_store
from tests.concurrency.servant import author, node
from weft.append.append import append
from weft.backends.sqlite.schema import SCHEMA_VERSION
from weft.core.clock import SystemClock
from weft.core.errors import SchemaMismatch
from weft.core.types import NOW, Find
from weft.graph.apply_moves import apply_events

ROUNDS = 25
BY_WARD = "SELECT name FROM sqlite_schema WHERE type = 'index' AND name GLOB '*_node_ward'"


@pytest.mark.parametrize("turns", ["flock", "none"])
def test_processes_make_and_read_one_store_at_once(turns: str, tmp_path: Path) -> None:
    with Hand(tmp_path) as one, Hand(tmp_path) as two, Hand(tmp_path) as three, Hand(tmp_path) as reader:
        writers = (one, two, three)
        for hand in (*writers, reader):
            hand.do("take_turns", by=turns)
        for number in range(ROUNDS):
            reader.begin("look_until", name=f"store-{number}", pos=3)
            for name, hand in zip("abc", writers, strict=True):
                hand.begin("create", name=f"store-{number}", session=name)
            told = [hand.result() for hand in writers]
            assert sorted(each.get("answer", 0) for each in told) == [1, 2, 3], told
            assert reader.result() == {"answer": 3}


def test_an_old_process_meets_a_newer_schema(tmp_path: Path) -> None:
    old = open_store(tmp_path / "store")
    append(old, author("main"), [node(1)], clock=SystemClock())
    newer = apsw.Connection(str(tmp_path / "store" / "accounts" / f"{ACCOUNT}.db"))
    newer.pragma("user_version", SCHEMA_VERSION + 1)
    both = rf"has schema {SCHEMA_VERSION + 1}, this weft knows {SCHEMA_VERSION} \(upgrade weft\)"
    with pytest.raises(SchemaMismatch, match=both):
        append(old, author("main"), [node(2)], clock=SystemClock())
    # What it had open it may still read: an upgrade adds, it does not take away.
    assert [each.id for each in old.nodes(OPERATOR, NOW, ("long:1", "long:2"))] == ["long:1"]
    late = open_store(tmp_path / "store")
    with pytest.raises(SchemaMismatch, match=both):
        late.nodes(OPERATOR, NOW, ("long:1",))
    newer.pragma("user_version", SCHEMA_VERSION)
    append(old, author("main"), [node(2)], clock=SystemClock())
    assert old.head(OPERATOR).pos == 2, "the refused write left nothing"
    newer.close()
    late.close()
    old.close()


def test_a_file_without_a_later_index_is_read_and_gets_it_with_the_next_write(tmp_path: Path) -> None:
    with closing(open_store(tmp_path / "store")) as store:
        append(store, author("main"), [node(1), node(2)], clock=SystemClock())
        found = [each.id for each in store.find(OPERATOR, NOW, Find(), limit=9).nodes]
    assert len(found) == 2
    file = str(tmp_path / "store" / "accounts" / f"{ACCOUNT}.db")
    with closing(apsw.Connection(file)) as db:
        ((name,),) = db.execute(BY_WARD).fetchall()
        db.execute(f"DROP INDEX {name}")
    with closing(open_store(tmp_path / "store")) as store, closing(apsw.Connection(file)) as db:
        assert [each.id for each in store.find(OPERATOR, NOW, Find(), limit=9).nodes] == found
        assert not db.execute(BY_WARD).fetchall(), "to read is not to write"
        append(store, author("main"), [node(3)], clock=SystemClock())
        assert db.execute(BY_WARD).fetchall() == [(name,)]
        assert [each.id for each in store.find(OPERATOR, NOW, Find(), limit=9).nodes][1:] == found
    with closing(open_store(tmp_path / "store")) as store:
        store.rebuild(OPERATOR, apply_events, progress=lambda done, total: None)
        append(store, author("main"), [node(4)], clock=SystemClock())
        with closing(apsw.Connection(file)) as db:
            assert len(db.execute(BY_WARD).fetchall()) == 1, "a rebuild makes it again, and once"


def test_a_lost_table_can_be_rebuilt_where_the_later_index_is_missing_too(tmp_path: Path) -> None:
    with closing(open_store(tmp_path / "store")) as store:
        append(store, author("main"), [node(1)], clock=SystemClock())
    with closing(apsw.Connection(str(tmp_path / "store" / "accounts" / f"{ACCOUNT}.db"))) as db:
        db.execute("DROP TABLE node")
    with closing(open_store(tmp_path / "store")) as store:
        store.rebuild(OPERATOR, apply_events, progress=lambda done, total: None)
        assert [each.id for each in store.find(OPERATOR, NOW, Find(), limit=9).nodes] == ["long:1"]
