"""Python modules: the file that an import names, and the names in one file.

A module is searched for as Python would: in the folder of the importing file's top package, then in the folders from
the project settings and those above the file, nearest first.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from weft.code.parse.facts import FILE, Binding, FileFacts, Imported
from weft.code.resolve import Project
from weft.code.resolve.tables import FileTable, Tables
from weft.code.resolve.texts import folders_above, shared_folders


class PythonFile(FileTable):
    """The facts of a file, by owner and name."""

    def __init__(self, facts: FileFacts) -> None:
        super().__init__(facts)
        self.properties = _places(facts, "properties")
        overloads = _places(facts, "overloads")
        for key, places in self.members.items():
            if len(places) > 1:
                self.members[key] = _meant(places, self.properties, overloads)
        self._imports: dict[tuple[int, str], list[Imported]] = {}
        self._inner: dict[str, list[Imported]] = {}
        self.stars: list[Imported] = []
        for found in facts.imports:
            if found.name == "*":
                self.stars.append(found)
            else:
                alias = found.alias if found.name else found.alias.partition(".")[0]
                self._imports.setdefault((found.owner, alias), []).append(found)
                if found.owner != FILE:
                    self._inner.setdefault(alias, []).append(found)
        listed = facts.extra.get("all")
        self.exports: frozenset[str] | None = frozenset(listed.split()) if listed else None

    def members_of(self, parent: int, name: str) -> list[int]:
        """The places of the definitions by that name in a class, or at the top level."""
        return self.members.get((parent, name), [])

    def imports(self, owner: int, name: str) -> list[Imported]:
        """The imports that bind a name inside an owner."""
        return self._imports.get((owner, name), [])

    def inner_imports(self, name: str) -> list[Imported]:
        """The imports inside functions that bind a name."""
        return self._inner.get(name, [])

    def bindings(self, owner: int, name: str) -> list[Binding]:
        """The bindings of a name inside an owner."""
        return self.bound.get((owner, name), [])

    def passes_on(self, name: str) -> bool:
        """Whether `import *` imports a name from here."""
        if self.exports is None:
            return not name.startswith("_")
        return name in self.exports or ("*" in self.exports and not name.startswith("_"))

    def place_of(self, key: str) -> int:
        """The place of a definition, by its key; FILE if there is none."""
        return next((place for place, each in enumerate(self.facts.definitions) if each.key == key), FILE)

    def class_around(self, owner: int) -> int:
        """The class that an owner is or is a member of, or FILE."""
        return owner if owner == FILE or self.is_class(owner) else self.facts.definitions[owner].parent


def _places(facts: FileFacts, name: str) -> frozenset[int]:
    return frozenset(map(int, facts.extra.get(name, "").split()))


def _meant(places: list[int], properties: frozenset[int], overloads: frozenset[int]) -> list[int]:
    """Of several definitions by one name: the getter of a property; those that are not overloads; else all."""
    getters = [place for place in places if place in properties]
    if getters:
        return getters[:1]
    return [place for place in places if place not in overloads] or places[:1]


_TABLES: Final = Tables(PythonFile)


class Files:
    """The Python files of a project during one resolution. Each is queried, and so recorded, once."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._asked: dict[str, PythonFile | None] = {}

    def at(self, path: str) -> PythonFile | None:
        if path not in self._asked:
            facts = self.project.facts(path)
            self._asked[path] = self.take(facts) if facts is not None and facts.language == "python" else None
        return self._asked[path]

    def take(self, facts: FileFacts) -> PythonFile:
        return _TABLES.of(self.project, facts)


SETTINGS: Final = ("pyproject.toml", "setup.py", "setup.cfg")
SOURCES: Final = ("src", "lib")  # folders beside the settings that hold packages by convention
MAX_SETTINGS: Final = 40  # files that are read for folders of packages
STANDARD: Final = sys.stdlib_module_names


