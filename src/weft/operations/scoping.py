"""Where a read or a write belongs: a project, a focus area of it, or all projects; and what may be done there.

    unresolved         no project is named, here or by the caller
    uncertain          a project or focus area is named that nobody knows
    resolved_project   a project
    resolved_focus     a focus area of a project
    resolved_global    what is kept for all projects

The project of the directory, of `weft.toml` and of WEFT_PROJECT counts as known, so that the first `remember` works
with no set-up; so does the focus area of WEFT_FOCUS. One that an argument names must have been made, or hold something
that the caller may see. Writes need a resolved state. Reads of an unresolved one are empty, of an uncertain one they
reach the project's own level only.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from weft.errors import BlockedScope, Forbidden, Invalid
from weft.loom import Loom
from weft.projection.sentry import needs_approval
from weft.types import SCOPES, Find, Guard, NodeVersion, When

ScopeState = Literal["unresolved", "uncertain", "resolved_project", "resolved_focus", "resolved_global"]
Level = Literal["project", "global"]

PROJECT_KIND = "Project"
FOCUS_KIND = "Focus"


class ScopeFound(Struct, frozen=True, kw_only=True):
    """A place and its state. Where it is not resolved, `problem` says why and `next_step` what to do."""

    state: ScopeState
    project: str | None = None
    focus: str | None = None
    problem: str = ""
    next_step: str = ""

    @property
    def resolved(self) -> bool:
        return self.state.startswith("resolved")


def scope_of(
    loom: Loom, *, project: str | None = None, focus: str | None = None, level: Level = "project"
) -> ScopeFound:
    """The place that a caller names, or this directory's. Raises Invalid for names that contradict each other."""
    if level == "global":
        if project is not None or focus is not None:
            raise Invalid(
                "what is kept for all projects has no project and no focus area",
                hint="leave out project and focus, or give level 'project'",
            )
        return ScopeFound(state="resolved_global")
    here = loom.settings.project
    name = project or here
    if not name:
        return ScopeFound(
            state="unresolved",
            problem="there is no project" if focus is None else f"focus area {focus!r} is named, and no project",
            next_step="name one: as an argument, in weft.toml or as WEFT_PROJECT",
        )
    if name != here and not is_known_project(loom, name):
        return ScopeFound(
            state="uncertain",
            project=name,
            focus=focus,
            problem=f"there is no project {name!r} that you may see",
            next_step=f"`weft project-create {name}` makes it; `weft project-list` lists those there are",
        )
    wanted = focus or (default_focus(loom, name))
    if wanted is None:
        return ScopeFound(state="resolved_project", project=name)
    if wanted != default_focus(loom, name) and find_focus(loom, name, wanted) is None:
        return ScopeFound(
            state="uncertain",
            project=name,
            focus=wanted,
            problem=f"project {name!r} has no focus area {wanted!r} that you may see",
            next_step=f"`weft focus-create {wanted} --project {name}` makes it",
        )
    return ScopeFound(state="resolved_focus", project=name, focus=wanted)


def write_scope(
    loom: Loom, *, project: str | None = None, focus: str | None = None, level: Level = "project"
) -> ScopeFound:
    """The place to write to. Raises BlockedScope, with the next step as its hint, unless it is resolved.

    Raises NeedsApproval for all projects, unless the operator writes or has approved it.
    """
    if level == "global" and loom.viewer.audience == "public":
        raise Forbidden("a public agent may not write for all projects", hint="leave level out")
    found = scope_of(loom, project=project, focus=focus, level=level)
    if level == "global" and not loom.may_write_global:
        raise needs_approval("this would be written for all projects")
    if not found.resolved:
        raise BlockedScope(f"nothing was written: {found.problem}", hint=found.next_step)
    return found


def default_focus(loom: Loom, project: str) -> str | None:
    """The focus area of what is written here, if this is the project it belongs to."""
    return (loom.settings.focus or None) if project == loom.settings.project else None


def is_known_project(loom: Loom, name: str) -> bool:
    """Whether the caller may see a project of that name, or anything in it."""
    if find_project(loom, name) is not None:
        return True
    return bool(loom.store.find(loom.viewer, When(), Find(projects=(name,)), limit=1).nodes)


def find_project(loom: Loom, name: str) -> NodeVersion | None:
    """The node of a project that the caller may see, under the narrowest rights it holds."""
    return _first(loom, [project_id(name, guard) for guard in _guards(loom)])


def find_focus(loom: Loom, project: str, name: str) -> NodeVersion | None:
    """The node of a project's focus area, as `find_project` finds that of a project."""
    return _first(loom, [focus_id(project, name, guard) for guard in _guards(loom)])


def project_id(name: str, guard: Guard) -> str:
    """One node per project and rights: what is kept under other rights neither stands in the way nor shows itself."""
    return f"{_prefix('project', guard)}{name}"


def focus_id(project: str, name: str, guard: Guard) -> str:
    """The same for a focus area."""
    return f"{_prefix('focus', guard)}{project}/{name}"


def _prefix(kind: str, guard: Guard) -> str:
    if guard.scope == "admin" and not guard.agents:
        return f"{kind}:"
    return f"{kind}@{','.join((guard.scope, *guard.agents))}/"


def _guards(loom: Loom) -> list[Guard]:
    """The rights under which the caller could have made a project: by its id it is found at once."""
    held = [scope for scope in reversed(SCOPES) if scope in loom.viewer.scopes]
    tags: list[tuple[str, ...]] = [()] if loom.viewer.agent is None else [(), (loom.viewer.agent,)]
    return [Guard(scope=scope, agents=agents) for scope in held for agents in tags]


def _first(loom: Loom, ids: list[str]) -> NodeVersion | None:
    found = loom.store.nodes(loom.viewer, When(), ids)
    return found[0] if found else None
