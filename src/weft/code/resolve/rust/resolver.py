"""Resolves Rust: crates and modules, `use` and `pub use`, fields, declared and constructed types, traits."""

from __future__ import annotations

from weft.code.parse.facts import FILE, FileFacts, Imported, Reference
from weft.code.resolve import FileLinks, Project, Relation, Target
from weft.code.resolve.collected import CollectedLinks
from weft.code.resolve.rust.names import Def, External, Item, PathLookup, Variant
from weft.code.resolve.rust.types import DERIVED, MACROS, chain_of, type_of
from weft.code.resolve.rust.values import FoundMethod, RustValues
from weft.code.resolve.rust.workspace import WORKSPACES, FileNames, ModulePlace


def resolve(facts: FileFacts, project: Project) -> FileLinks:
    """The links of a file."""
    return _FileResolution(facts, project).links()


class _FileResolution:
    def __init__(self, facts: FileFacts, project: Project) -> None:
        workspace = WORKSPACES.of(project)
        layout = workspace.layout_of(project, facts.path)
        names = workspace.names(project, facts.path)
        self._facts = facts
        self._file = names if names is not None and names.facts is facts else FileNames(facts)
        self._layout = layout
        self._names = PathLookup(project, workspace, layout)
        self._values = RustValues(self._names)
        self._found = CollectedLinks(facts)

    def links(self) -> FileLinks:
        """All links of the file, in the order of their lines."""
        for each in self._facts.imports:
            self._import(each)
        for reference in self._facts.references:
            self._reference(reference)
        for place in range(len(self._facts.definitions)):
            if self._file.is_class(place):
                self._traits(place)
        return self._found.links()

    def _target(self, item: Def) -> Target:
        return Target(path=item.path, key=self._names.definition(item).key)

    # Imports.

    def _import(self, each: Imported) -> None:
        inner = each.alias.rpartition("::")[0] if each.owner == FILE else self._file.module_of(each.owner)
        at = ModulePlace(self._facts.path, inner)
        if each.module == "mod" or each.module.startswith("mod="):
            below = self._names.below(self._facts.path, each.alias)
            if below is not None:
                self._found.add(FILE, "IMPORTS", Target(path=below), each.line)
            return
        names = tuple(each.module.split("::")) if each.module else ()
        item = self._module(at, each, names)
        if isinstance(item, External):
            self._found.add(FILE, "IMPORTS", Target(external=item.package), each.line)
        elif isinstance(item, ModulePlace) and item.path != self._facts.path:
            self._found.add(FILE, "IMPORTS", Target(path=item.path), each.line)
        elif isinstance(item, Def):
            self._depends(item, each.line)
            if item.path != self._facts.path:
                self._found.add(FILE, "IMPORTS", Target(path=item.path), each.line)
        if item is None:
            self._found.unresolved(f"{each.module}::{each.name}", each.line)
        elif each.name != "*":
            self._named(at, each, names)

    def _module(self, at: ModulePlace, each: Imported, names: tuple[str, ...]) -> Item | None:
        """The module, or other item, that an import takes names from."""
        if names and names[0] == "":
            names = tuple(part for part in names if part)
            item = self._names.crate(at, names[0] if names else each.name)
            if isinstance(item, ModulePlace) and len(names) > 1:
                return self._names.path(item, names[1:], "type")
            return item
        if not names:
            return self._names.crate(at, each.name) or self._names.path(at, (each.name,), "type")
        return self._names.path(at, names, "type")

    def _named(self, at: ModulePlace, each: Imported, names: tuple[str, ...]) -> None:
        """The definitions that an import names; a named module is imported, too."""
        for want in ("type", "value", "macro"):
            item = self._names.path(at, (*names, each.name), want) if names and names[0] else None
            if isinstance(item, Def | Variant):
                self._depends(item.enum if isinstance(item, Variant) else item, each.line)
            elif isinstance(item, ModulePlace) and item.path != self._facts.path:
                self._found.add(FILE, "IMPORTS", Target(path=item.path), each.line)

    def _depends(self, item: Def, line: int) -> None:
        if item.path != self._facts.path:
            self._found.add(FILE, "DEPENDS_ON", self._target(item), line)

    # Calls.

    def _reference(self, reference: Reference) -> None:
        item = self._meant(reference)
        if isinstance(item, Variant):
            item = item.enum if reference.form != "name" else None
        if isinstance(item, FoundMethod):
            item = item.item
        if isinstance(item, Def):
            if reference.form == "name":
                file = self._names.file(item.path)
                if file is None or file.is_class(item.place):
                    return
            is_tested = not self._names.definition(item).test
            self._found.call(reference.owner, self._target(item), reference.line, is_tested=is_tested)
        elif reference.form == "name":
            return
        elif isinstance(item, External):
            self._found.outside += 1
        else:
            self._found.unresolved(reference.chain, reference.line)

    def _meant(self, reference: Reference) -> FoundMethod | Def | Variant | External | None:
        context = self._values.context(self._facts.path, reference.owner)
        if reference.chain.endswith("!"):
            return self._macro(reference, context.at)
        root, steps = chain_of(reference.chain)
        if reference.form == "new":
            kind = self._values.after(*chain_of(reference.chain + "{}"), context, 0)
            return kind.head if kind is not None and isinstance(kind.head, Def | External) else None
        if not steps:
            return self._values.methods.by_path(root, context)
        name = steps[-1].name
        if steps[-1].kind != "." or not name:
            return None
        kind = self._values.after(root, steps[:-1], context, 0)
        if kind is None:
            return None
        found = self._values.methods.find(kind, name, context)
        if found is not None:
            return found
        if isinstance(kind.head, External):
            return kind.head
        return External("std", name) if name in DERIVED else None

    def _macro(self, reference: Reference, at: ModulePlace) -> Def | External | None:
        """A macro: an imported one, one of this file, or the only one of its name in the crate."""
        written = type_of(reference.chain[:-1])
        item = self._names.path(at, written.names, "macro", reference.owner) if written.kind == "path" else None
        if isinstance(item, Def | External):
            return item
        name = written.names[-1] if written.names else ""
        near = [(self._facts.path, key) for key in self._file.macros if key.rpartition("::")[2] == name]
        if not near and name not in MACROS and self._layout is not None:
            near = self._names.macros(self._layout, name)
        if len(near) == 1:
            path, key = near[0]
            file = self._names.file(path)
            found = file.keys.get(key) if file is not None else None
            return Def(path, found[0]) if found else None
        return None if near else External("std", name)

    # Traits.

    def _traits(self, place: int) -> None:
        definition = self._facts.definitions[place]
        head = Def(self._facts.path, place)
        relation: Relation = "EXTENDS" if definition.sort == "trait" else "IMPLEMENTS"
        lines = {impl.trait: impl.line for path, impl in self._values.methods.impls(head) if path == self._facts.path}
        for trait in self._values.methods.direct_traits(head):
            name = self._names.definition(trait).name
            line = next((at for text, at in lines.items() if name in text), definition.line)
            self._found.add(place, relation, self._target(trait), line)
