"""Crates and modules of a Rust workspace: Cargo.toml files, module files, and implementations.

Crates and modules are built once per project and stored with the queries that they were built from. Every file that
depends on them repeats these queries, so it is resolved again when an answer changes.
"""

from __future__ import annotations

import posixpath
import tomllib
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, Literal

from msgspec import Struct

from weft.code.parse.facts import FILE, Binding, FileFacts, Imported
from weft.code.resolve import Project
from weft.code.resolve.tables import FileTable, PerProject, Tables
from weft.code.resolve.texts import folders_above, is_below, joined

MAX_CRATE_FILES: Final = 20_000
Ask = tuple[Literal["facts", "exists", "folder", "folders", "text", "settings"], str]


class RecordedProject:
    """A project that records the queries it answers."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self.asks: dict[Ask, None] = {}

    def facts(self, path: str) -> FileFacts | None:
        self.asks["facts", path] = None
        return self._project.facts(path)

    def exists(self, path: str) -> bool:
        self.asks["exists", path] = None
        return self._project.exists(path)

    def folder(self, path: str) -> Sequence[str]:
        self.asks["folder", path] = None
        return self._project.folder(path)

    def folders(self, path: str) -> Sequence[str]:
        self.asks["folders", path] = None
        return self._project.folders(path)

    def text(self, path: str) -> str | None:
        self.asks["text", path] = None
        return self._project.text(path)

    def settings(self, name: str) -> Sequence[str]:
        self.asks["settings", name] = None
        return self._project.settings(name)


def ask_again(project: Project, asks: Iterable[Ask]) -> None:
    """Repeats all recorded queries and ignores the answers."""
    for what, about in asks:
        getattr(project, what)(about)


class Impl(Struct, frozen=True):
    """An implementation: its inline module, its type and trait as written, and its generic parameters."""

    module: str
    type: str
    trait: str
    generics: tuple[tuple[str, str], ...]
    line: int

    @property
    def head(self) -> str:
        """The type's own name."""
        return self.type.partition("<")[0].rpartition("::")[2]


class FileNames(FileTable):
    """The facts of one file, by name. Names in inline modules begin with the module's name."""

    def __init__(self, facts: FileFacts) -> None:
        super().__init__(facts)
        self.modules = frozenset(facts.extra.get("modules", "").split("\n")) - {""}
        self.macros = frozenset(facts.extra.get("macros", "").split("\n")) - {""}
        self.keys: dict[str, list[int]] = {}  # without the counts of keys that come again
        self.imports: dict[str, list[Imported]] = {}
        self.globs: dict[str, list[Imported]] = {}
        self.submodules: dict[str, Imported] = {}
        self.inner_imports: dict[int, list[Imported]] = {}
        self.generics: dict[int, dict[str, str]] = {}
        self.impls: list[Impl] = []
        for place, definition in enumerate(facts.definitions):
            self.keys.setdefault(plain(definition.key), []).append(place)
        for each in facts.imports:
            self._take_import(each)
        for bound in facts.bindings:
            self._take_binding(bound)

    def _take_import(self, each: Imported) -> None:
        if each.owner != FILE:
            self.inner_imports.setdefault(each.owner, []).append(each)
        elif each.module == "mod" or each.module.startswith("mod="):
            self.submodules.setdefault(each.alias, each)
        elif each.name == "*":
            self.globs.setdefault(each.alias.removesuffix("*").removesuffix("::"), []).append(each)
        else:
            self.imports.setdefault(each.alias, []).append(each)

    def _take_binding(self, bound: Binding) -> None:
        if bound.owner == FILE and bound.name == "impl":
            module, kind, trait, generics = [*bound.chain.split("\t"), "", "", ""][:4]
            pairs = [each.partition("=") for each in generics.split(";") if each]
            self.impls.append(Impl(module, kind, trait, tuple((name, to) for name, _, to in pairs), bound.line))
        elif bound.name.startswith("<"):
            self.generics.setdefault(bound.owner, {})[bound.name[1:-1]] = bound.chain

    def module_of(self, place: int) -> str:
        """The inline module of a definition, empty at the top level."""
        if place == FILE or not self.modules:
            return ""
        module = self.facts.definitions[place].key.rpartition("::")[0]
        while module and module not in self.modules:
            module = module.rpartition("::")[0]
        return module

    def methods(self, type_key: str, name: str) -> list[int]:
        """The methods of a type by that name in this file."""
        return [at for at in self.keys.get(f"{type_key}::{name}", ()) if not self.is_class(at)]


