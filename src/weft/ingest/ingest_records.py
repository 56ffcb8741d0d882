"""Ingestion of records: rows of passages, chat turns, whole conversations, source files, snippets and plain texts.

A row's shape decides what it becomes (`weft.text.extract.records`). A record keeps its node: read again, an unchanged
row writes nothing, a changed one a new version. Of two rows with one id in a file the first counts; otherwise reading
the file again would write both every time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct
from msgspec.structs import asdict, replace

from weft.code.index.reader import reader_of
from weft.code.index.records import SourceVersion, index, is_version
from weft.conversations.turn_records import KnownTurns, TurnsWritten, write_session, write_turns
from weft.conversations.turns import LATEST, conversation_id
from weft.core.clock import MIN_INSTANT_US, to_iso
from weft.core.errors import Conflict, Forbidden, Invalid, NotFound, StoreError
from weft.core.queries import NodeFilter
from weft.core.types import Guard, NodeVersion, Scope
from weft.files.languages import SUFFIXES, language_of
from weft.log.draft import Draft
from weft.log.kinds import graph, memory
from weft.retrieval.citations.file_ids import file_id
from weft.runtime.call_context import CallContext
from weft.text.extract.records import InputRecord, read_record
from weft.writing.build.commit import append_stamped
from weft.writing.build.deletions import restore_whole
from weft.writing.checks.provenance import TaskClosed
from weft.writing.checks.rights import write_guard

BATCH_ROWS: Final = 64  # large enough for the embedder, small enough to share the lock
BATCH_CHARACTERS: Final = 400_000
PLAIN: Final = ("passage", "snippet", "memory")
MAX_TOLD: Final = 100  # skipped rows and notes that are listed


class SkippedRow(Struct, frozen=True, kw_only=True):
    """A skipped row and the reason."""

    row: int
    reason: str


class RecordsIngested(Struct, frozen=True, kw_only=True):
    """Counts of rows: written, unchanged, turns written, and problems.

    The first `MAX_TOLD` skipped rows are listed; `skipped_rows` counts all of them.
    """

    records: int
    messages: int
    unchanged: int
    skipped_rows: int
    skipped: tuple[SkippedRow, ...] = ()
    notes: tuple[str, ...] = ()


def ingest_records(
    ctx: CallContext,
    rows: Iterable[Mapping[str, Any]],
    *,
    project: str | None,
    scope: Scope | None = None,
) -> RecordsIngested:
    """Ingests every row according to its shape, into the given project. Rows are numbered from 1.

    A row that cannot be stored is listed with the reason; the others are read. An interrupted run continues when it is
    repeated with the same rows. Raises Forbidden for a scope that the caller does not have.
    """
    guard = write_guard(ctx, scope=scope, agents=(), project=project)
    total = len(rows) if isinstance(rows, Sized) else 0
    return _Ingestion(ctx, guard).take(enumerate(rows, start=1), total)


def ingest_file(ctx: CallContext, path: Path, guard: Guard) -> RecordsIngested:
    """Ingests a file of records, one JSON object per line; rows are numbered as lines."""
    return _Ingestion(ctx, guard).take(read_lines(path), count_lines(path))


class _Row(Struct, frozen=True):
    """A record and its row number."""

    number: int
    record: InputRecord


class _Ingestion:
    """State of one run over rows."""

    def __init__(self, ctx: CallContext, guard: Guard) -> None:
        self._ctx, self._guard = ctx, guard
        self._known = KnownTurns(ctx)
        self._seen: set[tuple[str, str]] = set()
        self._skipped: list[SkippedRow] = []
        self._notes: dict[str, None] = {}
        self._records = self._messages = self._rows = self._skips = self._unnoted = 0

    def take(self, rows: Iterable[tuple[int, Any]], total: int) -> RecordsIngested:
        for batch in _batches(self._read(rows)):
            self._write([row for row in batch if row.record.shape in PLAIN], self._write_plain)
            self._write([row for row in batch if row.record.shape == "file"], self._write_files)
            for conversation, turns in _by_conversation(batch, self._guard).items():
                self._write(turns, partial(self._write_turns, conversation))
            for row in batch:
                if row.record.shape == "session":
                    self._write([row], self._write_session)
            self._ctx.progress("records", batch[-1].number, max(total, batch[-1].number))
        more = (f"and {self._unnoted} more notes",) if self._unnoted else ()
        return RecordsIngested(
            records=self._records,
            messages=self._messages,
            unchanged=self._rows - self._records - self._skips,
            skipped_rows=self._skips,
            skipped=tuple(self._skipped),
            notes=(*self._notes, *more),
        )

    def _read(self, rows: Iterable[tuple[int, Any]]) -> Iterator[_Row]:
        for number, row in rows:
            self._rows += 1
            try:
                if isinstance(row, BadLine):
                    raise Invalid(row.reason)
                record = self._redacted(read_record(row, source_suffixes=SUFFIXES))
                self._only_once("id", record.id)
                if record.shape == "file":
                    self._only_once("path", record.path)
            except Invalid as problem:
                self._skip(number, problem.message)
                continue
            for note in record.notes:
                self._note(f"row {number}: {note}")
            yield _Row(number, record)

    def _redacted(self, record: InputRecord) -> InputRecord:
        """The record without secrets, for comparison with stored ones. Raises Invalid for a secret in a name."""
        for name in ("id", "session", "path"):
            if self._ctx.privacy.holds_secret(getattr(record, name) or ""):
                raise Invalid(f"its {name} contains a secret")
        redact = self._ctx.privacy.redact
        turns = tuple(replace(turn, text=redact(turn.text), speaker=redact(turn.speaker)) for turn in record.turns)
        return replace(
            record, text=redact(record.text), title=redact(record.title), speaker=redact(record.speaker), turns=turns
        )

    def _only_once(self, what: str, name: str) -> None:
        if (what, name) in self._seen:
            raise Invalid(f"the {what} {name!r:.80} occurs on an earlier row, which is used")
        self._seen.add((what, name))

    def _skip(self, number: int, reason: str) -> None:
        self._skips += 1
        if len(self._skipped) < MAX_TOLD:
            self._skipped.append(SkippedRow(row=number, reason=reason))

    def _note(self, note: str) -> None:
        if len(self._notes) < MAX_TOLD:
            self._notes[note] = None
        elif note not in self._notes:
            self._unnoted += 1

    def _write(self, rows: Sequence[_Row], write: Callable[[Sequence[InputRecord]], TurnsWritten]) -> None:
        """Writes rows together; if refused, by halves, to isolate the failing ones."""
        if not rows:
            return
        try:
            done = write([row.record for row in rows])
        except TaskClosed:
            raise
        except (Invalid, Forbidden, Conflict, NotFound) as problem:
            if len(rows) == 1:
                self._skip(rows[0].number, problem.message)
                return
            middle = len(rows) // 2
            self._write(rows[:middle], write)
            self._write(rows[middle:], write)
            return
        self._records += done.records
        self._messages += done.messages
        if done.note:
            self._note(done.note)

    def _write_turns(self, conversation: str, records: Sequence[InputRecord]) -> TurnsWritten:
        return write_turns(self._ctx, self._known, conversation, self._guard, records)

    def _write_session(self, records: Sequence[InputRecord]) -> TurnsWritten:
        return write_session(self._ctx, self._known, self._guard, records[0])

    def _write_files(self, records: Sequence[InputRecord]) -> TurnsWritten:
        made = [draft for record in records if (draft := file_draft(self._ctx, self._guard, record)) is not None]
        return TurnsWritten(records=len(made), note=append_stamped(self._ctx, made).note if made else "")

    def _write_plain(self, records: Sequence[InputRecord]) -> TurnsWritten:
        """Writes records of one node each, in one commit."""
        drafts = [_draft(self._ctx, self._guard, record) for record in records]
        nodes = self._ctx.store.nodes(self._ctx.viewer, LATEST, [_node_of(draft) for draft in drafts])
        standing = {node.id: node for node in nodes}
        absent = tuple(node_id for draft in drafts if (node_id := _node_of(draft)) not in standing)
        which = NodeFilter(ids=absent, deleted=True)
        deleted = {node.id: node for node in self._ctx.store.last_versions(self._ctx.viewer, which, limit=BATCH_ROWS)}
        changed: list[Draft] = []
        written = 0
        for record, draft in zip(records, drafts, strict=True):
            known = standing.get(_node_of(draft))
            if known is not None and _stands(record, draft, known, self._guard):
                continue
            written += 1
            gone = deleted.get(_node_of(draft))
            if gone is not None and _stands(record, draft, gone, self._guard):
                restore_whole(self._ctx, gone)  # together with the facts extracted from it
                continue
            if known is not None and record.at is not None and known.interval.asserted_from > record.at:
                changed.append(_taken_back(known.id))  # otherwise the wrong version would be current again later
            changed.append(draft)
        return TurnsWritten(records=written, note=append_stamped(self._ctx, changed).note if changed else "")


def _batches(rows: Iterator[_Row]) -> Iterator[list[_Row]]:
    batch: list[_Row] = []
    characters = 0
    for row in rows:
        batch.append(row)
        characters += len(row.record.text)
        if len(batch) == BATCH_ROWS or characters >= BATCH_CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


def _by_conversation(rows: Sequence[_Row], guard: Guard) -> dict[str, list[_Row]]:
    found: dict[str, list[_Row]] = {}
    for row in rows:
        if row.record.shape == "turn":
            found.setdefault(conversation_id(guard.project, row.record.session), []).append(row)
    return found


def record_id(project: str | None, record: str) -> str:
    """The node id of a record that is neither a conversation nor a source file."""
    return f"record:{record}" if project is None else f"{project}/record:{record}"


def _draft(ctx: CallContext, guard: Guard, record: InputRecord) -> Draft:
    """The event of a record of one node."""
    node_id = record_id(guard.project, record.id)
    if record.shape == "snippet" and (snippet := snippet_draft(ctx, node_id, guard, record)) is not None:
        return snippet
    name, kind = (record.title, "Document") if record.shape == "passage" else ("", "Memory")
    payload = memory.Remembered(
        id=node_id, node_kind=kind, name=name, text=record.text, props={"record": record.id}, **asdict(guard)
    )
    return Draft(kind="memory.remembered", payload=payload, occurred_at=record.at)


def _node_of(draft: Draft) -> str:
    """The node id of a record's event."""
    assert isinstance(draft.payload, memory.Remembered)
    return draft.payload.id


