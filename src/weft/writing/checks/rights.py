"""The rights of a write: its guard never reaches beyond what the caller may see."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from weft.core.errors import Forbidden
from weft.core.types import SCOPES, Guard, NodeVersion, Scope
from weft.runtime.call_context import CallContext


class Rights(Struct, frozen=True, kw_only=True):
    """The guard of a re-read source: as `asked` for new nodes, else the existing one with the changes that the call
    names.

    `scope` and `agents` are those named in the call, if any.
    """

    asked: Guard
    scope: Scope | None = None
    agents: tuple[str, ...] = ()

    def of(self, node: NodeVersion | None) -> Guard:
        """The guard of a node's next version; for None, a new node, the one asked for."""
        if node is None:
            return self.asked
        return replace(
            node.guard,
            project=self.asked.project,
            scope=self.scope or node.guard.scope,
            agents=self.asked.agents if self.agents else node.guard.agents,
        )

    def change(self, node: NodeVersion | None) -> str:
        """The changes of a node's rights in words; empty if there are none."""
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


def rights_asked(ctx: CallContext, *, scope: Scope | None, agents: tuple[str, ...]) -> Rights:
    """The rights that a call asks for. Raises Forbidden for a scope that the caller does not hold."""
    guard = write_guard(ctx, scope=scope, agents=agents, project=ctx.settings.project)
    return Rights(asked=guard, scope=scope, agents=agents)


def write_guard(
    ctx: CallContext, *, scope: Scope | None, agents: tuple[str, ...], sensitive: bool = False, project: str | None
) -> Guard:
    """The guard of what this caller writes, by default with its narrowest scope.

    A caller that sees only nodes tagged for it tags what it writes. Raises Forbidden for a scope that it does not hold.
    """
    held = [each for each in reversed(SCOPES) if each in ctx.viewer.scopes]
    chosen = scope or next(iter(held), None)
    if chosen is None or chosen not in held:
        raise Forbidden(
            f"you may not write with scope {chosen}",
            hint=f"you hold {', '.join(held) or 'no scope'}; omit the scope, or ask the operator for more",
        )
    own = {ctx.viewer.agent} if ctx.viewer.tagged_only and ctx.viewer.agent else set()
    return Guard(project=project, scope=chosen, agents=tuple(sorted({*agents, *own})), sensitive=sensitive)
