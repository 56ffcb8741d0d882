"""Rust paths as seen from a module: items of this and other crates, through `use`, `pub use` and globs."""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct

from weft.code.parse.facts import FILE, Definition, Imported
from weft.code.resolve import Project
from weft.code.resolve.rust.types import PRELUDE
from weft.code.resolve.rust.workspace import CargoWorkspace, FileNames, Impl, Layout, ModulePlace, ask_again

Want = Literal["type", "value", "macro"]
MAX_LOOKUPS: Final = 64  # modules that one name is followed through
MAX_TABLE_ASKS: Final = 100  # questions of one file about who implements what
STANDARD: Final = frozenset({"std", "core", "alloc", "proc_macro", "test"})


class Def(Struct, frozen=True):
    """A definition: file and place."""

    path: str
    place: int


class Variant(Struct, frozen=True):
    """A variant of an enum."""

    enum: Def
    name: str


class Alias(Struct, frozen=True):
    """A type's other name, and where it is written."""

    text: str
    at: ModulePlace


class Const(Struct, frozen=True):
    """A constant or a static: its type as written, and its place."""

    type: str
    at: ModulePlace


class External(Struct, frozen=True):
    """Something external: the package, and the last name."""

    package: str
    name: str


Item = ModulePlace | Def | Variant | Alias | Const | External