def _stands(record: InputRecord, draft: Draft, known: NodeVersion, guard: Guard) -> bool:
    """Whether the node equals the record: content, rights and, if given, time."""
    payload = draft.payload
    assert isinstance(payload, memory.Remembered)
    if known.guard != guard or record.at not in (None, known.interval.asserted_from):
        return False
    said = (payload.node_kind, payload.name, payload.summary, payload.text, payload.props)
    return said == (known.kind, known.name, known.summary, known.text, dict(known.props))


def _taken_back(node: str) -> Draft:
    return Draft(kind="graph.ended", payload=graph.Ended(nodes=(node,), at=to_iso(MIN_INSTANT_US), reason="corrected"))


# ---- files of records


MAX_LINE_BYTES: Final = 1_500_000  # an event has at most a million bytes
MAX_LINES: Final = 1_000_000


class BadLine(Struct, frozen=True, kw_only=True):
    """A line that is not a row, and why."""

    reason: str


def count_lines(path: Path) -> int:
    """The number of lines, up to MAX_LINES."""
    lines = 0
    with _opened(path) as file:
        while lines < MAX_LINES and (block := file.read(1 << 20)):
            lines += block.count(b"\n")
    return min(lines + 1, MAX_LINES)


def read_lines(path: Path) -> Iterator[tuple[int, Any]]:
    """(line number from 1, its value or a BadLine), without blank lines. Raises StoreError if unreadable."""
    with _opened(path) as file:
        for number in range(1, MAX_LINES + 1):
            line = file.readline(MAX_LINE_BYTES + 1)
            if not line:
                return
            if len(line) > MAX_LINE_BYTES and not line.endswith(b"\n"):
                while (more := file.readline(MAX_LINE_BYTES)) and not more.endswith(b"\n"):
                    pass
                yield number, BadLine(reason=f"longer than {MAX_LINE_BYTES:,} bytes")
            elif (line := line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line).strip():
                yield number, _decoded(line)
        if file.read(1):
            yield (
                MAX_LINES + 1,
                BadLine(
                    reason=f"the file has more than {MAX_LINES:,} lines: split it; this and later lines were not read"
                ),
            )


