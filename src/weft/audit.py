"""The audit: every call of an operation, kept beside the memories in a store of its own, with a chain of its own.

A call is noted in a queue and written after its answer, in batches, by a thread that lives as long as the audit. What
fails here is told in the log of operations and never costs an answer. Words are cut and redacted before they are kept.
"""

from __future__ import annotations

import atexit
import itertools
import logging
import threading
import time
import uuid
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from weft.append import Writer, append
from weft.errors import StoreError
from weft.instants import Clock, to_iso
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.ports import Store
from weft.screen import Screen
from weft.types import Guard

KIND: Final = "ToolCall"
AUDIT: Final = "audit"  # the directory of its store, in that of the memories
BATCH: Final = 64  # calls in one commit at most; so many waiting are written at once
FLUSH_S: Final = 1.0  # so long a call waits at most: what a killed process may lose
QUEUE: Final = 4_096  # calls that wait at most, while the store cannot be written
INPUT_CHARACTERS: Final = 2_000
OUTPUT_CHARACTERS: Final = 600
MARGIN_CHARACTERS: Final = 500  # read beyond the cut, so that a secret across it is seen whole
_KEY_BEGINS: Final = "-----BEGIN"  # of a key whose end lies beyond the cut
_log = logging.getLogger("weft.audit")

Redact = Callable[[str], str]


class Said(Struct, frozen=True, kw_only=True):
    """What went in or came out: its size, and its beginning as JSON; None where its words are not to be kept."""

    size: int
    beginning: bytes | None


class Called(Struct, frozen=True, kw_only=True):
    """One call that is over. `guard` says who may find its record, `dropped` how many before it were not recorded."""

    writer: Writer
    guard: Guard
    operation: str
    toolset: str
    effect: str
    surface: str
    started: int
    ended: int
    milliseconds: float
    given: Said
    answer: Said
    code: str = ""
    status: str = ""
    conversation: str | None = None
    wrote: tuple[str, ...] = ()  # ids of nodes: when one of them is erased, so are the words of this call
    dropped: int = 0


def as_is(text: str) -> str:
    """Redacts nothing."""
    return text


