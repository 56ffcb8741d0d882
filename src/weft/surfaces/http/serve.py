"""`weft serve`: starts the server, says how each part of it is, and ends it without losing what it has begun."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import uvicorn
from msgspec.structs import replace
from sse_starlette.sse import AppStatus

from weft.config import Settings, load_settings
from weft.errors import Misconfigured
from weft.instants import SystemClock
from weft.memory import Memory
from weft.surfaces.callers import Callers
from weft.surfaces.http.app import App, build_app
from weft.surfaces.http.gate import MAX_HEAD_BYTES
from weft.surfaces.http.listening import address_of, is_loopback, listen, raise_file_limit
from weft.surfaces.http.protocol import KEEP_ALIVE_SECONDS, Deadlines
from weft.surfaces.http.starts import Record, Start
from weft.surfaces.starting import check_start
from weft.surfaces.toolsets import offer_of
from weft.tokens import book_of
from weft.version import __version__

DRAIN_SECONDS: Final = 10.0  # how long what was begun may take to end
WORK_SECONDS: Final = 5.0  # how long rebuilds and watchers may take to end
LINGER_SECONDS: Final = 0.25  # how long open connections are told that the server ends, before they are closed
LOOK_SECONDS: Final = 0.02

Say = Callable[[str], None]


def serve(host: str | None = None, port: int | None = None, toolsets: Sequence[str] | None = None, *, say: Say) -> None:
    """Serves until a signal asks to stop. `say` is told, line by line, how each part is.

    Raises Misconfigured or StoreError, with what to do, before anything is served.
    """
    settings = _settings(host, port, toolsets)
    most = raise_file_limit()
    book, callers = book_of(settings), Callers("http")
    say(f"weft {__version__}")
    tokens = book.tokens()  # a file that cannot be trusted stops here
    offered, checked = offer_of(settings, network=True), check_start(settings, network=True)
    memory = callers.operator()
    try:
        say(_store_line(memory))
        say(_embedder_line(memory))
        live = sum(token.live(memory.loom.clock.now_us()) for token in tokens)
        say(f"tokens: {live} live" if live else "tokens: none, so nobody may call: make one with `weft token create`")
        say(f"tools: {len(offered.callable)} may be called, {len(offered.listed) + offered.finds} are listed over MCP")
        for line in checked:
            say(f"tools: {line}")
        say(_watch_line(memory))
        with listen(settings.host, settings.port) as listening:
            record = Record(settings)
            start = record.begin(SystemClock().now_us())
            say(_start_line(start))
            app = build_app(settings, callers, book, start)
            left = _run(app, listening, most, lambda: _say_where(listening, say))
            rested = callers.rest(WORK_SECONDS)
            record.end()
    except BaseException:
        callers.close()
        raise
    if left or not rested:
        what = "calls" if left else "work in the background"
        say(f"left: {what} that took too long to end; what was not finished is not written")
        sys.stdout.flush()
        os._exit(0)  # their threads hold the store, and Python would wait for them
    callers.close()
    say("ended")


def _settings(host: str | None, port: int | None, toolsets: Sequence[str] | None) -> Settings:
    given = {"host": host, "port": port, "toolsets": None if toolsets is None else tuple(toolsets)}
    return replace(load_settings(Path()), **{name: value for name, value in given.items() if value is not None})


def _store_line(memory: Memory) -> str:
    loom = memory.loom
    position = loom.store.head(loom.viewer).pos
    return f"store: ok, {loom.settings.store}, account {loom.settings.account} at {position:,}"


def _embedder_line(memory: Memory) -> str:
    """One that cannot serve costs quality, not the start."""
    embedding = memory.loom.embedding
    if embedding.model is None:
        return "embedder: none, so memories are found by their words alone"
    vector, problem = embedding.query("weft")
    if vector is None:
        return f"embedder: cannot serve, so memories are found by their words alone: {problem}"
    return f"embedder: ok, {embedding.model}"


def _watch_line(memory: Memory) -> str:
    from weft.operations.watching import watcher_of, watches

    root = memory.loom.settings.root
    if not watches(memory.loom):
        return "code: not watched, as the setting watch says"
    if watcher_of(memory.loom) is None:
        return f"code: {root} is not indexed; graph_rebuild indexes it, and it is watched from then on"
    return f"code: watching {root}"


def _start_line(start: Start) -> str:
    before = " (the one before was cut short)" if start.cut_short else ""
    return f"starts: {start.count} on this store{before}"


def _say_where(listening: socket.socket, say: Say) -> None:
    address = address_of(listening)
    if not is_loopback(listening):
        say(
            "warning: others can reach this address, and what they send is not encrypted: put a reverse proxy with TLS "
            "in front, and name the address it is called by in the setting hosts"
        )
    say(f"listening: http://{address} (MCP at /mcp, HTTP at /api)")


def _run(app: App, listening: socket.socket, most: int, started: Callable[[], None]) -> bool:
    """Serves until told to stop; says whether calls were left running. `started` is called when it can be told to."""
    # Streams are ended here: the library would cut answers to calls that are still running.
    AppStatus.disable_automatic_graceful_drain()  # type: ignore[no-untyped-call]
    for noisy in ("uvicorn.error", "mcp"):  # a line for everybody's malformed request
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
        raise Misconfigured("the server could not be started", hint="the lines above say why")
    return not app.close()


class Server(uvicorn.Server):
    """uvicorn's, with signals of our own: the first one drains, the second one leaves at once."""

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
        wanted = (signal.SIGINT, signal.SIGTERM)
        for each in wanted:
            loop.add_signal_handler(each, self._told_to_stop)
        try:
            yield
        finally:
            for each in wanted:
                loop.remove_signal_handler(each)

    def _told_to_stop(self) -> None:
        if self._app.drain.begun:
            os._exit(1)  # what is written is safe: the store takes a kill at any moment
        self._app.drain.begin()
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Nobody new is let in; what was begun is answered; then connections are closed."""
        for server in self.servers:
            server.close()
        until_s = time.monotonic() + DRAIN_SECONDS
        await asyncio.sleep(LINGER_SECONDS)
        while self._app.metrics.in_flight and time.monotonic() < until_s:
            await asyncio.sleep(LOOK_SECONDS)
        await super().shutdown(sockets)
