"""Python: declared types, as they are written."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from weft.code.facts import FILE
from weft.code.resolving.python_files import PythonFile
from weft.code.resolving.python_values import (
    UNKNOWN,
    Class,
    Holder,
    Instance,
    Outside,
    Receiver,
    Value,
    Values,
    annotation,
    arguments_of,
    as_instance,
    distinct,
    dotted,
)

if TYPE_CHECKING:
    from weft.code.resolving.python_lookup import Lookup

MAX_DEPTH: Final = 12  # of types inside types
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
    """What is of a declared type, written inside an owner; `receiver` is what `Self` means."""
    node = annotation(text)
    return typed(lookup, file, owner, node, receiver) if node is not None else UNKNOWN


def typed(
    lookup: Lookup, file: PythonFile, owner: int, node: ast.expr, receiver: Receiver = None, depth: int = 0
) -> Values:
    """The same, for a type that was parsed."""
    if depth > MAX_DEPTH:
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
    """What a type's name stands for: in the class around, which is where Python reads it, then in the file."""
    head = name.partition(".")[0]
    around = file.class_around(owner)
    if around != FILE and any(file.is_class(place) for place in file.members(around, head)):
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
    """What is of a type by its name; of one that holds others, with what it holds."""
    values = _named(lookup, file, owner, name)
    last = name.rpartition(".")[2]
    if (last in HOLDERS or last == "Callable") and all(isinstance(value, Outside) for value in values):
        return (Holder(last, arguments, file.path, owner, receiver),)
    return _instances(values)


def held(lookup: Lookup, holder: Holder, place: int) -> Values:
    """One argument of a type with arguments."""
    file = lookup.files.at(holder.path)
    if file is None or not -len(holder.arguments) <= place < len(holder.arguments):
        return UNKNOWN
    return typed(lookup, file, holder.owner, holder.arguments[place], holder.receiver, 1)


def _instances(values: Values) -> Values:
    """What is of a type that a name stands for: an alias of a declared type stands for what is of it."""
    kept = (Instance, Outside, Holder)
    found = [Instance(each.path, each.place) if isinstance(each, Class) else each for each in values]
    return tuple(each for each in found if isinstance(each, kept))


def _class_of(value: Value) -> Value:
    return Class(value.path, value.place) if isinstance(value, Instance) else value
