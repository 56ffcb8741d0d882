"""`project_create`, `focus_create`, `project_list`: projects and their focus areas as nodes."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import asdict

from weft.core.errors import Invalid
from weft.core.types import MAX_LIMIT, Find, Guard, NodeVersion, When
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.runtime.call_context import CallContext
from weft.runtime.fields import Label, Limit, ScopeAsked
from weft.runtime.operation import Operation
from weft.text.lexical import name_key
from weft.writing.build.commit import Committed, commit
from weft.writing.checks.rights import write_guard
from weft.writing.checks.scope import (
    FOCUS_KIND,
    PROJECT_KIND,
    find_focus,
    find_project,
    focus_id,
    project_id,
    write_scope,
)
from weft.writing.write_contract import WriteResult

LOOKED_THROUGH = 1_000  # newest nodes, searched for projects that were not created explicitly
CONTAINS = "CONTAINS"

Description = Annotated[str, Meta(max_length=10_000, description="what it is about")]


class ProjectCreate(Struct, frozen=True, kw_only=True):
    """Input of `project_create`."""

    name: Annotated[Label, Meta(description="the project's name")]
    description: Description = ""
    scope: ScopeAsked = None


def project_create(ctx: CallContext, given: ProjectCreate) -> WriteResult:
    """Creates a project, so that writes can name it. An existing project is kept.

    A directory is a project by itself: use this for other projects, or to describe one.
    """
    _check_name(given.name)
    known = find_project(ctx, given.name)
    if known is not None and given.description in ("", known.text):
        return _there(ctx, known)
    node = _project_node(ctx, given.name, given.description, known, given.scope)
    return _told(commit(ctx, [_asserted(node)]), node.id)


class FocusCreate(Struct, frozen=True, kw_only=True):
    """Input of `focus_create`."""

    name: Annotated[Label, Meta(description="the focus area's name")]
    project: Annotated[Label | None, Meta(description="another project than this directory's")] = None
    description: Description = ""
    scope: ScopeAsked = None


def focus_create(ctx: CallContext, given: FocusCreate) -> WriteResult:
    """Creates a focus area: a part of a project with memories of its own, which are read before the project's.

    The project must exist; this directory's always does, and gets a node with its first focus area.
    """
    _check_name(given.name)
    project = write_scope(ctx, project=given.project).project
    assert project is not None
    known = find_focus(ctx, project, given.name)
    if known is not None and given.description in ("", known.text):
        return _there(ctx, known)
    whole = find_project(ctx, project)
    made = [] if whole is not None else [_project_node(ctx, project, "", None, given.scope)]
    guard = _guard(ctx, project, given.scope) if known is None else known.guard
    node = graph.NodeAssertion(
        id=focus_id(project, given.name, guard) if known is None else known.id,
        kind=FOCUS_KIND,
        name=given.name,
        text=given.description,
        props={} if known is None else dict(known.props),
        **asdict(guard),
    )
    above = made[0].id if whole is None else whole.id
    edges = () if known is not None else (graph.EdgeAssertion(src=above, rel=CONTAINS, dst=node.id, **asdict(guard)),)
    return _told(commit(ctx, [_asserted(*made, node, edges=edges)]), node.id)


class ProjectList(Struct, frozen=True, kw_only=True):
    """Input of `project_list`."""

    limit: Limit = 50


class FocusShown(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A focus area."""

    id: str
    name: str
    description: str = ""


