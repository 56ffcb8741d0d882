"""Evaluates Python names, chains and declared types over all files of a project.

Everything is a set of values: a name that is bound twice may be either. Nothing is guessed: an unknown value is the
empty set. Depth is bounded; a cyclic lookup (circular imports) yields the empty set.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Sequence
from typing import Final

from weft.code.parse.facts import FILE, Binding, Imported
from weft.code.resolve.memo import Memo
from weft.code.resolve.python.modules import Files, ModuleFinder, PythonFile
from weft.code.resolve.python.values import (
    DISPLAYS,
    LOCAL,
    OUTSIDE,
    UNKNOWN,
    Class,
    Display,
    Function,
    Holder,
    Instance,
    LocalFunction,
    ModuleValue,
    OutsideValue,
    Receiver,
    Step,
    Super,
    Value,
    Values,
    annotation,
    arguments_of,
    as_class,
    as_instance,
    distinct,
    dotted,
    parts_of,
    steps_of,
)

MAX_TYPE_DEPTH: Final = 12  # of types inside types
_NOTHING_SAID: Final = frozenset({"Any", "object", "None", "NoReturn", "Never"})
# What stands for its first argument.
_WRAPPERS: Final = frozenset(
    {"Annotated", "Awaitable", "ClassVar", "Final", "InitVar", "NotRequired", "Optional", "ReadOnly", "Required"}
)
_MAPPINGS: Final = """
    ChainMap DefaultDict Dict Mapping MutableMapping OrderedDict WeakKeyDictionary WeakValueDictionary defaultdict dict
"""
# What gives its first argument to a loop.
_HOLDERS: Final = """
    AbstractAsyncContextManager AbstractContextManager AbstractSet AsyncContextManager AsyncGenerator AsyncIterable
    AsyncIterator Collection Container ContextManager Counter Deque FrozenSet Generator Iterable Iterator KeysView List
    MutableSequence MutableSet Reversible Sequence Set Tuple ValuesView deque frozenset list set tuple
"""
MAPPINGS: Final = frozenset(_MAPPINGS.split())
HOLDERS: Final = MAPPINGS | frozenset(_HOLDERS.split())


def declared(lookup: Lookup, file: PythonFile, owner: int, text: str, receiver: Receiver = None) -> Values:
    """The values of a declared type, written inside an owner; `receiver` is the meaning of `Self`."""
    node = annotation(text)
    return typed(lookup, file, owner, node, receiver) if node is not None else UNKNOWN


def typed(
    lookup: Lookup, file: PythonFile, owner: int, node: ast.expr, receiver: Receiver = None, depth: int = 0
) -> Values:
    """The values of a parsed type."""
    if depth > MAX_TYPE_DEPTH:
        return UNKNOWN
    if isinstance(node, ast.Constant):
        inner = annotation(node.value) if isinstance(node.value, str) else None
        return typed(lookup, file, owner, inner, receiver, depth + 1) if inner is not None else UNKNOWN
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        sides = (node.left, node.right)
        return distinct(value for side in sides for value in typed(lookup, file, owner, side, receiver, depth + 1))
    if isinstance(node, ast.Subscript):
        return _with_arguments(lookup, file, owner, node, receiver, depth)
    name = dotted(node)
    last = name.rpartition(".")[2]
    if not name or last in _NOTHING_SAID:
        return UNKNOWN
    if last == "Self":
        around = file.class_around(owner)
        return (as_instance(receiver or Instance(file.path, around)),) if around != FILE else UNKNOWN
    return _of_type(lookup, file, owner, name, (), receiver)


def _named(lookup: Lookup, file: PythonFile, owner: int, name: str) -> Values:
    """The meaning of a type's name: in the enclosing class, as Python does, then in the file."""
    head = name.partition(".")[0]
    around = file.class_around(owner)
    if around != FILE and any(file.is_class(place) for place in file.members_of(around, head)):
        return lookup.chain(file, around, name)
    return lookup.chain(file, owner if file.imports(owner, head) else FILE, name)


