"""`graph_rebuild`: indexes a workspace's code; in a server as a background job."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

from msgspec import Meta, Struct
from msgspec.structs import replace

from weft.code.ask.workspaces import source_dir_of, told_root, workspace_of
from weft.code.index.embedding import embed_later, embed_until, process_context
from weft.code.index.index_turn import index_in_turn
from weft.code.watch.watch import counts_of, ensure_watched
from weft.core.errors import Busy, Forbidden, Invalid, NotFound, StoreError
from weft.core.kinds import COMMUNITY
from weft.core.types import NOW, Find
from weft.documents.keep.known_files import hidden_files, is_known
from weft.files.paths import read_path
from weft.files.skipped_files import some_of_each
from weft.files.walk import Skipped
from weft.runtime.background import Stopped
from weft.runtime.call_context import CallContext
from weft.runtime.jobs import Job, JobBook, JobShown, Mode, Running, job_line, shown
from weft.runtime.operation import Operation

if TYPE_CHECKING:
    from weft.code.index.index import CodeIndexed

MAX_TOLD: Final = 20  # files that were skipped
EMBED_S: Final = 2.0  # for which a command makes vectors of what it read
READ: Final = ("files", "others", "revived")  # counts of what has new texts
_log = logging.getLogger("weft.jobs")


class GraphRebuild(Struct, frozen=True, kw_only=True):
    """Input of `graph_rebuild`."""

    mode: Annotated[
        Mode,
        Meta(description="incremental reads changed files; full reads every file again and recomputes communities"),
    ] = "incremental"
    path: (
        Annotated[str, Meta(min_length=1, max_length=4096, description="a file or folder of the workspace; else all")]
        | None
    ) = None


class GraphRebuilt(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A rebuild that is running or done. `job` is its progress; `graph_health` reports it as well.

    When it is done, `skipped` lists the first skipped files, and `reasons` counts them by reason.
    """

    summary: str
    status: Literal["queued", "running", "done"]
    job: JobShown
    workspace: str
    project: str
    skipped: tuple[Skipped, ...] = ()
    reasons: dict[str, int] = {}
    notes: tuple[str, ...] = ()


def graph_rebuild(ctx: CallContext, given: GraphRebuild) -> GraphRebuilt:
    """Reads the workspace's source code into the graph: symbols and their calls, imports, supertypes and tests.

    Only differences are written; history stays. A server answers at once and rebuilds in the background:
    graph_health reports the progress. A command answers when it is done. An interrupted rebuild resumes with the next
    one. One rebuild of a workspace runs at a time: a second request returns the running one.
    """
    here = workspace_of(ctx)
    notes = _reach(here)
    path = _path(here, given.path, source_dir_of(ctx))
    book = JobBook(here)
    if (job := _under_way(book.of(here), given.mode, path)) is not None and ctx.background.serves:
        return _told(here, job, notes=("it was requested before: this is its job", *notes))
    job = book.begin(here, mode=given.mode, path=path)
    if not ctx.background.serves:
        running, done = _run(here, book, job)
        told = _told(here, running, done)
        return replace(told, notes=(*notes, *told.notes, *_embedded(here, done)))
    if not ctx.background.submit(partial(_run_alone, here, book, job)):
        book.save(replace(job, state="failed", error="too many jobs wait", hint="try again later"))
        raise Busy(
            "too many jobs are queued in this server", hint="try again when some are done; graph_health lists them"
        )
    return _told(here, job, notes=("graph_health reports its progress", *notes))


def _reach(ctx: CallContext) -> tuple[str, ...]:
    """A note if this caller's rebuild leaves some files unchanged. Raises Forbidden if it can change none."""
    hidden = hidden_files(ctx)
    if hidden == "all":
        raise Forbidden(
            f"the code of {ctx.settings.project} is indexed for scopes that you do not hold: your rebuild can "
            "neither change nor show it",
            hint="ask the operator for a token with these scopes; repeating graph_rebuild does not help",
        )
    return () if not hidden else ("files indexed for scopes that you do not hold stay unchanged",)


def _embedded(ctx: CallContext, done: CodeIndexed) -> tuple[str, ...]:
    """Embeds new texts for a short time: a command has no background. Returns a note if some are left."""
    left = done.pending_vectors > 0
    if left and any(getattr(done, name) for name in READ):
        until_s = time.monotonic() + EMBED_S
        left = embed_until(ctx, lambda: time.monotonic() > until_s)
    return ("some texts have no vector yet and are found by words only: `weft reindex` adds them",) if left else ()


def _under_way(jobs: tuple[Job, ...], mode: Mode, path: str) -> Job | None:
    """A running or queued job that covers the request: the same rebuild, or one of everything."""
    for job in jobs:
        covers = job.path in ("", path) and (job.mode, mode) in (("full", "full"), (mode, mode), ("full", mode))
        if not job.is_over and covers:
            return job
    return None


