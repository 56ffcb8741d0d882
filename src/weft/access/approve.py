"""`request_global_write_approval`, `approval_list`, `approve`, `deny`: the right to write for all projects."""

from __future__ import annotations

import typing
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta, Struct

from weft.append.approval import (
    USE_US,
    WAIT_US,
    Status,
    approval_draft,
    approval_id,
    content_hash,
    is_operator,
    new_token,
    token_hash,
)
from weft.core.clock import to_iso
from weft.core.errors import Conflict, Forbidden, Invalid, NeedsApproval, StoreError, TooLarge
from weft.core.kinds import APPROVAL, APPROVAL_TEXT
from weft.core.queries import NodeFilter
from weft.core.types import MAX_LIMIT, NOW, Find
from weft.graph.placeholders import strings
from weft.log.citation import is_event_citation
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.runtime.call_context import CallContext
from weft.runtime.fields import Limit, Reason
from weft.runtime.operation import Operation, read_input
from weft.writing.batches import BatchWritten, ItemWritten
from weft.writing.build.commit import WriteDecision, commit, decide_and_commit
from weft.writing.build.versions import node_fence
from weft.writing.checks.approvals import (
    ApprovalShown,
    approvals,
    bound_arguments,
    for_all,
    reader,
    requester_of,
    show_all,
    status_of,
    text_id,
    the_approval,
    told_arguments,
)
from weft.writing.checks.redact_arguments import redacted_input

MAX_WAITING: Final = 50  # waiting requests per agent
MAX_NAME: Final = 1_024  # characters of what may name a node
MAX_NAMED: Final = 1_000  # names looked up for one request
SECONDS: Final = USE_US // 1_000_000
HOURS: Final = WAIT_US // 3_600_000_000

RequestName = Annotated[
    str, Meta(min_length=1, max_length=128, description="the request's id, as approval_list shows it")
]


# ---- requesting


class RequestApproval(Struct, frozen=True, kw_only=True):
    """Input of `request_global_write_approval`."""

    operation: Annotated[str, Meta(min_length=1, max_length=64, description="the operation that you want to call")]
    arguments: Annotated[
        dict[str, Any], Meta(max_length=64, description="its arguments, exactly as you will pass them")
    ]
    reason: Annotated[Reason, Meta(description="why all projects should have it; shown to the operator")] = ""


