"""Detection of files that differ on disk from the index, for notes on answers about them."""

from __future__ import annotations

import hashlib
import os
import stat
import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import Final

from weft.core.clock import SystemClock
from weft.core.types import NOW, NodeVersion
from weft.retrieval.citations.file_ids import file_id
from weft.runtime.call_context import CallContext

MAX_LOOKED_AT: Final = 5_000  # files per answer
MAX_HASHED_BYTES: Final = 67_108_864  # larger files are compared by size
MAX_NAMED: Final = 3
MAX_REMEMBERED: Final = 200_000  # cached hashes
SETTLED_US: Final = 100_000  # a file written more recently may change again within one timestamp
READ_BYTES: Final = 1 << 20
TO_DO: Final = "`weft index`"
_FLAGS: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC

Mark = tuple[int, int, int, int]  # inode, size and times, which change with a write


class _Remembered:
    """Hashes of files by stat mark: an unchanged file is not read again."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: OrderedDict[str, tuple[Mark, str]] = OrderedDict()

    def get(self, path: str, mark: Mark) -> str | None:
        with self._lock:
            known = self._known.get(path)
            return known[1] if known is not None and known[0] == mark else None

    def put(self, path: str, mark: Mark, digest: str) -> None:
        with self._lock:
            self._known[path] = mark, digest
            self._known.move_to_end(path)
            if len(self._known) > MAX_REMEMBERED:
                self._known.popitem(last=False)


_remembered = _Remembered()


def not_indexed(ctx: CallContext, paths: Iterable[str]) -> tuple[str, ...]:
    """The files (paths from the project's root) that differ from the index: changed, new, or gone. Distinct, in order.

    Checks the first MAX_LOOKED_AT. An unchanged file is hashed once per process. Records and files that never existed
    are not named. Reads nothing outside of the root.
    """
    asked = list(dict.fromkeys(path for path in paths if _is_below(path)))[:MAX_LOOKED_AT]
    outside = _outside(os.fspath(ctx.settings.root), asked)
    asked = [path for path in asked if path.rpartition("/")[0] not in outside]
    ids = {file_id(ctx.settings.project, path): path for path in asked}
    known = {ids[node.id]: node for node in ctx.store.nodes(ctx.viewer, NOW, list(ids))}
    return tuple(path for path in asked if _differs(ctx, path, known.get(path)))


def freshness_note(ctx: CallContext, paths: Iterable[str]) -> str | None:
    """A note for an answer about these files: which are not re-indexed yet, and what to do. None if all are."""
    return note_of(not_indexed(ctx, paths))


def note_of(stale: Sequence[str]) -> str | None:
    """The note that names the first few files. None for no file."""
    if not stale:
        return None
    more = f" and {len(stale) - MAX_NAMED:,} more" if len(stale) > MAX_NAMED else ""
    return f"not yet re-indexed: {', '.join(stale[:MAX_NAMED])}{more}; {TO_DO}"


def digest_of(path: str) -> str | None:
    """The SHA-256 of a regular file in hexadecimal; None if it cannot be read.

    For a file too large to hash, "size:" and its size.
    """
    try:
        handle = os.open(path, _FLAGS)
    except (OSError, ValueError):
        return None
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            return None
        if found.st_size > MAX_HASHED_BYTES:
            return f"size:{found.st_size}"
        mark = (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
        digest = _remembered.get(path, mark)
        if digest is None:
            digest = _hashed(handle)
            if SystemClock().now_us() - found.st_ctime_ns // 1000 > SETTLED_US:
                _remembered.put(path, mark, digest)
        return digest
    except OSError:
        return None
    finally:
        os.close(handle)


def _hashed(handle: int) -> str:
    made = hashlib.sha256()
    while piece := os.read(handle, READ_BYTES):
        made.update(piece)
    return made.hexdigest()


def _outside(root: str, paths: Sequence[str]) -> frozenset[str]:
    """The folders of these files that links lead out of the root."""
    top = os.path.realpath(root)
    folders = {path.rpartition("/")[0] for path in paths}
    real = {folder: os.path.realpath(os.path.join(top, folder)) for folder in folders}  # noqa: PTH118
    return frozenset(folder for folder, place in real.items() if place != top and not place.startswith(top + os.sep))


def _is_below(path: str) -> bool:
    """Whether it is a relative path without ".."."""
    return bool(path) and not path.startswith("/") and "\x00" not in path and ".." not in path.split("/")


def _differs(ctx: CallContext, path: str, node: NodeVersion | None) -> bool:
    if node is not None and "record" in node.props:
        return False
    now = digest_of(os.path.join(ctx.settings.root, path))  # noqa: PTH118 - a name need not be UTF-8
    if node is None or now is None:
        return (node is None) is not (now is None)
    if now.startswith("size:"):
        return now != f"size:{node.props.get('size')}"
    return now != node.props.get("sha256")
