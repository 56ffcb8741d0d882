"""Erasing on a real directory, whole: beside other processes, killed in the middle, and when the power goes."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import apsw

from tests.crash.faulty_vfs import PowerLossVfs
from tests.erasure.byte_search import search
from tests.erasure.planting import SUBJECT, erase, point_elsewhere, store_at, subject_texts, sweep
from weft.backends.sqlite.store import SqliteStore
from weft.core.errors import WeftError
from weft.core.types import NOW
from weft.log.verify import verify
from weft.testing.viewers import OPERATOR

KILLS = 4
CUTS = 8


def beside(path: Path, what: str, who: str = "x") -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.erasure.companion", str(path), what, who]
    started = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert started.stdout is not None
    assert started.stdout.readline() == "begun\n"
    return started


def told(started: subprocess.Popen[str]) -> list[str]:
    out, _ = started.communicate(timeout=60)
    assert started.returncode == 0
    answer: list[str] = json.loads(out)
    return answer


def check_sound(store: SqliteStore) -> None:
    assert store.check(OPERATOR) == ()
    assert verify(store, OPERATOR).problem is None
    assert len(store.nodes(OPERATOR, NOW, [f"n{n}" for n in range(240)])) == 240
    assert store.nodes(OPERATOR, NOW, SUBJECT) == ()


def test_nothing_is_left_while_other_processes_read_and_write(filled: Path, tmp_path: Path) -> None:
    path = tmp_path / "store"
    shutil.copytree(filled, path)
    others = [beside(path, "write", "ann"), beside(path, "write", "bob"), beside(path, "read")]
    store = store_at(path)
    time.sleep(0.3)
    done = erase(store, SUBJECT)
    assert done.nodes == len(SUBJECT)
    assert done.notes == ()
    assert search(path, subject_texts()) == []
    time.sleep(0.3)  # nobody brings back what it had in its caches
    written, also_written, wrong = (told(each) for each in others)
    assert wrong == []
    assert len(written) > 10
    assert search(path, subject_texts()) == []
    assert len(store.nodes(OPERATOR, NOW, written + also_written)) == len(written) + len(also_written)
    check_sound(store)


def test_killed_at_any_moment_the_next_one_finishes(filled: Path, tmp_path: Path) -> None:
    chance = random.Random(6)
    for number in range(KILLS):
        path = tmp_path / f"store-{number}"
        shutil.copytree(filled, path)
        started = beside(path, "erase")
        time.sleep(chance.random() * 0.3)
        started.kill()
        started.communicate()
        store = store_at(path)
        erase(store, SUBJECT)
        sweep(store)
        assert search(path, subject_texts()) == []
        check_sound(store)
        store.close()


def test_power_that_goes_in_a_sweep_costs_no_row(filled: Path, tmp_path: Path) -> None:
    chance, cut = random.Random(7), 0
    for number in range(CUTS):
        path = tmp_path / f"store-{number}"
        shutil.copytree(filled, path)
        first = store_at(path)
        point_elsewhere(first, SUBJECT)
        first.close()
        accounts = path / "accounts"
        with PowerLossVfs(lose_at=chance.randrange(1, 900)) as disk:
            disk.load(accounts)
            store = store_at(path, vfs=disk.name)
            try:
                sweep(store)
            except WeftError:
                cut += 1
            with suppress(apsw.Error):
                store.close()
            for file in accounts.iterdir():
                file.unlink()
            disk.restore(accounts, chance=chance, kept=chance.choice((0.0, 0.5, 1.0)))
        after = store_at(path)
        assert after.check(OPERATOR) == ()
        assert len(after.nodes(OPERATOR, NOW, [f"n{n}" for n in range(240)])) == 240
        assert sweep(after) == ()
        assert search(path, subject_texts()) == []
        after.close()
        shutil.rmtree(path)
    assert cut > CUTS // 3
