"""Reads source code for servers and commands; slow or memory-hungry files are read in a limited process.

That process is reused. A command reads small files itself; a server reads none, since a parser blocks the interpreter.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import threading
from collections.abc import Iterator, Sequence
from typing import Any, Final, cast

from weft.code.index.processes.worker import BytesTask, FilesTask, TextsTask, ToRead, read_one
from weft.code.index.processes.workers import LIMITS, LOST, NO_PROCESS, SMALL_BYTES, Hand, Lost, Task, Worker, is_small
from weft.code.index.read_file import CodeRead, FileSnapshot, hashed_only, read_bytes
from weft.code.parse.parse import TOO_LONG
from weft.code.parse.snippets import Snippet, may_define, python_snippet
from weft.code.parse.symbols import SourceFile, read_source
from weft.core.errors import Busy, Invalid, StoreError, WeftError
from weft.files.process_limits import Limits
from weft.runtime.call_context import CallContext

MAX_LOST: Final = 1_000
HINT: Final = "exclude it, or ingest it as text"


def reader_of(ctx: CallContext) -> SourceReader:
    """The reader of this process."""
    shop = ctx.background
    found: SourceReader = shop.reader(lambda: SourceReader(here_bytes=0 if shop.serves else SMALL_BYTES, limits=LIMITS))
    return found


class SourceReader:
    """Thread-safe; serves one caller at a time. Files up to `here_bytes` are read in this process."""

    def __init__(self, *, here_bytes: int, limits: Limits) -> None:
        self._here_bytes, self._limits = here_bytes, limits
        self._lock = threading.Lock()
        self._hand: Hand | None = None
        self._ended = False
        self._lost: dict[tuple[str, bytes], str] = {}  # texts, and why: who writes many records tries one again

    def warm(self) -> None:
        """Starts the process, if possible, to save the first file its startup time."""
        try:
            with self._lock:
                self._begun()
        except (OSError, WeftError):
            return  # whoever needs it is told

    def end(self) -> None:
        """Kills the process. Waiting and later callers get Busy."""
        self._ended = True
        if (hand := self._hand) is not None:
            hand.stop()
            with self._lock:  # soon: who asks gets no answer any more
                hand.worker.end()

    @property
    def pid(self) -> int | None:
        return None if self._hand is None else self._hand.worker.pid

    def files(self, root: str, items: Sequence[ToRead], *, redacts: bool) -> Iterator[CodeRead]:
        """Reads files below a root, one after the other; a bad file affects only itself."""
        here = bool(self._here_bytes) and all(is_small(root, each.path) for each in items)
        for item in items:
            if here:
                yield read_one(root, item, redacts=redacts)
                continue
            try:
                (read,) = cast("list[CodeRead]", self._asked(FilesTask(root=root, redacts=redacts, items=(item,))))
            except Lost as lost:
                read = hashed_only(root, item.path, problem=LOST[lost.why])
            except Busy:
                raise
            except StoreError:
                small = is_small(root, item.path)
                read = read_one(root, item, redacts=redacts) if small else CodeRead(path=item.path, gone=NO_PROCESS)
            yield read

    def raw(self, state: FileSnapshot, raw: bytes, *, redacts: bool) -> CodeRead:
        """Parses the bytes of a source file. Raises StoreError if no process can be started."""
        if len(raw) <= self._here_bytes:
            return read_bytes(state.path, state, raw, redacts=redacts)
        try:
            (read,) = self._asked(BytesTask(redacts=redacts, items=((state, raw),)))
        except Lost as lost:
            return CodeRead(path=state.path, state=state, problem=LOST[lost.why])
        return cast("CodeRead", read)

    def source(self, text: str, path: str) -> SourceFile:
        """Like `read_source`; also raises Invalid for what exceeds the limits."""
        if len(text) <= self._here_bytes:
            return read_source(text, path)
        return cast("SourceFile", self._text(path, text))

    def snippet(self, text: str) -> Snippet | None:
        """Like `python_snippet`; None for what exceeds the limits."""
        if not may_define(text):
            return None
        if len(text) <= self._here_bytes:
            return python_snippet(text)
        try:
            return cast("Snippet | None", self._text("", text))
        except Invalid:
            return None

    def _text(self, path: str, text: str) -> object:
        key = path, hashlib.sha256(text.encode(errors="replace")).digest()
        if (message := self._lost.get(key)) is not None:
            raise Invalid(message, hint=HINT)
        try:
            (read,) = self._asked(TextsTask(items=((path, text),)))
        except Lost as lost:
            raise self._given_up(key, LOST[lost.why]) from lost
        if isinstance(read, tuple):
            message, hint, sort = read
            raise self._given_up(key, message) if message == TOO_LONG else sort(message, hint=hint)
        return read

    def _given_up(self, key: tuple[str, bytes], message: str) -> Invalid:
        if len(self._lost) >= MAX_LOST:
            self._lost.clear()
        self._lost[key] = message
        return Invalid(message, hint=HINT)

    def _asked(self, task: Task) -> Sequence[Any]:
        with self._lock:
            try:
                answer = self._begun().ask(task)
            except OSError as problem:
                self._hand = None
                raise StoreError(
                    f"no process can be started to read source code: {os.strerror(problem.errno or 0)}",
                    hint="free some memory, or allow more processes",
                ) from problem
            except Lost:
                if self._ended:
                    self._begun()
                raise
        return cast("Sequence[Any]", pickle.loads(answer))  # noqa: S301 - of our own process

    def _begun(self) -> Hand:
        if self._ended:
            raise Busy("this process is ending", hint="use another process, or retry later")
        if self._hand is None:
            self._hand = Hand(Worker(self._limits), self._limits)
        return self._hand
