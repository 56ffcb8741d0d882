"""Base for languages whose variables have declared types (Go, Java): the value of a name at a line, and of chains."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Final, Generic, NamedTuple, TypeVar

from weft.code.parse.facts import CLASS_SORTS, FILE, Binding, Definition, FileFacts
from weft.code.resolve import Target

MAX_FOLLOWED: Final = 40  # steps from one name to another before it is given up


class Located(NamedTuple):
    """A definition and its file."""

    facts: FileFacts
    place: int

    @property
    def definition(self) -> Definition:
        return self.facts.definitions[self.place]

    @property
    def target(self) -> Target:
        """The definition as the target of a link."""
        return Target(self.facts.path, self.definition.key)


class Nowhere(NamedTuple):
    """Not in the project (`outside`), or unknown."""

    outside: bool


OUTSIDE: Final = Nowhere(outside=True)
UNKNOWN: Final = Nowhere(outside=False)
Value = TypeVar("Value")


class ChainFollower(ABC, Generic[Value]):
    """Follows chains for one file: the value of the first name, then step by step."""

    def __init__(self) -> None:
        self._depth = 0

    def value(self, facts: FileFacts, owner: int, chain: str, line: int) -> Value | Nowhere:
        """The value of an expression on a line of a file; UNKNOWN past MAX_FOLLOWED names."""
        if self._depth > MAX_FOLLOWED:
            return UNKNOWN
        self._depth += 1
        try:
            made, brace, rest = chain.partition("{}")
            steps = self.steps(rest if brace else chain)
            found: Value | Nowhere
            if brace:
                found = self.made(facts, owner, made)
            else:
                found, steps = self.root(facts, owner, steps[0] if steps else "?", line, chain), steps[1:]
            for step in steps:
                if isinstance(found, Nowhere):
                    break
                found = self.step(found, step)
            return found
        finally:
            self._depth -= 1

    def local(self, facts: FileFacts, owner: int, name: str, line: int, chain: str) -> Binding | None:
        """The binding of a name in a function at a line."""
        if owner == FILE or facts.definitions[owner].sort in CLASS_SORTS:
            return None
        before = [each for each in self.bindings(facts, owner, name) if each.line <= line]
        # In `x := x.next()` the second x is the outer one.
        if before and before[-1].line == line and before[-1].chain.startswith(f"{chain}("):
            before.pop()
        return before[-1] if before and before[-1].chain else None

    @abstractmethod
    def steps(self, chain: str) -> tuple[str, ...]:
        """A chain step by step, the first name before the others."""

    @abstractmethod
    def made(self, facts: FileFacts, owner: int, text: str) -> Value:
        """A value of a type named in the source."""

    @abstractmethod
    def root(self, facts: FileFacts, owner: int, name: str, line: int, chain: str) -> Value | Nowhere: ...

    @abstractmethod
    def step(self, value: Value, step: str) -> Value | Nowhere:
        """The value after one step of a chain."""

    @abstractmethod
    def bindings(self, facts: FileFacts, owner: int, name: str) -> Sequence[Binding]:
        """The bindings of a name inside a definition, in line order."""
