"""JavaScript and TypeScript: what values have by name, what calling them gives, what they hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from weft.code.facts import CLASS_SORTS, FILE
from weft.code.resolving.ecmascript_library import called_method, given
from weft.code.resolving.ecmascript_names import Names, closing, split
from weft.code.resolving.ecmascript_value import OUTSIDE, Value

if TYPE_CHECKING:
    from weft.code.resolving.ecmascript_meaning import Meaning

_OF_FUNCTIONS: Final = frozenset({"apply", "bind", "call", "length", "name", "toString"})


class Members:
    """Steps from a value to the next one."""

    def __init__(self, meaning: Meaning) -> None:
        self._meaning = meaning

    def step(self, value: Value, step: str) -> Value | None:
        """Where one step of a chain leads: `.name`, `()`, `[n]`, `@n@k`."""
        if step.startswith("."):
            return self.member(value, step[1:])
        if step.startswith("("):
            return self.called(value)
        if step.startswith("["):
            return self._element(value, step[1:-1])
        function, _, argument = step[1:].partition("@")
        return self._given(value, int(function), int(argument))

    def member(self, value: Value, name: str) -> Value | None:
        """What a value has by a name."""
        key = ("member", value, name)
        return self._meaning.once(key, lambda: self._member(value, name))

    def _member(self, value: Value, name: str) -> Value | None:
        kind = value.kind
        if kind == "outside":
            return OUTSIDE
        if kind == "module":
            return self._meaning.exported(value.path, name)
        if kind in ("def", "of"):
            return self._of_definition(value, name)
        if kind in ("alias", "named", "object", "shape", "space"):
            return self._of_written(value, name)
        if kind == "union":
            found = [each for part in value.args if part is not None and (each := self.member(part, name)) is not None]
            return next((each for each in found if each.kind != "outside"), found[0] if found else None)
        if kind == "record":
            return value.args[1] if len(value.args) > 1 else None
        if kind == "promise" and name not in ("then", "catch", "finally"):
            return self.member(value.first, name) if value.first is not None else None
        if kind in ("function", "method"):
            return OUTSIDE
        return Value("method", name=name).having(value)

    def _of_written(self, value: Value, name: str) -> Value | None:
        """A member of what has no definition of its own, but is written out: a type, an object, a namespace."""
        names = self._meaning.names(value.path)
        if names is None:
            return None
        if value.kind == "named":
            held = self._meaning.types.alias(value)
            return self.member(held, name) if held is not None else None
        if value.kind == "alias":
            bound = names.bindings.get((FILE, f"type {value.name}.{name}"))
            return self._meaning.bound(value.path, FILE, bound, None) if bound is not None else None
        if value.kind == "shape":
            for each in split(value.name[1:-1], ","):
                own, _, written = each.partition(":")
                if own == name:
                    return self._meaning.types.type(value.path, value.place, written, value.first)
            return None
        return self._of_space(names, value, name) if value.kind == "space" else self._of_object(names, value, name)

    def _of_space(self, names: Names, value: Value, name: str) -> Value | None:
        place = names.spaces.get(value.name, {}).get(name, names.objects.get(value.name, {}).get(name))
        if place is not None:
            return Value("def", value.path, place)
        key = next((each for each in (f"{value.name}::{name}", f"{value.name}.{name}") if names.is_space(each)), None)
        return Value("space", value.path, FILE, key) if key is not None else None

    def _of_object(self, names: Names, value: Value, name: str) -> Value | None:
        place = names.objects.get(value.name, {}).get(name, names.spaces.get(value.name, {}).get(name))
        if place is not None:
            return Value("def", value.path, place)
        bound = names.bindings.get((FILE, value.name))
        if bound is None or bound.chain.startswith("?") or bound.chain == value.name:
            return None
        held = self._meaning.bound(value.path, FILE, bound, None)
        return self.member(held, name) if held is not None and held != value else None

    # Members of classes and functions.

    def _of_definition(self, value: Value, name: str) -> Value | None:
        names = self._meaning.names(value.path)
        if names is None:
            return None
        key = names.definitions[value.place].key
        held = names.objects.get(key, {}).get(name)
        if names.definitions[value.place].sort not in CLASS_SORTS:
            return self._of_function(names, value, name)
        for place in self._merged(names, value.place):
            found = self._own_member(names, value, place, name)
            if found is not None:
                return found
        if held is not None:
            return Value("def", value.path, held)
        space = names.spaces.get(key, {}).get(name)
        if space is not None:
            return Value("def", value.path, space)
        beside = self._beside(names, value, name) if value.kind == "def" else None
        return beside if beside is not None else self._inherited(names, value, name)

    def _of_function(self, names: Names, value: Value, name: str) -> Value | None:
        """A function may be a constructor, with methods on its prototype and fields that it sets."""
        if name == "prototype":
            return Value("of", value.path, value.place)
        key = names.definitions[value.place].key
        place = names.objects.get(key, {}).get(name)
        if place is None:
            place = names.spaces.get(key, {}).get(name)
        if place is not None:
            return Value("def", value.path, place).having(value)
        bound = names.bindings.get((value.place, name)) if value.kind == "of" else None
        if bound is not None:
            return self._meaning.bound(value.path, value.place, bound, value)
        return OUTSIDE if name in _OF_FUNCTIONS else self._beside(names, value, name)

    def _beside(self, names: Names, value: Value, name: str) -> Value | None:
        """`module.exports = f; module.exports.name = g`: what is exported beside what is all of it."""
        whole = names.bindings.get((FILE, "exports.="))
        if whole is None or whole.chain != names.definitions[value.place].key:
            return None
        bound = names.bindings.get((FILE, f"exports.{name}"))
        if bound is not None:
            return self._meaning.chain(value.path, FILE, bound.chain)
        place = names.value_place(name)
        return Value("def", value.path, place) if place is not None else None

    def _merged(self, names: Names, place: int) -> list[int]:
        """A class or interface, and others of its name: they are one."""
        key = names.definitions[place].key
        return [place, *(each for each in names.top.get(key.partition("~")[0], ()) if each != place)]

    def _own_member(self, names: Names, value: Value, place: int, name: str) -> Value | None:
        receiver = value if value.kind == "of" else None
        got = names.bindings.get((place, f"get {name}"))
        found = names.members.get(place, {}).get(name)
        if got is not None and not got.declared and found is not None:  # what it gives is what it returns
            return self.called(Value("def", value.path, found).having(receiver))
        if got is not None:
            return self._meaning.bound(value.path, place, got, receiver)
        if found is not None:
            return Value("def", value.path, found).having(receiver)
        bound = names.bindings.get((place, name))
        return self._meaning.bound(value.path, place, bound, receiver) if bound is not None else None

    def _inherited(self, names: Names, value: Value, name: str) -> Value | None:
        """The member of a base; outside if one of them is, and none of the project's own has it."""
        definition, types = names.definitions[value.place], self._meaning.types
        args = names.bindings.get((value.place, "extends")) if value.kind == "of" else None
        outside = False
        for base in (*definition.bases, *definition.interfaces):
            is_type = definition.sort == "interface" or base in definition.interfaces
            found = types.named(value.path, FILE, base, "type" if is_type else "value")
            outside = outside or (found is not None and found.kind == "outside")
            if found is None or found.kind != "def":
                continue
            above = Value(value.kind, found.path, found.place)
            if args is not None:
                above = above.having(
                    *(types.type(value.path, value.place, each, value) for each in split(args.chain, ","))
                )
            inherited = self.member(above, name)
            outside = outside or (inherited is not None and inherited.kind == "outside")
            if inherited is not None and inherited.kind != "outside":
                return inherited
        return OUTSIDE if outside else None

    # Calls, elements, arguments.

    def called(self, value: Value) -> Value | None:
        """What calling a value gives."""
        if value.kind == "outside":
            return OUTSIDE
        if value.kind == "module":
            whole = self._meaning.exported(value.path, "=")
            return self.called(whole) if whole is not None and whole.kind != "module" else None
        if value.kind == "function":
            returned = value.name[closing(value.name, 0) + 3 :]
            return self._meaning.types.type(value.path, value.place, returned, value.first)
        if value.kind == "method":
            return called_method(value)
        names = self._meaning.names(value.path) if value.kind in ("def", "of") else None
        if names is None:
            return None
        if value.kind == "of":
            bound = names.bindings.get((value.place, "()"))
            return self._meaning.bound(value.path, value.place, bound, value) if bound is not None else None
        definition = names.definitions[value.place]
        if definition.sort in CLASS_SORTS:
            return Value("of", value.path, value.place)
        if definition.returns and definition.returns not in ("any", "?"):
            return self._meaning.types.type(value.path, value.place, definition.returns, value.first)
        bound = names.bindings.get((FILE, f"{value.place}()"))
        return self._meaning.bound(value.path, value.place, bound, value.first) if bound is not None else None

    def _element(self, value: Value, index: str) -> Value | None:
        """What stands at an index, or comes of going over a value."""
        if value.kind == "outside":
            return OUTSIDE
        if value.kind == "promise" and value.first is not None:
            return self._element(value.first, index)
        if value.kind == "list":
            return value.first
        if value.kind == "union":
            found = (self._element(each, index) for each in value.args if each is not None)
            return next((each for each in found if each is not None), None)
        if value.kind == "map":
            return Value("tuple").having(*value.args)
        if value.kind == "record":
            return value.args[1] if len(value.args) > 1 else None
        if value.kind == "tuple" and index.isdigit() and int(index) < len(value.args):
            return value.args[int(index)]
        return None

    def _given(self, value: Value, function: int, argument: int) -> Value | None:
        """What a function that is passed as an argument gets as one of its own."""
        if value.kind == "method":
            return given(value, function, argument)
        if value.kind == "module":
            whole = self._meaning.exported(value.path, "=")
            return self._given(whole, function, argument) if whole is not None and whole.kind == "def" else None
        taken: Value | None = None
        if value.kind == "function":
            taken = self._argument(value, function)
        elif value.kind == "def":
            taken = self._parameter(value, function)
        return self._argument(taken, argument) if taken is not None and taken.kind == "function" else None

    def _argument(self, function: Value, at: int) -> Value | None:
        """What a function of a written type takes."""
        parts = split(function.name[1 : closing(function.name, 0)], ",")
        if at >= len(parts):
            return None
        return self._meaning.types.type(function.path, function.place, parts[at], function.first)

    def _parameter(self, value: Value, at: int) -> Value | None:
        """What a definition takes as its parameter of that number, as declared."""
        names = self._meaning.names(value.path)
        if names is None:
            return None
        place = value.place
        if names.definitions[place].sort in CLASS_SORTS:
            place = names.members.get(place, {}).get("constructor", FILE)
        bound = names.bindings.get((FILE, f"{place}@{at}")) if place != FILE else None
        return self._meaning.types.type(value.path, place, bound.chain, value.first) if bound is not None else None
