"""Evaluates JavaScript and TypeScript chains and types from file to file."""

from __future__ import annotations

from typing import Final

from weft.code.parse.facts import CLASS_SORTS, FILE, Binding, Imported
from weft.code.resolve import Project
from weft.code.resolve.ecmascript.modules import NamedModule, module_of
from weft.code.resolve.ecmascript.names import (
    GLOBALS,
    OUTSIDE,
    TYPES,
    EcmascriptTable,
    Space,
    Value,
    called_method,
    given,
    kind_of,
    names_of,
    parts_of,
)
from weft.code.resolve.memo import Memo
from weft.code.resolve.texts import closing, split

MAX_PARAMETERS: Final = 8  # of a class's type that are followed


class Types:
    """The meaning of types, as seen from one file."""

    def __init__(self, meaning: Meaning) -> None:
        self._meaning = meaning

    def type(self, path: str, owner: int, written: str, this: Value | None = None) -> Value | None:
        """The value of a written type; `this` is the instance whose class's type parameters it may name."""
        return self._meaning.once(("type", path, owner, written, this), lambda: self._type(path, owner, written, this))

    def _type(self, path: str, owner: int, written: str, this: Value | None) -> Value | None:
        options = split(written, "|")
        if len(options) > 1:
            known = [value for each in options if (value := self.type(path, owner, each, this)) is not None]
            return Value("union").having(*known) if known else None
        if written.startswith("(") and "=>" in written:
            return Value("function", path, owner, written).having(this)
        if written.startswith("{"):
            return Value("shape", path, owner, written).having(this)
        if written.startswith("["):
            return Value("tuple").having(*(self.type(path, owner, each, this) for each in split(written[1:-1], ",")))
        if written.startswith("typeof "):
            return self._meaning.chain(path, owner, written[7:])
        if written == "this":
            return self._meaning.this(path, owner, "this", this)
        name, _, inside = written.partition("<")
        return self._named(path, owner, name, split(inside[:-1], ",") if inside else (), this)

    def _named(self, path: str, owner: int, name: str, parts: tuple[str, ...], this: Value | None) -> Value | None:
        if name == "?":
            return None
        parameter = self._parameter(path, owner, name, this)
        if parameter is not None:
            return parameter[0]
        args = tuple(self.type(path, owner, each, this) for each in parts)
        found = self.definition(path, owner, name)
        if found is None:
            built_in = kind_of(name)
            if built_in is not None:
                return Value(built_in).having(*args)
            return OUTSIDE if name in TYPES or name.partition(".")[0] in GLOBALS else None
        return self.alias(found) if found.kind == "named" else self.instance(found, args)

    def _parameter(self, path: str, owner: int, name: str, this: Value | None) -> tuple[Value | None] | None:
        """The argument for a type parameter of a class; None if the name is no such parameter."""
        names = self._meaning.names(path)
        around = names.of_class(owner) if names is not None else FILE
        if names is None or around == FILE:
            return None
        for at in range(MAX_PARAMETERS):
            bound = names.bindings.get((around, f"<{at}>{name}"))
            if bound is None:
                continue
            mine = this is not None and this.kind == "of" and (this.path, this.place) == (path, around)
            if this is not None and mine and at < len(this.args) and this.args[at] is not None:
                return (this.args[at],)
            return (self.type(path, FILE, bound.chain) if bound.chain != name else None,)
        return None

    def alias(self, found: Value) -> Value | None:
        """The type of an alias (`type Name = …`)."""
        names = self._meaning.names(found.path)
        bound = names.bindings.get((FILE, f"type {found.name}")) if names is not None else None
        if bound is None:
            return None
        if bound.chain == "?":
            return Value("alias", found.path, FILE, found.name)
        return self.type(found.path, FILE, bound.chain)

    def own(self, path: str, name: str) -> Value | None:
        """The definition of a type at the top level of a file, or one imported under its name."""
        names = self._meaning.names(path)
        if names is None:
            return None
        place = names.type_place(name)
        if place is not None:
            return Value("def", path, place)
        return Value("named", path, FILE, name) if (FILE, f"type {name}") in names.bindings else None

    def definition(self, path: str, owner: int, name: str) -> Value | None:
        """The definition or alias that a type's dotted name means."""
        first, *rest = name.split(".")
        names = self._meaning.names(path)
        if names is None:
            return None
        place = names.nearest(owner, first)
        found = Value("def", path, place) if place is not None else self.own(path, first)
        if found is None and first in names.imports:
            found = self._meaning.imported(path, names.imports[first], "type")
        if found is None and ((FILE, first) in names.bindings or (rest and names.is_space(first))):
            found = self._meaning.name(path, FILE, first)
        for each in rest:
            if found is not None and found.kind == "module":
                found = self._meaning.exported(found.path, each, "type")
            else:
                found = self._meaning.members.member(found, each) if found is not None else None
        return found

    def named(self, path: str, owner: int, written: str, space: Space) -> Value | None:
        """The definition that a class's heritage names: as a value, else as a type; for types the reverse."""
        found = self.definition(path, owner, written) if space == "type" else None
        found = found or self._meaning.chain(path, owner, written) or self.definition(path, owner, written)
        if found is None and (written in GLOBALS or written in TYPES):
            return OUTSIDE
        if found is not None and found.kind == "named":
            found = self.alias(found)
        return Value("def", found.path, found.place) if found is not None and found.kind == "of" else found

    def instance(self, value: Value | None, args: tuple[Value | None, ...] = ()) -> Value | None:
        """The result of constructing a value, which is also the value of a type by that name."""
        if value is None:
            return None
        if value.kind == "def":
            return Value("of", value.path, value.place).having(*args)
        if value.kind == "module":
            whole = self._meaning.exported(value.path, "=")
            return self.instance(whole, args) if whole is not None and whole.kind == "def" else None
        if value.kind == "of":
            names = self._meaning.names(value.path)
            bound = names.bindings.get((value.place, "new()")) if names is not None else None
            return self._meaning.bound(value.path, value.place, bound, value) if bound is not None else None
        return value if value.kind == "outside" else None


