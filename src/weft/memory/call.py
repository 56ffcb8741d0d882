"""The steps of every call. Python, the command line, MCP and HTTP all run operations through `run_call`.

The two servers first map what a client sent to arguments (`surfaces/arguments.py`) and check that the caller is offered
the operation (`surfaces/toolsets.py`); what they refuse goes to `record_refusal`.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from weft.append.decrypting_store import decrypting
from weft.core.errors import BlockedScope, Forbidden, NeedsApproval, Unproven, WeftError
from weft.memory.call_record import CallRecord, Surface
from weft.runtime.call_context import CallContext, Progress, no_progress
from weft.runtime.operation import PRODUCED_BY, Operation, read_input, with_resolved_times
from weft.writing.checks.approvals import admitted
from weft.writing.checks.redact_arguments import redacted_input, with_notes


def run_call(
    ctx: CallContext,
    operation: Operation,
    given: dict[str, Any],
    *,
    surface: Surface,
    progress: Progress = no_progress,
    audited: bool = True,
) -> Struct:
    """Runs one call and returns its answer. Raises WeftError for a call that is refused or fails.

    A write that lacks a scope, its provenance or the operator's approval is answered with its status, not raised.
    """
    record = CallRecord(ctx, operation, given, surface=surface, audited=audited)
    try:
        with ctx.background.answering():
            answer = _answer(_for_this_call(ctx, record, progress), operation, given)
    except BaseException as problem:
        record.end(None, problem)
        raise
    record.end(answer)
    _claim_project_name(ctx, operation, surface)
    return answer


def record_refusal(
    ctx: CallContext, operation: Operation, given: dict[str, Any], problem: WeftError, *, surface: Surface
) -> None:
    """Records a call that a server refused before it ran."""
    CallRecord(ctx, operation, given, surface=surface).end(None, problem)


def _answer(ctx: CallContext, operation: Operation, given: dict[str, Any]) -> Struct:
    """The steps in order, from the caller's arguments to the answer."""
    _check_live_memory(ctx, operation)
    made = read_input(operation, given)
    # Before any step derives an id or a slot from them. Drafts pass redaction again in `append`, for words that were
    # never arguments: files, transcripts and texts of models. A string that was clean once is not scanned again.
    made = redacted_input(ctx, operation, made)
    try:
        ctx, made = admitted(ctx, operation, made)  # a governance token allows just this call
        ctx = _for_task(ctx, made)
        answer = operation.run(ctx, with_resolved_times(made, ctx.clock.now_us()))
    except (NeedsApproval, BlockedScope, Unproven) as problem:
        answer = _refused(operation, made, problem)
    return with_notes(ctx, answer)


def _for_this_call(ctx: CallContext, record: CallRecord, progress: Progress) -> CallContext:
    """The context with the state of one call: counts, redactions, decryption notes, vectors of this store."""
    privacy = ctx.privacy.fresh()
    return replace(
        ctx,
        call_stats=record.stats,
        progress=progress,
        privacy=privacy,
        embedding=ctx.embedding.serving(ctx.store, ctx.viewer),
        store=decrypting(ctx.store, privacy),
    )


def _check_live_memory(ctx: CallContext, operation: Operation) -> None:
    """Raises Forbidden where the setting `live_memory` keeps the agent from memory; see docs/agents.md."""
    if operation.needs_live_memory and not ctx.settings.live_memory:
        raise Forbidden(
            f"the agent {ctx.settings.agent} works without live memory: {operation.name} is not available to it",
            hint="`weft agent-knowledge` prints what was baked for it; `weft config` shows where live_memory is set",
        )


def _for_task(ctx: CallContext, made: Struct) -> CallContext:
    """The context with the task that the write says it was produced by."""
    if getattr(made, PRODUCED_BY, None) is None:
        return ctx
    from weft.writing.checks.provenance import for_task

    return for_task(ctx, made)


def _refused(operation: Operation, made: Struct, problem: WeftError) -> Struct:
    """A refused write as an answer with that status; raises the problem where the answer's type has none."""
    from weft.access.approve import refused
    from weft.writing.write_contract import WriteResult

    if isinstance(problem, NeedsApproval):
        answer = refused(operation, made, problem)
        if answer is None:
            raise problem
        return answer
    if operation.output is not WriteResult:
        raise problem
    status: Literal["blocked_scope", "failed"] = "blocked_scope" if isinstance(problem, BlockedScope) else "failed"
    return WriteResult(status=status, notes=(problem.message, problem.hint))


def _claim_project_name(ctx: CallContext, operation: Operation, surface: Surface) -> None:
    """After a write from a directory: the project's name belongs to the directory that used it first."""
    if operation.effect == "write" and operation.toolset != "admin" and surface in ("cli", "mcp"):
        from weft.writing.checks.project_roots import settle

        settle(ctx.settings)
