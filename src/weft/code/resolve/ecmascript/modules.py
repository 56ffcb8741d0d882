"""JavaScript and TypeScript modules: the file that a module name means, by package.json, tsconfig.json and pnpm."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any, Final

from msgspec import Struct

from weft.code.resolve import Project
from weft.code.resolve.ecmascript.names import NODE_MODULES
from weft.code.resolve.tables import PerProject
from weft.code.resolve.texts import folders_above, joined
from weft.core.errors import Invalid
from weft.text.jsonc import parse, value_of

MAX_SETTINGS_CHARACTERS: Final = 1_000_000
MAX_EXTENDS: Final = 8
MAX_PACKAGES: Final = 5_000
_CONFIGS: Final = ("tsconfig.json", "jsconfig.json")


class Paths(Struct, frozen=True):
    """Module settings of a configuration: the base directory, and the patterns of `paths`."""

    folder: str | None = None  # `baseUrl`, as a folder of the project
    patterns: tuple[tuple[str, tuple[str, ...]], ...] = ()  # with the folders that they stand for
    outputs: tuple[tuple[str, str], ...] = ()  # compiled folder, and the folder that it is compiled from


class NodePackage(Struct, frozen=True):
    """A package of the project: its folder, and its package.json."""

    folder: str
    says: Mapping[str, Any]


@lru_cache(maxsize=1_024)
def loose_json(text: str) -> Mapping[str, Any]:
    """A JSON object that may have comments and trailing commas; empty if it is invalid."""
    if len(text) > MAX_SETTINGS_CHARACTERS:
        return {}
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        try:
            found = value_of(parse(text.removeprefix("\ufeff")))
        except Invalid:
            return {}
    return found if isinstance(found, dict) else {}


def package_of(project: Project, folder: str) -> NodePackage | None:
    """The package that a folder is part of."""
    known = _KNOWN.of(project).packages(project)
    for each in (folder, *folders_above(folder)):
        if each in known:
            return _package(project, each)
    return None


def _package(project: Project, folder: str) -> NodePackage:
    text = project.text(joined(folder, "package.json"))
    return NodePackage(folder, loose_json(text) if text is not None else {})


def workspace_package(project: Project, name: str) -> NodePackage | None:
    """The package of that name, if a workspace of the project contains it."""
    folder = _KNOWN.of(project).workspaces(project).get(name)
    return None if folder is None else _package(project, folder)


def paths_of(project: Project, folder: str) -> Paths:
    """The module settings of the nearest configuration around a folder."""
    known = {path for name in _CONFIGS for path in project.settings(name)}
    if not known:
        return Paths()
    for each in (folder, *folders_above(folder)):
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
    """The settings in one file; its paths are relative to `inherited`, the `baseUrl` of those that it extends."""
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
    """The packages of a project and of its workspaces; read once."""

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


_KNOWN: Final = PerProject(lambda project: _Known())


def _members(project: Project, root: str, folders: frozenset[str]) -> list[str]:
    """The folders that a workspace's patterns match, in order."""
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
    """Whether a folder matches a pattern: `*` for one step, `**` for any number."""
    steps, parts = folder.split("/"), pattern.split("/")
    if "**" in parts:
        at = parts.index("**")
        head = parts[:at]
        return len(steps) >= len(head) and all(map(fnmatchcase, steps, head))
    return len(steps) == len(parts) and all(map(fnmatchcase, steps, parts))


MAX_TARGETS: Final = 40
MAX_CONDITION_DEPTH: Final = 6

_SUFFIXES: Final = (".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts", ".d.ts", ".d.mts", ".d.cts")
# What is written `x.js` may be `x.ts` before it is compiled.
_WRITTEN: Final = {
    ".js": (".ts", ".tsx", ".js", ".jsx", ".d.ts"),
    ".jsx": (".tsx", ".jsx"),
    ".mjs": (".mts", ".mjs", ".d.mts"),
    ".cjs": (".cts", ".cjs", ".d.cts"),
}
# Conditions and fields in the order in which they are likely to lead to sources.
_CONDITIONS: Final = ("source", "development", "import", "module", "node", "default", "require", "browser", "types")
_FIELDS: Final = ("source", "module", "main", "browser", "types", "typings")
_COMPILED: Final = frozenset({"dist", "lib", "build", "out", "esm", "cjs", "es", "types", "output", "compiled"})


