"""Java: packages over several source roots, imports, inheritance, methods by the types of what they are called on.

Of several methods by one name, the one is meant that takes what a call gives it: as many arguments, of these types as
far as the source shows them; if that does not settle it, the first. An import of all of a package links to the files
whose classes are used by it.
"""

from __future__ import annotations

from weft.code.facts import CLASS_SORTS, FILE, FileFacts, Reference
from weft.code.resolving import Link, Links, Project, Relation, Target
from weft.code.resolving.java_kinds import UNKNOWN, Above, ClassItself, Methods, Nowhere
from weft.code.resolving.java_overloads import Given
from weft.code.resolving.java_project import Classes, Found
from weft.code.resolving.java_values import Values, class_around
from weft.code.test_files import is_test_file


def resolve(facts: FileFacts, project: Project) -> Links:
    """What a file refers to."""
    return _Resolving(facts, project).links()


class _Resolving:
    """One file while it is resolved."""

    def __init__(self, facts: FileFacts, project: Project) -> None:
        self.facts = facts
        self.classes = Classes(project, facts)
        self.values = Values(self.classes)
        self.found: dict[tuple[str, Relation, Target], int] = {}
        self.unresolved: list[tuple[str, int]] = []
        self.outside = 0

    def links(self) -> Links:
        self._imports()
        for reference in self.facts.references:
            self._refer(reference)
        self._use_types()
        for each in self.facts.definitions:
            if each.sort in CLASS_SORTS:
                for relation, names in (("EXTENDS", each.bases), ("IMPLEMENTS", each.interfaces)):
                    for name in names:
                        found = self.values.type(self.facts, each.parent, name)
                        if isinstance(found, Found):
                            self._link(each.key, relation, _target(found), each.line)  # type: ignore[arg-type]
                            self._import_used(found, each.line)
        return Links(
            links=tuple(Link(*key, line) for key, line in self.found.items()),
            unresolved=tuple(self.unresolved),
            outside=self.outside,
        )

    def _link(self, key: str, relation: Relation, target: Target, line: int) -> None:
        self.found.setdefault((key, relation, target), line)

    def _refer(self, reference: Reference) -> None:
        methods = self._made(reference) if reference.form == "new" else self._called(reference)
        if isinstance(methods, Nowhere):
            if methods.outside:
                self.outside += 1
            else:
                self.unresolved.append((reference.chain, reference.line))
            return
        caller = self.facts.definitions[reference.owner] if reference.owner != FILE else None
        key = caller.key if caller is not None else ""
        for each in methods:
            self._link(key, "CALLS", _target(each), reference.line)
            self._import_used(each, reference.line)
            if caller is not None and caller.test and self._is_tested(each):
                self._link(key, "TESTS", _target(each), reference.line)

    def _is_tested(self, found: Found) -> bool:
        path = found.facts.path
        return not found.definition.test and path != self.facts.path and not is_test_file(path)

    def _made(self, reference: Reference) -> Methods:
        facts, owner, chain = self.facts, reference.owner, reference.chain
        place = class_around(facts, owner)
        if chain in ("this", "super"):
            if place == FILE:
                return UNKNOWN
            if chain == "this":
                return [Found(facts, place)]
            bases = facts.definitions[place].bases
            found = (
                self.values.type(facts, facts.definitions[place].parent, bases[0]) if bases else Nowhere(outside=True)
            )
            return [found] if isinstance(found, Found) else found
        found = self.values.type(facts, place, chain)
        if isinstance(found, Nowhere) and "." in chain:  # outer.new Inner()
            before, _, name = chain.rpartition(".")
            of = self.values.class_of(self.values.value(facts, owner, before, reference.line))
            inner = self.values.inner(of, name) if isinstance(of, Found) else None
            return [inner] if inner is not None else found
        return [found] if isinstance(found, Found) else found

    def _called(self, reference: Reference) -> Methods:
        facts, owner, line = self.facts, reference.owner, reference.line
        before, dot, name = reference.chain.rpartition(".")
        given = Given(facts, owner, line, reference.arguments) if reference.arguments is not None else None
        if not dot:
            return self.values.unqualified(facts, owner, name, given)
        if before.endswith("$"):  # inside an anonymous class: of its type, or from around it
            for each in before.split("$."):
                of = self.values.type(facts, class_around(facts, owner), each.rstrip("$"))
                methods = self.values.method(ClassItself(of), name, given) if isinstance(of, Found) else of
                if not isinstance(methods, Nowhere):
                    return methods
            around = self.values.unqualified(facts, owner, name, given)
            return around if not isinstance(around, Nowhere) else max(around, methods)
        value = self.values.value(facts, owner, before, line)
        if isinstance(value, Above) and not value.found.definition.bases:
            return Nowhere(outside=True)
        return self.values.method(value, name, given)

    def _imports(self) -> None:
        for each in self.facts.imports:
            if each.name == "*" and each.alias != "static" and self.classes.is_package(each.module):
                continue  # linked by what is used of it
            name = each.module if each.name == "*" or each.alias == "static" else f"{each.module}.{each.name}"
            found = self.values.full_name(name)
            if isinstance(found, Found):
                if found.facts.path == self.facts.path:
                    continue
                self._link("", "IMPORTS", Target(found.facts.path), each.line)
                for target in self._imported(found, each.name if each.alias == "static" else ""):
                    self._link("", "DEPENDS_ON", _target(target), each.line)
            elif found.outside:
                outside = _package(each.module) if each.name != "*" or each.alias == "static" else each.module
                self._link("", "IMPORTS", Target(external=outside), each.line)

    def _imported(self, found: Found, member: str) -> list[Found]:
        if member in ("", "*"):
            return [found]
        methods = self.values.method(ClassItself(found), member, None)
        return methods if not isinstance(methods, Nowhere) else [found]

    def _use_types(self) -> None:
        """The types of variables and results, where all of a package of the project is imported."""
        if not any(each.name == "*" and self.classes.is_package(each.module) for each in self.facts.imports):
            return
        uses = [(each.owner, each.chain, each.line) for each in self.facts.bindings if each.declared]
        uses += [(place, each.returns, each.line) for place, each in enumerate(self.facts.definitions) if each.returns]
        for owner, text, line in uses:
            found = self.values.type(self.facts, class_around(self.facts, owner), text.lstrip("[]").partition("<")[0])
            if isinstance(found, Found):
                self._import_used(found, line)

    def _import_used(self, found: Found, line: int) -> None:
        """What is used of a package that all of is imported of."""
        package = found.facts.extra.get("package", "")
        if package != self.facts.extra.get("package", "") and found.facts.path != self.facts.path:
            for each in self.facts.imports:
                if each.name == "*" and each.module == package:
                    self._link("", "IMPORTS", Target(found.facts.path), line)


def _target(found: Found) -> Target:
    return Target(found.facts.path, found.definition.key)


def _package(name: str) -> str:
    """The package of what is outside: as far as its names begin with a small letter."""
    kept = []
    for part in name.split("."):
        if part[:1].isupper():
            break
        kept.append(part)
    return ".".join(kept) or name
