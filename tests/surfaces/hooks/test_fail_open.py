"""Work that other programs wait for ends in time and with code 0: also in the midst of a library, or of a crash."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.waiting import wait_for

RUN = """
import ctypes, os, re, sys, time
from weft.surfaces.cli.fail_open import run_open
{work}
run_open("test", work, deadline_s={deadline_s}, otherwise="nothing")
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


def run(work: str, deadline_s: float = 30.0) -> subprocess.CompletedProcess[str]:
    """Its output is read to the end, so that whatever goes on holds none of it."""
    return subprocess.run(
        [sys.executable, "-c", RUN.format(work=work, deadline_s=deadline_s)],
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )


@pytest.mark.parametrize("name", WORK)
def test_whatever_happens(name: str) -> None:
    work, why = WORK[name]
    done = run(work, 1.0 if why == "not enough" else 30.0)
    assert (done.returncode, done.stdout) == (0, "nothing\n")
    assert why in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_an_answer_that_was_said_stands_whatever_comes_after() -> None:
    done = run("def work(say): say('words ' * 50_000); time.sleep(60)")
    assert (done.returncode, done.stdout, done.stderr) == (0, "words " * 50_000 + "\n", "")


def test_nobody_waits_for_what_comes_after_the_answer(tmp_path: Path) -> None:
    work = f"""
def work(say):
    say(str(os.getpid()))
    while not os.path.exists({str(tmp_path / "go")!r}):
        time.sleep(0.01)
    open({str(tmp_path / "after")!r}, "w").close()
"""
    done = run(work)
    assert (done.returncode, done.stderr) == (0, "")
    assert runs(done.stdout.strip())
    (tmp_path / "go").touch()
    assert ends(done.stdout.strip())
    assert (tmp_path / "after").exists()


def test_what_comes_after_the_answer_ends_shortly_after_the_deadline() -> None:
    done = run("def work(say): say(str(os.getpid())); time.sleep(100)", 3.0)
    assert (done.returncode, done.stderr) == (0, "")
    assert ends(done.stdout.strip())


def test_a_failure_after_the_answer_is_written_nowhere(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    done = run(f"def work(say): say(str(os.getpid())); kept = [open({str(kept)!r}, 'wb') for _ in range(9)]; 1 / 0")
    assert (done.returncode, done.stderr) == (0, "")
    assert ends(done.stdout.strip())
    assert kept.read_bytes() == b""


def runs(process: str) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def ends(process: str) -> bool:
    """Whether a process is gone within a while."""
    return wait_for(lambda: not runs(process), "end")
