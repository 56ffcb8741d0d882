"""Resolves Java: packages over several source roots, imports, inheritance, methods by the receiver's type.

An overload is chosen by the number and the known types of its arguments; if that is ambiguous, the first. A wildcard
import links to the files whose classes are used.
"""

from __future__ import annotations

from collections.abc import Sequence

from weft.code.parse.facts import CLASS_SORTS, FILE, FileFacts, Reference
from weft.code.resolve import FileLinks, Project, Relation, Target
from weft.code.resolve.collected import CollectedLinks
from weft.code.resolve.declared import UNKNOWN, Located, Nowhere
from weft.code.resolve.java.project import Classes
from weft.code.resolve.java.types import Above, ClassItself, Methods
from weft.code.resolve.java.values import CallArguments, JavaValues, class_around
from weft.files.test_files import is_test_file


def resolve(facts: FileFacts, project: Project) -> FileLinks:
    """The links of a file."""
    return _Resolving(facts, project).links()


class _Resolving:
    def __init__(self, facts: FileFacts, project: Project) -> None:
        self.facts = facts
        self.classes = Classes(project, facts)
        self.values = JavaValues(self.classes)
        self.found = CollectedLinks(facts)

    def links(self) -> FileLinks:
        self._imports()
        for reference in self.facts.references:
            self._refer(reference)
        self._use_types()
        for place, each in enumerate(self.facts.definitions):
            if each.sort in CLASS_SORTS:
                self._inherit(place, "EXTENDS", each.bases)
                self._inherit(place, "IMPLEMENTS", each.interfaces)
        return self.found.links()

    def _inherit(self, place: int, relation: Relation, names: Sequence[str]) -> None:
        definition = self.facts.definitions[place]
        for name in names:
            found = self.values.type(self.facts, definition.parent, name)
            if isinstance(found, Located):
                self.found.add(place, relation, found.target, definition.line)
                self._import_used(found, definition.line)

    def _refer(self, reference: Reference) -> None:
        methods = self._made(reference) if reference.form == "new" else self._called(reference)
        if isinstance(methods, Nowhere):
            if methods.outside:
                self.found.outside += 1
            else:
                self.found.unresolved(reference.chain, reference.line)
            return
        in_test = self.found.is_test(reference.owner)
        for each in methods:
            is_tested = in_test and self._is_tested(each)
            self.found.call(reference.owner, each.target, reference.line, is_tested=is_tested)
            self._import_used(each, reference.line)

    def _is_tested(self, found: Located) -> bool:
        path = found.facts.path
        return not found.definition.test and path != self.facts.path and not is_test_file(path)

    def _made(self, reference: Reference) -> Methods:
        facts, owner, chain = self.facts, reference.owner, reference.chain
        place = class_around(facts, owner)
        if chain in ("this", "super"):
            if place == FILE:
                return UNKNOWN
            if chain == "this":
                return [Located(facts, place)]
            bases = facts.definitions[place].bases
            found = (
                self.values.type(facts, facts.definitions[place].parent, bases[0]) if bases else Nowhere(outside=True)
            )
            return [found] if isinstance(found, Located) else found
        found = self.values.type(facts, place, chain)
        if isinstance(found, Nowhere) and "." in chain:  # outer.new Inner()
            before, _, name = chain.rpartition(".")
            of = self.values.class_of(self.values.value(facts, owner, before, reference.line))
            inner = self.values.inner(of, name) if isinstance(of, Located) else None
            return [inner] if inner is not None else found
        return [found] if isinstance(found, Located) else found

    def _called(self, reference: Reference) -> Methods:
        facts, owner, line = self.facts, reference.owner, reference.line
        before, dot, name = reference.chain.rpartition(".")
        given = CallArguments(facts, owner, line, reference.arguments) if reference.arguments is not None else None
        if not dot:
            return self.values.unqualified(facts, owner, name, given)
        if before.endswith("$"):  # inside an anonymous class: of its type, or from around it
            for each in before.split("$."):
                of = self.values.type(facts, class_around(facts, owner), each.rstrip("$"))
                methods = self.values.method(ClassItself(of), name, given) if isinstance(of, Located) else of
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
            if isinstance(found, Located):
                if found.facts.path == self.facts.path:
                    continue
                self.found.add(FILE, "IMPORTS", Target(found.facts.path), each.line)
                for target in self._imported(found, each.name if each.alias == "static" else ""):
                    self.found.add(FILE, "DEPENDS_ON", target.target, each.line)
            elif found.outside:
                outside = _package(each.module) if each.name != "*" or each.alias == "static" else each.module
                self.found.add(FILE, "IMPORTS", Target(external=outside), each.line)

    def _imported(self, found: Located, member: str) -> list[Located]:
        if member in ("", "*"):
            return [found]
        methods = self.values.method(ClassItself(found), member, None)
        return methods if not isinstance(methods, Nowhere) else [found]

    def _use_types(self) -> None:
        """Links the types of variables and results, for files with wildcard imports of the project."""
        if not any(each.name == "*" and self.classes.is_package(each.module) for each in self.facts.imports):
            return
        uses = [(each.owner, each.chain, each.line) for each in self.facts.bindings if each.declared]
        uses += [(place, each.returns, each.line) for place, each in enumerate(self.facts.definitions) if each.returns]
        for owner, text, line in uses:
            found = self.values.type(self.facts, class_around(self.facts, owner), text.lstrip("[]").partition("<")[0])
            if isinstance(found, Located):
                self._import_used(found, line)

    def _import_used(self, found: Located, line: int) -> None:
        """Links the file of a definition used through a wildcard import."""
        package = found.facts.extra.get("package", "")
        if package != self.facts.extra.get("package", "") and found.facts.path != self.facts.path:
            for each in self.facts.imports:
                if each.name == "*" and each.module == package:
                    self.found.add(FILE, "IMPORTS", Target(found.facts.path), line)


def _package(name: str) -> str:
    """The package of an external name: its leading parts in lower case."""
    kept = []
    for part in name.split("."):
        if part[:1].isupper():
            break
        kept.append(part)
    return ".".join(kept) or name
