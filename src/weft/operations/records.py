"""Ingesting records: rows of passages, chat turns, whole conversations, source files, snippets and plain texts.

What a row becomes is decided by its shape (`weft.extract.records`). A record keeps its node: read again, an unchanged
row writes nothing, a changed one makes a new version. Of two rows with one id in the same file the first counts; the
other way round, reading the file again would write both anew every time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from functools import partial
from pathlib import Path
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import asdict, replace

from weft.code.languages import SUFFIXES
from weft.errors import Conflict, Forbidden, Invalid, NotFound
from weft.extract.records import Record, read_record
from weft.instants import MIN_INSTANT_US, to_iso
from weft.log.draft import Draft
from weft.log.kinds import graph, memory
from weft.loom import Loom
from weft.operations.committing import append_stamped
from weft.operations.conversations import LATEST, conversation_id
from weft.operations.deletions import revive
from weft.operations.record_files import BadLine, count_lines, read_lines
from weft.operations.rights import write_guard
from weft.operations.source_records import file_draft, snippet_draft
from weft.operations.stamping import TaskClosed
from weft.operations.turn_records import KnownTurns, Written, write_session, write_turns
from weft.queries import Which
from weft.types import Guard, NodeVersion, Scope

BATCH_ROWS: Final = 64  # enough for the embedder to be busy, few enough for others to get the lock
BATCH_CHARACTERS: Final = 400_000
PLAIN: Final = ("passage", "snippet", "memory")
MAX_TOLD: Final = 100  # of rows skipped and of notes


class SkippedRow(Struct, frozen=True, kw_only=True):
    """A row that was not kept, and why."""

    row: int
    reason: str


class RecordsIngested(Struct, frozen=True, kw_only=True):
    """What became of rows: how many were written or stood already, the turns written, and what went wrong.

    The first `MAX_TOLD` skipped rows are listed; `skipped_rows` counts all of them.
    """

    records: int
    messages: int
    unchanged: int
    skipped_rows: int
    skipped: tuple[SkippedRow, ...] = ()
    notes: tuple[str, ...] = ()


def ingest_records(
    loom: Loom,
    rows: Iterable[Mapping[str, Any]],
    *,
    project: str | None,
    scope: Scope | None = None,
    agents: tuple[str, ...] = (),
) -> RecordsIngested:
    """Keeps every row as what its shape says, in the given project. Rows are told apart by number, from 1.

    A row that cannot be kept is listed with the reason; the rest goes on. What was written stays if it stops halfway:
    the same rows again go on from there. Raises Forbidden for a scope the caller does not hold.
    """
    guard = write_guard(loom, scope=scope, agents=agents, project=project)
    total = len(rows) if isinstance(rows, Sized) else 0
    return _Ingestion(loom, guard).take(enumerate(rows, start=1), total)


def ingest_file(loom: Loom, path: Path, guard: Guard) -> RecordsIngested:
    """The records of a file, one JSON object a line; rows are numbered as lines."""
    return _Ingestion(loom, guard).take(read_lines(path), count_lines(path))


class _Row(Struct, frozen=True):
    """A record and the number of its row."""

    number: int
    record: Record


class _Ingestion:
    """One run over rows: what was seen, written, skipped and noted so far."""

    def __init__(self, loom: Loom, guard: Guard) -> None:
        self._loom, self._guard = loom, guard
        self._known = KnownTurns(loom)
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
            self._loom.progress("records", batch[-1].number, max(total, batch[-1].number))
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

    def _redacted(self, record: Record) -> Record:
        """Before it is compared with what stands, which holds no secret either. Raises Invalid for one in a name."""
        for name in ("id", "session", "path"):
            if self._loom.screen.holds_secret(getattr(record, name) or ""):
                raise Invalid(f"there is a secret in its {name}")
        redact = self._loom.screen.redact
        turns = tuple(replace(turn, text=redact(turn.text), speaker=redact(turn.speaker)) for turn in record.turns)
        return replace(
            record, text=redact(record.text), title=redact(record.title), speaker=redact(record.speaker), turns=turns
        )

    def _only_once(self, what: str, name: str) -> None:
        if (what, name) in self._seen:
            raise Invalid(f"the {what} {name!r:.80} was on an earlier row, which counts")
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

    def _write(self, rows: Sequence[_Row], write: Callable[[Sequence[Record]], Written]) -> None:
        """Writes rows together; where that is refused, by halves, until the rows at fault are alone."""
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

    def _write_turns(self, conversation: str, records: Sequence[Record]) -> Written:
        return write_turns(self._loom, self._known, conversation, self._guard, records)

    def _write_session(self, records: Sequence[Record]) -> Written:
        return write_session(self._loom, self._known, self._guard, records[0])

    def _write_files(self, records: Sequence[Record]) -> Written:
        made = [draft for record in records if (draft := file_draft(self._loom, self._guard, record)) is not None]
        return Written(records=len(made), note=append_stamped(self._loom, made).note if made else "")

    def _write_plain(self, records: Sequence[Record]) -> Written:
        """Records that are one node each: all of them in one commit."""
        drafts = [_draft(self._loom, self._guard, record) for record in records]
        nodes = self._loom.store.nodes(self._loom.viewer, LATEST, [_node_of(draft) for draft in drafts])
        standing = {node.id: node for node in nodes}
        absent = tuple(node_id for draft in drafts if (node_id := _node_of(draft)) not in standing)
        which = Which(ids=absent, deleted=True)
        deleted = {node.id: node for node in self._loom.store.last_versions(self._loom.viewer, which, limit=BATCH_ROWS)}
        changed: list[Draft] = []
        written = 0
        for record, draft in zip(records, drafts, strict=True):
            known = standing.get(_node_of(draft))
            if known is not None and _stands(record, draft, known, self._guard):
                continue
            written += 1
            gone = deleted.get(_node_of(draft))
            if gone is not None and _stands(record, draft, gone, self._guard):
                revive(self._loom, gone)  # with what was read out of it
                continue
            if known is not None and record.at is not None and known.interval.asserted_from > record.at:
                changed.append(_taken_back(known.id))  # else what was told wrong would hold again later on
            changed.append(draft)
        return Written(records=written, note=append_stamped(self._loom, changed).note if changed else "")


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
    """The id of the node of a record that is no conversation and no source file."""
    return f"record:{record}" if project is None else f"{project}/record:{record}"


def _draft(loom: Loom, guard: Guard, record: Record) -> Draft:
    """The event of a record that is one node."""
    node_id = record_id(guard.project, record.id)
    if record.shape == "snippet" and (snippet := snippet_draft(loom, node_id, guard, record)) is not None:
        return snippet
    name, kind = (record.title, "Document") if record.shape == "passage" else ("", "Memory")
    payload = memory.Remembered(
        id=node_id, node_kind=kind, name=name, text=record.text, props={"record": record.id}, **asdict(guard)
    )
    return Draft(kind="memory.remembered", payload=payload, occurred_at=record.at)


def _node_of(draft: Draft) -> str:
    """The node that a record becomes."""
    assert isinstance(draft.payload, memory.Remembered)
    return draft.payload.id


def _stands(record: Record, draft: Draft, known: NodeVersion, guard: Guard) -> bool:
    """The node says already what the record does, with the same rights, and not of another time."""
    payload = draft.payload
    assert isinstance(payload, memory.Remembered)
    if known.guard != guard or record.at not in (None, known.interval.asserted_from):
        return False
    said = (payload.node_kind, payload.name, payload.summary, payload.text, payload.props)
    return said == (known.kind, known.name, known.summary, known.text, dict(known.props))


def _taken_back(node: str) -> Draft:
    return Draft(kind="graph.ended", payload=graph.Ended(nodes=(node,), at=to_iso(MIN_INSTANT_US), reason="corrected"))
