"""Records of background jobs, as small files beside the store that any process can read."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from weft.core.clock import SystemClock, to_iso
from weft.core.errors import ReadOnly, WeftError
from weft.files.file_lock import replace_whole
from weft.files.paths import beside_store
from weft.runtime.background import Stopped
from weft.runtime.call_context import CallContext
from weft.runtime.settings.load import Settings
from weft.text.spelling import spelled_out

FOLDER: Final = "jobs"
MAX_KEPT: Final = 50  # jobs per store; the oldest finished ones are removed
MAX_FILE_BYTES: Final = 65_536
BEAT_S: Final = 0.5  # interval of progress records
SILENT_US: Final = 30_000_000  # after which a silent job of another machine counts as dead
MAX_WORDS: Final = 1_000  # characters of an error

State = Literal["queued", "running", "done", "failed", "interrupted"]
Mode = Literal["full", "incremental"]
ONE: Final = {"files": "file", "symbols": "symbol", "links": "link", "others": "other file", "documents": "document",
    "ended": "file ended", "revived": "file back", "unlinked": "link ended"}  # fmt: skip
ONE_MANY: Final = {"others": "other files", "unlinked": "links ended", "ended": "files ended", "revived": "files back"}
OVER: Final = ("done", "failed", "interrupted")


class Job(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A rebuild: its request, progress and outcome. Times are in microseconds.

    `host`, `pid` and `born` identify its process; `beat` is the time of the last progress record.
    """

    id: str
    account: str
    project: str
    root: str
    mode: Mode
    state: State
    path: str = ""
    what: str = ""
    done: int = 0
    total: int = 0
    counts: dict[str, int] = {}
    error: str = ""
    hint: str = ""
    notes: tuple[str, ...] = ()
    agent: str = ""
    asked: int = 0
    started: int = 0
    finished: int = 0
    beat: int = 0
    host: str = ""
    pid: int = 0
    born: str = ""

    @property
    def is_over(self) -> bool:
        return self.state in OVER


