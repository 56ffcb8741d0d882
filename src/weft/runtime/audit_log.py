"""The audit: a record of every call, in a separate store with its own hash chain.

A call is queued and written after its answer, in batches, by a thread that lives as long as the audit. Failures are
reported in the log of operations and never cost an answer. Texts are redacted and shortened before they are stored.
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

from weft.append.append import AppendOptions, append
from weft.append.privacy import PrivacyFilter
from weft.core.clock import Clock, to_iso
from weft.core.errors import StoreError
from weft.core.ports import Store
from weft.core.types import Guard, Writer
from weft.log.draft import Draft
from weft.log.kinds import graph

KIND: Final = "ToolCall"
AUDIT: Final = "audit"  # the directory of its store, inside that of the memories
BATCH: Final = 64  # calls per commit at most; so many in the queue are written at once
FLUSH_S: Final = 1.0  # the longest wait of a call in the queue, and what a killed process may lose
QUEUE: Final = 4_096  # calls in the queue at most, while the store cannot be written
INPUT_CHARACTERS: Final = 2_000
OUTPUT_CHARACTERS: Final = 600
MARGIN_CHARACTERS: Final = 500  # read beyond the cut, so that a secret across it is detected
_KEY_BEGINS: Final = "-----BEGIN"  # a private key whose end lies beyond the cut
_log = logging.getLogger("weft.audit")

Redact = Callable[[str], str]


class AuditExcerpt(Struct, frozen=True, kw_only=True):
    """The size of arguments or an answer, and their beginning as JSON; None if the text is not stored."""

    size: int
    beginning: bytes | None


class AuditedCall(Struct, frozen=True, kw_only=True):
    """One finished call. `guard` is the visibility of its record; `dropped` counts unrecorded calls before it."""

    writer: Writer
    guard: Guard
    operation: str
    toolset: str
    effect: str
    surface: str
    started: int
    ended: int
    milliseconds: float
    given: AuditExcerpt
    answer: AuditExcerpt
    code: str = ""
    status: str = ""
    conversation: str | None = None
    wrote: tuple[str, ...] = ()  # ids of nodes: erasing one of them also erases the texts of this record
    dropped: int = 0


def as_is(text: str) -> str:
    """Redacts nothing."""
    return text


class Audit:
    """The queue and writer of call records. Any thread may add one. `recording` is False where the audit is off.

    `open_store` opens the audit's store; it returns None while there is no store of memories, so that a read creates
    no files. `redact` removes secrets from a text.
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
        self._queue: deque[AuditedCall] = deque()
        self._dropped = 0
        self._changed = threading.Condition()
        self._writing = threading.Lock()
        self._unwritten: tuple[str, tuple[AuditedCall, ...]] | None = None  # a batch that failed, under its request id
        self._store: Store | None = None
        self._thread: threading.Thread | None = None
        self._closing = False

    def note(self, call: AuditedCall) -> None:
        """Queues a call without writing. If the queue is full the call is dropped, and the next record counts it."""
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
        """Writes the queue. Never raises; returns False if calls are left, with the reason in `problem`."""
        with self._writing:
            while (batch := self._next()) is not None:
                try:
                    store = self.store()
                    if store is None:
                        return False
                    self._write(store, *batch)
                except StoreError as problem:  # may be temporary: the same batch is retried under its request id
                    self._failed(problem.message)
                    return False
                except Exception as problem:  # noqa: BLE001 - must not cost an answer; logged
                    _log.exception("%d calls could not be recorded", len(batch[1]))
                    self._failed(f"{len(batch[1])} calls could not be recorded: {type(problem).__name__}")
                    with self._changed:
                        self._dropped += len(batch[1])
                else:
                    self.problem = ""
                self._unwritten = None
        return True

    def store(self) -> Store | None:
        """The audit's store, opened on first use; None while there is no store of memories."""
        with self._changed:
            if self._store is None:
                self._store = self._open_store()
            return self._store

    def close(self) -> None:
        """Writes the queue, ends the thread and closes files. Calls that cannot be written are lost, with a warning."""
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
            calls = "1 call is" if left == 1 else f"{left:,} calls are"
            _log.warning("%s not in the audit: %s", calls, self.problem)
        with self._changed:
            store, self._store = self._store, None
        if store is not None:
            store.close()

    # The thread

    def _start(self) -> None:
        self._closing = False
        _OPEN.add(self)
        weakref.finalize(self, _wake, self._changed).atexit = False
        # A daemon thread: an audit that is never closed must not keep the process alive; it is flushed at exit.
        work = (weakref.ref(self), self._changed)
        self._thread = threading.Thread(target=_write_when_due, args=work, name="weft-audit", daemon=True)
        self._thread.start()

    def idle(self) -> bool:
        """Whether the queue is empty and the audit is not being closed."""
        return not self._queue and self._unwritten is None and not self._closing

    def due(self, *, sound: bool) -> bool:
        """Waits for a full batch or FLUSH_S seconds; False when the audit is being closed.

        After a failed write (`sound` is False) it waits the whole time.
        """
        with self._changed:
            until_s = time.monotonic() + FLUSH_S
            while not self._closing and (left_s := until_s - time.monotonic()) > 0:
                if sound and len(self._queue) >= BATCH:
                    break
                self._changed.wait(left_s)
            return not self._closing

    # Writing

    def _next(self) -> tuple[str, tuple[AuditedCall, ...]] | None:
        """The next batch, of one writer, with its request id; a failed batch comes again unchanged."""
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

    def _write(self, store: Store, request_id: str, calls: tuple[AuditedCall, ...]) -> None:
        drafts = [self._draft(f"call:{request_id}-{number}", call) for number, call in enumerate(calls)]
        # Redacted already, on the whole text; nothing here is sensitive or encrypted.
        as_it_is = PrivacyFilter(redacts=False, keys=None)
        append(
            store,
            calls[0].writer,
            drafts,
            clock=self._clock,
            options=AppendOptions(request_id=request_id, privacy=as_it_is),
        )

    def _failed(self, problem: str) -> None:
        if problem != self.problem:
            _log.warning("the audit cannot be written: %s", problem)
        self.problem = problem

    def _draft(self, call_id: str, call: AuditedCall) -> Draft:
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
    """Closes at exit the audits that are still open."""
    for audit in list(_OPEN):
        audit.close()


def _wake(changed: threading.Condition) -> None:
    with changed:
        changed.notify_all()


def _write_when_due(audit_of: Callable[[], Audit | None], changed: threading.Condition) -> None:
    """The writer thread. It references the audit only while the queue has calls, so an unused one can be collected."""
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
    """The part of encoded JSON that the queue keeps until it is written."""
    return raw[: 4 * (most + MARGIN_CHARACTERS)]


def kept(said: AuditExcerpt, most: int, redact: Redact) -> str:
    """The stored text: redacted, then cut at a word boundary, so that no part of a name is left at the end."""
    if said.beginning is None:
        return ""
    read = said.beginning.decode(errors="ignore")
    # Detectors expect plain text, without JSON escapes.
    text = redact(read[: most + MARGIN_CHARACTERS].replace("\\n", "\n").replace('\\"', '"'))
    if len(text) <= most and len(read) <= most + MARGIN_CHARACTERS and said.size == len(said.beginning):
        return text
    end = min(most, len(text))
    while end and text[end - 1].isalnum():
        end -= 1
    return text[:end].partition(_KEY_BEGINS)[0] + "…"