_TABLES: Final = Tables(FileNames)


def plain(key: str) -> str:
    """A key without the `~n` of repeated keys."""
    return "::".join(part.partition("~")[0] for part in key.split("::")) if "~" in key else key


MANIFEST: Final = "Cargo.toml"
_DEPENDENCIES: Final = ("dependencies", "dev-dependencies", "build-dependencies")
_FOLDERS: Final = (("bin", "src/bin"), ("test", "tests"), ("example", "examples"), ("bench", "benches"))
_ROOTS: Final = ("src/lib.rs", "src/main.rs", "lib.rs", "main.rs")


class Crate(Struct, frozen=True):
    """A crate: its name in paths, its root file, and the crates it can name (`inside` with their files)."""

    name: str
    root: str
    outside: frozenset[str]
    inside: Mapping[str, str]


class CargoPackage(Struct, frozen=True):
    """A Cargo.toml with a package, and its crates: the library first.

    `needs` are the library's dependencies and the crates that can be named; `roots` the roots of other crates.
    """

    folder: str
    crates: tuple[Crate, ...]
    needs: tuple[Ask, ...] = ()
    roots: tuple[Ask, ...] = ()


class _Manifest(Struct, frozen=True):
    path: str
    folder: str
    data: Mapping[str, Any]


class _Library(Struct, frozen=True):
    """A package's library: its name, and where its root should be."""

    name: str
    root: str


def packages_of(project: Project) -> tuple[CargoPackage, ...]:
    """All packages of the workspace; invalid Cargo.toml files are skipped."""
    manifests = {each.folder: each for path in project.settings(MANIFEST) if (each := _manifest(project, path))}
    libraries = {each.folder: _library(each) for each in manifests.values() if _table(each.data, "package")}
    return tuple(_package(project, manifests[folder], manifests, libraries) for folder in libraries)


def _package(
    project: Project,
    manifest: _Manifest,
    manifests: Mapping[str, _Manifest],
    libraries: Mapping[str, _Library],
) -> CargoPackage:
    needs, roots = RecordedProject(project), RecordedProject(project)
    crates = tuple(_crates(needs, roots, manifest, manifests, libraries))
    return CargoPackage(manifest.folder, crates, tuple(needs.asks), tuple(roots.asks))


def bare_package(project: Project, path: str) -> CargoPackage:
    """The package of a file without any Cargo.toml: the nearest folder above that looks like a crate's, if any."""
    asked = RecordedProject(project)
    for folder in folders_above(path):
        for root in _ROOTS:
            place = joined(folder, root)
            if asked.exists(place):
                return CargoPackage(folder, (Crate("", place, frozenset(), {}),), tuple(asked.asks))
    return CargoPackage("", (), tuple(asked.asks))


def _manifest(project: Project, path: str) -> _Manifest | None:
    try:
        data = tomllib.loads(project.text(path) or "")
    except (tomllib.TOMLDecodeError, RecursionError):
        return None
    return _Manifest(path, path.rpartition("/")[0], data)


def _table(data: Any, *names: str) -> Mapping[str, Any]:
    for name in names:
        data = data.get(name) if isinstance(data, Mapping) else None
    return data if isinstance(data, Mapping) else {}


def _text(table: Mapping[str, Any], name: str) -> str:
    value = table.get(name)
    return value if isinstance(value, str) else ""


def _library(manifest: _Manifest) -> _Library:
    table = _table(manifest.data, "lib")
    name = _text(table, "name") or _text(_table(manifest.data, "package"), "name").replace("-", "_")
    root = joined(manifest.folder, _text(table, "path") or "src/lib.rs")
    return _Library(name, root)


def _crates(
    needs: Project,
    roots: Project,
    manifest: _Manifest,
    manifests: Mapping[str, _Manifest],
    libraries: Mapping[str, _Library],
) -> Iterator[Crate]:
    inside, outside = _named(needs, manifest, manifests, libraries)
    library = libraries[manifest.folder]
    seen = set()
    if needs.exists(library.root):
        yield Crate(library.name, library.root, outside, inside)
        inside = {**inside, library.name: library.root}
        seen.add(library.root)
    for called, path in _other_roots(roots, manifest):
        if path not in seen:
            seen.add(path)
            yield Crate(called.replace("-", "_"), path, outside, inside)


