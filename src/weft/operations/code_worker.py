"""A process that reads source files and resolves what they refer to, for another that writes. Run by `code_workers`.

Tasks come on its input and answers go to its output, each as a length and a pickle; both ends are weft's own. It ends
when its input does: whoever started it is gone then, however that came.
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

from weft.code.facts_file import FactsFile
from weft.operations.code_links import Resolved, Workspace
from weft.operations.code_reading import CodeRead, read_code, read_new
from weft.types import Guard

LENGTH_BYTES: Final = 4
TASKS_BETWEEN: Final = 50  # two collections of what refers to itself: parsing makes next to none


class ToRead(Struct, frozen=True, kw_only=True):
    """A file to be read: new ones with their guard, others with the hash that is known of them."""

    path: str
    known: str = ""
    guard: Guard | None = None


class Reading(Struct, frozen=True, kw_only=True):
    """The task to read files below a root."""

    root: str
    redacts: bool
    items: tuple[ToRead, ...]

    def run(self) -> bytes:
        return pickle.dumps([read_one(self.root, each, redacts=self.redacts) for each in self.items], 5)


class Resolving(Struct, frozen=True, kw_only=True):
    """The task to resolve files whose facts are kept at a place."""

    facts: str
    root: str
    project: str | None
    items: tuple[str, ...]

    def run(self) -> bytes:
        workspace = _workspaces.get(self.facts)
        if workspace is None:
            workspace = Workspace(FactsFile(Path(self.facts)), Path(self.root), self.project)
            _workspaces[self.facts] = workspace
        return msgspec.msgpack.encode([found for path in self.items if (found := workspace.resolved(path)) is not None])


_workspaces: dict[str, Workspace] = {}
resolved_from = msgspec.msgpack.Decoder(list[Resolved]).decode


def read_one(root: str, item: ToRead, *, redacts: bool) -> CodeRead:
    """One file."""
    if item.guard is not None:
        return read_new(root, item.path, item.guard, redacts=redacts)
    return read_code(root, item.path, redacts=redacts, known=item.known)


def main() -> None:
    """Works until its input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who is interrupted at a terminal ends it
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever prints must not come between answers
    gc.disable()
    done = 0
    while (raw := _message(sys.stdin.buffer)) is not None:
        answer = pickle.loads(raw).run()  # noqa: S301 - from our own parent, by a pipe that nobody else has
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
