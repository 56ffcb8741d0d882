"""The workspace of a caller's code tools: the directory of the process, or a chosen one."""

from __future__ import annotations

import re
from collections.abc import Hashable
from pathlib import Path
from typing import Annotated, Any, Final

from msgspec import Meta, Struct
from msgspec.structs import replace

from weft.core.errors import Forbidden, Invalid, NotFound, StoreError
from weft.core.types import NOW, Find
from weft.files.paths import read_path
from weft.runtime.background import Workspace
from weft.runtime.call_context import CallContext
from weft.runtime.operation import Operation
from weft.runtime.settings.load import Effective, Settings, find_root, load_settings, project_name
from weft.writing.checks.project_roots import anothers, claim, is_anothers

HERE: Final = "."
LOOKED_AT: Final = 100  # of the newest files, to tell those that were read from those that came as records
_PATH: Final = re.compile(r"(?<![\w.-])(?:/[^\s:,;'\"()]+){2,}")  # in full


class SetWorkspace(Struct, frozen=True, kw_only=True):
    """Input of `graph_set_workspace`."""

    workspace_root: Annotated[
        str, Meta(min_length=1, max_length=4096, description="a directory; . for the one in which weft was started")
    ]
    project_id: (
        Annotated[str, Meta(min_length=1, max_length=64, description="the name of its project; by default its own")]
        | None
    ) = None
    source_dir: (
        Annotated[
            str,
            Meta(min_length=1, max_length=4096, description="the folder in it that graph_rebuild reads; all if unset"),
        ]
        | None
    ) = None


