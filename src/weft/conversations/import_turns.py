"""Import of a transcript's turns: each exactly once, however often and concurrently its file is read.

A turn is identified by its id. A conversation may also have been recorded live, without ids: then a turn with the same
author and words is the same turn.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from weft.conversations.first_message import release, waiting_words
from weft.conversations.formats.entries import (
    ConversationTitle,
    ImportedTurn,
    Omitted,
    ReaderNote,
    ReadTo,
    Unreadable,
    session_of,
)
from weft.conversations.formats.formats import Format
from weft.conversations.import_state import ImportState, Progress, is_erased, stand_of, tail_of
from weft.conversations.turn_records import Conversation, KnownTurns, others_in, write_turns
from weft.conversations.turns import LATEST, conversation_id, message_id, standing_of
from weft.core.errors import Conflict, Forbidden, Invalid, NotFound
from weft.runtime.call_context import CallContext
from weft.text.extract.records import InputRecord
from weft.text.extract.speakers import SpokenText, spoken_by
from weft.writing.build.deletions import deleted_node
from weft.writing.checks.provenance import TaskClosed
from weft.writing.checks.rights import write_guard

BATCH_TURNS: Final = 64
BATCH_CHARACTERS: Final = 400_000
MAX_TOLD: Final = 50
MAX_REASONS: Final = 50  # distinct reasons that are counted
ALONE: Final = "a conversation of one message, which policy lazy does not import"
MAX_CHECKED: Final = 20  # conversations of one file that are checked before its progress is trusted

Place = Callable[[ImportedTurn], "Home | str"]


class Home(Struct, frozen=True, kw_only=True):
    """The destination of a turn: a session of a project. A `shared` session may receive several of the file's sessions.

    `records` prefixes its record ids, after the program's name: ids of two chats in a shared session may be equal.
    """

    session: str
    project: str | None
    shared: bool = False
    records: str = ""


class Intake(Struct, kw_only=True):
    """Counts of an import. The first omissions are listed, all are counted by reason.

    `known` turns were imported earlier and not read again; `unlisted` counts their conversations without names.
    """

    conversations: set[str] = field(default_factory=set)
    read: int = 0
    written: int = 0
    known: int = 0
    unlisted: int = 0
    bad: int = 0
    skipped: int = 0
    shortened: int = 0
    projects: Counter[str] = field(default_factory=Counter)
    told: dict[str, None] = field(default_factory=dict)
    notes: dict[str, None] = field(default_factory=dict)
    reasons: Counter[str] = field(default_factory=Counter)

    def tell(self, where: str, reason: str, count: int = 1) -> None:
        """Lists an omission, up to a limit, and counts it."""
        if len(self.told) < MAX_TOLD:
            self.told[f"{where}: {reason}"] = None
        self.count(reason, count)

    def count(self, reason: str, count: int = 1) -> None:
        """Counts an omission; reasons that differ only after the colon are one."""
        kind = reason.partition(":")[0]
        self.reasons[kind if kind in self.reasons or len(self.reasons) < MAX_REASONS else "other reasons"] += count


class Transcript:
    """The import of one file. Interrupted at any point, the next import continues."""

    def __init__(
        self,
        ctx: CallContext,
        path: Path,
        form: Format,
        place: Place,
        intake: Intake,
        *names: str | None,
        lazy: bool = False,
    ) -> None:
        """With `lazy`, a conversation is kept from its second message on; alone, the first is left out."""
        self._ctx, self._path, self._form, self._place, self._intake = ctx, path, form, place, intake
        self._lazy = lazy
        self._alone: dict[str, tuple[Home, ImportedTurn]] = {}
        self._refused = False
        self._progress = Progress(ctx.settings, path, form.source, *names)
        self._reached = self._believed(self._progress.load())
        self._offset = self._reached.offset
        self._went_on = self._offset > 0  # earlier bytes are not read again
        self._turns: dict[str, int] = {}
        self._by_session: dict[str, str] = {}
        for conversation, turns in self._reached.turns.items():
            self._reach(conversation, turns)
        self._mark = self._reached.mark
        self._taken = self._reached.known if self._offset else 0
        self._titles: dict[str, str] = {}
        self._homes: dict[str, Home] = {}
        self._open: dict[str, Conversation | str] = {}
        self._known = KnownTurns(ctx)

    @property
    def unchanged(self) -> bool:
        """Whether the file is unchanged since it was read completely, and nothing omitted then is wanted now.

        Raises NotFound if it is gone.
        """
        if self._reached.alone and not self._lazy:
            return False
        return stand_of(self._path) == (self._reached.size, self._reached.modified_ns)

    def take(self, *, since_us: int | None = None, advance: Callable[[int], None] = lambda end: None) -> None:
        """Imports the new part of the file. `advance` is called with the number of bytes read."""
        if self.unchanged or self._offset:  # else it is read again from the beginning
            self._intake.known += self._reached.known
            self._intake.conversations.update(self._reached.turns)
            self._intake.unlisted += self._reached.conversations - len(self._reached.turns)
        if self.unchanged:
            return
        stood = stand_of(self._path)
        batch: list[ImportedTurn] = []
        characters = 0
        passed = self._offset
        for entry in self._form.read(self._path, self._offset):
            match entry:
                case ImportedTurn():
                    if since_us is None or entry.at is None or entry.at >= since_us:
                        batch.append(entry)
                        characters += len(entry.text)
                case ConversationTitle():
                    self._titles[entry.session] = entry.title
                case Unreadable():
                    self._intake.bad += 1
                    self._intake.tell(f"{self._path.name}, {entry.where}", entry.reason)
                case Omitted():
                    self._intake.count(entry.reason)
                case ReaderNote():
                    self._intake.notes[entry.note] = None
                case ReadTo():
                    passed = entry.end
            full = len(batch) >= BATCH_TURNS or characters >= BATCH_CHARACTERS
            if full and (
                isinstance(entry, ReadTo) or not self._form.grows
            ):  # everything before `passed` is in the batch
                self._write(batch)
                batch, characters = [], 0
                self._save(passed)
                advance(passed)
        self._write(batch)
        self._intake.skipped += len(self._alone)
        for _, turn in self._alone.values():
            self._intake.tell(f"conversation {turn.session}", ALONE)
        self._save(passed, whole=stood)

    def _believed(self, reached: ImportState) -> ImportState:
        """The stored progress, unless the store has fewer turns: then it is another store or an older copy.

        If a conversation was deleted, the file is read again, to report it.
        """
        for conversation, turns in list(reached.turns.items())[:MAX_CHECKED]:
            last = message_id(conversation, max(turns, 1))
            if self._ctx.store.nodes(self._ctx.viewer, LATEST, [last]):
                continue
            if self._gone(conversation):
                return replace(reached, offset=0, tail="", size=0, modified_ns=0, known=0)
            try:
                if standing_of(self._ctx, conversation).turns < turns:
                    return ImportState()
            except (Forbidden, Invalid):
                return ImportState()
        return reached

    def _save(self, passed: int, whole: tuple[int, int] = (0, 0)) -> None:
        # Single messages are read again with the second one; deleted conversations may be restored.
        self._offset = passed if self._form.grows and not (self._alone or self._refused) else 0
        size, modified = (0, 0) if self._refused else whole
        reached = ImportState(
            offset=self._offset,
            tail=tail_of(self._path, self._offset),
            size=size,
            modified_ns=modified,
            known=self._taken,
            conversations=len(self._turns),
            alone=len(self._alone),
            mark=self._mark,
            turns=self._turns if self._offset else dict(list(self._turns.items())[:MAX_CHECKED]),
        )
        self._progress.save(reached)

    def _write(self, batch: Sequence[ImportedTurn]) -> None:
        """Adds turns to their conversations, in order."""
        homes: dict[str, tuple[Home, list[ImportedTurn]]] = {}
        for turn in batch:
            self._intake.read += 1
            home = self._home(turn, batch)
            if isinstance(home, str):
                self._intake.skipped += 1
                self._intake.tell(f"conversation {turn.session}", home)
                continue
            conversation = conversation_id(home.project, home.session)
            homes.setdefault(conversation, (home, []))[1].append(turn)
        for conversation, (home, new) in homes.items():
            if conversation in self._alone:  # opened again: another message may be held there
                new.insert(0, self._alone.pop(conversation)[1])
                del self._open[conversation]
            if conversation not in self._open:
                self._open[conversation] = self._opened(conversation, home, new)
            opened = self._open[conversation]
            if isinstance(opened, str):
                self._intake.skipped += len(new)
                self._intake.tell(f"conversation {home.session}", opened, len(new))
            else:
                self._add(opened, home, new)

    def _add(self, opened: Conversation, home: Home, turns: Sequence[ImportedTurn]) -> None:
        """Adds turns to one conversation; with policy lazy a single first turn waits for the next."""
        found = [(turn, self._record(turn)) for turn in turns]
        records = {each.id: each for _, each in found if each is not None}  # the last one counts
        if self._lazy and not opened.turns and len(records) == 1:
            self._alone[opened.id] = (home, turns[-1])
            return
        self._intake.conversations.add(opened.id)
        self._taken += len(turns)
        self._intake.shortened += sum(bool(turn.dropped) for turn, record in found if record is not None)
        for turn in (turn for turn, record in found if record is None):
            self._intake.skipped += 1
            self._intake.tell(f"conversation {turn.session}", "the id of a turn contains a secret")
        fresh = [each for each in records.values() if not opened.says(each)]
        self._put(opened, fresh)
        self._intake.projects[home.project or ""] += len(turns)
        self._reach(opened.id, opened.last_of(fresh))

    def _reach(self, conversation: str, turn: int) -> None:
        self._turns[conversation] = max(self._turns.get(conversation, 0), turn)
        self._by_session.setdefault(conversation.rpartition("/")[2], conversation)

    def _home(self, turn: ImportedTurn, batch: Sequence[ImportedTurn]) -> Home | str:
        """The destination of a turn: that of its session, which stays where it was first imported."""
        if turn.session not in self._homes:
            home = self._place(turn)
            if isinstance(home, str):
                return home
            by_file = self._form.by_file and turn.session == session_of(self._path)
            if by_file and not self._reached.turns:
                first = [each for each in batch if each.session == turn.session][:BEGINNING]
                records = [each for each in map(self._record, first) if each is not None]
                self._mark = mark_of(records, partial(self._stood, home, turn.session))
            home = _marked(home, turn.session, self._mark if by_file else "")
            before = self._by_session.get(home.session.rpartition("/")[2], "")
            kept = before.removesuffix(f"/{home.session}") if before.endswith(f"/{home.session}") else home.project
            self._homes[turn.session] = replace(home, project=kept)
        return self._homes[turn.session]

    def _stood(self, home: Home, session: str, mark: str) -> list[tuple[str, str]]:
        """The stored turns of the file under this suffix, in order, as (record, text)."""
        home = _marked(home, session, mark)
        conversation = conversation_id(home.project, home.session)
        try:
            known = self._known.of(conversation, standing_of(self._ctx, conversation).turns)
        except (Forbidden, Invalid):
            return []  # reported when it is opened
        begins = f"{self._form.source}:{home.records}"
        return [(record, turns[0].text) for record, turns in known.items() if record.startswith(begins)]

    def _gone(self, conversation: str) -> str:
        """Why a deleted or erased conversation is not continued; empty if it exists."""
        if is_erased(self._ctx.settings, conversation):
            return "it was erased: use --session NAME to import it as another conversation"
        if deleted_node(self._ctx, conversation) is not None:
            return f"it was deleted: `weft restore {conversation}` brings it back"
        return ""

    def _opened(self, conversation: str, home: Home, new: Sequence[ImportedTurn]) -> Conversation | str:
        """The state of a conversation, or why nothing is added to it. Held messages are recorded first."""
        if gone := self._gone(conversation):
            self._refused = True
            return gone
        try:
            said = {record.text for turn in new if (record := self._record(turn)) is not None}
            if said - waiting_words(self._ctx, conversation) or not self._lazy:
                for note in release(self._ctx, conversation).notes:
                    self._intake.notes[note] = None
            standing = standing_of(self._ctx, conversation)
            asked = write_guard(self._ctx, scope=None, agents=(), project=home.project)
        except (Forbidden, Invalid) as problem:
            return problem.message
        known = self._known
        before = self._turns.get(conversation, 0) if self._went_on else 0
        if before and self._form.final:
            known = KnownTurns(self._ctx, conversation, before)
        others = others_in(self._ctx, conversation, before, standing.turns, f"{self._form.source}:")
        return Conversation(conversation, standing.guard or asked, known, others, standing.turns)

    def _record(self, turn: ImportedTurn) -> InputRecord | None:
        """A turn as a record, redacted like the stored ones. None if its id contains a secret."""
        screen = self._ctx.privacy
        home = self._homes.get(turn.session)
        identity = f"{self._form.source}:{home.records if home else ''}{turn.id}"
        if screen.holds_secret(identity):
            return None
        text = screen.redact(turn.text)
        spoken = spoken_by(screen.redact(turn.speaker), text) if turn.speaker else SpokenText(text=text, role=turn.role)
        return InputRecord(
            id=identity,
            shape="turn",
            text=spoken.text,
            title=screen.redact(self._titles.get(turn.session, "")),
            at=turn.at,
            session=turn.session,
            role=spoken.role,
            speaker=spoken.speaker,
        )

    def _put(self, conversation: Conversation, records: Sequence[InputRecord]) -> None:
        """Writes records together; if refused, by halves, to isolate the failing ones."""
        if not records:
            return
        try:
            done = write_turns(self._ctx, conversation.known, conversation.id, conversation.guard, records)
        except TaskClosed:
            raise
        except (Invalid, Forbidden, Conflict, NotFound) as problem:
            if len(records) == 1:
                self._intake.skipped += 1
                self._intake.tell(f"turn {records[0].id}", problem.message)
                return
            middle = len(records) // 2
            self._put(conversation, records[:middle])
            self._put(conversation, records[middle:])
            return
        self._intake.written += done.messages
        conversation.turns += done.messages
        if done.note:
            self._intake.notes[done.note] = None


def _marked(home: Home, session: str, mark: str) -> Home:
    """The destination with this suffix: in the session's name, or in record ids of a shared session."""
    if not home.shared:
        return replace(home, session=f"{home.session}{mark}")
    digest = hashlib.sha256(f"{session}{mark}".encode("utf-8", "replace")).hexdigest()[:12]
    return replace(home, records=f"{digest}:")