class NamedModule(Struct, frozen=True):
    """The meaning of a module name: a file of the project, something outside, or neither if it is ambiguous."""

    path: str = ""
    external: str = ""


NOWHERE: Final = NamedModule()


def module_of(project: Project, path: str, name: str) -> NamedModule:
    """The module that a file imports by a name."""
    folder = posixpath.dirname(path)
    name = name.partition("?")[0] if "?" in name else name  # what bundlers are told: `./logo.svg?url`
    if name.startswith(".") or name in (".", ".."):
        return NamedModule(_file(project, joined(folder, name)))
    if name.startswith("/"):
        return NOWHERE
    if name.startswith("node:"):
        return NamedModule(external=name)
    own = package_of(project, folder)
    if name.startswith("#"):
        found = _imported(project, own, name) if own is not None else ""
        return NamedModule(found)
    found = _by_paths(project, folder, name)
    if found:
        return NamedModule(found)
    package, rest = _split(name)
    if not package:
        return NOWHERE
    if own is not None and own.says.get("name") == package:
        return NamedModule(_entry(project, own, rest)) if _entry(project, own, rest) else NamedModule(external=package)
    sibling = workspace_package(project, package)
    if sibling is not None:
        found = _entry(project, sibling, rest)
        return NamedModule(found) if found else NamedModule(external=package)
    return NamedModule(external=f"node:{name}" if name.partition("/")[0] in NODE_MODULES else package)


def _split(name: str) -> tuple[str, str]:
    """The package, and the path inside it: `@scope/name/part/of`."""
    parts = name.split("/")
    count = 2 if name.startswith("@") else 1
    return "/".join(parts[:count]), "/".join(parts[count:])


def _file(project: Project, path: str) -> str:
    """The source file of a path with or without a suffix; empty without one."""
    if path.startswith(".."):
        return ""
    found = _direct(project, path)
    if found:
        return found
    manifest = joined(path, "package.json")
    if manifest in project.settings("package.json"):
        own = package_of(project, path)
        found = _entry(project, own, "") if own is not None and own.folder == path else ""
        if found:
            return found
    return _index(project, path)


def _direct(project: Project, path: str) -> str:
    """A file by its path, with the given suffix, another, or none."""
    stem, suffix = posixpath.splitext(path)
    for other in _WRITTEN.get(suffix, ()):
        if project.exists(stem + other):
            return stem + other
    if suffix and project.exists(path):
        return path
    return next((path + each for each in _SUFFIXES if path and project.exists(path + each)), "")


def _index(project: Project, path: str) -> str:
    return next((index for each in _SUFFIXES if project.exists(index := joined(path, f"index{each}"))), "")


def _by_paths(project: Project, folder: str, name: str) -> str:
    """Resolves by `paths` and `baseUrl` of the configuration."""
    says = paths_of(project, folder)
    best: tuple[str, ...] = ()
    length, middle = -1, ""
    for pattern, targets in says.patterns:
        head, star, tail = pattern.partition("*")
        if not star and pattern == name:
            best, middle = targets, ""
            break
        fits = star and name.startswith(head) and name.endswith(tail) and len(name) >= len(head) + len(tail)
        if fits and len(head) > length:
            best, length, middle = targets, len(head), name[len(head) : len(name) - len(tail) or None]
    for target in best[:MAX_TARGETS]:
        found = _file(project, target.replace("*", middle))
        if found:
            return found
    return _file(project, joined(says.folder, name)) if says.folder is not None else ""


def _imported(project: Project, own: NodePackage, name: str) -> str:
    """Resolves `#name` by `imports` of the package."""
    says = own.says.get("imports")
    for target in _targets(says, name) if isinstance(says, dict) else ():
        found = _source(project, own, target)
        if found:
            return found
    return ""


