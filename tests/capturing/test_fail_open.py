"""Work that other programs wait for ends in time and with code 0: also in the midst of a library, or of a crash."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

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


def test_nobody_waits_for_what_comes_after_the_answer(tmp_path: Path) -> None:
    work = f"""
def work(say):
    say("words")
    time.sleep(0.7)
    open({str(tmp_path / "after")!r}, "w").write(str(os.getpid()))
    time.sleep(60)
"""
    run = RUN.format(work=work).replace("run_open(", "print(time.monotonic(), file=sys.stderr, flush=True); run_open(")
    done = subprocess.run([sys.executable, "-c", run], capture_output=True, text=True, timeout=30, check=False)
    ended = time.monotonic()  # pipes are closed too: nothing that goes on holds them
    assert (done.returncode, done.stdout) == (0, "words\n")
    assert ended - float(done.stderr) < 0.6
    until = ended + 5
    while not (tmp_path / "after").exists() and time.monotonic() < until:
        time.sleep(0.01)
    time.sleep(0.05)
    child = Path("/proc") / (tmp_path / "after").read_text()
    assert child.exists()
    while _runs(child) and time.monotonic() < until:
        time.sleep(0.02)
    assert not _runs(child)  # it ended by itself, shortly after the deadline


def _runs(process: Path) -> bool:
    try:
        return (process / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_failure_after_the_answer_is_written_nowhere(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    work = f"def work(say): say('words'); kept = [open({str(kept)!r}, 'wb') for _ in range(9)]; 1 / 0"
    done = subprocess.run(
        [sys.executable, "-c", RUN.format(work=work)], capture_output=True, text=True, timeout=30, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "words\n", "")
    time.sleep(0.3)
    assert kept.read_bytes() == b""
