"""A process that creates and revokes tokens: `python -m crash.token_writer FILE NAME SEED`.

Prints a line before it begins something and one when that is done, so that what was under way is known when it dies.
"""

from __future__ import annotations

import os
import random
import sys
import time
from pathlib import Path
from typing import Any

from weft.access import tokens
from weft.access.tokens import Token, TokenBook, mint
from weft.core.clock import SystemClock, to_iso


def _slow_steps(chance: random.Random) -> None:
    """Time before and after every call that touches the disk, so that a kill falls between any two."""

    def slowed(do: Any) -> Any:
        def slow(*given: Any, **named: Any) -> Any:
            time.sleep(chance.random() * 0.002)
            done = do(*given, **named)
            time.sleep(chance.random() * 0.002)
            return done

        return slow

    os.fsync = slowed(os.fsync)
    os.open = slowed(os.open)
    Path.replace = slowed(Path.replace)  # type: ignore[method-assign]
    Path.unlink = slowed(Path.unlink)  # type: ignore[method-assign]
    assert tokens.os.open is os.open


def main(file: str, name: str, seed: str) -> None:
    chance, clock, book = random.Random(seed), SystemClock(), TokenBook(Path(file))
    _slow_steps(chance)
    alive: list[str] = []
    while True:
        now_us = clock.now_us()
        if alive and chance.random() < 0.4:
            which = alive.pop(chance.randrange(len(alive)))
            _say(f"revoking {which}")
            book.revoke(which, now_us)
            _say(f"revoked {which}")
            continue
        token, bearer = mint(Token(id="", hash="", account="crash", agent=name, created=to_iso(now_us)))
        _say(f"creating {bearer}")
        book.add(token, now_us)
        alive.append(token.id)
        _say(f"created {bearer}")


def _say(line: str) -> None:
    os.write(1, f"{line}\n".encode())  # one write: a line arrives whole or not at all


if __name__ == "__main__":
    main(*sys.argv[1:])
