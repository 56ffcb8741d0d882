"""Values of Python names, and declared types as written."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from msgspec import Struct

from weft.code.resolve.texts import closing, split

MAX_VALUES: Final = 40  # that one name may stand for


class ModuleValue(Struct, frozen=True):
    """A file, or a namespace package (with a trailing slash)."""

    path: str


class Class(Struct, frozen=True):
    """A class itself."""

    path: str
    place: int


class Instance(Struct, frozen=True):
    """An instance of a class."""

    path: str
    place: int


class Super(Struct, frozen=True):
    """The value of `super()` in a class, with its receiver."""

    path: str
    place: int
    receiver: Instance | Class


class Function(Struct, frozen=True):
    """A function, with its receiver."""

    path: str
    place: int
    receiver: Instance | Class | None = None


class Holder(Struct, frozen=True, eq=False):
    """A value of a type with arguments: `list[Row]`. The arguments are read in the context where they are written."""

    name: str
    arguments: tuple[ast.expr, ...]
    path: str
    owner: int
    receiver: Instance | Class | None = None
    method: str = ""  # what was asked of it: `items`


class Display(Struct, frozen=True):
    """A container literal: `[`, `(` or `{`, and the chains of its parts, read in the context where they are written."""

    opening: str
    parts: tuple[str, ...]
    path: str
    owner: int
    receiver: Instance | Class | None = None
    method: str = ""


class OutsideValue(Struct, frozen=True):
    """A value from outside the project."""


class LocalFunction(Struct, frozen=True):
    """A definition inside the function that names it."""


Receiver = Instance | Class | None
Value = ModuleValue | Class | Instance | Super | Function | Holder | Display | OutsideValue | LocalFunction
Values = tuple[Value, ...]
OUTSIDE: Final = OutsideValue()
LOCAL: Final = LocalFunction()
UNKNOWN: Final[Values] = ()

_STEP: Final = re.compile(r"\.([^\W\d]\w*|\?)|(\(\))|\[(\d*)\]")
_HEAD: Final = re.compile(r"[^\W\d]\w*|\?")
DISPLAYS: Final = frozenset("[({")
_OPENING: Final = "<[({"
# What Python's parser warns of: a type has neither escapes nor words that begin as a number.
_NO_TYPE: Final = re.compile(r"\\|(?<!\w)\d+[^\W\d]|[^\x00-\x7f]\d+[^\W\d]")

Step = str  # `.name`, `()`, `[]`, `[n]`


@lru_cache(maxsize=65_536)
def steps_of(chain: str) -> tuple[str, tuple[Step, ...]]:
    """The first name of a chain and its steps. A text that is no chain has an empty first name."""
    if chain[:1] in _OPENING and chain:
        at = closing(chain, 0) + 1
        first = chain[:at]
    else:
        named = _HEAD.match(chain)
        first = named[0] if named else ""
        at = len(first)
    if not at:
        return "", ()
    found = []
    while at < len(chain):
        step = _STEP.match(chain, at)
        if step is None:
            return "", ()
        found.append(step[0])
        at = step.end()
    return first, tuple(found)


def parts_of(display: str) -> tuple[str, ...]:
    """The chains inside a literal."""
    return split(display[1:-1], ";")


@lru_cache(maxsize=16_384)
def annotation(text: str) -> ast.expr | None:
    """A declared type as a syntax tree; None if it is invalid."""
    if _NO_TYPE.search(text):
        return None
    try:
        return ast.parse(f"({text})", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def dotted(node: ast.expr) -> str:
    """`a.b.c` as written; empty for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    return ".".join([node.id, *reversed(parts)])


def arguments_of(node: ast.Subscript) -> tuple[ast.expr, ...]:
    """The type arguments of `X[…]`."""
    return tuple(node.slice.elts) if isinstance(node.slice, ast.Tuple) else (node.slice,)


def distinct(values: Iterable[Value]) -> Values:
    """The values without repetitions, in order, at most MAX_VALUES."""
    return tuple(dict.fromkeys(values))[:MAX_VALUES]


def as_class(value: Instance | Class) -> Class:
    """The class of a value."""
    return Class(value.path, value.place)


def as_instance(value: Instance | Class) -> Instance:
    """An instance of a class."""
    return Instance(value.path, value.place)