class ProjectShown(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A project; `id` is empty if it was not created explicitly but has memories."""

    name: str
    id: str = ""
    description: str = ""
    here: bool = False
    last_hygiene_at: str = ""
    focuses: tuple[FocusShown, ...] = ()


class ProjectsShown(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Projects, by name."""

    projects: tuple[ProjectShown, ...]
    notes: tuple[str, ...] = ()


def project_list(ctx: CallContext, given: ProjectList) -> ProjectsShown:
    """Lists the projects that you may see, with their focus areas; this directory's is always among them."""
    nodes = ctx.store.find(ctx.viewer, When(), Find(kinds=(PROJECT_KIND,)), limit=MAX_LIMIT).nodes
    made: dict[str, NodeVersion] = {}
    for node in nodes:
        made.setdefault(node.name, node)
    latest = ctx.store.find(ctx.viewer, When(), Find(), limit=LOOKED_THROUGH).nodes
    names = {*made, *(node.guard.project for node in latest if node.guard.project)}
    if ctx.settings.project:
        names.add(ctx.settings.project)
    notes: tuple[str, ...] = ()
    if len(latest) == LOOKED_THROUGH or len(nodes) == MAX_LIMIT:
        notes += ("older projects that were not created explicitly may be missing: `weft project-create` creates one",)
    if len(names) > given.limit:
        notes += (f"{given.limit} of {len(names)} projects are shown: raise --limit",)
    shown = sorted(names)[: given.limit]
    focuses = _focuses(ctx, [made[name] for name in shown if name in made])
    return ProjectsShown(
        projects=tuple(_shown(ctx, name, made.get(name), focuses) for name in shown),
        notes=notes,
    )


def _focuses(ctx: CallContext, projects: list[NodeVersion]) -> dict[str, tuple[FocusShown, ...]]:
    steps = ctx.store.neighbours(
        ctx.viewer, When(), [node.id for node in projects], rels=(CONTAINS,), direction="out", limit=MAX_LIMIT
    )
    found: dict[str, tuple[FocusShown, ...]] = {}
    for step in sorted(steps, key=lambda each: each.node.name):
        if step.node.kind == FOCUS_KIND:
            focus = FocusShown(id=step.node.id, name=step.node.name, description=step.node.text)
            found[step.start] = (*found.get(step.start, ()), focus)
    return found


def _shown(
    ctx: CallContext, name: str, node: NodeVersion | None, focuses: dict[str, tuple[FocusShown, ...]]
) -> ProjectShown:
    last = "" if node is None else node.props.get("last_hygiene_at")
    return ProjectShown(
        name=name,
        id="" if node is None else node.id,
        description="" if node is None else node.text,
        here=name == ctx.settings.project,
        last_hygiene_at=last if isinstance(last, str) else "",
        focuses=() if node is None else focuses.get(node.id, ()),
    )


def _project_node(
    ctx: CallContext, name: str, description: str, known: NodeVersion | None, scope: ScopeAsked
) -> graph.NodeAssertion:
    guard = _guard(ctx, name, scope) if known is None else known.guard
    return graph.NodeAssertion(
        id=project_id(name, guard) if known is None else known.id,
        kind=PROJECT_KIND,
        name=name,
        text=description,
        props={} if known is None else dict(known.props),
        **asdict(guard),
    )


def _guard(ctx: CallContext, project: str, scope: ScopeAsked) -> Guard:
    return write_guard(ctx, scope=scope, agents=(), project=project)


def _asserted(*nodes: graph.NodeAssertion, edges: tuple[graph.EdgeAssertion, ...] = ()) -> Draft:
    return Draft(kind="graph.asserted", payload=graph.Asserted(nodes=nodes, edges=edges))


def _check_name(name: str) -> None:
    if not name_key(name):
        raise Invalid(f"{name!r} is not a valid name", hint="use at least one letter or digit")


def _there(ctx: CallContext, node: NodeVersion) -> WriteResult:
    citation = ctx.store.citations(ctx.viewer, [node.event]).get(node.event, "")
    return WriteResult(
        status="duplicate_skip", id=node.id, citation=citation, notes=("nothing was written: it exists already",)
    )


def _told(done: Committed, node_id: str) -> WriteResult:
    return WriteResult(status=done.status, id=node_id, citation=done.citation, notes=done.notes)


OPERATIONS = (
    Operation(
        name="project_create",
        summary="create a project, so that writes can name it",
        input=ProjectCreate,
        output=WriteResult,
        effect="write",
        toolset="memory",
        names=("name",),
        run=project_create,
        arguments=("name",),
    ),
    Operation(
        name="focus_create",
        summary="create a focus area of a project, with memories of its own",
        input=FocusCreate,
        output=WriteResult,
        effect="write",
        toolset="memory",
        names=("name",),
        run=focus_create,
        arguments=("name",),
    ),
    Operation(
        name="project_list",
        summary="list projects and their focus areas",
        input=ProjectList,
        output=ProjectsShown,
        effect="read",
        toolset="memory",
        run=project_list,
    ),
)
