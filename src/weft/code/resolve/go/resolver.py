"""Resolves Go: packages, methods by receiver type, embedded types, implemented interfaces.

A file imports the files of a package that define the names it uses, or the first of them if it uses none. A type
implements an interface that has the same methods with the same parameters and results: types are compared, not names.
Interfaces that embed an external one count only if the source asserts them (`var _ I = (*T)(nil)`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from weft.code.parse.facts import CLASS_SORTS, FILE, FileFacts, Reference
from weft.code.resolve import FileLinks, Project, Target
from weft.code.resolve.collected import CollectedLinks
from weft.code.resolve.declared import UNKNOWN, Located, Nowhere
from weft.code.resolve.go.packages import GoPackage, Packages, nearest
from weft.code.resolve.go.values import Functions, GoTyped, GoValues, Inside, TypeName, Value, steps_of

# Interfaces of the standard library that others embed. They stay as they are: Go promises it.
_STANDARD: Final = {
    "error": {"Error": ">string"},
    "fmt.Stringer": {"String": ">string"},
    "io.Closer": {"Close": ">error"},
    "io.Reader": {"Read": "[]byte>int,error"},
    "io.ReadCloser": {"Read": "[]byte>int,error", "Close": ">error"},
    "io.Seeker": {"Seek": "int64,int>int64,error"},
    "io.Writer": {"Write": "[]byte>int,error"},
    "io.WriteCloser": {"Write": "[]byte>int,error", "Close": ">error"},
    "io.ReadWriter": {"Read": "[]byte>int,error", "Write": "[]byte>int,error"},
    "io.ReadWriteCloser": {"Read": "[]byte>int,error", "Write": "[]byte>int,error", "Close": ">error"},
    "net/http.ResponseWriter": {
        "Header": ">net/http.Header",
        "Write": "[]byte>int,error",
        "WriteHeader": "int>",
    },
    "net/http.Handler": {"ServeHTTP": "net/http.ResponseWriter,net/http.Request>"},
    "sort.Interface": {"Len": ">int", "Less": "int,int>bool", "Swap": "int,int>"},
}
MAX_METHODS: Final = 200  # of an interface, with those that it embeds
MAX_INTERFACES: Final = 2_000  # that one file's types are compared with


def asserted(own: GoPackage, values: GoValues) -> Iterator[tuple[str, Located]]:
    """Assertions of a package on its types: the name of a type, and an interface."""
    for facts in own.files:
        for line in facts.extra.get("asserted", "").split("\n"):
            interface, _, chain = line.partition("=")
            value = values.value(facts, FILE, chain, 0) if chain else None
            if not isinstance(value, GoTyped):
                continue
            of, to = values.named(value), values.named(GoTyped(facts, interface))
            if not isinstance(of, Nowhere) and not isinstance(to, Nowhere) and of[0] is own:
                yield of[1], to[0].tops[to[1]][0]


class InterfaceMethod(NamedTuple):
    """A method as written; its types are resolved only when names match."""

    package: GoPackage
    key: str
    facts: FileFacts
    returns: str


Wanted = dict[
    str, InterfaceMethod | str
]  # methods of an interface by name; those of the standard library by their shape


class Interfaces:
    """The interfaces visible to a file: of its own package, and of imported packages of the project."""

    def __init__(self, facts: FileFacts, own: GoPackage, values: GoValues) -> None:
        self._values = values
        self._shapes: dict[tuple[str, str], str] = {}
        packages = {id(own): own}
        for each in facts.imports:
            imported = values.package(facts, each.module)
            if imported is not None:
                packages[id(imported)] = imported
        self._known: list[tuple[Located, Wanted]] = []
        for package in packages.values():
            for name, found in package.tops.items():
                if len(self._known) == MAX_INTERFACES or found[0].definition.sort != "interface":
                    continue
                seen = package is own or name[:1].isupper()
                if seen and (methods := self._methods(package, name)):
                    self._known.append((found[0], methods))

    def met_by(self, package: GoPackage, name: str) -> Iterator[Located]:
        """The interfaces that a type implements."""
        first = package.tops[name][0]
        bases = first.definition.bases
        names = set(package.methods.get(name, ()))
        if not names and not bases:
            return
        standard: dict[str, str] = {}
        for base in bases:
            standard |= _STANDARD.get(self._exact(first.facts, base), {})
        typed = GoTyped(first.facts, name)
        for interface, methods in self._known:
            if not bases and not methods.keys() <= names:
                continue
            if all(self._meets(typed, standard, each, wanted) for each, wanted in methods.items()):
                yield interface

    def _meets(self, typed: GoTyped, standard: dict[str, str], name: str, wanted: InterfaceMethod | str) -> bool:
        member = self._values.member(typed, name)
        shape = standard.get(name, "")
        if isinstance(member, Functions) and member.returns is None:
            found = member.found[0]
            key = found.definition.key.partition("~")[0]
            package = self._values.packages.of(found.facts)
            shape = self._shape(InterfaceMethod(package, key, found.facts, found.definition.returns))
        if not shape:
            return False
        asked = wanted if isinstance(wanted, str) else self._shape(wanted)
        return shape == asked and "?" not in asked

    def _methods(self, package: GoPackage, name: str) -> Wanted | None:
        """An interface's methods; None if they are unknown."""
        found: Wanted = {}
        waiting, seen = [(package, name)], {name}
        while waiting and len(found) < MAX_METHODS:
            package, name = waiting.pop()
            first = package.tops[name][0]
            if first.definition.sort != "interface":
                return None
            for method in package.methods.get(name, ()):
                each = package.members[f"{name}::{method}"][0]
                found[method] = InterfaceMethod(package, f"{name}::{method}", each.facts, each.definition.returns)
            for base in first.definition.bases:
                inner = self._values.named(GoTyped(first.facts, base))
                if isinstance(inner, Nowhere):
                    standard = _STANDARD.get(self._exact(first.facts, base))
                    if standard is None:
                        return None
                    found.update(standard)
                elif inner[1] not in seen:
                    seen.add(inner[1])
                    waiting.append(inner)
        return found

    def _shape(self, method: InterfaceMethod) -> str:
        """The parameters and results of a method, in a notation that is comparable between files."""
        key = (method.facts.path, method.key)
        if key not in self._shapes:
            lists = (method.package.parameters.get(method.key, ""), method.returns.strip("()"))
            self._shapes[key] = ">".join(
                ",".join(self._exact(method.facts, each) for each in types.split(",")) for types in lists
            )
        return self._shapes[key]

    def _exact(self, facts: FileFacts, written: str) -> str:
        """A type qualified by the folder that defines it, not by the file's name for its package."""
        start = len(written) - len(written.lstrip("[]<-()"))
        bare = written[start:]
        named = self._values.named(GoTyped(facts, bare))
        if not isinstance(named, Nowhere):
            return f"{written[:start]}{named[0].files[0].path.rpartition('/')[0]}:{named[1]}"
        alias, dot, name = bare.partition(".")
        module = self._values.module(facts, alias) if dot else None
        return f"{written[:start]}{module}.{name}" if module else written


