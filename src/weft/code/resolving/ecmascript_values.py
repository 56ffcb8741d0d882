"""JavaScript and TypeScript: what an expression or a type means, followed from file to file."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

from weft.code.facts import CLASS_SORTS, FILE, Binding, Imported
from weft.code.resolving import Project
from weft.code.resolving.ecmascript_globals import GLOBALS, TYPES
from weft.code.resolving.ecmascript_library import called_method, given, kind_of
from weft.code.resolving.ecmascript_modules import Module, module_of
from weft.code.resolving.ecmascript_names import Names, closing, names_of, parts_of, split

MAX_DEPTH: Final = 40  # steps from one meaning to the next
MAX_BASES: Final = 60
MAX_STEPS: Final = 20_000  # of one file


class Value(NamedTuple):
    """What an expression is, as far as it is known.

    `kind`: `def` (a definition itself), `of` (an instance of one), `object` (an object with functions, by its key),
    `alias` (a type by its properties), `module` (a file's exports), `function` (of a written type), `method` (of a
    built-in type), one of the built-in types (list, map, promise, record, tuple), `union`, `outside`.
    """

    kind: str
    path: str = ""
    place: int = FILE
    name: str = ""
    args: tuple[Value | None, ...] = ()


Space = Literal["value", "type"]

OUTSIDE: Final = Value("outside")


class Meaning:
    """Works out meanings as one file sees them. Everything is remembered while that file is resolved."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._depth = 0
        self._steps = 0
        self._known: dict[tuple[object, ...], Value | None] = {}
        self._modules: dict[tuple[str, str], Module] = {}

    def names(self, path: str) -> Names | None:
        """The facts of a file by name."""
        return names_of(self._project, path)

    def module(self, path: str, name: str) -> Module:
        """What a module is that a file imports by that name."""
        key = (path, name)
        if key not in self._modules:
            self._modules[key] = module_of(self._project, path, name)
        return self._modules[key]

    # ---- expressions

    def chain(self, path: str, owner: int, chain: str, this: Value | None = None) -> Value | None:
        """What a chain means inside a definition of a file; `this` is what it is called on, if that is known."""
        key = ("chain", path, owner, chain, this)
        if key in self._known:
            return self._known[key]
        self._steps += 1
        if self._depth > MAX_DEPTH or self._steps > MAX_STEPS:
            return None
        self._known[key] = None  # what leads back to itself is not known
        self._depth += 1
        head, steps = parts_of(chain)
        value = self._head(path, owner, head, this)
        for step in steps:
            if value is None:
                break
            value = self._step(value, step)
        self._depth -= 1
        self._known[key] = value
        return value

    def _step(self, value: Value, step: str) -> Value | None:
        if step.startswith("."):
            return self.member(value, step[1:])
        if step.startswith("("):
            return self.called(value)
        if step.startswith("["):
            return self._element(value, step[1:-1])
        function, _, argument = step[1:].partition("@")
        return self._given(value, int(function), argument)

    def _head(self, path: str, owner: int, head: str, this: Value | None) -> Value | None:
        if head.startswith("?"):
            return None
        if head.startswith("<"):
            return self.type(path, owner, head[1:-1], this)
        if head.startswith("new "):
            return self._instance(self.chain(path, owner, head[4:-2], this))
        if head.startswith(("import(", "require(")):
            name = "=" if head.startswith("require(") else ""
            return self._imported(path, Imported(head.partition("(")[2][:-1], name, "", 0))
        if head in ("this", "super"):
            return self._this(path, owner, head, this)
        return self.name(path, owner, head, this)

    def name(self, path: str, owner: int, name: str, this: Value | None = None) -> Value | None:
        """What a name means as a value."""
        names = self.names(path)
        if names is None:
            return None
        bound = names.bindings.get((owner, name)) if owner != FILE else None
        if bound is not None:
            return self._bound(path, owner, bound, this)
        place = names.nearest(owner, name)
        if place is not None:
            return Value("def", path, place)
        if name in names.imports:
            return self._imported(path, names.imports[name])
        place = names.value_place(name, "method")
        if place is not None:
            return Value("def", path, place)
        bound = names.bindings.get((FILE, name))
        if name in names.objects and (bound is None or not bound.declared):
            return Value("object", path, FILE, name)
        if bound is not None:
            return self._bound(path, FILE, bound, None)
        if names.is_space(name):
            return Value("space", path, FILE, name)
        return OUTSIDE if name in GLOBALS else None

    def _bound(self, path: str, owner: int, bound: Binding, this: Value | None) -> Value | None:
        if bound.declared:
            return self.type(path, owner, bound.chain, this)
        return self.chain(path, owner, bound.chain, this)

    def _this(self, path: str, owner: int, head: str, this: Value | None) -> Value | None:
        names = self.names(path)
        if names is None or owner == FILE:
            return None
        around = names.of_class(owner)
        if head == "super":
            return self._base(path, around, 0) if around != FILE else None
        if this is not None:
            return this
        if around != FILE:
            return Value("of", path, around)
        prefix = names.definitions[owner].key.rpartition("::")[0]
        if not prefix:
            return Value("of", path, owner)
        held = names.value_place(prefix)
        return Value("object", path, FILE, prefix) if held is None else Value("of", path, held)

    def _base(self, path: str, place: int, at: int) -> Value | None:
        names = self.names(path)
        if names is None or at >= len(names.definitions[place].bases):
            return None
        return self.chain(path, FILE, names.definitions[place].bases[at])

    # ---- imports and exports

    def _imported(self, path: str, imported: Imported, space: Space = "value") -> Value | None:
        module = self.module(path, imported.module)
        if module.external:
            return OUTSIDE
        if not module.path:
            return None
        if imported.name in ("", "*"):
            return Value("module", module.path)
        return self.exported(module.path, imported.name, space)

    def exported(self, path: str, name: str, space: Space = "value") -> Value | None:
        """What a file exports by a name; `=` for all of `module.exports`. One name may be a value and a type."""
        key = ("export", path, name, space)
        if key in self._known:
            return self._known[key]
        self._steps += 1
        if self._depth > MAX_DEPTH or self._steps > MAX_STEPS:
            return None
        self._known[key] = None
        self._depth += 1
        value = self._exported(path, name, space)
        self._depth -= 1
        self._known[key] = value
        return value

    def _exported(self, path: str, name: str, space: Space) -> Value | None:
        names = self.names(path)
        if names is None:
            return None
        bound = names.bindings.get((FILE, f"exports.{name}"))
        if bound is not None:
            found = self._type_name(path, FILE, bound.chain) if space == "type" else None
            return found or self.chain(path, FILE, bound.chain) or self._type_name(path, FILE, bound.chain)
        if name in names.passed:
            return self._imported(path, names.passed[name], space)
        own = self._as_type(path, name) if space == "type" else None
        if own is not None:
            return own
        if name in ("=", "default"):
            return self._whole(path, names, name)
        place = names.value_place(name)
        if place is not None:
            return Value("def", path, place)
        if name in names.objects or (FILE, name) in names.bindings or names.is_space(name):
            return self.name(path, FILE, name)
        found = self._as_type(path, name)
        if found is not None:
            return found
        for star in names.stars:
            found = self._imported(path, Imported(star.module, name, "", 0), space)
            if found is not None and found is not OUTSIDE:
                return found
        whole = names.bindings.get((FILE, "exports.="))
        held = self.chain(path, FILE, whole.chain) if whole is not None else None
        return self.member(held, name) if held is not None else None

    def _whole(self, path: str, names: Names, name: str) -> Value | None:
        """The default export; or all that `module.exports` is, if it is not a table of names."""
        if name == "default":
            place = names.value_place("default")
            if place is not None:
                return Value("def", path, place)
            if "default" in names.objects:
                return Value("object", path, FILE, "default")
            if (FILE, "exports.=") not in names.bindings:
                return Value("module", path) if names.facts.language == "javascript" else None
            return self.exported(path, "=")
        return Value("module", path)

    def _as_type(self, path: str, name: str) -> Value | None:
        """An interface, or what a type's name stands for."""
        names = self.names(path)
        if names is None:
            return None
        place = names.type_place(name)
        if place is not None:
            return Value("def", path, place)
        if (FILE, f"type {name}") in names.bindings:
            return Value("named", path, FILE, name)
        return None

    # ---- types

    def type(self, path: str, owner: int, written: str, this: Value | None = None) -> Value | None:
        """What a value of a written type is; `this` is the instance whose class's parameters it may name."""
        key = ("type", path, owner, written, this)
        if key in self._known:
            return self._known[key]
        self._steps += 1
        if self._depth > MAX_DEPTH or self._steps > MAX_STEPS:
            return None
        self._known[key] = None
        self._depth += 1
        value = self._type(path, owner, written, this)
        self._depth -= 1
        self._known[key] = value
        return value

    def _type(self, path: str, owner: int, written: str, this: Value | None) -> Value | None:
        options = split(written, "|")
        if len(options) > 1:
            known = [value for each in options if (value := self.type(path, owner, each, this)) is not None]
            return Value("union", args=tuple(known)) if known else None
        if written.startswith("(") and "=>" in written:
            return Value("function", path, owner, written, (this,))
        if written.startswith("{"):
            return Value("shape", path, owner, written, (this,))
        if written.startswith("["):
            return Value("tuple", args=tuple(self.type(path, owner, each, this) for each in split(written[1:-1], ",")))
        if written.startswith("typeof "):
            return self.chain(path, owner, written[7:])
        if written == "this":
            return self._this(path, owner, "this", this)
        name, _, inside = written.partition("<")
        parts = split(inside[:-1], ",") if inside else ()
        return self._named(path, owner, name, parts, this)

    def _named(self, path: str, owner: int, name: str, parts: tuple[str, ...], this: Value | None) -> Value | None:
        if name == "?":
            return None
        generic = self._generic(path, owner, name, this)
        if generic is not None:
            return generic[0]
        args = tuple(self.type(path, owner, each, this) for each in parts)
        found = self._type_name(path, owner, name)
        if found is None:
            built_in = kind_of(name)
            if built_in is not None:
                return Value(built_in, args=args)
            return OUTSIDE if name in TYPES or name.partition(".")[0] in GLOBALS else None
        if found.kind == "named":
            return self._alias(found)
        return self._instance(found, args)

    def _alias(self, found: Value) -> Value | None:
        names = self.names(found.path)
        bound = names.bindings.get((FILE, f"type {found.name}")) if names is not None else None
        if bound is None:
            return None
        if bound.chain == "?":
            return Value("alias", found.path, FILE, found.name)
        return self.type(found.path, FILE, bound.chain)

    def _generic(self, path: str, owner: int, name: str, this: Value | None) -> tuple[Value | None] | None:
        """What a parameter of a class's type is here; None if the name is no such parameter."""
        names = self.names(path)
        around = names.of_class(owner) if names is not None else FILE
        if names is None or around == FILE:
            return None
        for at in range(8):
            bound = names.bindings.get((around, f"<{at}>{name}"))
            if bound is not None:
                if this is not None and this.kind == "of" and (this.path, this.place) == (path, around):
                    if at < len(this.args) and this.args[at] is not None:
                        return (this.args[at],)
                return (self.type(path, FILE, bound.chain) if bound.chain != name else None,)
        return None

    def _type_name(self, path: str, owner: int, name: str) -> Value | None:
        """What a type's name, with dots, stands for: a definition, or a type by another name."""
        first, *rest = name.split(".")
        names = self.names(path)
        if names is None:
            return None
        place = names.nearest(owner, first)
        found: Value | None
        if place is not None:
            found = Value("def", path, place)
        else:
            found = self._as_type(path, first)
            if found is None and first in names.imports:
                found = self._imported(path, names.imports[first], "type")
            if found is None and (FILE, first) in names.bindings:
                found = self.name(path, FILE, first)
        for each in rest:
            if found is not None and found.kind == "module":
                found = self.exported(found.path, each, "type")
            else:
                found = self.member(found, each) if found is not None else None
        return found

    def named(self, path: str, owner: int, written: str, space: Space = "value") -> Value | None:
        """The definition that a class's head names: as a value, or else as a type; the other way round for types."""
        found = self._type_name(path, owner, written) if space == "type" else None
        found = found or self.chain(path, owner, written) or self._type_name(path, owner, written)
        if found is None and (written in GLOBALS or written in TYPES):
            return OUTSIDE
        if found is not None and found.kind == "named":
            found = self._alias(found)
        return Value("def", found.path, found.place) if found is not None and found.kind == "of" else found

    def _instance(self, value: Value | None, args: tuple[Value | None, ...] = ()) -> Value | None:
        if value is None:
            return None
        if value.kind == "def":
            return Value("of", value.path, value.place, "", args)
        if value.kind == "module":
            whole = self.exported(value.path, "=")
            return self._instance(whole, args) if whole is not None and whole.kind == "def" else None
        if value.kind == "of":
            names = self.names(value.path)
            bound = names.bindings.get((value.place, "new()")) if names is not None else None
            return self._bound(value.path, value.place, bound, value) if bound is not None else None
        return value if value.kind == "outside" else None

    # ---- members

    def member(self, value: Value, name: str) -> Value | None:
        """What a value has by a name."""
        kind = value.kind
        if kind == "outside":
            return OUTSIDE
        if kind == "module":
            return self.exported(value.path, name)
        if kind == "named":
            held = self._alias(value)
            return self.member(held, name) if held is not None else None
        if kind in ("def", "of"):
            return self._of_definition(value, name, 0)
        if kind == "object":
            return self._of_object(value, name)
        if kind == "alias":
            names = self.names(value.path)
            bound = names.bindings.get((FILE, f"type {value.name}.{name}")) if names is not None else None
            return self.type(value.path, FILE, bound.chain) if bound is not None else None
        if kind == "shape":
            return self._of_shape(value, name)
        if kind == "space":
            return self._of_space(value, name)
        if kind == "union":
            found = [each for part in value.args if part is not None and (each := self.member(part, name)) is not None]
            return next((each for each in found if each is not OUTSIDE), found[0] if found else None)
        if kind == "record":
            return value.args[1] if len(value.args) > 1 else None
        if kind == "promise" and name not in ("then", "catch", "finally"):
            return self.member(value.args[0], name) if value.args and value.args[0] is not None else None
        if kind in ("function", "method"):
            return OUTSIDE
        return Value("method", name=name, args=(value,))

    def _of_shape(self, value: Value, name: str) -> Value | None:
        for each in split(value.name[1:-1], ","):
            own, _, written = each.partition(":")
            if own.removesuffix("?") == name:
                return self.type(value.path, value.place, written, value.args[0])
        return None

    def _of_space(self, value: Value, name: str) -> Value | None:
        names = self.names(value.path)
        if names is None:
            return None
        place = names.spaces.get(value.name, {}).get(name)
        if place is not None:
            return Value("def", value.path, place)
        key = next((each for each in (f"{value.name}::{name}", f"{value.name}.{name}") if names.is_space(each)), None)
        return Value("space", value.path, FILE, key) if key is not None else None

    def _of_object(self, value: Value, name: str) -> Value | None:
        names = self.names(value.path)
        if names is None:
            return None
        place = names.objects.get(value.name, {}).get(name)
        if place is not None:
            return Value("def", value.path, place)
        bound = names.bindings.get((FILE, value.name))
        if bound is None or bound.chain.startswith("?") or bound.chain == value.name:
            return None
        held = self._bound(value.path, FILE, bound, None)
        return self.member(held, name) if held is not None and held != value else None

    def _of_definition(self, value: Value, name: str, depth: int) -> Value | None:
        names = self.names(value.path)
        if names is None or depth > MAX_BASES:
            return None
        definition = names.definitions[value.place]
        if definition.sort not in CLASS_SORTS:
            if name == "prototype":
                return Value("of", value.path, value.place)
            place = names.objects.get(definition.key, {}).get(name)
            if place is not None:
                return Value("def", value.path, place, "", (value,))
            bound = names.bindings.get((value.place, name)) if value.kind == "of" else None
            if bound is not None:
                return self._bound(value.path, value.place, bound, value)
            if name in ("call", "apply", "bind", "toString", "name", "length"):
                return OUTSIDE
            return self._beside(names, value, name)
        receiver = value if value.kind == "of" else None
        for place in self._merged(names, value.place):
            found = self._own_member(names, value, place, name, receiver)
            if found is not None:
                return found
        held = names.objects.get(definition.key, {}).get(name)
        if held is not None:
            return Value("def", value.path, held)
        beside = self._beside(names, value, name) if value.kind == "def" else None
        return beside if beside is not None else self._inherited(names, value, name, depth)

    def _beside(self, names: Names, value: Value, name: str) -> Value | None:
        """`module.exports = f; module.exports.name = g`: what is exported beside what is all of it."""
        whole = names.bindings.get((FILE, "exports.="))
        if whole is None or whole.chain != names.definitions[value.place].key:
            return None
        bound = names.bindings.get((FILE, f"exports.{name}"))
        place = names.value_place(name)
        if bound is not None:
            return self.chain(value.path, FILE, bound.chain)
        return Value("def", value.path, place) if place is not None else None

    def _merged(self, names: Names, place: int) -> list[int]:
        """A class or interface, and others of its name: they are one."""
        key = names.definitions[place].key
        return [place, *(each for each in names.top.get(key.partition("~")[0], ()) if each != place)]

    def _own_member(self, names: Names, value: Value, place: int, name: str, receiver: Value | None) -> Value | None:
        got = names.bindings.get((place, f"get {name}"))
        if got is not None:
            return self._bound(value.path, place, got, receiver)
        found = names.members.get(place, {}).get(name)
        if found is not None:
            return Value("def", value.path, found, "", (receiver,) if receiver is not None else ())
        bound = names.bindings.get((place, name))
        return self._bound(value.path, place, bound, receiver) if bound is not None else None

    def _inherited(self, names: Names, value: Value, name: str, depth: int) -> Value | None:
        definition = names.definitions[value.place]
        outside = False
        args = names.bindings.get((value.place, "extends"))
        for base in (*definition.bases, *definition.interfaces):
            is_type = definition.sort == "interface" or base in definition.interfaces
            found = self.named(value.path, FILE, base, "type" if is_type else "value")
            if found is OUTSIDE:
                outside = True
            if found is None or found.kind != "def":
                continue
            given_args = ()
            if args is not None and value.kind == "of":
                given_args = tuple(self.type(value.path, value.place, each, value) for each in split(args.chain, ","))
            above = Value(value.kind, found.path, found.place, "", given_args)
            inherited = self._of_definition(above, name, depth + 1)
            if inherited is OUTSIDE:
                outside = True
            elif inherited is not None:
                return inherited
        return OUTSIDE if outside else None

    # ---- calls

    def called(self, value: Value) -> Value | None:
        """What calling a value gives."""
        if value.kind == "outside":
            return OUTSIDE
        if value.kind == "module":
            whole = self.exported(value.path, "=")
            return self.called(whole) if whole is not None and whole.kind != "module" else None
        if value.kind == "function":
            returned = value.name[closing(value.name, 0) + 3 :]
            return self.type(value.path, value.place, returned, value.args[0] if value.args else None)
        if value.kind == "method":
            return called_method(value)
        names = self.names(value.path) if value.kind in ("def", "of") else None
        if names is None:
            return None
        if value.kind == "of":
            bound = names.bindings.get((value.place, "()"))
            return self._bound(value.path, value.place, bound, value) if bound is not None else None
        definition = names.definitions[value.place]
        if definition.sort in CLASS_SORTS:
            return Value("of", value.path, value.place)
        this = value.args[0] if value.args else None
        if definition.returns and definition.returns not in ("any", "?"):
            return self.type(value.path, value.place, definition.returns, this)
        bound = names.bindings.get((FILE, f"{value.place}()"))
        return self._bound(value.path, value.place, bound, this) if bound is not None else None

    def _element(self, value: Value, index: str) -> Value | None:
        if value.kind == "outside":
            return OUTSIDE
        if value.kind == "promise" and value.args and value.args[0] is not None:
            return self._element(value.args[0], index)
        if value.kind == "list":
            return value.args[0] if value.args else None
        if value.kind == "union":
            found = (self._element(each, index) for each in value.args if each is not None)
            return next((each for each in found if each is not None), None)
        if value.kind == "map":
            return Value("tuple", args=value.args)
        if value.kind == "record":
            return value.args[1] if len(value.args) > 1 else None
        if value.kind == "tuple" and index.isdigit() and int(index) < len(value.args):
            return value.args[int(index)]
        return None

    def _given(self, value: Value, function: int, argument: str) -> Value | None:
        """What a function that is passed as an argument gets as one of its own."""
        if value.kind == "method":
            return given(value, function, int(argument))
        if value.kind == "module":
            whole = self.exported(value.path, "=")
            return self._given(whole, function, argument) if whole is not None and whole.kind == "def" else None
        taken: Value | None = None
        if value.kind == "function":
            parts = split(value.name[1 : closing(value.name, 0)], ",")
            this = value.args[0] if value.args else None
            if function < len(parts):
                taken = self.type(value.path, value.place, parts[function], this)
        elif value.kind == "def":
            taken = self._parameter(value, function)
        if taken is None or taken.kind != "function":
            return None
        parts = split(taken.name[1 : closing(taken.name, 0)], ",")
        if int(argument) >= len(parts):
            return None
        return self.type(taken.path, taken.place, parts[int(argument)], taken.args[0] if taken.args else None)

    def _parameter(self, value: Value, at: int) -> Value | None:
        """What a definition takes as its parameter of that number, as declared."""
        names = self.names(value.path)
        if names is None:
            return None
        place, this = value.place, value.args[0] if value.args else None
        if names.definitions[place].sort in CLASS_SORTS:
            place = names.members.get(place, {}).get("constructor", FILE)
        bound = names.bindings.get((FILE, f"{place}@{at}"))
        return self.type(value.path, place, bound.chain, this) if bound is not None and place != FILE else None
