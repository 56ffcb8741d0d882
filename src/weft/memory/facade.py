"""The facade and composition root: opens a store by URL, and runs operations on it.

with weft.open() as memory:
    memory.remember("We chose Redis for sessions because Postgres locks were slow.")
    for hit in memory.recall("why redis?").hits:
        print(hit.score, hit.node.text, hit.node.citation)
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from weft.append.decrypting_store import decrypting
from weft.append.privacy import PrivacyFilter
from weft.core.clock import Clock, SystemClock
from weft.core.errors import WeftError
from weft.core.types import Actor, Writer
from weft.memory.call import record_refusal, run_call
from weft.memory.call_record import Surface
from weft.memory.methods import OperationMethods, plain
from weft.memory.open_store import audit_of, open_store, outbox_of, viewer_of
from weft.models import judge_from, reranker_from
from weft.models.advisor import Advisor
from weft.models.chat import chat_from
from weft.models.vector_spaces import spaces_from
from weft.operations import operation
from weft.runtime.background import Background
from weft.runtime.call_context import CallContext, Progress, no_progress
from weft.runtime.operation import Operation
from weft.runtime.operation_log import OperationLog
from weft.runtime.settings.load import Effective, Settings, load_settings
from weft.text.encryption import Keyring

WORK_S = 5.0  # for background work to end


def open(  # noqa: A001 - the package's front door: weft.open()
    url: str | None = None,
    *,
    directory: str | Path = ".",
    environment: Mapping[str, str] | None = None,
    clock: Clock | None = None,
) -> Memory:
    """Opens the memory of a directory with settings from the environment and `weft.toml`; `url` names another store."""
    settings = load_settings(Path(directory), environment)
    if url is not None:
        given = Effective(value=url, origin="argument")
        settings = replace(settings, store=url, origins={**settings.origins, "store": given})
    ticking = clock or SystemClock()
    lines = OperationLog(settings.log)
    # Models first: a misconfigured one raises before a store is opened.
    embedding = spaces_from(settings.embedder, url=settings.embedder_url, key=settings.embedder_key, clock=ticking)
    reranker = reranker_from(settings.reranker, clock=ticking, url=settings.reranker_url, key=settings.reranker_key)
    advisor = Advisor(chat_from(settings.model, url=settings.model_url, key=settings.model_key), ticking)
    privacy = PrivacyFilter(redacts=settings.redaction == "on", keys=Keyring(settings.sensitive_key))
    actor = Actor(agent=settings.agent, role=settings.role)
    return Memory(
        CallContext(
            store=decrypting(open_store(settings.store, clock=ticking, password=settings.store_password), privacy),
            privacy=privacy,
            clock=ticking,
            settings=settings,
            viewer=viewer_of(settings),
            writer=Writer(account=settings.account, session=settings.session, actor=actor),
            embedding=embedding,
            reranker=reranker,
            judge=judge_from(settings.answer_judge),
            advisor=advisor,
            outbox=outbox_of(settings),
            audit=audit_of(settings, clock=ticking),
            lines=lines,
        )
    )


class Memory(OperationMethods):
    """An open memory. Each operation is a method of its name, with its arguments: `memory.recall("why redis?")`."""

    def __init__(self, ctx: CallContext) -> None:
        self.ctx = ctx

    def call(self, name: str, /, **arguments: Any) -> Any:
        """Runs an operation by its name and returns its answer. Raises KeyError for a name that is no operation."""
        return self.run(operation(name), plain(arguments))

    def run(
        self,
        operation: Operation,
        given: dict[str, Any],
        *,
        progress: Progress = no_progress,
        surface: Surface = "python",
        audited: bool = True,
    ) -> Struct:
        """Runs an operation for a surface, through all steps of `weft.memory.call`.

        `audited=False` is for a call that a workflow records as a step of its own.
        """
        return run_call(self.ctx, operation, given, surface=surface, progress=progress, audited=audited)

    def refuse(self, operation: Operation, given: dict[str, Any], problem: WeftError, *, surface: Surface) -> None:
        """Records a call that a server refused before it ran."""
        record_refusal(self.ctx, operation, given, problem, surface=surface)

    def serving(self, settings: Settings) -> Memory:
        """The same open store for another caller, with its identity and rights in `settings`.

        They share files: close only one of them.
        """
        writer = Writer(
            account=settings.account,
            session=settings.session,
            actor=Actor(agent=settings.agent, role=settings.role),
        )
        ctx = replace(
            self.ctx, settings=settings, viewer=viewer_of(settings), writer=writer, outbox=outbox_of(settings)
        )
        return Memory(ctx)

    def with_background(self, background: Background) -> Memory:
        """The same memory with background work in this process, such as watchers, which start at once."""
        ctx = replace(self.ctx, background=background)
        background.own = ctx
        if background.serves:
            from weft.code.watch.watch import begin_watching

            begin_watching(ctx)
        return Memory(ctx)

    def close(self) -> None:
        """Ends background work, writes the audit and closes files. Committed writes are durable without it."""
        self.ctx.background.close(WORK_S)
        if self.ctx.audit is not None:
            self.ctx.audit.close()
        if self.ctx.lines is not None:
            self.ctx.lines.close()
        self.ctx.store.close()

    def __enter__(self) -> Memory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