def _with_arguments(
    lookup: Lookup, file: PythonFile, owner: int, node: ast.Subscript, receiver: Receiver, depth: int
) -> Values:
    name = dotted(node.value)
    last = name.rpartition(".")[2]
    arguments = arguments_of(node)
    if last in _WRAPPERS:
        arguments = arguments[:1]
    elif last == "Coroutine":
        arguments = arguments[-1:]
    elif last not in ("Union", "type", "Type"):
        return _of_type(lookup, file, owner, name, arguments, receiver) if name else UNKNOWN
    found = distinct(value for each in arguments for value in typed(lookup, file, owner, each, receiver, depth + 1))
    return tuple(map(_class_of, found)) if last in ("type", "Type") else found


def _of_type(
    lookup: Lookup, file: PythonFile, owner: int, name: str, arguments: tuple[ast.expr, ...], receiver: Receiver
) -> Values:
    """The values of a named type; for a container, with its elements."""
    values = _named(lookup, file, owner, name)
    last = name.rpartition(".")[2]
    if (last in HOLDERS or last == "Callable") and all(isinstance(value, OutsideValue) for value in values):
        return (Holder(last, arguments, file.path, owner, receiver),)
    return _instances(values)


def held(lookup: Lookup, holder: Holder, place: int) -> Values:
    """One type argument of a container."""
    file = lookup.files.at(holder.path)
    if file is None or not -len(holder.arguments) <= place < len(holder.arguments):
        return UNKNOWN
    return typed(lookup, file, holder.owner, holder.arguments[place], holder.receiver, 1)


def _instances(values: Values) -> Values:
    """The values of a type name, aliases resolved."""
    kept = (Instance, OutsideValue, Holder)
    found = [Instance(each.path, each.place) if isinstance(each, Class) else each for each in values]
    return tuple(each for each in found if isinstance(each, kept))


def _class_of(value: Value) -> Value:
    return Class(value.path, value.place) if isinstance(value, Instance) else value


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

Order = tuple[Class | OutsideValue | None, ...]


def taken(lookup: Lookup, value: Value, step: Step) -> Values:
    """The values after one step of a chain: `.name`, `()`, `[]`."""
    if isinstance(value, OutsideValue):
        return (OUTSIDE,)
    if isinstance(value, LocalFunction):
        return UNKNOWN
    if step == "()":
        return called(lookup, value)
    if step[0] == "[":
        return _indexed(lookup, value, step[1:-1])
    return member(lookup, value, step[1:])


def member(lookup: Lookup, value: Value, name: str) -> Values:
    """The values of an attribute."""
    if isinstance(value, ModuleValue):
        return lookup.of_module(value.path, name)
    if isinstance(value, Holder):
        return (Holder(value.name, value.arguments, value.path, value.owner, value.receiver, name),)
    if isinstance(value, Display):
        return (Display(value.opening, value.parts, value.path, value.owner, value.receiver, name),)
    if isinstance(value, Function | OutsideValue | LocalFunction):
        return (OUTSIDE,) if not isinstance(value, LocalFunction) else UNKNOWN
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
        if isinstance(each, OutsideValue):
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
    """The values of a name in a class itself, without bases."""
    places = file.members_of(place, name)
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
    """The values that a call returns."""
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
    return (OUTSIDE,) if isinstance(value, OutsideValue) else UNKNOWN


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
    """The result of a method of a built-in type: `rows.pop()`, `by_name.get()`."""
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
    """The result of a method of a container literal."""
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
    return (OUTSIDE,) if isinstance(value, OutsideValue) else UNKNOWN


def order(lookup: Lookup, path: str, place: int) -> Order:
    """The method resolution order of a class; None for unknown bases."""
    key = (path, place)
    known = lookup.orders.get(key)
    if known is None:
        lookup.orders[key] = (Class(path, place), None)  # a class that extends itself extends the unknown
        known = lookup.orders[key] = _ordered(lookup, path, place)
    return known


