"""The watcher of a workspace: saved files are indexed, one transaction per batch.

idle → detecting → debouncing → rebuilding → idle. Several processes may watch one workspace: the indexer's lock admits
one of them, and the others then find nothing to do.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from weft.code.ask.workspaces import is_indexed, place_of, settings_in
from weft.code.index.embedding import embed_later
from weft.code.index.index_turn import index_in_turn
from weft.code.index.reader import reader_of
from weft.code.watch.sources import ChangeSource, PollingSource, SystemSource
from weft.core.errors import WeftError
from weft.files.walk import GITIGNORE, walk, walked_among
from weft.runtime.background import Stopped, Workspace
from weft.runtime.call_context import CallContext
from weft.runtime.jobs import in_words

if TYPE_CHECKING:
    from weft.code.index.index import CodeIndexed

WatcherState = Literal["not_started", "idle", "detecting", "debouncing", "rebuilding"]
MAX_WAIT_S: Final = 2.0  # under a stream of changes, how long they gather at most
MAX_BATCH: Final = 500  # files that are indexed by name; of more, the whole workspace is looked through
RETRY_S: Final = 1.0  # after something went wrong, doubled each time
MAX_RETRY_S: Final = 60.0
LOOK_S: Final = 1.0  # how often it looks whether its directory is there
MAX_RECENT: Final = 20
MAX_NAMES: Final = 3
UNINDEXED: Final = "nothing is indexed yet: call graph_rebuild"
CHANGES: Final = ("files", "others", "ended", "revived", "links", "unlinked")
COUNTS: Final = (*CHANGES, "symbols", "unchanged", "unresolved")
TRIES: Final = 5  # to watch folders that come and go
_log = logging.getLogger("weft.watch")


class WatchedBatch(Struct, frozen=True, kw_only=True):
    """One batch of a watcher: the number of files checked, the results, and the reason of a failure."""

    files: int
    whole: bool
    milliseconds: int = 0
    counts: dict[str, int] = {}
    names: tuple[str, ...] = ()
    problem: str = ""

    @property
    def changed(self) -> bool:
        """Whether the graph changed."""
        return any(self.counts.get(name) for name in CHANGES)

    @property
    def line(self) -> str:
        what = "everything" if self.whole else ", ".join(self.names)
        if not self.whole and self.files > len(self.names):
            what += f" and {self.files - len(self.names):,} more"
        did = self.problem or in_words(self.counts)
        return f"{what}: {did} ({self.milliseconds:,} ms)"


Tell = Callable[[WatchedBatch], None]


class Watcher:
    """Watches one workspace on a thread of its own until `stop`. Never raises: problems are in `note`.

    A workspace that is not indexed is left alone until it is; with `first` it is indexed first.
    """

    def __init__(self, ctx: CallContext, *, tell: Tell | None = None, first: bool = False) -> None:
        self._ctx, self._tell, self._first = ctx, tell, first
        self._root = ctx.settings.root.resolve()
        self._debounce_s = ctx.settings.watch_debounce_ms / 1000
        self._stop = threading.Event()
        self._pending: dict[str, None] = {}
        self._heard: set[str] = set()
        self._whole = False
        self._source: ChangeSource | None = None
        self._folders: frozenset[str] = frozenset()
        self.state: WatcherState = "detecting"
        self._trouble_note = self._source_note = ""
        self.recent: deque[WatchedBatch] = deque(maxlen=MAX_RECENT)
        self._thread = threading.Thread(target=self._run, name="weft-watch", daemon=True)

    @property
    def note(self) -> str:
        """The present problem, or that of the last attempt; empty without one."""
        return self._trouble_note or self._source_note

    @property
    def pending(self) -> tuple[str, ...]:
        """Changed files that are not indexed yet."""
        heard = [path for path in tuple(self._heard) if path]
        more = walked_among(self._root, heard, ignore=self._ctx.settings.ignore) if heard else ()
        return tuple(dict.fromkeys((*self._pending, *more)))

    def start(self) -> Watcher:
        self._thread.start()
        return self

    def stop(self) -> None:
        """Requests the end without waiting."""
        self._stop.set()
        if (source := self._source) is not None:
            source.told.put("")  # wakes it

    def join(self, seconds: float) -> bool:
        """Waits for the end, up to a time limit; returns whether it ended."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    # ---- the loop

    def _run(self) -> None:
        wait_s = RETRY_S
        while not self._stop.is_set():
            try:
                self._serve()
                wait_s = RETRY_S
                continue
            except Stopped:
                break
            except (OSError, WeftError) as problem:
                self._trouble(str(problem))
            except Exception:  # noqa: BLE001 - a fault of weft's: told, and tried again
                _log.exception("the watcher of %s failed", self._root)
                self._trouble("the watcher failed; the log has the reason")
            self._whole = True
            self._stop.wait(wait_s)
            wait_s = min(2 * wait_s, MAX_RETRY_S)
        self._unwatch()
        self.state = "not_started"

    def _serve(self) -> None:
        """Waits for changes, up to a time limit, and indexes them."""
        if not self._root.is_dir():
            self._unwatch()
            self._trouble("the workspace is gone: it is watched again when it is back")
            self._stop.wait(LOOK_S)
            return
        if self._source is None:
            self._source, self._whole = self._watching(), True
            reader_of(self._ctx).warm()
            self._index()  # what happened while nobody watched
            embed_later(self._ctx)
        try:
            self._heard.add(self._source.told.get(timeout=LOOK_S))
        except queue.Empty:
            if self._whole or self._pending:  # it went wrong before
                self._index()
            return
        self._ctx.background.stir()
        if self._stop.is_set():
            return
        self.state = "detecting"
        self._gather(self._source)
        self._take()
        if self._source.problem:  # it tells no more
            self._unwatch()
        elif self._pending or self._whole:
            self._index()
        self.state = "idle"

    def _gather(self, source: ChangeSource) -> None:
        """Collects further changes until none arrives for a while, up to a time limit."""
        self.state = "debouncing"
        until_s = time.monotonic() + MAX_WAIT_S
        while not self._stop.is_set() and (left_s := until_s - time.monotonic()) > 0:
            try:
                self._heard.add(source.told.get(timeout=min(self._debounce_s, left_s)))
            except queue.Empty:
                break

    def _watching(self) -> ChangeSource:
        """System notifications for every folder, or polling if the system refuses."""
        ignore = self._ctx.settings.ignore
        for _ in range(TRIES):
            folders = walk(self._root, self._root, wanted=lambda name: False, ignore=ignore).folders
            self._folders = frozenset(folders)
            try:
                found = SystemSource(self._root, folders)
            except FileNotFoundError:  # of a folder that is gone by now
                continue
            except OSError as problem:
                why = f"{problem!s:.100}"
                self._source_note = f"the system watches no more folders ({why}): files are polled instead"
                break
            self._source_note = ""
            return found
        return PollingSource(self._root, ignore)

    def _unwatch(self) -> None:
        if self._source is not None:
            self._source.close()
            self._source = None

    # ---- what to index

    def _take(self) -> None:
        """Adds reported changes to the pending files.

        If folders appeared or disappeared, the set of watched folders is updated before indexing, so that no change in
        them is missed.
        """
        folders: set[str] = set()
        self._sort_out(folders)
        if folders and self._source is not None:
            before = self._source
            self._source = self._watching()
            self._heard.update(_drained(before.told))
            before.close()
            self._sort_out(folders)
        self._pending.update(dict.fromkeys(sorted(folders - {""})))

    def _sort_out(self, folders: set[str]) -> None:
        """The reported paths as pending files and changed folders; "" if ignore rules changed."""
        heard, self._heard = self._heard, set()
        if "" in heard:
            self._whole = True
            heard.discard("")
        if any(self._is_patterns(path) for path in heard):
            self._whole = True
            folders.add("")
        for path in walked_among(self._root, sorted(heard), ignore=self._ctx.settings.ignore):
            if f"{path}/" in self._folders or (self._root / path).is_dir():
                folders.add(path)
            else:
                self._pending[path] = None

    def _is_patterns(self, path: str) -> bool:
        folder, _, name = path.rpartition("/")
        return name == GITIGNORE and (f"{folder}/" if folder else "") in self._folders

    # ---- indexing

    def _index(self) -> None:
        """Indexes the pending files. Changes that arrive meanwhile wait for the next batch."""
        if not self._first and not is_indexed(self._ctx):
            self._pending.clear()
            self._whole = False
            self._trouble(UNINDEXED)
            return
        paths, whole = tuple(self._pending), self._whole or len(self._pending) > MAX_BATCH
        if not paths and not whole:
            return
        self.state = "rebuilding"
        began_s = time.monotonic()
        try:
            done = index_in_turn(self._ctx, self._stop, paths=None if whole else paths)
        except Stopped:
            raise
        except WeftError as problem:
            self._over(
                WatchedBatch(files=len(paths), whole=whole, names=paths[:MAX_NAMES], problem=problem.message), began_s
            )
            raise
        for path in paths:
            self._pending.pop(path, None)
        self._whole, self._trouble_note = False, ""
        batch = WatchedBatch(files=len(paths), whole=whole, names=paths[:MAX_NAMES], counts=counts_of(done))
        self._ctx.background.stir()
        if batch.changed:
            embed_later(self._ctx)
        self._over(batch, began_s)

    def _over(self, batch: WatchedBatch, began_s: float) -> None:
        batch = replace(batch, milliseconds=round((time.monotonic() - began_s) * 1000))
        if batch.problem or batch.changed:
            self.recent.append(batch)
        if self._tell is not None:
            self._tell(batch)
        self.state = "idle"

    def _trouble(self, what: str) -> None:
        self._trouble_note, self.state = what, "idle"


