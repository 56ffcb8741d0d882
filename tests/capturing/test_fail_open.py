"""Work that other programs wait for ends in time and with code 0: also in the midst of a library, or of a crash."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

RUN = """
import ctypes, os, re, sys, time
from weft.surfaces.cli.fail_open import run_open
{work}
run_open("test", work, deadline_s=1.0, otherwise="nothing")
"""
WORK = {
    "a library that lets nobody else run": ("def work(say): re.match('(a+)+$', 'a' * 60 + 'b')", "not enough"),
    "a sleep": ("def work(say): time.sleep(60)", "not enough"),
    "a crash": ("def work(say): ctypes.string_at(0)", "ended with -11"),
    "an end": ("def work(say): os._exit(3)", "ended with 3"),
    "an error": ("def work(say): 1 / 0", "ZeroDivisionError"),
    "an error of many lines": ("def work(say): raise ValueError('a' + chr(10) + 'b')", "ValueError: a b"),
    "an exit": ("def work(say): sys.exit(2)", "SystemExit: 2"),
    "noise": ("def work(say): print('noise'); print('noise', file=sys.stderr); 1 / 0", "ZeroDivisionError"),
}


@pytest.mark.parametrize("name", WORK)
def test_whatever_happens(name: str) -> None:
    work, why = WORK[name]
    begun = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", RUN.format(work=work)], capture_output=True, text=True, timeout=30, check=False
    )
    assert (done.returncode, done.stdout) == (0, "nothing\n")
    assert why in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert time.monotonic() - begun < 5


def test_an_answer_that_was_said_stands_whatever_comes_after() -> None:
    work = "def work(say): say('words ' * 50_000); time.sleep(60)"
    done = subprocess.run(
        [sys.executable, "-c", RUN.format(work=work)], capture_output=True, text=True, timeout=30, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "words " * 50_000 + "\n", "")