class PathLookup:
    """Looks up paths for one file that is being resolved."""

    def __init__(self, project: Project, workspace: CargoWorkspace, layout: Layout | None) -> None:
        self._project = project
        self._workspace = workspace
        self._layout = layout
        self._owners: dict[str, Layout | None] = {}
        self._tables: set[str] = set()  # the crates whose tables were asked for, by their roots
        self._table_asks = 0
        self._seen: set[tuple[ModulePlace, str, Want]] = set()
        self._known: dict[tuple[ModulePlace, str, Want], Item | None] = {}

    def file(self, path: str) -> FileNames | None:
        return self._workspace.names(self._project, path)

    def definition(self, item: Def) -> Definition:
        names = self.file(item.path)
        assert names is not None, item.path
        return names.definition(item.place)

    def layout_of(self, path: str) -> Layout | None:
        """The crate that a file is part of; of several, that of the file being resolved."""
        if path not in self._owners:
            self._owners[path] = self._owner(path)
        return self._owners[path]

    def _owner(self, path: str) -> Layout | None:
        if self._layout is None or not self._layout.holds(path):
            return self._workspace.layout_of(self._project, path)
        ask_again(self._project, self._layout.place_asks(path))
        return self._layout

    def below(self, path: str, alias: str) -> str | None:
        """The file that `mod x;` names in a file."""
        layout = self.layout_of(path)
        if layout is None:
            return None
        ask_again(self._project, (("exists", each) for each in layout.tried.get((path, alias), ())))
        return layout.below.get((path, alias))

    def impls(self, layout: Layout, name: str) -> list[tuple[str, Impl]]:
        """The implementations in a crate for types of that name."""
        self._ask_table(layout)
        return layout.impls.get(name, [])

    def macros(self, layout: Layout, name: str) -> list[tuple[str, str]]:
        """The macros of that name anywhere in a crate."""
        self._ask_table(layout)
        return layout.macros.get(name, [])

    def _ask_table(self, layout: Layout) -> None:
        """Queries all files of a crate, since any may add an implementation.

        Large crates are skipped: each file would depend on all others, and one new name would cause all of them to be
        resolved again.
        """
        if layout.root.path in self._tables:
            return
        self._tables.add(layout.root.path)
        if self._table_asks + len(layout.table_asks) <= MAX_TABLE_ASKS:
            self._table_asks += len(layout.table_asks)
            ask_again(self._project, layout.table_asks)

    def layouts(self, path: str) -> list[Layout]:
        """The crates in which a visible type may be implemented: its own, and those that a file names."""
        own = self.layout_of(path)
        if own is None:
            return []
        crates = [self._workspace.crate_at(root) for root in own.crate.inside.values()]
        return [own, *(self._workspace.layout(self._project, crate) for crate in crates if crate is not None)]

    @property
    def here(self) -> Layout | None:
        """The crate of the file that is resolved."""
        return self._layout

    def path(self, at: ModulePlace, names: tuple[str, ...], want: Want, owner: int = FILE) -> Item | None:
        """The meaning of a path inside a module, and inside a definition of it, whose own imports come first."""
        if not names:
            return at
        item = self._first(at, names, want if len(names) == 1 else "type", owner)
        for place, name in enumerate(names[1:], 1):
            if item is None:
                return None
            last = place == len(names) - 1
            item = self._inside(item, name, want if last else "type")
        return item

    def _first(self, at: ModulePlace, names: tuple[str, ...], want: Want, owner: int) -> Item | None:
        name = names[0]
        if name == "":
            return None if len(names) > 1 else at
        if name == "self":
            return at
        if name in ("crate", "$crate"):
            layout = self.layout_of(at.path)
            return layout.root if layout is not None else None
        if name == "super":
            return self.above(at)
        found = self._imported_inside(at, name, want, owner) or self.lookup(at, name, want)
        if found is not None:
            return found
        if want != "value":
            found = self.crate(at, name)
        return found if found is not None else _prelude(name)

    def _imported_inside(self, at: ModulePlace, name: str, want: Want, owner: int) -> Item | None:
        """The item that an import inside a function binds to a name."""
        file = self.file(at.path) if owner != FILE else None
        for each in file.inner_imports.get(owner, ()) if file is not None else ():
            if each.alias == name or each.name == "*":
                found = self._import(at, each, name if each.name == "*" else each.name, want)
                if found is not None and not (each.name == "*" and isinstance(found, External)):
                    return found
        return None

    def above(self, at: ModulePlace) -> ModulePlace | None:
        """The module around a module."""
        if at.inner:
            return ModulePlace(at.path, at.inner.rpartition("::")[0])
        layout = self.layout_of(at.path)
        return layout.above.get(at.path) if layout is not None else None

    def crate(self, at: ModulePlace, name: str) -> Item | None:
        """A crate by its name as seen from a file."""
        if name in STANDARD:
            return External(name, name)
        layout = self.layout_of(at.path)
        if layout is None:
            return None
        root = layout.crate.inside.get(name)
        if root is not None:
            return ModulePlace(root)
        return External(name, name) if name in layout.crate.outside else None

    def _inside(self, item: Item, name: str, want: Want) -> Item | None:
        if isinstance(item, ModulePlace):
            if name == "super":
                return self.above(item)
            if name == "self":
                return item
            return self.lookup(item, name, want)
        if isinstance(item, External):
            return External(item.package, name)
        if isinstance(item, Def):
            return self.variant(item, name)
        return None

    def variant(self, item: Def, name: str) -> Variant | None:
        """A variant of an enum."""
        file = self.file(item.path)
        if (
            file is not None
            and file.definition(item.place).sort == "enum"
            and file.binding(item.place, name) is not None
        ):
            return Variant(item, name)
        return None

    def lookup(self, at: ModulePlace, name: str, want: Want) -> Item | None:
        """The item of a name in a module: its own items, then named imports, then globs."""
        asked = (at, name, want)
        if asked in self._known:
            return self._known[asked]
        if asked in self._seen or len(self._seen) > MAX_LOOKUPS:
            return None
        self._seen.add(asked)
        found = self._looked_up(at, name, want)
        self._seen.discard(asked)
        if found is not None or not self._seen:  # what was not found on the way round a circle may be found otherwise
            self._known[asked] = found
        return found

    def _looked_up(self, at: ModulePlace, name: str, want: Want) -> Item | None:
        file = self.file(at.path)
        if file is None:
            return None
        key = f"{at.inner}::{name}" if at.inner else name
        found = self._own(file, at, key, want)
        if found is not None:
            return found
        for each in file.imports.get(key, ()):
            found = self._import(at, each, each.name, want)
            if found is not None:
                return found
        for each in file.globs.get(at.inner, ()):
            found = self._import(at, each, name, want)
            if found is not None and not isinstance(found, External):  # what else is outside is not known
                return found
        return None

    def _own(self, file: FileNames, at: ModulePlace, key: str, want: Want) -> Item | None:
        for place in file.keys.get(key, ()):
            is_class = file.is_class(place)
            is_macro = key in file.macros
            if (is_class and want != "macro") or (not is_class and want != "type" and is_macro == (want == "macro")):
                return Def(file.path, place)
        if want == "type":
            if key in file.modules:
                return ModulePlace(file.path, key)
            if key in file.submodules:
                below = self.below(file.path, key)
                return ModulePlace(below) if below is not None else None
        alias = file.binding(FILE, f"type {key}") if want != "macro" else None
        if alias is not None:
            return Alias(alias.chain, at)
        constant = file.binding(FILE, f"const {key}") if want == "value" else None
        return Const(constant.chain, at) if constant is not None else None

    def _import(self, at: ModulePlace, each: Imported, name: str, want: Want) -> Item | None:
        """A name inside the target of an import."""
        if each.module.startswith("::") or (not each.module and name == each.name != "*"):
            return self._of_crate(at, each, name, want)
        names = tuple(each.module.split("::")) if each.module else ()
        module = self.path(at, names, "type") if names else at
        return self._inside(module, name, want) if module is not None else None

    def _of_crate(self, at: ModulePlace, each: Imported, name: str, want: Want) -> Item | None:
        names = tuple(part for part in each.module.split("::") if part)
        first = names[0] if names else name
        if not each.module and (each.alias.rpartition("::")[2] != name):
            local = self.lookup(at, name, want)  # `use helper as other;`
            if local is not None:
                return local
        item = self.crate(at, first)
        if item is None and not each.module and first in ("crate", "self", "super"):
            return self.path(at, (first,), want)
        for part in (*names[1:], name) if names else ():
            item = self._inside(item, part, "type" if part != name else want) if item is not None else None
        return item


def _prelude(name: str) -> Item | None:
    return External("std", name) if name in PRELUDE else None
