"""`graph_health`: size and freshness of a workspace's code graph, and what to do next."""

from __future__ import annotations

import contextlib
import os
import time
from collections import Counter
from collections.abc import Iterator
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from weft.append.approval import is_operator
from weft.code.ask.workspaces import place_of, source_dir_of, told_root, told_words, workspace_of
from weft.code.index.facts_file import FactsFile, OtherKnown, SourceKnown
from weft.code.index.facts_lock import facts_kept, facts_place
from weft.code.index.read_file import mark_of
from weft.code.watch.watch import WatcherState, watcher_of, watches
from weft.core.clock import to_iso
from weft.core.errors import Forbidden, WeftError
from weft.core.types import Census, Tx
from weft.documents.keep.file_versions import name_problem
from weft.documents.keep.freshness import digest_of
from weft.documents.keep.known_files import files_known, hidden_files, sees_all
from weft.documents.keep.linked_files import is_indexed, links_told
from weft.files.languages import language_of
from weft.files.skipped_files import some_of_each
from weft.files.walk import Skipped, walk
from weft.runtime.call_context import CallContext
from weft.runtime.jobs import Job, JobBook, JobShown, job_line, shown
from weft.runtime.operation import Operation
from weft.writing.build.missing_vectors import vector_counts

MAX_JOBS: Final = 5
MAX_NAMED: Final = 20  # files that changed
MAX_PROBLEMS: Final = 20
MAX_TX: Final = 200  # transactions that are looked at
TX_EVENTS: Final = 3  # of each, to tell whose it is
SELDOM: Final = 10.0
MAX_COUNTED: Final = 64  # workspaces, of callers with different rights, whose counts are kept
LOOK_S: Final = 1.0  # for reading files that may have changed
CODE_TX: Final = ("full_rebuild", "incremental", "file_change")
CODE_RELATIONS: Final = ("CALLS", "IMPORTS", "DEPENDS_ON", "EXTENDS", "IMPLEMENTS", "TESTS", "CONTAINS", "DEFINED_IN")
SYMBOLS: Final = ("Class", "Function", "Test")


class GraphHealthInput(Struct, frozen=True, kw_only=True):
    """Input of `graph_health`."""


