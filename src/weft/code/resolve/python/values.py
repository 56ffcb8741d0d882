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
    """A file, or a package without one (with a slash behind it)."""

    path: str


class Class(Struct, frozen=True):
    """A class itself."""

    path: str
    place: int


class Instance(Struct, frozen=True):
    """Something made by a class."""

    path: str
    place: int


class Super(Struct, frozen=True):
    """What `super()` is in a class, for what it is called on."""

    path: str
    place: int
    receiver: Instance | Class


class Function(Struct, frozen=True):
    """A function, with what it is called on."""

    path: str
    place: int
    receiver: Instance | Class | None = None


class Holder(Struct, frozen=True, eq=False):
    """Something of a type with arguments: `list[Row]`. The arguments are read where they are written."""

    name: str
    arguments: tuple[ast.expr, ...]
    path: str
    owner: int
    receiver: Instance | Class | None = None
    method: str = ""  # what was asked of it: `items`


class Display(Struct, frozen=True):
    """A literal that shows what it holds: `[`, `(` or `{`, and the chains of its parts, read where they are written."""

    opening: str
    parts: tuple[str, ...]
    path: str
    owner: int
    receiver: Instance | Class | None = None
    method: str = ""


class OutsideValue(Struct, frozen=True):
    """Something that is certainly not of the project."""


class LocalFunction(Struct, frozen=True):
    """Something inside the very function that names it."""


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
    """A chain as its head and what follows, step by step. What is not a chain has an empty head."""
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
    """A declared type as a tree; None if it is none."""
    if _NO_TYPE.search(text):
        return None
    try:
        return ast.parse(f"({text})", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def dotted(node: ast.expr) -> str:
    """`a.b.c` as it is written; empty for anything else."""
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
    """Each once, in their order, and no more than MAX_VALUES."""
    return tuple(dict.fromkeys(values))[:MAX_VALUES]


def as_class(value: Instance | Class) -> Class:
    """The class of it."""
    return Class(value.path, value.place)


def as_instance(value: Instance | Class) -> Instance:
    """One of it."""
    return Instance(value.path, value.place)
