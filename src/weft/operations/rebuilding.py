"""`graph_rebuild`: reads a workspace's code into the graph; in a server as a job that goes on after the answer."""

from __future__ import annotations

import logging
import os
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

from msgspec import Meta, Struct
from msgspec.structs import replace

from weft.errors import Busy, Forbidden, Invalid, NotFound, StoreError
from weft.kinds import COMMUNITY
from weft.loom import Loom
from weft.operations.embedding_later import embed_later, embed_until
from weft.operations.index_turn import Stopped, index_in_turn
from weft.operations.jobs import Job, JobBook, JobShown, Mode, Running, job_line, shown
from weft.operations.known_files import hidden_files, is_known
from weft.operations.paths import read_path
from weft.operations.registry import Operation
from weft.operations.skipped_files import some_of_each
from weft.operations.walking import Skipped
from weft.operations.watching import counts_of, ensure_watched
from weft.operations.workspaces import source_dir_of, told_root, workspace_of
from weft.types import NOW, Find

if TYPE_CHECKING:
    from weft.operations.code_indexing import CodeIndexed

MAX_TOLD: Final = 20  # files that were skipped
EMBED_S: Final = 2.0  # for which a command makes vectors of what it read
READ: Final = ("files", "others", "revived")  # counts of what has new texts
UNEMBEDDED: Final = "found by words until"
UNREAD: Final = "not read here"
_log = logging.getLogger("weft.jobs")


class Rebuild(Struct, frozen=True, kw_only=True):
    """Input of `graph_rebuild`."""

    mode: Annotated[
        Mode, Meta(description="incremental reads what changed; full reads every file again and finds communities anew")
    ] = "incremental"
    path: (
        Annotated[str, Meta(min_length=1, max_length=4096, description="a file or folder of the workspace; else all")]
        | None
    ) = None


