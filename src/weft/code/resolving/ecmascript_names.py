"""JavaScript and TypeScript: the facts of one file by name, and chains and types in their parts."""

from __future__ import annotations

from functools import lru_cache
from typing import Final
from weakref import WeakKeyDictionary

from weft.code.facts import CLASS_SORTS, FILE, Binding, Definition, FileFacts, Imported
from weft.code.resolving import Project

MAX_KEPT_FILES: Final = 4_000


class Names:
    """What a file defines, binds, imports and passes on, by name."""

    def __init__(self, facts: FileFacts) -> None:
        self.facts = facts
        self.definitions: tuple[Definition, ...] = facts.definitions
        self.places: dict[str, int] = {}  # by key
        self.top: dict[str, list[int]] = {}  # what stands in no class, by name
        self.members: dict[int, dict[str, int]] = {}  # by class, by name
        self.objects: dict[str, dict[str, int]] = {}  # functions on an object or a function, by its key
        self.spaces: dict[str, dict[str, int]] = {}  # what stands in a namespace or a suite, by its key
        for place, each in enumerate(facts.definitions):
            self.places.setdefault(each.key, place)
            prefix, _, last = each.key.rpartition("::")
            name = last.partition("~")[0]
            if each.parent != FILE:
                self.members.setdefault(each.parent, {}).setdefault(name, place)
            elif each.test:
                continue  # a title is no name
            elif prefix:
                held = self.objects if each.sort == "method" else self.spaces
                held.setdefault(prefix, {}).setdefault(name, place)
            else:
                self.top.setdefault(name, []).append(place)
        self.bindings: dict[tuple[int, str], Binding] = {}
        for bound in facts.bindings:
            known = self.bindings.get((bound.owner, bound.name))
            if known is None or (bound.declared and not known.declared) or known.chain.startswith("?"):
                self.bindings[bound.owner, bound.name] = bound
        self.imports: dict[str, Imported] = {}
        self.passed: dict[str, Imported] = {}
        self.stars: list[Imported] = []
        for imported in facts.imports:
            if imported.exported and imported.name == "*":
                self.stars.append(imported)
            elif imported.exported:
                self.passed.setdefault(imported.alias, imported)
            elif imported.alias:
                self.imports.setdefault(imported.alias, imported)

    def value_place(self, name: str, *left_out: str) -> int | None:
        """The definition at the top that a name means as a value, but none of some sorts."""
        found = self.top.get(name, ())
        return next((place for place in found if self.definitions[place].sort not in ("interface", *left_out)), None)

    def is_space(self, key: str) -> bool:
        """Whether anything stands in a namespace of that key."""
        return any(each == key or each.startswith((f"{key}::", f"{key}.")) for each in self.spaces)

    def type_place(self, name: str) -> int | None:
        """The definition at the top that a name means as a type."""
        found = self.top.get(name, ())
        return next(
            (place for place in found if self.definitions[place].sort in CLASS_SORTS), found[0] if found else None
        )

    def nearest(self, owner: int, name: str) -> int | None:
        """The definition of that name that stands beside an owner, or beside what is around it (a namespace)."""
        if owner == FILE:
            return None
        steps = self.definitions[owner].key.split("::")
        for count in range(len(steps) - 1, 0, -1):
            place = self.spaces.get("::".join(steps[:count]), {}).get(name)
            if place is not None:
                return place
        return None

    def of_class(self, place: int) -> int:
        """The class that a definition is a member of, itself if it is a class, FILE without one."""
        if place == FILE or self.definitions[place].sort in CLASS_SORTS:
            return place
        return self.definitions[place].parent


_KEPT: Final[WeakKeyDictionary[Project, dict[str, Names]]] = WeakKeyDictionary()


def names_of(project: Project, path: str) -> Names | None:
    """The facts of a file by name; asked for anew, built once for the same facts."""
    facts = project.facts(path)
    if facts is None:
        return None
    kept = _KEPT.setdefault(project, {})
    known = kept.get(path)
    if known is None or known.facts is not facts:
        if len(kept) >= MAX_KEPT_FILES:
            kept.clear()
        known = kept[path] = Names(facts)
    return known


@lru_cache(maxsize=20_000)
def parts_of(chain: str) -> tuple[str, tuple[str, ...]]:
    """What a chain begins with, and its steps: `.name`, `()`, `[n]`, `@n@k`. A construction is one with its `()`."""
    at = 4 if chain.startswith("new ") else 0
    at = _head_end(chain, at)
    if chain.startswith("new "):
        called = chain.find("()", at)
        if called < 0:
            return "?", ()
        at = called + 2
    parts, begin = [], at
    for place in range(at, len(chain)):
        each = chain[place]
        if each in ".[" or (each == "(" and chain[place - 1] != "(") or (each == "@" and "@" not in chain[begin:place]):
            if place > begin:
                parts.append(chain[begin:place])
            begin = place
    if begin < len(chain):
        parts.append(chain[begin:])
    return chain[:at], tuple(parts)


def _head_end(chain: str, at: int) -> int:
    if chain.startswith("<", at):
        return closing(chain, at) + 1
    if chain.startswith(("import(", "require("), at):
        return chain.find(")", at) + 1 or len(chain)
    while at < len(chain) and chain[at] not in ".([@":
        at += 1
    return at


def closing(text: str, at: int) -> int:
    """Where the bracket that opens at a place is closed; the last character if it is not."""
    depth = 0
    for place in range(at, len(text)):
        each = text[place]
        if each in "<([{":
            depth += 1
        elif each in ")]}" or (each == ">" and text[place - 1] != "="):
            depth -= 1
            if depth == 0:
                return place
    return len(text) - 1


@lru_cache(maxsize=20_000)
def split(text: str, mark: str) -> tuple[str, ...]:
    """The parts of a type between marks that stand outside all brackets."""
    parts, begin, at = [], 0, 0
    while at < len(text):
        if text[at] in "<([{":
            at = closing(text, at)
        elif text[at] == mark:
            parts.append(text[begin:at])
            begin = at + 1
        at += 1
    return (*parts, text[begin:])
