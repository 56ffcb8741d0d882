"""Rust: which file is which module of which crate; who implements what. Built once for a project, as it is needed.

What is kept here is kept with what it rests on, and that is asked again for each file that is resolved: see `Names`.
"""

from __future__ import annotations

import posixpath
from collections import deque
from collections.abc import Iterator
from functools import cached_property
from typing import Final
from weakref import WeakKeyDictionary

from msgspec import Struct

from weft.code.facts import Imported
from weft.code.resolving import Project
from weft.code.resolving.rust_asks import Ask, ask_again
from weft.code.resolving.rust_crates import MANIFEST, Crate, Package, bare_package, folders_above, packages_of
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
        self.tried: dict[tuple[str, str], list[str]] = {}  # the same → where it was looked for
        self._declared: dict[str, tuple[str, str]] = {}  # file → the declaration that makes it part of the crate
        self.impls: dict[str, list[tuple[str, Impl]]] = {}  # by the type's own name
        self.macros: dict[str, list[tuple[str, str]]] = {}  # files and keys by name

    def holds(self, path: str) -> bool:
        """Whether a file is part of the crate."""
        return path == self.root.path or path in self.above

    def declare(self, path: str, alias: str, tried: list[str], file: str) -> bool:
        """Takes in that `mod x;` of a file names another (none if it is empty); whether that is new to the crate."""
        self.tried[path, alias] = tried
        if not file:
            return False
        self.below[path, alias] = file
        if self.holds(file):
            return False
        self.above[file] = Place(path, alias.rpartition("::")[0])
        self._declared[file] = path, alias
        return True

    def place_asks(self, path: str) -> Iterator[Ask]:
        """What decides that a file is this module: the files above it, and where they were looked for."""
        declared = self._declared.get(path)
        while declared is not None:
            yield from (("exists", each) for each in self.tried[declared])
            yield "facts", declared[0]
            declared = self._declared.get(declared[0])

    @cached_property
    def table_asks(self) -> tuple[Ask, ...]:
        """What decides which implementations and macros there are: all files, and those that are declared and absent.

        Read when the crate is complete.
        """
        absent = {each for tried in self.tried.values() for each in tried if not self.holds(each)}
        return (*(("facts", each) for each in (self.root.path, *self.above)), *(("exists", each) for each in absent))


class _Owned(Struct, frozen=True):
    """The crate that a file is part of, if any, and what that rests on."""

    layout: Layout | None
    asks: tuple[Ask, ...]


class Workspace:
    """The crates of a project."""

    def __init__(self, project: Project) -> None:
        self.packages = {each.folder: each for each in packages_of(project)}
        self._layouts: dict[str, Layout] = {}
        self._names: dict[str, FileNames] = {}
        self._owned: dict[str, _Owned] = {}

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
        """The crate that a file is part of: a library before others. What that rests on is asked each time."""
        known = self._owned.get(path)
        if known is None:
            known = self._owned[path] = self._find(project, path)
        ask_again(project, known.asks)
        return known.layout

    def _find(self, project: Project, path: str) -> _Owned:
        package = next((self.packages[each] for each in folders_above(path) if each in self.packages), None)
        if package is None:
            package = bare_package(project, path)
        asks = [*_manifest_asks(project, path), *package.needs]
        passed: list[Layout] = []
        found: Layout | None = None
        for crate in package.crates:
            layout = self.layout(project, crate)
            if layout.holds(path):
                found = layout
                asks += layout.place_asks(path)
                break
            passed.append(layout)
        if passed or found is None:  # another crate may come to hold it
            asks += [*package.roots, *_declarer_asks(package, passed, path)]
        if found is None:
            asks += _sibling_asks(passed, path)
        return _Owned(found, tuple(dict.fromkeys(asks)))

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
                places = _places(path, alias, declared, is_root=path == crate.root)
                file = next((each for each in places if project.exists(each)), "")
                if layout.declare(path, alias, places[: places.index(file) + 1] if file else places, file):
                    waiting.append(file)
        return layout


def _manifest_asks(project: Project, path: str) -> Iterator[Ask]:
    """What decides which package a file is part of, and which workspace that is part of."""
    yield "settings", MANIFEST
    there = set(project.settings(MANIFEST))
    for folder in folders_above(path):
        manifest = posixpath.join(folder, MANIFEST)
        if manifest in there:
            yield "text", manifest


def _declarer_asks(package: Package, passed: list[Layout], path: str) -> Iterator[Ask]:
    """The files that would declare a file by their place, whether they are there or not: those of crates first."""
    above = [each for each in folders_above(path) if _is_in(each, package.folder)]
    for layout in passed:
        if layout.root.path.rpartition("/")[0] in above:
            yield "facts", layout.root.path
    for folder in above:
        for each in (f"{folder}.rs" if folder else "", posixpath.join(folder, "mod.rs")):
            if each and each != path:
                yield "facts", each


def _sibling_asks(passed: list[Layout], path: str) -> Iterator[Ask]:
    """The files of crates, in the folders around a file, that may declare it by a path (`#[path = "…"] mod x;`)."""
    above = set(folders_above(path))
    for layout in passed:
        yield from (each for each in layout.table_asks if each[1].rpartition("/")[0] in above)


def _is_in(path: str, folder: str) -> bool:
    return not folder or path == folder or path.startswith(f"{folder}/")


def _places(path: str, alias: str, declared: Imported, *, is_root: bool) -> list[str]:
    """The files that `mod x;` may mean, the first that is there first."""
    folder, _, own = path.rpartition("/")
    given = declared.module.partition("=")[2]
    inner = alias.split("::")[:-1]
    here = folder if is_root or own in _FOLDER_NAMES else posixpath.join(folder, own.removesuffix(".rs"))
    if given:
        candidates = [posixpath.join(folder if not inner else posixpath.join(here, *inner), given)]
    else:
        stem = posixpath.join(here, *inner, declared.name.removeprefix("r#"))
        candidates = [f"{stem}.rs", f"{stem}/mod.rs"]
    return [posixpath.normpath(each) for each in candidates]


_WORKSPACES: WeakKeyDictionary[Project, Workspace] = WeakKeyDictionary()


def workspace_of(project: Project) -> Workspace:
    """The crates of a project, known since they were first asked for."""
    known = _WORKSPACES.get(project)
    if known is None:
        known = _WORKSPACES[project] = Workspace(project)
    return known