def _ordered(lookup: Lookup, path: str, place: int) -> Order:
    found: list[Class | OutsideValue | None] = [Class(path, place)]
    for base in bases(lookup, path, place):
        found += order(lookup, base.path, base.place) if isinstance(base, Class) else [base]
    # what is extended twice comes after all that extend it
    last = {each: at for at, each in enumerate(found)}
    return tuple(each for at, each in enumerate(found) if last[each] == at)[:MAX_CLASSES]


def bases(lookup: Lookup, path: str, place: int) -> list[Class | OutsideValue | None]:
    """The bases of a class in order; None for unknown ones."""
    file = lookup.files.at(path)
    if file is None:
        return [None]
    definition = file.definition(place)
    found: list[Class | OutsideValue | None] = []
    for base in definition.bases:
        if base.rpartition(".")[2] in _EMPTY:
            continue
        values = [v for v in lookup.chain(file, definition.parent, base) if isinstance(v, Class | OutsideValue)]
        found.append(values[0] if values else None)
    return found


MAX_DEPTH: Final = 40  # of lookups inside lookups
MAX_TRIES: Final = 3  # with an answer that rests on one that is not known yet (circular imports)
BUILTINS: Final = frozenset(dir(builtins))
# What calls of some builtins give: nothing certain, something that holds what is not known.
_MADE: Final[dict[str, Values]] = {
    **dict.fromkeys(("eval", "filter", "getattr", "globals", "iter", "locals", "map", "max", "min", "next"), UNKNOWN),
    **dict.fromkeys(("reversed", "sorted", "sum", "super", "type", "vars", "zip", "enumerate"), UNKNOWN),
    **dict.fromkeys(("frozenset", "list", "set", "tuple"), (Display("[", (), "", FILE),)),
    "dict": (Display("{", (), "", FILE),),
}


