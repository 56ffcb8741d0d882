"""`weft serve`: starts the server, prints the state of each part, and shuts down after the calls in flight."""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import logging
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import uvicorn
from msgspec.structs import replace
from sse_starlette.sse import AppStatus

from weft.access.tokens import book_of
from weft.core.clock import SystemClock
from weft.core.errors import Misconfigured
from weft.memory.facade import Memory
from weft.runtime.settings.load import Settings, load_settings
from weft.surfaces.callers import Callers
from weft.surfaces.http.app import App, build_app
from weft.surfaces.http.auth import MAX_HEAD_BYTES
from weft.surfaces.http.protocol import KEEP_ALIVE_SECONDS, MAX_CONNECTIONS, SPARE_FILES, Deadlines
from weft.surfaces.http.start_record import Start, StartRecord
from weft.surfaces.http.workers.pool import WorkerPool
from weft.surfaces.resident.answering import Resident
from weft.surfaces.starting import check_start
from weft.surfaces.toolsets import offer_of
from weft.version import __version__

DRAIN_SECONDS: Final = 10.0  # for calls in flight to end
WORK_SECONDS: Final = 5.0  # for background jobs and watchers to end
LINGER_SECONDS: Final = 0.25  # in which new requests on open connections are answered with 503
LOOK_SECONDS: Final = 0.02

Say = Callable[[str], None]


def serve(
    host: str | None = None,
    port: int | None = None,
    toolsets: Sequence[str] | None = None,
    *,
    workers: int = 1,
    say: Say,
) -> None:
    """Serves until a signal asks to stop. `say` prints one line on the state of each part.

    With more than one of `workers`, calls run in so many processes; SIGHUP replaces them, one after the other.

    Raises Misconfigured or StoreError before anything is served.
    """
    settings = _settings(host, port, toolsets)
    if workers > 1 and os.name != "posix":
        raise Misconfigured("workers need a POSIX system", hint="leave --workers out")
    most = raise_file_limit()
    book, callers = book_of(settings), Callers("http")
    say(f"weft {__version__}")
    tokens = book.tokens()  # raises for a damaged file
    offered, checked = offer_of(settings, network=True), check_start(settings, network=True)
    memory = callers.operator()
    try:
        say(_store_line(memory))
        say(_embedder_line(memory))
        live = sum(token.live(memory.ctx.clock.now_us()) for token in tokens)
        say(
            f"tokens: {live} live"
            if live
            else "tokens: none; create one with `weft token create`, calls are refused until then"
        )
        say(f"tools: {len(offered.callable)} callable, {len(offered.listed) + offered.finds} listed over MCP")
        for line in checked:
            say(f"tools: {line}")
        say(_watch_line(memory))
        with listen(settings.host, settings.port) as listening:
            record = StartRecord(settings)
            start = record.begin(SystemClock().now_us())
            say(_start_line(start))
            pool = WorkerPool(workers, settings) if workers > 1 else None
            app, resident = build_app(settings, callers, book, start, pool), Resident(callers, settings)
            if pool is not None:
                pool.begin()
                say(f"workers: {workers}; SIGHUP replaces them one after the other")
            resident.begin()
            left = _run(app, listening, most, lambda: _say_where(listening, say))
            rested = callers.rest(WORK_SECONDS) and resident.close(WORK_SECONDS)
            record.end()
    except BaseException:
        callers.close()
        raise
    if left or not rested:
        what = "calls" if left else "background work"
        say(f"stopped: {what} did not end in time; unfinished writes are not in the store")
        sys.stdout.flush()
        os._exit(0)  # Python would wait for their threads
    callers.close()
    say("ended")


def _settings(host: str | None, port: int | None, toolsets: Sequence[str] | None) -> Settings:
    given = {"host": host, "port": port, "toolsets": None if toolsets is None else tuple(toolsets)}
    return replace(load_settings(Path()), **{name: value for name, value in given.items() if value is not None})


def _store_line(memory: Memory) -> str:
    ctx = memory.ctx
    position = ctx.store.head(ctx.viewer).pos
    return f"store: ok, {ctx.settings.store}, account {ctx.settings.account} at {position:,}"


def _embedder_line(memory: Memory) -> str:
    """The embedder's state. A failing one costs search quality, not the start."""
    embedding = memory.ctx.embedding
    if embedding.model is None:
        return "embedder: none; search uses words only"
    vector, problem = embedding.query("weft")
    if vector is None:
        return f"embedder: failed, so search uses words only: {problem}"
    return f"embedder: ok, {embedding.model}"


def _watch_line(memory: Memory) -> str:
    from weft.code.watch.watch import watcher_of, watches

    root = memory.ctx.settings.root
    if not watches(memory.ctx):
        return "code: not watched (setting watch)"
    if watcher_of(memory.ctx) is None:
        return f"code: {root} is not indexed; graph_rebuild indexes and then watches it"
    return f"code: watching {root}"


def _start_line(start: Start) -> str:
    before = " (the previous one did not shut down cleanly)" if start.cut_short else ""
    return f"starts: {start.count} on this store{before}"