_OF_FUNCTIONS: Final = frozenset({"apply", "bind", "call", "length", "name", "toString"})


class MemberSteps:
    """Steps from a value to the next one."""

    def __init__(self, meaning: Meaning) -> None:
        self._meaning = meaning

    def step(self, value: Value, step: str) -> Value | None:
        """The value after one step of a chain: `.name`, `()`, `[n]`, `@n@k`."""
        if step.startswith("."):
            return self.member(value, step[1:])
        if step.startswith("("):
            return self.called(value)
        if step.startswith("["):
            return self._element(value, step[1:-1])
        function, _, argument = step[1:].partition("@")
        return self._given(value, int(function), int(argument))

    def member(self, value: Value, name: str) -> Value | None:
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
        """A member of something without a definition of its own: a type, an object, a namespace."""
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

    def _of_space(self, names: EcmascriptTable, value: Value, name: str) -> Value | None:
        place = names.spaces.get(value.name, {}).get(name, names.objects.get(value.name, {}).get(name))
        if place is not None:
            return Value("def", value.path, place)
        key = next((each for each in (f"{value.name}::{name}", f"{value.name}.{name}") if names.is_space(each)), None)
        return Value("space", value.path, FILE, key) if key is not None else None

    def _of_object(self, names: EcmascriptTable, value: Value, name: str) -> Value | None:
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

    def _of_function(self, names: EcmascriptTable, value: Value, name: str) -> Value | None:
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

    def _beside(self, names: EcmascriptTable, value: Value, name: str) -> Value | None:
        """`module.exports = f; module.exports.name = g`: a property beside the exported value."""
        whole = names.bindings.get((FILE, "exports.="))
        if whole is None or whole.chain != names.definitions[value.place].key:
            return None
        bound = names.bindings.get((FILE, f"exports.{name}"))
        if bound is not None:
            return self._meaning.chain(value.path, FILE, bound.chain)
        place = names.value_place(name)
        return Value("def", value.path, place) if place is not None else None

    def _merged(self, names: EcmascriptTable, place: int) -> list[int]:
        """A class or interface merged with others of its name."""
        key = names.definitions[place].key
        return [place, *(each for each in names.top.get(key.partition("~")[0], ()) if each != place)]

    def _own_member(self, names: EcmascriptTable, value: Value, place: int, name: str) -> Value | None:
        receiver = value if value.kind == "of" else None
        got = names.bindings.get((place, f"get {name}"))
        found = names.member(place, name)
        if got is not None and not got.declared and found is not None:  # what it gives is what it returns
            return self.called(Value("def", value.path, found).having(receiver))
        if got is not None:
            return self._meaning.bound(value.path, place, got, receiver)
        if found is not None:
            return Value("def", value.path, found).having(receiver)
        bound = names.bindings.get((place, name))
        return self._meaning.bound(value.path, place, bound, receiver) if bound is not None else None

    def _inherited(self, names: EcmascriptTable, value: Value, name: str) -> Value | None:
        """A member of a base; outside if a base is external and none of the project's own has it."""
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
        """The result of calling a value."""
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
        """The value of an element, or of a loop variable."""
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
        """A parameter of a function that is passed as an argument."""
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
        """A parameter of a function of a written type."""
        parts = split(function.name[1 : closing(function.name, 0)], ",")
        if at >= len(parts):
            return None
        return self._meaning.types.type(function.path, function.place, parts[at], function.first)

    def _parameter(self, value: Value, at: int) -> Value | None:
        """The declared type of a definition's parameter by index."""
        names = self._meaning.names(value.path)
        if names is None:
            return None
        place = value.place
        if names.definitions[place].sort in CLASS_SORTS:
            constructor = names.member(place, "constructor")
            place = FILE if constructor is None else constructor
        bound = names.bindings.get((FILE, f"{place}@{at}")) if place != FILE else None
        return self._meaning.types.type(value.path, place, bound.chain, value.first) if bound is not None else None


