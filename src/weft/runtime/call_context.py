"""The context of a call: store, clock, settings, viewer, writer. Frozen; every operation takes it as `ctx`."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from weft.append.append import AppendOptions, AppendResult, Fence, append
from weft.append.approval import ApprovalUse, is_operator
from weft.append.outbox import Outbox
from weft.append.privacy import PrivacyFilter
from weft.core.clock import Clock, SystemClock
from weft.core.errors import Forbidden
from weft.core.ports import AnswerJudge, Reranker, Store
from weft.core.types import Viewer, Writer
from weft.log.draft import Draft
from weft.models.advisor import Advisor
from weft.models.embedding import Embedding
from weft.runtime.audit_log import Audit
from weft.runtime.background import Background
from weft.runtime.call_stats import CallStats
from weft.runtime.operation_log import OperationLog
from weft.runtime.settings.load import Settings

Progress = Callable[[str, int, int], None]
_REQUESTS = uuid.UUID("6c1f9d3e-9d52-5d0a-9a55-0e7d6a1c2b4f")

NO_ADVISOR = Advisor(None, SystemClock())  # of no language model


def no_progress(what: str, done: int, total: int) -> None:
    """Ignores progress."""


class CallContext(Struct, frozen=True, kw_only=True):
    """Everything that an operation needs from its caller and its process. Frozen."""

    store: Store
    clock: Clock
    settings: Settings
    viewer: Viewer
    writer: Writer
    embedding: Embedding
    progress: Progress = no_progress
    advisor: Advisor = NO_ADVISOR
    reranker: Reranker | None = None
    judge: AnswerJudge | None = None
    outbox: Outbox | None = None
    privacy: PrivacyFilter = field(default_factory=PrivacyFilter)
    audit: Audit | None = None
    lines: OperationLog | None = None
    call_stats: CallStats | None = None  # of the call that is running
    approval: ApprovalUse | None = None  # the right to change global memories
    background: Background = field(default_factory=Background)  # jobs and watchers of the process
    task: str | None = None  # id of the task that produces this call's writes

    @property
    def may_write_global(self) -> bool:
        """Whether this call may change memories of all projects: the operator, or a call with an approval."""
        return self.approval is not None or is_operator(self.writer.actor, self.viewer)

    def operator(self, what: str) -> Viewer:
        """The viewer for maintenance: this one, with sensitive rows.

        Raises Forbidden unless this process is the operator's, internal, and holds every scope.
        """
        if not is_operator(self.writer.actor, self.viewer):
            # The hint to an agent must not explain how to become the operator.
            own = "this process lacks the rights: an operator is internal and has every scope"
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
    ) -> AppendResult:
        """Writes drafts as this caller."""
        if self.call_stats is not None:
            self.call_stats.writes(drafts)
        done = append(
            self.store,
            self.writer,
            drafts,
            clock=self.clock,
            options=AppendOptions(
                viewer=self.viewer,
                embedding=self.embedding,
                request_id=request_id,
                expected_head=expected_head,
                fence=fence,
                approval=self.approval,
                privacy=self.privacy,
            ),
        )
        if self.call_stats is not None and not done.repeated:
            self.call_stats.wrote(len(done.events))
        return done

    def new_id(self, request_id: str | None = None) -> str:
        """A time-ordered UUID (version 7), or with a request id the same UUID for every retry."""
        if request_id is not None:
            return str(uuid.uuid5(_REQUESTS, f"{self.writer.account}/{request_id}"))
        milliseconds = self.clock.now_us() // 1000
        value = (milliseconds & (1 << 48) - 1) << 80 | int.from_bytes(os.urandom(10))
        value = value & ~(0xF << 76) | 0x7 << 76  # version 7
        value = value & ~(0x3 << 62) | 0x2 << 62  # RFC variant
        return str(uuid.UUID(int=value))