def _other_roots(project: Project, manifest: _Manifest) -> Iterator[tuple[str, str]]:
    """The roots of existing programs, tests, examples, benchmarks and the build script."""
    folder = manifest.folder
    main, script = joined(folder, "src/main.rs"), _text(_table(manifest.data, "package"), "build") or "build.rs"
    if project.exists(main):
        yield _text(_table(manifest.data, "package"), "name"), main
    for table, place in _FOLDERS:
        top = joined(folder, place)
        beside = project.folder(top)
        known = set(beside)  # of these it is asked at once whether they are there
        listed = manifest.data.get(table)
        for each in listed if isinstance(listed, list) else ():
            name, path = (_text(each, "name"), _text(each, "path")) if isinstance(each, Mapping) else ("", "")
            for root in [path] if path else [f"{place}/{name}.rs", f"{place}/{name}/main.rs"]:
                at = joined(folder, root)
                if at in known or project.exists(at):
                    yield name, at
        for path in beside:
            yield path.rpartition("/")[2].removesuffix(".rs"), path
        for below in project.folders(top):
            if project.exists(f"{below}/main.rs"):
                yield below.rpartition("/")[2], f"{below}/main.rs"
    if project.exists(joined(folder, script)):
        yield "build", joined(folder, script)


def _named(
    project: Project,
    manifest: _Manifest,
    manifests: Mapping[str, _Manifest],
    libraries: Mapping[str, _Library],
) -> tuple[dict[str, str], frozenset[str]]:
    """A package's dependencies by name: those of this workspace with their roots, and others."""
    workspace = _workspace(manifest, manifests)
    inside: dict[str, str] = {}
    outside: set[str] = set()
    targets = _table(manifest.data, "target").values()
    for table in (manifest.data, *targets):
        for kind in _DEPENDENCIES:
            for name, given in _table(table, kind).items():
                folder = _folder_of(name, given, manifest, workspace)
                called = name.replace("-", "_")
                if folder is not None:
                    project.text(joined(folder, MANIFEST))
                library = libraries.get(folder) if folder is not None else None
                if library is None or not project.exists(library.root):
                    outside.add(called)
                    continue
                inside[called if _is_renamed(name, given, workspace) else library.name] = library.root
    return inside, frozenset(outside - inside.keys())


def _is_renamed(name: str, given: Any, workspace: _Manifest | None) -> bool:
    """Whether a dependency is renamed here."""
    if not isinstance(given, Mapping):
        return False
    inherited = given.get("workspace") is True and workspace is not None
    table = _table(workspace.data, "workspace", "dependencies").get(name) if inherited and workspace else given
    return isinstance(table, Mapping) and "package" in table


def _workspace(manifest: _Manifest, manifests: Mapping[str, _Manifest]) -> _Manifest | None:
    folder = manifest.folder
    while True:
        found = manifests.get(folder)
        if found is not None and "workspace" in found.data:
            return found
        if not folder:
            return None
        folder = folder.rpartition("/")[0]


def _folder_of(name: str, given: Any, manifest: _Manifest, workspace: _Manifest | None) -> str | None:
    """The folder of a path dependency: given here, in the workspace's table, or by a patch."""
    table: Mapping[str, Any] = given if isinstance(given, Mapping) else {}
    if table.get("workspace") is True and workspace is not None:
        inherited = _table(workspace.data, "workspace", "dependencies").get(name)
        return _folder_of(name, inherited, workspace, None) if inherited is not None else None
    if _text(table, "path"):
        return joined(manifest.folder, _text(table, "path"))
    package = _text(table, "package") or name
    for root in (workspace, manifest):
        for source in _table(root.data, "patch").values() if root is not None else ():
            path = _text(_table(source, package), "path")
            if path and root is not None:
                return joined(root.folder, path)
    return None


_FOLDER_NAMES: Final = frozenset({"lib.rs", "main.rs", "mod.rs", "build.rs"})


class ModulePlace(Struct, frozen=True):
    """A module: a file, and an inline module in it (empty for the file itself)."""

    path: str
    inner: str = ""


