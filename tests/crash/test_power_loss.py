"""The power goes at random moments, and what was not synced is gone, whole or sector by sector."""

from __future__ import annotations

import random
import shutil
import time
from pathlib import Path

import apsw
import pytest

from tests.crash.faulty_vfs import PowerLossVfs
from tests.crash.workload import (
    START_US,
    FixedClock,
    all_events,
    assert_equals_rebuild,
    assert_sound,
    database,
    fact,
    make_small,
    opened,
    remembered,
    run_rebuild,
    state_of,
    writer,
)
from weft.append.append import AppendOptions, append
from weft.backends.sqlite.files import connection
from weft.backends.sqlite.files.directory import ACCOUNTS, MARKER
from weft.core.errors import WeftError
from weft.core.ports import Store
from weft.log.draft import Draft
from weft.log.kinds import graph

ROUNDS = 300
BUDGET_S = 18.0
LIVES = 6  # power cuts that one store goes through before a new one is begun
MOST_CHANGES = 700
KEPT = (0.0, 0.5, 0.9, 1.0)  # shares of unsynced sectors that reach the platter all the same
WORDS = ("warp", "weft", "ctx", "shuttle", "heddle", "reed", "thread", "selvedge")


def _write_until_dark(store: Store, chance: random.Random, acknowledged: list[str]) -> None:
    """Appends, and now and then rebuilds, until the disk is gone."""
    clock = FixedClock(START_US)
    for number in range(10_000):
        what = chance.random()
        if what < 0.03:
            run_rebuild(store)
            continue
        key = f"{chance.getrandbits(48):x}"
        drafts: list[Draft] = [remembered(f"memory:{key}", " ".join(chance.choices(WORDS, k=chance.choice((5, 400)))))]
        if what > 0.7:
            drafts.append(fact(f"Ada lives in {chance.choice(WORDS)}", node=f"fact:{key}"))
        if what > 0.9:
            drafts.append(Draft(kind="graph.deleted", payload=graph.Deleted(nodes=(f"memory:{key}",))))
        clock.now += 1_000
        done = append(
            store, writer(f"talk-{number % 3}"), drafts, clock=clock, options=AppendOptions(request_id=f"r-{key}")
        )
        acknowledged.extend(event.citation for event in done.events)
    raise AssertionError("the power never went")


def _one_life(place: Path, chance: random.Random, acknowledged: list[str], *, lying: bool = False) -> None:
    """Runs until the power goes, then puts what the platter holds in the place of what was."""
    live = place / "live"
    accounts = database(live).parent
    with PowerLossVfs(lose_at=chance.randrange(1, MOST_CHANGES), lying=lying) as disk:
        if accounts.exists():
            disk.load(accounts)
        with pytest.raises(WeftError), opened(live, vfs=disk.name) as store:
            _write_until_dark(store, chance, acknowledged)
        assert disk.lost
        shutil.rmtree(accounts)
        accounts.mkdir()
        disk.restore(accounts, chance=chance, kept=chance.choice(KEPT))


def _lost(place: Path, acknowledged: list[str]) -> set[str]:
    with opened(place / "live") as store:
        return set(acknowledged) - {event.citation for event in all_events(store)}


@pytest.mark.parametrize("seed", range(3))
def test_nothing_acknowledged_is_lost(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_small(monkeypatch)
    chance = random.Random(seed)
    until = time.process_time() + BUDGET_S / 3
    rounds = 0
    while rounds < ROUNDS / 3 and time.process_time() < until:
        place = tmp_path / f"store-{rounds}"
        acknowledged: list[str] = []
        for _ in range(LIVES):
            _one_life(place, chance, acknowledged)
            rounds += 1
            assert not _lost(place, acknowledged)
            with opened(place / "live") as store:
                assert_sound(store)
                assert_equals_rebuild(store)
        shutil.rmtree(place)
    assert rounds >= LIVES


def test_a_disk_that_lies_about_syncs_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: without fsync the same rounds do lose what was acknowledged, or the file with it."""
    make_small(monkeypatch)
    chance = random.Random(0)
    for number in range(30):
        place, acknowledged = tmp_path / f"store-{number}", list[str]()
        _one_life(place, chance, acknowledged, lying=True)
        try:
            if _lost(place, acknowledged):
                return
        except WeftError:
            return
    pytest.fail("thirty power cuts without a single sync, and nothing was lost")


def test_syncing_less_than_fully_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control for `synchronous=FULL`: one step less, and commits that were acknowledged go missing."""
    make_small(monkeypatch)

    def less(db: apsw.Connection) -> None:
        for name, value in connection._PRAGMAS:
            db.pragma(name, "normal" if name == "synchronous" else value)

    monkeypatch.setattr(connection, "_configure", less)
    chance = random.Random(1)
    for number in range(60):
        place, acknowledged = tmp_path / f"store-{number}", list[str]()
        _one_life(place, chance, acknowledged)
        if _lost(place, acknowledged):
            return
    pytest.fail("sixty power cuts with half the syncs, and nothing was lost")


def test_every_change_of_a_small_script_can_be_the_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Making the store and its first memories, cut at each change in turn, with nothing unsynced surviving."""
    make_small(monkeypatch)
    for lose_at in range(1, 400):
        live = tmp_path / f"store-{lose_at}"
        acknowledged: list[str] = []
        with PowerLossVfs(lose_at=lose_at) as disk:
            try:
                with opened(live, vfs=disk.name) as store:
                    for number in range(3):
                        drafts = [remembered(f"memory:{number}", "the warp is strung first")]
                        done = append(store, writer(), drafts, clock=FixedClock(START_US + number))
                        acknowledged.extend(event.citation for event in done.events)
            except WeftError:
                pass
            clean = not disk.lost
            after = tmp_path / f"after-{lose_at}" / "live"
            (after / ACCOUNTS).mkdir(parents=True)
            shutil.copy(live / MARKER, after / MARKER)
            disk.restore(after / ACCOUNTS, chance=random.Random(lose_at), kept=0.0)
        assert not _lost(after.parent, acknowledged)
        with opened(after) as store:
            assert_sound(store)
            assert state_of(store).pos in (len(acknowledged), len(acknowledged) + 1)
            append(store, writer(), [remembered("memory:next", "life goes on")], clock=FixedClock(START_US + 9))
            assert_sound(store)
        if clean:
            assert len(acknowledged) == 3
            return
    pytest.fail("the script never ran clean")
