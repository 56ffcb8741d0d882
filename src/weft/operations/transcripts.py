"""Taking in what other programs keep of their conversations: one file, or all that a client has on this machine."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Annotated, Final

from msgspec import Meta, Struct, field

from weft.config import load_settings, project_name, surroundings
from weft.errors import Invalid, Misconfigured, NotFound, StoreError
from weft.instants import parse_instant
from weft.loom import Loom
from weft.operations.fields import Label, Moment, Name
from weft.operations.paths import read_path
from weft.operations.policies import PolicyAsked
from weft.operations.registry import Operation
from weft.operations.scoping import write_scope
from weft.operations.transcript_state import stand_of
from weft.operations.transcript_turns import Home, Intake, Place, Transcript
from weft.transcripts.entries import Turn
from weft.transcripts.formats import Format, FormatAsked, format_of
from weft.transcripts.places import Client, History, histories
from weft.transcripts.sessions import session_name

UNKNOWN_PROJECT: Final = "which project it belongs to is not known: `weft ingest-transcript FILE` in its directory"


class IngestTranscript(Struct, frozen=True, kw_only=True):
    """Input of `ingest_transcript`."""

    path: Annotated[
        str, Meta(min_length=1, max_length=4_096, description="the file, the zip of an export, or its folder")
    ]
    format: Annotated[FormatAsked, Meta(description="what the file is; auto looks at it")] = "auto"
    session: Annotated[Name, Meta(description="keep it as this conversation; its own name if unset")] | None = None
    project: Annotated[Label | None, Meta(description="another project than this directory's")] = None
    policy: PolicyAsked = None


class TranscriptsIngested(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What became of transcripts: turns `read`, `written`, `unchanged` (they stood, read again or not) and `skipped`.

    `bad` are places that could not be read. `left_out` says of the first few what and why; `reasons` counts all of it,
    and what nobody said: notices of programs, messages without words. `projects` counts turns.
    """

    conversations: int
    read: int
    written: int
    unchanged: int
    files: int
    skipped: int = 0
    bad: int = 0
    projects: dict[str, int] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    reasons: dict[str, int] = field(default_factory=dict)
    dry_run: bool = False
    notes: tuple[str, ...] = ()


def ingest_transcript(loom: Loom, given: IngestTranscript) -> TranscriptsIngested:
    """Keeps what was said in a conversation of another program, with who said it and when: of coding agents, of chat
    clients and their exports, captions of meetings, plain text. Tools, what tools answered, notices, and what programs
    put into messages are left out, and counted.

    Read again, a file costs only what is new in it, and stays with the project it was first kept for, unless another is
    named. A conversation that was deleted stays deleted. With policy lazy, one message alone is no conversation.
    """
    path = _file(given.path)
    form = format_of(path, given.format)
    project = write_scope(loom, project=given.project).project

    asked = (given.session or "").strip()

    def place(turn: Turn) -> Home:
        return Home(session=asked or session_name(form.name, turn.session), project=project, shared=bool(asked))

    intake = Intake()
    lazy = (given.policy or loom.settings.conversations) == "lazy"
    transcript = Transcript(loom, path, form, place, intake, given.project, given.session, lazy=lazy)
    nothing_new = transcript.unchanged
    size = max(stand_of(path)[0], 1)
    transcript.take(advance=lambda end: loom.progress("reading", min(end, size), size))
    notes = ("nothing is new in it since it was last read",) if nothing_new else ()
    return _told(intake, files=1, notes=notes)


class ImportHistory(Struct, frozen=True, kw_only=True):
    """Input of `import_history`."""

    client: Annotated[Client, Meta(description="whose history")]
    since: Annotated[Moment | None, Meta(description="only what was said since")] = None
    project: Annotated[Label | None, Meta(description="only conversations of this project")] = None
    limit: Annotated[int, Meta(ge=1, le=100_000, description="at most so many files, the newest")] = 100_000
    dry_run: Annotated[bool, Meta(description="say what is there, and keep nothing")] = False


def import_history(loom: Loom, given: ImportHistory) -> TranscriptsIngested:
    """Finds what a client keeps of its conversations on this machine, and keeps each with the project it belongs to:
    that of the directory in which it was held.

    Run again, it goes on where it stopped and takes only what is new. Claude Desktop keeps nothing on this machine:
    `weft ingest-transcript conversations.json` takes the export of its account.
    """
    loom.operator("import histories, which belong to many projects")
    since = None if given.since is None else parse_instant(given.since, field="since")
    found = histories(
        given.client,
        Path.home(),
        platform=sys.platform,
        environment=surroundings(),
        known=(loom.settings.root,),
    )
    files = [each for each in found if since is None or each.modified_us >= since][-given.limit :]
    importing = _Import(loom, given, since, max(sum(each.size for each in files), 1))
    for history in files:
        importing.take(history)
    notes = () if files else (f"{given.client} keeps no history here that could be found",)
    return _told(importing.intake, files=len(files), dry_run=given.dry_run, notes=notes)


