"""Name tables: the facts of a file by owner and name, cached per project while the facts are unchanged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

from weft.code.parse.facts import CLASS_SORTS, FILE, Binding, Definition, FileFacts
from weft.code.resolve import Project
from weft.code.resolve.kept import Kept, weight_of


class FileTable:
    """Definitions by the place of their class and their name; bindings by their owner and name."""

    def __init__(self, facts: FileFacts) -> None:
        self.facts, self.path = facts, facts.path
        self.members: dict[tuple[int, str], list[int]] = {}
        self.bound: dict[tuple[int, str], list[Binding]] = {}
        for place, each in enumerate(facts.definitions):
            self.members.setdefault((each.parent, each.name), []).append(place)
        for bound in facts.bindings:
            self.bound.setdefault((bound.owner, bound.name), []).append(bound)

    def binding(self, owner: int, name: str) -> Binding | None:
        """The first binding of a name inside an owner."""
        found = self.bound.get((owner, name))
        return found[0] if found else None

    def definition(self, place: int) -> Definition:
        return self.facts.definitions[place]

    def is_class(self, place: int) -> bool:
        return place != FILE and self.facts.definitions[place].sort in CLASS_SORTS


Table = TypeVar("Table", bound=FileTable)
Made = TypeVar("Made")


class Tables(Generic[Table]):
    """The tables of a project's files, created on demand; those used last are kept."""

    def __init__(self, make: Callable[[FileFacts], Table]) -> None:
        self._make = make
        self._projects: WeakKeyDictionary[Project, Kept[Table]] = WeakKeyDictionary()

    def of(self, project: Project, facts: FileFacts) -> Table:
        known = self._projects.get(project)
        if known is None:
            known = self._projects[project] = Kept()
        table = known.get(facts.path)
        if table is None or table.facts is not facts:
            table = self._make(facts)
            known.put(facts.path, table, weight_of(facts))
        return table


class PerProject(Generic[Made]):
    """One value per project, created on demand."""

    def __init__(self, make: Callable[[Project], Made]) -> None:
        self._make = make
        self._known: WeakKeyDictionary[Project, Made] = WeakKeyDictionary()

    def of(self, project: Project) -> Made:
        known = self._known.get(project)
        if known is None:
            known = self._known[project] = self._make(project)
        return known
