"""Rust: the facts of one file, by name."""

from __future__ import annotations

from msgspec import Struct

from weft.code.facts import CLASS_SORTS, FILE, Binding, Definition, FileFacts, Imported


class Impl(Struct, frozen=True):
    """An implementation: the inline module it stands in, its type and trait as written, what it is generic over."""

    module: str
    type: str
    trait: str
    generics: tuple[tuple[str, str], ...]
    line: int

    @property
    def head(self) -> str:
        """The type's own name."""
        return self.type.partition("<")[0].rpartition("::")[2]


class FileNames:
    """What one file says, by name. Names inside inline modules begin with the module's."""

    def __init__(self, facts: FileFacts) -> None:
        self.facts = facts
        self.path = facts.path
        self.modules = frozenset(facts.extra.get("modules", "").split("\n")) - {""}
        self.macros = frozenset(facts.extra.get("macros", "").split("\n")) - {""}
        self.keys: dict[str, list[int]] = {}  # without the counts of keys that come again
        self.imports: dict[str, list[Imported]] = {}
        self.globs: dict[str, list[Imported]] = {}
        self.submodules: dict[str, Imported] = {}
        self.inner_imports: dict[int, list[Imported]] = {}
        self.bindings: dict[int, dict[str, Binding]] = {}
        self.generics: dict[int, dict[str, str]] = {}
        self.impls: list[Impl] = []
        for place, definition in enumerate(facts.definitions):
            self.keys.setdefault(plain(definition.key), []).append(place)
        for each in facts.imports:
            self._take_import(each)
        for bound in facts.bindings:
            self._take_binding(bound)

    def _take_import(self, each: Imported) -> None:
        if each.owner != FILE:
            self.inner_imports.setdefault(each.owner, []).append(each)
        elif each.module == "mod" or each.module.startswith("mod="):
            self.submodules.setdefault(each.alias, each)
        elif each.name == "*":
            self.globs.setdefault(each.alias.removesuffix("*").removesuffix("::"), []).append(each)
        else:
            self.imports.setdefault(each.alias, []).append(each)

    def _take_binding(self, bound: Binding) -> None:
        if bound.owner == FILE and bound.name == "impl":
            module, kind, trait, generics = [*bound.chain.split("\t"), "", "", ""][:4]
            pairs = [each.partition("=") for each in generics.split(";") if each]
            self.impls.append(Impl(module, kind, trait, tuple((name, to) for name, _, to in pairs), bound.line))
        elif bound.name.startswith("<"):
            self.generics.setdefault(bound.owner, {})[bound.name[1:-1]] = bound.chain
        else:
            self.bindings.setdefault(bound.owner, {}).setdefault(bound.name, bound)

    def definition(self, place: int) -> Definition:
        """One definition."""
        return self.facts.definitions[place]

    def module_of(self, place: int) -> str:
        """The inline module that a definition stands in, empty at the top."""
        if place == FILE or not self.modules:
            return ""
        module = self.facts.definitions[place].key.rpartition("::")[0]
        while module and module not in self.modules:
            module = module.rpartition("::")[0]
        return module

    def members(self, type_key: str, name: str) -> list[int]:
        """The methods of a type by that name, as this file has them."""
        return [at for at in self.keys.get(f"{type_key}::{name}", ()) if not self.is_class(at)]

    def is_class(self, place: int) -> bool:
        """Whether a definition is a type or a trait."""
        return self.facts.definitions[place].sort in CLASS_SORTS


def plain(key: str) -> str:
    """A key without its counts."""
    return "::".join(part.partition("~")[0] for part in key.split("::")) if "~" in key else key
