"""The facts file of a workspace and its lock: one indexing at a time.

One file per account and project, in a directory beside the accounts of the store; in memory for a memory store. They
contain names that files define: erasing something deletes them.
"""

from __future__ import annotations

import contextlib
import hashlib
import threading
import weakref
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Final

from weft.code.index.facts_file import FactsFile, remove_facts
from weft.core.errors import Busy, ReadOnly
from weft.core.ports import Store
from weft.files.file_lock import locked_if_possible
from weft.files.paths import beside_store
from weft.runtime.call_context import CallContext
from weft.runtime.settings.load import Settings

PLACE: Final = "code"
SUFFIX: Final = ".facts"
WAIT_S: Final = 30.0  # for another process that is indexing the same workspace

_in_memory: weakref.WeakKeyDictionary[Store, dict[tuple[str, str], tuple[FactsFile, threading.Lock]]]
_in_memory = weakref.WeakKeyDictionary()
_making = threading.Lock()


@contextmanager
def facts_kept(ctx: CallContext, *, wait_s: float = WAIT_S) -> Iterator[FactsFile]:
    """The facts of this account and project, locked. Raises Busy if another process keeps indexing the workspace."""
    place = facts_place(ctx.settings)
    if place is None:
        with _from_memory(ctx, wait_s) as facts:
            yield facts
        return
    with ExitStack() as stack:
        try:
            place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            stack.enter_context(locked_if_possible(place, wait_s=wait_s))
            facts = stack.enter_context(closing(FactsFile(place)))
        except Busy as problem:
            raise _busy() from problem
        except OSError as problem:
            raise ReadOnly(
                f"{place.parent} cannot be written: {problem.strerror}", hint="check its rights"
            ) from problem
        yield facts


@contextmanager
def _from_memory(ctx: CallContext, wait_s: float) -> Iterator[FactsFile]:
    with _making:
        kept = _in_memory.setdefault(ctx.store, {})
        key = (ctx.settings.account, ctx.settings.project)
        if key not in kept:
            kept[key] = FactsFile(None), threading.Lock()
        facts, lock = kept[key]
    if not lock.acquire(timeout=wait_s):
        raise _busy()
    try:
        yield facts
    finally:
        lock.release()


def _busy() -> Busy:
    return Busy("another process is indexing this workspace", hint="wait for it to finish: its result is shared")


def facts_place(settings: Settings) -> Path | None:
    """The path of the facts file; None for a memory store."""
    directory = _directory(settings)
    if directory is None:
        return None
    name = hashlib.sha256(f"{settings.account}\x00{settings.project}".encode()).hexdigest()[:32]
    return directory / f"{name}{SUFFIX}"


def forget_facts(ctx: CallContext) -> None:
    """Deletes the facts of every workspace, as part of an erasure; the next indexing creates them again.

    A file that is being written is emptied by its writer, which notices that it was deleted.
    """
    directory = _directory(ctx.settings)
    for file in directory.glob(f"*{SUFFIX}") if directory is not None else ():
        with contextlib.suppress(OSError):
            remove_facts(file)
    with _making:
        for facts, _ in _in_memory.get(ctx.store, {}).values():
            facts.clear()


def _directory(settings: Settings) -> Path | None:
    return beside_store(settings.store, PLACE)
