"""Go modules and packages: the folder of an import path, and the definitions of a folder's files."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from weft.code.parse.facts import CLASS_SORTS, FILE, Binding, FileFacts
from weft.code.parse.readers.go.builds import is_plain
from weft.code.resolve import Project
from weft.code.resolve.declared import Located
from weft.code.resolve.tables import PerProject
from weft.code.resolve.texts import is_below, shared_folders

MOD: Final = "go.mod"
MAX_MODULES: Final = 500  # of one workspace
MAX_KEPT: Final = 500  # packages that stay in memory
_MODULE: Final = re.compile(r'^\s*module\s+"?([^\s"]+)"?', re.MULTILINE)
_REPLACE: Final = re.compile(
    r'^\s*(?:replace\s+)?"?([^\s"()]+)"?(?:\s+v\S+)?\s*=>\s*"?(\.{1,2}/[^\s"]*|\.{1,2})"?\s*(?://.*)?$', re.M
)


class TypedName(NamedTuple):
    """The binding of a variable, a field or a type, and its file."""

    facts: FileFacts
    binding: Binding


class GoPackage:
    """The definitions of a package's files, those of a default build first."""

    def __init__(self, files: Sequence[FileFacts]) -> None:
        self.files = files = sorted(files, key=lambda each: not is_plain(build_of(each)))
        self.tops: dict[str, list[Located]] = {}
        self.members: dict[str, list[Located]] = {}  # `T::method`
        self.fields: dict[str, TypedName] = {}  # `T::field`; `T::=` and `T::==` are what a type or an alias stands for
        self.variables: dict[str, TypedName] = {}
        self.methods: dict[str, list[str]] = {}  # the names of a type's methods
        self.parameters: dict[str, str] = {}  # of methods
        for facts in files:
            self._take(facts)

    def _take(self, facts: FileFacts) -> None:
        for place, each in enumerate(facts.definitions):
            owner, _, name = each.key.partition("~")[0].rpartition("::")
            if name in ("_", "init") and not owner:
                continue
            if owner:
                self.members.setdefault(f"{owner}::{name}", []).append(Located(facts, place))
                self.methods.setdefault(owner, []).append(name)
            else:
                self.tops.setdefault(name, []).append(Located(facts, place))
        for bound in facts.bindings:
            if bound.owner == FILE:
                self.variables.setdefault(bound.name, TypedName(facts, bound))
            elif (holder := facts.definitions[bound.owner]).sort in CLASS_SORTS:
                self.fields.setdefault(f"{holder.name}::{bound.name}", TypedName(facts, bound))
        for line in facts.extra.get("parameters", "").split("\n"):
            name, _, types = line.partition("=")
            self.parameters.setdefault(name, types)


def package_name(facts: FileFacts) -> str:
    """The package name in a file's package clause."""
    return facts.extra.get("package", "")


def build_of(facts: FileFacts) -> str:
    """The build constraint of a file."""
    return facts.extra.get("build", "")


def nearest(found: list[Located], facts: FileFacts) -> list[Located]:
    """Of definitions by one name (one per platform), those that a file means: its own, those built with it, those of a
    default build; else all.
    """
    if len(found) == 1:
        return found
    own = [each for each in found if each.facts.path == facts.path]
    same = [each for each in found if build_of(each.facts) == build_of(facts)]
    return own or same or [each for each in found if is_plain(build_of(each.facts))] or found


class GoModules:
    """The modules of a workspace, from its go.mod files, without vendored ones."""

    def __init__(self, project: Project) -> None:
        self._folders: dict[str, list[str]] = {}  # by the path of the module: copies have the same
        self._replaced: list[tuple[str, str, str]] = []  # below which folder, which module, by which folder
        for path in mod_files(project):
            text = project.text(path) or ""
            folder = posixpath.dirname(path)
            if found := _MODULE.search(text):
                self._folders.setdefault(found[1], []).append(folder)
            for module, to in _REPLACE.findall(text):
                into = posixpath.normpath(posixpath.join(folder, to))
                if not into.startswith(".."):
                    self._replaced.append((folder, module, "" if into == "." else into))

    def folder(self, path: str, importer: str) -> str | None:
        """The folder of an import path as seen from a file, None for an external one."""
        if path.startswith(("./", "../")):
            return posixpath.normpath(posixpath.join(posixpath.dirname(importer), path)).removeprefix("./")
        found = max((each for each in self._folders if is_below(path, each)), key=len, default=None)
        if found is not None:
            folder = max(self._folders[found], key=lambda each: shared_folders(each, importer))
            return posixpath.join(folder, path[len(found) + 1 :]).rstrip("/")
        for folder, module, into in self._replaced:
            if is_below(path, module) and is_below(importer, folder):
                return posixpath.join(into, path[len(module) + 1 :]).rstrip("/")
        return None


def mod_files(project: Project) -> Sequence[str]:
    """The relevant go.mod files, the shortest path first."""
    found = [each for each in project.settings(MOD) if not f"/{each}".count("/vendor/")]
    return found[:MAX_MODULES]


class _Shared:
    """Values that are computed once per workspace."""

    def __init__(self, project: Project) -> None:
        self.modules = GoModules(project)
        self.packages: dict[tuple[str, str, bool], GoPackage] = {}


_SHARED: Final = PerProject(_Shared)


class Packages:
    """Packages as seen from one file; every lookup is recorded as a query of the project."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._asked: dict[str, list[FileFacts]] = {}
        self._shared = _SHARED.of(project)
        for path in mod_files(project):
            project.text(path)

    def folder(self, path: str, importer: str) -> str | None:
        """The folder of an import path as seen from a file, if it holds Go files."""
        folder = self._shared.modules.folder(path, importer)
        return folder if folder is not None and self._files(folder) else None

    def importable(self, folder: str, *, tests: bool) -> GoPackage | None:
        names = [package_name(each) for each in self._files(folder) if not each.path.endswith("_test.go")]
        names = [each for each in names if each != "main"] or names
        return self.package(folder, names[0], tests=tests) if names else None

    def of(self, facts: FileFacts) -> GoPackage:
        """The package that a file belongs to, as the file sees it."""
        folder = posixpath.dirname(facts.path)
        return self.package(folder, package_name(facts), tests=facts.path.endswith("_test.go"))

    def package(self, folder: str, name: str, *, tests: bool) -> GoPackage:
        """A package by its folder and name, with its tests or without."""
        files = self._files(folder)
        found = self._shared.packages.get((folder, name, tests))
        if found is None:
            found = GoPackage(
                [e for e in files if package_name(e) == name and (tests or not e.path.endswith("_test.go"))]
            )
            self._shared.packages[folder, name, tests] = found
            if len(self._shared.packages) > MAX_KEPT:
                del self._shared.packages[next(iter(self._shared.packages))]
        return found

    def _files(self, folder: str) -> list[FileFacts]:
        files = self._asked.get(folder)
        if files is None:
            paths = [path for path in self._project.folder(folder) if path.endswith(".go")]
            files = [facts for path in paths if (facts := self._project.facts(path)) is not None]
            self._asked[folder] = files
        return files
