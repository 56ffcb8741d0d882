"""A resident: answers, with its open store and loaded models, what processes of the same user ask.

Who is asking, and in which project, is read from the asking process's own environment and directory, as that process
would read it. A request is declined where its settings name another store or other models, so that no answer differs
from the one that the process would find by itself.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from weft.core.errors import StoreError, WeftError
from weft.runtime.settings.load import Settings, load_settings, surroundings
from weft.surfaces.callers import Callers
from weft.surfaces.frames import Frame
from weft.surfaces.hooks.hook import CLIENTS, empty_answer
from weft.surfaces.hooks.work import HookCall, run_hook
from weft.surfaces.resident.listen import Declined, Listener
from weft.surfaces.resident.place import directory_of, handed_on, identity
from weft.version import __version__

if TYPE_CHECKING:
    from weft.memory.facade import Memory

PER_PROCESS: Final = (  # settings, besides the store, that the open store and the loaded models were made from
    *("embedder", "embedder_url", "embedder_key", "model", "model_url", "model_key"),
    *("reranker", "reranker_url", "reranker_key", "answer_judge", "redaction", "sensitive_key", "audit", "log"),
)
Work = Callable[[], dict[str, Any]]


class Resident:
    """Answers for a store: with the memory of a server's callers, or with one of its own until they have any."""

    def __init__(self, callers: Callers, settings: Settings) -> None:
        self._callers, self._settings = callers, settings
        self._directory = directory_of(settings.store) or ""
        self._home = handed_on(surroundings()).get("HOME")
        self._lock = threading.Lock()
        self._base: Memory | None = None
        self._own: Memory | None = None
        self._opening: threading.Thread | None = None
        self._inode: list[int] | None = None
        self._listener = Listener(self._directory, self._take)

    def begin(self) -> None:
        """Starts listening. Opens no store: the first request has that done, and is declined."""
        if self._directory and self._settings.log != "stderr":  # its lines belong to the asking process
            self._listener.begin()

    def close(self, seconds: float) -> bool:
        """Stops accepting requests; returns whether accepted ones ended within the time."""
        if not self._listener.close(seconds) or (self._opening is not None and self._opening.is_alive()):
            return False
        if self._own is not None:
            self._own.close()
        return True

    def _take(self, frame: Frame) -> Work | None:
        head = frame.head
        environment, call = head.get("environment"), _hook_call(head)
        if head.get("weft") != __version__ or call is None or not isinstance(environment, dict):
            return None
        if environment.get("HOME") != self._home or not self._is_ready():
            return None
        # Another store, or one that was put in the place of the open one, is not this one.
        if self._inode is None or not head.get("store") == self._inode == identity(self._directory):
            return None
        return lambda: self._answer(call, environment, frame.body)

    def _is_ready(self) -> bool:
        """Whether the store is open; if not, begins to open it."""
        with self._lock:
            if self._base is None and self._opening is None:
                self._opening = threading.Thread(target=self._open, name="weft-resident-open", daemon=True)
                self._opening.start()
            return self._base is not None

    def _open(self) -> None:
        """Opens the store and loads the models, so that the next request is answered."""
        from weft.memory.facade import open as open_memory

        try:
            inode = identity(self._directory)
            if not self._callers.is_open:
                self._own = open_memory(directory=self._callers.directory)
            base = self._own or self._callers.operator()
            base.ctx.embedding.query("weft")
            with self._lock:
                self._base, self._inode = base, inode
        except WeftError:  # whoever asks finds out by itself
            with self._lock:
                self._opening = None

    def _answer(self, call: HookCall, environment: dict[str, str], body: bytes) -> dict[str, Any]:
        """The reply: what the hook's own process would print. Raises Declined."""
        said: list[str] = []
        why = ""
        try:
            run_hook(call, lambda: body, lambda directory: self._opened(directory, environment), said.append)
        except StoreError as problem:
            raise Declined(problem.message) from problem  # that process may fare better
        except WeftError as problem:
            why = f"{problem.message}; {problem.hint}" if problem.hint else problem.message
        out = said[0] if said else empty_answer(call.client)
        told = f"weft {call.command}: {' '.join(why.split())}\n" if why and not said else ""
        return {"out": f"{out}\n" if out else "", "err": told}

    @contextmanager
    def _opened(self, directory: Path, environment: dict[str, str]) -> Iterator[Memory]:
        """The open store, with the settings of an asking process. Raises Declined where they need another one."""
        settings = load_settings(directory, environment)
        assert self._base is not None
        own = self._base.ctx.settings
        if differing := [name for name in PER_PROCESS if getattr(settings, name) != getattr(own, name)]:
            raise Declined(f"other settings: {', '.join(differing)}")
        if identity(directory_of(settings.store) or "") != self._inode:
            raise Declined("another store")
        yield self._base.serving(settings)


def _hook_call(head: dict[str, Any]) -> HookCall | None:
    """A hook's call as sent; None if it is invalid."""
    match head:
        case {
            "working": str(working),
            "work": {
                "command": "context" | "capture" as command,
                "client": client,
                "query": query,
                "budget": int(budget),
            },
        } if client in (None, *CLIENTS) and (query is None or isinstance(query, str)):
            return HookCall(command, client, Path(working), query, budget)
        case _:
            return None
