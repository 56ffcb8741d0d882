"""Serialises indexing: one run per workspace at a time, across processes."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from weft.code.ask.workspaces import told_root
from weft.core.errors import Busy, ReadOnly
from weft.runtime.background import Stopped
from weft.runtime.call_context import CallContext
from weft.writing.checks.project_roots import claim_code

if TYPE_CHECKING:
    from weft.code.index.index import CodeIndexed

LOOK_S: Final = 0.05
MAX_WAIT_S: Final = 1_800.0  # an indexing of very much takes minutes
WAITING: Final = "waiting for another indexing"


def index_in_turn(
    ctx: CallContext, stop: threading.Event, *, paths: Sequence[str] | None = None, full: bool = False
) -> CodeIndexed:
    """Indexes when no other process or thread does. Raises Stopped when `stop` is set, at the latest between two files.

    First registers the directory for its project: raises Forbidden if the project belongs to another. Work that another
    run did meanwhile is not repeated. Raises Busy on timeout, ReadOnly if nothing can be stored.
    """
    from weft.code.index.index import index_workspace

    claim_code(ctx.settings, told_root(ctx))
    tell = ctx.progress

    def progress(what: str, done: int, total: int) -> None:
        if stop.is_set():
            raise Stopped
        ctx.background.stir()
        tell(what, done, total)

    own = replace(ctx, progress=progress, privacy=ctx.privacy.fresh(), call_stats=None)
    until_s = time.monotonic() + MAX_WAIT_S
    while True:
        if stop.is_set():
            raise Stopped
        try:
            return index_workspace(own, paths=paths, full=full, wait_s=0.0)
        except OSError as problem:  # of the index's own files; what is in the workspace never raises
            raise ReadOnly(
                f"the index file cannot be written beside the store: {problem.strerror}",
                hint="check its directory's rights",
            ) from problem
        except Busy:  # of this workspace, or of the store: what is written stays
            if time.monotonic() > until_s:
                raise
            tell(WAITING, 0, 0)
            stop.wait(LOOK_S)
