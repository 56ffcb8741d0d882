"""JavaScript and TypeScript: what package.json, tsconfig.json and pnpm-workspace.yaml say of modules."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any, Final
from weakref import WeakKeyDictionary

from msgspec import Struct

from weft.code.resolving import Project

MAX_SETTINGS_CHARACTERS: Final = 1_000_000
MAX_EXTENDS: Final = 8
MAX_PACKAGES: Final = 5_000
_CONFIGS: Final = ("tsconfig.json", "jsconfig.json")


class Paths(Struct, frozen=True):
    """What a configuration says of module names: where they begin, and which patterns stand for what."""

    folder: str | None = None  # `baseUrl`, as a folder of the project
    patterns: tuple[tuple[str, tuple[str, ...]], ...] = ()  # with the folders that they stand for
    outputs: tuple[tuple[str, str], ...] = ()  # compiled folder, and the folder that it is compiled from


class Package(Struct, frozen=True):
    """A package of the project: its folder, and its package.json."""

    folder: str
    says: Mapping[str, Any]


def joined(folder: str, path: str) -> str:
    """A path below a folder, without dots; it begins with `..` if it leads out of the project."""
    made = posixpath.normpath(posixpath.join(folder, path))
    return "" if made == "." else made


def above(folder: str) -> Iterator[str]:
    """A folder and those around it, up to the project's own."""
    yield folder
    while folder:
        folder = folder.rpartition("/")[0]
        yield folder


@lru_cache(maxsize=1_024)
def loose_json(text: str) -> Mapping[str, Any]:
    """A JSON object that may have comments and trailing commas; empty if it is none."""
    if len(text) > MAX_SETTINGS_CHARACTERS:
        return {}
    try:
        found = json.loads(text)
    except ValueError:
        try:
            found = json.loads(_plain_json(text))
        except (ValueError, RecursionError):
            return {}
    except RecursionError:
        return {}
    return found if isinstance(found, dict) else {}


def _plain_json(text: str) -> str:
    """The same without comments, and without commas before a closing bracket."""
    kept: list[str] = []
    at, comma = 0, -1  # place in `kept` of a comma that nothing but blanks follows
    while at < len(text):
        each = text[at]
        end = at + 1
        if text.startswith("//", at):
            at = (text.find("\n", at) + 1 or len(text) + 1) - 1
            continue
        if text.startswith("/*", at):
            at = (text.find("*/", at) + 2) if "*/" in text[at:] else len(text)
            continue
        if each == '"':
            while end < len(text) and text[end] != '"':
                end += 2 if text[end] == "\\" else 1
            end += 1
        if each in "]}" and comma >= 0:
            kept[comma] = ""
        if not each.isspace():
            comma = len(kept) if each == "," else -1
        kept.append(text[at:end])
        at = end
    return "".join(kept).removeprefix("\ufeff")


def package_of(project: Project, folder: str) -> Package | None:
    """The package that a folder is part of."""
    known = _known(project).packages(project)
    for each in above(folder):
        if each in known:
            return _package(project, each)
    return None


def _package(project: Project, folder: str) -> Package:
    text = project.text(joined(folder, "package.json"))
    return Package(folder, loose_json(text) if text is not None else {})


def workspace_package(project: Project, name: str) -> Package | None:
    """The package of that name, if it is one of a workspace that the project describes."""
    folder = _known(project).workspaces(project).get(name)
    return None if folder is None else _package(project, folder)


def paths_of(project: Project, folder: str) -> Paths:
    """What the nearest configuration says of module names in a folder."""
    known = {path for name in _CONFIGS for path in project.settings(name)}
    if not known:
        return Paths()
    for each in above(folder):
        for name in _CONFIGS:
            path = joined(each, name)
            if path in known:
                return _paths(project, path, 0)
    return Paths()


def _paths(project: Project, path: str, depth: int) -> Paths:
    text = project.text(path)
    if text is None or depth > MAX_EXTENDS:
        return Paths()
    says, folder = loose_json(text), posixpath.dirname(path)
    extended = says.get("extends", ())
    made = Paths()
    for each in (extended,) if isinstance(extended, str) else extended if isinstance(extended, list) else ():
        if isinstance(each, str) and each.startswith("."):
            target = joined(folder, each)
            made = _over(made, _paths(project, target if target.endswith(".json") else f"{target}.json", depth + 1))
    made = _over(made, _own_paths(says.get("compilerOptions"), folder, made.folder))
    if not made.patterns and made.folder is None:
        for each in _references(says, folder):  # a file that only names others: one of them says it
            made = _over(_paths(project, each, depth + 1), made)
    return made


