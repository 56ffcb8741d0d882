"""Which directory the code tools of a caller work on: the process's own, or one that was chosen."""

from __future__ import annotations

import re
from collections.abc import Hashable
from pathlib import Path
from typing import Annotated, Any, Final

from msgspec import Meta, Struct
from msgspec.structs import replace

from weft.config import Effective, Settings, find_root, load_settings, project_name
from weft.errors import Forbidden, Invalid, NotFound, StoreError
from weft.loom import Loom
from weft.operations.paths import read_path
from weft.operations.project_roots import anothers, claim, is_anothers
from weft.operations.registry import Operation
from weft.types import NOW, Find
from weft.workshop import Workspace

HERE: Final = "."
LOOKED_AT: Final = 100  # of the newest files, to tell those that were read from those that came as records
_PATH: Final = re.compile(r"(?<![\w.-])(?:/[^\s:,;'\"()]+){2,}")  # in full


class SetWorkspace(Struct, frozen=True, kw_only=True):
    """Input of `graph_set_workspace`."""

    workspace_root: Annotated[
        str, Meta(min_length=1, max_length=4096, description="a directory; . for the one that weft was started in")
    ]
    project_id: (
        Annotated[str, Meta(min_length=1, max_length=64, description="what to call its project; else as it is called")]
        | None
    ) = None
    source_dir: (
        Annotated[str, Meta(min_length=1, max_length=4096, description="the folder in it that graph_rebuild reads")]
        | None
    ) = None


