"""What a caller may write: a guard of its own making never reaches beyond what the caller may see."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from weft.errors import Forbidden
from weft.loom import Loom
from weft.types import SCOPES, Guard, NodeVersion, Scope


class Rights(Struct, frozen=True, kw_only=True):
    """Who may see what is read again: as `asked` where that is new, else as it is, but for what the call names.

    `scope` and `agents` are those named, if any.
    """

    asked: Guard
    scope: Scope | None = None
    agents: tuple[str, ...] = ()

    def of(self, node: NodeVersion | None) -> Guard:
        """The guard of the next version of a node; of None, which is not there yet, the one asked for."""
        if node is None:
            return self.asked
        return replace(
            node.guard,
            project=self.asked.project,
            scope=self.scope or node.guard.scope,
            agents=self.asked.agents if self.agents else node.guard.agents,
        )

    def change(self, node: NodeVersion | None) -> str:
        """What changes of the rights of a node, in words; nothing where nothing does."""
        if node is None or (after := self.of(node)) == node.guard:
            return ""
        told = []
        if after.scope != node.guard.scope:
            told.append(f"scope from {node.guard.scope} to {after.scope}")
        if after.agents != node.guard.agents:
            told.append(f"agents from {_named(node.guard.agents)} to {_named(after.agents)}")
        return ", ".join(told)


def _named(agents: tuple[str, ...]) -> str:
    return " and ".join(agents) or "all"


def rights_asked(loom: Loom, *, scope: Scope | None, agents: tuple[str, ...]) -> Rights:
    """What a call says of rights. Raises Forbidden for a scope that the caller does not hold."""
    guard = write_guard(loom, scope=scope, agents=agents, project=loom.settings.project)
    return Rights(asked=guard, scope=scope, agents=agents)


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