def _over(below: Paths, own: Paths) -> Paths:
    return Paths(
        own.folder if own.folder is not None else below.folder,
        own.patterns or below.patterns,
        own.outputs or below.outputs,
    )


def _own_paths(options: object, folder: str, inherited: str | None) -> Paths:
    """What one file says itself; `inherited` is the `baseUrl` of those that it extends, from which its paths begin."""
    if not isinstance(options, dict):
        return Paths()
    start, patterns, output = options.get("baseUrl"), options.get("paths"), options.get("outDir")
    begin = joined(folder, start) if isinstance(start, str) else None
    origin = next((each for each in (begin, inherited) if each is not None), folder)
    made = []
    for pattern, targets in patterns.items() if isinstance(patterns, dict) else ():
        if isinstance(targets, list):
            made.append((pattern, tuple(joined(origin, each) for each in targets if isinstance(each, str))))
    source = options.get("rootDir", "src")
    outputs: tuple[tuple[str, str], ...] = ()
    if isinstance(output, str) and isinstance(source, str):
        outputs = ((joined(folder, output), joined(folder, source)),)
    return Paths(begin, tuple(made), outputs)


def _references(says: Mapping[str, Any], folder: str) -> list[str]:
    named = says.get("references")
    found = []
    for each in named if isinstance(named, list) else ():
        path = each.get("path") if isinstance(each, dict) else None
        if isinstance(path, str) and path.endswith(".json"):
            found.append(joined(folder, path))
    return found[:MAX_EXTENDS]


class _Known:
    """What is read once a project: which folders are packages, and which of them workspaces name."""

    def __init__(self) -> None:
        self._files: Sequence[str] = ()
        self._folders: frozenset[str] = frozenset()
        self._named: dict[str, str] | None = None

    def packages(self, project: Project) -> frozenset[str]:
        files = project.settings("package.json")
        if files != self._files:
            self._files, self._named = files, None
            self._folders = frozenset(posixpath.dirname(path) for path in files[:MAX_PACKAGES])
        return self._folders

    def workspaces(self, project: Project) -> Mapping[str, str]:
        """The folders of packages by name."""
        folders = self.packages(project)
        if self._named is None:
            self._named = {}
            for root in sorted(folders | {posixpath.dirname(path) for path in project.settings("pnpm-workspace.yaml")}):
                for folder in _members(project, root, folders):
                    name = _package(project, folder).says.get("name")
                    if isinstance(name, str) and name:
                        self._named.setdefault(name, folder)
        return self._named


_PROJECTS: Final[WeakKeyDictionary[Project, _Known]] = WeakKeyDictionary()


def _known(project: Project) -> _Known:
    return _PROJECTS.setdefault(project, _Known())


def _members(project: Project, root: str, folders: frozenset[str]) -> list[str]:
    """The folders that a workspace's patterns name, in order."""
    patterns = _patterns(_package(project, root).says) + _pnpm(project.text(joined(root, "pnpm-workspace.yaml")))
    taken = [joined(root, each.rstrip("/")) for each in patterns if not each.startswith("!")]
    left_out = [joined(root, each[1:].rstrip("/")) for each in patterns if each.startswith("!")]
    if not taken:
        return []
    return [
        folder
        for folder in sorted(folders)
        if any(_matches(folder, each) for each in taken) and not any(_matches(folder, each) for each in left_out)
    ]


def _patterns(says: Mapping[str, Any]) -> list[str]:
    named = says.get("workspaces", ())
    if isinstance(named, dict):
        named = named.get("packages", ())
    return [each for each in named if isinstance(each, str)] if isinstance(named, list) else []


def _pnpm(text: str | None) -> list[str]:
    """The entries below `packages:` of pnpm-workspace.yaml."""
    found, inside = [], False
    for line in (text or "").splitlines()[:1_000]:
        bare = line.partition(" #")[0].strip()
        if inside and bare.startswith("-"):
            found.append(bare[1:].strip().strip("\"'"))
        elif bare and not bare.startswith("#"):
            inside = bare == "packages:"
    return found


def _matches(folder: str, pattern: str) -> bool:
    """Whether a folder is one that a pattern means: `*` for one step, `**` for any number."""
    steps, parts = folder.split("/"), pattern.split("/")
    if "**" in parts:
        at = parts.index("**")
        head = parts[:at]
        return len(steps) >= len(head) and all(map(fnmatchcase, steps, head))
    return len(steps) == len(parts) and all(map(fnmatchcase, steps, parts))