class WorkspaceSet(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What code tools work on from now on, for this caller and as long as this process runs."""

    summary: str
    workspace: str
    project: str
    source_dir: str = ""
    indexed: bool = False
    watcher: str = "not_started"
    notes: tuple[str, ...] = ()


def workspace_of(loom: Loom) -> Loom:
    """The loom that code tools work with: this one, or one whose root and project are those that its caller chose.

    Raises Forbidden where the project is known to be that of another directory: what was indexed is its code.
    """
    chosen = loom.workshop.chosen(caller_of(loom))
    here = loom if chosen is None else replace(loom, settings=settings_in(loom.settings, chosen))
    key = "own", place_of(here)
    if key not in loom.workshop.kept:
        if is_anothers(here.settings):
            raise anothers(here.settings, told_root(here))
        if loom.workshop.serves:
            loom.workshop.kept[key] = True
    return here


def source_dir_of(loom: Loom) -> str:
    """The folder of the caller's workspace that is to be read; nothing for all of it."""
    chosen = loom.workshop.chosen(caller_of(loom))
    return "" if chosen is None else chosen.source_dir


def caller_of(loom: Loom) -> Hashable:
    """Who chooses: every process has a session of its own, and over HTTP every token and conversation."""
    return loom.settings.store, loom.writer.account, loom.writer.session


def place_of(loom: Loom) -> Hashable:
    """A workspace, for whoever works on it: the same for all callers of one account."""
    return loom.settings.store, loom.writer.account, loom.settings.project, str(loom.settings.root)


def settings_in(settings: Settings, chosen: Workspace) -> Settings:
    """The settings in another workspace. Who is asking and where memories live stay as they are."""
    said: dict[str, Any] = {"project": chosen.project, "ignore": chosen.ignore}
    # As of a directory's own name: one that another directory has is not given to this one.
    origins = {name: Effective(value=value, origin="default") for name, value in said.items()}
    return replace(settings, **said, root=chosen.root, origins={**settings.origins, **origins})


def told_root(loom: Loom) -> str:
    """A workspace as its caller is told it: over the network, not where on the machine it is."""
    root = loom.settings.root
    return root.name or str(root) if loom.workshop.kind == "http" else str(root)


def told_words(loom: Loom, words: str) -> str:
    """What went wrong as a caller is told it: over the network without the paths of this machine."""
    return _PATH.sub("…", words) if loom.workshop.kind == "http" else words


def is_indexed(loom: Loom) -> bool:
    """Whether anything of the project's code was ever read here."""
    find = Find(kinds=("File",), projects=(loom.settings.project,))
    found = loom.store.find(loom.viewer, NOW, find, limit=LOOKED_AT).nodes
    return any("record" not in node.props for node in found)


def graph_set_workspace(loom: Loom, given: SetWorkspace) -> WorkspaceSet:
    """Chooses the directory that code tools work on, for this caller, until another is chosen or the server ends.

    What is remembered stays where it is: only the code graph is another. Over HTTP only the directory that the server
    was started in and those in its setting `workspaces` can be chosen. Where a server watches, it now watches there.
    """
    from weft.operations.watching import ensure_watched, watches

    chosen, notes = _read(loom, given)
    own = loom.settings
    is_own = chosen.root == own.root and chosen.project == own.project and not chosen.source_dir
    there = loom if is_own else replace(loom, settings=settings_in(own, chosen))
    if not is_own:
        claim(there.settings)
    loom.workshop.choose(caller_of(loom), None if is_own else chosen)
    if not loom.workshop.serves:
        notes += ("this holds while the process runs; commands take the directory that they are run in",)
    indexed = is_indexed(there)
    watcher = ensure_watched(there)
    if watcher is None and watches(there):
        notes += ("it is not watched: this server watches as many workspaces as it may",)
    if not indexed:
        notes += ("nothing of it is indexed yet: call graph_rebuild",)
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


def _read(loom: Loom, given: SetWorkspace) -> tuple[Workspace, tuple[str, ...]]:
    """The workspace that is meant, with what there is to say of it."""
    own = loom.settings
    directory = own.root if given.workspace_root == HERE else _directory(loom, given.workspace_root)
    root = find_root(directory)
    if loom.workshop.kind == "http" and root not in _served(own):
        root = directory  # of what lies around it the caller is not told
    _check_allowed(loom, root, given.workspace_root)
    found = own if root == own.root else load_settings(root)
    usual = own.project if root == own.root else _project(found, own, root)
    project = given.project_id or usual
    _check_project(loom, project, usual)
    source_dir = _source_dir(root, given.source_dir)
    notes: tuple[str, ...] = ()
    if root != directory:
        notes = (f"{given.workspace_root} stands in the project at {_shown(loom, root)}: that is the workspace",)
    return Workspace(root=root, project=project, source_dir=source_dir, ignore=found.ignore), notes


def _project(found: Settings, own: Settings, root: Path) -> str:
    """What a directory's own file or name calls it; not what the environment calls the one that this process is in."""
    elsewhere = found.origins["project"].origin == own.origins["project"].origin != "default"
    return project_name(root) if elsewhere else found.project


def _directory(loom: Loom, written: str) -> Path:
    """Raises NotFound, or Invalid for a file. Over HTTP nothing is looked at that could not be chosen."""
    path = read_path(written)
    if not path.is_absolute():
        path = loom.settings.root / path
    try:
        there = path.resolve()
        _check_allowed(loom, there, written)
        if not there.exists():
            raise NotFound(f"there is no directory {written}", hint="give the directory of a project, in full")
        if not there.is_dir():
            raise Invalid(f"{written} is a file", hint="give the directory that it is in")
        next(there.iterdir(), None)
    except (OSError, RuntimeError) as problem:  # resolve() raises RuntimeError for a loop of links
        raise StoreError(f"{written} cannot be read: {problem}", hint="check its name and its rights") from problem
    return there


def _served(settings: Settings) -> tuple[Path, ...]:
    return tuple(path.expanduser().resolve() for path in (settings.root, *map(Path, settings.workspaces)))


def _check_allowed(loom: Loom, path: Path, written: str) -> None:
    """Raises Forbidden for a directory that callers over the network may not choose, be it there or not."""
    if loom.workshop.kind == "http" and not any(path.is_relative_to(each) for each in _served(loom.settings)):
        raise Forbidden(
            f"{written} is not among the workspaces of this server",
            hint='"." is the one that it serves; its operator names others in the setting workspaces',
        )


def _check_project(loom: Loom, project: str, usual: str) -> None:
    """Raises Invalid for what is no name, Forbidden over the network for another than the workspace has."""
    from weft.setting_values import one_name

    try:
        one_name(project)
    except Invalid as problem:
        raise Invalid(f"project_id {problem.message}", hint="letters, digits, dots, - and _") from problem
    if loom.workshop.kind == "http" and project != usual:
        raise Forbidden(f"that workspace is the project {usual}", hint="leave project_id out")


def _source_dir(root: Path, written: str | None) -> str:
    if written is None:
        return ""
    folder = (root / read_path(written)).resolve()
    if not folder.is_relative_to(root.resolve()):
        raise Invalid(f"{written} is outside the workspace", hint="give a folder in it, such as src")
    if not folder.is_dir():
        raise NotFound(f"there is no folder {written} in the workspace", hint="leave source_dir out for all of it")
    below = folder.relative_to(root.resolve()).as_posix()
    return "" if below == "." else below


def _shown(loom: Loom, root: Path) -> str:
    return root.name if loom.workshop.kind == "http" else str(root)


OPERATIONS = (
    Operation(
        name="graph_set_workspace",
        summary="choose the directory that code tools work on",
        input=SetWorkspace,
        output=WorkspaceSet,
        effect="write",
        toolset="code",
        run=graph_set_workspace,
        arguments=("workspace_root",),
    ),
)
