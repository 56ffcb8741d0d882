"""Resolves Python: packages, relative imports, re-exports, `self`, declared and constructed types."""

from __future__ import annotations

from weft.code.parse.facts import FILE, FileFacts, Imported, Reference
from weft.code.resolve import FileLinks, Project, Relation, Target
from weft.code.resolve.collected import CollectedLinks
from weft.code.resolve.python.lookup import Lookup, bases, member
from weft.code.resolve.python.modules import Files, PythonFile
from weft.code.resolve.python.values import Class, Function, Instance, LocalFunction, ModuleValue, Values


def resolve(facts: FileFacts, project: Project) -> FileLinks:
    """The links of a file."""
    return _Resolution(facts, project).links()


class _Resolution:
    def __init__(self, facts: FileFacts, project: Project) -> None:
        self._files = Files(project)
        self._file: PythonFile = self._files.take(facts)
        self._lookup = Lookup(self._files)
        self._found = CollectedLinks(facts)

    def links(self) -> FileLinks:
        for found in self._file.facts.imports:
            self._import(found)
        for place in range(len(self._file.facts.definitions)):
            self._extend(place)
        for use in self._file.facts.references:
            self._call(use)
        return self._found.links()

    def _import(self, found: Imported) -> None:
        """Links to the imported module or modules, and to the named definitions."""
        path = self._lookup.module_of(self._file, found)
        if path is None:
            if not found.level and self._lookup.modules(self._file).is_outside(found.module):
                self._found.add(FILE, "IMPORTS", Target(external=found.module.partition(".")[0]), found.line)
            else:
                self._found.unresolved(_written(found), found.line)
            return
        values = self._lookup.imported(self._file, found) if found.name not in ("", "*") else ()
        modules = [value.path for value in values if isinstance(value, ModuleValue) and _is_below(value.path, path)]
        for each in modules or [path]:
            if not each.endswith("/") and each != self._file.path:
                self._found.add(FILE, "IMPORTS", Target(path=each), found.line)
        for target in self._targets(values):
            if target.path != self._file.path:
                self._found.add(FILE, "DEPENDS_ON", target, found.line)

    def _extend(self, place: int) -> None:
        definition = self._file.facts.definitions[place]
        for base in bases(self._lookup, self._file.path, place) if definition.bases else ():
            if isinstance(base, Class):
                file = self._files.at(base.path)
                if file is not None and (base.path, base.place) != (self._file.path, place):
                    extended = file.definition(base.place)
                    relation: Relation = "EXTENDS"
                    if extended.sort == "interface" and definition.sort != "interface":
                        relation = "IMPLEMENTS"
                    self._found.add(place, relation, Target(base.path, extended.key), definition.line)

    def _call(self, use: Reference) -> None:
        values = self._lookup.chain(self._file, use.owner, use.chain)
        targets = self._targets(values)
        if not targets:
            if not values:
                self._found.unresolved(use.chain, use.line)
            elif not all(isinstance(value, LocalFunction) for value in values):
                self._found.outside += 1
            return
        in_test = self._found.is_test(use.owner)
        for target in targets:
            self._found.call(use.owner, target, use.line, is_tested=in_test and not self._is_test(target))

    def _targets(self, values: Values) -> list[Target]:
        """The definitions among values: what a call of them reaches."""
        found: list[Class | Function] = []
        for value in values:
            if isinstance(value, Instance):
                found += [each for each in member(self._lookup, value, "__call__") if isinstance(each, Function)]
            elif isinstance(value, Class | Function):
                found.append(value)
        targets = []
        for each in found:
            file = self._files.at(each.path)
            if file is not None:
                targets.append(Target(each.path, file.definition(each.place).key))
        return list(dict.fromkeys(targets))

    def _is_test(self, target: Target) -> bool:
        file = self._files.at(target.path)
        return file is not None and any(each.test for each in file.facts.definitions if each.key == target.key)


def _is_below(path: str, package: str) -> bool:
    """Whether a module is inside a package."""
    folder = package[:-1] if package.endswith("/") else package.rpartition("/")[0]
    return path != package and (not folder or path.startswith(f"{folder}/"))


def _written(found: Imported) -> str:
    """An import as a chain."""
    return "." * found.level + ".".join(part for part in (found.module, found.name) if part and part != "*")
