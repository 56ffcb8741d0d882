"""Go: modules and packages, methods by the types of their receivers, what types embed and which interfaces they meet.

A file imports the files of a package that define what it uses of it, or the first of them if it uses nothing by name.
"""

from __future__ import annotations

from weft.code.facts import CLASS_SORTS, FILE, FileFacts, Reference
from weft.code.resolving import Link, Links, Project, Relation, Target
from weft.code.resolving.go_interfaces import Interfaces, asserted
from weft.code.resolving.go_packages import Found, Packages, nearest
from weft.code.resolving.go_values import UNKNOWN, Functions, Inside, Nowhere, Typed, TypeName, Value, Values, steps_of


def resolve(facts: FileFacts, project: Project) -> Links:
    """What a file refers to."""
    return _Resolving(facts, project).links()


class _Resolving:
    """One file while it is resolved."""

    def __init__(self, facts: FileFacts, project: Project) -> None:
        self.facts = facts
        self.packages = Packages(project)
        self.values = Values(self.packages)
        self.own = self.packages.of(facts)
        self.found: dict[tuple[str, Relation, Target], int] = {}
        self.unresolved: list[tuple[str, int]] = []
        self.outside = 0

    def links(self) -> Links:
        for reference in self.facts.references:
            self._named(reference)
            if reference.form != "name":
                self._refer(reference)
        for each in self.facts.definitions:
            if each.sort in CLASS_SORTS:
                for base in each.bases:
                    self._embed(each.key, base, each.line)
        self._meet()
        self._imports()
        return Links(
            links=tuple(Link(*key, line) for key, line in self.found.items()),
            unresolved=tuple(self.unresolved),
            outside=self.outside,
        )

    def _link(self, key: str, relation: Relation, target: Target, line: int) -> None:
        self.found.setdefault((key, relation, target), line)

    def _refer(self, reference: Reference) -> None:
        facts, owner, line = self.facts, reference.owner, reference.line
        if reference.form == "new":
            value: Value = TypeName(facts, reference.chain)
            if reference.chain.endswith("[]"):  # a literal that leaves out what its elements are
                element = self.values.element(Typed(facts, reference.chain[:-2]), "[]")
                value = TypeName(*element) if isinstance(element, Typed) else element
                if value == UNKNOWN:
                    return
        else:
            value = self.values.value(facts, owner, reference.chain, line)
        targets: list[Found] = []
        if isinstance(value, Functions):
            targets = value.found
        elif isinstance(value, TypeName):
            named = self.values.named(Typed(*value))
            if isinstance(named, Nowhere):
                value = named
            else:
                targets = named[0].tops[named[1]]
        for each in nearest(targets, facts) if targets else ():
            self._call(owner, each, line)
        if not targets:
            if isinstance(value, Nowhere) and value.outside:
                self.outside += 1
            elif not reference.chain.endswith("{}"):
                self.unresolved.append((reference.chain, line))

    def _call(self, owner: int, found: Found, line: int) -> None:
        caller = self.facts.definitions[owner] if owner != FILE else None
        target = Target(found.facts.path, found.definition.key)
        key = caller.key if caller is not None else ""
        self._link(key, "CALLS", target, line)
        if caller is not None and caller.test and not found.definition.test and not target.path.endswith("_test.go"):
            self._link(key, "TESTS", target, line)

    def _embed(self, key: str, base: str, line: int) -> None:
        named = self.values.named(Typed(self.facts, base))
        if isinstance(named, Nowhere):
            self.outside += named.outside
            return
        for each in named[0].tops[named[1]]:
            self._link(key, "EXTENDS", Target(each.facts.path, each.definition.key), line)

    def _meet(self) -> None:
        types = {each.name: each for each in self.facts.definitions if each.sort in ("class", "struct")}
        if not types:
            return
        interfaces = Interfaces(self.facts, self.own, self.values)
        met = [(name, found) for name in types for found in interfaces.met_by(self.own, name)]
        for name, found in (*met, *asserted(self.own, self.values)):
            if name in types:
                target = Target(found.facts.path, found.definition.key)
                self._link(types[name].key, "IMPLEMENTS", target, types[name].line)

    def _named(self, reference: Reference) -> None:
        """A use of what another package defines, by the package's name."""
        steps = steps_of(reference.chain)
        if len(steps) < 2 or "{}" in reference.chain:
            return
        root, name = steps[0], steps[1]
        if self.values.local(self.facts, reference.owner, root, reference.line, reference.chain) is not None:
            return
        package = self.values.imported(self.facts, root)
        if not isinstance(package, Inside):
            return
        line = reference.line
        for each in package.package.tops.get(name, ()):
            self._link("", "DEPENDS_ON", Target(each.facts.path, each.definition.key), line)
            self._link("", "IMPORTS", Target(each.facts.path), line)
        held = package.package.variables.get(name)
        if held is not None:
            self._link("", "IMPORTS", Target(held.facts.path), line)

    def _imports(self) -> None:
        used = {target.path for _, relation, target in self.found if relation == "IMPORTS"}
        for each in self.facts.imports:
            folder = self.packages.folder(each.module, self.facts.path)
            package = self.packages.importable(folder, tests=False) if folder is not None else None
            if package is None:
                self._link("", "IMPORTS", Target(external=each.module), each.line)
            elif used.isdisjoint(file.path for file in package.files):
                self._link("", "IMPORTS", Target(package.files[0].path), each.line)
