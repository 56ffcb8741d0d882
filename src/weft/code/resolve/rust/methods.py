"""Methods of Rust types: their own, those of implemented traits, those of the target of `Deref`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from weft.code.parse.facts import FILE
from weft.code.resolve.rust.names import Alias, Def, External, Variant
from weft.code.resolve.rust.types import DERIVED, PRELUDE, WrittenType, type_of
from weft.code.resolve.rust.workspace import FileNames, Impl, ModulePlace

if TYPE_CHECKING:
    from weft.code.resolve.rust.values import Context, FoundMethod, RustValues, Type

MAX_TRAITS: Final = 64
MAX_TARGETS: Final = 6
MAX_IMPLS: Final = 2_000


class Methods:
    """Finds methods for one file that is being resolved."""

    def __init__(self, values: RustValues) -> None:
        self._values = values
        self._names = values.names
        self._found: dict[tuple[Type, str, ModulePlace, str], FoundMethod | None] = {}
        self._impls: dict[tuple[str, int], list[tuple[str, Impl]]] = {}

    def find(self, kind: Type, name: str, context: Context, depth: int = 0) -> FoundMethod | None:
        """The method of a type by that name; None if it has none in the project."""
        asked = (kind, name, context.at, self._implemented(context))
        if asked not in self._found:
            self._found[asked] = None  # a circle ends here
            self._found[asked] = self._find(kind, name, context, depth)
        return self._found[asked]

    def _find(self, kind: Type, name: str, context: Context, depth: int) -> FoundMethod | None:
        if depth > MAX_TARGETS:
            return None
        if isinstance(kind.head, External):
            if kind.head.name == "+":
                found = (self.find(each, name, context, depth + 1) for each in kind.given if each is not None)
                return next((each for each in found if each is not None), None)
            return self._extension(kind, name, context)
        if not isinstance(kind.head, Def):
            return None
        own = self._candidates(kind.head, name)
        if own:
            return self._method(self._best(own, context), kind)
        for trait in self.traits(kind.head):
            file = self._names.file(trait.path)
            places = self._members(file, trait.place, name) if file is not None else []
            if places:
                return self._method(Def(trait.path, places[0]), kind)
        target = self.target(kind)
        return self.find(target, name, context, depth + 1) if target is not None and target != kind else None

    def _members(self, file: FileNames, place: int, name: str) -> list[int]:
        key = file.definition(place).key
        return file.methods(key, name)

    def _candidates(self, head: Def, name: str) -> list[Def]:
        """The methods of that name in any `impl` of the type in its crate."""
        file = self._names.file(head.path)
        if file is None:
            return []
        found = [Def(head.path, at) for at in self._members(file, head.place, name)]
        if not found:
            for path, impl in self.impls(head):
                other = self._names.file(path)
                if other is not None and (path != head.path or impl.module != file.module_of(head.place)):
                    key = f"{impl.module}::{impl.head}" if impl.module else impl.head
                    found.extend(Def(path, at) for at in other.methods(key, name))
        return list(dict.fromkeys(found))

    def _best(self, found: list[Def], context: Context) -> Def | None:
        """The type's own method before those of traits; of several traits the one in scope, else None.

        Also None if the same trait is implemented with other arguments (`From`).
        """
        if len(found) < 2:
            return found[0] if found else None
        traits = [self._names.definition(each).interfaces for each in found]
        for each, trait in zip(found, traits, strict=True):
            if not trait:
                return each
        heads = {trait[0].partition("<")[0] for trait in traits}
        if len(heads) == 1:
            return None if len({trait[0] for trait in traits}) > 1 else found[0]
        known = [each for each, trait in zip(found, traits, strict=True) if self._is_known(each, trait[0], context)]
        return known[0] if len(known) == 1 else None

    def _is_known(self, method: Def, trait: str, context: Context) -> bool:
        """Whether a method's trait is in scope at a place, as calling it requires."""
        if context.at.path == method.path and self._implemented(context) == trait:
            return True
        name = trait.partition("<")[0].rpartition("::")[2]
        here = self._names.path(context.at, (name,), "type", context.owner)
        return name in PRELUDE if here is None else here == self._trait_of(method)

    def _implemented(self, context: Context) -> str:
        """The trait, as written, in whose implementation a place is."""
        if context.owner == FILE:
            return ""
        return next(iter(self._names.definition(Def(context.at.path, context.owner)).interfaces), "")

    def _trait_of(self, method: Def) -> object:
        """The trait whose implementation contains a method; None for a type's own method."""
        written = self._names.definition(method).interfaces
        at = self._values.context(method.path, method.place).at
        named = type_of(written[0]) if written else None
        return self._names.path(at, named.names, "type") if named is not None and named.kind == "path" else None

    def _method(self, item: Def | None, kind: Type) -> FoundMethod | None:
        from weft.code.resolve.rust.values import Context, FoundMethod

        if item is None:
            return None
        file = self._names.file(item.path)
        assert file is not None
        base = self._values.context(item.path, item.place)
        known = {}
        written = file.binding(item.place, "Self")
        if written is not None:
            for part, given in zip(_arguments(type_of(written.chain)), kind.given, strict=False):
                if part in file.generics.get(item.place, ()) and given is not None:
                    known[part] = given
        self_type = kind if written is None or kind.given else base.self_type
        return FoundMethod(item, Context(base.at, item.place, self_type or kind, known))

    def inside(self, kind: Type) -> Context:
        """The context of a type's fields, with the meaning of its type parameters."""
        from weft.code.resolve.rust.values import Context

        assert isinstance(kind.head, Def)
        base = self._values.context(kind.head.path, kind.head.place)
        file = self._names.file(kind.head.path)
        names = file.generics.get(kind.head.place, {}) if file is not None else {}
        known = {name: given for name, given in zip(names, kind.given, strict=False) if given is not None}
        return Context(base.at, base.owner, kind, known)

    # Implementations and traits.

    def impls(self, head: Def) -> list[tuple[str, Impl]]:
        """The implementations of a type of the project, in its crate and in that of the file being resolved."""
        asked = (head.path, head.place)
        if asked not in self._impls:
            self._impls[asked] = list(self._impls_of(head))
        return self._impls[asked]

    def _impls_of(self, head: Def) -> Iterator[tuple[str, Impl]]:
        layout = self._names.layout_of(head.path)
        name = self._names.definition(head).name
        here = self._names.here if self._names.here is not layout else None
        for each in (layout, here):
            for path, impl in (self._names.impls(each, name) if each is not None else [])[:MAX_IMPLS]:
                kind = type_of(impl.type)
                if kind.kind == "path" and self._means(path, impl, kind, head):
                    yield path, impl

    def _means(self, path: str, impl: Impl, kind: WrittenType, head: Def) -> bool:
        item = self._names.path(ModulePlace(path, impl.module), kind.names, "type")
        if isinstance(item, Alias):
            made = self._values.from_item(item, ())
            item = made.head if made is not None else None
        return item == head

    def traits(self, head: Def) -> list[Def]:
        """The project's traits that a type implements or that a trait extends, nearest first."""
        found: dict[Def, None] = {}
        waiting = [head]
        while waiting and len(found) < MAX_TRAITS:
            for each in self.direct_traits(waiting.pop(0)):
                if each not in found and each != head:
                    found[each] = None
                    waiting.append(each)
        return list(found)

    def direct_traits(self, head: Def) -> Iterator[Def]:
        """Directly declared ones: `impl Trait for Type`, `trait Trait: Other`."""
        definition = self._names.definition(head)
        if definition.sort == "trait":
            context = self._values.context(head.path, head.place)
            for base in definition.bases:
                yield from self._trait(base, context.at)
            return
        for path, impl in self.impls(head):
            if impl.trait:
                yield from self._trait(impl.trait, ModulePlace(path, impl.module))

    def _trait(self, text: str, at: ModulePlace) -> Iterator[Def]:
        written = type_of(text)
        item = self._names.path(at, written.names, "type") if written.kind == "path" else None
        if isinstance(item, Def):
            yield item

    def _extension(self, kind: Type, name: str, context: Context) -> FoundMethod | None:
        """A method of a project's trait that is implemented for an external type."""
        if name in DERIVED:  # most often one of its own, and which one is shown by types of arguments
            return None
        layouts = self._names.layouts(context.at.path)
        for path, impl in [each for layout in layouts for each in self._names.impls(layout, kind.outside)][:MAX_IMPLS]:
            file = self._names.file(path)
            key = f"{impl.module}::{impl.head}" if impl.module else impl.head
            places = file.methods(key, name) if file is not None else []
            if places and self._is_outside(path, impl, kind):
                return self._method(self._best([Def(path, at) for at in places], context), kind)
        return None

    def _is_outside(self, path: str, impl: Impl, kind: Type) -> bool:
        """Whether an implementation is for an external type, and not for one of the project with the same name."""
        written = type_of(impl.type)
        if written.kind != "path":
            return written.kind == kind.outside
        item = self._names.path(ModulePlace(path, impl.module), written.names, "type")
        return isinstance(item, External) and item.package == getattr(kind.head, "package", "")

    def target(self, kind: Type) -> Type | None:
        """The target type of `Deref`."""
        if not isinstance(kind.head, Def):
            return None
        for path, impl in self.impls(kind.head):
            if impl.trait.rpartition("::")[2] == "Deref":
                found = self._member_in(path, impl, "Target", kind)
                return self._values.type(type_of(found[0]), found[1]) if found is not None else None
        return None

    def member_type(self, kind: Type, name: str) -> tuple[str, Context] | None:
        """The text of an associated type `type Name = …` and its place; for a trait, its bounds."""
        if not isinstance(kind.head, Def):
            return None
        file = self._names.file(kind.head.path)
        if file is not None and file.definition(kind.head.place).sort == "trait":
            for trait in (kind.head, *self.traits(kind.head)):
                other = self._names.file(trait.path)
                bound = other.binding(trait.place, f"type {name}") if other is not None else None
                if bound is not None:
                    return bound.chain, self._values.context(trait.path, trait.place)
            return None
        for path, impl in self.impls(kind.head):
            found = self._member_in(path, impl, name, kind)
            if found is not None:
                return found
        return None

    def _member_in(self, path: str, impl: Impl, name: str, kind: Type) -> tuple[str, Context] | None:
        from weft.code.resolve.rust.values import Context

        file = self._names.file(path)
        key = "::".join(part for part in (impl.module, impl.head, name) if part)
        bound = file.binding(FILE, f"type {key}") if file is not None else None
        if bound is None:
            return None
        names = dict(impl.generics)
        pairs = zip(_arguments(type_of(impl.type)), kind.given, strict=False)
        known = {part: given for part, given in pairs if part in names and given is not None}
        return bound.chain, Context(ModulePlace(path, impl.module), FILE, kind, known)

    # Paths.

    def by_path(self, root: WrittenType, context: Context) -> FoundMethod | Def | Variant | External | None:
        """The meaning of a called path: a function or method, a type or variant, or something external."""
        if root.kind == "as":
            return self._of_qualified(root, context)
        names = root.names
        item = self._names.path(context.at, names, "value", context.owner) if names[0] != "Self" else None
        if isinstance(item, Alias):
            made = self._values.from_item(item, ())
            item = made.head if made is not None and isinstance(made.head, Def | External) else None
        if isinstance(item, Def):
            file = self._names.file(item.path)
            return item if file is not None and file.is_class(item.place) else self._plain(item)
        if isinstance(item, Variant):
            return item
        if names == ("Self",):
            kind = context.self_type
            return kind.head if kind is not None and isinstance(kind.head, Def) else None
        if len(names) > 1:
            kind = self._values.type(WrittenType("path", names[:-1], root.given[:-1]), context)
            found = self._of_type(kind, names[-1], context)
            if found is not None:
                return found
        return item if isinstance(item, External) else None

    def _plain(self, item: Def) -> FoundMethod:
        from weft.code.resolve.rust.values import FoundMethod

        return FoundMethod(item, self._values.context(item.path, item.place))

    def _of_type(self, kind: Type | None, name: str, context: Context) -> FoundMethod | Variant | External | None:
        if kind is None:
            return None
        if isinstance(kind.head, Def):
            variant = self._names.variant(kind.head, name)
            if variant is not None:
                return variant
        found = self.find(kind, name, context)
        if found is not None:
            return found
        if isinstance(kind.head, External):
            return kind.head
        derived = isinstance(kind.head, Def) and name in DERIVED and not self._candidates(kind.head, name)
        return External("std", name) if derived else None

    def _of_qualified(self, root: WrittenType, context: Context) -> FoundMethod | Variant | External | None:
        if not root.names:
            return None
        kind = self._values.type(root.parts[0], context)
        if len(root.parts) == 2 and root.parts[1].kind == "path" and kind is not None and isinstance(kind.head, Def):
            trait = self._names.path(context.at, root.parts[1].names, "type", context.owner)
            own = [each for each in self._candidates(kind.head, root.names[-1]) if self._trait_of(each) == trait]
            if trait is not None and own:
                return self._method(own[0] if len(own) == 1 else None, kind)
            if isinstance(trait, Def):
                return self._of_type(self._values.type(root.parts[1], context), root.names[-1], context)
        found = None
        for part in root.parts:
            found = self._of_type(self._values.type(part, context), root.names[-1], context)
            if found is not None and not isinstance(found, External):
                return found
        return found


def _arguments(written: WrittenType) -> list[str]:
    """The names of a type's arguments, as far as they are single names."""
    given = written.given[-1] if written.given else ()
    return [each.names[0] if each.kind == "path" and len(each.names) == 1 else "" for each in given]
