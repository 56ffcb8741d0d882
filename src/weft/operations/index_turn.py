"""Indexing when it is one's turn: one indexing of a workspace runs at a time, of whatever process."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from weft.errors import Busy, ReadOnly
from weft.loom import Loom
from weft.operations.project_roots import claim_code
from weft.operations.workspaces import told_root

if TYPE_CHECKING:
    from weft.operations.code_indexing import CodeIndexed

LOOK_S: Final = 0.05
MAX_WAIT_S: Final = 1_800.0  # an indexing of very much takes minutes
WAITING: Final = "waiting for another indexing"


class Stopped(Exception):
    """Raised inside of work whose process ends."""


def index_in_turn(
    loom: Loom, stop: threading.Event, *, paths: Sequence[str] | None = None, full: bool = False
) -> CodeIndexed:
    """Indexes when no other process or thread does. Raises Stopped when `stop` is set, between two files at the latest.

    The directory takes its project's name first: raises Forbidden where that is another's. What another indexing did
    meanwhile costs nothing more. Raises Busy if that does not end, ReadOnly where nothing can
    be kept.
    """
    from weft.operations.code_indexing import index_workspace

    claim_code(loom.settings, told_root(loom))
    tell = loom.progress

    def progress(what: str, done: int, total: int) -> None:
        if stop.is_set():
            raise Stopped
        loom.workshop.stir()
        tell(what, done, total)

    own = replace(loom, progress=progress, screen=loom.screen.fresh(), tally=None)
    until_s = time.monotonic() + MAX_WAIT_S
    while True:
        if stop.is_set():
            raise Stopped
        try:
            return index_workspace(own, paths=paths, full=full, wait_s=0.0)
        except OSError as problem:  # of the index's own files; what is in the workspace never raises
            raise ReadOnly(
                f"the index cannot be kept beside the store: {problem.strerror}", hint="check its directory's rights"
            ) from problem
        except Busy:  # of this workspace, or of the store: what is written stays
            if time.monotonic() > until_s:
                raise
            tell(WAITING, 0, 0)
            stop.wait(LOOK_S)