def _decoded(line: bytes) -> Any:
    try:
        return msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as problem:
        return BadLine(reason=f"is not JSON: {problem!s:.120}")
    except RecursionError:
        return BadLine(reason="is nested too deeply")


def _opened(path: Path) -> Any:
    try:
        return path.open("rb")
    except OSError as problem:
        raise StoreError(f"{path} cannot be read: {problem.strerror}", hint="check its permissions") from problem


# ---- records of source code


def file_draft(ctx: CallContext, guard: Guard, record: InputRecord) -> Draft | None:
    """The event of a record with a path to source code; None if the graph is up to date.

    Raises TooLarge for a file that is too long, Invalid for an unsupported language or one that takes too much to
    parse.
    """
    digest = hashlib.sha256(record.text.encode()).hexdigest()
    source = SourceVersion(path=record.path, sha256=digest, at=record.at, record=record.id)
    language = language_of(record.path)
    known = next(iter(ctx.store.nodes(ctx.viewer, LATEST, [file_id(guard.project, record.path)])), None)
    if known is not None and language is not None and is_version(known, guard, source, language.name):
        return None
    return index(ctx, guard, replace(source, read=reader_of(ctx).source(record.text, record.path)), known).draft


def snippet_draft(ctx: CallContext, node_id: str, guard: Guard, record: InputRecord) -> Draft | None:
    """The event of a record whose text is Python code with a definition; None if it is not."""
    snippet = reader_of(ctx).snippet(record.text)
    if snippet is None:
        return None
    payload = memory.Remembered(
        id=node_id,
        node_kind=snippet.kind,
        name=snippet.name,
        summary=snippet.docstring,
        text=record.text,
        props={"record": record.id},
        **asdict(guard),
    )
    return Draft(kind="memory.remembered", payload=payload, occurred_at=record.at)
