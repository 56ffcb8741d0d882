"""Use of an approval: the right to change, once, what is kept for all projects.

The log holds a token's hash, never the token. The approved request is bound to the token by a keyed hash, so that a
reader of the log can neither recover a token nor test guesses of the content.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from typing import Any, Final, Literal

from msgspec import Struct
from msgspec.structs import asdict

from weft.core.clock import to_iso
from weft.core.commits import LockedView
from weft.core.errors import NeedsApproval
from weft.core.kinds import APPROVAL
from weft.core.types import SCOPES, Actor, Event, NodeVersion, Viewer
from weft.log.canonical import canonical
from weft.log.draft import Draft
from weft.log.kinds import graph, payload_of

TOKEN_BYTES: Final = 16  # 128 bits
TOKEN_CHARACTERS: Final = 2 * TOKEN_BYTES
USE_US: Final = 60_000_000  # from the approval to the write
WAIT_US: Final = 24 * 3_600_000_000  # from the request to the approval
PREFIX: Final = "approval:"
NOTHING: Final = "; nothing was written"

Status = Literal["waiting", "approved", "denied", "used", "expired"]


class Requester(Struct, frozen=True, kw_only=True):
    """The caller who asked: no other may use the token."""

    account: str
    agent: str
    role: str


def is_operator(actor: Actor, viewer: Viewer | None) -> bool:
    """Whether the writer is the operator: in that role, internal, with every scope. weft's own maintenance is."""
    if viewer is None:
        return True
    return actor.role == "operator" and viewer.audience == "internal" and viewer.scopes >= set(SCOPES)


def new_token() -> str:
    """A random token of 128 bits."""
    return secrets.token_hex(TOKEN_BYTES)


def approval_id(token: str) -> str:
    """The id of the approval that a token belongs to."""
    return PREFIX + token_hash(token)[:24]


def token_hash(token: str) -> str:
    """The hash that the log holds."""
    return hashlib.sha256(b"weft approval\x00" + token.encode()).hexdigest()


def content_hash(token: str, operation: str, arguments: Mapping[str, Any], requester: Requester) -> str:
    """The keyed hash of the request that a token is bound to: operation, arguments and caller."""
    bound = {"operation": operation, "arguments": arguments, **asdict(requester)}
    return hmac.new(token.encode(), canonical(bound), hashlib.sha256).hexdigest()


def same(one: str, other: str) -> bool:
    """Compares hashes in constant time."""
    return hmac.compare_digest(one.encode(), other.encode())


class ApprovalUse:
    """An approval in the one call that uses it. The first of that call's commits uses it up.

    One that was used before (`spent`) admits nothing new: the call may only find what it wrote under the same request
    id.
    """

    def __init__(
        self, approval: NodeVersion, *, until: int, request_id: str | None = None, spent: bool = False
    ) -> None:
        self.id, self._approval, self._until, self._request_id = approval.id, approval, until, request_id
        self._spent, self._used_here = spent, False

    def check(self, view: LockedView, now_us: int) -> None:
        """Raises NeedsApproval unless it is valid now. Inside the lock: of two uses at once, one succeeds."""
        if self._used_here:
            return
        stands = [row for row in view.live_versions(self.id) if row.event == self._approval.event]
        if self._spent or not stands:
            raise NeedsApproval(f"the governance token was already used{NOTHING}", hint="request another approval")
        if now_us > self._until:
            raise expired(self._until)

    def marks(self) -> tuple[Draft, ...]:
        """The event that uses it up, for the first commit; none for later ones."""
        if self._used_here or self._spent:
            return ()
        props = {**self._approval.props, "status": "used"}
        if self._request_id is not None:
            props["request_id"] = self._request_id
        return (approval_draft(self._approval, props),)

    def used(self) -> None:
        """Records that the commit which uses it up was written."""
        self._used_here = True


def expired(until: int) -> NeedsApproval:
    """The error for an approval that expired unused."""
    return NeedsApproval(
        f"the governance token expired at {to_iso(until)[:19]}Z, {USE_US // 1_000_000} s after its approval{NOTHING}",
        hint="request another approval",
    )


def approval_draft(node: NodeVersion, props: Mapping[str, Any]) -> Draft:
    """A new version of an approval."""
    begin = to_iso(node.interval.asserted_from)
    again = graph.NodeAssertion(id=node.id, kind=APPROVAL, props=dict(props), valid_from=begin, **asdict(node.guard))
    return Draft(kind="graph.asserted", payload=graph.Asserted(nodes=(again,)))


def marks_approval(event: Event) -> bool:
    """Whether an event only records the use of an approval."""
    payload = payload_of(event)
    return (
        isinstance(payload, graph.Asserted)
        and not payload.edges
        and all(node.kind == APPROVAL for node in payload.nodes)
    )