def resolve(facts: FileFacts, project: Project) -> FileLinks:
    """The links of a file."""
    return _Resolving(facts, project).links()


class _Resolving:
    def __init__(self, facts: FileFacts, project: Project) -> None:
        self.facts = facts
        self.packages = Packages(project)
        self.values = GoValues(self.packages)
        self.own = self.packages.of(facts)
        self.found = CollectedLinks(facts)
        self.imported: set[str] = set()  # files of other packages that are used by name

    def links(self) -> FileLinks:
        for reference in self.facts.references:
            self._named(reference)
            if reference.form != "name":
                self._refer(reference)
        for place, each in enumerate(self.facts.definitions):
            if each.sort in CLASS_SORTS:
                for base in each.bases:
                    self._embed(place, base, each.line)
        self._meet()
        self._imports()
        return self.found.links()

    def _refer(self, reference: Reference) -> None:
        facts, owner, line = self.facts, reference.owner, reference.line
        if reference.form == "new":
            value: Value = TypeName(facts, reference.chain)
            if reference.chain.endswith("[]"):  # a literal that leaves out the type of its elements
                element = self.values.element(GoTyped(facts, reference.chain[:-2]), "[]")
                value = TypeName(*element) if isinstance(element, GoTyped) else element
                if value == UNKNOWN:
                    return
        else:
            value = self.values.value(facts, owner, reference.chain, line)
        targets: list[Located] = []
        if isinstance(value, Functions):
            targets = value.found
        elif isinstance(value, TypeName):
            named = self.values.named(GoTyped(*value))
            if isinstance(named, Nowhere):
                value = named
            else:
                targets = named[0].tops[named[1]]
        for each in nearest(targets, facts) if targets else ():
            is_tested = not each.definition.test and not each.facts.path.endswith("_test.go")
            self.found.call(owner, each.target, line, is_tested=is_tested)
        if not targets:
            if isinstance(value, Nowhere) and value.outside:
                self.found.outside += 1
            elif not reference.chain.endswith("{}"):
                self.found.unresolved(reference.chain, line)

    def _embed(self, place: int, base: str, line: int) -> None:
        named = self.values.named(GoTyped(self.facts, base))
        if isinstance(named, Nowhere):
            self.found.outside += named.outside
            return
        for each in named[0].tops[named[1]]:
            self.found.add(place, "EXTENDS", each.target, line)

    def _meet(self) -> None:
        definitions = self.facts.definitions
        types = {each.name: at for at, each in enumerate(definitions) if each.sort in ("class", "struct")}
        types.pop("_", None)  # declared for its checks alone: nothing can name it
        if not types:
            return
        interfaces = Interfaces(self.facts, self.own, self.values)
        met = [(name, found) for name in types for found in interfaces.met_by(self.own, name)]
        for name, found in (*met, *asserted(self.own, self.values)):
            if name in types:
                self.found.add(types[name], "IMPLEMENTS", found.target, definitions[types[name]].line)

    def _named(self, reference: Reference) -> None:
        """A use of a name qualified by a package's name."""
        steps = steps_of(reference.chain)
        if len(steps) < 2 or "{}" in reference.chain:
            return
        root, name = steps[0], steps[1]
        if self.values.local(self.facts, reference.owner, root, reference.line, reference.chain) is not None:
            return
        package = self.values.imported(self.facts, root)
        if not isinstance(package, Inside):
            return
        for each in package.package.tops.get(name, ()):
            self.found.add(FILE, "DEPENDS_ON", each.target, reference.line)
            self._import(each.facts.path, reference.line)
        held = package.package.variables.get(name)
        if held is not None:
            self._import(held.facts.path, reference.line)

    def _import(self, path: str, line: int) -> None:
        self.imported.add(path)
        self.found.add(FILE, "IMPORTS", Target(path), line)

    def _imports(self) -> None:
        used = set(self.imported)
        for each in self.facts.imports:
            folder = self.packages.folder(each.module, self.facts.path)
            package = self.packages.importable(folder, tests=False) if folder is not None else None
            if package is None:
                self.found.add(FILE, "IMPORTS", Target(external=each.module), each.line)
            elif used.isdisjoint(file.path for file in package.files):
                self._import(package.files[0].path, each.line)
