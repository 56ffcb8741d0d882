"""JavaScript and TypeScript: modules, names passed on, `this`, declared and constructed types."""

from __future__ import annotations

from weft.code.facts import CLASS_SORTS, FILE, FileFacts, Imported, Reference
from weft.code.resolving import Link, Links, Project, Relation, Target
from weft.code.resolving.ecmascript_meaning import Meaning
from weft.code.resolving.ecmascript_value import Value

# What belongs to the language: a call of it, or on it, leads outside.
_BUILT_IN = frozenset({"outside", "list", "map", "promise", "tuple", "method"})


def resolve(facts: FileFacts, project: Project) -> Links:
    """What a file refers to."""
    found = _Found(facts, Meaning(project))
    for imported in facts.imports:
        found.imported(imported)
    found.inheritance()
    for reference in facts.references:
        found.used(reference)
    return found.links()


class _Found:
    """Gathers the links of one file."""

    def __init__(self, facts: FileFacts, meaning: Meaning) -> None:
        self._facts, self._meaning = facts, meaning
        self._links: dict[tuple[str, Relation, Target], int] = {}
        self._unresolved: list[tuple[str, int]] = []
        self._outside = 0

    def links(self) -> Links:
        made = tuple(Link(key, relation, target, line) for (key, relation, target), line in self._links.items())
        return Links(links=made, unresolved=tuple(self._unresolved), outside=self._outside)

    def imported(self, imported: Imported) -> None:
        """The file or package that an import names, and the definition."""
        module = self._meaning.module(self._facts.path, imported.module)
        if module.external:
            self._link(FILE, "IMPORTS", Target(external=module.external), imported.line)
            return
        if not module.path:
            return
        if module.path != self._facts.path:
            self._link(FILE, "IMPORTS", Target(module.path), imported.line)
        if imported.name in ("", "*"):
            return
        target = self._target(self._meaning.exported(module.path, imported.name))
        if target is not None and target.path != self._facts.path:
            self._link(FILE, "DEPENDS_ON", target, imported.line)

    def inheritance(self) -> None:
        """What classes extend and implement."""
        for place, definition in enumerate(self._facts.definitions):
            written: list[tuple[Relation, str]] = [("EXTENDS", each) for each in definition.bases]
            written += [("IMPLEMENTS", each) for each in definition.interfaces]
            for relation, each in written:
                is_type = relation == "IMPLEMENTS" or definition.sort == "interface"
                value = self._meaning.types.named(self._facts.path, place, each, "type" if is_type else "value")
                target = self._target(value)
                if target is not None and self._is_class(value):
                    self._link(place, relation, target, definition.line)

    def used(self, reference: Reference) -> None:
        """What a call or a construction reaches."""
        value = self._meaning.chain(self._facts.path, reference.owner, reference.chain)
        if value is not None and value.kind == "module":
            value = self._meaning.exported(value.path, "=")
        if value is not None and value.kind == "of" and self._is_called(value):
            value = Value("def", value.path, value.place)
        target = self._target(value)
        if target is None:
            if value is None or value.kind not in _BUILT_IN:
                self._unresolved.append((reference.chain, reference.line))
            else:
                self._outside += 1
            return
        self._link(reference.owner, "CALLS", target, reference.line)
        owner = reference.owner
        if owner != FILE and self._facts.definitions[owner].test and not self._is_test(value):
            self._link(owner, "TESTS", target, reference.line)

    def _target(self, value: Value | None) -> Target | None:
        if value is None or value.kind != "def":
            return None
        names = self._meaning.names(value.path)
        return None if names is None else Target(value.path, names.definitions[value.place].key)

    def _is_called(self, value: Value) -> bool:
        """Whether it is of an interface that says how it is called or constructed: that is what is reached."""
        names = self._meaning.names(value.path)
        return names is not None and any((value.place, each) in names.bindings for each in ("()", "new()"))

    def _is_class(self, value: Value | None) -> bool:
        names = self._meaning.names(value.path) if value is not None else None
        return value is not None and names is not None and names.definitions[value.place].sort in CLASS_SORTS

    def _is_test(self, value: Value | None) -> bool:
        names = self._meaning.names(value.path) if value is not None else None
        return value is not None and names is not None and names.definitions[value.place].test

    def _link(self, owner: int, relation: Relation, target: Target, line: int) -> None:
        key = "" if owner == FILE else self._facts.definitions[owner].key
        self._links.setdefault((key, relation, target), line)