class Lookup:
    """Evaluates for one file that is being resolved; caches its results."""

    def __init__(self, files: Files) -> None:
        self.files = files
        self._modules: dict[str, ModuleFinder] = {}
        self.once = Memo[Values](UNKNOWN, most_depth=MAX_DEPTH, tries=MAX_TRIES).once
        self.orders: dict[tuple[str, int], tuple[Class | OutsideValue | None, ...]] = {}  # see `python_members.order`

    # Names

    def chain(self, file: PythonFile, owner: int, chain: str, receiver: Receiver = None) -> Values:
        """The values of a chain, written inside an owner."""
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
        """The values of a name inside an owner: a local, a member of the class around, a name of the file."""
        if name in ("self", "cls", "mcs"):
            around = file.class_around(owner)
            if around != FILE and not file.bindings(owner, name):
                made = receiver or Instance(file.path, around)
                return (as_class(made),) if name != "self" else (as_instance(made),)
        if owner != FILE and (file.imports(owner, name) or file.bindings(owner, name) or file.members_of(owner, name)):
            return self.once(("held", file.path, owner, name), lambda: self._held(file, owner, name))
        found = self.once(("name", file.path, name), lambda: self._top(file, name))
        if not found and file.is_class(owner):  # what a method made of what it imported itself
            inner = [each for each in file.inner_imports(name) if file.class_around(each.owner) == owner]
            return distinct(value for each in inner for value in self.imported(file, each))
        return found

    def _held(self, file: PythonFile, owner: int, name: str) -> Values:
        """The values of a name that a function or a class binds itself."""
        values: list[Value] = [self.defined(file, place) for place in file.members_of(owner, name)]
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
        """The values of a name in a module: a definition, an import, a value, a name imported by `*`."""
        return self.once(("attribute", file.path, name), lambda: self._attribute(file, name))

    def _attribute(self, file: PythonFile, name: str) -> Values:
        values: list[Value] = [self.defined(file, place) for place in file.members_of(FILE, name)]
        for found in file.imports(FILE, name):
            values += self.imported(file, found)
        inside = [value for value in values if not isinstance(value, OutsideValue)]
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
        """The source of an `import *`; None if it is external, an empty text if unknown."""
        path = self.module_of(file, star)
        if path is None:
            return None if not star.level and self.modules(file).is_outside(star.module) else ""
        return self.files.at(path) or ""

    # Imports

    def modules(self, file: PythonFile) -> ModuleFinder:
        found = self._modules.get(file.path)
        if found is None:
            found = self._modules[file.path] = ModuleFinder(self.files.project, file.path)
        return found

    def module_of(self, file: PythonFile, found: Imported) -> str | None:
        """The path of the module that an import names, as `Modules.find` gives it."""
        return self.modules(file).find(found.module, found.level)

    def imported(self, file: PythonFile, found: Imported) -> Values:
        modules = self.modules(file)
        if not found.name:
            module = found.module if found.alias != found.module else found.module.partition(".")[0]
            path = modules.find(module)
            if path is None:
                return (OUTSIDE,) if modules.is_outside(module) else UNKNOWN
            return (ModuleValue(path),)
        path = self.module_of(file, found)
        if path is None:
            return (OUTSIDE,) if not found.level and modules.is_outside(found.module) else UNKNOWN
        return self.of_module(path, found.name)

    def of_module(self, path: str, name: str) -> Values:
        """The values of a name in a module, which may be a module inside it."""
        source = None if path.endswith("/") else self.files.at(path)
        values = self.attribute(source, name) if source is not None else UNKNOWN
        if values:
            return values
        below = self._below(path, name)
        if below is not None:
            return (ModuleValue(below),)
        if source is not None and any(self._star(source, each) is None for each in source.stars):
            return (OUTSIDE,)
        return UNKNOWN

    def _below(self, path: str, name: str) -> str | None:
        modules = self._modules.get(path)
        if modules is None:
            modules = self._modules[path] = ModuleFinder(self.files.project, path)
        return modules.below(path, name)

    # Definitions and what is bound

    def defined(self, file: PythonFile, place: int, receiver: Receiver = None) -> Class | Function:
        """A definition; one in a stub is replaced by the one that the stub describes."""
        if file.path.endswith(".pyi") and (described := self.files.at(file.path[:-1])) is not None:
            at = described.place_of(file.definition(place).key)
            file, place = (described, at) if at != FILE else (file, place)
        return Class(file.path, place) if file.is_class(place) else Function(file.path, place, receiver)

    def bound(self, file: PythonFile, bound: Binding, receiver: Receiver = None) -> Values:
        if bound.chain == "lambda":
            return (LOCAL,)
        key = ("bound", file.path, bound.owner, bound.name, bound.chain, receiver)
        if bound.declared:
            return self.once(key, lambda: declared(self, file, bound.owner, bound.chain, receiver))
        return self.once(key, lambda: self.chain(file, bound.owner, bound.chain, receiver))

    def shown(self, file: PythonFile, function: Function, bound: Binding) -> Values:
        """The inferred result of a function without a declared type, as written in it, without locals."""
        key = ("shown", function, bound.chain)
        if bound.declared:
            return self.once(key, lambda: declared(self, file, function.place, bound.chain, function.receiver))
        return self.once(key, lambda: self.chain(file, function.place, bound.chain, function.receiver))

    def _returned_by_local(self, file: PythonFile, owner: int, name: str) -> Values:
        return distinct(v for bound in file.bindings(owner, f"{name}()") for v in self.bound(file, bound))


def _super(file: PythonFile, owner: int, receiver: Receiver) -> Values:
    around = file.class_around(owner)
    if around == FILE:
        return UNKNOWN
    return (Super(file.path, around, receiver or Instance(file.path, around)),)
