"""`log_show`, `log_verify`, `log_head`, `log_export`, `log_import`: the event log itself."""

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

from weft.access.audit import log_store
from weft.append.import_log import ImportResult, import_log
from weft.core.clock import to_iso
from weft.core.errors import Corrupt, Invalid, NotFound, StoreError
from weft.core.types import Commit, Event
from weft.files.paths import read_path
from weft.log.jsonl import MAX_LINE_BYTES, write_lines
from weft.log.verify import ChainChecker, VerifyResult, read_commits, verify
from weft.recall.answer_limits import bounded
from weft.recall.show_values import EventShown, show_events
from weft.runtime.call_context import CallContext
from weft.runtime.fields import Label, Limit
from weft.runtime.operation import Operation

Committed = tuple[Commit, tuple[Event, ...]]

OfTheAudit = Annotated[bool, Meta(description="the audit's log instead of the memories' log")]
FilePath = Annotated[str, Meta(min_length=1, max_length=4096, description="a file, or - for standard input or output")]


class LogShow(Struct, frozen=True, kw_only=True):
    """Input of `log_show`."""

    session: Annotated[Label | None, Meta(description="one session only")] = None
    after: Annotated[int, Meta(ge=0, le=2**53 - 1, description="only events of the session after this number")] = 0
    limit: Limit = 20


class Events(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Events in log order; without a session the latest ones."""

    events: tuple[EventShown, ...]
    notes: tuple[str, ...] = ()


def log_show(ctx: CallContext, given: LogShow) -> Events:
    """Shows events: the latest of all sessions or, with a session, from a number on."""
    if given.session is None and given.after:
        raise Invalid("--after is the number of an event within a session", hint="name the session with --session")
    found = ctx.store.events(
        ctx.viewer,
        session=given.session,
        after_seq=given.after,
        limit=given.limit,
        newest_first=given.session is None,
    )
    if given.session is not None and not found and given.after == 0:
        raise NotFound(f"there is no session {given.session!r} that you may see", hint="`weft log head` lists sessions")
    ordered = found if given.session is not None else found[::-1]
    shown = Events(events=show_events(ctx, ordered), notes=() if ordered else ("there are no more events",))
    return bounded(shown, "events")


class LogVerify(Struct, frozen=True, kw_only=True):
    """Input of `log_verify`."""

    head: (
        Annotated[
            str,
            Meta(
                pattern="^[0-9a-fA-F]{64}$", description="a digest kept elsewhere, to detect missing events at the end"
            ),
        ]
        | None
    ) = None
    audit: OfTheAudit = False


def log_verify(ctx: CallContext, given: LogVerify) -> VerifyResult:
    """Recomputes every hash of the log, or of the audit's log, and names the first event that does not match."""
    viewer = ctx.operator("verify the log")
    return verify(log_store(ctx, audit=given.audit), viewer, expected_digest=given.head)


class LogHead(Struct, frozen=True, kw_only=True):
    """Input of `log_head`."""

    limit: Limit = 20
    audit: OfTheAudit = False


class SessionEnd(Struct, frozen=True, kw_only=True):
    """The last event of a session."""

    session: str
    seq: int
    hash: str


class HeadShown(Struct, frozen=True, kw_only=True):
    """The end of the log. Keep the digest elsewhere: `weft log verify --head` detects missing events at the end."""

    account: str
    pos: int
    at: str | None
    digest: str
    sessions: tuple[SessionEnd, ...]


def log_head(ctx: CallContext, given: LogHead) -> HeadShown:
    """Prints the digest of the whole log, and the last events of its latest sessions."""
    viewer = ctx.operator("see the head of the log")
    store = log_store(ctx, audit=given.audit)
    head = store.head(viewer)
    sessions = store.session_heads(viewer, limit=given.limit)
    return HeadShown(
        account=ctx.viewer.account,
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
    """The exported file, its events and the digest."""

    path: str
    events: int
    digest: str


def log_export(ctx: CallContext, given: LogExport) -> Exported:
    """Writes the whole log as JSON lines: the same bytes for the same log, on every backend."""
    viewer = ctx.operator("export the log")
    store = log_store(ctx, audit=given.audit)
    head = store.head(viewer)
    lines = write_lines(viewer.account, _reported(ctx, read_commits(store, viewer), head.pos))
    if given.path == "-":
        for line in lines:
            sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()
    else:
        _write_whole(read_path(given.path), lines)
    return Exported(path=given.path, events=head.pos, digest=head.digest.hex())


def _reported(ctx: CallContext, commits: Iterable[Committed], total: int) -> Iterator[Committed]:
    """Verified commits: a log that was changed is not exported."""
    checker = ChainChecker(ctx.viewer.account)
    for commit, events in commits:
        if problem := checker.check(commit, events):
            raise Corrupt(f"the log was changed: {problem}", hint="restore a backup from before the change")
        yield commit, events
        ctx.progress("exporting", commit.first_pos + commit.count - 1, total)
    if problem := checker.unbound():
        raise Corrupt(
            f"the log does not account for its contents: {problem}",
            hint="export again if something was erased meanwhile; check with `weft log verify`",
        )


def _write_whole(path: Path, lines: Iterable[bytes]) -> None:
    """Writes a new file atomically."""
    beside = path.parent / f"{path.name}.part"
    try:
        if path.exists():
            raise Invalid(f"{path} exists already and is not overwritten", hint="choose a new name")
        owners = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(owners, "wb") as file:
            for line in lines:
                file.write(line)
        beside.rename(path)
    except OSError as problem:
        with suppress(OSError):  # it may be unreachable
            beside.unlink(missing_ok=True)
        raise StoreError(
            f"{path} cannot be written: {problem}", hint="check the directory and the free space"
        ) from problem


class LogImport(Struct, frozen=True, kw_only=True):
    """Input of `log_import`."""

    path: Annotated[
        str,
        Meta(min_length=1, max_length=4096, description="a file made by `weft log export`, or - for standard input"),
    ]


def log_import(ctx: CallContext, given: LogImport) -> ImportResult:
    """Imports an exported log. The whole file is verified before anything is written.

    In an empty store the log is restored exactly: the same hashes and the same graph. In a store with a history of its
    own, missing sessions are added, with the record time of the import.
    """
    viewer = ctx.operator("import a log")
    with _open_log(given.path) as file:
        return import_log(ctx.store, viewer, lambda: _read_lines(file), clock=ctx.clock)


def _open_log(written: str) -> BinaryIO:
    """The file, or a copy of standard input, since a log is read twice."""
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
        raise StoreError(f"{written} cannot be read: {problem}", hint="check its name and its permissions") from problem


def _read_lines(file: BinaryIO) -> Iterator[bytes]:
    """The lines from the beginning, each time it is called."""
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
        summary="recompute every hash, and name the first event that does not match",
        input=LogVerify,
        output=VerifyResult,
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
        audited_words="arguments",
        reach="machine",
        run=log_export,
        arguments=("path",),
    ),
    Operation(
        name="log_import",
        summary="import an exported log",
        input=LogImport,
        output=ImportResult,
        effect="write",
        toolset="admin",
        reach="machine",
        run=log_import,
        arguments=("path",),
    ),
)
