"""Asking for the right to write for all projects, and the operator's answer."""

from __future__ import annotations

import typing
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta, Struct

from weft.errors import Conflict, Forbidden, Invalid, NeedsApproval, StoreError, TooLarge
from weft.governing import (
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
from weft.instants import to_iso
from weft.kinds import APPROVAL, APPROVAL_TEXT
from weft.log.citation import is_event_citation
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.loom import Loom
from weft.operations.approvals import (
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
from weft.operations.batches import BatchWritten, ItemWritten
from weft.operations.committing import Choice, commit, decided
from weft.operations.fields import Limit
from weft.operations.redacting import redacted_input
from weft.operations.registry import Operation, read_input
from weft.operations.versions import node_fence
from weft.projection.tokens import strings
from weft.queries import Which
from weft.types import MAX_LIMIT, NOW, Find

MAX_WAITING: Final = 50  # requests of one agent that wait at a time
MAX_NAME: Final = 1_024  # characters of what may name a node
MAX_NAMED: Final = 1_000  # names that are looked up for one request
SECONDS: Final = USE_US // 1_000_000
HOURS: Final = WAIT_US // 3_600_000_000

RequestName = Annotated[
    str, Meta(min_length=1, max_length=128, description="the request's id, as approval_list has it")
]
Reason = Annotated[str, Meta(max_length=2_000, description="why, in a few words")]


# ---- asking


class RequestApproval(Struct, frozen=True, kw_only=True):
    """Input of `request_global_write_approval`."""

    operation: Annotated[str, Meta(min_length=1, max_length=64, description="the operation that you will call")]
    arguments: Annotated[
        dict[str, Any], Meta(max_length=64, description="its arguments, exactly as you will give them")
    ]
    reason: Annotated[Reason, Meta(description="why all projects should have it, for the operator")] = ""


class ApprovalRequested(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The token, to be given as `governance_token` once it is approved, and what it is bound to.

    `until` is when the request stops waiting; of one that was approved at once, until when it can be used.
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


def request_global_write_approval(loom: Loom, given: RequestApproval) -> ApprovalRequested:
    """Asks the operator for the right to make one write for all projects, and gives the token for it.

    The token works once, for exactly this operation and these arguments, for you alone, and for a minute after the
    operator has approved. The request waits a day. `weft approval-list` tells how it stands; request_id may differ.
    level=global is implied, here and in the call.
    """
    operation = _operation(given.operation)
    asked_for = redacted_input(loom, operation, read_input(operation, dict(given.arguments)))
    made = asked_for if "level" in given.arguments else for_all(asked_for)  # as the call itself will be
    _check_waiting(loom)
    implied = () if made == asked_for else ("level=global is implied: the operator is shown it among the arguments",)
    token, asked, now = new_token(), requester_of(loom), loom.clock.now_us()
    bound = content_hash(token, operation.name, bound_arguments(made), asked)
    automatic = loom.settings.auto_approve
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
    payload = graph.Asserted(nodes=(node, _text(loom, node.id, given, made)))
    try:
        done = commit(loom, [Draft(kind="graph.asserted", payload=payload)])
    except TooLarge as problem:
        raise TooLarge(
            problem.message, hint="what is approved is kept with the request: ask for a smaller write"
        ) from problem
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
        notes=(*_next_step(node.id, automatic=automatic), *implied, *_needless(loom, made), *done.notes),
    )


def _text(loom: Loom, name: str, given: RequestApproval, made: Struct) -> graph.NodeAssertion:
    """What would be written, and why: kept once, and as sensitive as it says that it is, or as what it is about."""
    arguments = told_arguments(made)
    told = {"arguments": arguments} | ({"why": given.reason} if given.reason.strip() else {})
    sensitive = is_sensitive(loom, given.arguments, arguments)
    return graph.NodeAssertion(id=text_id(name), kind=APPROVAL_TEXT, props=told, sensitive=sensitive)


def is_sensitive(loom: Loom, given: Mapping[str, Any], told: Mapping[str, Any]) -> bool:
    """Whether the words of a write are for those alone who may see what is sensitive: by its mark, or what it names."""
    return _sensitive(given) or _about_sensitive(loom, told)


def _about_sensitive(loom: Loom, arguments: Mapping[str, Any]) -> bool:
    """Whether a node that is named anywhere in the arguments is sensitive: by its id, a citation or its name.

    Where that cannot be told, what is asked for is sealed if there is a key.
    """
    named = tuple({each.strip() for each in strings(arguments) if 0 < len(each.strip()) <= MAX_NAME})
    viewer, store = reader(loom), loom.store
    if len(named) > MAX_NAMED:
        return bool(loom.screen.keys)
    try:
        cited = store.cited(viewer, [each for each in named if is_event_citation(each)]).values()
        found = [node for pos in cited for node in store.asserted_by(viewer, pos, limit=MAX_LIMIT)]
        found += store.last_versions(viewer, Which(ids=named), limit=len(named)) if named else ()
        found += store.find(viewer, NOW, Find(names=named), limit=MAX_LIMIT).nodes if named else ()
    except StoreError:
        return bool(loom.screen.keys)
    return any(node.guard.sensitive for node in found)


def _operation(written: str) -> Operation:
    from weft.operations import OPERATIONS  # the list holds this module's own operations too

    name = written.strip().removeprefix("weft ").replace("-", "_")
    found = next((each for each in OPERATIONS if each.name == name), None)
    if found is None or not found.governed:
        what = "there is no operation" if found is None else "no approval is ever needed or enough for"
        able = ", ".join(each.name for each in OPERATIONS if each.governed)
        raise Invalid(f"{what} {written[:80]!r}", hint=f"approvals are for {able}")
    return found


def _check_waiting(loom: Loom) -> None:
    now = loom.clock.now_us()
    waiting = [each for each in approvals(loom, own=True, status="waiting") if status_of(each, now) == "waiting"]
    if len(waiting) >= MAX_WAITING:
        raise Conflict(
            f"{len(waiting)} of your requests wait already", hint="wait for the operator to decide on some of them"
        )


def _sensitive(given: Any) -> bool:
    """Whether anything in the arguments is marked so: then the request is, too."""
    if isinstance(given, Mapping):
        return bool(given.get("sensitive")) or any(_sensitive(each) for each in given.values())
    return any(_sensitive(each) for each in given) if isinstance(given, list | tuple) else False


def _next_step(name: str, *, automatic: bool) -> tuple[str, ...]:
    if automatic:
        return (f"approved at once by the setting auto_approve: use the token within {SECONDS} s",)
    return (f"the operator decides: `weft approve {name}`; then use the token within {SECONDS} s",)


def _needless(loom: Loom, made: Struct) -> tuple[str, ...]:
    if is_operator(loom.writer.actor, loom.viewer):
        return ("you are the operator: you write for all projects without it",)
    return ()


# ---- listing


class ListApprovals(Struct, frozen=True, kw_only=True):
    """Input of `approval_list`."""

    status: Annotated[
        Literal["waiting", "approved", "denied", "used", "expired", "all"], Meta(description="which ones")
    ] = "waiting"
    limit: Limit = 20


class ApprovalList(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Requests to write for all projects, the latest first."""

    approvals: tuple[ApprovalShown, ...]
    notes: tuple[str, ...] = ()


def approval_list(loom: Loom, given: ListApprovals) -> ApprovalList:
    """Lists requests to write for all projects: what would be written, by whom, and how each stands.

    The operator sees everybody's; others see their own.
    """
    own = not is_operator(loom.writer.actor, loom.viewer)
    wanted: Status | None = None if given.status == "all" else given.status
    now = loom.clock.now_us()
    found = [
        each for each in approvals(loom, own=own, status=wanted) if wanted is None or status_of(each, now) == wanted
    ]
    listed = found[: given.limit]
    notes: tuple[str, ...] = () if found else ("there are none",)
    if len(found) > given.limit:
        notes += (f"{given.limit} of {len(found)} are shown: raise --limit",)
    return ApprovalList(approvals=show_all(loom, listed), notes=notes)


# ---- deciding


class Approve(Struct, frozen=True, kw_only=True):
    """Input of `approve`."""

    id: Annotated[RequestName | None, Meta(description="which request; on a terminal each that waits if unset")] = None


class Deny(Struct, frozen=True, kw_only=True):
    """Input of `deny`."""

    id: RequestName
    reason: Reason = ""


class ApprovalDecided(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was decided, and how the request stands now."""

    approval: ApprovalShown
    notes: tuple[str, ...] = ()


def approve(loom: Loom, given: Approve) -> ApprovalDecided:
    """Approves a request to write for all projects. Only the operator may, and never for itself.

    On a terminal it first shows what would be written and by whom, and asks; elsewhere --yes says that you looked.
    From then on the agent has a minute to make the write.
    """
    if given.id is None:
        raise Invalid("it is not said which request", hint="`weft approval-list` lists those that wait")
    shown = decide(loom, given.id, "approved")
    return ApprovalDecided(approval=shown, notes=(f"{shown.agent} can use it once, until {shown.until[:19]}Z",))


def deny(loom: Loom, given: Deny) -> ApprovalDecided:
    """Denies a request to write for all projects, with the reason if there is one. Only the operator may."""
    return ApprovalDecided(approval=decide(loom, given.id, "denied", reason=given.reason))


def decide(loom: Loom, name: str, verdict: Literal["approved", "denied"], *, reason: str = "") -> ApprovalShown:
    """The operator's decision on a request, whatever surface it comes from. A request is decided once.

    Raises Forbidden for who is not the operator, or asked for it itself; NotFound for one that is not there; Conflict
    for one that does not wait any more.
    """
    loom = msgspec.structs.replace(loom, viewer=loom.operator(f"have requests {verdict}"))
    by = requester_of(loom)

    def choose(pos: int) -> Choice[None]:
        node, now = the_approval(loom, name), loom.clock.now_us()
        if verdict == "approved" and (by.agent, by.role) == (node.props["agent"], node.props["role"]):
            raise Forbidden("nobody approves what it asked for itself", hint="another operator has to")
        if (status := status_of(node, now)) != "waiting":
            raise Conflict(f"the request does not wait any more: it is {status}", hint="it has to be asked for again")
        props = {**node.props, **_decision(verdict, now, by=by.agent)} | ({"reason": reason} if reason.strip() else {})
        return Choice(told=None, drafts=(approval_draft(node, props),), fence=node_fence(node, pos))

    decided(loom, choose)
    return show_all(loom, [the_approval(loom, name)])[0]


def _decision(verdict: Literal["approved", "denied"], now: int, *, by: str) -> dict[str, Any]:
    told = {"status": verdict, "decided_by": by, "decided_at": to_iso(now)}
    return told | ({"until": to_iso(now + USE_US)} if verdict == "approved" else {})


# ---- what a call without the right is told


def refused(operation: Operation, made: Struct, problem: NeedsApproval) -> Struct | None:
    """The answer of a write that was not let through: its status and the reason. None where an answer has no status."""
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
        summary="ask the operator for the right to make one write for all projects",
        input=RequestApproval,
        output=ApprovalRequested,
        effect="write",
        toolset="governance",
        run=request_global_write_approval,
        arguments=("operation",),
    ),
    Operation(
        name="approval_list",
        summary="list requests to write for all projects, and how they stand",
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
