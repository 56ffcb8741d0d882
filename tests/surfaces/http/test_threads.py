"""Threads on which calls run: when too many wait, one more is refused rather than kept."""

from __future__ import annotations

import asyncio
import os
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest
from starlette.requests import Request

from weft.access.tokens import book_of
from weft.runtime.settings.load import load_settings
from weft.surfaces.callers import Callers
from weft.surfaces.fair_threads import FairThreads
from weft.surfaces.http.health import Drain, Health
from weft.surfaces.http.threads import CallThreads, TooManyCalls


def test_when_too_many_wait_one_more_is_refused_at_once_and_later_ones_are_served() -> None:
    go = threading.Event()

    async def main() -> list[int]:
        crew = CallThreads(threads=1, most=2)
        begun = [asyncio.ensure_future(crew.run("ann", lambda n=n: (go.wait(10), n)[1])) for n in range(3)]
        await asyncio.sleep(0.05)
        assert crew.waiting == 2
        with pytest.raises(TooManyCalls):
            await crew.run("ann", lambda: 9)
        go.set()
        done = [await each for each in begun]
        await asyncio.sleep(0.05)
        assert crew.waiting == 0
        done.append(await crew.run("ann", lambda: 3))
        crew.close()
        with pytest.raises(TooManyCalls):
            await crew.run("ann", lambda: 9)
        return done

    assert asyncio.run(main()) == [0, 1, 2, 3]


def test_one_caller_never_has_all_threads_and_its_queue_is_its_own() -> None:
    go = threading.Event()

    async def main() -> None:
        crew = CallThreads(threads=4, each=3)
        greedy = [asyncio.ensure_future(crew.run("greedy", lambda: go.wait(10))) for _ in range(5)]
        await asyncio.sleep(0.05)
        assert (crew.taken, crew.waiting) == (5, 3)
        with pytest.raises(TooManyCalls):
            await crew.run("greedy", lambda: True)
        async with asyncio.timeout(5):
            assert await crew.run("modest", lambda: "served") == "served"
        go.set()
        assert all([await each for each in greedy])
        crew.close()

    asyncio.run(main())


def test_callers_take_turns() -> None:
    threads, go, order = FairThreads(1, name="turns"), threading.Event(), list[str]()
    first = threads.submit("ann", lambda: go.wait(10))
    waiting = [threads.submit(whose, lambda whose=whose: order.append(whose)) for whose in ("ann", "ann", "ann", "ben")]
    dropped = threads.submit("ann", lambda: order.append("dropped"))
    assert dropped.cancel()
    go.set()
    for each in (first, *waiting):
        each.result(10)
    threads.close()
    assert order == ["ann", "ben", "ann", "ann"]
    with pytest.raises(RuntimeError):
        threads.submit("ann", lambda: None)


def test_what_a_caller_does_wrong_is_its_own_trouble() -> None:
    threads = FairThreads(1, name="wrong")
    with pytest.raises(ZeroDivisionError):
        threads.submit("ann", lambda: 1 / 0).result(10)
    assert threads.submit("ann", lambda: 7).result(10) == 7
    threads.close()


@pytest.fixture
def health(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Health:
    for name, value in {"WEFT_STORE": f"sqlite://{tmp_path / 'store'}", "WEFT_EMBEDDER": "none"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    return Health(Callers(), book_of(load_settings(tmp_path)), CallThreads(threads=1), Drain())


def ready(health: Health) -> tuple[int, bytes]:
    answer = asyncio.run(health.ready(Request({"type": "http", "headers": []})))
    return answer.status_code, bytes(answer.body)


def test_whether_it_is_ready_waits_for_nobodys_calls(health: Health) -> None:
    go = threading.Event()

    async def main() -> int:
        crew = health._crew
        calls = [asyncio.ensure_future(crew.run("greedy", lambda: go.wait(20))) for _ in range(20)]
        await asyncio.sleep(0.05)
        async with asyncio.timeout(5):
            answer = await health.ready(Request({"type": "http", "headers": []}))
        go.set()
        await asyncio.gather(*calls)
        return answer.status_code

    assert asyncio.run(main()) == 200
    health._crew.close()
    health.close()


def test_a_disk_without_room_is_not_ready(health: Health, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "store").mkdir(exist_ok=True)
    assert ready(health)[0] == 200
    health._checked_s = float("-inf")
    monkeypatch.setattr(os, "statvfs", lambda path: SimpleNamespace(f_bavail=3, f_frsize=4_096))
    status, said = ready(health)
    assert status == 503
    assert b"store: disk_full" in said
    health.close()
