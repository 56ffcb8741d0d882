"""What an operation works with: a store, a clock, who is asking, who is writing. Frozen; made by `weft.memory`."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from weft.append import Appended, Fence, Writer, append
from weft.audit import Audit
from weft.config import Settings
from weft.counsel import Counsel
from weft.embedding import Embedding
from weft.errors import Forbidden
from weft.governing import Pass, is_operator
from weft.instants import Clock, SystemClock
from weft.log.draft import Draft
from weft.log_lines import OperationLog
from weft.outbox import Outbox
from weft.ports import Reranker, Store
from weft.screen import Screen
from weft.tally import Tally
from weft.types import Viewer
from weft.workshop import Workshop

Progress = Callable[[str, int, int], None]
_REQUESTS = uuid.UUID("6c1f9d3e-9d52-5d0a-9a55-0e7d6a1c2b4f")

NO_COUNSEL = Counsel(None, SystemClock())  # of no language model


def no_progress(what: str, done: int, total: int) -> None:
    """Shows nothing."""


class Loom(Struct, frozen=True, kw_only=True):
    """The working place of one caller."""

    store: Store
    clock: Clock
    settings: Settings
    viewer: Viewer
    writer: Writer
    embedding: Embedding
    progress: Progress = no_progress
    counsel: Counsel = NO_COUNSEL
    reranker: Reranker | None = None
    outbox: Outbox | None = None
    screen: Screen = field(default_factory=Screen)
    audit: Audit | None = None
    lines: OperationLog | None = None
    tally: Tally | None = None  # of the call that is running
    approval: Pass | None = None  # with which this call may change what is kept for all projects
    workshop: Workshop = field(default_factory=Workshop)  # what this process does beside its calls
    task: str | None = None  # the id of the task that what this call writes comes of

    @property
    def may_write_global(self) -> bool:
        """Whether this call may change what is kept for all projects: the operator's may, others with an approval."""
        return self.approval is not None or is_operator(self.writer.actor, self.viewer)

    def operator(self, what: str) -> Viewer:
        """The viewer that may see everything, for upkeep: this one, and sensitive rows too.

        Raises Forbidden unless this process is the operator's, internal, and holds every scope.
        """
        if not is_operator(self.writer.actor, self.viewer):
            # An agent is not told how to become another: that is its operator's to set.
            own = "this process holds too little for that: the operator's is internal and has every scope"
            hint = own if self.writer.actor.role == "operator" else "ask the operator to do it"
            raise Forbidden(f"only the operator may {what}", hint=hint)
        return replace(self.viewer, sensitive=True)

    def append(
        self,
        drafts: Sequence[Draft],
        *,
        request_id: str | None = None,
        expected_head: int | None = None,
        fence: Fence | None = None,
    ) -> Appended:
        """Writes drafts as this caller."""
        if self.tally is not None:
            self.tally.writes(drafts)
        done = append(
            self.store,
            self.writer,
            drafts,
            clock=self.clock,
            viewer=self.viewer,
            embedding=self.embedding,
            request_id=request_id,
            expected_head=expected_head,
            fence=fence,
            approval=self.approval,
            screen=self.screen,
        )
        if self.tally is not None and not done.repeated:
            self.tally.wrote(len(done.events))
        return done

    def new_id(self, request_id: str | None = None) -> str:
        """A time-ordered UUID (version 7); for a retried request the same one every time."""
        if request_id is not None:
            return str(uuid.uuid5(_REQUESTS, f"{self.writer.account}/{request_id}"))
        milliseconds = self.clock.now_us() // 1000
        value = (milliseconds & (1 << 48) - 1) << 80 | int.from_bytes(os.urandom(10))
        value = value & ~(0xF << 76) | 0x7 << 76  # version 7
        value = value & ~(0x3 << 62) | 0x2 << 62  # RFC variant
        return str(uuid.UUID(int=value))