class Layout:
    """The modules of one crate: their files, and for each file the module that declares it."""

    def __init__(self, crate: Crate) -> None:
        self.crate = crate
        self.root = ModulePlace(crate.root)
        self.above: dict[str, ModulePlace] = {}  # by file; the root's has none
        self.below: dict[tuple[str, str], str] = {}  # file and the alias of `mod x;` in it → file
        self.tried: dict[tuple[str, str], list[str]] = {}  # the same → where it was looked for
        self._declared: dict[str, tuple[str, str]] = {}  # file → the declaration that makes it part of the crate
        self.impls: dict[str, list[tuple[str, Impl]]] = {}  # by the type's own name
        self.macros: dict[str, list[tuple[str, str]]] = {}  # files and keys by name

    def holds(self, path: str) -> bool:
        return path == self.root.path or path in self.above

    def declare(self, path: str, alias: str, tried: list[str], file: str) -> bool:
        """Records that `mod x;` of a file declares another (none if it is empty); returns whether that is new."""
        self.tried[path, alias] = tried
        if not file:
            return False
        self.below[path, alias] = file
        if self.holds(file):
            return False
        self.above[file] = ModulePlace(path, alias.rpartition("::")[0])
        self._declared[file] = path, alias
        return True

    def place_asks(self, path: str) -> Iterator[Ask]:
        """The queries that decide whether a file is this module: the files above it, and the places searched."""
        declared = self._declared.get(path)
        while declared is not None:
            yield from (("exists", each) for each in self.tried[declared])
            yield "facts", declared[0]
            declared = self._declared.get(declared[0])

    @cached_property
    def table_asks(self) -> tuple[Ask, ...]:
        """The queries that decide which implementations and macros exist: all files, and declared but missing ones.

        Valid once the crate is complete.
        """
        absent = {each for tried in self.tried.values() for each in tried if not self.holds(each)}
        return (*(("facts", each) for each in (self.root.path, *self.above)), *(("exists", each) for each in absent))


class _Owned(Struct, frozen=True):
    """The crate of a file, if any, and the queries that decide it."""

    layout: Layout | None
    asks: tuple[Ask, ...]


class CargoWorkspace:
    """The crates of a project."""

    def __init__(self, project: Project) -> None:
        self.packages = {each.folder: each for each in packages_of(project)}
        self._layouts: dict[str, Layout] = {}
        self._owned: dict[str, _Owned] = {}

    def names(self, project: Project, path: str) -> FileNames | None:
        """The names in a file; always queried from the project."""
        facts = project.facts(path)
        if facts is None or facts.language != "rust":
            return None
        return _TABLES.of(project, facts)

    def layout(self, project: Project, crate: Crate) -> Layout:
        """The modules of a crate."""
        known = self._layouts.get(crate.root)
        if known is None:
            known = self._layouts[crate.root] = self._built(project, crate)
        return known

    def crate_at(self, root: str) -> Crate | None:
        """The crate with this root file."""
        for package in self.packages.values():
            for crate in package.crates:
                if crate.root == root:
                    return crate
        return None

    def layout_of(self, project: Project, path: str) -> Layout | None:
        """The crate that a file is part of, libraries first; the deciding queries are always repeated."""
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
    """The queries that decide the package of a file, and its workspace."""
    yield "settings", MANIFEST
    there = set(project.settings(MANIFEST))
    for folder in folders_above(path):
        manifest = posixpath.join(folder, MANIFEST)
        if manifest in there:
            yield "text", manifest


def _declarer_asks(package: CargoPackage, passed: list[Layout], path: str) -> Iterator[Ask]:
    """The files that may declare a file by its location, existing or not; crate roots first."""
    above = [each for each in folders_above(path) if is_below(each, package.folder)]
    for layout in passed:
        if layout.root.path.rpartition("/")[0] in above:
            yield "facts", layout.root.path
    for folder in above:
        for each in (f"{folder}.rs" if folder else "", posixpath.join(folder, "mod.rs")):
            if each and each != path:
                yield "facts", each


def _sibling_asks(passed: list[Layout], path: str) -> Iterator[Ask]:
    """The crate roots in folders around a file, which may declare it by path (`#[path = "…"] mod x;`)."""
    above = set(folders_above(path))
    for layout in passed:
        yield from (each for each in layout.table_asks if each[1].rpartition("/")[0] in above)


def _places(path: str, alias: str, declared: Imported, *, is_root: bool) -> list[str]:
    """The candidate files of `mod x;`; the first existing one counts."""
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


WORKSPACES: Final = PerProject(CargoWorkspace)
