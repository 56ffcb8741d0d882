"""Projects and their focus areas, as nodes that are there before anything is written to them."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import asdict

from weft.errors import Invalid
from weft.lexical import name_key
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.loom import Loom
from weft.operations.committing import Committed, commit
from weft.operations.fields import Label, Limit, ScopeAsked
from weft.operations.registry import Operation
from weft.operations.remembered import Remembered
from weft.operations.rights import write_guard
from weft.operations.scoping import (
    FOCUS_KIND,
    PROJECT_KIND,
    find_focus,
    find_project,
    focus_id,
    project_id,
    write_scope,
)
from weft.types import MAX_LIMIT, Find, Guard, NodeVersion, When

LOOKED_THROUGH = 1_000  # of the newest nodes, for projects that nobody made by name
CONTAINS = "CONTAINS"

Description = Annotated[str, Meta(max_length=10_000, description="what it is about")]


class ProjectCreate(Struct, frozen=True, kw_only=True):
    """Input of `project_create`."""

    name: Annotated[Label, Meta(description="the project's name")]
    description: Description = ""
    scope: ScopeAsked = None


def project_create(loom: Loom, given: ProjectCreate) -> Remembered:
    """Makes a project, so that it can be named by those who write. Made again, it keeps what it has.

    A directory is a project by itself: this is for projects elsewhere, and to say what one is about.
    """
    _check_name(given.name)
    known = find_project(loom, given.name)
    if known is not None and given.description in ("", known.text):
        return _there(loom, known)
    node = _project_node(loom, given.name, given.description, known, given.scope)
    return _told(commit(loom, [_asserted(node)]), node.id)


class FocusCreate(Struct, frozen=True, kw_only=True):
    """Input of `focus_create`."""

    name: Annotated[Label, Meta(description="the focus area's name")]
    project: Annotated[Label | None, Meta(description="another project than this directory's")] = None
    description: Description = ""
    scope: ScopeAsked = None


def focus_create(loom: Loom, given: FocusCreate) -> Remembered:
    """Makes a focus area of a project: a part of it that has memories of its own, read before the project's.

    The project must be known; this directory's always is, and is made with its first focus area.
    """
    _check_name(given.name)
    project = write_scope(loom, project=given.project).project
    assert project is not None
    known = find_focus(loom, project, given.name)
    if known is not None and given.description in ("", known.text):
        return _there(loom, known)
    whole = find_project(loom, project)
    made = [] if whole is not None else [_project_node(loom, project, "", None, given.scope)]
    guard = _guard(loom, project, given.scope) if known is None else known.guard
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
    return _told(commit(loom, [_asserted(*made, node, edges=edges)]), node.id)


class ProjectList(Struct, frozen=True, kw_only=True):
    """Input of `project_list`."""

    limit: Limit = 50


class FocusShown(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A focus area."""

    id: str
    name: str
    description: str = ""


class ProjectShown(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A project; `id` is empty where nobody made it by name: it is there because something was written to it."""

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


def project_list(loom: Loom, given: ProjectList) -> ProjectsShown:
    """Lists the projects that you may see, with their focus areas; this directory's is always among them."""
    nodes = loom.store.find(loom.viewer, When(), Find(kinds=(PROJECT_KIND,)), limit=MAX_LIMIT).nodes
    made: dict[str, NodeVersion] = {}
    for node in nodes:
        made.setdefault(node.name, node)
    latest = loom.store.find(loom.viewer, When(), Find(), limit=LOOKED_THROUGH).nodes
    names = {*made, *(node.guard.project for node in latest if node.guard.project)}
    if loom.settings.project:
        names.add(loom.settings.project)
    notes: tuple[str, ...] = ()
    if len(latest) == LOOKED_THROUGH or len(nodes) == MAX_LIMIT:
        notes += ("older projects that nobody made by name may be missing: `weft project-create` makes one",)
    if len(names) > given.limit:
        notes += (f"{given.limit} of {len(names)} projects are shown: raise --limit",)
    shown = sorted(names)[: given.limit]
    focuses = _focuses(loom, [made[name] for name in shown if name in made])
    return ProjectsShown(
        projects=tuple(_shown(loom, name, made.get(name), focuses) for name in shown),
        notes=notes,
    )


def _focuses(loom: Loom, projects: list[NodeVersion]) -> dict[str, tuple[FocusShown, ...]]:
    steps = loom.store.neighbours(
        loom.viewer, When(), [node.id for node in projects], rels=(CONTAINS,), direction="out", limit=MAX_LIMIT
    )
    found: dict[str, tuple[FocusShown, ...]] = {}
    for step in sorted(steps, key=lambda each: each.node.name):
        if step.node.kind == FOCUS_KIND:
            focus = FocusShown(id=step.node.id, name=step.node.name, description=step.node.text)
            found[step.start] = (*found.get(step.start, ()), focus)
    return found


def _shown(loom: Loom, name: str, node: NodeVersion | None, focuses: dict[str, tuple[FocusShown, ...]]) -> ProjectShown:
    last = "" if node is None else node.props.get("last_hygiene_at")
    return ProjectShown(
        name=name,
        id="" if node is None else node.id,
        description="" if node is None else node.text,
        here=name == loom.settings.project,
        last_hygiene_at=last if isinstance(last, str) else "",
        focuses=() if node is None else focuses.get(node.id, ()),
    )


def _project_node(
    loom: Loom, name: str, description: str, known: NodeVersion | None, scope: ScopeAsked
) -> graph.NodeAssertion:
    guard = _guard(loom, name, scope) if known is None else known.guard
    return graph.NodeAssertion(
        id=project_id(name, guard) if known is None else known.id,
        kind=PROJECT_KIND,
        name=name,
        text=description,
        props={} if known is None else dict(known.props),
        **asdict(guard),
    )


def _guard(loom: Loom, project: str, scope: ScopeAsked) -> Guard:
    return write_guard(loom, scope=scope, agents=(), project=project)


def _asserted(*nodes: graph.NodeAssertion, edges: tuple[graph.EdgeAssertion, ...] = ()) -> Draft:
    return Draft(kind="graph.asserted", payload=graph.Asserted(nodes=nodes, edges=edges))


def _check_name(name: str) -> None:
    if not name_key(name):
        raise Invalid(f"{name!r} is no name", hint="it needs at least one letter or digit")


def _there(loom: Loom, node: NodeVersion) -> Remembered:
    citation = loom.store.citations(loom.viewer, [node.event]).get(node.event, "")
    return Remembered(status="duplicate_skip", id=node.id, citation=citation, notes=("it is there already",))


def _told(done: Committed, node_id: str) -> Remembered:
    return Remembered(status=done.status, id=node_id, citation=done.citation, notes=done.notes)


OPERATIONS = (
    Operation(
        name="project_create",
        summary="make a project, so that it can be named by those who write",
        input=ProjectCreate,
        output=Remembered,
        effect="write",
        toolset="memory",
        run=project_create,
        arguments=("name",),
    ),
    Operation(
        name="focus_create",
        summary="make a focus area of a project, with memories of its own",
        input=FocusCreate,
        output=Remembered,
        effect="write",
        toolset="memory",
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