def _drained(told: queue.SimpleQueue[str]) -> set[str]:
    found: set[str] = set()
    while True:
        try:
            found.add(told.get_nowait())
        except queue.Empty:
            return found


def counts_of(done: CodeIndexed) -> dict[str, int]:
    """The counts of an indexing run that are not zero."""
    return {name: count for name in COUNTS if (count := getattr(done, name))}


# ---- where servers watch


def watches(ctx: CallContext) -> bool:
    """Whether this process watches workspaces: by the setting, else if it serves over HTTP."""
    shop, said = ctx.background, ctx.settings.origins["watch"].origin != "default"
    return shop.serves and (ctx.settings.watch if said else shop.kind == "http")


def ensure_watched(ctx: CallContext) -> Watcher | None:
    """The watcher of this context's workspace, started if needed. None if this process does not watch."""
    if not watches(ctx) or not ctx.settings.root.is_dir():
        return None
    found: Watcher | None = ctx.background.watch(place_of(ctx), lambda: Watcher(_as_itself(ctx)).start())
    return found


def begin_watching(ctx: CallContext) -> None:
    """Watches the workspace that this process was started in, if it is indexed and the process watches at all."""
    if watches(ctx) and is_indexed(ctx):
        ensure_watched(ctx)


def watcher_of(ctx: CallContext) -> Watcher | None:
    """The watcher of this context's workspace, if this process has one."""
    found: Watcher | None = ctx.background.watcher(place_of(ctx))
    return found


def _as_itself(ctx: CallContext) -> CallContext:
    """The process's own context in this workspace, if it is of the same account: what is saved is nobody's doing."""
    own: CallContext | None = ctx.background.own
    if own is None or own.writer.account != ctx.writer.account:
        return ctx
    here = ctx.settings
    return replace(
        own, settings=settings_in(own.settings, Workspace(root=here.root, project=here.project, ignore=here.ignore))
    )
