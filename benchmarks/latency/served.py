"""A real `weft serve` for measurements: its own process, a filled store, tokens."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import weft
from benchmarks.latency.corpus import Words
from benchmarks.latency.run import draft, in_batches
from weft.operations import operation

WEFT = str(Path(sys.executable).with_name("weft"))


class Served(NamedTuple):
    """Where it listens, and what admits to it: a token for each caller."""

    port: int
    tokens: tuple[str, ...]
    process: int = 0

    @property
    def token(self) -> str:
        return self.tokens[0]


def environment(scratch: Path, embedder: str) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(scratch),
        "WEFT_STORE": f"sqlite://{scratch / 'store'}",
        "WEFT_PROJECT": "bench",
        "WEFT_EMBEDDER": embedder,
        "WEFT_RATE_LIMIT": "1000000",
    }


def filled(scratch: Path, rows: int, embedder: str) -> None:
    """A store with texts and, with an embedder, their vectors."""
    words = Words(seed=1)
    with weft.open(directory=scratch, environment=environment(scratch, embedder)) as memory:
        in_batches(memory, [draft(number, text) for number, text in enumerate(words.texts(rows))])()
        if memory.ctx.embedding.model is not None:
            subprocess.run([WEFT, "reindex"], cwd=scratch, env=environment(scratch, embedder), check=True)


@contextmanager
def serving(scratch: Path, embedder: str, callers: int = 1, workers: int = 1) -> Iterator[Served]:
    """Starts a server on the store, with so many tokens and workers, and ends it."""
    settings = environment(scratch, embedder)
    with weft.open(directory=scratch, environment=settings) as memory:
        create = operation("token_create")
        wanted = [{"agent": f"bench-{number}", "role": "operator"} for number in range(callers)]
        tokens = tuple(str(getattr(memory.run(create, each), "token", "")) for each in wanted)
    command = [WEFT, "serve", "--port", "0", "--workers", str(workers)]
    with subprocess.Popen(command, cwd=scratch, env=settings, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        listens = next(line for line in process.stdout if line.startswith("listening:"))
        try:
            yield Served(int(listens.split()[1].rpartition(":")[2]), tokens, process.pid)
        finally:
            process.terminate()


def processor_s(served: Served) -> float:
    """The processor time that the server and its workers have taken: it says the same on a busy machine."""
    ticks = 0
    for file in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # a process that ended meanwhile
            fields = file.read_text().rpartition(")")[2].split()
            if served.process in (int(file.parent.name), int(fields[1])):
                ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def head(served: Served, name: str, length: int, caller: int = 0) -> bytes:
    """The head of a call, as a client keeps it ready."""
    return (
        f"POST /api/{name} HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\n"
        f"Authorization: Bearer {served.tokens[caller % len(served.tokens)]}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    ).encode()