class ApprovalRequested(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The token, to be passed as `governance_token` once approved, and what it is bound to.

    `until` is when the request stops waiting or, if it was approved at once, until when the token can be used.
    """

    status: Literal["waiting", "approved"]
    id: str
    token: str
    operation: str
    content_hash: str
    agent: str
    role: str
    until: str
    citation: str = ""
    notes: tuple[str, ...] = ()


def request_global_write_approval(ctx: CallContext, given: RequestApproval) -> ApprovalRequested:
    """Requests the operator's approval of one write for all projects, and returns its token.

    The token works once, for exactly this operation and these arguments, for you only, within a minute after the
    approval. The request waits for a day; `weft approval-list` shows its status. The request_id of the call may differ.
    level=global is implied, here and in the call.
    """
    operation = _operation(given.operation)
    asked_for = redacted_input(ctx, operation, read_input(operation, dict(given.arguments)))
    made = asked_for if "level" in given.arguments else for_all(asked_for)  # as in the call itself
    _check_waiting(ctx)
    implied = () if made == asked_for else ("level=global is implied and shown to the operator among the arguments",)
    token, asked, now = new_token(), requester_of(ctx), ctx.clock.now_us()
    bound = content_hash(token, operation.name, bound_arguments(made), asked)
    automatic = ctx.settings.auto_approve
    props: dict[str, Any] = {
        "status": "waiting",
        "operation": operation.name,
        "agent": asked.agent,
        "role": asked.role,
        "requested_at": to_iso(now),
        "until": to_iso(now + WAIT_US),
        "verifier": token_hash(token),
        "bound": bound,
    }
    if automatic:
        props |= _decision("approved", now, by="auto_approve") | {"automatic": True}
    node = graph.NodeAssertion(id=approval_id(token), kind=APPROVAL, props=props)
    payload = graph.Asserted(nodes=(node, _text(ctx, node.id, given, made)))
    try:
        done = commit(ctx, [Draft(kind="graph.asserted", payload=payload)])
    except TooLarge as problem:
        raise TooLarge(problem.message, hint="the write is stored with the request: request a smaller one") from problem
    return ApprovalRequested(
        status="approved" if automatic else "waiting",
        id=node.id,
        token=token,
        operation=operation.name,
        content_hash=bound,
        agent=asked.agent,
        role=asked.role,
        until=str(props["until"]),
        citation=done.citation,
        notes=(*_next_step(node.id, automatic=automatic), *implied, *_needless(ctx), *done.notes),
    )


def _text(ctx: CallContext, name: str, given: RequestApproval, made: Struct) -> graph.NodeAssertion:
    """The requested write and the reason, stored once, and sensitive if the write or a node it names is."""
    arguments = told_arguments(made)
    told = {"arguments": arguments} | ({"why": given.reason} if given.reason.strip() else {})
    sensitive = is_sensitive(ctx, given.arguments, arguments)
    return graph.NodeAssertion(id=text_id(name), kind=APPROVAL_TEXT, props=told, sensitive=sensitive)


def is_sensitive(ctx: CallContext, given: Mapping[str, Any], told: Mapping[str, Any]) -> bool:
    """Whether the arguments of a write are sensitive: by their mark, or by the nodes they name."""
    return _sensitive(given) or _about_sensitive(ctx, told)


def _about_sensitive(ctx: CallContext, arguments: Mapping[str, Any]) -> bool:
    """Whether a node named in the arguments (by id, citation or name) is sensitive.

    If that cannot be determined, the request is encrypted if there is a key.
    """
    named = tuple({each.strip() for each in strings(arguments) if 0 < len(each.strip()) <= MAX_NAME})
    viewer, store = reader(ctx), ctx.store
    if len(named) > MAX_NAMED:
        return bool(ctx.privacy.keys)
    try:
        cited = store.cited(viewer, [each for each in named if is_event_citation(each)]).values()
        found = [node for pos in cited for node in store.asserted_by(viewer, pos, limit=MAX_LIMIT)]
        found += store.last_versions(viewer, NodeFilter(ids=named), limit=len(named)) if named else ()
        found += store.find(viewer, NOW, Find(names=named), limit=MAX_LIMIT).nodes if named else ()
    except StoreError:
        return bool(ctx.privacy.keys)
    return any(node.guard.sensitive for node in found)


def _operation(written: str) -> Operation:
    from weft.operations import OPERATIONS  # the list holds this module's own operations too

    name = written.strip().removeprefix("weft ").replace("-", "_")
    found = next((each for each in OPERATIONS if each.name == name), None)
    if found is None or not found.governed:
        what = "there is no operation" if found is None else "approvals do not apply to"
        able = ", ".join(each.name for each in OPERATIONS if each.governed)
        raise Invalid(f"{what} {written[:80]!r}", hint=f"approvals apply to {able}")
    return found


def _check_waiting(ctx: CallContext) -> None:
    now = ctx.clock.now_us()
    waiting = [each for each in approvals(ctx, own=True, status="waiting") if status_of(each, now) == "waiting"]
    if len(waiting) >= MAX_WAITING:
        raise Conflict(
            f"{len(waiting)} of your requests are waiting already", hint="wait until the operator has decided on some"
        )


def _sensitive(given: Any) -> bool:
    """Whether anything in the arguments is marked as sensitive."""
    if isinstance(given, Mapping):
        return bool(given.get("sensitive")) or any(_sensitive(each) for each in given.values())
    return any(_sensitive(each) for each in given) if isinstance(given, list | tuple) else False


def _next_step(name: str, *, automatic: bool) -> tuple[str, ...]:
    if automatic:
        return (f"approved automatically (setting auto_approve): use the token within {SECONDS} s",)
    return (f"waiting for the operator: `weft approve {name}`; after that, use the token within {SECONDS} s",)


def _needless(ctx: CallContext) -> tuple[str, ...]:
    if is_operator(ctx.writer.actor, ctx.viewer):
        return ("you are the operator and need no approval to write for all projects",)
    return ()


# ---- listing


class ListApprovals(Struct, frozen=True, kw_only=True):
    """Input of `approval_list`."""

    status: Annotated[
        Literal["waiting", "approved", "denied", "used", "expired", "all"], Meta(description="only with this status")
    ] = "waiting"
    limit: Limit = 20


class ApprovalList(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Requests to write for all projects, latest first."""

    approvals: tuple[ApprovalShown, ...]
    notes: tuple[str, ...] = ()


def approval_list(ctx: CallContext, given: ListApprovals) -> ApprovalList:
    """Lists requests to write for all projects: the write, the requester and the status.

    The operator sees all requests, others their own.
    """
    own = not is_operator(ctx.writer.actor, ctx.viewer)
    wanted: Status | None = None if given.status == "all" else given.status
    now = ctx.clock.now_us()
    found = [
        each for each in approvals(ctx, own=own, status=wanted) if wanted is None or status_of(each, now) == wanted
    ]
    listed = found[: given.limit]
    notes = (f"{given.limit} of {len(found)} are shown: raise --limit",) if len(found) > given.limit else ()
    return ApprovalList(approvals=show_all(ctx, listed), notes=notes)


# ---- deciding


class Approve(Struct, frozen=True, kw_only=True):
    """Input of `approve`."""

    id: Annotated[RequestName | None, Meta(description="the request's id; on a terminal all waiting ones if unset")] = (
        None
    )


class Deny(Struct, frozen=True, kw_only=True):
    """Input of `deny`."""

    id: RequestName
    reason: Reason = ""


class ApprovalDecided(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A decided request, with its new status."""

    approval: ApprovalShown
    notes: tuple[str, ...] = ()


def approve(ctx: CallContext, given: Approve) -> ApprovalDecided:
    """Approves a request to write for all projects. Only the operator may, and never its own requests.

    On a terminal it shows the write and the requester first, and asks; elsewhere --yes confirms that you have looked.
    The agent then has a minute to make the write.
    """
    if given.id is None:
        raise Invalid("no request was named", hint="`weft approval-list` lists waiting requests")
    shown = decide(ctx, given.id, "approved")
    return ApprovalDecided(
        approval=shown, notes=(f"{shown.agent} can use the approval once, until {shown.until[:19]}Z",)
    )


def deny(ctx: CallContext, given: Deny) -> ApprovalDecided:
    """Denies a request to write for all projects, with an optional reason. Only the operator may."""
    return ApprovalDecided(approval=decide(ctx, given.id, "denied", reason=given.reason))


def decide(ctx: CallContext, name: str, verdict: Literal["approved", "denied"], *, reason: str = "") -> ApprovalShown:
    """The operator's decision on a request. A request is decided once.

    Raises Forbidden for anybody but the operator and for its own requests, NotFound for an unknown request, Conflict
    for one that is no longer waiting.
    """
    ctx = msgspec.structs.replace(ctx, viewer=ctx.operator(f"have requests {verdict}"))
    by = requester_of(ctx)

    def choose(pos: int) -> WriteDecision[None]:
        node, now = the_approval(ctx, name), ctx.clock.now_us()
        if verdict == "approved" and (by.agent, by.role) == (node.props["agent"], node.props["role"]):
            raise Forbidden("an operator cannot approve its own request", hint="another operator has to approve it")
        if (status := status_of(node, now)) != "waiting":
            raise Conflict(
                f"the request is no longer waiting: it is {status}", hint="the agent has to request it again"
            )
        props = {**node.props, **_decision(verdict, now, by=by.agent)} | ({"reason": reason} if reason.strip() else {})
        return WriteDecision(answer=None, drafts=(approval_draft(node, props),), fence=node_fence(node, pos))

    decide_and_commit(ctx, choose)
    return show_all(ctx, [the_approval(ctx, name)])[0]


def _decision(verdict: Literal["approved", "denied"], now: int, *, by: str) -> dict[str, Any]:
    told = {"status": verdict, "decided_by": by, "decided_at": to_iso(now)}
    return told | ({"until": to_iso(now + USE_US)} if verdict == "approved" else {})


# ---- calls without the right


def refused(operation: Operation, made: Struct, problem: NeedsApproval) -> Struct | None:
    """The answer of a rejected write, with status and reason. None if the operation's answer has no status."""
    if operation.output is BatchWritten:
        count = len(getattr(made, "items", ()))
        items = tuple(
            ItemWritten(index=each, status="failed", error=problem.message, hint=problem.hint) for each in range(count)
        )
        return BatchWritten(status="failed", written=0, items=items, failed=tuple(range(count)), notes=_notes(problem))
    hints = typing.get_type_hints(operation.output)
    if "failed" not in typing.get_args(hints.get("status")):
        return None
    nothing = {name: _NOTHING[typing.get_origin(hints[name]) or hints[name]] for name in _needed(operation.output)}
    return operation.output(**nothing | {"status": "failed", "notes": _notes(problem)})


_NOTHING: Final[Mapping[Any, Any]] = {str: "", int: 0, tuple: ()}


def _needed(output: type[Struct]) -> list[str]:
    return [each.name for each in msgspec.structs.fields(output) if each.required and each.name != "status"]


def _notes(problem: NeedsApproval) -> tuple[str, ...]:
    return (problem.message, problem.hint) if problem.hint else (problem.message,)


OPERATIONS = (
    Operation(
        name="request_global_write_approval",
        summary="request the operator's approval of one write for all projects",
        input=RequestApproval,
        output=ApprovalRequested,
        effect="write",
        toolset="governance",
        audited_words="arguments",
        run=request_global_write_approval,
        arguments=("operation",),
    ),
    Operation(
        name="approval_list",
        summary="list requests to write for all projects, with their status",
        input=ListApprovals,
        output=ApprovalList,
        effect="read",
        toolset="governance",
        run=approval_list,
        priorities={"approvals.operation": "required", "approvals.arguments": "high", "approvals.why": "high"},
    ),
    Operation(
        name="approve",
        summary="approve a request to write for all projects",
        input=Approve,
        output=ApprovalDecided,
        effect="write",
        toolset="governance",
        run=approve,
        arguments=("id",),
    ),
    Operation(
        name="deny",
        summary="deny a request to write for all projects",
        input=Deny,
        output=ApprovalDecided,
        effect="write",
        toolset="governance",
        run=deny,
        arguments=("id",),
    ),
)
