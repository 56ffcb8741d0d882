"""Turns of a transcript into conversations: each once, however often its file is read and by however many at once.

A turn is told by its own id. A conversation may also have been recorded as it happened, without ids: there a turn that
says the same as one that stands is that turn.
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

from weft.errors import Conflict, Forbidden, Invalid, NotFound
from weft.extract.records import Record
from weft.extract.transcripts import Spoken, spoken_by
from weft.loom import Loom
from weft.operations.conversations import LATEST, conversation_id, message_id, standing_of
from weft.operations.deletions import deleted_node
from weft.operations.holding import release, waiting_words
from weft.operations.own_names import BEGINNING, mark_of
from weft.operations.rights import write_guard
from weft.operations.stamping import TaskClosed
from weft.operations.transcript_known import Conversation, KnownAfter, others_in
from weft.operations.transcript_state import Progress, Reached, is_erased, stand_of, tail_of
from weft.operations.turn_records import write_turns
from weft.transcripts.entries import Bad, Left, Noted, Passed, Titled, Turn
from weft.transcripts.formats import Format
from weft.transcripts.told_apart import session_of

BATCH_TURNS: Final = 64
BATCH_CHARACTERS: Final = 400_000
MAX_TOLD: Final = 50
MAX_REASONS: Final = 50  # counted apart
ALONE: Final = "a conversation of one message, which the policy `lazy` does not keep"
MAX_CHECKED: Final = 20  # conversations of one file that are looked up before what is known of it is believed

Place = Callable[[Turn], "Home | str"]


class Home(Struct, frozen=True, kw_only=True):
    """Where a turn goes: to which session, of which project. One that is `shared` may take several of the file's own.

    `records` is what the ids of its records begin with, behind the program's name: in a shared one ids of two chats may
    be the same.
    """

    session: str
    project: str | None
    shared: bool = False
    records: str = ""


class Intake(Struct, kw_only=True):
    """What became of transcripts so far. Of what was left out, the first few are told, all are counted by reason.

    `known` turns were taken before, and are not read again; of their conversations `unlisted` are not told by name.
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
        """Says why something was left out, unless enough was said."""
        if len(self.told) < MAX_TOLD:
            self.told[f"{where}: {reason}"] = None
        self.count(reason, count)

    def count(self, reason: str, count: int = 1) -> None:
        """Counts what was left out; reasons that differ only in the place that they name are one."""
        kind = reason.partition(":")[0]
        self.reasons[kind if kind in self.reasons or len(self.reasons) < MAX_REASONS else "other reasons"] += count


