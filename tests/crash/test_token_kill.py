"""`kill -9` while processes create and revoke tokens: the file is whole, and all that was acknowledged holds.

`WEFT_KILL_ROUNDS=200 pytest tests/crash/test_token_kill.py` runs more rounds.
"""

from __future__ import annotations

import os
import random
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.crash.killing import START_TIMEOUT_S, TESTS
from weft.access.tokens import TokenBook, id_in
from weft.core.clock import SystemClock

ROUNDS = int(os.environ.get("WEFT_KILL_ROUNDS", "12"))
WRITERS = 2
MOST_LINES = 40  # of both, before they are killed
STEP_S = 0.004
DRAFTS = ".tokens.json.*"


def start(file: Path, name: str, seed: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", f"{__name__.rpartition('.')[0]}.token_writer", str(file), name, str(seed)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(TESTS), os.environ.get("PYTHONPATH", "")))},
    )


def run_round(file: Path, number: int, chance: random.Random) -> list[list[str]]:
    """What each writer said before it was killed: at some step, each second time with a draft."""
    children = [start(file, f"writer-{number}-{n}", chance.getrandbits(32)) for n in range(WRITERS)]
    said = dict.fromkeys(children, b"")
    outputs = {child.stdout: child for child in children if child.stdout is not None}
    wanted = chance.randrange(1, MOST_LINES)
    try:
        while sum(out.count(b"\n") for out in said.values()) < wanted:
            ready, _, _ = select.select(list(outputs), [], [], START_TIMEOUT_S)
            assert ready, "the writers say nothing"
            for output in ready:
                block = os.read(output.fileno(), 65_536)
                assert block, "a writer stopped by itself"
                said[outputs[output]] += block
        time.sleep(chance.random() * STEP_S)
        while number % 2 and not any(file.parent.glob(DRAFTS)):
            time.sleep(STEP_S / 10)
    finally:
        for child in children:
            child.kill()
        rest = {child: child.communicate() for child in children}
    assert [errors for _, errors in rest.values() if errors] == []
    return [(out + rest[child][0]).decode().splitlines() for child, out in said.items()]


class Said:
    """What all writers said, of all rounds."""

    def __init__(self) -> None:
        self.created: set[str] = set()  # bearers
        self.revoked: set[str] = set()  # ids
        self.begun: set[str] = set()  # bearers and ids of what may or may not have come to its end

    def take(self, lines: list[str]) -> None:
        for line in lines:
            what, _, which = line.partition(" ")
            {"created": self.created, "revoked": self.revoked}.get(what, self.begun).add(which)


@pytest.mark.timeout(60 + 5 * ROUNDS)
def test_what_was_acknowledged_holds_and_the_file_is_whole(tmp_path: Path) -> None:
    chance, said = random.Random(7), Said()
    file = tmp_path / "tokens.json"
    drafts = 0
    for number in range(ROUNDS):
        for lines in run_round(file, number, chance):
            said.take(lines)
        drafts += len(list(tmp_path.glob(DRAFTS)))
        book = TokenBook(file)
        kept = {token.id: token for token in book.tokens()}  # which reads all of it, or raises
        now_us = SystemClock().now_us()
        admitted = {bearer for bearer in said.created | said.begun if book.admit(bearer, now_us)}
        for bearer in said.created:
            assert id_in(bearer) in kept, "created, and lost"
            if bearer not in admitted:
                assert id_in(bearer) in said.revoked | said.begun, "created, and not admitted"
        assert not {id_in(bearer) for bearer in admitted} & said.revoked, "revoked, and admitted"
        assert set(kept) <= {id_in(bearer) for bearer in said.created | said.begun}
    assert len(said.created) > ROUNDS, "something was created"
    assert said.revoked, "something was revoked"
    assert drafts, "some died with a file half made"
    assert len(list(tmp_path.glob(DRAFTS))) <= WRITERS, "what they left was cleared away"
