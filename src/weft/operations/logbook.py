"""The log itself: show, verify, head, export, import."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Annotated, BinaryIO, cast

from msgspec import Meta, Struct

from weft.adopt import Adopted, adopt
from weft.errors import Corrupt, Invalid, NotFound, StoreError
from weft.instants import to_iso
from weft.log.jsonl import MAX_LINE_BYTES, write_lines
from weft.log.verify import ChainChecker, Verified, read_commits, verify
from weft.loom import Loom
from weft.operations.auditing import log_store
from weft.operations.bounds import bounded
from weft.operations.fields import Label, Limit
from weft.operations.paths import read_path
from weft.operations.registry import Operation
from weft.operations.showing import EventShown, show_events
from weft.types import Commit, Event

Committed = tuple[Commit, tuple[Event, ...]]

OfTheAudit = Annotated[bool, Meta(description="the log of recorded calls instead, which is one of its own")]
FilePath = Annotated[str, Meta(min_length=1, max_length=4096, description="a file, or - for standard input or output")]


class LogShow(Struct, frozen=True, kw_only=True):
    """Input of `log_show`."""

    session: Annotated[Label | None, Meta(description="one session only")] = None
    after: Annotated[int, Meta(ge=0, le=2**53 - 1, description="events of the session after this number")] = 0
    limit: Limit = 20


class Events(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Events, in order of the log; without a session the latest ones."""

    events: tuple[EventShown, ...]
    notes: tuple[str, ...] = ()


def log_show(loom: Loom, given: LogShow) -> Events:
    """Shows events. Without a session, the latest of all sessions; with one, from the given number on."""
    if given.session is None and given.after:
        raise Invalid("--after counts within a session", hint="name one with --session")
    found = loom.store.events(
        loom.viewer,
        session=given.session,
        after_seq=given.after,
        limit=given.limit,
        newest_first=given.session is None,
    )
    if given.session is not None and not found and given.after == 0:
        raise NotFound(f"there is no session {given.session!r} that you may see", hint="`weft log head` lists sessions")
    ordered = found if given.session is not None else found[::-1]
    shown = Events(events=show_events(loom, ordered), notes=() if ordered else ("the log holds nothing more",))
    return bounded(shown, "events")


class LogVerify(Struct, frozen=True, kw_only=True):
    """Input of `log_verify`."""

    head: (
        Annotated[str, Meta(pattern="^[0-9a-fA-F]{64}$", description="a head kept elsewhere, to notice a missing tail")]
        | None
    ) = None
    audit: OfTheAudit = False


def log_verify(loom: Loom, given: LogVerify) -> Verified:
    """Recomputes every hash of the log, or of the audit's, and names the first event that does not fit."""
    viewer = loom.operator("verify the log")
    return verify(log_store(loom, audit=given.audit), viewer, expected_digest=given.head)


class LogHead(Struct, frozen=True, kw_only=True):
    """Input of `log_head`."""

    limit: Limit = 20
    audit: OfTheAudit = False


class SessionEnd(Struct, frozen=True, kw_only=True):
    """Where one session stands."""

    session: str
    seq: int
    hash: str


class HeadShown(Struct, frozen=True, kw_only=True):
    """Where the log stands. Keep the digest elsewhere, and `weft log verify --head` will notice a missing tail."""

    account: str
    pos: int
    at: str | None
    digest: str
    sessions: tuple[SessionEnd, ...]


def log_head(loom: Loom, given: LogHead) -> HeadShown:
    """Prints the digest of the whole log, and where its latest sessions stand."""
    viewer = loom.operator("see the head of the log")
    store = log_store(loom, audit=given.audit)
    head = store.head(viewer)
    sessions = store.session_heads(viewer, limit=given.limit)
    return HeadShown(
        account=loom.viewer.account,
        pos=head.pos,
        at=to_iso(head.at) if head.pos else None,
        digest=head.digest.hex(),
        sessions=tuple(SessionEnd(session=s.session, seq=s.seq, hash=s.hash.hex()) for s in sessions),
    )


class LogExport(Struct, frozen=True, kw_only=True):
    """Input of `log_export`."""

    path: FilePath
    audit: OfTheAudit = False


class Exported(Struct, frozen=True, kw_only=True):
    """What was written."""

    path: str
    events: int
    digest: str


