"""A project with a store of its own, and real processes on it."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import weft
from tests.waiting import wait_for
from weft.access.tokens import Token, book_of, mint
from weft.core.clock import SystemClock, to_iso
from weft.runtime.settings.load import load_settings

WEFT = str(Path(sys.executable).with_name("weft"))


class Workbench:
    """A project directory, a store beside it, and what is run there."""

    def __init__(self, scratch: Path, name: str = "pier") -> None:
        self.scratch, self.root = scratch, scratch / name
        for each in (self.root / ".git", scratch / "home"):
            each.mkdir(parents=True, exist_ok=True)

    def environment(self, **settings: str) -> dict[str, str]:
        base = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.scratch / "home"),
            "XDG_DATA_HOME": str(self.scratch / "data"),
            "LC_ALL": "C.UTF-8",
        }
        given = {"embedder": "none", "audit": "false", "rate_limit": "1000000"} | settings
        return base | {f"WEFT_{name.upper()}": value for name, value in given.items()}

    @property
    def store(self) -> Path:
        return self.scratch / "data" / "weft"

    def write(self, path: str, text: str) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def open(self, **settings: str) -> weft.Memory:
        return weft.open(directory=self.root, environment=self.environment(**settings))

    def call(self, name: str, **arguments: Any) -> Any:
        """One operation in this process."""
        with self.open() as memory:
            return memory.call(name, **arguments)

    def weft(
        self,
        *arguments: str,
        code: int = 0,
        where: Path | None = None,
        prefix: tuple[str, ...] = (),
        **settings: str,
    ) -> str:
        """A command; its standard output, and what it said on the other one if it failed."""
        done = subprocess.run(
            [*prefix, WEFT, *arguments],
            cwd=where or self.root,
            env=self.environment(**settings),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == code, (done.stdout, done.stderr)
        return done.stdout + (done.stderr if code else "")

    def health(self, **settings: str) -> dict[str, Any]:
        told: dict[str, Any] = json.loads(self.weft("graph", "health", "--json", **settings))
        return told

    @contextmanager
    def started(self, *arguments: str, prefix: tuple[str, ...] = (), **settings: str) -> Iterator[Started]:
        """A command that goes on; killed at the end if it still does."""
        process = subprocess.Popen(
            [*prefix, WEFT, *arguments],
            cwd=self.root,
            env=self.environment(**settings),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        made = Started(process)
        try:
            yield made
        finally:
            made.end()


class Started:
    """A process, and the lines that it printed."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process, self.said = process, list[str]()
        self._reading = threading.Thread(target=self._read, daemon=True)
        self._reading.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.said.append(line.rstrip("\n"))

    def line(self, words: str, seconds: float = 30.0) -> str:
        """The first line that holds these words."""
        return wait_for(lambda: next((each for each in list(self.said) if words in each), None), words, seconds)

    def stop(self, told: int = signal.SIGINT) -> int:
        self.process.send_signal(told)
        return self.process.wait(20)

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(10)
        self._reading.join(10)
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                stream.close()


class Served:
    """`weft serve` on a free port, and one who calls it."""

    def __init__(self, started: Started, bearer: str) -> None:
        self.started, self._bearer = started, bearer
        where = started.line("listening: ")
        self._port = int(where.split()[1].rpartition(":")[2])

    def send(self, name: str, bearer: str = "", **arguments: Any) -> tuple[int, Any]:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=30)
        try:
            headers = {"authorization": f"Bearer {bearer or self._bearer}", "content-type": "application/json"}
            connection.request("POST", f"/api/{name}", json.dumps(arguments).encode(), headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()

    def call(self, name: str, bearer: str = "", **arguments: Any) -> Any:
        status, body = self.send(name, bearer, **arguments)
        assert status == 200, body
        return body.get("data", body)

    def job(self, job_id: str, *states: str, seconds: float = 30.0) -> dict[str, Any]:
        """The job as soon as it is in one of these states."""

        def look() -> dict[str, Any] | None:
            jobs = self.call("graph_health").get("jobs", ())
            return next((job for job in jobs if job["id"] == job_id and job["state"] in states), None)

        return wait_for(look, f"{states} of {job_id}", seconds, every=0.15)


def read_only(place: Path) -> tuple[str, ...]:
    """What to begin a command with so that nothing can be written below a directory, whoever runs it; none if that
    cannot be had here.
    """
    shut = f'mount --bind "{place}" "{place}" && mount -o remount,bind,ro "{place}" && exec "$@"'
    space = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", shut, "sh")
    tried = subprocess.run([*space, "touch", str(place / "there")], capture_output=True, check=False)
    return space if b"Read-only" in tried.stderr else ()


@contextmanager
def served(bench: Workbench, *prefix: str, **settings: str) -> Iterator[Served]:
    """A server on this bench, and a token for it."""
    bearer = token_of(bench)
    with bench.started("serve", "--port", "0", prefix=prefix, **settings) as started:
        yield Served(started, bearer)


def token_of(bench: Workbench, agent: str = "tester", **more: Any) -> str:
    """A token that is good from now on."""
    now_us = SystemClock().now_us()
    who = {"account": "default"} | more
    token, bearer = mint(Token(id="", hash="", agent=agent, created=to_iso(now_us), **who))
    book_of(load_settings(bench.root, bench.environment())).add(token, now_us)
    return bearer
