"""Rust: the crates of a workspace, from its Cargo.toml files: where each begins, and which others it can name."""

from __future__ import annotations

import posixpath
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from weft.code.resolving import Project
from weft.code.resolving.rust_asks import Ask, Noted

MANIFEST: Final = "Cargo.toml"
_DEPENDENCIES: Final = ("dependencies", "dev-dependencies", "build-dependencies")
_FOLDERS: Final = (("bin", "src/bin"), ("test", "tests"), ("example", "examples"), ("bench", "benches"))
_ROOTS: Final = ("src/lib.rs", "src/main.rs", "lib.rs", "main.rs")


class Crate(Struct, frozen=True):
    """A crate: its name as paths write it, its first file, the crates that it can name (`inside` with their files)."""

    name: str
    root: str
    manifest: str
    outside: frozenset[str]
    inside: Mapping[str, str]


class Package(Struct, frozen=True):
    """A Cargo.toml with a package in it, and its crates: the library first.

    `needs` is what the library rests on, and which crates can be named; `roots` what else is a crate.
    """

    manifest: str
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


def packages_of(project: Project) -> tuple[Package, ...]:
    """All packages of the workspace; a Cargo.toml that cannot be read is none."""
    manifests = {each.folder: each for path in project.settings(MANIFEST) if (each := _manifest(project, path))}
    libraries = {each.folder: _library(each) for each in manifests.values() if _table(each.data, "package")}
    return tuple(_package(project, manifests[folder], manifests, libraries) for folder in libraries)


def _package(
    project: Project,
    manifest: _Manifest,
    manifests: Mapping[str, _Manifest],
    libraries: Mapping[str, _Library],
) -> Package:
    needs, roots = Noted(project), Noted(project)
    crates = tuple(_crates(needs, roots, manifest, manifests, libraries))
    return Package(manifest.path, manifest.folder, crates, tuple(needs.asks), tuple(roots.asks))


def bare_package(project: Project, path: str) -> Package:
    """What a file without any Cargo.toml belongs to: the nearest folder above that looks like a crate's, if any."""
    asked = Noted(project)
    for folder in folders_above(path):
        for root in _ROOTS:
            place = _below(folder, root)
            if asked.exists(place):
                return Package("", folder, (Crate("", place, "", frozenset(), {}),), tuple(asked.asks))
    return Package("", "", (), tuple(asked.asks))


def folders_above(path: str) -> Iterator[str]:
    """The folders that a file is in, the nearest first; the last is the root, an empty path."""
    while path:
        path = path.rpartition("/")[0]
        yield path


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


def _below(folder: str, path: str) -> str:
    made = posixpath.normpath(posixpath.join(folder, path))
    return "" if made == "." else made


def _library(manifest: _Manifest) -> _Library:
    table = _table(manifest.data, "lib")
    name = _text(table, "name") or _text(_table(manifest.data, "package"), "name").replace("-", "_")
    root = _below(manifest.folder, _text(table, "path") or "src/lib.rs")
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
        yield Crate(library.name, library.root, manifest.path, outside, inside)
        inside = {**inside, library.name: library.root}
        seen.add(library.root)
    for called, path in _other_roots(roots, manifest):
        if path not in seen:
            seen.add(path)
            yield Crate(called.replace("-", "_"), path, manifest.path, outside, inside)


def _other_roots(project: Project, manifest: _Manifest) -> Iterator[tuple[str, str]]:
    """Programs, tests, examples, benchmarks and the build script, as far as they are there."""
    folder = manifest.folder
    main, script = _below(folder, "src/main.rs"), _text(_table(manifest.data, "package"), "build") or "build.rs"
    if project.exists(main):
        yield _text(_table(manifest.data, "package"), "name"), main
    for table, place in _FOLDERS:
        top = _below(folder, place)
        beside = project.folder(top)
        known = set(beside)  # of these it is asked at once whether they are there
        listed = manifest.data.get(table)
        for each in listed if isinstance(listed, list) else ():
            name, path = (_text(each, "name"), _text(each, "path")) if isinstance(each, Mapping) else ("", "")
            for root in [path] if path else [f"{place}/{name}.rs", f"{place}/{name}/main.rs"]:
                at = _below(folder, root)
                if at in known or project.exists(at):
                    yield name, at
        for path in beside:
            yield path.rpartition("/")[2].removesuffix(".rs"), path
        for below in project.folders(top):
            if project.exists(f"{below}/main.rs"):
                yield below.rpartition("/")[2], f"{below}/main.rs"
    if project.exists(_below(folder, script)):
        yield "build", _below(folder, script)


def _named(
    project: Project,
    manifest: _Manifest,
    manifests: Mapping[str, _Manifest],
    libraries: Mapping[str, _Library],
) -> tuple[dict[str, str], frozenset[str]]:
    """The crates that a package depends on: those of this workspace with their roots, the others by name."""
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
                    project.text(_below(folder, MANIFEST))
                library = libraries.get(folder) if folder is not None else None
                if library is None or not project.exists(library.root):
                    outside.add(called)
                    continue
                inside[called if _is_renamed(name, given, workspace) else library.name] = library.root
    return inside, frozenset(outside - inside.keys())


def _is_renamed(name: str, given: Any, workspace: _Manifest | None) -> bool:
    """Whether a dependency goes by the name it is given here, and not by that of its library."""
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
    """The folder of a dependency that is given by its path: here, in the workspace's table, or by a patch."""
    table: Mapping[str, Any] = given if isinstance(given, Mapping) else {}
    if table.get("workspace") is True and workspace is not None:
        inherited = _table(workspace.data, "workspace", "dependencies").get(name)
        return _folder_of(name, inherited, workspace, None) if inherited is not None else None
    if _text(table, "path"):
        return _below(manifest.folder, _text(table, "path"))
    package = _text(table, "package") or name
    for root in (workspace, manifest):
        for source in _table(root.data, "patch").values() if root is not None else ():
            path = _text(_table(source, package), "path")
            if path and root is not None:
                return _below(root.folder, path)
    return None
