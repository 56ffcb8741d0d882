"""Secrets in what a write is given: taken out before anything is decided, so that no id or slot is made of one.

Words lose them, and so do the keys and values of properties. Names, which are kept as they are or not at all, are
refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeVar

import msgspec
from msgspec import Struct

from weft.errors import Invalid
from weft.loom import Loom
from weft.operations.registry import TOKEN, Operation
from weft.screen import Screen

# Arguments that point at what is there already, and become no part of anything.
POINTERS: Final = frozenset({TOKEN, "id", "ids", "path", "citation", "scope", "remove_keywords", "remove_agents"})
# Arguments that name things for good, in clear, in places where no words stand.
NAMES: Final = frozenset(
    {"request_id", "session", "conversation", "project", "focus", "kind", "kinds", "agents", "keywords"}
)
NAMING: Final[Mapping[str, frozenset[str]]] = {  # what is a name in these operations, and words in others
    "project_create": frozenset({"name"}),
    "focus_create": frozenset({"name"}),
}
CALLS: Final = frozenset({"items", "arguments"})  # each is what another operation will be given
# What goes for good may well be a secret that came in some other way.
GOING: Final = frozenset({"subject", "source", "session", "target", "project"})
Input = TypeVar("Input", bound=Struct)


def redacted_input(loom: Loom, operation: Operation, given: Input) -> Input:
    """What a write is given, without secrets; a read as it is.

    Raises Invalid, without a word of it, for a secret in a name, or where nothing acceptable is left.
    """
    if operation.effect == "read" or not loom.screen.redacts:
        return given
    before: dict[str, Any] = msgspec.to_builtins(given)
    made = _Arguments(loom.screen, operation).redacted(given)
    if made == before:
        return given
    try:
        return msgspec.convert(made, type(given))
    except msgspec.ValidationError as problem:
        raise Invalid(
            f"{operation.name}: with its secrets redacted, {problem}", hint="leave the secrets out"
        ) from problem


class _Arguments:
    """The arguments of one call.

    Only what an operation itself calls so is a pointer or a name: an agent's own properties may be called anything.
    """

    def __init__(self, screen: Screen, operation: Operation) -> None:
        self._screen, self._operation = screen, operation
        going = GOING if operation.effect == "destructive" else frozenset()
        self._names = (NAMES | NAMING.get(operation.name, frozenset())) - going
        self._pointers = POINTERS | going

    def redacted(self, value: Any, *, name: str = "") -> Any:
        """A value of this name without secrets, as JSON."""
        if isinstance(value, Struct):
            return {each: self._argument(each, getattr(value, each)) for each in value.__struct_fields__}
        if isinstance(value, tuple):
            return [self.redacted(each, name=name) for each in value]
        if name in CALLS and isinstance(value, dict):  # a bad item is for its own form to refuse
            own = {each: said for each, said in value.items() if each in POINTERS}
            words = {each: said for each, said in value.items() if each not in POINTERS}
            return {**self._screen.redact_all(words), **own}
        return self._screen.redact_all(msgspec.to_builtins(value), name=name)

    def _argument(self, name: str, value: Any) -> Any:
        if name in self._pointers:
            return msgspec.to_builtins(value)
        if name in self._names:
            self._check(name, value)
            return msgspec.to_builtins(value)
        return self.redacted(value, name=name)

    def _check(self, name: str, value: Any) -> None:
        listed = value if isinstance(value, list | tuple) else (value,)
        if any(isinstance(each, str) and self._screen.holds_secret(each) for each in listed):
            raise Invalid(
                f"{self._operation.name}: there is a secret in {name}",
                hint="names are kept in clear: choose one without it",
            )


def with_notes(loom: Loom, answer: Struct) -> Struct:
    """The answer, saying what was taken out and what could not be opened."""
    notes = loom.screen.notes
    told = getattr(answer, "notes", None)
    if not notes or not isinstance(told, tuple):
        return answer
    return msgspec.structs.replace(answer, notes=(*told, *(note for note in notes if note not in told)))
