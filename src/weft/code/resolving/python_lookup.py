"""Python: what names and chains stand for, over all files of a project.

Everything is a set of values: a name that is bound twice may be either. Nothing is guessed: what is not shown is the
empty set. Depth is bounded, and what is asked for while it is being found out (circular imports) is the empty set.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from typing import Final

from weft.code.facts import FILE, Binding, Imported
from weft.code.resolving.python_files import Files, PythonFile
from weft.code.resolving.python_members import taken
from weft.code.resolving.python_modules import Modules
from weft.code.resolving.python_types import declared
from weft.code.resolving.python_values import (
    DISPLAYS,
    LOCAL,
    OUTSIDE,
    UNKNOWN,
    Class,
    Display,
    Function,
    Instance,
    Module,
    Outside,
    Receiver,
    Super,
    Value,
    Values,
    as_class,
    as_instance,
    distinct,
    parts_of,
    steps_of,
)

MAX_DEPTH: Final = 40  # of lookups inside lookups
MAX_TRIES: Final = 3
BUILTINS: Final = frozenset(dir(builtins))
# What calls of some builtins give: nothing certain, something that holds what is not known.
_MADE: Final[dict[str, Values]] = {
    **dict.fromkeys(("eval", "filter", "getattr", "globals", "iter", "locals", "map", "max", "min", "next"), UNKNOWN),
    **dict.fromkeys(("reversed", "sorted", "sum", "super", "type", "vars", "zip", "enumerate"), UNKNOWN),
    **dict.fromkeys(("frozenset", "list", "set", "tuple"), (Display("[", (), "", FILE),)),
    "dict": (Display("{", (), "", FILE),),
}


class Lookup:
    """Finds out for one file that is being resolved; remembers what it found."""

    def __init__(self, files: Files) -> None:
        self.files = files
        self._modules: dict[str, Modules] = {}
        self._known: dict[tuple[object, ...], Values] = {}
        self._busy: dict[tuple[object, ...], int] = {}  # what is being found, with its depth
        self._tries: dict[tuple[object, ...], int] = {}
        self._cut = 0  # the depth of the outermost search that the current one ran into
        self.orders: dict[tuple[str, int], tuple[Class | Outside | None, ...]] = {}  # see `python_members.order`

    # Names

    def chain(self, file: PythonFile, owner: int, chain: str, receiver: Receiver = None) -> Values:
        """What a chain stands for, written inside an owner."""
        head, steps = steps_of(chain)
        if head in ("", "?", "None"):
            return UNKNOWN
        if head[0] == "<":
            values = declared(self, file, owner, head[1:-1], receiver)
        elif head[0] in DISPLAYS:
            values = (Display(head[0], tuple(parts_of(head)), file.path, owner, receiver),)
        elif head == "super" and steps[:1] == ("()",):
            values, steps = _super(file, owner, receiver), steps[1:]
        else:
            values = self.name(file, owner, head, receiver)
            if steps and steps[0] == "()":
                if values == (LOCAL,):
                    values, steps = self._returned_by_local(file, owner, head), steps[1:]
                elif values == (OUTSIDE,) and head in _MADE:
                    values, steps = _MADE[head], steps[1:]
        found = self._steps(values, steps)
        if values and not found and owner != FILE and (tested := file.bindings(owner, f"{head}?")):
            # what is declared does not have it: what the code asks of it does
            return self._steps(distinct(v for each in tested for v in self.bound(file, each)), steps)
        return found

    def _steps(self, values: Values, steps: Sequence[str]) -> Values:
        for step in steps:
            if not values:
                break
            values = distinct(found for value in values for found in taken(self, value, step))
        return values

    def name(self, file: PythonFile, owner: int, name: str, receiver: Receiver = None) -> Values:
        """What a name stands for inside an owner: a local, a member of the class around, a name of the file."""
        if name in ("self", "cls", "mcs"):
            around = file.class_around(owner)
            if around != FILE and not file.bindings(owner, name):
                made = receiver or Instance(file.path, around)
                return (as_class(made),) if name != "self" else (as_instance(made),)
        if owner != FILE and (file.imports(owner, name) or file.bindings(owner, name) or file.members(owner, name)):
            return self.once(("held", file.path, owner, name), lambda: self._held(file, owner, name))
        found = self.once(("name", file.path, name), lambda: self._top(file, name))
        if not found and file.is_class(owner):  # what a method made of what it imported itself
            inner = [each for each in file.inner_imports(name) if file.class_around(each.owner) == owner]
            return distinct(value for each in inner for value in self.imported(file, each))
        return found

    def _held(self, file: PythonFile, owner: int, name: str) -> Values:
        """What a function or a class holds by a name of its own."""
        values: list[Value] = [self.defined(file, place) for place in file.members(owner, name)]
        for found in file.imports(owner, name):
            values += self.imported(file, found)
        for bound in file.bindings(owner, name):
            if bound.chain == name and not bound.declared:  # `row = row` in a class, `def f(row=row)`
                values += self.once(("name", file.path, name), lambda: self._top(file, name))
            else:
                values += self.bound(file, bound)
        if not values:
            values = [value for bound in file.bindings(owner, f"{name}?") for value in self.bound(file, bound)]
        return distinct(values)

    def _top(self, file: PythonFile, name: str) -> Values:
        found = self.attribute(file, name)
        if found:
            return found
        if name in BUILTINS:
            return (OUTSIDE,)
        if any(self._star(file, each) is None for each in file.stars):
            return (OUTSIDE,)
        return UNKNOWN

    def attribute(self, file: PythonFile, name: str) -> Values:
        """What a module has by a name: a definition, an import, a value, what it takes by `*`."""
        return self.once(("attribute", file.path, name), lambda: self._attribute(file, name))

    def _attribute(self, file: PythonFile, name: str) -> Values:
        values: list[Value] = [self.defined(file, place) for place in file.members(FILE, name)]
        for found in file.imports(FILE, name):
            values += self.imported(file, found)
        inside = [value for value in values if not isinstance(value, Outside)]
        if inside or values:
            return distinct(inside or values)
        values = [value for bound in file.bindings(FILE, name) for value in self.bound(file, bound)]
        if values:
            return distinct(values)
        for star in file.stars:
            source = self._star(file, star)
            if (
                isinstance(source, PythonFile)
                and source.passes_on(name)
                and (found_there := self.attribute(source, name))
            ):
                return found_there
        return UNKNOWN

    def _star(self, file: PythonFile, star: Imported) -> PythonFile | str | None:
        """The file that `import *` takes from; None if it is outside, an empty text if it cannot be told."""
        path = self.module_of(file, star)
        if path is None:
            return None if not star.level and self.modules(file).is_outside(star.module) else ""
        return self.files.at(path) or ""

    # Imports

    def modules(self, file: PythonFile) -> Modules:
        """What finds modules for a file."""
        found = self._modules.get(file.path)
        if found is None:
            found = self._modules[file.path] = Modules(self.files.project, file.path)
        return found

    def module_of(self, file: PythonFile, found: Imported) -> str | None:
        """The path of the module that an import names, as `Modules.find` gives it."""
        return self.modules(file).find(found.module, found.level)

    def imported(self, file: PythonFile, found: Imported) -> Values:
        """What an import makes known by its alias."""
        modules = self.modules(file)
        if not found.name:
            module = found.module if found.alias != found.module else found.module.partition(".")[0]
            path = modules.find(module)
            if path is None:
                return (OUTSIDE,) if modules.is_outside(module) else UNKNOWN
            return (Module(path),)
        path = self.module_of(file, found)
        if path is None:
            return (OUTSIDE,) if not found.level and modules.is_outside(found.module) else UNKNOWN
        return self.of_module(path, found.name)

    def of_module(self, path: str, name: str) -> Values:
        """What a module has by a name, be it a module inside it."""
        source = None if path.endswith("/") else self.files.at(path)
        values = self.attribute(source, name) if source is not None else UNKNOWN
        if values:
            return values
        below = self._below(path, name)
        if below is not None:
            return (Module(below),)
        if source is not None and any(self._star(source, each) is None for each in source.stars):
            return (OUTSIDE,)
        return UNKNOWN

    def _below(self, path: str, name: str) -> str | None:
        modules = self._modules.get(path)
        if modules is None:
            modules = self._modules[path] = Modules(self.files.project, path)
        return modules.below(path, name)

    # Definitions and what is bound

    def defined(self, file: PythonFile, place: int, receiver: Receiver = None) -> Class | Function:
        """A definition; of one in a stub, that which the stub describes."""
        if file.path.endswith(".pyi") and (described := self.files.at(file.path[:-1])) is not None:
            at = described.place_of(file.definition(place).key)
            file, place = (described, at) if at != FILE else (file, place)
        return Class(file.path, place) if file.is_class(place) else Function(file.path, place, receiver)

    def bound(self, file: PythonFile, bound: Binding, receiver: Receiver = None) -> Values:
        """What is bound."""
        if bound.chain == "lambda":
            return (LOCAL,)
        key = ("bound", file.path, bound.owner, bound.name, bound.chain, receiver)
        if bound.declared:
            return self.once(key, lambda: declared(self, file, bound.owner, bound.chain, receiver))
        return self.once(key, lambda: self.chain(file, bound.owner, bound.chain, receiver))

    def shown(self, file: PythonFile, function: Function, bound: Binding) -> Values:
        """What a function without a declared type returns: written in it, told without its locals."""
        key = ("shown", function, bound.chain)
        if bound.declared:
            return self.once(key, lambda: declared(self, file, function.place, bound.chain, function.receiver))
        return self.once(key, lambda: self.chain(file, function.place, bound.chain, function.receiver))

    def _returned_by_local(self, file: PythonFile, owner: int, name: str) -> Values:
        return distinct(v for bound in file.bindings(owner, f"{name}()") for v in self.bound(file, bound))

    def once(self, key: tuple[object, ...], find: Callable[[], Values]) -> Values:
        """What is found, found once; nothing while it is being found, or too deep inside.

        What came out of a search that ran into another that is not done yet may lack something: it is looked for again,
        MAX_TRIES times at most, so that all of it stays linear.
        """
        known = self._known.get(key)
        if known is not None:
            return known
        place = self._busy.get(key)
        depth = len(self._busy)
        if place is not None or depth >= MAX_DEPTH:
            self._cut = min(self._cut, place if place is not None else 0)
            return UNKNOWN
        self._busy[key] = depth
        around, self._cut = self._cut, depth
        try:
            values = find()
        finally:
            del self._busy[key]
            cut, self._cut = self._cut, min(around, self._cut)
        tries = self._tries.get(key, 0) + 1
        if cut >= depth or tries >= MAX_TRIES:
            self._known[key] = values
        else:
            self._tries[key] = tries
        return values


def _super(file: PythonFile, owner: int, receiver: Receiver) -> Values:
    around = file.class_around(owner)
    if around == FILE:
        return UNKNOWN
    return (Super(file.path, around, receiver or Instance(file.path, around)),)
