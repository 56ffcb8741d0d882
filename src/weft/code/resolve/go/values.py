"""Values of Go expressions, as far as the source shows them: types of variables, fields, results and elements."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from weft.code.parse.facts import CLASS_SORTS, FILE, Binding, FileFacts
from weft.code.resolve.declared import MAX_FOLLOWED, OUTSIDE, UNKNOWN, ChainFollower, Located, Nowhere
from weft.code.resolve.go.packages import GoPackage, Packages, package_name
from weft.code.resolve.texts import split

MAX_EMBEDDED: Final = 200  # types that are looked through for a member
_TYPES_TEXT = """
any bool byte comparable complex64 complex128 error float32 float64 int int8 int16 int32 int64 rune string uint uint8
uint16 uint32 uint64 uintptr
"""
TYPES: Final = frozenset(_TYPES_TEXT.split())
_BUILTINS_TEXT = """
append cap clear close complex copy delete imag len make max min new panic print println real recover
"""
BUILTINS: Final = TYPES | frozenset(_BUILTINS_TEXT.split())
_STEP: Final = re.compile(r"\.?([^.\[\](){}]+)|(\(\))(?:\.(\d+))?|(\[key\]|\[\])")
_NAMELESS: Final = ("[", "<", "(", "#", "?", "")
_VERSION: Final = re.compile(r"v\d+$")
_DECORATED: Final = re.compile(r"^go[-.]|[-.]go$|\.v\d+$")


class GoTyped(NamedTuple):
    """A value of a type, as a file writes it."""

    facts: FileFacts
    text: str


class TypeName(NamedTuple):
    """A type itself."""

    facts: FileFacts
    text: str


class Functions(NamedTuple):
    """A function or method: all definitions of its name. `element` is that of an interface on one line."""

    found: list[Located]
    returns: GoTyped | None = None


class Inside(NamedTuple):
    """A package of the project."""

    package: GoPackage


Value = GoTyped | TypeName | Functions | Inside | Nowhere


@lru_cache(maxsize=4096)
def steps_of(chain: str) -> tuple[str, ...]:
    """The steps of a chain: names, `()` (`()1` for its second value), `[]`, `[key]`."""
    return tuple(name or end or f"{call}{at}" for name, call, at, end in _STEP.findall(chain))


class GoValues(ChainFollower[Value]):
    """Follows names through the files of a project, on behalf of one of them."""

    def __init__(self, packages: Packages) -> None:
        super().__init__()
        self.packages = packages
        self._imports: dict[tuple[str, str], Value | None] = {}
        self._locals: dict[str, dict[tuple[int, str], list[Binding]]] = {}

    def steps(self, chain: str) -> tuple[str, ...]:
        return steps_of(chain)

    def made(self, facts: FileFacts, owner: int, text: str) -> Value:
        return GoTyped(facts, text)

    def bindings(self, facts: FileFacts, owner: int, name: str) -> Sequence[Binding]:
        return self._bound(facts).get((owner, name), ())

    def _bound(self, facts: FileFacts) -> dict[tuple[int, str], list[Binding]]:
        found = self._locals.get(facts.path)
        if found is None:
            found = self._locals[facts.path] = {}
            for each in facts.bindings:
                owner = each.owner if each.name[:1] != "#" else FILE
                found.setdefault((owner, each.name), []).append(each)
        return found

    def root(self, facts: FileFacts, owner: int, name: str, line: int, chain: str) -> Value:
        bound = self.local(facts, owner, name, line, chain)
        if bound is not None:
            if bound.declared:
                return GoTyped(facts, bound.chain)
            # A name may be bound by what it held before: what is bound on this line is out of sight.
            again = bound.chain == name or bound.chain.startswith((f"{name}.", f"{name}[", f"{name}("))
            return self.value(facts, owner, bound.chain, bound.line - again)
        found = self.top(self.packages.of(facts), name)
        if found is not None:
            return found
        imported = self.imported(facts, name)
        if imported is not None:
            return imported
        for each in facts.imports:
            if each.name == "*" and (package := self.package(facts, each.module)) is not None:
                found = self.top(package, name)
                if found is not None:
                    return found
        return OUTSIDE if name in BUILTINS or (name != "?" and self._may_be_outside(facts)) else UNKNOWN

    def top(self, package: GoPackage, name: str) -> Value | None:
        """The value of a name in a package."""
        found = package.tops.get(name)
        if found:
            return TypeName(found[0].facts, name) if found[0].definition.sort in CLASS_SORTS else Functions(found)
        held = package.variables.get(name)
        if held is None:
            return None
        if held.binding.declared:
            return GoTyped(held.facts, held.binding.chain)
        return self.value(held.facts, FILE, held.binding.chain, held.binding.line)

    def imported(self, facts: FileFacts, name: str) -> Value | None:
        """The package that a file imports by a name; OUTSIDE for an external one."""
        key = (facts.path, name)
        if key not in self._imports:
            self._imports[key] = self._find_import(facts, name)
        return self._imports[key]

    def _find_import(self, facts: FileFacts, name: str) -> Value | None:
        for each in facts.imports:
            if each.name or (each.alias and each.alias != name):
                continue
            package = self.package(facts, each.module)
            if package is not None:
                if each.alias or package_name(package.files[0]) == name:
                    return Inside(package)
            elif each.alias or name in likely_names(each.module):
                return OUTSIDE
        return None

    def module(self, facts: FileFacts, name: str) -> str | None:
        """The path of the package that a file imports by a name, if known."""
        for each in facts.imports:
            if each.alias == name or (not each.alias and name in likely_names(each.module)):
                return each.module
        return None

    def package(self, facts: FileFacts, module: str) -> GoPackage | None:
        """The package of the project that an import path names in a file."""
        folder = self.packages.folder(module, facts.path)
        if folder is None:
            return None
        own = folder == facts.path.rpartition("/")[0] and facts.path.endswith("_test.go")
        return self.packages.importable(folder, tests=own)

    def _may_be_outside(self, facts: FileFacts) -> bool:
        """Whether an unknown name may be an external package whose name differs from its path."""
        return any(
            not each.alias
            and self.packages.folder(each.module, facts.path) is None
            and "." in each.module.partition("/")[0]
            for each in facts.imports
        )

    def step(self, found: Value, step: str) -> Value:
        if step.startswith("()"):
            return self._called(found, int(step[2:] or 0))
        if step.startswith("["):
            return self.element(found, step) if isinstance(found, GoTyped) else found
        if isinstance(found, Inside):
            return self.top(found.package, step) or UNKNOWN
        if isinstance(found, Functions):
            return UNKNOWN
        return self.member(GoTyped(*found), step)

    def _called(self, found: Value, at: int) -> Value:
        if isinstance(found, TypeName):
            return GoTyped(*found)
        if isinstance(found, Functions):
            if found.returns is not None:
                return self._called(found.returns, at)
            first = found.found[0]
            return _nth(first.facts, first.definition.returns, at)
        if isinstance(found, GoTyped):
            bare = self._underlying(found)
            if isinstance(bare, GoTyped) and bare.text.startswith("()"):
                results = bare.text[2:]
                return _nth(bare.facts, results[1:-1] if results.startswith("(") else results, at)
            return bare if isinstance(bare, Nowhere) else UNKNOWN
        return UNKNOWN

    def element(self, found: GoTyped, step: str) -> Value:
        """The elements of a list, a map or a channel (`[]`), or the first variable of a `range` over it (`[key]`)."""
        bare = self._underlying(found)
        if isinstance(bare, Nowhere):
            return bare
        text = bare.text
        if text.startswith("<-") and step == "[key]":
            return GoTyped(bare.facts, text[2:])
        if not text.startswith("["):
            return UNKNOWN
        key, _, value = text[1:].partition("]")
        if step == "[]":
            return GoTyped(bare.facts, value)
        return GoTyped(bare.facts, key) if key else OUTSIDE

    def _underlying(self, found: GoTyped) -> GoTyped | Nowhere:
        """The underlying type of a type: list, map, function."""
        for _ in range(MAX_FOLLOWED):
            if found.text[:1] in _NAMELESS:
                return found
            named = self.named(found)
            if isinstance(named, Nowhere):
                return named
            package, name = named
            held = package.fields.get(f"{name}::==") or package.fields.get(f"{name}::=")
            if held is None:
                return found
            found = GoTyped(held.facts, held.binding.chain)
        return UNKNOWN

    def named(self, found: GoTyped) -> tuple[GoPackage, str] | Nowhere:
        """The package and the name of a named type, aliases resolved."""
        for _ in range(MAX_FOLLOWED):
            package_part, dot, name = found.text.rpartition(".")
            if found.text[:1] in _NAMELESS:
                return UNKNOWN
            if dot:
                imported = self.imported(found.facts, package_part)
                if not isinstance(imported, Inside):
                    return OUTSIDE if imported is OUTSIDE or self._may_be_outside(found.facts) else UNKNOWN
                package: GoPackage | None = imported.package
            else:
                package = self._of_bare(found.facts, name)
            if package is None:
                return OUTSIDE if name in TYPES else UNKNOWN
            if name not in package.tops:
                return UNKNOWN
            alias = package.fields.get(f"{name}::==")
            if alias is None:
                return package, name
            found = GoTyped(alias.facts, alias.binding.chain)
        return UNKNOWN

    def _of_bare(self, facts: FileFacts, name: str) -> GoPackage | None:
        own = self.packages.of(facts)
        if name in own.tops:
            return own
        for each in facts.imports:
            if each.name == "*" and (package := self.package(facts, each.module)) is not None and name in package.tops:
                return package
        return None

    def member(self, found: GoTyped, name: str) -> Value:
        """A method or a field of a type; among embedded types, the shallowest."""
        if found.text.startswith("#"):
            held = self._bound(found.facts).get((FILE, f"{found.text}.{name}"))
            return GoTyped(found.facts, held[0].chain) if held else UNKNOWN
        level, seen, outside = [found], {found.text}, False
        looked = 0
        while level and looked < MAX_EMBEDDED:
            below: list[GoTyped] = []
            for each in level:
                looked += 1
                named = self.named(each)
                if isinstance(named, Nowhere):
                    outside = outside or named.outside
                    continue
                package, own = named
                value = self._own_member(package, own, name)
                if value is not None:
                    return value
                first = package.tops[own][0]
                inner = [GoTyped(first.facts, base) for base in first.definition.bases]
                if stands_for := package.fields.get(f"{own}::="):
                    inner.append(GoTyped(stands_for.facts, stands_for.binding.chain))
                below += [each for each in inner if each.text not in seen]
                seen.update(each.text for each in inner)
            level = below
        return OUTSIDE if outside else UNKNOWN

    def _own_member(self, package: GoPackage, own: str, name: str) -> Value | None:
        methods = package.members.get(f"{own}::{name}")
        if methods:
            return Functions(methods)
        held = package.fields.get(f"{own}::{name}")
        if held is None:
            return None
        value = GoTyped(held.facts, held.binding.chain)
        types = package.tops[own]
        return Functions(types[:1], value) if types[0].definition.sort == "interface" else value


def _nth(facts: FileFacts, results: str, at: int) -> Value:
    """One of a function's result types."""
    parts = split(results)
    return GoTyped(facts, parts[at]) if at < len(parts) and parts[at] else UNKNOWN


def likely_names(module: str) -> set[str]:
    """The likely names of an external package, by its import path."""
    parts = module.split("/")
    last = parts[-2] if len(parts) > 1 and _VERSION.match(parts[-1]) else parts[-1]
    bare = _DECORATED.sub("", _DECORATED.sub("", last))
    return {last, bare, bare.replace("-", "_"), bare.replace("-", ""), parts[-1]}