class GraphRebuilt(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A rebuild that was begun or done. `job` tells how far it is; `graph_health` tells it again.

    `skipped` and `reasons` are there when it is done: the first of the files of which no symbols were read, and how
    many there were for each reason.
    """

    summary: str
    status: Literal["queued", "running", "done"]
    job: JobShown
    workspace: str
    project: str
    skipped: tuple[Skipped, ...] = ()
    reasons: dict[str, int] = {}
    notes: tuple[str, ...] = ()


def graph_rebuild(loom: Loom, given: Rebuild) -> GraphRebuilt:
    """Reads the workspace's source code into the graph: symbols, and what calls, imports, extends and tests what.

    Unchanged files cost nothing, whatever the mode; history stays. In a server it answers at once and goes on:
    graph_health tells how far it is. As a command it is done when it answers. Stopped at any moment, the next one goes
    on where it was. One rebuild of a workspace runs at a time: asked for again meanwhile, the one that runs is told.
    """
    here = workspace_of(loom)
    notes = _reach(here)
    path = _path(here, given.path, source_dir_of(loom))
    book = JobBook(here)
    if (job := _under_way(book.of(here), given.mode, path)) is not None and loom.workshop.serves:
        return _told(here, job, notes=("it was asked for before: this is that job", *notes))
    job = book.begin(here, mode=given.mode, path=path)
    if not loom.workshop.serves:
        running, done = _run(here, book, job)
        told = _told(here, running, done)
        return replace(
            told, notes=(*notes, *(each for each in told.notes if UNEMBEDDED not in each), *_embedded(here, done))
        )
    if not loom.workshop.submit(partial(_run_alone, here, book, job)):
        book.save(replace(job, state="failed", error="too many jobs wait", hint="try again later"))
        raise Busy("too many jobs wait in this server", hint="try again when some are done: graph_health tells")
    return _told(here, job, notes=("graph_health tells how far it is", *notes))


def _reach(loom: Loom) -> tuple[str, ...]:
    """That there are files which this caller's rebuild leaves as they are, if so. Raises Forbidden if it is all."""
    hidden = hidden_files(loom)
    if hidden == "all":
        raise Forbidden(
            f"the code of {loom.settings.project} is indexed for scopes that you do not hold: a rebuild of yours would "
            "neither change nor show it",
            hint="ask the operator for a token whose scopes reach it; graph_rebuild again changes nothing",
        )
    return () if not hidden else ("files that are indexed for scopes which you do not hold stay as they are",)


def _embedded(loom: Loom, done: CodeIndexed) -> tuple[str, ...]:
    """Makes vectors, for a moment, where anything was read: a command has no later. A note where some are left."""
    left = done.pending_vectors > 0
    if left and any(getattr(done, name) for name in READ):
        until_s = time.monotonic() + EMBED_S
        left = embed_until(loom, lambda: time.monotonic() > until_s)
    return ("not all texts have a vector yet: they are found by words until `weft reindex` makes them",) if left else ()


def _under_way(jobs: tuple[Job, ...], mode: Mode, path: str) -> Job | None:
    """A job that does what is asked for, and has not begun or may see what changed since: the same, or all of it."""
    for job in jobs:
        covers = job.path in ("", path) and (job.mode, mode) in (("full", "full"), (mode, mode), ("full", mode))
        if not job.is_over and covers:
            return job
    return None


def _run_alone(loom: Loom, book: JobBook, job: Job) -> None:
    """On the thread for jobs: nobody waits for what it raises."""
    try:
        _run(loom, book, job)
    except Stopped:
        return
    except Exception:  # noqa: BLE001 - the job's record tells it
        _log.exception("the rebuild %s failed", job.id)
        return
    ensure_watched(loom)
    embed_later(loom)


def _run(loom: Loom, book: JobBook, job: Job) -> tuple[Job, CodeIndexed]:
    """Does a job and keeps its record up. Raises what goes wrong, when the record tells it too."""
    tell, closing = loom.progress, loom.workshop.closing
    with Running(book, job) as running:

        def progress(what: str, done: int, total: int) -> None:
            running.progress(what, done, total)
            tell(what, done, total)

        own = replace(loom, progress=progress)
        done = index_in_turn(own, closing, paths=(job.path,) if job.path else None, full=job.mode == "full")
        notes = tuple(note for note in done.notes if UNREAD not in note or not _reads_documents(own))
        if not job.path and (job.mode == "full" or (done.files and not _has_communities(own))):
            from weft.operations.communities import find_communities

            progress("finding communities", 0, 0)
            notes = (*notes, *find_communities(replace(own, tally=None)).notes)
        running.done(counts_of(done), notes)
    return running.job, done


def _has_communities(loom: Loom) -> bool:
    find = Find(kinds=(COMMUNITY,), projects=(loom.settings.project,))
    return bool(loom.store.find(loom.viewer, NOW, find, limit=1).nodes)


def _reads_documents(loom: Loom) -> bool:
    """Whether documents of the project were ever read: who does that needs no telling how."""
    find = Find(kinds=("Document",), projects=(loom.settings.project,))
    return bool(loom.store.find(loom.viewer, NOW, find, limit=1).nodes)


def _path(loom: Loom, written: str | None, usual: str) -> str:
    """A file or folder as a path from the root, nothing for the root; `usual` if none is named.

    Raises NotFound or Invalid.
    """
    root = loom.settings.root.resolve()
    if not root.is_dir():
        raise NotFound(
            f"the workspace {told_root(loom)} is not there", hint="choose one that is: graph_set_workspace, or cd there"
        )
    if written is None:
        return usual
    path = read_path(written)
    try:
        there = (path if path.is_absolute() else _base(loom) / path).resolve()
    except (OSError, RuntimeError) as problem:
        raise StoreError(f"{written} cannot be read: {problem}", hint="check its name and its rights") from problem
    if not there.is_relative_to(root):
        raise Invalid(f"{written} is outside of the workspace", hint="give a file or folder in it")
    below = there.relative_to(root).as_posix()
    below = "" if below == "." else below
    if not os.path.exists(there) and not is_known(loom, below):  # noqa: PTH110 - never raises, whatever the rights
        raise NotFound(f"there is no {written} in the workspace", hint="give a file or folder, or nothing for all")
    return below


def _base(loom: Loom) -> Path:
    """Where a path begins that is not written in full: a command's where it is run, a tool's in the workspace."""
    here = Path.cwd()
    return here if not loom.workshop.serves and here.is_relative_to(loom.settings.root) else loom.settings.root


def _told(loom: Loom, job: Job, done: CodeIndexed | None = None, *, notes: tuple[str, ...] = ()) -> GraphRebuilt:
    where = told_root(loom)
    return GraphRebuilt(
        summary=f"{loom.settings.project}: {job_line(job)}",
        status="done" if job.state == "done" else "queued" if job.state == "queued" else "running",
        job=shown(job),
        workspace=where,
        project=loom.settings.project,
        skipped=() if done is None else some_of_each(done.skipped, MAX_TOLD),
        reasons={} if done is None else done.reasons,
        notes=(*notes, *job.notes),
    )


OPERATIONS = (
    Operation(
        name="graph_rebuild",
        summary="read the workspace's source code into the graph; in a server, as a job",
        input=Rebuild,
        output=GraphRebuilt,
        effect="write",
        toolset="code",
        run=graph_rebuild,
    ),
)
