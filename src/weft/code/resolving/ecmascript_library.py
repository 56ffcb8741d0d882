"""JavaScript and TypeScript: what the methods of lists, maps and promises give, as far as their types show it."""

from __future__ import annotations

from typing import Final

from weft.code.resolving.ecmascript_value import OUTSIDE, Value

_KINDS: Final = {
    "Array": "list",
    "Map": "map",
    "Promise": "promise",
    "PromiseLike": "promise",
    "ReadonlyMap": "map",
    "ReadonlySet": "list",
    "Record": "record",
    "Set": "list",
    "WeakMap": "map",
    "WeakSet": "list",
}
_ELEMENT: Final = frozenset({"at", "find", "findLast", "pop", "shift"})
_SAME: Final = frozenset({"concat", "filter", "reverse", "slice", "sort", "splice", "toReversed", "toSorted", "values"})
# Methods that pass elements to a function, and as which of its arguments.
_PASSED: Final = {
    "every": (0,),
    "filter": (0,),
    "find": (0,),
    "findIndex": (0,),
    "findLast": (0,),
    "flatMap": (0,),
    "forEach": (0,),
    "map": (0,),
    "reduce": (1,),
    "reduceRight": (1,),
    "some": (0,),
    "sort": (0, 1),
    "toSorted": (0, 1),
}


def kind_of(name: str) -> str | None:
    """The kind of value of a built-in type; None if it is not one that holds others."""
    return _KINDS.get(name)


def called_method(method: Value) -> Value | None:
    """What a method of a list, map or promise gives; all else is outside, its result too."""
    held, name = method.first, method.name
    if held is None:
        return OUTSIDE
    if held.kind == "list":
        if name in _ELEMENT:
            return held.first
        return held if name in _SAME else Value("list") if name == "map" else OUTSIDE
    if held.kind == "map":
        value = held.args[1] if len(held.args) > 1 else None
        if name == "get":
            return value
        if name in ("keys", "values"):
            return Value("list").having(held.first if name == "keys" else value)
        return Value("list").having(Value("tuple").having(*held.args)) if name == "entries" else OUTSIDE
    if held.kind == "promise":
        return held if name in ("catch", "finally") else None
    return OUTSIDE


def given(method: Value, function: int, argument: int) -> Value | None:
    """What such a method passes to the function that is given to it."""
    held = method.first
    if held is None or function != 0:
        return None
    if held.kind == "list" and argument in _PASSED.get(method.name, ()):
        return held.args[0] if held.args else None
    if held.kind == "map" and method.name == "forEach" and argument < 2 and len(held.args) > 1:
        return held.args[1 - argument]
    if held.kind == "promise" and method.name == "then" and argument == 0 and held.args:
        return held.args[0]
    return None
