"""A process that reads source files and resolves their references for the process that writes. Run by `code_workers`.

Tasks arrive on standard input and answers leave on standard output, each as a length and a pickle; both ends are weft's
own. It ends with its input, so it never outlives its parent.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import sys
from pathlib import Path
from typing import BinaryIO, Final

import msgspec
from msgspec import Struct

from weft.append.privacy import PrivacyFilter
from weft.code.index.facts_file import FactsFile
from weft.code.index.links import IndexedProject, ResolvedFile
from weft.code.index.read_file import CodeRead, FileSnapshot, read_bytes, read_code, read_new
from weft.code.parse.snippets import python_snippet
from weft.code.parse.symbols import read_source
from weft.core.errors import Invalid
from weft.core.types import Guard
from weft.documents.keep.parser_faults import faults_told
from weft.files.process_limits import OUT_OF_MEMORY, Limits, limit_memory, limit_time

LENGTH_BYTES: Final = 4
TASKS_BETWEEN: Final = 50  # two collections of what refers to itself: parsing makes next to none


class ToRead(Struct, frozen=True, kw_only=True):
    """A file to be read: a new one with its guard, a known one with its hash."""

    path: str
    known: str = ""
    guard: Guard | None = None


class FilesTask(Struct, frozen=True, kw_only=True):
    """The task to read files below a root."""

    root: str
    redacts: bool
    items: tuple[ToRead, ...]

    def run(self) -> bytes:
        return pickle.dumps([self._read(each) for each in self.items], 5)

    def _read(self, item: ToRead) -> CodeRead:
        begin_file(alone=len(self.items) == 1)
        return read_one(self.root, item, redacts=self.redacts)


class BytesTask(Struct, frozen=True, kw_only=True):
    """The task to parse the bytes of source files."""

    redacts: bool
    items: tuple[tuple[FileSnapshot, bytes], ...]

    def run(self) -> bytes:
        return pickle.dumps([self._read(*each) for each in self.items], 5)

    def _read(self, state: FileSnapshot, raw: bytes) -> CodeRead:
        begin_file(alone=len(self.items) == 1)
        return read_bytes(state.path, state, raw, redacts=self.redacts)


class TextsTask(Struct, frozen=True, kw_only=True):
    """The task to parse texts, each as the source file at a path; without a path, as a piece of Python.

    The answer for an unreadable text is Invalid or TooLarge.
    """

    items: tuple[tuple[str, str], ...]

    def run(self) -> bytes:
        return pickle.dumps([self._read(*each) for each in self.items], 5)

    def _read(self, path: str, text: str) -> object:
        begin_file(alone=len(self.items) == 1)
        try:
            with faults_told(PrivacyFilter(redacts=True, keys=None)):
                return read_source(text, path) if path else python_snippet(text)
        except Invalid as problem:
            return problem.message, problem.hint, type(problem)


class ResolveTask(Struct, frozen=True, kw_only=True):
    """The task to resolve files whose facts are kept at a place."""

    facts: str
    root: str
    project: str | None
    items: tuple[str, ...]

    def run(self) -> bytes:
        workspace = _workspaces.get(self.facts)
        if workspace is None:
            workspace = IndexedProject(FactsFile(Path(self.facts)), Path(self.root), self.project)
            _workspaces[self.facts] = workspace
        return msgspec.msgpack.encode([found for path in self.items if (found := workspace.resolved(path)) is not None])


_workspaces: dict[str, IndexedProject] = {}
_limits: list[Limits] = []  # of this process, if it has any
resolved_from = msgspec.msgpack.Decoder(list[ResolvedFile]).decode


def read_one(root: str, item: ToRead, *, redacts: bool) -> CodeRead:
    """Reads one file."""
    if item.guard is not None:
        return read_new(root, item.path, item.guard, redacts=redacts)
    return read_code(root, item.path, redacts=redacts, known=item.known)


def begin_file(*, alone: bool) -> None:
    """Starts the time limit of the next file, in a process that has limits."""
    for limits in _limits:
        limit_time(limits.alone_s if alone else limits.among_s)


def main(limits: str = "") -> None:
    """Works until its input ends, within limits (as JSON) if there are any."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who is interrupted at a terminal ends it
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever prints must not come between answers
    gc.disable()
    if limits:
        _limits.append(msgspec.json.decode(limits, type=Limits))
        limit_memory(_limits[0])
    done = 0
    while (raw := _message(sys.stdin.buffer)) is not None:
        try:
            answer = pickle.loads(raw).run()  # noqa: S301 - from our own parent, by a pipe that nobody else has
        except MemoryError:
            os._exit(OUT_OF_MEMORY)
        answers.write(len(answer).to_bytes(LENGTH_BYTES, "big") + answer)
        answers.flush()
        done += 1
        if done % TASKS_BETWEEN == 0:
            gc.collect()


def _message(tasks: BinaryIO) -> bytes | None:
    head = tasks.read(LENGTH_BYTES)
    if len(head) < LENGTH_BYTES:
        return None
    size = int.from_bytes(head, "big")
    raw = tasks.read(size)
    return raw if len(raw) == size else None