class WorkspaceSet(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The workspace, for this caller and as long as this process runs."""

    summary: str
    workspace: str
    project: str
    source_dir: str = ""
    indexed: bool = False
    watcher: str = "not_started"
    notes: tuple[str, ...] = ()


def workspace_of(ctx: CallContext) -> CallContext:
    """The context for code tools: the caller's chosen workspace, or the present one.

    Raises Forbidden if the project is known to belong to another directory: its index is of that directory's code.
    """
    chosen = ctx.background.chosen(caller_of(ctx))
    here = ctx if chosen is None else replace(ctx, settings=settings_in(ctx.settings, chosen))
    key = "own", place_of(here)
    if key not in ctx.background.kept:
        if is_anothers(here.settings):
            raise anothers(here.settings, told_root(here))
        if ctx.background.serves:
            ctx.background.kept[key] = True
    return here


def source_dir_of(ctx: CallContext) -> str:
    """The folder of the caller's workspace to be read; empty for all of it."""
    chosen = ctx.background.chosen(caller_of(ctx))
    return "" if chosen is None else chosen.source_dir


def caller_of(ctx: CallContext) -> Hashable:
    """A key for the caller: one per process, and over HTTP one per token and conversation."""
    return ctx.settings.store, ctx.writer.account, ctx.writer.session


def place_of(ctx: CallContext) -> Hashable:
    """A key for a workspace: the same for all callers of an account."""
    return ctx.settings.store, ctx.writer.account, ctx.settings.project, str(ctx.settings.root)


def settings_in(settings: Settings, chosen: Workspace) -> Settings:
    """The settings in another workspace; caller and store stay the same."""
    said: dict[str, Any] = {"project": chosen.project, "ignore": chosen.ignore}
    # As of a directory's own name: one that another directory has is not given to this one.
    origins = {name: Effective(value=value, origin="default") for name, value in said.items()}
    return replace(settings, **said, root=chosen.root, origins={**settings.origins, **origins})


def told_root(ctx: CallContext) -> str:
    """The workspace as shown to its caller; over the network without its absolute path."""
    root = ctx.settings.root
    return root.name or str(root) if ctx.background.kind == "http" else str(root)


def told_words(ctx: CallContext, words: str) -> str:
    """A message as shown to the caller; over the network without paths of this machine."""
    return _PATH.sub("…", words) if ctx.background.kind == "http" else words


def is_indexed(ctx: CallContext) -> bool:
    """Whether any code of the project was ever indexed here."""
    find = Find(kinds=("File",), projects=(ctx.settings.project,))
    found = ctx.store.find(ctx.viewer, NOW, find, limit=LOOKED_AT).nodes
    return any("record" not in node.props for node in found)


def graph_set_workspace(ctx: CallContext, given: SetWorkspace) -> WorkspaceSet:
    """Chooses the workspace of the code tools for this caller, until another is chosen or the server ends.

    Memories are not affected, only the code graph. Over HTTP, only the directory in which the server was started and
    those of its setting `workspaces` can be chosen. A server that watches files watches the new workspace.
    """
    from weft.code.watch.watch import ensure_watched, watches

    chosen, notes = _read(ctx, given)
    own = ctx.settings
    is_own = chosen.root == own.root and chosen.project == own.project and not chosen.source_dir
    there = ctx if is_own else replace(ctx, settings=settings_in(own, chosen))
    if not is_own:
        claim(there.settings)
    ctx.background.choose(caller_of(ctx), None if is_own else chosen)
    if not ctx.background.serves:
        notes += ("this lasts while the process runs; commands use the directory in which they are run",)
    indexed = is_indexed(there)
    watcher = ensure_watched(there)
    if watcher is None and watches(there):
        notes += ("it is not watched: this server already watches its maximum of workspaces",)
    if not indexed:
        notes += ("nothing is indexed yet: call graph_rebuild",)
    where = told_root(there)
    return WorkspaceSet(
        summary=f"code tools work on {where}, project {chosen.project}",
        workspace=where,
        project=chosen.project,
        source_dir=chosen.source_dir,
        indexed=indexed,
        watcher="not_started" if watcher is None else watcher.state,
        notes=notes,
    )


def _read(ctx: CallContext, given: SetWorkspace) -> tuple[Workspace, tuple[str, ...]]:
    """The requested workspace, and notes on it."""
    own = ctx.settings
    directory = own.root if given.workspace_root == HERE else _directory(ctx, given.workspace_root)
    root = find_root(directory)
    if ctx.background.kind == "http" and root not in _served(own):
        root = directory  # of what lies around it the caller is not told
    _check_allowed(ctx, root, given.workspace_root)
    found = own if root == own.root else load_settings(root)
    usual = own.project if root == own.root else _project(found, own, root)
    project = given.project_id or usual
    _check_project(ctx, project, usual)
    source_dir = _source_dir(root, given.source_dir)
    notes: tuple[str, ...] = ()
    if root != directory:
        notes = (f"{given.workspace_root} is inside the project at {_shown(ctx, root)}, which becomes the workspace",)
    return Workspace(root=root, project=project, source_dir=source_dir, ignore=found.ignore), notes


def _project(found: Settings, own: Settings, root: Path) -> str:
    """The project that a directory's own weft.toml or name gives; the environment, which is about this process, is
    ignored.
    """
    elsewhere = found.origins["project"].origin == own.origins["project"].origin != "default"
    return project_name(root) if elsewhere else found.project


def _directory(ctx: CallContext, written: str) -> Path:
    """The requested directory. Raises NotFound, or Invalid for a file. Over HTTP only permitted directories are looked
    at.
    """
    path = read_path(written)
    if not path.is_absolute():
        path = ctx.settings.root / path
    try:
        there = path.resolve()
        _check_allowed(ctx, there, written)
        if not there.exists():
            raise NotFound(f"there is no directory {written}", hint="give the full path of a project's directory")
        if not there.is_dir():
            raise Invalid(f"{written} is a file", hint="give the directory that it is in")
        next(there.iterdir(), None)
    except (OSError, RuntimeError) as problem:  # resolve() raises RuntimeError for a loop of links
        raise StoreError(f"{written} cannot be read: {problem}", hint="check its name and its rights") from problem
    return there


def _served(settings: Settings) -> tuple[Path, ...]:
    return tuple(path.expanduser().resolve() for path in (settings.root, *map(Path, settings.workspaces)))


def _check_allowed(ctx: CallContext, path: Path, written: str) -> None:
    """Raises Forbidden for a directory that network callers may not choose, whether it exists or not."""
    if ctx.background.kind == "http" and not any(path.is_relative_to(each) for each in _served(ctx.settings)):
        raise Forbidden(
            f"{written} is not a workspace of this server",
            hint='use "." for the served one; its operator adds others to the setting workspaces',
        )


def _check_project(ctx: CallContext, project: str, usual: str) -> None:
    """Raises Invalid for an invalid name, and Forbidden over the network for another project than the workspace's."""
    from weft.runtime.settings.values import one_name

    try:
        one_name(project)
    except Invalid as problem:
        raise Invalid(f"project_id {problem.message}", hint="letters, digits, dots, - and _") from problem
    if ctx.background.kind == "http" and project != usual:
        raise Forbidden(f"that workspace is the project {usual}", hint="leave project_id out")


def _source_dir(root: Path, written: str | None) -> str:
    if written is None:
        return ""
    folder = (root / read_path(written)).resolve()
    if not folder.is_relative_to(root.resolve()):
        raise Invalid(f"{written} is outside the workspace", hint="give a folder in it, such as src")
    if not folder.is_dir():
        raise NotFound(f"the workspace has no folder {written}", hint="leave source_dir out for all of it")
    below = folder.relative_to(root.resolve()).as_posix()
    return "" if below == "." else below


def _shown(ctx: CallContext, root: Path) -> str:
    return root.name if ctx.background.kind == "http" else str(root)


OPERATIONS = (
    Operation(
        name="graph_set_workspace",
        summary="choose the workspace of the code tools",
        input=SetWorkspace,
        output=WorkspaceSet,
        effect="write",
        toolset="code",
        run=graph_set_workspace,
        arguments=("workspace_root",),
    ),
)
