"""Approvals of global writes: their records in the log, and the check of a call that brings a token.

An approval is `waiting` from the request on, then `approved` or `denied` by the operator, then `used`; `expired`
follows from the clock. The record names the requester and holds a hash of the token. The requested write is a second
record, which is sensitive if the write is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeVar

import msgspec
from msgspec import Struct

from weft.append.approval import (
    NOTHING,
    ApprovalUse,
    Requester,
    Status,
    approval_id,
    content_hash,
    expired,
    is_operator,
    same,
    token_hash,
)
from weft.core.clock import parse_instant
from weft.core.errors import NeedsApproval, NotFound
from weft.core.kinds import APPROVAL
from weft.core.types import NOW, SCOPES, Find, NodeVersion, Viewer
from weft.runtime.call_context import CallContext
from weft.runtime.operation import TOKEN, Operation

MAX_READ: Final = 1_000
Written = TypeVar("Written", bound=Struct)
UNBOUND: Final = frozenset({TOKEN, "request_id"})  # these do not affect what a call writes


class ApprovalShown(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A request to write for all projects: what, by whom, and its status.

    `until` is when a request stops waiting, or when an approval can no longer be used. If `sealed`, the arguments
    cannot be shown because the key is missing.
    """

    id: str
    status: Status
    operation: str
    arguments: dict[str, Any]
    agent: str
    role: str
    requested_at: str
    until: str
    why: str = ""
    sealed: bool = False
    decided_by: str = ""
    decided_at: str = ""
    automatic: bool = False
    reason: str = ""
    citation: str = ""


# ---- what an approval covers


def requester_of(ctx: CallContext) -> Requester:
    """The account, agent and role of this call."""
    actor = ctx.writer.actor
    return Requester(account=ctx.writer.account, agent=actor.agent, role=actor.role)


def bound_arguments(made: Struct) -> dict[str, Any]:
    """All arguments that determine what a call writes, defaults included, so that equal calls compare equal."""
    told: dict[str, Any] = _without(msgspec.to_builtins(made))
    if isinstance(items := told.get("items"), list | tuple):
        told["items"] = [_without(item) if isinstance(item, dict) else item for item in items]
    return told


def told_arguments(made: Struct) -> dict[str, Any]:
    """The same arguments without defaults, for display."""
    fields = {each.name: each for each in msgspec.structs.fields(type(made))}
    told = bound_arguments(made)
    return {
        name: value
        for name, value in told.items()
        if fields[name].required or getattr(made, name) != _default(fields[name])
    }


def _default(field: msgspec.structs.FieldInfo) -> Any:
    made = field.default_factory
    return field.default if made is msgspec.NODEFAULT else made()


def _without(given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if name not in UNBOUND}


# ---- status


def reader(ctx: CallContext) -> Viewer:
    """The viewer with which weft itself reads approvals, whatever the caller may see."""
    return Viewer(account=ctx.writer.account, scopes=frozenset(SCOPES), sensitive=True)


def status_of(node: NodeVersion, now_us: int) -> Status:
    """The status of an approval at a time."""
    status: Status = node.props["status"]
    open_still = status in ("waiting", "approved")
    return "expired" if open_still and now_us > until_of(node) else status


def until_of(node: NodeVersion) -> int:
    """When it stops waiting, or when it can no longer be used."""
    return parse_instant(str(node.props["until"]))


def the_approval(ctx: CallContext, written: str) -> NodeVersion:
    """The approval with this id. Raises NotFound."""
    found = ctx.store.nodes(reader(ctx), NOW, [written])
    if not found or found[0].kind != APPROVAL:
        raise NotFound(
            f"there is no approval request {written[:80]!r}", hint="`weft approval-list` lists waiting requests"
        )
    return found[0]


def approvals(ctx: CallContext, *, own: bool, status: Status | None = None) -> tuple[NodeVersion, ...]:
    """The newest approvals of the account, or the caller's own, by stored status; at most MAX_READ."""
    asked = requester_of(ctx)
    props = {"agent": asked.agent, "role": asked.role} if own else {}
    stored = "waiting" if status == "waiting" else status if status in ("approved", "denied", "used") else None
    find = Find(kinds=(APPROVAL,), props=props | ({} if stored is None else {"status": stored}))
    return ctx.store.find(reader(ctx), NOW, find, limit=MAX_READ).nodes


def text_id(name: str) -> str:
    """The id of the record that holds the requested write."""
    return f"{name}:what"