class Audit:
    """Where calls are noted. Any thread may note one. `recording` says whether this process notes its calls.

    `open_store` opens the store of the audit, None while there is no store to keep an audit of: nothing is made on disk
    by asking a question of nothing. `redact` takes secrets out of a text.
    """

    def __init__(
        self,
        open_store: Callable[[], Store | None],
        *,
        clock: Clock,
        recording: bool = True,
        redact: Redact = as_is,
    ) -> None:
        self.recording = recording
        self.problem = ""  # why the last attempt to write failed
        self._open_store, self._clock, self._redact = open_store, clock, redact
        self._queue: deque[Called] = deque()
        self._dropped = 0
        self._changed = threading.Condition()
        self._writing = threading.Lock()
        self._unwritten: tuple[str, tuple[Called, ...]] | None = None  # a batch that failed, under its request id
        self._store: Store | None = None
        self._thread: threading.Thread | None = None
        self._closing = False

    def note(self, call: Called) -> None:
        """Puts a call in the queue. Writes nothing; of a full queue the next record says how many were dropped."""
        if not self.recording:
            return
        with self._changed:
            if len(self._queue) >= QUEUE:
                self._dropped += 1
                return
            if self._dropped:
                call, self._dropped = replace(call, dropped=self._dropped), 0
            self._queue.append(call)
            if self._thread is None:
                self._start()
            if len(self._queue) in (1, BATCH):
                self._changed.notify()

    def flush(self) -> bool:
        """Writes what waits. Never raises; False where something is left, and `problem` says why."""
        with self._writing:
            while (batch := self._next()) is not None:
                try:
                    store = self.store()
                    if store is None:
                        return False
                    self._write(store, *batch)
                except StoreError as problem:  # it may mend: the same batch is tried again, and written once
                    self._failed(problem.message)
                    return False
                except Exception as problem:  # noqa: BLE001 - nothing here may cost an answer; it is told in the log
                    _log.exception("%d calls could not be recorded", len(batch[1]))
                    self._failed(f"{len(batch[1])} calls could not be recorded: {type(problem).__name__}")
                    with self._changed:
                        self._dropped += len(batch[1])
                else:
                    self.problem = ""
                self._unwritten = None
        return True

    def store(self) -> Store | None:
        """The store of the audit, opened when it is first needed; None where there is nothing to keep an audit of."""
        with self._changed:
            if self._store is None:
                self._store = self._open_store()
            return self._store

    def close(self) -> None:
        """Writes what waits, ends the thread and releases files. What cannot be written now is lost, with a warning."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
            thread, self._thread = self._thread, None
        if thread is not None:
            _OPEN.discard(self)
            thread.join()
            self.flush()
        left = len(self._queue) + (len(self._unwritten[1]) if self._unwritten else 0)
        if left and self._store is not None:
            _log.warning("%d calls are not in the audit: %s", left, self.problem)
        with self._changed:
            store, self._store = self._store, None
        if store is not None:
            store.close()

    # The thread

    def _start(self) -> None:
        self._closing = False
        _OPEN.add(self)
        weakref.finalize(self, _wake, self._changed).atexit = False
        # A daemon: one that is forgotten must not keep the process alive; what it left is written at exit.
        work = (weakref.ref(self), self._changed)
        self._thread = threading.Thread(target=_write_when_due, args=work, name="weft-audit", daemon=True)
        self._thread.start()

    def idle(self) -> bool:
        """Whether nothing waits to be written, and nobody waits for the thread to end."""
        return not self._queue and self._unwritten is None and not self._closing

    def due(self, *, sound: bool) -> bool:
        """Waits until a batch is full or the first call has waited long enough; False when it is being closed.

        After a failure, not `sound`, it waits in any case.
        """
        with self._changed:
            until_s = time.monotonic() + FLUSH_S
            while not self._closing and (left_s := until_s - time.monotonic()) > 0:
                if sound and len(self._queue) >= BATCH:
                    break
                self._changed.wait(left_s)
            return not self._closing

    # Writing

    def _next(self) -> tuple[str, tuple[Called, ...]] | None:
        """The next calls of one writer, under a request id: what failed is tried again as it was."""
        if self._unwritten is None:
            with self._changed:
                if not self._queue:
                    return None
                writer = self._queue[0].writer
                same = itertools.takewhile(lambda call: call.writer == writer, itertools.islice(self._queue, BATCH))
                calls = tuple(same)
                for _ in calls:
                    self._queue.popleft()
            self._unwritten = uuid.uuid4().hex, calls
        return self._unwritten

    def _write(self, store: Store, request_id: str, calls: tuple[Called, ...]) -> None:
        drafts = [self._draft(f"call:{request_id}-{number}", call) for number, call in enumerate(calls)]
        # Secrets are out already, from whole words; nothing here is sensitive, and nothing needs a key.
        as_it_is = Screen(redacts=False, keys=None)
        append(store, calls[0].writer, drafts, clock=self._clock, request_id=request_id, screen=as_it_is)

    def _failed(self, problem: str) -> None:
        if problem != self.problem:
            _log.warning("the audit cannot be written: %s", problem)
        self.problem = problem

    def _draft(self, call_id: str, call: Called) -> Draft:
        props: dict[str, Any] = {
            "operation": call.operation,
            "toolset": call.toolset,
            "effect": call.effect,
            "surface": call.surface,
            "agent": call.writer.actor.agent,
            "role": call.writer.actor.role,
            "session": call.writer.session,
            "started": to_iso(call.started),
            "ended": to_iso(call.ended),
            "ms": call.milliseconds,
            "error": bool(call.code),
            "input_bytes": call.given.size,
            "output_bytes": call.answer.size,
        }
        rest: dict[str, Any] = {
            "input": kept(call.given, INPUT_CHARACTERS, self._redact),
            "output": kept(call.answer, OUTPUT_CHARACTERS, self._redact),
            "code": call.code,
            "status": call.status,
            "conversation": call.conversation,
            "wrote": list(call.wrote),
            "dropped": call.dropped,
        }
        props |= {name: value for name, value in rest.items() if value}
        node = graph.NodeAssertion(
            id=call_id,
            kind=KIND,
            props=props,
            project=call.guard.project,
            scope=call.guard.scope,
            agents=call.guard.agents,
            valid_from=to_iso(call.started),
        )
        return Draft(
            kind="graph.asserted",
            payload=graph.Asserted(nodes=(node,)),
            occurred_at=call.started,
            conversation=call.conversation,
        )


_OPEN: Final[weakref.WeakSet[Audit]] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    """At exit, what nobody closed."""
    for audit in list(_OPEN):
        audit.close()


def _wake(changed: threading.Condition) -> None:
    with changed:
        changed.notify_all()


def _write_when_due(audit_of: Callable[[], Audit | None], changed: threading.Condition) -> None:
    """The thread of an audit. It holds on to it only while something waits: one that is let go ends its thread too."""
    sound = True
    while True:
        with changed:
            audit = audit_of()
            if audit is None:
                return
            if audit.idle():
                audit = None
                if audit_of() is not None:
                    changed.wait()
                continue
        if not audit.due(sound=sound):
            return
        sound = audit.flush()


def beginning(raw: bytes, most: int) -> bytes:
    """As much of it as has to be kept until it is written."""
    return raw[: 4 * (most + MARGIN_CHARACTERS)]


def kept(said: Said, most: int, redact: Redact) -> str:
    """The words that are kept: redacted, then cut between words, so that half a name is never left at the end."""
    if said.beginning is None:
        return ""
    read = said.beginning.decode(errors="ignore")
    # Detectors know secrets as they are written, not as JSON writes them.
    text = redact(read[: most + MARGIN_CHARACTERS].replace("\\n", "\n").replace('\\"', '"'))
    if len(text) <= most and len(read) <= most + MARGIN_CHARACTERS and said.size == len(said.beginning):
        return text
    end = min(most, len(text))
    while end and text[end - 1].isalnum():
        end -= 1
    return text[:end].partition(_KEY_BEGINS)[0] + "…"
