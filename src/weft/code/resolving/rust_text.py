"""Rust: the texts of types and chains that the reader writes, taken apart. See `readers.rust_types`, `rust_chains`."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from msgspec import Struct

MAX_DEPTH: Final = 24
_NAME_ENDS: Final = frozenset("<>,()+=[]:{}?!|. ")
_TYPE_NAME_ENDS: Final = frozenset("<>,()+=[]: ")


class Written(Struct, frozen=True):
    """A type as it is written. `kind` is `path`, `()` (a tuple), `[]`, `fn` (first what it returns), `+`, `as`, or `?`.

    A path has its names, and the arguments of each; `as` has a type and a trait, and the names that follow.
    """

    kind: str
    names: tuple[str, ...] = ()
    given: tuple[tuple[Written, ...], ...] = ()
    parts: tuple[Written, ...] = ()


class Step(Struct, frozen=True):
    """One step of a chain, by its sign.

    `.` is a field or a method, with type arguments; `()` a call, where `inner` is a chain; `{}` a value of a type,
    where `given` is what it was matched with; `|` the parameter `second` of the closure that is argument `first`.
    """

    kind: str
    name: str = ""
    given: tuple[Written, ...] = ()
    inner: str = ""
    first: int = 0
    second: int = 0


UNKNOWN: Final = Written("?")
UNIT: Final = Written("()")


class _Text:
    """A text, and how far it was read."""

    def __init__(self, text: str, *, chain: bool) -> None:
        self.text = text
        self.at = 0
        self.chain = chain
        self.ends = _NAME_ENDS if chain else _TYPE_NAME_ENDS

    def ahead(self, what: str) -> bool:
        return self.text.startswith(what, self.at)

    def take(self, what: str) -> bool:
        if self.ahead(what):
            self.at += len(what)
            return True
        return False

    def name(self) -> str:
        start = self.at
        while self.at < len(self.text) and self.text[self.at] not in self.ends:
            self.at += 1
        return self.text[start : self.at]

    def type(self, depth: int) -> Written:
        first = self.single(depth)
        if not self.ahead("+"):
            return first
        parts = [first]
        while self.take("+"):
            parts.append(self.single(depth))
        return Written("+", parts=tuple(parts))

    def single(self, depth: int) -> Written:
        if depth > MAX_DEPTH:
            self.at = len(self.text)
            return UNKNOWN
        if self.take("("):
            return Written("()", parts=self.types(")", depth + 1))
        if self.take("["):
            return Written("[]", parts=self.types("]", depth + 1))
        if self.take("<"):
            kind = self.type(depth + 1)
            trait = self.type(depth + 1) if self.take(" as ") else None
            self.take(">")
            names, given = self.path(depth) if self.take("::") else ((), ())
            return Written("as", names, given, (kind,) if trait is None else (kind, trait))
        names, given = self.path(depth)
        if not any(names):
            self.at += 1  # nothing that could be read: go on behind it
            return UNKNOWN
        if not self.chain and self.take("("):
            taken = self.types(")", depth + 1)
            return Written("fn", names, given, (self.type(depth + 1) if self.take("->") else UNIT, *taken))
        return Written("path", names, given)

    def types(self, end: str, depth: int) -> tuple[Written, ...]:
        """Types up to `end`; of `Item=Type` the type."""
        found: list[Written] = []
        outer, self.ends, chain, self.chain = self.ends, _TYPE_NAME_ENDS, self.chain, False
        while self.at < len(self.text) and not self.take(end):
            kind = self.type(depth)
            if self.take("="):
                kind = self.type(depth)
            found.append(kind)
            self.take(",")
        self.ends, self.chain = outer, chain
        return tuple(found)

    def path(self, depth: int) -> tuple[tuple[str, ...], tuple[tuple[Written, ...], ...]]:
        names: list[str] = [""] if self.take("::") else []
        given: list[tuple[Written, ...]] = [()] if names else []
        while True:
            names.append(self.name())
            given.append(self.types(">", depth + 1) if self.take("<") else ())
            if not self.take("::"):
                return tuple(names), tuple(given)


@lru_cache(maxsize=32_768)
def type_of(text: str) -> Written:
    """A type's text, taken apart."""
    return _Text(text, chain=False).type(0) if text else UNIT


@lru_cache(maxsize=32_768)
def chain_of(text: str) -> tuple[Written, tuple[Step, ...]]:
    """A chain's text: where it begins, and the steps from there."""
    reading = _Text(text, chain=True)
    root = reading.single(0)
    steps: list[Step] = []
    while reading.at < len(text):
        step = _step(reading)
        if step is None:
            return UNKNOWN, ()
        steps.append(step)
    return root, tuple(steps)


def _step(reading: _Text) -> Step | None:
    if reading.take("."):
        name = reading.name()
        return Step(".", name, reading.types(">", 0) if reading.take("<") else ())
    if reading.take("("):
        return Step("()", inner=_up_to_end(reading))
    if reading.take("{"):
        made = reading.single(0) if not reading.ahead("}") else None
        reading.take("}")
        return Step("{}", given=(made,) if made is not None else ())
    for kind in ("[]", "?", "!"):
        if reading.take(kind):
            return Step(kind)
    if reading.take("|"):
        first, second = reading.name().partition(",")[0], ""
        if reading.take(","):
            second = reading.name()
        if first.isdigit() and second.isdigit():
            return Step("|", first=int(first), second=int(second))
    return None


def _up_to_end(reading: _Text) -> str:
    """What stands up to the parenthesis that closes."""
    start, open_ = reading.at, 1
    while reading.at < len(reading.text):
        open_ += {"(": 1, ")": -1}.get(reading.text[reading.at], 0)
        reading.at += 1
        if open_ == 0:
            return reading.text[start : reading.at - 1]
    return reading.text[start:]
