"""Writes that wait for the store: one file each on the local disk, delivered in order, once, when the store is back.

A file is named by a sequence number and by its request id, and holds all it takes to append it later: the drafts, who
wrote them and with which rights. It is synced before anybody is told that the write waits. It is removed only after
the store has it: whoever is killed between the two leaves a file whose request id the store knows, and delivering that
writes nothing. Several processes may deliver at once, without a lock: each goes in order, and no entry is delivered
before the one ahead of it. What the store refuses for good is moved aside with the reason, and holds up nothing.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import logging
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from weft.append.append import AppendOptions, append
from weft.append.outbox_entry import FORMAT, QueuedWrite, check_same, draft_of, queued_write
from weft.append.privacy import PrivacyFilter
from weft.core.clock import Clock
from weft.core.errors import Conflict, DiskFull, Invalid, StoreError, WeftError
from weft.core.ports import Store
from weft.core.types import Viewer, Writer
from weft.files.file_lock import make_private, replace_whole, sync_path
from weft.log.canonical import canonical
from weft.log.draft import Draft
from weft.models.embedding import Embedding

MAX_ENTRIES: Final = 10_000  # of one account of one store
MAX_BYTES: Final = 256_000_000
MAX_ENTRY_BYTES: Final = 64_000_000
FAILED: Final = "failed"
DROPPED: Final = "dropped"
MAX_DROPPED: Final = 100  # entries that were dropped and could be brought back
ENTRY: Final = ".json"
REASON: Final = ".error.json"
STALE_S: Final = 3_600.0  # a file half written so long before another is of a process that died
_FULL = (errno.ENOSPC, errno.EDQUOT)
_log = logging.getLogger("weft.outbox")


class OutboxEntry(Struct, frozen=True, kw_only=True):
    """A file of the outbox. `waiting` is None if the file is damaged; `reason` is why the store refused it."""

    name: str
    size: int
    waiting: QueuedWrite | None
    reason: str = ""


class Delivery(Struct, frozen=True, kw_only=True):
    """The result of a delivery: writes delivered, refused and left, and the problem that stopped it."""

    delivered: int = 0
    refused: tuple[str, ...] = ()
    left: int = 0
    problem: StoreError | None = None


class Outbox(Struct, frozen=True, kw_only=True):
    """The writes of one account that wait for one store. Nothing is on the disk until one does."""

    directory: Path
    account: str

    def waits(self) -> bool:
        """Whether any write waits. Cheap: asked before every write. Where nothing may be read, nothing was put."""
        try:
            return next(self._names(), None) is not None
        except StoreError as trouble:
            if isinstance(trouble.__cause__, PermissionError):
                return False
            raise

    def put(
        self,
        drafts: Sequence[Draft],
        *,
        writer: Writer,
        viewer: Viewer,
        request_id: str | None,
        at: int,
        problem: StoreError,
        privacy: PrivacyFilter | None = None,
    ) -> str:
        """Keeps a write until the store is back; returns its request id. Durable when it returns.

        What is kept has passed the privacy, as what is written has. Events that do not say when they happened, happened
        at `at`. The same request again is kept once. Raises Misconfigured, Invalid or TooLarge for what the store would
        refuse unseen, Conflict for a request id that waits with something else, DiskFull where the disk is, and
        `problem` where the outbox is full or cannot be written.
        """
        if writer.account != self.account or viewer.account != self.account:
            raise Conflict(f"this is the outbox of {self.account}, not of {writer.account}")
        drafts = (privacy or PrivacyFilter()).drafts(drafts)
        waiting = queued_write(drafts, writer, viewer, request_id=request_id, at=at, problem=problem)
        try:
            self._keep(waiting, problem)
        except OSError as trouble:
            if trouble.errno in _FULL:
                raise DiskFull(
                    f"no space left in {self.directory} for a write that has to wait: {problem.message}",
                    hint="free some space and repeat the write; nothing was kept",
                ) from trouble
            raise problem from trouble
        return waiting.request_id

    def entries(self) -> Iterator[OutboxEntry]:
        """What waits, in order, at most MAX_ENTRIES. Damaged files are among them."""
        for name in sorted(self._names())[:MAX_ENTRIES]:
            if (entry := self._read(self.directory / name)) is not None:
                yield entry

    def refused(self) -> Iterator[OutboxEntry]:
        """What the store refused for good, in order, each with the reason."""
        for name in sorted(_names_in(self.directory / FAILED))[:MAX_ENTRIES]:
            if (entry := self._read(self.directory / FAILED / name)) is not None:
                yield entry

    def deliver(
        self,
        store: Store,
        *,
        clock: Clock,
        embedding: Embedding | None,
        most: int = MAX_ENTRIES,
        privacy: PrivacyFilter | None = None,
    ) -> Delivery:
        """Appends up to `most` waiting writes, oldest first, each as whoever wrote it.

        Stops, with `problem`, at the first that the store cannot take now; it and those behind it go on waiting.
        """
        names = sorted(self._names())
        delivered = 0
        refused: list[str] = []
        for name in names[:most]:
            entry = self._read(self.directory / name)
            if entry is None:
                continue  # another process delivered it meanwhile
            try:
                self._deliver(entry, store, clock, embedding, privacy)
            except StoreError as problem:
                left = len(names) - delivered - len(refused)
                return Delivery(delivered=delivered, refused=tuple(refused), left=left, problem=problem)
            except WeftError as problem:
                self.set_aside(entry, problem)
                refused.append(name)
            except Exception as problem:  # noqa: BLE001 - kept aside with its reason: one entry must not stop all writes
                _log.exception("the entry %s could not be delivered", name)
                self.set_aside(entry, Invalid(f"weft failed on it ({type(problem).__name__}: {problem})"[:500]))
                refused.append(name)
            else:
                self._remove(name)
                delivered += 1
        return Delivery(delivered=delivered, refused=tuple(refused), left=max(0, len(names) - most))

    def retry(self, only: str | None = None) -> int:
        """Puts what the store refused back behind what waits, and says how many; for when the reason is gone.

        All of it, or `only` the entry of that name.
        """
        return sum(self._back(FAILED, name) for name in self._named(FAILED, only))

    def drop(self, name: str) -> bool:
        """Takes an entry out, so that it neither waits nor is tried again; `bring_back` undoes it. False if it is gone.

        It is removed for good with the entries that were dropped before the newest MAX_DROPPED.
        """
        for place in (self.directory, self.directory / FAILED):
            if name in _names_in(place):
                make_private(self.directory / DROPPED)
                _ignore_missing(os.rename, place / name, self.directory / DROPPED / name)
                _ignore_missing(os.unlink, self.directory / FAILED / (name + REASON))
                for old in sorted(_names_in(self.directory / DROPPED))[:-MAX_DROPPED]:
                    _ignore_missing(os.unlink, self.directory / DROPPED / old)
                sync_path(place)
                sync_path(self.directory / DROPPED)
                return True
        return False

    def dropped(self) -> Iterator[OutboxEntry]:
        """What was taken out, in order."""
        for name in self._named(DROPPED, None):
            if (entry := self._read(self.directory / DROPPED / name)) is not None:
                yield entry

    def bring_back(self, name: str) -> bool:
        """Puts an entry that was dropped behind what waits. False if it is gone."""
        return sum(self._back(DROPPED, each) for each in self._named(DROPPED, name)) > 0

    def _named(self, place: str, only: str | None) -> list[str]:
        names = sorted(_names_in(self.directory / place))[:MAX_ENTRIES]
        return names if only is None else [name for name in names if name == only]

    def _back(self, place: str, name: str) -> int:
        token = name.partition("-")[2]
        _ignore_missing(os.rename, self.directory / place / name, self.directory / f"{self._next():012d}-{token}")
        _ignore_missing(os.unlink, self.directory / place / (name + REASON))
        sync_path(self.directory)
        sync_path(self.directory / place)
        return 1

    def set_aside(self, entry: OutboxEntry, problem: WeftError) -> None:
        """Moves an entry to where it holds up nothing, its reason first."""
        aside = self.directory / FAILED
        make_private(aside)
        reason = {"code": problem.code, "message": problem.message, "hint": problem.hint}
        replace_whole(aside / (entry.name + REASON), msgspec.json.encode(reason))
        _ignore_missing(os.rename, self.directory / entry.name, aside / entry.name)
        sync_path(aside)
        sync_path(self.directory)

    # The files

    def _names(self) -> Iterator[str]:
        return _names_in(self.directory)

    def _next(self) -> int:
        both = (*self._names(), *_names_in(self.directory / FAILED), *_names_in(self.directory / DROPPED))
        return 1 + max((int(name[:12]) for name in both), default=0)

    def _keep(self, waiting: QueuedWrite, problem: StoreError) -> None:
        raw = canonical(msgspec.to_builtins(waiting))
        ahead = sorted(self._names())
        token = _token(waiting.request_id)
        for name in ahead:
            if name[13:] == token + ENTRY and (there := self._read(self.directory / name)) is not None:
                check_same(there.waiting, waiting)
                return
        size = sum(_size(self.directory / name) for name in ahead) + len(raw)
        if len(ahead) >= MAX_ENTRIES or size > MAX_BYTES or len(raw) > MAX_ENTRY_BYTES:
            raise problem
        make_private(self.directory)
        name = f"{self._next():012d}-{token}{ENTRY}"
        replace_whole(self.directory / name, raw, sync="name")
        _remove_stale_drafts(self.directory, self.directory / name)

    def _read(self, file: Path) -> OutboxEntry | None:
        """An entry; None if it is gone."""
        try:
            raw = file.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as trouble:
            raise StoreError(f"{file} cannot be read: {trouble}", hint="check the outbox's permissions") from trouble
        try:
            waiting = msgspec.json.decode(raw, type=QueuedWrite)
        except msgspec.MsgspecError:
            waiting = None
        reason = ""
        if file.parent.name == FAILED:
            reason = _read_reason(file.with_name(file.name + REASON))
        return OutboxEntry(name=file.name, size=len(raw), waiting=waiting, reason=reason)

    def _deliver(
        self, entry: OutboxEntry, store: Store, clock: Clock, embedding: Embedding | None, privacy: PrivacyFilter | None
    ) -> None:
        waiting = entry.waiting
        if waiting is None:
            raise Invalid("the file is damaged", hint="nothing of it can be delivered: see what it holds, or remove it")
        if waiting.format != FORMAT:
            raise Conflict(f"the entry has format {waiting.format}, this weft knows {FORMAT}", hint="upgrade weft")
        if waiting.account != self.account:
            raise Conflict(f"the entry is of account {waiting.account}, in the outbox of {self.account}")
        append(
            store,
            waiting.writer,
            [draft_of(each) for each in waiting.drafts],
            clock=clock,
            options=AppendOptions(
                viewer=waiting.viewer, embedding=embedding, request_id=waiting.request_id, privacy=privacy
            ),
        )

    def _remove(self, name: str) -> None:
        _ignore_missing(os.unlink, self.directory / name)
        sync_path(self.directory)


def place_of(root: Path, store_url: str, account: str) -> Path:
    """The directory of an account's waiting writes for a store: each store has its own, named by a digest."""
    scheme, _, rest = store_url.partition("://")
    where = f"{scheme}://{Path(rest).expanduser().absolute()}" if scheme == "sqlite" else store_url
    return root / hashlib.sha256(where.encode()).hexdigest()[:16] / account