class ModuleFinder:
    """Finds modules for one importing file."""

    def __init__(self, project: Project, path: str) -> None:
        self._project = project
        self._path = path
        self._own_root = self._top_of(path)
        self._others: tuple[str, ...] | None = None
        self._found: dict[tuple[str, int], str | None] = {}

    def find(self, name: str, level: int = 0) -> str | None:
        """The path of a module's file, or of a namespace package with a trailing slash; None if it is external. `level`
        counts the leading dots.
        """
        key = (name, level)
        if key not in self._found:
            self._found[key] = self._relative(name, level) if level else self._absolute(name)
        return self._found[key]

    def is_outside(self, name: str) -> bool:
        """Whether an absolute name belongs to another package: its first part is not found."""
        return self.find(name.partition(".")[0]) is None

    def below(self, package: str, name: str) -> str | None:
        """A module inside a package that was found."""
        if package.endswith("/"):
            return self._in(package[:-1], [name])
        folder, _, file = package.rpartition("/")
        return self._in(folder, [name]) if file in ("__init__.py", "__init__.pyi") else None

    def _relative(self, name: str, level: int) -> str | None:
        folder = self._path.rpartition("/")[0]
        for _ in range(level - 1):
            if not folder:
                return None
            folder = folder.rpartition("/")[0]
        return self._in(folder, name.split(".") if name else [])

    def _absolute(self, name: str) -> str | None:
        parts = name.split(".")
        fallback = None
        for root in self._all_roots():
            found = self._in(root, parts)
            if found is not None and not found.endswith("/"):
                return found
            if parts[0] in STANDARD:  # only what stands beside the file, or its package, hides the standard library
                return None
            fallback = fallback or found
        return fallback

    def _in(self, folder: str, parts: list[str]) -> str | None:
        """A module by its parts below a folder."""
        exists = self._project.exists
        stem = "/".join([folder, *parts] if folder else parts)
        if parts:
            for suffix in (".py", ".pyi"):
                if exists(stem + suffix):
                    # a package beside a module of the same name comes first
                    package = f"{stem}/__init__{suffix}"
                    return package if exists(package) else stem + suffix
        inside = f"{stem}/" if stem else ""
        for suffix in (".py", ".pyi"):
            if exists(f"{inside}__init__{suffix}"):
                return f"{inside}__init__{suffix}"
        if self._project.folder(stem) or self._project.folders(stem):
            return f"{stem}/"
        return None

    def _top_of(self, path: str) -> str:
        """The folder of a file's top package."""
        folder = path.rpartition("/")[0]
        while folder and (
            self._project.exists(f"{folder}/__init__.py") or self._project.exists(f"{folder}/__init__.pyi")
        ):
            folder = folder.rpartition("/")[0]
        return folder

    def _all_roots(self) -> Iterator[str]:
        yield self._own_root  # the settings are asked for only if a name is not there
        if self._others is None:
            found = dict.fromkeys([*setting_roots(self._project), *folders_above(self._own_root)])
            others = [each for each in found if each != self._own_root]
            self._others = tuple(sorted(others, key=self._distance))  # one project may hold several
        yield from self._others

    def _distance(self, root: str) -> int:
        """The distance of a root: the number of folders it does not share with the file."""
        return -shared_folders(self._path.rpartition("/")[0], root)


def setting_roots(project: Project) -> tuple[str, ...]:
    """The package roots that the project's settings name or imply. Always queried again."""
    paths = [path for name in SETTINGS for path in project.settings(name)][:MAX_SETTINGS]
    roots: dict[str, None] = {}
    for path in paths:
        folder = path.rpartition("/")[0]
        if path.endswith(".toml"):
            roots.update(dict.fromkeys(_joined(folder, each) for each in _named_in(project.text(path) or "")))
        for source in SOURCES:
            beside = _joined(folder, source)
            if project.folders(beside) or project.folder(beside):
                roots[beside] = None
        roots[folder] = None
    return tuple(roots)


@lru_cache(maxsize=MAX_SETTINGS)
def _named_in(text: str) -> tuple[str, ...]:
    """The package roots and test import paths in pyproject.toml."""
    try:
        tool = tomllib.loads(text).get("tool", {})
    except (tomllib.TOMLDecodeError, RecursionError):
        return ()
    found = []
    places = (
        ("setuptools", "packages", "find", "where"),
        ("setuptools", "package-dir", ""),
        ("pytest", "ini_options", "pythonpath"),
        ("poetry", "packages"),
        ("pdm", "build", "package-dir"),
    )
    for place in places:
        value = tool
        for part in place:
            value = value.get(part) if isinstance(value, dict) else None
        for each in value if isinstance(value, list) else [value]:
            named = each.get("from") if isinstance(each, dict) else each
            if isinstance(named, str):
                found.append(named)
    return tuple(found)


def _joined(folder: str, name: str) -> str:
    """A path below a folder, kept inside it."""
    parts = [part for part in (*folder.split("/"), *name.split("/")) if part not in ("", ".", "..")]
    return "/".join(parts)
