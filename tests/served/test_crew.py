"""Threads on which calls run: when too many wait, one more is refused rather than kept."""

from __future__ import annotations

import asyncio
import threading

import pytest

from weft.surfaces.http.crew import Crew, Crowded


def test_when_too_many_wait_one_more_is_refused_at_once_and_later_ones_are_served() -> None:
    go = threading.Event()

    async def main() -> list[int]:
        crew = Crew(threads=1, most=2)
        begun = [asyncio.ensure_future(crew.run(lambda n=n: (go.wait(10), n)[1])) for n in range(3)]
        await asyncio.sleep(0.05)
        assert crew.waiting == 2
        with pytest.raises(Crowded):
            await crew.run(lambda: 9)
        go.set()
        done = [await each for each in begun]
        await asyncio.sleep(0.05)
        assert crew.waiting == 0
        done.append(await crew.run(lambda: 3))
        crew.close()
        with pytest.raises(Crowded):
            await crew.run(lambda: 9)
        return done

    assert asyncio.run(main()) == [0, 1, 2, 3]
