"""`kill -9` between the outbox and the store: every write that was acknowledged is there once, and in order.

`WEFT_KILL_ROUNDS=200 pytest tests/crash/test_outbox_kill.py` runs more rounds.
"""

from __future__ import annotations

import os
import random
import select
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.crash.killing import START_TIMEOUT_S, TESTS
from tests.crash.outbox_writer import open_at
from tests.crash.workload import OPERATOR
from weft.backends.sqlite.files.directory import ACCOUNTS
from weft.backends.sqlite.files.write_lock import WriteQueue
from weft.log.kinds import payload_of
from weft.log.verify import verify
from weft.upkeep.pending import DeliverPending, deliver_pending

ROUNDS = int(os.environ.get("WEFT_KILL_ROUNDS", "15"))
LIVES = 5  # rounds that one store goes through before a new one is begun
MOST_RUNNING_S = 0.4


def start(directory: Path, session: str, seed: int) -> subprocess.Popen[bytes]:
    module = f"{__name__.rpartition('.')[0]}.outbox_writer"
    return subprocess.Popen(
        [sys.executable, "-m", module, str(directory), session, str(seed)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(TESTS), os.environ.get("PYTHONPATH", "")))},
    )


@contextmanager
def now_free_now_held(directory: Path, seed: int) -> Iterator[None]:
    """Another writer takes the store's lock for longer than anybody waits, again and again."""
    chance, over = random.Random(seed), threading.Event()
    accounts = directory / "store" / ACCOUNTS
    accounts.mkdir(parents=True, exist_ok=True)
    (directory / "store" / "weft-store.json").touch()

    def hold() -> None:
        while not over.is_set():
            with WriteQueue(accounts, "crash").turn():
                over.wait(chance.random() * 0.15)
            over.wait(chance.random() * 0.05)

    holder = threading.Thread(target=hold)
    holder.start()
    try:
        yield
    finally:
        over.set()
        holder.join()


def run_round(directory: Path, session: str, chance: random.Random) -> list[tuple[int, str]]:
    """What a writer acknowledged before it was killed."""
    with now_free_now_held(directory, chance.getrandbits(32)):
        child = start(directory, session, chance.getrandbits(32))
        try:
            assert child.stdout is not None
            select.select([child.stdout], [], [], START_TIMEOUT_S)
            time.sleep(chance.random() * MOST_RUNNING_S)
            if child.poll() is not None:
                raise AssertionError(f"the writer stopped by itself: {child.communicate()[1].decode()}")
        finally:
            child.kill()
            out, errors = child.communicate()
    assert not errors, errors.decode()
    lines = [line.split() for line in out.decode().splitlines()]
    return [(int(number), status) for number, status in lines]


def written(directory: Path) -> dict[str, list[int]]:
    """The numbers of the writes that are in the log, by session, in the order of the log."""
    with open_at(directory, "looker") as memory:
        done = deliver_pending(memory.ctx, DeliverPending())
        assert (done.left, done.refused) == (0, ())
        store = memory.ctx.store
        assert verify(store, OPERATOR).problem is None
        assert list(memory.ctx.outbox.entries()) == []  # type: ignore[union-attr]
        found: dict[str, list[int]] = {}
        for _, events in store.log(OPERATOR, after=0, limit=10_000):
            for event in events:
                found.setdefault(event.session, []).append(int(payload_of(event).id.partition(":")[2]))
        return found


@pytest.mark.timeout(60 + 8 * ROUNDS)
def test_what_was_acknowledged_is_there_once_and_in_order(tmp_path: Path) -> None:
    chance = random.Random(7)
    waited = 0
    acknowledged: dict[str, list[tuple[int, str]]] = {}
    for number in range(ROUNDS):
        if number % LIVES == 0:
            directory, acknowledged = tmp_path / f"life-{number}", {}
            directory.mkdir()
        session = f"talk-{number}"
        acknowledged[session] = run_round(directory, session, chance)
        if chance.random() < 0.5:
            continue  # the next writer finds what this one left
        there = written(directory)
        for each, said in acknowledged.items():
            numbers = there.get(each, [])
            assert numbers == sorted(set(numbers)), f"{each}: twice, or out of order"
            assert {n for n, _ in said} <= set(numbers), f"{each}: acknowledged and lost"
            assert len(numbers) - len(said) <= 1, "one write was under way"
        waited += sum(status == "pending_retry" for said in acknowledged.values() for _, status in said)
    assert waited > ROUNDS // 3, "some of them went through the outbox"
