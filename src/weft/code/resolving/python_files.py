"""Python: what one file holds by name, ready to be looked up."""

from __future__ import annotations

from typing import Final
from weakref import WeakKeyDictionary

from weft.code.facts import CLASS_SORTS, FILE, Binding, Definition, FileFacts, Imported
from weft.code.resolving import Project

MAX_FILES: Final = 20_000  # that are kept ready for one project


class PythonFile:
    """The facts of a file, by owner and name."""

    __slots__ = ("_bindings", "_imports", "_inner", "_members", "exports", "facts", "path", "properties", "stars")

    def __init__(self, facts: FileFacts) -> None:
        self.facts = facts
        self.path = facts.path
        self.properties = _places(facts, "properties")
        overloads = _places(facts, "overloads")
        members: dict[tuple[int, str], list[int]] = {}
        for place, each in enumerate(facts.definitions):
            members.setdefault((each.parent, each.name), []).append(place)
        for key, places in members.items():
            if len(places) > 1:
                members[key] = _meant(places, self.properties, overloads)
        imports: dict[tuple[int, str], list[Imported]] = {}
        self._inner: dict[str, list[Imported]] = {}
        self.stars: list[Imported] = []
        for found in facts.imports:
            if found.name == "*":
                self.stars.append(found)
            else:
                alias = found.alias if found.name else found.alias.partition(".")[0]
                imports.setdefault((found.owner, alias), []).append(found)
                if found.owner != FILE:
                    self._inner.setdefault(alias, []).append(found)
        bindings: dict[tuple[int, str], list[Binding]] = {}
        for bound in facts.bindings:
            bindings.setdefault((bound.owner, bound.name), []).append(bound)
        self._members, self._imports, self._bindings = members, imports, bindings
        listed = facts.extra.get("all")
        self.exports: frozenset[str] | None = frozenset(listed.split()) if listed else None

    def members(self, parent: int, name: str) -> list[int]:
        """The places of the definitions by that name in a class, or at the top."""
        return self._members.get((parent, name), [])

    def imports(self, owner: int, name: str) -> list[Imported]:
        """The imports that make a name known inside an owner."""
        return self._imports.get((owner, name), [])

    def inner_imports(self, name: str) -> list[Imported]:
        """The imports inside functions that make a name known."""
        return self._inner.get(name, [])

    def bindings(self, owner: int, name: str) -> list[Binding]:
        """What a name holds inside an owner."""
        return self._bindings.get((owner, name), [])

    def passes_on(self, name: str) -> bool:
        """Whether `import *` takes a name from here."""
        if self.exports is None:
            return not name.startswith("_")
        return name in self.exports or ("*" in self.exports and not name.startswith("_"))

    def definition(self, place: int) -> Definition:
        """A definition by its place."""
        return self.facts.definitions[place]

    def place_of(self, key: str) -> int:
        """Where a definition is, by its key; FILE if there is none."""
        return next((place for place, each in enumerate(self.facts.definitions) if each.key == key), FILE)

    def is_class(self, place: int) -> bool:
        """Whether a place is that of a class."""
        return place != FILE and self.facts.definitions[place].sort in CLASS_SORTS

    def class_around(self, owner: int) -> int:
        """The class that an owner is or is a member of, FILE without one."""
        if owner == FILE or self.is_class(owner):
            return owner
        return self.facts.definitions[owner].parent


def _places(facts: FileFacts, name: str) -> frozenset[int]:
    return frozenset(map(int, facts.extra.get(name, "").split()))


def _meant(places: list[int], properties: frozenset[int], overloads: frozenset[int]) -> list[int]:
    """Of several definitions by one name: the getter of a property; what is not a mere overload; else all."""
    getters = [place for place in places if place in properties]
    if getters:
        return getters[:1]
    return [place for place in places if place not in overloads] or places[:1]


_READY: WeakKeyDictionary[Project, dict[str, PythonFile]] = WeakKeyDictionary()


class Files:
    """The Python files of a project, for the time of one resolution. Each file is asked for once, and so recorded."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._ready = _READY.setdefault(project, {})
        self._asked: dict[str, PythonFile | None] = {}

    def at(self, path: str) -> PythonFile | None:
        """A file by its path; None if there is none."""
        if path in self._asked:
            return self._asked[path]
        facts = self.project.facts(path)
        found = self.take(facts) if facts is not None and facts.language == "python" else None
        self._asked[path] = found
        return found

    def take(self, facts: FileFacts) -> PythonFile:
        """A file by its facts; made ready once for as long as the facts are the same."""
        ready = self._ready.get(facts.path)
        if ready is None or ready.facts is not facts:
            if len(self._ready) >= MAX_FILES:
                self._ready.clear()
            ready = self._ready[facts.path] = PythonFile(facts)
        return ready
