"""Which store the settings name, who asks of it, and what stands beside it: the one place that picks a backend."""

from __future__ import annotations

from pathlib import Path

from weft.audit import AUDIT, Audit, as_is
from weft.config import Settings, check_store
from weft.instants import Clock
from weft.log.chain import commit_genesis
from weft.outbox import Outbox, place_of
from weft.ports import Store
from weft.types import FileSchema, Viewer


def open_store(url: str, *, clock: Clock) -> Store:
    """A store by its URL. Raises Misconfigured for a URL that names no backend."""
    check_store(url)
    scheme, _, rest = url.partition("://")
    if scheme == "sqlite":
        from weft.backends.sqlite.store import SqliteStore

        # Three slashes begin an absolute path, two a relative one: sqlite:///home/me/x, sqlite://x.
        return SqliteStore(Path(rest).expanduser(), commit_genesis, clock=clock)
    from weft.backends.memory import MemoryStore

    return MemoryStore(commit_genesis, clock=clock)


def schemas(settings: Settings) -> tuple[FileSchema, ...]:
    """Which schema each file of the store has, without changing any. None of a store that has no files."""
    scheme, _, rest = settings.store.partition("://")
    if scheme != "sqlite":
        return ()
    from weft.backends.sqlite.migrating import file_schemas

    directory = Path(rest).expanduser()
    return (*file_schemas(directory, audit=False), *file_schemas(directory / AUDIT, audit=True))


def marker_problems(settings: Settings) -> dict[str, str]:
    """What is wrong with the files that say that a directory is a store, by path."""
    scheme, _, rest = settings.store.partition("://")
    from weft.backends.sqlite.migrating import marker_problems

    directory = Path(rest).expanduser()
    return marker_problems(directory, directory / AUDIT) if scheme == "sqlite" else {}


def viewer_of(settings: Settings) -> Viewer:
    """Who is asking, as the settings say: never as an argument says."""
    return Viewer(
        account=settings.account,
        scopes=frozenset(settings.scopes),
        agent=settings.agent,
        audience=settings.audience,
        sensitive=settings.sensitive,
    )


def outbox_of(settings: Settings) -> Outbox | None:
    """Where this account's writes wait for this store; None if they do not, as for one that ends with the process."""
    if not settings.outbox or settings.store.startswith("memory:"):
        return None
    root = Path(settings.outbox).expanduser().absolute()
    return Outbox(directory=place_of(root, settings.store, settings.account), account=settings.account)


def audit_of(settings: Settings, *, clock: Clock) -> Audit:
    """The audit of this store: in a store of the same kind, in its directory `audit`. Nothing is opened yet."""
    scheme, _, rest = settings.store.partition("://")

    def open_it() -> Store | None:
        if scheme != "sqlite":
            return open_store(settings.store, clock=clock)
        from weft.backends.sqlite.directory import MARKER

        directory = Path(rest).expanduser()
        # Where nothing was written yet there is no store, and asking makes none.
        return open_store(f"sqlite://{directory / AUDIT}", clock=clock) if (directory / MARKER).is_file() else None

    redacting = _redact if settings.redaction == "on" else as_is
    return Audit(open_it, clock=clock, redact=redacting, recording=settings.audit)


def _redact(text: str) -> str:
    from weft.redaction import redact  # takes ten milliseconds to load

    return redact(text)
