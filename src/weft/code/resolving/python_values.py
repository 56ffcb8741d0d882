"""Python: what a name may stand for, and types as they are written."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from msgspec import Struct

MAX_VALUES: Final = 40  # that one name may stand for


class Module(Struct, frozen=True):
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


class Outside(Struct, frozen=True):
    """Something that is certainly not of the project."""


class Local(Struct, frozen=True):
    """Something inside the very function that names it."""


Receiver = Instance | Class | None
Value = Module | Class | Instance | Super | Function | Holder | Display | Outside | Local
Values = tuple[Value, ...]
OUTSIDE: Final = Outside()
LOCAL: Final = Local()
UNKNOWN: Final[Values] = ()

_STEP: Final = re.compile(r"\.([^\W\d]\w*|\?)|(\(\))|\[(\d*)\]")
_HEAD: Final = re.compile(r"[^\W\d]\w*|\?")
DISPLAYS: Final = frozenset("[({")
_OPENING: Final = "<[({"
_CLOSING: Final = ">])}"
# What Python's parser warns of: a type has neither escapes nor words that begin as a number.
_NO_TYPE: Final = re.compile(r"\\|(?<!\w)\d+[^\W\d]|[^\x00-\x7f]\d+[^\W\d]")

Step = str  # `.name`, `()`, `[]`, `[n]`


@lru_cache(maxsize=65_536)
def steps_of(chain: str) -> tuple[str, tuple[Step, ...]]:
    """A chain as its head and what follows, step by step. What is not a chain has an empty head."""
    if chain[:1] in _OPENING and chain:
        at = _closed(chain)
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


def _closed(chain: str) -> int:
    """Where the first bracket of a text is closed; 0 if it never is."""
    depth = 0
    for at, character in enumerate(chain):
        if character in _OPENING:
            depth += 1
        elif character in _CLOSING:
            depth -= 1
            if not depth:
                return at + 1
    return 0


def parts_of(display: str) -> list[str]:
    """The chains inside a literal."""
    parts, depth, begin = [], 0, 1
    for at, character in enumerate(display):
        depth += (character in _OPENING) - (character in _CLOSING)
        if character == ";" and depth == 1:
            parts.append(display[begin:at])
            begin = at + 1
    return [*parts, display[begin:-1]]


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