def show_all(ctx: CallContext, nodes: Sequence[NodeVersion]) -> tuple[ApprovalShown, ...]:
    """Approvals as answers show them."""
    viewer, now = reader(ctx), ctx.clock.now_us()
    citations = ctx.store.citations(viewer, [each.event for each in nodes])
    found = ctx.store.nodes(viewer, NOW, [text_id(each.id) for each in nodes]) if nodes else ()
    if ctx.call_stats is not None and any(each.guard.sensitive for each in found):
        ctx.call_stats.sensitive = True  # this answer must not be recorded in the audit
    texts = {each.id: each.props for each in found}
    return tuple(_shown(each, texts.get(text_id(each.id), {}), citations.get(each.event, ""), now) for each in nodes)


def _shown(node: NodeVersion, text: Mapping[str, Any], citation: str, now_us: int) -> ApprovalShown:
    props = node.props
    return ApprovalShown(
        id=node.id,
        status=status_of(node, now_us),
        operation=str(props["operation"]),
        arguments=dict(text.get("arguments", {})),
        agent=str(props["agent"]),
        role=str(props["role"]),
        requested_at=str(props["requested_at"]),
        until=str(props["until"]),
        why=str(text.get("why", "")),
        sealed="arguments" not in text,
        decided_by=str(props.get("decided_by", "")),
        decided_at=str(props.get("decided_at", "")),
        automatic=bool(props.get("automatic", False)),
        reason=str(props.get("reason", "")),
        citation=citation,
    )


# ---- using one


def for_all(made: Written) -> Written:
    """The same call with level=global, also in each item of a batch that gives no level."""
    told: dict[str, Any] = {"level": "global"} if "level" in made.__struct_fields__ else {}
    if isinstance(items := getattr(made, "items", None), tuple):
        told["items"] = tuple({"level": "global", **item} for item in items)
    return msgspec.structs.replace(made, **told) if told else made


def admitted(ctx: CallContext, operation: Operation, made: Struct) -> tuple[CallContext, Struct]:
    """The context of a call, with the right to write globally if the call brings a token approved for exactly this
    call.

    Returns the call too, with level=global filled in if that is what was approved.

    The operator needs no token; one that it brings stays unused. Raises NeedsApproval with the reason if the token is
    unknown, another agent's, not approved, expired, used, or approved for a different call; its status does not change.
    """
    token = getattr(made, TOKEN, None)
    if token is None or is_operator(ctx.writer.actor, ctx.viewer):
        return ctx, made
    found = ctx.store.nodes(reader(ctx), NOW, [approval_id(token)])
    known = found[0] if found and found[0].kind == APPROVAL else None
    if known is None or not same(str(known.props["verifier"]), token_hash(token)):
        raise _refused("is not known", hint="give it exactly as request_global_write_approval returned it")
    asked, props = requester_of(ctx), known.props
    if (asked.agent, asked.role) != (props["agent"], props["role"]):
        raise _refused("belongs to another agent", hint="request an approval of your own")
    bound = [each for each in (made, for_all(made)) if _is_bound(known, token, operation, each, asked)]
    if not bound:
        raise _refused(f"was approved for a different call than this {operation.name}", hint=_AS_ASKED)
    request_id = getattr(made, "request_id", None)
    status, until = status_of(known, ctx.clock.now_us()), until_of(known)
    again = status == "used" and request_id is not None and props.get("request_id") == request_id
    if status == "approved" or again:
        right = ApprovalUse(known, until=until, request_id=request_id, spent=again)
        return msgspec.structs.replace(ctx, approval=right), bound[0]
    if status == "expired" and props["status"] == "approved":
        raise expired(until)
    raise _refused(*_WHY[status])


def _is_bound(known: NodeVersion, token: str, operation: Operation, made: Struct, asked: Requester) -> bool:
    return same(str(known.props["bound"]), content_hash(token, operation.name, bound_arguments(made), asked))


_AS_ASKED: Final = "call it with exactly the arguments of the request, or request another approval"
_WHY: Final[Mapping[Status, tuple[str, str]]] = {
    "waiting": ("is not approved yet", "wait for the operator; `weft approval-list` shows its status"),
    "denied": ("was denied by the operator", "`weft approval-list --status denied` shows the reason"),
    "used": ("was already used", "request another approval"),
    "expired": ("was not approved within a day", "request another approval"),
}


def _refused(why: str, hint: str) -> NeedsApproval:
    return NeedsApproval(f"the governance token {why}{NOTHING}", hint=hint)
