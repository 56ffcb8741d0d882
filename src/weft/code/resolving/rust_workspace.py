"""Rust: which file is which module of which crate; who implements what. Built once for a project, as it is needed.

What is kept here is kept without being asked again. So a resolver asks the project for whatever file an answer comes
from, each time: see `Names`.
"""

from __future__ import annotations

import posixpath
from collections import deque
from typing import Final
from weakref import WeakKeyDictionary

from msgspec import Struct

from weft.code.facts import Imported
from weft.code.resolving import Project
from weft.code.resolving.rust_crates import Crate, Package, bare_package, packages_of
from weft.code.resolving.rust_files import FileNames, Impl

MAX_CRATE_FILES: Final = 20_000
_FOLDER_NAMES: Final = frozenset({"lib.rs", "main.rs", "mod.rs", "build.rs"})


class Place(Struct, frozen=True):
    """A module: a file, and an inline module in it (empty for the file itself)."""

    path: str
    inner: str = ""


class Layout:
    """The modules of one crate: which files they are in, and above each file the module that declares it."""

    def __init__(self, crate: Crate) -> None:
        self.crate = crate
        self.root = Place(crate.root)
        self.above: dict[str, Place] = {}  # by file; the root's has none
        self.below: dict[tuple[str, str], str] = {}  # file and the alias of `mod x;` in it → file
        self.impls: dict[str, list[tuple[str, Impl]]] = {}  # by the type's own name
        self.macros: dict[str, list[tuple[str, str]]] = {}  # files and keys by name

    def holds(self, path: str) -> bool:
        """Whether a file is part of the crate."""
        return path == self.root.path or path in self.above


class Workspace:
    """The crates of a project."""

    def __init__(self, project: Project) -> None:
        self.packages = {each.folder: each for each in packages_of(project)}
        self._layouts: dict[str, Layout] = {}
        self._names: dict[str, FileNames] = {}
        self._owned: dict[str, Layout | None] = {}

    def names(self, project: Project, path: str) -> FileNames | None:
        """A file's names. The project is asked each time."""
        facts = project.facts(path)
        if facts is None or facts.language != "rust":
            return None
        known = self._names.get(path)
        if known is None or known.facts is not facts:
            known = self._names[path] = FileNames(facts)
        return known

    def layout(self, project: Project, crate: Crate) -> Layout:
        """The modules of a crate."""
        known = self._layouts.get(crate.root)
        if known is None:
            known = self._layouts[crate.root] = self._built(project, crate)
        return known

    def crate_at(self, root: str) -> Crate | None:
        """The crate that begins with a file."""
        for package in self.packages.values():
            for crate in package.crates:
                if crate.root == root:
                    return crate
        return None

    def layout_of(self, project: Project, path: str) -> Layout | None:
        """The crate that a file is part of: a library before others."""
        if path not in self._owned:
            self._owned[path] = self._find(project, path)
        return self._owned[path]

    def _find(self, project: Project, path: str) -> Layout | None:
        package = self._package(project, path)
        for crate in package.crates if package is not None else ():
            layout = self.layout(project, crate)
            if layout.holds(path):
                return layout
        return None

    def _package(self, project: Project, path: str) -> Package | None:
        folder = path
        while folder:
            folder = folder.rpartition("/")[0]
            if folder in self.packages:
                return self.packages[folder]
        return bare_package(project, path)

    def _built(self, project: Project, crate: Crate) -> Layout:
        layout = Layout(crate)
        waiting = deque([crate.root])
        while waiting and len(layout.above) < MAX_CRATE_FILES:
            path = waiting.popleft()
            names = self.names(project, path)
            if names is None:
                continue
            for impl in names.impls:
                layout.impls.setdefault(impl.head, []).append((path, impl))
            for macro in names.macros:
                layout.macros.setdefault(macro.rpartition("::")[2], []).append((path, macro))
            for alias, declared in names.submodules.items():
                file = _file_of(project, path, alias, declared, is_root=path == crate.root)
                if file and not layout.holds(file):
                    layout.above[file] = Place(path, alias.rpartition("::")[0])
                    waiting.append(file)
                if file:
                    layout.below[path, alias] = file
        return layout


def _file_of(project: Project, path: str, alias: str, declared: Imported, *, is_root: bool) -> str:
    """The file that `mod x;` names; empty if there is none."""
    folder, _, own = path.rpartition("/")
    given = declared.module.partition("=")[2]
    inner = alias.split("::")[:-1]
    here = folder if is_root or own in _FOLDER_NAMES else posixpath.join(folder, own.removesuffix(".rs"))
    if given:
        candidates = [posixpath.join(folder if not inner else posixpath.join(here, *inner), given)]
    else:
        stem = posixpath.join(here, *inner, declared.name.removeprefix("r#"))
        candidates = [f"{stem}.rs", f"{stem}/mod.rs"]
    for each in map(posixpath.normpath, candidates):
        if project.exists(each):
            return each
    return ""


_WORKSPACES: WeakKeyDictionary[Project, Workspace] = WeakKeyDictionary()


def workspace_of(project: Project) -> Workspace:
    """The crates of a project, known since they were first asked for."""
    known = _WORKSPACES.get(project)
    if known is None:
        known = _WORKSPACES[project] = Workspace(project)
    return known