def _say_where(listening: socket.socket, say: Say) -> None:
    address = address_of(listening)
    if not is_loopback(listening):
        say(
            "warning: this address is reachable from the network without encryption: put a reverse proxy with TLS in "
            "front, and add its public name to the setting hosts"
        )
    say(f"listening: http://{address} (MCP at /mcp, HTTP at /api)")


def _run(app: App, listening: socket.socket, most: int, started: Callable[[], None]) -> bool:
    """Serves until stopped; returns whether calls are still running. `started` is called when signals are handled."""
    # Streams are ended by the application: the library would cut answers of running calls.
    AppStatus.disable_automatic_graceful_drain()  # type: ignore[no-untyped-call]
    for noisy in ("uvicorn.error", "mcp"):  # they log a line for every malformed request
        logging.getLogger(noisy).setLevel(logging.ERROR)
    config = uvicorn.Config(
        app,
        http=type("Connection", (Deadlines,), {"most": most}),
        ws="none",
        loop="asyncio",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        forwarded_allow_ips=["127.0.0.1", "::1"],
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=1,
        h11_max_incomplete_event_size=MAX_HEAD_BYTES,
    )
    server = Server(config, app, started)
    server.run(sockets=[listening])
    if not server.started:
        raise Misconfigured("the server could not be started", hint="the lines above have the reason")
    return not app.close()


class Server(uvicorn.Server):
    """uvicorn's server with its own signals: the first one drains, the second one exits at once."""

    def __init__(self, config: uvicorn.Config, app: App, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._app, self._started = app, started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._started()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        wanted: tuple[signal.Signals, ...] = (signal.SIGINT, signal.SIGTERM)
        for each in wanted:
            loop.add_signal_handler(each, self._told_to_stop)
        if self._app.workers is not None:
            loop.add_signal_handler(signal.SIGHUP, self._told_to_restart, self._app.workers)
            wanted = (*wanted, signal.SIGHUP)
        try:
            yield
        finally:
            for each in wanted:
                loop.remove_signal_handler(each)

    def _told_to_restart(self, workers: WorkerPool) -> None:
        threading.Thread(target=workers.restart, name="weft-worker-restart", daemon=True).start()

    def _told_to_stop(self) -> None:
        if self._app.drain.begun:
            os._exit(1)  # committed writes are durable
        self._app.drain.begin()
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stops accepting, waits for calls in flight, then closes connections."""
        for server in self.servers:
            server.close()
        until_s = time.monotonic() + DRAIN_SECONDS
        await asyncio.sleep(LINGER_SECONDS)
        while self._app.metrics.in_flight and time.monotonic() < until_s:
            await asyncio.sleep(LOOK_SECONDS)
        await super().shutdown(sockets)


BACKLOG: Final = 1_024
_OTHER: Final = "choose another with --host and --port, or WEFT_HOST and WEFT_PORT"


def listen(host: str, port: int) -> socket.socket:
    """A listening socket. Raises Misconfigured if the address cannot be bound."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as problem:
        raise Misconfigured(
            f"host {host!r} is not an address: {problem}", hint="use 127.0.0.1, or 0.0.0.0"
        ) from problem
    family, kind, protocol, _, address = min(found, key=lambda each: each[0] != socket.AF_INET)
    made = socket.socket(family, kind, protocol)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
        made.listen(BACKLOG)
    except OSError as problem:
        made.close()
        raise _unbound(problem, host, port) from problem
    made.settimeout(0.0)
    return made


def _unbound(problem: OSError, host: str, port: int) -> Misconfigured:
    match problem.errno:
        case errno.EADDRINUSE:
            return Misconfigured(f"port {port} on {host} is taken by another program", hint=f"stop it, or {_OTHER}")
        case errno.EACCES | errno.EPERM:
            low = "ports below 1024 need privileges: use a higher one behind a reverse proxy"
            return Misconfigured(f"no permission to listen on port {port}", hint=low)
        case errno.EADDRNOTAVAIL:
            return Misconfigured(f"{host} is not an address of this machine", hint="use 127.0.0.1, or 0.0.0.0 for all")
        case _:
            return Misconfigured(f"cannot listen on {host}:{port}: {problem}", hint=_OTHER)


def address_of(listening: socket.socket) -> str:
    """The address as a client writes it: `127.0.0.1:8420`, `[::1]:8420`."""
    host, port = listening.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def is_loopback(listening: socket.socket) -> bool:
    """Whether the socket is bound to a loopback address."""
    return ipaddress.ip_address(listening.getsockname()[0].partition("%")[0]).is_loopback


def raise_file_limit() -> int:
    """Raises the limit of open files to the hard limit; returns the number of connections it allows."""
    try:
        import resource
    except ImportError:  # Windows
        return MAX_CONNECTIONS
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
            soft = hard
        except (OSError, ValueError):  # some systems have a limit below the hard one
            pass
    room = MAX_CONNECTIONS if soft == resource.RLIM_INFINITY else soft - SPARE_FILES
    return max(16, min(MAX_CONNECTIONS, room))
