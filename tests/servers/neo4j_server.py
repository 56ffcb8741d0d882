"""A real Neo4j for tests: fetched from Maven Central once, started on a free loopback port, stopped with its tests.

    python -m tests.servers.neo4j_server [PORT]

starts one by hand and prints its URL. Needs Java 17 and, the first time, Maven.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

HERE = Path(__file__).parent
PASSWORD = "only-for-tests"
HEAP_MB = 512
START_S = 90.0
FETCH_S = 300.0
OTHERS_S = 300.0  # for other workers' tests to end


class Unavailable(Exception):
    """Why there is no server here."""


class TestServer(Struct):
    """A running server and what ends it."""

    __test__ = False

    port: int
    home: Path
    process: subprocess.Popen[bytes]

    @property
    def url(self) -> str:
        return f"bolt://127.0.0.1:{self.port}"

    def kill(self) -> None:
        """Ends it at once, as a crash does. A stop in good order takes ten seconds, and nobody needs its files."""
        self.process.kill()
        self.process.wait()
        assert self.process.stdin is not None
        self.process.stdin.close()


def cache() -> Path:
    """Where the list of jars is kept between runs: outside the repository."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "weft-tests" / "neo4j"


def class_path() -> str:
    """The server's jars, from Maven's own repository; fetched if they are not there. Raises Unavailable."""
    if shutil.which("java") is None:
        raise Unavailable("there is no Java on the PATH")
    told = subprocess.run(["java", "-version"], capture_output=True, text=True, check=False).stderr
    if '"17' not in told and '"21' not in told:
        raise Unavailable("Neo4j 5.26 needs Java 17 or 21")
    cache().mkdir(parents=True, exist_ok=True)
    listed = cache() / "classpath"
    pom = (HERE / "pom.xml").read_text()
    with (cache() / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (cache() / "pom.xml").is_file() and (cache() / "pom.xml").read_text() == pom and listed.is_file():
            jars = listed.read_text()
            if all(Path(jar).is_file() for jar in jars.split(os.pathsep)):
                return jars
        if shutil.which("mvn") is None:
            raise Unavailable("there is no Maven on the PATH to fetch Neo4j with")
        command = ["mvn", "-q", "-B", "-f", str(HERE / "pom.xml"), "dependency:build-classpath"]
        fetched = [*command, "-DincludeScope=runtime", f"-Dmdep.outputFile={listed}"]
        try:
            done = subprocess.run(fetched, capture_output=True, text=True, check=False, timeout=FETCH_S)
        except subprocess.TimeoutExpired as late:
            raise Unavailable(f"Maven did not fetch Neo4j within {FETCH_S:.0f} s") from late
        if done.returncode:
            raise Unavailable(f"Maven could not fetch Neo4j: {done.stdout.strip()[-300:]}")
        (cache() / "pom.xml").write_text(pom)
        return listed.read_text()


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def start(home: Path, port: int | None = None) -> TestServer:
    """Starts a server with its files in `home`. Raises Unavailable."""
    jars, port = class_path(), port or free_port()
    home.mkdir(parents=True, exist_ok=True)
    memory = [f"-Xms{HEAP_MB // 2}m", f"-Xmx{HEAP_MB}m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
    with (home / "output").open("wb") as output:
        process = subprocess.Popen(
            ["java", *memory, "-cp", jars, str(HERE / "StartNeo4j.java"), str(home), str(port)],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, "NEO4J_TEST_PASSWORD": PASSWORD},
        )
    server = TestServer(port, home, process)
    until = time.monotonic() + START_S
    while b"ready" not in (home / "output").read_bytes():
        if process.poll() is not None or time.monotonic() > until:
            server.kill()
            raise Unavailable(f"Neo4j did not start: {(home / 'output').read_text()[-300:]}")
        time.sleep(0.1)
    return server


@contextmanager
def shared(place: Path) -> Iterator[str]:
    """The URL of a server that all processes with the same place use; who starts it stops it, after the others.

    Raises Unavailable.
    """
    place.mkdir(parents=True, exist_ok=True)
    mine: TestServer | None = None
    told = place / "url"
    with (place / "users").open("a") as users, (place / "turn").open("a") as turn:
        fcntl.flock(users, fcntl.LOCK_SH)
        fcntl.flock(turn, fcntl.LOCK_EX)
        try:
            if not told.is_file():
                try:
                    mine = start(place / "home")
                except Unavailable as problem:
                    told.write_text(f"- {problem}")  # the others need not try again
                else:
                    told.write_text(mine.url)
        finally:
            fcntl.flock(turn, fcntl.LOCK_UN)
        url = told.read_text()
        try:
            if url.startswith("- "):
                raise Unavailable(url[2:])
            yield url
        finally:
            fcntl.flock(users, fcntl.LOCK_UN)
            if mine is not None:
                until = time.monotonic() + OTHERS_S
                while time.monotonic() < until:
                    try:
                        fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
                        break
                    except BlockingIOError:
                        time.sleep(0.2)
                mine.kill()


if __name__ == "__main__":
    import tempfile

    by_hand = start(Path(tempfile.mkdtemp(prefix="weft-neo4j-")), int(sys.argv[1]) if len(sys.argv) > 1 else None)
    print(f"{by_hand.url} (user neo4j, password {PASSWORD}); end with Ctrl-D")
    sys.stdin.read()
    by_hand.kill()