def log_export(loom: Loom, given: LogExport) -> Exported:
    """Writes the whole log as JSON lines: the same bytes for the same log, whatever the backend."""
    viewer = loom.operator("export the log")
    store = log_store(loom, audit=given.audit)
    head = store.head(viewer)
    lines = write_lines(viewer.account, _reported(loom, read_commits(store, viewer), head.pos))
    if given.path == "-":
        for line in lines:
            sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()
    else:
        _write_whole(read_path(given.path), lines)
    return Exported(path=given.path, events=head.pos, digest=head.digest.hex())


def _reported(loom: Loom, commits: Iterable[Committed], total: int) -> Iterator[Committed]:
    """Commits as they are read, each checked: a log that was changed is not carried further."""
    checker = ChainChecker(loom.viewer.account)
    for commit, events in commits:
        if problem := checker.check(commit, events):
            raise Corrupt(f"the log was changed: {problem}", hint="restore a backup from before the change")
        yield commit, events
        loom.progress("exporting", commit.first_pos + commit.count - 1, total)
    if problem := checker.unbound():
        raise Corrupt(
            f"the log does not say what stands in it: {problem}",
            hint="export again if something was erased meanwhile; `weft log verify` tells",
        )


def _write_whole(path: Path, lines: Iterable[bytes]) -> None:
    """All of it or nothing: written beside, then renamed."""
    beside = path.parent / f"{path.name}.part"
    try:
        if path.exists():
            raise Invalid(f"{path} exists already", hint="choose a new name; nothing is overwritten")
        owners = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(owners, "wb") as file:
            for line in lines:
                file.write(line)
        beside.rename(path)
    except OSError as problem:
        with suppress(OSError):  # it may be what cannot be reached
            beside.unlink(missing_ok=True)
        raise StoreError(
            f"{path} cannot be written: {problem}", hint="check the directory and the space left"
        ) from problem


class LogImport(Struct, frozen=True, kw_only=True):
    """Input of `log_import`."""

    path: Annotated[
        str,
        Meta(min_length=1, max_length=4096, description="a file made by `weft log export`, or - for standard input"),
    ]


def log_import(loom: Loom, given: LogImport) -> Adopted:
    """Takes an exported log in. The whole file is checked before anything is written.

    Into an empty store the log comes back exactly: same heads, same graph. Into a store with its own history the
    sessions it lacks are added, known from now on.
    """
    viewer = loom.operator("import a log")
    with _open_log(given.path) as file:
        return adopt(loom.store, viewer, lambda: _read_lines(file), clock=loom.clock)


def _open_log(written: str) -> BinaryIO:
    """The file, or a copy of standard input: a log is read twice."""
    if written == "-":
        copy = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
        shutil.copyfileobj(sys.stdin.buffer, copy)
        return cast("BinaryIO", copy)
    path = read_path(written)
    try:
        if not path.is_file():
            raise NotFound(f"there is no file {written}", hint="make one with `weft log export FILE`")
        return path.open("rb")
    except OSError as problem:
        raise StoreError(f"{written} cannot be read: {problem}", hint="check its name and its rights") from problem


def _read_lines(file: BinaryIO) -> Iterator[bytes]:
    """From the beginning, every time: a log is read twice."""
    try:
        file.seek(0)
        while line := file.readline(MAX_LINE_BYTES + 1):
            yield line
    except OSError as problem:
        raise StoreError(f"the file cannot be read: {problem}", hint="check the disk, or export it again") from problem


OPERATIONS = (
    Operation(
        name="log_show",
        summary="show events of the log",
        input=LogShow,
        output=Events,
        effect="read",
        toolset="admin",
        run=log_show,
        priorities={"events.payload": "high"},
    ),
    Operation(
        name="log_verify",
        summary="recompute every hash, and name the first event that does not fit",
        input=LogVerify,
        output=Verified,
        effect="read",
        toolset="admin",
        run=log_verify,
    ),
    Operation(
        name="log_head",
        summary="print the digest of the log, to keep elsewhere",
        input=LogHead,
        output=HeadShown,
        effect="read",
        toolset="admin",
        run=log_head,
    ),
    Operation(
        name="log_export",
        summary="write the whole log as JSON lines",
        input=LogExport,
        output=Exported,
        effect="read",
        toolset="admin",
        reach="machine",
        run=log_export,
        arguments=("path",),
    ),
    Operation(
        name="log_import",
        summary="take an exported log in",
        input=LogImport,
        output=Adopted,
        effect="write",
        toolset="admin",
        reach="machine",
        run=log_import,
        arguments=("path",),
    ),
)
