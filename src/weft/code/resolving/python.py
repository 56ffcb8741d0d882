"""Python: packages, relative imports, names passed on, `self`, declared and constructed types."""

from __future__ import annotations

from weft.code.facts import FILE, FileFacts, Imported, Reference
from weft.code.resolving import Link, Links, Project, Relation, Target
from weft.code.resolving.python_files import Files, PythonFile
from weft.code.resolving.python_lookup import Lookup
from weft.code.resolving.python_members import bases, member
from weft.code.resolving.python_values import Class, Function, Instance, Local, Module, Values


def resolve(facts: FileFacts, project: Project) -> Links:
    """What a file refers to."""
    return _Resolution(facts, project).links()


class _Resolution:
    def __init__(self, facts: FileFacts, project: Project) -> None:
        self._files = Files(project)
        self._file: PythonFile = self._files.take(facts)
        self._lookup = Lookup(self._files)
        self._links: dict[tuple[str, Relation, Target], int] = {}
        self._unresolved: dict[tuple[str, int], None] = {}
        self._outside = 0

    def links(self) -> Links:
        for found in self._file.facts.imports:
            self._import(found)
        for place in range(len(self._file.facts.definitions)):
            self._extend(place)
        for use in self._file.facts.references:
            self._call(use)
        return Links(
            links=tuple(Link(key, relation, target, line) for (key, relation, target), line in self._links.items()),
            unresolved=tuple(self._unresolved),
            outside=self._outside,
        )

    def _link(self, key: str, relation: Relation, target: Target, line: int) -> None:
        self._links.setdefault((key, relation, target), line)

    def _import(self, found: Imported) -> None:
        """A file for the module, or for each module among the names; the definitions that are named."""
        path = self._lookup.module_of(self._file, found)
        if path is None:
            if not found.level and self._lookup.modules(self._file).is_outside(found.module):
                self._link("", "IMPORTS", Target(external=found.module.partition(".")[0]), found.line)
            else:
                self._unresolved[(_written(found), found.line)] = None
            return
        values = self._lookup.imported(self._file, found) if found.name not in ("", "*") else ()
        modules = [value.path for value in values if isinstance(value, Module) and _is_below(value.path, path)]
        for each in modules or [path]:
            if not each.endswith("/") and each != self._file.path:
                self._link("", "IMPORTS", Target(path=each), found.line)
        for target in self._targets(values):
            if target.path != self._file.path:
                self._link("", "DEPENDS_ON", target, found.line)

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
                    self._link(definition.key, relation, Target(base.path, extended.key), definition.line)

    def _call(self, use: Reference) -> None:
        values = self._lookup.chain(self._file, use.owner, use.chain)
        targets = self._targets(values)
        if not targets:
            if not values:
                self._unresolved[(use.chain, use.line)] = None
            elif not all(isinstance(value, Local) for value in values):
                self._outside += 1
            return
        owner = None if use.owner == FILE else self._file.facts.definitions[use.owner]
        for target in targets:
            self._link(owner.key if owner else "", "CALLS", target, use.line)
            if owner is not None and owner.test and not self._is_test(target):
                self._link(owner.key, "TESTS", target, use.line)

    def _targets(self, values: Values) -> list[Target]:
        """The definitions among values: what is called if they are."""
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
    """Whether a module is one of a package."""
    folder = package[:-1] if package.endswith("/") else package.rpartition("/")[0]
    return path != package and (not folder or path.startswith(f"{folder}/"))


def _written(found: Imported) -> str:
    """An import as a chain."""
    return "." * found.level + ".".join(part for part in (found.module, found.name) if part and part != "*")
