"""Rust: the crates of a workspace, from its Cargo.toml files: where each begins, and which others it can name."""

from __future__ import annotations

import posixpath
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from weft.code.resolving import Project

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
    """A Cargo.toml with a package in it, and its crates: the library first."""

    manifest: str
    folder: str
    crates: tuple[Crate, ...]


class _Manifest(Struct, frozen=True):
    path: str
    folder: str
    data: Mapping[str, Any]


def packages_of(project: Project) -> tuple[Package, ...]:
    """All packages of the workspace; a Cargo.toml that cannot be read is none."""
    manifests = {each.folder: each for path in project.settings(MANIFEST) if (each := _manifest(project, path))}
    libraries = {each.folder: _library(project, each) for each in manifests.values() if _table(each.data, "package")}
    return tuple(
        Package(each.path, each.folder, tuple(_crates(project, each, manifests, libraries)))
        for each in manifests.values()
        if _table(each.data, "package")
    )


def bare_package(project: Project, path: str) -> Package | None:
    """What a file without any Cargo.toml belongs to: the nearest folder above that looks like a crate's."""
    folder = path
    while folder:
        folder = folder.rpartition("/")[0]
        for root in _ROOTS:
            place = _below(folder, root)
            if project.exists(place):
                return Package("", folder, (Crate("", place, "", frozenset(), {}),))
    return None


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


def _library(project: Project, manifest: _Manifest) -> tuple[str, str]:
    """The library's name and root; an empty root without one."""
    table = _table(manifest.data, "lib")
    name = _text(table, "name") or _text(_table(manifest.data, "package"), "name").replace("-", "_")
    root = _below(manifest.folder, _text(table, "path") or "src/lib.rs")
    return name, root if project.exists(root) else ""


def _crates(
    project: Project,
    manifest: _Manifest,
    manifests: Mapping[str, _Manifest],
    libraries: Mapping[str, tuple[str, str]],
) -> Iterator[Crate]:
    inside, outside = _named(manifest, manifests, libraries)
    name, root = libraries[manifest.folder]
    if root:
        yield Crate(name, root, manifest.path, outside, inside)
        inside = {**inside, name: root}
    seen = {root}
    for called, path in _other_roots(project, manifest):
        if path not in seen and project.exists(path):
            seen.add(path)
            yield Crate(called.replace("-", "_"), path, manifest.path, outside, inside)


def _other_roots(project: Project, manifest: _Manifest) -> Iterator[tuple[str, str]]:
    """Programs, tests, examples, benchmarks and the build script, as far as they are there."""
    folder = manifest.folder
    yield _text(_table(manifest.data, "package"), "name"), _below(folder, "src/main.rs")
    for table, place in _FOLDERS:
        listed = manifest.data.get(table)
        for each in listed if isinstance(listed, list) else ():
            name, path = (_text(each, "name"), _text(each, "path")) if isinstance(each, Mapping) else ("", "")
            for root in [path] if path else [f"{place}/{name}.rs", f"{place}/{name}/main.rs"]:
                yield name, _below(folder, root)
        top = _below(folder, place)
        for path in project.folder(top):
            yield path.rpartition("/")[2].removesuffix(".rs"), path
        for below in project.folders(top):
            yield below.rpartition("/")[2], f"{below}/main.rs"
    yield "build", _below(folder, _text(_table(manifest.data, "package"), "build") or "build.rs")


def _named(
    manifest: _Manifest, manifests: Mapping[str, _Manifest], libraries: Mapping[str, tuple[str, str]]
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
                library = libraries.get(folder) if folder is not None else None
                if library is None or not library[1]:
                    outside.add(called)
                    continue
                renamed = isinstance(given, Mapping) and "package" in given
                inside[called if renamed else library[0]] = library[1]
    return inside, frozenset(outside - inside.keys())


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
