"""Rust: crates and modules, `use` and `pub use`, `self`, fields, declared and constructed types, traits."""

from __future__ import annotations

from weft.code.facts import FILE, FileFacts, Imported, Reference
from weft.code.resolving import Link, Links, Project, Relation, Target
from weft.code.resolving.rust_files import FileNames
from weft.code.resolving.rust_names import Def, Item, Names, Outside, Variant
from weft.code.resolving.rust_std import DERIVED, MACROS
from weft.code.resolving.rust_text import chain_of, type_of
from weft.code.resolving.rust_values import Method, Values
from weft.code.resolving.rust_workspace import Place, workspace_of


def resolve(facts: FileFacts, project: Project) -> Links:
    """What a file refers to."""
    return _FileResolution(facts, project).links()


class _FileResolution:
    """One file being resolved."""

    def __init__(self, facts: FileFacts, project: Project) -> None:
        workspace = workspace_of(project)
        layout = workspace.layout_of(project, facts.path)
        names = workspace.names(project, facts.path)
        self._facts = facts
        self._file = names if names is not None and names.facts is facts else FileNames(facts)
        self._layout = layout
        self._names = Names(project, workspace, layout)
        self._values = Values(self._names)
        self._links: dict[tuple[str, Relation, Target], int] = {}
        self._unresolved: list[tuple[str, int]] = []
        self._outside = 0

    def links(self) -> Links:
        """All of it."""
        for each in self._facts.imports:
            self._import(each)
        for reference in self._facts.references:
            self._reference(reference)
        for place in range(len(self._facts.definitions)):
            if self._file.is_class(place):
                self._traits(place)
        links = [Link(key, relation, to, line) for (key, relation, to), line in self._links.items()]
        return Links(
            links=tuple(sorted(links, key=lambda each: each.line)),
            unresolved=tuple(self._unresolved),
            outside=self._outside,
        )

    def _link(self, key: str, relation: Relation, to: Target, line: int) -> None:
        known = self._links.get((key, relation, to))
        if known is None or line < known:
            self._links[key, relation, to] = line

    def _target(self, item: Def) -> Target:
        return Target(path=item.path, key=self._names.definition(item).key)

    # Imports.

    def _import(self, each: Imported) -> None:
        inner = each.alias.rpartition("::")[0] if each.owner == FILE else self._file.module_of(each.owner)
        at = Place(self._facts.path, inner)
        if each.module == "mod" or each.module.startswith("mod="):
            below = self._names.below(self._facts.path, each.alias)
            if below is not None:
                self._link("", "IMPORTS", Target(path=below), each.line)
            return
        names = tuple(each.module.split("::")) if each.module else ()
        item = self._module(at, each, names)
        if isinstance(item, Outside):
            self._link("", "IMPORTS", Target(external=item.package), each.line)
        elif isinstance(item, Place) and item.path != self._facts.path:
            self._link("", "IMPORTS", Target(path=item.path), each.line)
        elif isinstance(item, Def):
            self._depends(item, each.line)
            if item.path != self._facts.path:
                self._link("", "IMPORTS", Target(path=item.path), each.line)
        if item is None:
            self._unresolved.append((f"{each.module}::{each.name}", each.line))
        elif each.name != "*":
            self._named(at, each, names)

    def _module(self, at: Place, each: Imported, names: tuple[str, ...]) -> Item | None:
        """What an import names things of."""
        if names and names[0] == "":
            names = tuple(part for part in names if part)
            item = self._names.crate(at, names[0] if names else each.name)
            if isinstance(item, Place) and len(names) > 1:
                return self._names.path(item, names[1:], "type")
            return item
        if not names:
            return self._names.crate(at, each.name) or self._names.path(at, (each.name,), "type")
        return self._names.path(at, names, "type")

    def _named(self, at: Place, each: Imported, names: tuple[str, ...]) -> None:
        """The definitions that an import names; a module that it names is imported too."""
        for want in ("type", "value", "macro"):
            item = self._names.path(at, (*names, each.name), want) if names and names[0] else None
            if isinstance(item, Def | Variant):
                self._depends(item.enum if isinstance(item, Variant) else item, each.line)
            elif isinstance(item, Place) and item.path != self._facts.path:
                self._link("", "IMPORTS", Target(path=item.path), each.line)

    def _depends(self, item: Def, line: int) -> None:
        if item.path != self._facts.path:
            self._link("", "DEPENDS_ON", self._target(item), line)

    # Calls.

    def _reference(self, reference: Reference) -> None:
        item = self._meant(reference)
        if isinstance(item, Variant):
            item = item.enum if reference.form != "name" else None
        if isinstance(item, Method):
            item = item.item
        if isinstance(item, Def):
            if reference.form == "name":
                file = self._names.file(item.path)
                if file is None or file.is_class(item.place):
                    return
            self._call(reference, item)
        elif reference.form == "name":
            return
        elif isinstance(item, Outside):
            self._outside += 1
        else:
            self._unresolved.append((reference.chain, reference.line))

    def _call(self, reference: Reference, item: Def) -> None:
        owner = self._facts.definitions[reference.owner] if reference.owner != FILE else None
        key = owner.key if owner is not None else ""
        target = self._target(item)
        self._link(key, "CALLS", target, reference.line)
        if owner is not None and owner.test and not self._names.definition(item).test:
            self._link(key, "TESTS", target, reference.line)

    def _meant(self, reference: Reference) -> Method | Def | Variant | Outside | None:
        context = self._values.context(self._facts.path, reference.owner)
        if reference.chain.endswith("!"):
            return self._macro(reference, context.at)
        root, steps = chain_of(reference.chain)
        if reference.form == "new":
            kind = self._values.after(*chain_of(reference.chain + "{}"), context, 0)
            return kind.head if kind is not None and isinstance(kind.head, Def | Outside) else None
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
        if isinstance(kind.head, Outside):
            return kind.head
        return Outside("std", name) if name in DERIVED else None

    def _macro(self, reference: Reference, at: Place) -> Def | Outside | None:
        """A macro: one that is imported, of this file, or the only one of its name in the crate."""
        written = type_of(reference.chain[:-1])
        item = self._names.path(at, written.names, "macro", reference.owner) if written.kind == "path" else None
        if isinstance(item, Def | Outside):
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
        return None if near else Outside("std", name)

    # Traits.

    def _traits(self, place: int) -> None:
        definition = self._facts.definitions[place]
        head = Def(self._facts.path, place)
        relation: Relation = "EXTENDS" if definition.sort == "trait" else "IMPLEMENTS"
        lines = {impl.trait: impl.line for path, impl in self._values.methods.impls(head) if path == self._facts.path}
        for trait in self._values.methods.direct_traits(head):
            name = self._names.definition(trait).name
            line = next((at for text, at in lines.items() if name in text), definition.line)
            self._link(definition.key, relation, self._target(trait), line)