def _token(request_id: str) -> str:
    return hashlib.sha256(request_id.encode()).hexdigest()[:20]


def _names_in(directory: Path) -> Iterator[str]:
    """Entries only: whole files, whose names begin with their number."""
    try:
        with os.scandir(directory) as found:
            for each in found:
                if each.name[:12].isdigit() and each.name.endswith(ENTRY) and not each.name.endswith(REASON):
                    yield each.name
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as trouble:
        raise StoreError(f"{directory} cannot be read: {trouble}", hint="check the outbox's permissions") from trouble


def _read_reason(file: Path) -> str:
    try:
        said = msgspec.json.decode(file.read_bytes(), type=dict[str, str])
    except (OSError, msgspec.MsgspecError):
        return "the reason was not kept"
    return f"{said.get('message', '')} ({said['hint']})" if said.get("hint") else said.get("message", "")


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0


def _remove_stale_drafts(directory: Path, written: Path) -> None:
    """Removes half-written files of processes that died. `written` is a new file: its time is that of the disk."""
    with contextlib.suppress(FileNotFoundError):  # another process was faster
        now_s = written.stat().st_mtime
        for each in directory.glob(".*" + ENTRY + ".*"):
            if now_s - each.stat().st_mtime > STALE_S:
                each.unlink()


def _ignore_missing(do: Any, *paths: Path) -> None:
    """For files that another process may have dealt with first."""
    try:
        do(*paths)
    except FileNotFoundError:
        return
