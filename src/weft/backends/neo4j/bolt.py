"""The connection to a Neo4j server: address, sessions, bounded retries. No exception of the driver leaves it."""

from __future__ import annotations

import random
import re
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, Final
from urllib.parse import parse_qs, unquote, urlsplit

from msgspec import Struct

from weft.core.errors import Away, Busy, Misconfigured, SchemaMismatch, StoreError, WeftError

try:
    import neo4j
    from neo4j import exceptions as raised
except ImportError as problem:
    raise Misconfigured("a neo4j:// store needs the Neo4j driver", hint="pip install 'weft-memory[neo4j]'") from problem

SCHEMES: Final = ("neo4j", "neo4j+s", "neo4j+ssc", "bolt", "bolt+s", "bolt+ssc")
READ_S: Final = 5.0  # of one query; the server ends it then
WRITE_S: Final = 120.0  # of one write transaction, with the plan that runs in it
CONNECT_S: Final = 5.0
ATTEMPTS: Final = 3
DEFINE_ATTEMPTS: Final = 8
PAUSE_S: Final = 0.1  # before the second attempt; doubled before the third
OLDEST: Final = (5, 15)  # CREATE VECTOR INDEX
PASSWORD_HINT: Final = "set WEFT_STORE_PASSWORD, or store_password in your own file of settings"  # noqa: S105 - names a setting
LOCK_WAIT: Final = "LockAcquisitionTimeout"

_PARAMETER: Final = re.compile(r"\$(\w+)")

Row = list[Any]


@lru_cache(maxsize=1024)
def in_one(query: str) -> str:
    """A query with its parameters in one map, `$p`.

    The server keeps a plan for every combination of the types of parameters, where lists and texts of other sizes are
    of other types: one query would be planned dozens of times, and planning costs far more than running it.
    """
    return _PARAMETER.sub(r"$p.\1", query)


class Address(Struct, frozen=True):
    """The parts of a store's URL. `space` keeps several stores apart in one database."""

    uri: str
    user: str
    password: str
    database: str | None
    space: str


def address_of(url: str, *, password: str) -> Address:
    """Reads `neo4j://user@host:7687/database?space=name`. Raises Misconfigured, also for a password in it.

    URLs are shown in answers and logs, so the password is not part of one.
    """
    parts = urlsplit(url)
    options = parse_qs(parts.query)
    unknown = sorted(set(options) - {"space"})
    if parts.scheme not in SCHEMES or not parts.hostname or unknown:
        raise Misconfigured(
            "the URL of a Neo4j store is neo4j://user@host:7687/database?space=name",
            hint=f"remove {', '.join(unknown)}" if unknown else f"schemes are {', '.join(SCHEMES)}",
        )
    if parts.password is not None:
        raise Misconfigured("the URL of a store is shown in answers and holds no password", hint=PASSWORD_HINT)
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    try:
        port = parts.port
    except ValueError as problem:
        raise Misconfigured(
            "the port of a Neo4j store is a number below 65536", hint="the usual one is 7687"
        ) from problem
    return Address(
        uri=f"{parts.scheme}://{host}:{port or 7687}",
        user=unquote(parts.username or "neo4j"),
        password=password,
        database=parts.path.strip("/") or None,
        space=options.get("space", ["weft"])[0],
    )


