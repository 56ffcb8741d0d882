"""Work that other programs wait for: it ends in time and without an error, whatever happens.

A child process does the work. So the deadline holds inside a lock, a library or a crash: the child is killed, and this
process writes the reason to standard error and exits with 0. Written data is as safe as in a power cut. The answer is
printed as soon as it is known; the child finishes the rest, such as the audit, by itself, in a session of its own, with
none of the host's descriptors, until shortly after the deadline at most.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import time
from collections.abc import Callable
from typing import Any, Final, NoReturn

import click

from weft.surfaces.hooks.deadline import DEADLINE, MAX_DEADLINE_S, give_up_at, seconds_of

Say = Callable[[str], None]
Work = Callable[[Say], None]

_MARK: Final = b"\x00"  # before the reason of a failure; no answer begins with it
_LAST_S: Final = 1.0  # after the deadline, for a child that nobody waits for
_PAUSE_S: Final = 0.002


class OpenCommand(click.Command):
    """A command that exits with 0 also for a wrong command line: hosts take other codes for a refusal."""

    def make_context(self, *given: Any, **more: Any) -> click.Context:
        try:
            return super().make_context(*given, **more)
        except click.UsageError as problem:
            click.echo(f"weft {self.name}: {problem.format_message()}", err=True)
            raise click.exceptions.Exit(0) from problem


def _seconds(ctx: click.Context, parameter: click.Parameter, written: str) -> float:
    """`8s`, `500ms`, `2m` or `8` as seconds. Raises click.BadParameter for anything else."""
    value = seconds_of(written)
    if value is None:
        raise click.BadParameter(f"{written!r} is not a duration: write 8s or 500ms, at most {MAX_DEADLINE_S:g}s")
    return value


deadline_option = click.option(
    "--deadline",
    default=DEADLINE,
    show_default=True,
    metavar="TIME",
    callback=_seconds,
    help="when to give up: 8s, 500ms",
)


def run_open(name: str, work: Work, *, deadline_s: float, otherwise: str) -> NoReturn:
    """Runs the work, which gives one answer; prints that, or `otherwise` and the reason. Exits with 0."""
    until = give_up_at(deadline_s)
    answer, why = _in_child(work, until, deadline_s) if hasattr(os, "fork") else _in_thread(work, deadline_s)
    with contextlib.suppress(OSError):  # nobody listens any more
        if why:
            click.echo(f"weft {name}: {' '.join(why.split())}", err=True)
        click.echo(otherwise if answer is None else answer, nl=bool(otherwise if answer is None else answer))
        sys.stdout.flush()
    with contextlib.suppress(OSError):
        sys.stderr.flush()
    os._exit(0)  # what is left to be written at the end of a process could still fail


def _in_child(work: Work, until: float, deadline_s: float) -> tuple[str | None, str]:
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read_end)
        _child(work, write_end, deadline_s)
    os.close(write_end)
    said = _read(read_end, until)
    os.close(read_end)
    if said is None:
        _ended(child, 0.0)
        return None, f"no answer: {deadline_s:g} s were not enough"
    if said.startswith(_MARK):
        return None, said[1:].decode("utf-8", "replace")
    if not said and (ended := _ended(child, until)) != 0:  # else nobody waits for it: whoever adopts it, buries it
        return None, f"no answer: the process ended with {ended}"
    return said.decode("utf-8", "replace"), ""


def _child(work: Work, write_end: int, deadline_s: float) -> NoReturn:
    """Writes the answer into the pipe as soon as it is known, then finishes the rest, such as the audit."""
    try:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGALRM})
        signal.setitimer(signal.ITIMER_REAL, deadline_s + _LAST_S)  # ends it, if nobody is left to do so
        os.setsid()
        nowhere = os.open(os.devnull, os.O_RDWR)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        pipe = os.fdopen(write_end, "wb")

        def say(answer: str) -> None:
            if not pipe.closed:  # only the first is told
                with contextlib.suppress(OSError), pipe:
                    pipe.write(answer.encode("utf-8", "replace"))
                os.dup2(nowhere, 0)

        if why := _tried(work, say):
            say(f"\x00{why}")
    finally:
        os._exit(0)


def _tried(work: Work, say: Say) -> str:
    """Runs the work; returns the reason if it failed."""
    from weft.core.errors import WeftError

    try:
        work(say)
    except WeftError as problem:
        return f"{problem.message}; {problem.hint}" if problem.hint else problem.message
    except BaseException as problem:  # noqa: BLE001 - the host goes on, whatever it is
        return f"{type(problem).__name__}: {problem}"
    return ""


def _read(read_end: int, until: float) -> bytes | None:
    """Everything that the child writes, or None if it is not complete in time."""
    said = bytearray()
    while True:
        ready, _, _ = select.select([read_end], [], [], max(0.0, until - time.monotonic()))
        if not ready:
            return None
        block = os.read(read_end, 1 << 16)
        if not block:
            return bytes(said)
        said += block


def _ended(child: int, until: float) -> int:
    """The exit code of the child; it is killed if it is late."""
    while time.monotonic() < until:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status)
        time.sleep(_PAUSE_S)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return -signal.SIGKILL


def _in_thread(work: Work, deadline_s: float) -> tuple[str | None, str]:
    """Runs the work on a thread where there is no fork: the process ends at the deadline, finished or not."""
    import threading

    said: list[str] = []
    failed: list[str] = []
    done = threading.Thread(target=lambda: failed.append(_tried(work, said.append)), daemon=True)
    done.start()
    done.join(deadline_s)
    if said:
        return said[0], ""
    return None, (failed[0] if failed else f"no answer: {deadline_s:g} s were not enough")