class _Import:
    """One run over the files of a client."""

    def __init__(self, loom: Loom, given: ImportHistory, since: int | None, total: int) -> None:
        self._loom, self._given, self._since, self._total = loom, given, since, total
        self._done = 0
        self._projects: dict[str, str | None] = {}
        self.intake = Intake()

    def take(self, history: History) -> None:
        """One file; what cannot be read of it is counted, and the next one goes on."""
        self._advance(0)
        place = partial(self._place, history)
        try:
            form = self._form(history)
            if form is None:
                pass
            elif self._given.dry_run:
                _look(history, form, place, self._since, self.intake)
            else:
                names = (self._given.project, self._given.since)
                lazy = self._loom.settings.conversations == "lazy"
                transcript = Transcript(self._loom, history.path, form, place, self.intake, *names, lazy=lazy)
                transcript.take(since_us=self._since, advance=self._advance)
        except (Invalid, NotFound, OSError) as problem:
            self.intake.bad += 1
            self.intake.tell(history.path.name, getattr(problem, "message", "") or str(problem))
        self._done += history.size
        self._advance(0)

    def _form(self, history: History) -> Format | None:
        """The format of a file; None if it cannot be opened, which is no failure of the store."""
        try:
            return format_of(history.path, self._given.client)
        except StoreError as problem:
            self.intake.bad += 1
            self.intake.tell(history.path.name, problem.message)
            return None

    def _advance(self, end: int) -> None:
        self._loom.progress("importing", min(self._done + end, self._total), self._total)

    def _place(self, history: History, turn: Turn) -> Home | str:
        cwd = turn.cwd or history.by_session.get(turn.session, "") or history.cwd
        if cwd not in self._projects:
            self._projects[cwd] = project_of(cwd)
        project = self._projects[cwd]
        if project is None:
            return UNKNOWN_PROJECT
        if self._given.project not in (None, project):
            return f"it is of project {project}"
        return Home(session=session_name(self._given.client, turn.session), project=project)


def project_of(cwd: str) -> str | None:
    """The project of a directory, as weft calls it there; the directory may be gone. None where none is known."""
    if not cwd:
        return None
    try:
        # The project's own file may name it; the environment of this process is about another directory.
        return load_settings(Path(cwd), {"HOME": str(Path.home())}).project
    except (Misconfigured, OSError, ValueError):
        return project_name(Path(cwd))


def _look(history: History, form: Format, place: Place, since: int | None, intake: Intake) -> None:
    """Counts what a file holds."""
    for entry in form.read(history.path, 0):
        if isinstance(entry, Turn) and (since is None or entry.at is None or entry.at >= since):
            intake.read += 1
            home = place(entry)
            if isinstance(home, str):
                intake.skipped += 1
                intake.tell(f"conversation {entry.session}", home)
            else:
                intake.conversations.add(f"{home.project}/{home.session}")
                intake.projects[home.project or ""] += 1


def _file(written: str) -> Path:
    path = read_path(written)
    try:
        return path.resolve()
    except (OSError, RuntimeError) as problem:
        raise StoreError(f"{written} cannot be read: {problem}", hint="check its name and its rights") from problem


def _told(intake: Intake, *, files: int, dry_run: bool = False, notes: tuple[str, ...] = ()) -> TranscriptsIngested:
    told = tuple(intake.notes)
    if intake.shortened:
        told += (f"{intake.shortened} turns are very long: what is beyond their first part is not kept",)
    left = intake.skipped + intake.bad - len(intake.told)
    more = (f"and {left} more",) if left > 0 and intake.told else ()
    return TranscriptsIngested(
        conversations=len(intake.conversations) + intake.unlisted,
        read=intake.read,
        written=intake.written,
        unchanged=0 if dry_run else intake.read - intake.written - intake.skipped + intake.known,
        skipped=intake.skipped,
        bad=intake.bad,
        files=files,
        projects=dict(intake.projects.most_common()),
        left_out=(*intake.told, *more),
        reasons=dict(intake.reasons.most_common()),
        dry_run=dry_run,
        notes=(*told, *notes),
    )


OPERATIONS = (
    Operation(
        name="ingest_transcript",
        summary="keep what was said in a conversation of another program, from its file",
        input=IngestTranscript,
        output=TranscriptsIngested,
        effect="write",
        toolset="admin",
        reach="machine",
        run=ingest_transcript,
        arguments=("path",),
    ),
    Operation(
        name="import_history",
        summary="keep the conversations that a coding agent has on this machine",
        input=ImportHistory,
        output=TranscriptsIngested,
        effect="write",
        toolset="admin",
        reach="machine",
        run=import_history,
        arguments=("client",),
    ),
)