# ---- conversations named by their file


BEGINNING: Final = 8  # compared turns
MAX_NAMES: Final = 1_000  # files with one name and the same first turn


def mark_of(first: Sequence[InputRecord], stored: Callable[[str], Sequence[tuple[str, str]]]) -> str:
    """The suffix for the name of a file that begins with these turns: empty if the name is free or its own.

    `stored` gives the stored turns under a suffix, as (record, text). If the suffix is part of record ids, only the
    part after the last colon is compared.
    """
    if not first:
        return ""
    begins = [(_own(each.id), each.text) for each in first[:BEGINNING]]
    dated = all(each.at is not None for each in first[:BEGINNING])
    digest = hashlib.sha256("\x00".join(begins[0]).encode("utf-8", "replace")).hexdigest()[:8]
    marks = ("", f"-{digest}", *(f"-{digest}-{number}" for number in range(2, MAX_NAMES)))
    for mark in marks:
        stood = [(_own(record), text) for record, text in stored(mark)]
        if not stood or _is_same(begins, stood, dated=dated):
            return mark
    return marks[-1]


def _own(record: str) -> str:
    return record.rpartition(":")[2]


def _is_same(begins: list[tuple[str, str]], stood: list[tuple[str, str]], *, dated: bool) -> bool:
    """Whether turns are of one conversation. Dated turns identify it anywhere, as a newer export may begin later;
    undated ones only at the beginning, as many begin with "hello".
    """
    if dated:
        return not set(begins).isdisjoint(stood)
    both = min(len(begins), len(stood), BEGINNING)
    return begins[:both] == stood[:both]