class BoltServer:
    """One pool of connections. Reads go to replicas where there are any, and see this process's own writes."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self._driver = neo4j.GraphDatabase.driver(
            address.uri,
            auth=(address.user, address.password),
            connection_timeout=CONNECT_S,
            connection_acquisition_timeout=2 * CONNECT_S,
            max_transaction_retry_time=0.0,  # retries are counted here
            notifications_min_severity="OFF",
            user_agent="weft",
        )
        # What this process wrote: a replica waits for it before it answers.
        self._bookmarks = neo4j.GraphDatabase.bookmark_manager()
        self._lock = threading.Lock()
        self._checked = False

    def close(self) -> None:
        """Closes the connections."""
        self._driver.close()

    def check(self) -> None:
        """Raises Misconfigured or SchemaMismatch for a server that cannot serve; once, at the first use."""
        with self._lock:
            if self._checked:
                return
            with self.translated():
                told = str(self._driver.get_server_info().agent)
            found = tuple(int(part) for part in told.partition("/")[2].split(".")[:2] if part.isdigit())
            if found and found < OLDEST:
                raise SchemaMismatch(
                    f"the server is {told}, older than {'.'.join(map(str, OLDEST))}",
                    hint="weft needs vector indexes: upgrade the server; nothing was written",
                )
            self._checked = True

    def session(self, *, writes: bool) -> neo4j.Session:
        """A session that sees what this process wrote."""
        mode = neo4j.WRITE_ACCESS if writes else neo4j.READ_ACCESS
        return self._driver.session(
            database=self.address.database, default_access_mode=mode, bookmark_manager=self._bookmarks
        )

    def read(self, query: str, params: Mapping[str, Any], *, timeout_s: float = READ_S) -> list[Row]:
        """All rows of one reading query; repeated after a transient fault."""
        self.check()
        asked = neo4j.Query(in_one(query), timeout=timeout_s)
        for attempt in range(1, ATTEMPTS + 1):
            try:
                with self.session(writes=False) as session:
                    return [record.values() for record in session.run(asked, p=dict(params))]
            except (raised.Neo4jError, raised.DriverError) as problem:
                if attempt == ATTEMPTS or not problem.is_retryable():
                    raise translate(problem) from problem
                time.sleep(PAUSE_S * 2 ** (attempt - 1))
        raise AssertionError("the loop returns or raises")

    @contextmanager
    def translated(self) -> Iterator[None]:
        """Turns the driver's exceptions into weft's."""
        try:
            yield
        except (raised.Neo4jError, raised.DriverError) as problem:
            raise translate(problem) from problem

    def define(self, statements: Sequence[str]) -> None:
        """Creates what a schema names, in one transaction, and waits until indexes can be used."""
        self.check()
        for attempt in range(1, DEFINE_ATTEMPTS + 1):
            try:
                with self.session(writes=True) as session:
                    with session.begin_transaction() as tx:
                        for statement in statements:
                            tx.run(statement).consume()
                        tx.commit()
                    session.run("CALL db.awaitIndexes(300)").consume()
                    return
            except (raised.Neo4jError, raised.DriverError) as problem:
                # Another process may be creating the same: both hold parts of the schema and wait for the other's.
                if attempt == DEFINE_ATTEMPTS or not problem.is_retryable():
                    raise translate(problem) from problem
                time.sleep(PAUSE_S * attempt * (1 + random.random()))  # noqa: S311 - spreads them, keeps no secret


def is_transient(problem: Exception) -> bool:
    """Whether the same call may succeed a moment later."""
    return isinstance(problem, raised.Neo4jError | raised.DriverError) and problem.is_retryable()


def translate(problem: Exception) -> WeftError:
    """The error of weft for one of the driver's. Messages of the server hold no words of the store's content."""
    code = getattr(problem, "code", "") or ""
    if isinstance(problem, raised.AuthError) or ".Security.Unauthorized" in code or ".Credentials" in code:
        return Misconfigured(
            "the Neo4j server refused the user name or the password",
            hint=f"the user is part of the store's URL, neo4j://user@host; {PASSWORD_HINT}",
        )
    if ".Security." in code:
        return Misconfigured(
            "the Neo4j user lacks a privilege that weft needs",
            hint="grant reading, writing and, for the first opening, the creation of indexes and constraints",
        )
    if "DatabaseNotFound" in code:
        return Misconfigured("the server has no such database", hint="name one in the URL: neo4j://host:7687/database")
    if "TransactionTimedOut" in code or LOCK_WAIT in code:
        return Busy("the Neo4j server did not answer in time; nothing was written", hint="repeat the call")
    if isinstance(problem, raised.ServiceUnavailable | raised.SessionExpired | raised.DriverError):
        return Away("the Neo4j server cannot be reached; nothing was written", hint="repeat the call once it is back")
    if isinstance(problem, raised.TransientError) or (
        isinstance(problem, raised.Neo4jError) and problem.is_retryable()
    ):
        return Busy("the Neo4j server asked to try again later; nothing was written", hint="repeat the call")
    said = code or type(problem).__name__
    return StoreError(
        f"the Neo4j server refused a query ({said})", hint="see the server's query log; run `weft doctor`"
    )
