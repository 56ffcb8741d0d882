"""Making a store and upgrading it while others are at work."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from weft.append import append
from weft.backends.sqlite.schema import SCHEMA_VERSION
from weft.errors import SchemaMismatch
from weft.instants import SystemClock
from weft.types import NOW

from .fleet import Hand
from .member import ACCOUNT, OPERATOR, open_store
from .servant import author, node

ROUNDS = 25


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