class LatestTx(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The last change of the code graph."""

    id: str
    kind: str
    at: str
    commit: str | None = None
    files: int = 0
    agent: str = ""


class WatcherShown(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The watcher of this workspace in this process. `recent` lists its last actions, the newest first."""

    state: WatcherState
    note: str = ""
    recent: tuple[str, ...] = ()


class GraphHealth(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The state of a workspace's code graph.

    `pending_changes` counts files that differ from the index, `pending` lists the first of them; `pending_more` if time
    was too short to compare all. `unresolved` are ambiguous references into the project, `outside` references to other
    packages. `problems` are skipped or partly read files with the reason.

    A caller that may not see every file of the project gets counts of visible files only, without references, vectors
    and new files; of jobs and the watcher only their state.
    """

    summary: str
    workspace: str
    project: str
    files: int
    symbols: int
    pending_changes: int
    watcher: WatcherShown
    tx_count: int = 0
    source_dir: str = ""
    kinds: dict[str, int] = {}
    languages: dict[str, int] = {}
    edges: dict[str, int] = {}
    unresolved: int | None = None
    outside: int | None = None
    latest_tx: LatestTx | None = None
    pending: tuple[str, ...] = ()
    pending_more: bool = False
    vectors_pending: int | None = None
    jobs: tuple[JobShown, ...] = ()
    problems: tuple[Skipped, ...] = ()
    hints: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def graph_health(ctx: CallContext, given: GraphHealthInput) -> GraphHealth:
    """Reports the state of the workspace's code graph: its contents, changed files, running jobs and the watcher.

    Changes nothing. `hints` lists what to do, if anything.
    """
    here = workspace_of(ctx)
    counted = _census(here)
    known, facts = _known(here)
    whole = facts.whole
    pending, more, passed_over = _pending(here, known, whole=whole)
    latest, tx_count = _transactions(here, whole=whole)
    watcher = watcher_of(here)
    if watcher is not None and whole:
        pending = tuple(dict.fromkeys((*pending, *watcher.pending)))
    problems = (*facts.problems, *passed_over)
    health = GraphHealth(
        summary="",
        workspace=told_root(here),
        project=here.settings.project,
        source_dir=source_dir_of(ctx),
        files=counted.kinds.get("File", 0),
        symbols=sum(counted.kinds.get(kind, 0) for kind in SYMBOLS),
        kinds={kind: counted.kinds[kind] for kind in SYMBOLS if counted.kinds.get(kind)},
        languages=_languages(known),
        edges={rel: counted.relations[rel] for rel in CODE_RELATIONS if counted.relations.get(rel)},
        unresolved=facts.unresolved,
        outside=facts.outside,
        latest_tx=latest,
        tx_count=tx_count,
        pending_changes=len(pending),
        pending=pending[:MAX_NAMED],
        pending_more=more,
        watcher=_watcher(here, whole=whole),
        vectors_pending=_vectors(here) if whole else None,
        jobs=tuple(_job(here, job, whole=whole) for job in JobBook(here).of(here)[:MAX_JOBS]),
        problems=some_of_each(problems, MAX_PROBLEMS),
        notes=(*facts.notes, *_more(problems)),
    )
    return replace(health, summary=_summary(here, health), hints=tuple(_hints(here, health)))


def _more(problems: tuple[Skipped, ...]) -> Iterator[str]:
    """The number of files beyond those that are named."""
    if more := len(problems) - len(some_of_each(problems, MAX_PROBLEMS)):
        yield f"and {more:,} more skipped or partly read files"


class _Counted(Struct, frozen=True, kw_only=True):
    """Cached counts, with the log position and time at which they were taken, and how long that took."""

    census: Census
    pos: int
    at_s: float
    took_s: float


def _census(ctx: CallContext) -> Census:
    """Counts of the project's graph, cached.

    They are taken again after a write; under steady writes, only so often that counting takes at most a tenth of the
    time.
    """
    key = ("census", place_of(ctx), ctx.viewer)
    pos, now_s = ctx.store.head(ctx.viewer).pos, time.monotonic()
    kept: _Counted | None = ctx.background.kept.get(key)
    if kept is not None and (kept.pos == pos or now_s - kept.at_s < SELDOM * kept.took_s):
        return kept.census
    census = ctx.store.census(ctx.viewer, (ctx.settings.project,))
    if len(ctx.background.kept) >= MAX_COUNTED:
        ctx.background.kept.clear()
    done_s = time.monotonic()
    ctx.background.kept[key] = _Counted(census=census, pos=pos, at_s=done_s, took_s=done_s - now_s)
    return census


class _Facts(Struct, frozen=True, kw_only=True):
    """Facts from the index itself. `whole` is true if the caller may see every indexed file."""

    whole: bool
    unresolved: int | None = None
    outside: int | None = None
    problems: tuple[Skipped, ...] = ()
    notes: tuple[str, ...] = ()


Known = dict[str, tuple[str, str]]  # the hash and the mark of each file that is indexed, by path


def _known(ctx: CallContext) -> tuple[Known, _Facts]:
    """The indexed files that this caller may see."""
    nodes = {str(node.props.get("path")): str(node.props.get("sha256", "")) for node in files_known(ctx)}
    try:
        with _facts(ctx) as facts:
            if facts is None:
                unmarked = {path: (sha256, "") for path, sha256 in nodes.items()}
                return unmarked, _Facts(whole=sees_all(ctx, nodes, None))
            sources, others, totals = facts.sources(), facts.others(), facts.totals()
    except (OSError, WeftError, RuntimeError) as problem:  # RuntimeError: the database's own
        note = f"the index's own file cannot be read: {problem!s:.100}"
        unmarked = {path: (sha256, "") for path, sha256 in nodes.items()}
        return unmarked, _Facts(whole=sees_all(ctx, nodes, None), notes=(note,))
    held: dict[str, SourceKnown | OtherKnown] = {**others, **sources}
    known = {
        path: (sha256, held[path].mark if path in held and held[path].sha256 == sha256 else "")
        for path, sha256 in nodes.items()
    }
    broken = [Skipped(path=path, reason="has syntax errors") for path in sources if sources[path].broken]
    skipped = [Skipped(path=path, reason=each.problem) for path, each in others.items() if each.problem]
    mine = tuple(each for each in (*skipped, *broken) if each.path in nodes)
    if not sees_all(ctx, nodes, held):
        return known, _Facts(whole=False, problems=mine)
    return known, _Facts(whole=True, unresolved=totals.unresolved, outside=totals.outside, problems=mine)


@contextlib.contextmanager
def _facts(ctx: CallContext) -> Iterator[FactsFile | None]:
    """The facts file as it is, read without waiting for a writer; None if there is none."""
    place = facts_place(ctx.settings)
    if place is None:
        with facts_kept(ctx, wait_s=LOOK_S) as facts:
            yield facts
    elif not place.is_file():
        yield None
    else:
        facts = FactsFile(place)
        try:
            yield facts
        finally:
            facts.close()


def _pending(ctx: CallContext, known: Known, *, whole: bool) -> tuple[tuple[str, ...], bool, tuple[Skipped, ...]]:
    """Files that differ from the index, whether time was too short to compare all, and files that cannot be indexed.

    New files are listed only for callers who may see the `whole` project: others could not tell them from files that
    are hidden from them.
    """
    root = ctx.settings.root
    if not root.is_dir():
        return (), False, ()
    walked = walk(root, root, wanted=is_indexed, ignore=ctx.settings.ignore)
    there = frozenset(walked.files)
    changed: list[str] = []
    problems = [*walked.skipped, *links_told(ctx, root, walked.links)] if whole else []
    until_s = time.monotonic() + LOOK_S
    for path in walked.files:
        if path not in known:
            problem = _problem(ctx, path) if whole and time.monotonic() < until_s else None
            if problem is not None:
                problems.append(problem)
            elif whole:
                changed.append(path)
            continue
        sha256, mark = known[path]
        if mark and mark_of(os.fspath(root), path) == mark:
            continue
        if time.monotonic() > until_s:
            return tuple(sorted(changed)), True, tuple(problems)
        now = digest_of(os.path.join(root, path))  # noqa: PTH118
        if now not in (None, sha256) and not str(now).startswith("size:"):
            changed.append(path)
    gone = [path for path in known if path not in there and not os.path.lexists(root / path)]
    return tuple(sorted((*changed, *gone))), not walked.whole, tuple(problems)


def _problem(ctx: CallContext, path: str) -> Skipped | None:
    """The reason why an existing file can never be indexed as it is; None if it can."""
    if (problem := name_problem(ctx, path)) is not None:
        return problem
    place = ctx.settings.root / path
    shut = os.path.lexists(place) and not os.access(place, os.R_OK)
    return Skipped(path=path, reason="cannot be read: Permission denied") if shut else None


def _languages(known: Known) -> dict[str, int]:
    counted: Counter[str] = Counter()
    for path in known:
        language = language_of(path)
        counted[language.name if language is not None else "other"] += 1
    return dict(counted.most_common())


def _transactions(ctx: CallContext, *, whole: bool) -> tuple[LatestTx | None, int]:
    """The last change of the project's code, and the number of such changes among the latest transactions."""
    try:
        made = [tx for tx in ctx.store.transactions(ctx.viewer, limit=MAX_TX) if tx.kind in CODE_TX]
    except Forbidden:  # of who is not internal
        return None, 0
    found = [tx for tx in made if _is_of_project(ctx, tx)]
    if not found:
        return None, 0
    last = found[0]
    told = LatestTx(
        id=last.id,
        kind=last.kind,
        at=to_iso(last.at),
        commit=last.git_commit,
        files=len(last.files) if whole else 0,
        agent=last.agent,
    )
    return told, len(found)


def _is_of_project(ctx: CallContext, tx: Tx) -> bool:
    """Whether a transaction changed something of this project that the caller may see, judged by its first events."""
    for pos in range(tx.opened_pos + 1, min(tx.opened_pos + TX_EVENTS, tx.closed_pos or tx.opened_pos) + 1):
        if nodes := ctx.store.asserted_by(ctx.viewer, pos, limit=1):
            return nodes[0].guard.project == ctx.settings.project
    return False


def _job(ctx: CallContext, job: Job, *, whole: bool) -> JobShown:
    """A job; callers who may not see all files that it reads get its state only."""
    told = shown(replace(job, error=told_words(ctx, job.error)))
    return told if whole else replace(told, path="", what="", done=0, total=0, counts={}, error="", hint="", notes=())


def _watcher(ctx: CallContext, *, whole: bool) -> WatcherShown:
    watcher = watcher_of(ctx)
    if watcher is None:
        return WatcherShown(state="not_started")
    if not whole:
        return WatcherShown(state=watcher.state)
    recent = [told_words(ctx, batch.line) for batch in reversed(tuple(watcher.recent))][:MAX_JOBS]
    return WatcherShown(state=watcher.state, note=told_words(ctx, watcher.note), recent=tuple(recent))


def _vectors(ctx: CallContext) -> int | None:
    """The number of texts without a vector; None if the caller may not know."""
    own: CallContext = ctx.background.own or ctx
    if own.writer.account != ctx.writer.account or not is_operator(own.writer.actor, own.viewer):
        return None
    if own.embedding.wanted.model is None:
        return None
    return vector_counts(own, replace(own.viewer, sensitive=True)).missing


def _summary(ctx: CallContext, health: GraphHealth) -> str:
    there = ctx.settings.root.is_dir()
    if not health.files:
        return f"{health.project}: {'nothing is indexed yet' if there else 'its directory is missing'}"
    told = f"{health.project}: {health.files:,} files, {health.symbols:,} symbols, {sum(health.edges.values()):,} edges"
    running = next((job for job in health.jobs if job.state in ("queued", "running")), None)
    if running is not None:
        return f"{told}; {job_line(running)}"
    if not there:
        return f"{told}; its directory is missing: these are the last counts"
    if not health.pending_changes:
        return f"{told}; up to date"
    return f"{told}; {health.pending_changes:,}{' or more' if health.pending_more else ''} not yet re-indexed"


def _hints(ctx: CallContext, health: GraphHealth) -> Iterator[str]:
    running = any(job.state in ("queued", "running") for job in health.jobs)
    if not ctx.settings.root.is_dir():
        yield "the workspace's directory is missing: choose another with graph_set_workspace"
    elif running:
        yield "a rebuild is running: ask again for its progress"
    elif not health.files and hidden_files(ctx):
        yield "its code is indexed for scopes that you do not hold: ask the operator for a token with these scopes"
    elif not health.files:
        yield "nothing is indexed: call graph_rebuild, or run `weft index`"
    elif health.pending_changes and health.watcher.state in ("not_started", "idle"):
        yield "files changed since they were indexed: call graph_rebuild, or run `weft index`"
    if health.jobs and health.jobs[0].state in ("failed", "interrupted") and not running:
        why = health.jobs[0].hint or health.jobs[0].error
        yield f"the last rebuild {health.jobs[0].state}{f': {why}' if why else ''}"
    if ctx.background.serves and not watches(ctx):
        yield "files are not watched: the setting watch turns that on"
    if health.vectors_pending and not ctx.background.serves:
        yield f"{health.vectors_pending:,} texts have no vector yet: `weft reindex`"


OPERATIONS = (
    Operation(
        name="graph_health",
        summary="state of the code graph: indexed files, changes since, running jobs",
        input=GraphHealthInput,
        output=GraphHealth,
        effect="read",
        toolset="code",
        run=graph_health,
        priorities={"kinds": "medium", "edges": "medium", "jobs": "high", "pending": "high"},
    ),
)