def _run_alone(ctx: CallContext, book: JobBook, job: Job) -> None:
    """Runs a job on the thread for jobs, where nobody waits for its exceptions."""
    try:
        _run(ctx, book, job)
    except Stopped:
        return
    except Exception:  # noqa: BLE001 - the job's record tells it
        _log.exception("the rebuild %s failed", job.id)
        return
    ensure_watched(ctx)
    embed_later(ctx)


def _run(ctx: CallContext, book: JobBook, job: Job) -> tuple[Job, CodeIndexed]:
    """Runs a job and updates its record. Exceptions are recorded and raised again."""
    tell, closing = ctx.progress, ctx.background.closing
    with Running(book, job) as running:

        def progress(what: str, done: int, total: int) -> None:
            running.progress(what, done, total)
            tell(what, done, total)

        own = replace(ctx, progress=progress)
        done = index_in_turn(own, closing, paths=(job.path,) if job.path else None, full=job.mode == "full")
        notes = (*done.notes, *_waiting(own, done))
        if not job.path and (job.mode == "full" or (done.files and not _has_communities(own))):
            from weft.code.communities.keep import find_communities

            progress("finding communities", 0, 0)
            notes = (*notes, *find_communities(replace(own, call_stats=None)).notes)
        notes = (*notes, *_published(own))
        running.done(counts_of(done), notes)
    return running.job, done


def _published(ctx: CallContext) -> Iterator[str]:
    """Publishes the relations if many are new: else the first question of every process would read all of them.

    What is indexed stays indexed if that fails: a note says so.
    """
    own = process_context(ctx)
    if own is None:
        return
    ctx.progress("publishing relations", 0, 0)
    try:
        own.store.publish_relations(own.operator("publish the relations"))
    except StoreError as problem:
        yield f"the first question of a new process reads all relations, `weft reindex` helps: {problem.message}"


def _waiting(ctx: CallContext, done: CodeIndexed) -> Iterator[str]:
    """Notes on documents that were not read and texts that are not embedded yet."""
    from weft.code.index.index import counted

    if done.documents and not _reads_documents(ctx):
        yield f"{counted(done.documents, 'document')} not read here: `weft ingest` reads documents"
    if done.pending_vectors and ctx.background.serves:
        yield f"{counted(done.pending_vectors, 'text')} not embedded yet and found by words only"


def _has_communities(ctx: CallContext) -> bool:
    find = Find(kinds=(COMMUNITY,), projects=(ctx.settings.project,))
    return bool(ctx.store.find(ctx.viewer, NOW, find, limit=1).nodes)


def _reads_documents(ctx: CallContext) -> bool:
    """Whether documents of the project were ever read: then a hint on how to read them is not needed."""
    find = Find(kinds=("Document",), projects=(ctx.settings.project,))
    return bool(ctx.store.find(ctx.viewer, NOW, find, limit=1).nodes)


def _path(ctx: CallContext, written: str | None, usual: str) -> str:
    """A file or folder as a path relative to the root, empty for the root; `usual` if none is given. Raises NotFound or
    Invalid.
    """
    root = ctx.settings.root.resolve()
    if not root.is_dir():
        raise NotFound(
            f"the workspace {told_root(ctx)} does not exist",
            hint="choose another with graph_set_workspace, or cd to it",
        )
    if written is None:
        return usual
    path = read_path(written)
    try:
        there = (path if path.is_absolute() else _base(ctx) / path).resolve()
    except (OSError, RuntimeError) as problem:
        raise StoreError(f"{written} cannot be read: {problem}", hint="check its name and its rights") from problem
    if not there.is_relative_to(root):
        raise Invalid(f"{written} is outside the workspace", hint="give a file or folder in it")
    below = there.relative_to(root).as_posix()
    below = "" if below == "." else below
    if not os.path.exists(there) and not is_known(ctx, below):  # noqa: PTH110 - never raises, whatever the rights
        raise NotFound(f"the workspace has no file or folder {written}", hint="give another path, or none for all")
    return below


def _base(ctx: CallContext) -> Path:
    """The base of a relative path: the working directory for a command, the workspace for a tool."""
    here = Path.cwd()
    return here if not ctx.background.serves and here.is_relative_to(ctx.settings.root) else ctx.settings.root


def _told(ctx: CallContext, job: Job, done: CodeIndexed | None = None, *, notes: tuple[str, ...] = ()) -> GraphRebuilt:
    where = told_root(ctx)
    return GraphRebuilt(
        summary=f"{ctx.settings.project}: {job_line(job)}",
        status="done" if job.state == "done" else "queued" if job.state == "queued" else "running",
        job=shown(job),
        workspace=where,
        project=ctx.settings.project,
        skipped=() if done is None else some_of_each(done.skipped, MAX_TOLD),
        reasons={} if done is None else done.reasons,
        notes=(*notes, *job.notes),
    )


OPERATIONS = (
    Operation(
        name="graph_rebuild",
        summary="read the workspace's source code into the graph; in a server, as a job",
        input=GraphRebuild,
        output=GraphRebuilt,
        effect="write",
        toolset="code",
        run=graph_rebuild,
    ),
)
