"""Import of conversations from other programs: one file, or all histories of a client on this machine."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Annotated, Final

from msgspec import Meta, Struct, field

from weft.conversations.first_message import PolicyAsked
from weft.conversations.formats.entries import ImportedTurn, session_name
from weft.conversations.formats.formats import Format, FormatAsked, format_of
from weft.conversations.formats.locations import Client, History, histories
from weft.conversations.import_state import stand_of
from weft.conversations.import_turns import Home, Intake, Place, Transcript
from weft.core.clock import parse_instant
from weft.core.errors import Invalid, Misconfigured, NotFound, StoreError
from weft.files.paths import read_path
from weft.runtime.call_context import CallContext
from weft.runtime.fields import Label, Moment, Name
from weft.runtime.operation import Operation
from weft.runtime.settings.load import load_settings, project_name, surroundings
from weft.writing.checks.scope import write_scope

UNKNOWN_PROJECT: Final = "its project is unknown: run `weft ingest-transcript FILE` in the project's directory"


class IngestTranscript(Struct, frozen=True, kw_only=True):
    """Input of `ingest_transcript`."""

    path: Annotated[str, Meta(min_length=1, max_length=4_096, description="a file, or the zip or folder of an export")]
    format: Annotated[FormatAsked, Meta(description="format of the file; auto recognises it")] = "auto"
    session: Annotated[Name, Meta(description="name of the conversation; its own name if unset")] | None = None
    project: Annotated[Label | None, Meta(description="project, if not this directory's")] = None
    policy: PolicyAsked = None


class TranscriptsIngested(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The outcome of an import: turns `read`, `written`, `unchanged` (already stored) and `skipped`.

    `bad` counts unreadable places. `left_out` describes the first omissions; `reasons` counts all of them, including
    notices of programs and messages without words. `projects` counts turns.
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


def ingest_transcript(ctx: CallContext, given: IngestTranscript) -> TranscriptsIngested:
    """Imports a conversation of another program, with authors and times: of coding agents, chat clients and their
    exports, meeting captions, plain text. Tools, their output, notices and text inserted by programs are left out, and
    counted.

    Importing a file again adds only what is new, in the project of the first import unless another is named. A deleted
    conversation stays deleted. With policy lazy, a conversation of one message is not imported.
    """
    path = _file(given.path)
    form = format_of(path, given.format)
    project = write_scope(ctx, project=given.project).project

    asked = (given.session or "").strip()

    def place(turn: ImportedTurn) -> Home:
        return Home(session=asked or session_name(form.name, turn.session), project=project, shared=bool(asked))

    intake = Intake()
    lazy = (given.policy or ctx.settings.conversations) == "lazy"
    transcript = Transcript(ctx, path, form, place, intake, given.project, given.session, lazy=lazy)
    nothing_new = transcript.unchanged
    size = max(stand_of(path)[0], 1)
    transcript.take(advance=lambda end: ctx.progress("reading", min(end, size), size))
    notes = ("the file has not changed since the last import",) if nothing_new else ()
    return _told(intake, files=1, notes=notes)


class ImportHistory(Struct, frozen=True, kw_only=True):
    """Input of `import_history`."""

    client: Annotated[Client, Meta(description="whose history")]
    since: Annotated[Moment | None, Meta(description="only messages since then")] = None
    project: Annotated[Label | None, Meta(description="only conversations of this project")] = None
    limit: Annotated[int, Meta(ge=1, le=100_000, description="maximum number of files, newest first")] = 100_000
    dry_run: Annotated[bool, Meta(description="only count, import nothing")] = False


def import_history(ctx: CallContext, given: ImportHistory) -> TranscriptsIngested:
    """Finds a client's conversations on this machine and imports each into the project of the directory in which it was
    held.

    Run again, it continues where it stopped and imports only what is new. Claude Desktop keeps nothing on this machine:
    import the export of its account with `weft ingest-transcript conversations.json`.
    """
    ctx.operator("import histories, which may belong to any project")
    since = None if given.since is None else parse_instant(given.since, field="since")
    found = histories(
        given.client,
        Path.home(),
        platform=sys.platform,
        environment=surroundings(),
        known=(ctx.settings.root,),
    )
    files = [each for each in found if since is None or each.modified_us >= since][-given.limit :]
    importing = _Import(ctx, given, since, max(sum(each.size for each in files), 1))
    for history in files:
        importing.take(history)
    notes = () if files else (f"no history of {given.client} was found on this machine",)
    return _told(importing.intake, files=len(files), dry_run=given.dry_run, notes=notes)


class _Import:
    """One run over the files of a client."""

    def __init__(self, ctx: CallContext, given: ImportHistory, since: int | None, total: int) -> None:
        self._ctx, self._given, self._since, self._total = ctx, given, since, total
        self._done = 0
        self._projects: dict[str, str | None] = {}
        self.intake = Intake()

    def take(self, history: History) -> None:
        """Imports one file; problems are counted, and the next file is read."""
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
                lazy = self._ctx.settings.conversations == "lazy"
                transcript = Transcript(self._ctx, history.path, form, place, self.intake, *names, lazy=lazy)
                transcript.take(since_us=self._since, advance=self._advance)
        except (Invalid, NotFound, OSError) as problem:
            self.intake.bad += 1
            self.intake.tell(history.path.name, getattr(problem, "message", "") or str(problem))
        self._done += history.size
        self._advance(0)

    def _form(self, history: History) -> Format | None:
        """The format of a file; None if it cannot be opened."""
        try:
            return format_of(history.path, self._given.client)
        except StoreError as problem:
            self.intake.bad += 1
            self.intake.tell(history.path.name, problem.message)
            return None

    def _advance(self, end: int) -> None:
        self._ctx.progress("importing", min(self._done + end, self._total), self._total)

    def _place(self, history: History, turn: ImportedTurn) -> Home | str:
        cwd = turn.cwd or history.by_session.get(turn.session, "") or history.cwd
        if cwd not in self._projects:
            self._projects[cwd] = project_of(cwd)
        project = self._projects[cwd]
        if project is None:
            return UNKNOWN_PROJECT
        if self._given.project not in (None, project):
            return f"it belongs to project {project}"
        return Home(session=session_name(self._given.client, turn.session), project=project)


def project_of(cwd: str) -> str | None:
    """The project of a directory, as weft names it there, also if the directory is gone. None if unknown."""
    if not cwd:
        return None
    try:
        # The project's own file may name it; this process's environment applies to another directory.
        return load_settings(Path(cwd), {"HOME": str(Path.home())}).project
    except (Misconfigured, OSError, ValueError):
        return project_name(Path(cwd))


def _look(history: History, form: Format, place: Place, since: int | None, intake: Intake) -> None:
    """Counts the content of a file for a dry run."""
    for entry in form.read(history.path, 0):
        if isinstance(entry, ImportedTurn) and (since is None or entry.at is None or entry.at >= since):
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
        raise StoreError(f"{written} cannot be read: {problem}", hint="check its name and permissions") from problem


def _told(intake: Intake, *, files: int, dry_run: bool = False, notes: tuple[str, ...] = ()) -> TranscriptsIngested:
    told = tuple(intake.notes)
    if intake.shortened:
        told += (f"{intake.shortened} very long turns were cut",)
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
        summary="import a conversation of another program from its file",
        input=IngestTranscript,
        output=TranscriptsIngested,
        effect="write",
        toolset="admin",
        needs_live_memory=False,
        reach="machine",
        run=ingest_transcript,
        arguments=("path",),
    ),
    Operation(
        name="import_history",
        summary="import the conversations of a coding agent on this machine",
        input=ImportHistory,
        output=TranscriptsIngested,
        effect="write",
        toolset="admin",
        reach="machine",
        run=import_history,
        arguments=("client",),
    ),
)
