"""Resolves JavaScript and TypeScript: modules, re-exports, `this`, declared and constructed types."""

from __future__ import annotations

from weft.code.parse.facts import CLASS_SORTS, FILE, Definition, FileFacts, Imported, Reference
from weft.code.resolve import FileLinks, Project, Relation, Target
from weft.code.resolve.collected import CollectedLinks
from weft.code.resolve.ecmascript.meaning import Meaning
from weft.code.resolve.ecmascript.names import Value

# What belongs to the language: a call of it, or on it, leads outside.
_BUILT_IN = frozenset({"outside", "list", "map", "promise", "tuple", "method"})


def resolve(facts: FileFacts, project: Project) -> FileLinks:
    """The links of a file."""
    resolving = _Resolving(facts, Meaning(project))
    for imported in facts.imports:
        resolving.imported(imported)
    resolving.inheritance()
    for reference in facts.references:
        resolving.used(reference)
    return resolving.found.links()


class _Resolving:
    def __init__(self, facts: FileFacts, meaning: Meaning) -> None:
        self._facts, self._meaning = facts, meaning
        self.found = CollectedLinks(facts)

    def imported(self, imported: Imported) -> None:
        """The file or package that an import names, and the definition."""
        module = self._meaning.module(self._facts.path, imported.module)
        if module.external:
            self.found.add(FILE, "IMPORTS", Target(external=module.external), imported.line)
            return
        if not module.path:
            return
        if module.path != self._facts.path:
            self.found.add(FILE, "IMPORTS", Target(module.path), imported.line)
        if imported.name in ("", "*"):
            return
        target = self._target(self._meaning.exported(module.path, imported.name))
        if target is not None and target.path != self._facts.path:
            self.found.add(FILE, "DEPENDS_ON", target, imported.line)

    def inheritance(self) -> None:
        """The links from classes to their bases and interfaces."""
        for place, definition in enumerate(self._facts.definitions):
            written: list[tuple[Relation, str]] = [("EXTENDS", each) for each in definition.bases]
            written += [("IMPLEMENTS", each) for each in definition.interfaces]
            for relation, each in written:
                is_type = relation == "IMPLEMENTS" or definition.sort == "interface"
                value = self._meaning.types.named(self._facts.path, place, each, "type" if is_type else "value")
                target = self._target(value)
                if target is not None and self._is_class(value):
                    self.found.add(place, relation, target, definition.line)

    def used(self, reference: Reference) -> None:
        """The link of a call or a construction."""
        value = self._meaning.chain(self._facts.path, reference.owner, reference.chain)
        if value is not None and value.kind == "module":
            value = self._meaning.exported(value.path, "=")
        if value is not None and value.kind == "of" and self._is_called(value):
            value = Value("def", value.path, value.place)
        target = self._target(value)
        if target is None:
            if value is None or value.kind not in _BUILT_IN:
                self.found.unresolved(reference.chain, reference.line)
            else:
                self.found.outside += 1
            return
        self.found.call(reference.owner, target, reference.line, is_tested=not self._is_test(value))

    def _target(self, value: Value | None) -> Target | None:
        if value is None or value.kind != "def":
            return None
        names = self._meaning.names(value.path)
        return None if names is None else Target(value.path, names.definitions[value.place].key)

    def _is_called(self, value: Value) -> bool:
        """Whether a value is of an interface with a call or construct signature: that is the target."""
        names = self._meaning.names(value.path)
        return names is not None and any((value.place, each) in names.bindings for each in ("()", "new()"))

    def _is_class(self, value: Value | None) -> bool:
        definition = self._definition(value)
        return definition is not None and definition.sort in CLASS_SORTS

    def _is_test(self, value: Value | None) -> bool:
        definition = self._definition(value)
        return definition is not None and definition.test

    def _definition(self, value: Value | None) -> Definition | None:
        names = self._meaning.names(value.path) if value is not None else None
        return None if value is None or names is None else names.definitions[value.place]
