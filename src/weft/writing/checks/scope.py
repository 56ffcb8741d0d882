"""Resolution of the project and focus area that a call reads or writes.

    unresolved         no project is named, here or by the caller
    uncertain          the named project or focus area does not exist
    resolved_project   a project
    resolved_focus     a focus area of a project
    resolved_global    nodes for all projects

The project of the directory, of `weft.toml` and of WEFT_PROJECT always exists, so that the first `remember` needs no
set-up; so does the focus area of WEFT_FOCUS. One named in an argument must have been created, or hold something that
the caller may see. Writes need a resolved state. Reads of an unresolved scope are empty; of an uncertain one they reach
the project level only.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from weft.core.errors import BlockedScope, Forbidden, Invalid
from weft.core.types import SCOPES, Find, Guard, NodeVersion, When
from weft.graph.global_changes import needs_approval
from weft.runtime.call_context import CallContext

ScopeState = Literal["unresolved", "uncertain", "resolved_project", "resolved_focus", "resolved_global"]
Level = Literal["project", "global"]

PROJECT_KIND = "Project"
FOCUS_KIND = "Focus"


class ResolvedScope(Struct, frozen=True, kw_only=True):
    """A project and focus area, and the state. If not resolved, `problem` says why and `next_step` what to do."""

    state: ScopeState
    project: str | None = None
    focus: str | None = None
    problem: str = ""
    next_step: str = ""

    @property
    def resolved(self) -> bool:
        return self.state.startswith("resolved")


def scope_of(
    ctx: CallContext, *, project: str | None = None, focus: str | None = None, level: Level = "project"
) -> ResolvedScope:
    """The scope that a caller names, or this directory's. Raises Invalid for contradicting names."""
    if level == "global":
        if project is not None or focus is not None:
            raise Invalid(
                "level 'global' is for all projects and takes neither project nor focus",
                hint="omit project and focus, or give level 'project'",
            )
        return ResolvedScope(state="resolved_global")
    here = ctx.settings.project
    name = project or here
    if not name:
        return ResolvedScope(
            state="unresolved",
            problem="no project is set" if focus is None else f"focus area {focus!r} was given without a project",
            next_step="name a project: as an argument, in weft.toml or as WEFT_PROJECT",
        )
    if name != here and not is_known_project(ctx, name):
        return ResolvedScope(
            state="uncertain",
            project=name,
            focus=focus,
            problem=f"there is no project {name!r} that you may see",
            next_step=f"`weft project-create {name}` creates it; `weft project-list` lists the existing ones",
        )
    wanted = focus or (default_focus(ctx, name))
    if wanted is None:
        return ResolvedScope(state="resolved_project", project=name)
    if wanted != default_focus(ctx, name) and find_focus(ctx, name, wanted) is None:
        return ResolvedScope(
            state="uncertain",
            project=name,
            focus=wanted,
            problem=f"project {name!r} has no focus area {wanted!r} that you may see",
            next_step=f"`weft focus-create {wanted} --project {name}` creates it",
        )
    return ResolvedScope(state="resolved_focus", project=name, focus=wanted)


def write_scope(
    ctx: CallContext, *, project: str | None = None, focus: str | None = None, level: Level = "project"
) -> ResolvedScope:
    """The scope to write to. Raises BlockedScope, with the next step as its hint, unless it is resolved.

    Raises NeedsApproval for all projects, unless the operator writes or has approved it.
    """
    if level == "global" and ctx.viewer.audience == "public":
        raise Forbidden("a public agent may not write for all projects", hint="omit level")
    found = scope_of(ctx, project=project, focus=focus, level=level)
    if level == "global" and not ctx.may_write_global:
        raise needs_approval("this is a write for all projects")
    if not found.resolved:
        raise BlockedScope(f"nothing was written: {found.problem}", hint=found.next_step)
    return found


def default_focus(ctx: CallContext, project: str) -> str | None:
    """The default focus area, if this is the project it belongs to."""
    return (ctx.settings.focus or None) if project == ctx.settings.project else None


def is_known_project(ctx: CallContext, name: str) -> bool:
    """Whether the caller may see a project of that name, or anything in it."""
    if find_project(ctx, name) is not None:
        return True
    return bool(ctx.store.find(ctx.viewer, When(), Find(projects=(name,)), limit=1).nodes)


def find_project(ctx: CallContext, name: str) -> NodeVersion | None:
    """The node of a project that the caller may see, with the narrowest rights that it holds."""
    return _first(ctx, [project_id(name, guard) for guard in _guards(ctx)])


def find_focus(ctx: CallContext, project: str, name: str) -> NodeVersion | None:
    """The node of a focus area, found like that of a project."""
    return _first(ctx, [focus_id(project, name, guard) for guard in _guards(ctx)])


def project_id(name: str, guard: Guard) -> str:
    """One node per project and rights: nodes under other rights are neither found nor in the way."""
    return f"{_prefix('project', guard)}{name}"


def focus_id(project: str, name: str, guard: Guard) -> str:
    """One node per focus area and rights."""
    return f"{_prefix('focus', guard)}{project}/{name}"


def _prefix(kind: str, guard: Guard) -> str:
    if guard.scope == "admin" and not guard.agents:
        return f"{kind}:"
    return f"{kind}@{','.join((guard.scope, *guard.agents))}/"


def _guards(ctx: CallContext) -> list[Guard]:
    """The rights under which the caller could have created a project, by whose ids it is looked up."""
    held = [scope for scope in reversed(SCOPES) if scope in ctx.viewer.scopes]
    tags: list[tuple[str, ...]] = [()] if ctx.viewer.agent is None else [(), (ctx.viewer.agent,)]
    return [Guard(scope=scope, agents=agents) for scope in held for agents in tags]


def _first(ctx: CallContext, ids: list[str]) -> NodeVersion | None:
    found = ctx.store.nodes(ctx.viewer, When(), ids)
    return found[0] if found else None