class Transcript:
    """One file on its way into the store. Stopped at any moment, the next one goes on from there."""

    def __init__(
        self, loom: Loom, path: Path, form: Format, place: Place, intake: Intake, *names: str | None, lazy: bool = False
    ) -> None:
        """With `lazy`, a conversation is kept from its second message on; alone, the first is left out."""
        self._loom, self._path, self._form, self._place, self._intake = loom, path, form, place, intake
        self._lazy = lazy
        self._alone: dict[str, tuple[Home, Turn]] = {}
        self._refused = False
        self._progress = Progress(loom.settings, path, form.source, *names)
        self._reached = self._believed(self._progress.load())
        self._offset = self._reached.offset
        self._went_on = self._offset > 0  # what stands before is not read again
        self._turns: dict[str, int] = {}
        self._by_session: dict[str, str] = {}
        for conversation, turns in self._reached.turns.items():
            self._reach(conversation, turns)
        self._mark = self._reached.mark
        self._taken = self._reached.known if self._offset else 0
        self._titles: dict[str, str] = {}
        self._homes: dict[str, Home] = {}
        self._open: dict[str, Conversation | str] = {}
        self._known = KnownAfter(loom)

    @property
    def unchanged(self) -> bool:
        """Whether the file stands as it was when all of it was read, and nothing that is wanted now was left out.

        Raises NotFound where it is gone.
        """
        if self._reached.alone and not self._lazy:
            return False
        return stand_of(self._path) == (self._reached.size, self._reached.modified_ns)

    def take(self, *, since_us: int | None = None, advance: Callable[[int], None] = lambda end: None) -> None:
        """Reads what is new of the file and keeps it. `advance` is told how far it came, where that can be told."""
        if self.unchanged or self._offset:  # else all of it is read again
            self._intake.known += self._reached.known
            self._intake.conversations.update(self._reached.turns)
            self._intake.unlisted += self._reached.conversations - len(self._reached.turns)
        if self.unchanged:
            return
        stood = stand_of(self._path)
        batch: list[Turn] = []
        characters = 0
        passed = self._offset
        for entry in self._form.read(self._path, self._offset):
            match entry:
                case Turn():
                    if since_us is None or entry.at is None or entry.at >= since_us:
                        batch.append(entry)
                        characters += len(entry.text)
                case Titled():
                    self._titles[entry.session] = entry.title
                case Bad():
                    self._intake.bad += 1
                    self._intake.tell(f"{self._path.name}, {entry.where}", entry.reason)
                case Left():
                    self._intake.count(entry.reason)
                case Noted():
                    self._intake.notes[entry.note] = None
                case Passed():
                    passed = entry.end
            full = len(batch) >= BATCH_TURNS or characters >= BATCH_CHARACTERS
            if full and (isinstance(entry, Passed) or not self._form.grows):  # all that stands before `passed`
                self._write(batch)
                batch, characters = [], 0
                self._save(passed)
                advance(passed)
        self._write(batch)
        self._intake.skipped += len(self._alone)
        for _, turn in self._alone.values():
            self._intake.tell(f"conversation {turn.session}", ALONE)
        self._save(passed, whole=stood)

    def _believed(self, reached: Reached) -> Reached:
        """What was reached, unless the store has fewer turns than then: it is another, or an older one came back.

        Where a conversation is gone the file is read again, to say so.
        """
        for conversation, turns in list(reached.turns.items())[:MAX_CHECKED]:
            last = message_id(conversation, max(turns, 1))
            if self._loom.store.nodes(self._loom.viewer, LATEST, [last]):
                continue
            if self._gone(conversation):
                return replace(reached, offset=0, tail="", size=0, modified_ns=0, known=0)
            try:
                if standing_of(self._loom, conversation).turns < turns:
                    return Reached()
            except (Forbidden, Invalid):
                return Reached()
        return reached

    def _save(self, passed: int, whole: tuple[int, int] = (0, 0)) -> None:
        # What waits for a second message is read again with it; what is gone may be brought back.
        self._offset = passed if self._form.grows and not (self._alone or self._refused) else 0
        size, modified = (0, 0) if self._refused else whole
        reached = Reached(
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

    def _write(self, batch: Sequence[Turn]) -> None:
        """Adds turns, each to its conversation, in order."""
        homes: dict[str, tuple[Home, list[Turn]]] = {}
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
            if conversation in self._alone:  # looked at anew: another message may wait for a second there
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

    def _add(self, opened: Conversation, home: Home, turns: Sequence[Turn]) -> None:
        """Adds turns to one conversation; one that is alone, with the policy lazy, waits for the next."""
        found = [(turn, self._record(turn)) for turn in turns]
        records = {each.id: each for _, each in found if each is not None}  # the last counts
        if self._lazy and not opened.turns and len(records) == 1:
            self._alone[opened.id] = (home, turns[-1])
            return
        self._intake.conversations.add(opened.id)
        self._taken += len(turns)
        self._intake.shortened += sum(bool(turn.dropped) for turn, record in found if record is not None)
        for turn in (turn for turn, record in found if record is None):
            self._intake.skipped += 1
            self._intake.tell(f"conversation {turn.session}", "there is a secret in the id of a turn")
        fresh = [each for each in records.values() if not opened.says(each)]
        self._put(opened, fresh)
        self._intake.projects[home.project or ""] += len(turns)
        self._reach(opened.id, opened.last_of(fresh))

    def _reach(self, conversation: str, turn: int) -> None:
        self._turns[conversation] = max(self._turns.get(conversation, 0), turn)
        self._by_session.setdefault(conversation.rpartition("/")[2], conversation)

    def _home(self, turn: Turn, batch: Sequence[Turn]) -> Home | str:
        """Where a turn goes: with the rest of its session, which stays where it was first put, wherever it moves."""
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
        """What stands of the file's turns if this is its mark, in order: of each its record and its text."""
        home = _marked(home, session, mark)
        conversation = conversation_id(home.project, home.session)
        try:
            known = self._known.of(conversation, standing_of(self._loom, conversation).turns)
        except (Forbidden, Invalid):
            return []  # which is told where it is opened
        begins = f"{self._form.source}:{home.records}"
        return [(record, turns[0].text) for record, turns in known.items() if record.startswith(begins)]

    def _gone(self, conversation: str) -> str:
        """Why a conversation is not added to though its file is there; empty if it is."""
        if is_erased(self._loom.settings, conversation):
            return "it was erased: with --session NAME it is kept again, as another conversation"
        if deleted_node(self._loom, conversation) is not None:
            return f"it was deleted: `weft restore {conversation}` brings it back"
        return ""

    def _opened(self, conversation: str, home: Home, new: Sequence[Turn]) -> Conversation | str:
        """Where a conversation stands, or why nothing is added to it. What waits for a second message is kept first."""
        if gone := self._gone(conversation):
            self._refused = True
            return gone
        try:
            said = {record.text for turn in new if (record := self._record(turn)) is not None}
            if said - waiting_words(self._loom, conversation) or not self._lazy:
                for note in release(self._loom, conversation).notes:
                    self._intake.notes[note] = None
            standing = standing_of(self._loom, conversation)
            asked = write_guard(self._loom, scope=None, agents=(), project=home.project)
        except (Forbidden, Invalid) as problem:
            return problem.message
        known = self._known
        before = self._turns.get(conversation, 0) if self._went_on else 0
        if before and self._form.final:
            known = KnownAfter(self._loom, conversation, before)
        others = others_in(self._loom, conversation, before, standing.turns, f"{self._form.source}:")
        return Conversation(conversation, standing.guard or asked, known, others, standing.turns)

    def _record(self, turn: Turn) -> Record | None:
        """A turn as a record; without secrets, as what it is compared with has none either. None if its id is one."""
        screen = self._loom.screen
        home = self._homes.get(turn.session)
        identity = f"{self._form.source}:{home.records if home else ''}{turn.id}"
        if screen.holds_secret(identity):
            return None
        text = screen.redact(turn.text)
        spoken = spoken_by(screen.redact(turn.speaker), text) if turn.speaker else Spoken(text=text, role=turn.role)
        return Record(
            id=identity,
            shape="turn",
            text=spoken.text,
            title=screen.redact(self._titles.get(turn.session, "")),
            at=turn.at,
            session=turn.session,
            role=spoken.role,
            speaker=spoken.speaker,
        )

    def _put(self, conversation: Conversation, records: Sequence[Record]) -> None:
        """Writes records together; where that is refused, by halves, until what is at fault is alone."""
        if not records:
            return
        try:
            done = write_turns(self._loom, conversation.known, conversation.id, conversation.guard, records)
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
    """Where turns of a file's session go that has this mark: behind the name, or in the ids where others come too."""
    if not home.shared:
        return replace(home, session=f"{home.session}{mark}")
    digest = hashlib.sha256(f"{session}{mark}".encode("utf-8", "replace")).hexdigest()[:12]
    return replace(home, records=f"{digest}:")