MAX_DEPTH: Final = 51  # steps from one meaning to the next
MAX_STEPS: Final = 50_000  # of one file


class Meaning:
    """Computes meanings as seen from one file. Everything is cached while that file is resolved."""

    def __init__(self, project: Project) -> None:
        self.types = Types(self)
        self.members = MemberSteps(self)
        self._project = project
        self.once = Memo[Value | None](None, most_depth=MAX_DEPTH, most=MAX_STEPS).once
        self._modules: dict[tuple[str, str], NamedModule] = {}

    def names(self, path: str) -> EcmascriptTable | None:
        return names_of(self._project, path)

    def module(self, path: str, name: str) -> NamedModule:
        key = (path, name)
        if key not in self._modules:
            self._modules[key] = module_of(self._project, path, name)
        return self._modules[key]

    # Expressions.

    def chain(self, path: str, owner: int, chain: str, this: Value | None = None) -> Value | None:
        """The meaning of a chain inside a definition; `this` is the receiver of the call, if it is known."""
        return self.once(("chain", path, owner, chain, this), lambda: self._chain(path, owner, chain, this))

    def _chain(self, path: str, owner: int, chain: str, this: Value | None) -> Value | None:
        head, steps = parts_of(chain.removeprefix("module.") if chain.startswith("module.exports") else chain)
        value = self._head(path, owner, head, this)
        for step in steps:
            if value is None:
                break
            value = self.members.step(value, step)
        return value

    def _head(self, path: str, owner: int, head: str, this: Value | None) -> Value | None:
        if head.startswith("?"):
            return None
        if head.startswith("<"):
            return self.types.type(path, owner, head[1:-1], this)
        if head.startswith("new "):
            return self.types.instance(self.chain(path, owner, head[4:-2], this))
        if head.startswith("require("):
            return self.imported(path, Imported(head[8:-1], "=", "", 0))
        if head.startswith("import("):
            return Value("promise").having(self.imported(path, Imported(head[7:-1], "", "", 0)))
        if head in ("this", "super"):
            return self.this(path, owner, head, this)
        return self.name(path, owner, head, this)

    def name(self, path: str, owner: int, name: str, this: Value | None = None) -> Value | None:
        """The meaning of a name as a value."""
        names = self.names(path)
        if names is None:
            return None
        bound = names.bindings.get((owner, name)) if owner != FILE else None
        if bound is not None:
            return self.bound(path, owner, bound, this)
        place = names.nearest(owner, name)
        if place is not None:
            return Value("def", path, place)
        if name in names.imports:
            return self.imported(path, names.imports[name])
        place = names.value_place(name, "method")
        if place is not None:
            return Value("def", path, place)
        bound = names.bindings.get((FILE, name))
        if (name in names.objects or (bound is not None and name in names.spaces)) and (
            bound is None or not bound.declared
        ):
            return Value("object", path, FILE, name)
        if bound is not None:
            return self.bound(path, FILE, bound, None)
        if names.is_space(name):
            return Value("space", path, FILE, name)
        if name == "exports":
            return Value("module", path)
        return OUTSIDE if name in GLOBALS else None

    def bound(self, path: str, owner: int, bound: Binding, this: Value | None) -> Value | None:
        """The value of a binding."""
        if bound.declared:
            return self.types.type(path, owner, bound.chain, this)
        return self.chain(path, owner, bound.chain, this)

    def this(self, path: str, owner: int, head: str, this: Value | None) -> Value | None:
        """The value of `this` or `super` inside a definition."""
        names = self.names(path)
        if names is None or owner == FILE:
            return None
        around = names.of_class(owner)
        if head == "super":
            bases = names.definitions[around].bases if around != FILE else ()
            return self.chain(path, FILE, bases[0]) if bases else None
        if this is not None:
            return this
        if around != FILE:
            return Value("of", path, around)
        prefix = names.definitions[owner].key.rpartition("::")[0]
        if not prefix:  # one of the object that is `module.exports`; or a function that may be a constructor
            is_exported = names.definitions[owner].sort == "method"
            return Value("module", path) if is_exported else Value("of", path, owner)
        held = names.value_place(prefix)
        return Value("object", path, FILE, prefix) if held is None else Value("of", path, held)

    # Imports and exports.

    def imported(self, path: str, imported: Imported, space: Space = "value") -> Value | None:
        """The value that an import gives a file."""
        module = self.module(path, imported.module)
        if module.external:
            return OUTSIDE
        if not module.path:
            return None
        if imported.name in ("", "*"):
            return Value("module", module.path)
        return self.exported(module.path, imported.name, space)

    def exported(self, path: str, name: str, space: Space = "value") -> Value | None:
        """The export of a file by a name; `=` for all of `module.exports`. One name may be a value and a type."""
        return self.once(("export", path, name, space), lambda: self._exported(path, name, space))

    def _exported(self, path: str, name: str, space: Space) -> Value | None:
        names = self.names(path)
        if names is None:
            return None
        bound = names.bindings.get((FILE, f"exports.{name}"))
        if bound is not None:
            found = self.types.definition(path, FILE, bound.chain) if space == "type" else None
            return found or self.chain(path, FILE, bound.chain) or self.types.definition(path, FILE, bound.chain)
        if name in names.passed:
            return self.imported(path, names.passed[name], space)
        if name in ("=", "default"):
            return self._whole(path, names, name)
        own_type = self.types.own(path, name)
        if space == "type" and own_type is not None:
            return own_type
        place = names.value_place(name)
        if place is not None:
            return Value("def", path, place)
        if name in names.objects or (FILE, name) in names.bindings or names.is_space(name):
            return self.name(path, FILE, name)
        return own_type if own_type is not None else self._passed_on(path, names, name, space)

    def _passed_on(self, path: str, names: EcmascriptTable, name: str, space: Space) -> Value | None:
        """A name re-exported by `export * from`, or a member of `module.exports`."""
        for star in names.stars:
            found = self.imported(path, Imported(star.module, name, "", 0), space)
            if found is not None and found.kind != "outside":
                return found
        whole = names.bindings.get((FILE, "exports.="))
        held = self.chain(path, FILE, whole.chain) if whole is not None else None
        return self.members.member(held, name) if held is not None else None

    def _whole(self, path: str, names: EcmascriptTable, name: str) -> Value | None:
        """The default export, or all of `module.exports` if it is not an object of names."""
        place = names.value_place("default") if name == "default" else None
        if place is not None:
            return Value("def", path, place)
        if name == "default" and "default" in names.objects:
            return Value("object", path, FILE, "default")
        if name == "default" and (FILE, "exports.=") in names.bindings:
            return self.exported(path, "=")
        # An ES module may import the whole of a CommonJS module as its default.
        return Value("module", path) if name == "=" or names.facts.language == "javascript" else None
