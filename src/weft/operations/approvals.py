"""Approvals as the log keeps them, and what a call may do with one.

An approval is a record: `waiting` from the request on, then `approved` or `denied` by the operator, then `used`. That
it expired is told from the clock. It says who asked, and of the token it has the hash; what would be written is a
record beside it, which is sensitive if that is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeVar

import msgspec
from msgspec import Struct

from weft.errors import NeedsApproval, NotFound
from weft.governing import (
    NOTHING,
    Pass,
    Requester,
    Status,
    approval_id,
    content_hash,
    expired,
    is_operator,
    same,
    token_hash,
)
from weft.instants import parse_instant
from weft.kinds import APPROVAL
from weft.loom import Loom
from weft.operations.registry import TOKEN, Operation
from weft.types import NOW, SCOPES, Find, NodeVersion, Viewer

MAX_READ: Final = 1_000
Written = TypeVar("Written", bound=Struct)
UNBOUND: Final = frozenset({TOKEN, "request_id"})  # how a call is made, not what it writes


class ApprovalShown(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A write for all projects that an agent asked for: what, who, and how it stands.

    `until` is when a request stops waiting, or when an approval can no longer be used. Of one that is `sealed` the
    arguments cannot be shown: the key is missing.
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


# ---- what is bound


def requester_of(loom: Loom) -> Requester:
    """Who this call is by."""
    actor = loom.writer.actor
    return Requester(account=loom.writer.account, agent=actor.agent, role=actor.role)


def bound_arguments(made: Struct) -> dict[str, Any]:
    """All that a call says of what it writes, defaults included: two ways to say the same are the same."""
    told: dict[str, Any] = _without(msgspec.to_builtins(made))
    if isinstance(items := told.get("items"), list | tuple):
        told["items"] = [_without(item) if isinstance(item, dict) else item for item in items]
    return told


def told_arguments(made: Struct) -> dict[str, Any]:
    """The same without what was left alone, to be read."""
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


# ---- how one stands


def reader(loom: Loom) -> Viewer:
    """Who reads approvals for weft itself, whatever the caller may see: what it tells is the caller's own."""
    return Viewer(account=loom.writer.account, scopes=frozenset(SCOPES), sensitive=True)


def status_of(node: NodeVersion, now_us: int) -> Status:
    """How an approval stands at a moment."""
    status: Status = node.props["status"]
    open_still = status in ("waiting", "approved")
    return "expired" if open_still and now_us > until_of(node) else status


def until_of(node: NodeVersion) -> int:
    """When it stops waiting, or when it can no longer be used."""
    return parse_instant(str(node.props["until"]))


def the_approval(loom: Loom, written: str) -> NodeVersion:
    """The approval of an id. Raises NotFound; Invalid is for the caller's surface."""
    found = loom.store.nodes(reader(loom), NOW, [written])
    if not found or found[0].kind != APPROVAL:
        raise NotFound(f"there is no request {written[:80]!r}", hint="`weft approval-list` lists those that wait")
    return found[0]


def approvals(loom: Loom, *, own: bool, status: Status | None = None) -> tuple[NodeVersion, ...]:
    """The newest approvals of the account, or the caller's own, by how they were left; at most MAX_READ."""
    asked = requester_of(loom)
    props = {"agent": asked.agent, "role": asked.role} if own else {}
    stored = "waiting" if status == "waiting" else status if status in ("approved", "denied", "used") else None
    find = Find(kinds=(APPROVAL,), props=props | ({} if stored is None else {"status": stored}))
    return loom.store.find(reader(loom), NOW, find, limit=MAX_READ).nodes


def text_id(name: str) -> str:
    """The record of what would be written with an approval."""
    return f"{name}:what"


def show_all(loom: Loom, nodes: Sequence[NodeVersion]) -> tuple[ApprovalShown, ...]:
    """Approvals as answers tell them."""
    viewer, now = reader(loom), loom.clock.now_us()
    citations = loom.store.citations(viewer, [each.event for each in nodes])
    found = loom.store.nodes(viewer, NOW, [text_id(each.id) for each in nodes]) if nodes else ()
    if loom.tally is not None and any(each.guard.sensitive for each in found):
        loom.tally.sensitive = True  # what this answer says is not for the record of calls
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
    """A write as one for all projects: level=global, and of a batch for each item that gives no level."""
    told: dict[str, Any] = {"level": "global"} if "level" in made.__struct_fields__ else {}
    if isinstance(items := getattr(made, "items", None), tuple):
        told["items"] = tuple({"level": "global", **item} for item in items)
    return msgspec.structs.replace(made, **told) if told else made


def admitted(loom: Loom, operation: Operation, made: Struct) -> tuple[Loom, Struct]:
    """The loom of a call, which may change what is global if it brings a token that was approved for just this call.

    And the call: level=global is implied, where that is what was approved.

    The operator needs none, and one that it brings stays unused. Raises NeedsApproval, with the reason, for a token
    that is unknown, another's, not approved, expired, used, or approved for something else; it stays as it is.
    """
    token = getattr(made, TOKEN, None)
    if token is None or is_operator(loom.writer.actor, loom.viewer):
        return loom, made
    found = loom.store.nodes(reader(loom), NOW, [approval_id(token)])
    known = found[0] if found and found[0].kind == APPROVAL else None
    if known is None or not same(str(known.props["verifier"]), token_hash(token)):
        raise _refused("is not known", hint="give it as request_global_write_approval told it")
    asked, props = requester_of(loom), known.props
    if (asked.agent, asked.role) != (props["agent"], props["role"]):
        raise _refused("was given to another", hint="request an approval of your own")
    bound = [each for each in (made, for_all(made)) if _is_bound(known, token, operation, each, asked)]
    if not bound:
        raise _refused(f"was asked for another write than this {operation.name}", hint=_AS_ASKED)
    request_id = getattr(made, "request_id", None)
    status, until = status_of(known, loom.clock.now_us()), until_of(known)
    again = status == "used" and request_id is not None and props.get("request_id") == request_id
    if status == "approved" or again:
        right = Pass(known, until=until, request_id=request_id, spent=again)
        return msgspec.structs.replace(loom, approval=right), bound[0]
    if status == "expired" and props["status"] == "approved":
        raise expired(until)
    raise _refused(*_WHY[status])


def _is_bound(known: NodeVersion, token: str, operation: Operation, made: Struct, asked: Requester) -> bool:
    return same(str(known.props["bound"]), content_hash(token, operation.name, bound_arguments(made), asked))


_AS_ASKED: Final = "call it with exactly the arguments that the approval was asked for, or request another"
_WHY: Final[Mapping[Status, tuple[str, str]]] = {
    "waiting": ("is not approved yet", "wait for the operator; `weft approval-list` tells how it stands"),
    "denied": ("was denied by the operator", "`weft approval-list --status denied` tells why"),
    "used": ("was used already", "request another approval"),
    "expired": ("was not approved within a day", "request another approval"),
}


def _refused(why: str, hint: str) -> NeedsApproval:
    return NeedsApproval(f"the governance token {why}{NOTHING}", hint=hint)
