"""Opening of the configured store, with its viewer, outbox and audit. The only place that picks a backend."""

from __future__ import annotations

from pathlib import Path

from weft.append.outbox import Outbox, place_of
from weft.core.clock import Clock
from weft.core.ports import Store
from weft.core.types import FileSchema, Viewer
from weft.log.chain import commit_genesis
from weft.runtime.audit_log import AUDIT, Audit, as_is
from weft.runtime.settings.load import SERVER_SCHEMES, Settings, check_store


def open_store(url: str, *, clock: Clock, password: str = "") -> Store:
    """A store by its URL, and the password where it is a server's. Raises Misconfigured for a URL of no backend."""
    check_store(url)
    scheme, _, rest = url.partition("://")
    if scheme == "sqlite":
        from weft.backends.sqlite.store import SqliteStore

        # Three slashes begin an absolute path, two a relative one: sqlite:///home/me/x, sqlite://x.
        return SqliteStore(Path(rest).expanduser(), commit_genesis, clock=clock)
    if scheme in SERVER_SCHEMES:
        from weft.backends.neo4j import Neo4jStore, address_of

        return Neo4jStore(address_of(url, password=password), commit_genesis, clock=clock)
    from weft.backends.memory import MemoryStore

    return MemoryStore(commit_genesis, clock=clock)


def schemas(settings: Settings) -> tuple[FileSchema, ...]:
    """The schema version of each file of the store, read only. Empty for a store without files."""
    scheme, _, rest = settings.store.partition("://")
    if scheme != "sqlite":
        return ()
    from weft.backends.sqlite.files.file_info import file_schemas

    directory = Path(rest).expanduser()
    return (*file_schemas(directory, audit=False), *file_schemas(directory / AUDIT, audit=True))


def marker_problems(settings: Settings) -> dict[str, str]:
    """Problems of the marker files of the store's directories, by path."""
    scheme, _, rest = settings.store.partition("://")
    from weft.backends.sqlite.files.file_info import marker_problems

    directory = Path(rest).expanduser()
    return marker_problems(directory, directory / AUDIT) if scheme == "sqlite" else {}


def viewer_of(settings: Settings) -> Viewer:
    """The viewer of these settings. No argument of a call changes who is asking."""
    return Viewer(
        account=settings.account,
        scopes=frozenset(settings.scopes),
        agent=settings.agent,
        audience=settings.audience,
        sensitive=settings.sensitive,
    )


def outbox_of(settings: Settings) -> Outbox | None:
    """The outbox of this account and store; None if it is off or the store is in memory."""
    if not settings.outbox or settings.store.startswith("memory:"):
        return None
    root = Path(settings.outbox).expanduser().absolute()
    return Outbox(directory=place_of(root, settings.store, settings.account), account=settings.account)


def audit_of(settings: Settings, *, clock: Clock) -> Audit:
    """The audit of this store, in a store of the same kind below its directory `audit`. Opens nothing yet."""
    scheme, _, rest = settings.store.partition("://")

    def open_it() -> Store | None:
        if scheme in SERVER_SCHEMES:
            return _beside(settings.store, AUDIT, clock=clock, password=settings.store_password)
        if scheme != "sqlite":
            return open_store(settings.store, clock=clock)
        from weft.backends.sqlite.files.directory import MARKER

        directory = Path(rest).expanduser()
        # Before the first write there is no store, and reading creates none.
        return open_store(f"sqlite://{directory / AUDIT}", clock=clock) if (directory / MARKER).is_file() else None

    redacting = _redact if settings.redaction == "on" else as_is
    return Audit(open_it, clock=clock, redact=redacting, recording=settings.audit)


def _beside(url: str, suffix: str, *, clock: Clock, password: str) -> Store:
    """A store of its own in the same database of a server."""
    from msgspec.structs import replace

    from weft.backends.neo4j import Neo4jStore, address_of

    there = address_of(url, password=password)
    return Neo4jStore(replace(there, space=f"{there.space}-{suffix}"), commit_genesis, clock=clock)


def _redact(text: str) -> str:
    from weft.text.redaction import redact

    return redact(text)