def _entry(project: Project, package: NodePackage, rest: str) -> str:
    """The entry file of a package: by `exports`, by older fields, or by convention."""
    says = package.says
    exports = says.get("exports")
    targets: list[str] = []
    if isinstance(exports, dict) and any(key.startswith(".") for key in exports):
        targets = list(_targets(exports, f"./{rest}" if rest else "."))
    elif exports is not None and not rest:
        targets = list(_leaves(exports, 0))
    if not rest:
        targets += [says[field] for field in _FIELDS if isinstance(says.get(field), str)]
    else:
        targets.append(f"./{rest}")
    named = [found for target in targets[:MAX_TARGETS] if (found := _source(project, package, target))]
    if named:  # where what is compiled is there as well, the source is meant
        return next((each for each in named if not _is_compiled(package, each)), named[0])
    others = ("./index", "./src/index") if not rest else (f"./src/{rest}",)
    return next((found for target in others if (found := _source(project, package, target))), "")


def _is_compiled(package: NodePackage, path: str) -> bool:
    """Whether a file looks compiled: declarations only, or below an output folder."""
    inside = path.removeprefix(f"{package.folder}/").split("/") if package.folder else path.split("/")
    return path.endswith((".d.ts", ".d.mts", ".d.cts")) or (len(inside) > 1 and inside[0] in _COMPILED)


def _source(project: Project, package: NodePackage, target: str) -> str:
    """The source of a file that a package names: itself, or the file it is compiled from."""
    if not target.startswith("."):
        target = f"./{target}"
    path = joined(package.folder, target)
    if path == package.folder:
        return ""
    found = _plain_file(project, path)
    if found:
        return found
    for output, source in paths_of(project, package.folder).outputs:
        if path.startswith(f"{output}/"):
            found = _plain_file(project, joined(source, path.removeprefix(f"{output}/")))
            if found:
                return found
    steps = path.removeprefix(f"{package.folder}/").split("/") if package.folder else path.split("/")
    while len(steps) > 1 and steps[0] in _COMPILED:
        steps = steps[1:]
        for start in ("src", ""):
            found = _plain_file(project, joined(package.folder, "/".join([start, *steps]).lstrip("/")))
            if found:
                return found
    return ""


def _plain_file(project: Project, path: str) -> str:
    """Like `_file`, without reading a folder's package.json, which would recurse."""
    if path.startswith(".."):
        return ""
    for declared, suffix in ((".d.ts", ".js"), (".d.mts", ".mjs"), (".d.cts", ".cjs")):
        if path.endswith(declared):
            found = _plain_file(project, path.removesuffix(declared) + suffix)
            return found or (path if project.exists(path) else "")
    return _direct(project, path) or _index(project, path)


def _targets(table: dict[str, Any], name: str) -> Iterator[str]:
    """The targets of a name in `exports` or `imports`, by itself or by the longest pattern."""
    if name in table:
        yield from _leaves(table[name], 0)
        return
    best, middle = "", ""
    for pattern in table:
        head, star, tail = pattern.partition("*")
        if star and name.startswith(head) and name.endswith(tail) and len(head) >= len(best.partition("*")[0]):
            best, middle = pattern, name[len(head) : len(name) - len(tail) or None]
    if best:
        for each in _leaves(table[best], 0):
            yield each.replace("*", middle)


def _leaves(value: object, depth: int) -> Iterator[str]:
    """The paths at the leaves of conditions, most likely first."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list) and depth < MAX_CONDITION_DEPTH:
        for each in value[:MAX_TARGETS]:
            yield from _leaves(each, depth + 1)
    elif isinstance(value, dict) and depth < MAX_CONDITION_DEPTH:
        for condition in sorted(value, key=_rank)[:MAX_TARGETS]:
            yield from _leaves(value[condition], depth + 1)


def _rank(condition: str) -> int:
    return _CONDITIONS.index(condition) if condition in _CONDITIONS else len(_CONDITIONS) - 2
