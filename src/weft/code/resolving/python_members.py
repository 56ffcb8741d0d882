"""Python: what an attribute, a call, an index gives. Methods are looked up in the class, then in its bases."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from weft.code.facts import FILE
from weft.code.resolving.python_files import PythonFile
from weft.code.resolving.python_types import MAPPINGS, declared, held
from weft.code.resolving.python_values import (
    OUTSIDE,
    UNKNOWN,
    Class,
    Display,
    Function,
    Holder,
    Instance,
    Local,
    Module,
    Outside,
    Step,
    Super,
    Value,
    Values,
    distinct,
)

if TYPE_CHECKING:
    from weft.code.resolving.python_lookup import Lookup

MAX_CLASSES: Final = 100  # that one class may extend, all in all
# What every class has, whatever it extends.
_OBJECT: Final = frozenset(dir(type)) | frozenset(dir(object))
_EMPTY: Final = frozenset({"ABC", "Generic", "Protocol", "object"})  # bases that bring no methods
_ENTERING: Final = {"__enter__": "__aenter__", "__iter__": "__aiter__", "__next__": "__anext__"}
# What methods of the built-in types give: the place of the type's argument.
_GIVES_FIRST: Final = frozenset(
    {"pop", "popleft", "__next__", "__enter__", "__getitem__", "send", "asend", "__anext__"}
)
_GIVES_LAST: Final = frozenset({"get", "pop", "setdefault", "__getitem__"})
_GIVES_ITSELF: Final = frozenset({"copy", "__iter__", "__aiter__", "union", "difference", "intersection", "keys"})

Order = tuple[Class | Outside | None, ...]


def taken(lookup: Lookup, value: Value, step: Step) -> Values:
    """What a value gives for one step of a chain: `.name`, `()`, `[]`."""
    if isinstance(value, Outside):
        return (OUTSIDE,)
    if isinstance(value, Local):
        return UNKNOWN
    if step == "()":
        return called(lookup, value)
    if step[0] == "[":
        return _indexed(lookup, value, step[1:-1])
    return member(lookup, value, step[1:])


def member(lookup: Lookup, value: Value, name: str) -> Values:
    """What an attribute is."""
    if isinstance(value, Module):
        return lookup.of_module(value.path, name)
    if isinstance(value, Holder):
        return (Holder(value.name, value.arguments, value.path, value.owner, value.receiver, name),)
    if isinstance(value, Display):
        return (Display(value.opening, value.parts, value.path, value.owner, value.receiver, name),)
    if isinstance(value, Function | Outside | Local):
        return (OUTSIDE,) if not isinstance(value, Local) else UNKNOWN
    if name == "__class__":
        return (Class(value.path, value.place),)
    if name == "__super__" and isinstance(value, Class):  # `super(Other, self)`, as the reader writes it
        return (Super(value.path, value.place, Instance(value.path, value.place)),)
    key = ("member", value, name)
    return lookup.once(key, lambda: _member(lookup, value, name))


def _member(lookup: Lookup, value: Instance | Class | Super, name: str) -> Values:
    classes = order(lookup, value.path, value.place)
    receiver: Instance | Class = value.receiver if isinstance(value, Super) else value
    certain = True  # that all bases are known
    for at, each in enumerate(classes):
        if isinstance(each, Outside):
            return (OUTSIDE,) if certain else UNKNOWN
        if each is None:
            certain = False
        elif at or not isinstance(value, Super):
            file = lookup.files.at(each.path)
            found = _own(lookup, file, each.place, name, receiver) if file is not None else None
            if found is not None:
                return found
    if name in _ENTERING and isinstance(value, Instance):
        return _member(lookup, value, _ENTERING[name])
    return (OUTSIDE,) if certain and name in _OBJECT else UNKNOWN


def _own(lookup: Lookup, file: PythonFile, place: int, name: str, receiver: Instance | Class) -> Values | None:
    """What a class itself has by a name; None if it has nothing by it."""
    places = file.members(place, name)
    if places:
        values: list[Value] = []
        for each in places:
            if each in file.properties and isinstance(receiver, Instance):
                values += called(lookup, Function(file.path, each, receiver))
            else:
                values.append(lookup.defined(file, each, receiver))
        return distinct(values)
    bindings = file.bindings(place, name)
    if not bindings:
        imports = file.imports(place, name)
        return distinct(v for each in imports for v in lookup.imported(file, each)) if imports else None
    if file.definition(place).sort == "enum" and not any(each.declared for each in bindings):
        return (Instance(file.path, place),)
    said = [each for each in bindings if each.declared] or bindings
    return distinct(found for each in said for found in lookup.bound(file, each, receiver))


def called(lookup: Lookup, value: Value) -> Values:
    """What a call gives."""
    if isinstance(value, Class):
        return (Instance(value.path, value.place),)
    if isinstance(value, Function):
        return lookup.once(("called", value), lambda: _returned(lookup, value))
    if isinstance(value, Instance):
        return distinct(v for each in member(lookup, value, "__call__") for v in called(lookup, each))
    if isinstance(value, Holder):
        return _given(lookup, value)
    if isinstance(value, Display):
        return lookup.once(("shown by", value), lambda: _shown(lookup, value))
    return (OUTSIDE,) if isinstance(value, Outside) else UNKNOWN


def _returned(lookup: Lookup, function: Function) -> Values:
    file = lookup.files.at(function.path)
    if file is None:
        return UNKNOWN
    definition = file.definition(function.place)
    if definition.returns:
        return declared(lookup, file, function.place, definition.returns, function.receiver)
    stub = lookup.files.at(f"{function.path}i") if function.path.endswith(".py") else None
    at = stub.place_of(definition.key) if stub is not None else FILE
    if stub is not None and at != FILE and stub.definition(at).returns:
        return declared(lookup, stub, at, stub.definition(at).returns, function.receiver)
    shown = file.bindings(definition.parent, f"{definition.name}()")
    return distinct(found for each in shown for found in lookup.shown(file, function, each))


def _given(lookup: Lookup, holder: Holder) -> Values:
    """What a method of a built-in type gives: `rows.pop()`, `by_name.get()`."""
    name, method, arguments = holder.name, holder.method, holder.arguments
    if name == "Callable" and not method:
        return held(lookup, holder, -1)
    if method in _GIVES_ITSELF:
        return (Holder(name, arguments, holder.path, holder.owner, holder.receiver),)
    if name in MAPPINGS:
        if method == "items":
            return (Holder("items", arguments, holder.path, holder.owner, holder.receiver),)
        if method == "values":
            return (Holder("Iterable", arguments[-1:], holder.path, holder.owner, holder.receiver),)
        if method in _GIVES_LAST:
            return held(lookup, holder, -1)
    if name == "items" and method == "__next__":
        return (Holder("tuple", arguments, holder.path, holder.owner, holder.receiver),)
    return held(lookup, holder, 0) if method in _GIVES_FIRST else (OUTSIDE,)


def _shown(lookup: Lookup, display: Display) -> Values:
    """What a method of a literal gives, or of what it was made into."""
    opening, method, parts = display.opening, display.method, display.parts
    mapping = opening == "{"
    if method in _GIVES_ITSELF:
        return (Display(opening, parts, display.path, display.owner, display.receiver),)
    if mapping and method == "items":
        pair = f"(?;{parts[0] if parts else '?'})"
        return (Display("[", (pair,), display.path, display.owner, display.receiver),)
    if mapping and method == "values":
        return (Display("[", parts, display.path, display.owner, display.receiver),)
    if method in (_GIVES_LAST if mapping else _GIVES_FIRST):
        return _parts(lookup, display, parts)
    return (OUTSIDE,)


def _parts(lookup: Lookup, display: Display, parts: tuple[str, ...]) -> Values:
    file = lookup.files.at(display.path) if parts else None
    if file is None:
        return UNKNOWN
    values: list[Value] = []
    for each in parts:
        key = ("part", display.path, display.owner, each, display.receiver)
        values += lookup.once(key, lambda each=each: lookup.chain(file, display.owner, each, display.receiver))  # type: ignore[misc]
    return distinct(values)


def _indexed(lookup: Lookup, value: Value, place: str) -> Values:
    if isinstance(value, Class):
        return (value,)  # with type arguments
    if isinstance(value, Display):
        at = int(place) if place and value.opening == "(" else None
        return _parts(lookup, value, value.parts if at is None else value.parts[at : at + 1])
    if isinstance(value, Holder):
        if value.name in ("tuple", "Tuple") and place and "..." not in map(ast.unparse, value.arguments):
            return held(lookup, value, int(place))
        return held(lookup, value, -1 if value.name in MAPPINGS else 0)
    if isinstance(value, Instance):
        return distinct(v for each in member(lookup, value, "__getitem__") for v in called(lookup, each))
    return (OUTSIDE,) if isinstance(value, Outside) else UNKNOWN


def order(lookup: Lookup, path: str, place: int) -> Order:
    """A class and all that it extends, in the order in which methods are looked up; None for what is not known."""
    key = (path, place)
    known = lookup.orders.get(key)
    if known is None:
        lookup.orders[key] = (Class(path, place), None)  # a class that extends itself extends the unknown
        known = lookup.orders[key] = _ordered(lookup, path, place)
    return known


def _ordered(lookup: Lookup, path: str, place: int) -> Order:
    found: list[Class | Outside | None] = [Class(path, place)]
    for base in bases(lookup, path, place):
        found += order(lookup, base.path, base.place) if isinstance(base, Class) else [base]
    # what is extended twice comes after all that extend it
    last = {each: at for at, each in enumerate(found)}
    return tuple(each for at, each in enumerate(found) if last[each] == at)[:MAX_CLASSES]


def bases(lookup: Lookup, path: str, place: int) -> list[Class | Outside | None]:
    """What a class extends, one for each that it names; None for what is not known."""
    file = lookup.files.at(path)
    if file is None:
        return [None]
    definition = file.definition(place)
    found: list[Class | Outside | None] = []
    for base in definition.bases:
        if base.rpartition(".")[2] in _EMPTY:
            continue
        values = [v for v in lookup.chain(file, definition.parent, base) if isinstance(v, Class | Outside)]
        found.append(values[0] if values else None)
    return found