class JobShown(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A job in answers. `done` of `total` count the current step, `what`."""

    id: str
    state: State
    mode: Mode
    path: str = ""
    what: str = ""
    done: int = 0
    total: int = 0
    counts: dict[str, int] = {}
    error: str = ""
    hint: str = ""
    notes: tuple[str, ...] = ()
    asked_at: str = ""
    started_at: str = ""
    finished_at: str = ""


def shown(job: Job) -> JobShown:
    """A job without the fields that identify its process."""
    same = {name: getattr(job, name) for name in JobShown.__struct_fields__ if not name.endswith("_at")}
    return JobShown(
        **same,
        asked_at=_moment(job.asked),
        started_at=_moment(job.started),
        finished_at=_moment(job.finished),
    )


def _moment(at: int) -> str:
    return to_iso(at) if at else ""


def job_line(job: Job | JobShown) -> str:
    """A job as one line of text."""
    told = f"{job.mode} rebuild{f' of {job.path}' if job.path else ''} {job.state}"
    if job.state == "running" and job.what:
        told += f": {job.what} {job.done:,} of {job.total:,}" if job.total else f": {job.what}"
    if job.state == "done":
        told += f": {in_words(job.counts)}"
    return f"{told}: {job.error}" if job.error else told


def in_words(counts: Mapping[str, int]) -> str:
    """Counts of an indexing as text: `1 file, 3 symbols, 2 ended`."""
    return ", ".join(_counted(name, count) for name, count in counts.items() if count) or "nothing to do"


def _counted(name: str, count: int) -> str:
    one = ONE.get(name, name)
    return f"{count:,} {one if count == 1 else ONE_MANY.get(name, name)}"


class JobBook:
    """The jobs of a store; of this process for a store without a directory."""

    def __init__(self, ctx: CallContext) -> None:
        self._place = _place(ctx.settings)
        self._held = ctx.background.held

    def begin(self, ctx: CallContext, *, mode: Mode, path: str) -> Job:
        """Records a new queued job. Raises ReadOnly where it cannot be written."""
        now = SystemClock().now_us()
        job = Job(
            id=f"job-{ctx.new_id()}",
            account=ctx.writer.account,
            project=ctx.settings.project,
            root=str(ctx.settings.root),
            mode=mode,
            path=path,
            state="queued",
            agent=ctx.writer.actor.agent,
            asked=now,
            beat=now,
            host=this_host(),
            pid=os.getpid(),
            born=birth_of(os.getpid()),
        )
        try:
            self.save(job)
        except OSError as problem:
            raise ReadOnly(
                f"jobs cannot be kept beside the store: {problem.strerror}", hint="check its directory's rights"
            ) from problem
        self._prune()
        return job

    def save(self, job: Job) -> None:
        """Raises OSError."""
        raw = msgspec.json.encode(job)
        if self._place is None:
            self._held[job.id] = raw
            return
        self._place.mkdir(mode=0o700, parents=True, exist_ok=True)
        replace_whole(self._place / f"{job.id}.json", raw)

    def get(self, ctx: CallContext, job_id: str) -> Job | None:
        """A job of this account in its present state."""
        return next((job for job in self.all(ctx.writer.account) if job.id == job_id), None)

    def of(self, ctx: CallContext) -> tuple[Job, ...]:
        """The jobs of this caller's workspace, newest first."""
        here = (ctx.settings.project, str(ctx.settings.root))
        return tuple(job for job in self.all(ctx.writer.account) if (job.project, job.root) == here)

    def all(self, account: str) -> tuple[Job, ...]:
        """All jobs of an account, newest first. A job whose process has died is reported as interrupted."""
        found = [job for _, raw in self._raw() if (job := _read(raw)) is not None and job.account == account]
        return tuple(sorted(map(_as_it_is, found), key=lambda job: job.id, reverse=True))

    def forget(self, account: str, mentions: Callable[[str], bool], *, write: bool) -> tuple[int, int]:
        """Redacts error texts of ended jobs that mention erased content; without `write`, only counts them.

        Returns how many there are, and how many running jobs mention it; those update their own records.
        """
        gone = running = 0
        for name, raw in self._raw():
            job = _read(raw)
            if (job is not None and job.account != account) or not mentions(spelled_out(raw.decode(errors="replace"))):
                continue
            if job is not None and not _as_it_is(job).is_over:
                running += 1
                continue
            gone += 1
            if write:
                self._drop(name)
        return gone, running

    def _drop(self, name: str) -> None:
        if self._place is None:
            self._held.pop(name, None)
            return
        with contextlib.suppress(OSError):
            (self._place / name).unlink(missing_ok=True)

    def _raw(self) -> Iterator[tuple[str, bytes]]:
        if self._place is None:
            yield from list(self._held.items())
            return
        names = sorted((name for name in _names(self._place)), reverse=True)[: 4 * MAX_KEPT]
        for name in names:
            with contextlib.suppress(OSError), (self._place / name).open("rb") as file:  # gone by now
                yield name, file.read(MAX_FILE_BYTES)

    def _prune(self) -> None:
        """Lets the oldest go that have ended. Whatever fails is tried again with the next job."""
        for name, raw in sorted(self._raw(), reverse=True)[MAX_KEPT:]:
            if (job := _read(raw)) is not None and not _as_it_is(job).is_over:
                continue
            self._drop(name)


class Running:
    """A job at work: keeps its file up while the block runs, and says at the end what became of it.

    Telling how far it is costs no writing: a thread of its own does that, twice a second.
    """

    def __init__(self, book: JobBook, job: Job) -> None:
        self._book, self._lock, self._over = book, threading.Lock(), threading.Event()
        self.job = replace(job, state="running", started=SystemClock().now_us())
        self._beating = threading.Thread(target=self._beat, name="weft-job-beat", daemon=True)

    def __enter__(self) -> Running:
        self._save()
        self._beating.start()
        return self

    def __exit__(self, kind: object, problem: BaseException | None, trace: object) -> None:
        if problem is not None:
            self.failed(problem)
        self._over.set()
        self._beating.join()
        self.job = replace(self.job, finished=SystemClock().now_us())
        self._save()

    def progress(self, what: str, done: int, total: int) -> None:
        """Records the progress."""
        with self._lock:
            self.job = replace(self.job, what=what, done=done, total=total)

    def done(self, counts: dict[str, int], notes: tuple[str, ...]) -> None:
        """Records success."""
        with self._lock:
            self.job = replace(self.job, state="done", counts=counts, notes=notes[:MAX_KEPT])

    def failed(self, problem: BaseException) -> None:
        """Records failure: the message of a weft error, or the type of any other exception."""
        if isinstance(problem, Stopped | KeyboardInterrupt | SystemExit):
            told, hint, state = (
                "the process that ran it ended",
                "start it again: it continues where it stopped",
                "interrupted",
            )
        elif isinstance(problem, WeftError):
            told, hint, state = problem.message, problem.hint, "failed"
        else:
            told, hint, state = f"{type(problem).__name__}: {problem}", "a bug in weft: see its log", "failed"
        with self._lock:
            self.job = replace(self.job, state=state, error=told[:MAX_WORDS], hint=hint[:MAX_WORDS])

    def _beat(self) -> None:
        while not self._over.wait(BEAT_S):
            self._save()

    def _save(self) -> None:
        with self._lock:
            self.job = replace(self.job, beat=SystemClock().now_us())
            job = self.job
        with contextlib.suppress(OSError):  # what cannot be told is done all the same
            self._book.save(job)


# ---- whose job it is


def _as_it_is(job: Job) -> Job:
    if job.is_over or _is_alive(job):
        return job
    told = "the process that did it is gone"
    return replace(job, state="interrupted", error=told, hint="start it again: it continues where it stopped")


def _is_alive(job: Job) -> bool:
    """Whether its process runs, if that is on this machine; else whether it reported recently."""
    if job.host == this_host():
        return is_running(job.pid, job.born)
    return SystemClock().now_us() - job.beat < SILENT_US


# ---- the files


def _place(settings: Settings) -> Path | None:
    return beside_store(settings.store, FOLDER)


def _names(place: Path) -> list[str]:
    try:
        with os.scandir(place) as entries:
            return [each.name for each in entries if each.name.startswith("job-") and each.name.endswith(".json")]
    except OSError:
        return []


def _read(raw: bytes) -> Job | None:
    """None for what is no job, such as one that another weft wrote."""
    try:
        return msgspec.json.decode(raw, type=Job)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


@cache
def this_host() -> str:
    """Identifies a set of process ids: the machine's boot, and the PID namespace."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot}/{Path('/proc/self/ns/pid').readlink()}"
    except OSError:  # no Linux
        return os.uname().nodename if hasattr(os, "uname") else ""


def birth_of(pid: int) -> str:
    """The start time of a process, in the system's own count: pids are reused. Empty if unknown."""
    return _stat(pid)[1]


def is_running(pid: int, born: str) -> bool:
    """Whether the process with this pid and start time is alive. A zombie is not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # of another user
        pass
    state, birth = _stat(pid)
    return state != "Z" and birth == born


def _stat(pid: int) -> tuple[str, str]:
    """A process's state and start time; empty if the system does not report them."""
    try:
        told = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        after_name = told.rpartition(")")[2].split()
        return after_name[0], after_name[19]
    except (OSError, IndexError):
        return "", ""
