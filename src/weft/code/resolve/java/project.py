"""Java's source roots and packages: the file of a class, and the members of its classes."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import Final

from weft.code.parse.facts import CLASS_SORTS, FILE, FileFacts
from weft.code.resolve import Project
from weft.code.resolve.declared import Located
from weft.code.resolve.tables import FileTable, PerProject, Tables
from weft.code.resolve.texts import is_below

SUFFIX: Final = ".java"
MAX_FOLDERS: Final = 20_000  # that are looked at for source roots
MAX_ROOTS: Final = 500
BUILDS: Final = ("pom.xml", "build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts")
STANDARD: Final = ("src/main/java", "src/test/java")


class ClassTable(FileTable):
    """The classes of a file and their methods; the types of a method's parameters (`+` after varargs)."""

    def __init__(self, facts: FileFacts) -> None:
        super().__init__(facts)
        self.classes: dict[tuple[int, str], int] = {}
        self.methods: dict[tuple[int, str], list[int]] = {}
        for key, places in self.members.items():
            classes = [place for place in places if self.is_class(place)]
            if classes:
                self.classes[key] = classes[0]
            self.methods[key] = [place for place in places if not self.is_class(place)] if classes else places
        self.taken: dict[int, tuple[str, ...]] = {}
        for part in facts.extra.get("parameters", "").split(";"):
            place_part, _, types = part.partition("=")
            if place_part:
                self.taken[int(place_part)] = tuple(types.split(",")) if types else ()


_TABLES: Final = Tables(ClassTable)


class _Shared:
    """Values that are computed once per workspace."""

    def __init__(self, project: Project) -> None:
        self.roots: list[str] = []
        self.others: dict[str, dict[str, str]] = {}  # by folder: classes that are not in a file of their name
        self._find_roots(project)

    def _find_roots(self, project: Project) -> None:
        waiting, looked = [""], 0
        packages: list[str] = []  # folders of first parts of packages: below them all is of the same root
        while waiting and looked < MAX_FOLDERS and len(self.roots) < MAX_ROOTS:
            folder = waiting.pop()
            looked += 1
            if any(is_below(folder, each) for each in packages):
                continue
            named = (project.facts(path) for path in project.folder(folder) if path.endswith(SUFFIX))
            facts = next((each for each in named if each is not None), None)
            root = root_of(facts) if facts is not None else None
            if facts is not None and root is not None:
                if root not in self.roots:
                    self.roots.append(root)
                if package := facts.extra.get("package", ""):
                    packages.append(posixpath.join(root, package.partition(".")[0]))
                    continue
            waiting.extend(reversed(project.folders(folder)))


def root_of(facts: FileFacts) -> str | None:
    """The source root of a file; None if its folder does not match its package."""
    folder = posixpath.dirname(facts.path)
    package = facts.extra.get("package", "").replace(".", "/")
    if not package:
        return folder
    if folder == package:
        return ""
    return folder[: -len(package) - 1] if folder.endswith(f"/{package}") else None


_SHARED: Final = PerProject(_Shared)


class Classes:
    """The classes of a project as seen from one file; every lookup is recorded as a query of the project."""

    def __init__(self, project: Project, facts: FileFacts) -> None:
        self._project = project
        self._shared = shared = _SHARED.of(project)
        for name in BUILDS:
            project.settings(name)  # where a module comes, a root may come: then this file is resolved again
        own = root_of(facts)
        first = [root for root in (own, *_beside(own)) if root is not None]
        self.roots = list(dict.fromkeys([*first, *shared.roots]))
        self._own_folder = posixpath.dirname(facts.path)
        self._own_package = facts.extra.get("package", "")
        self._found: dict[tuple[str, str], Located | None] = {}
        self._packages: dict[str, bool] = {}

    def members(self, facts: FileFacts) -> ClassTable:
        return _TABLES.of(self._project, facts)

    def is_package(self, package: str) -> bool:
        """Whether the project has such a package, or one below it."""
        if package not in self._packages:
            path = package.replace(".", "/")
            self._packages[package] = package == self._own_package or any(
                self._project.folder(each) or self._project.folders(each)
                for each in (posixpath.join(root, path) for root in self.roots)
            )
        return self._packages[package]

    def top(self, package: str, name: str) -> Located | None:
        """A top-level class of a package."""
        key = (package, name)
        if key not in self._found:
            self._found[key] = next(self._tops(package, name), None)
        return self._found[key]

    def _tops(self, package: str, name: str) -> Iterator[Located]:
        folders = [posixpath.join(root, package.replace(".", "/")).rstrip("/") for root in self.roots]
        if package == self._own_package:
            folders = list(dict.fromkeys([self._own_folder, *folders]))
        for folder in folders:
            found = self._in_file(posixpath.join(folder, f"{name}{SUFFIX}"), package, name)
            if found is not None:
                yield found
        for folder in folders:
            path = self._other(folder, name)
            found = self._in_file(path, package, name) if path else None
            if found is not None:
                yield found

    def _in_file(self, path: str, package: str, name: str) -> Located | None:
        facts = self._project.facts(path) if self._project.exists(path) else None
        if facts is None or facts.extra.get("package", "") != package:
            return None
        place = self.members(facts).classes.get((FILE, name))
        return Located(facts, place) if place is not None else None

    def _other(self, folder: str, name: str) -> str:
        """The file of a folder that holds a class of another name than its own."""
        paths = self._project.folder(folder)
        others = self._shared.others.get(folder)
        if others is None:
            others = self._shared.others[folder] = {}
            for path in paths:
                facts = self._project.facts(path) if path.endswith(SUFFIX) else None
                for each in facts.definitions if facts is not None else ():
                    if each.parent == FILE and each.sort in CLASS_SORTS:
                        others.setdefault(each.name, path)
        return others.get(name, "")


def _beside(root: str | None) -> list[str]:
    """The parallel source root of a module: main for test, and the reverse."""
    if root is None:
        return []
    for one, other in (STANDARD, STANDARD[::-1]):
        if root == one or root.endswith(f"/{one}"):
            return [root.removesuffix(one) + other]
    return []
