"""What a caller may write: a guard of its own making never reaches beyond what the caller may see."""

from __future__ import annotations

from weft.errors import Forbidden
from weft.loom import Loom
from weft.types import SCOPES, Guard, Scope


def write_guard(
    loom: Loom, *, scope: Scope | None, agents: tuple[str, ...], sensitive: bool = False, project: str | None
) -> Guard:
    """The guard of what this caller writes. Without a scope, the narrowest that it holds.

    A caller that sees only what is tagged for it tags what it writes. Raises Forbidden for a scope it does not hold.
    """
    held = [each for each in reversed(SCOPES) if each in loom.viewer.scopes]
    chosen = scope or next(iter(held), None)
    if chosen is None or chosen not in held:
        raise Forbidden(
            f"you may not write with scope {chosen}",
            hint=f"you hold {', '.join(held) or 'no scope'}; leave the scope out, or ask the operator for more",
        )
    own = {loom.viewer.agent} if loom.viewer.tagged_only and loom.viewer.agent else set()
    return Guard(project=project, scope=chosen, agents=tuple(sorted({*agents, *own})), sensitive=sensitive)
