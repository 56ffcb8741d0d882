"""JavaScript and TypeScript: which file a module's name means."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import Any, Final

from msgspec import Struct

from weft.code.resolving import Project
from weft.code.resolving.ecmascript_globals import NODE_MODULES
from weft.code.resolving.ecmascript_settings import Package, joined, package_of, paths_of, workspace_package

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


class Module(Struct, frozen=True):
    """What a module's name means: a file of the project, something outside, or neither: it cannot be told."""

    path: str = ""
    external: str = ""


NOWHERE: Final = Module()


def module_of(project: Project, path: str, name: str) -> Module:
    """What a module is that a file imports by that name."""
    folder = posixpath.dirname(path)
    name = name.partition("?")[0] if "?" in name else name  # what bundlers are told: `./logo.svg?url`
    if name.startswith(".") or name in (".", ".."):
        return Module(_file(project, joined(folder, name)))
    if name.startswith("/"):
        return NOWHERE
    if name.startswith("node:"):
        return Module(external=name)
    own = package_of(project, folder)
    if name.startswith("#"):
        found = _imported(project, own, name) if own is not None else ""
        return Module(found)
    found = _by_paths(project, folder, name)
    if found:
        return Module(found)
    package, rest = _split(name)
    if not package:
        return NOWHERE
    if own is not None and own.says.get("name") == package:
        return Module(_entry(project, own, rest)) if _entry(project, own, rest) else Module(external=package)
    sibling = workspace_package(project, package)
    if sibling is not None:
        found = _entry(project, sibling, rest)
        return Module(found) if found else Module(external=package)
    return Module(external=f"node:{name}" if name.partition("/")[0] in NODE_MODULES else package)


def _split(name: str) -> tuple[str, str]:
    """The package, and the path inside it: `@scope/name/part/of`."""
    parts = name.split("/")
    count = 2 if name.startswith("@") else 1
    return "/".join(parts[:count]), "/".join(parts[count:])


def _file(project: Project, path: str) -> str:
    """The source file that a path without (or with) a suffix means; empty without one."""
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
    """A file by its path, with the suffix that it is written with, another, or none."""
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
    """What `paths` and `baseUrl` of the configuration say."""
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


def _imported(project: Project, own: Package, name: str) -> str:
    """What `imports` of the package says of `#name`."""
    says = own.says.get("imports")
    for target in _targets(says, name) if isinstance(says, dict) else ():
        found = _source(project, own, target)
        if found:
            return found
    return ""


def _entry(project: Project, package: Package, rest: str) -> str:
    """The file that a package shows by that name: by `exports`, by the fields of old, or where it stands."""
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


def _is_compiled(package: Package, path: str) -> bool:
    """Whether a file looks like what a compiler made: declarations alone, or below a folder for such."""
    inside = path.removeprefix(f"{package.folder}/").split("/") if package.folder else path.split("/")
    return path.endswith((".d.ts", ".d.mts", ".d.cts")) or (len(inside) > 1 and inside[0] in _COMPILED)


def _source(project: Project, package: Package, target: str) -> str:
    """The source of a file that a package names: itself, or what it is compiled from."""
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
    """As `_file`, without looking into a folder's package.json: one leads to the other."""
    if path.startswith(".."):
        return ""
    for declared, suffix in ((".d.ts", ".js"), (".d.mts", ".mjs"), (".d.cts", ".cjs")):
        if path.endswith(declared):
            found = _plain_file(project, path.removesuffix(declared) + suffix)
            return found or (path if project.exists(path) else "")
    return _direct(project, path) or _index(project, path)


def _targets(table: dict[str, Any], name: str) -> Iterator[str]:
    """What a table of `exports` or `imports` says of a name, by itself or by the longest pattern."""
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
    """The paths that conditions lead to, the likeliest first."""
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
