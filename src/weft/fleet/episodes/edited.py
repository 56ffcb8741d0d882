"""The effect of a recorded edit on claims of the file."""

from __future__ import annotations

from msgspec import Struct

from weft.append.append import Fence
from weft.core.types import NodeVersion
from weft.fleet.episodes.involved import known_file
from weft.log.draft import Draft
from weft.runtime.call_context import CallContext
from weft.writing.claims.claim import version_of
from weft.writing.claims.held import Held, held_around
from weft.writing.claims.writing import claims_fence, overtaken, refreshed


class EditEffect(Struct, frozen=True, kw_only=True):
    """The events that an edit has on claims, and what is said of them."""

    target: str
    drafts: tuple[Draft, ...] = ()
    told: tuple[str, ...] = ()

    def fence(self, pos: int) -> Fence | None:
        """The condition that nobody claims the file meanwhile."""
        return claims_fence((self.target,), pos) if self.target else None


def after_edit(ctx: CallContext, path: str) -> EditEffect:
    """The holder's edit refreshes its claims on the file and in it; another's makes the claim on the file stale."""
    file = known_file(ctx, path)
    if file is None:
        return EditEffect(target="")
    drafts: list[Draft] = []
    told: list[str] = []
    for held in held_around(ctx, file.id):
        claim = held.claim
        if claim.holder.agent == ctx.writer.actor.agent:
            if (draft := refreshed(held, awaits_change=_is_unseen(held))) is not None:
                drafts.append(draft)
                told.append(f"your claim on {claim.target} is refreshed")
        elif claim.target == file.id and not held.stale and (draft := overtaken(ctx, held)) is not None:
            drafts.append(draft)
            told.append(
                f"{claim.holder.agent} held {claim.target} ({claim.intent[:200]}): that claim ended by your edit"
            )
        elif not held.stale:
            told.append(f"{claim.holder.agent} holds {claim.target} in this file: {claim.intent[:200]}")
    return EditEffect(target=file.id, drafts=tuple(drafts), told=tuple(told))


def _is_unseen(held: Held) -> bool:
    """Whether the graph still has the version that was claimed: the edit is then the target's next one."""
    target: NodeVersion | None = held.target
    return target is not None and version_of(target) == held.claim.version
