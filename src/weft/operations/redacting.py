"""Secrets in what a write is given: taken out before anything is decided, so that no id or slot is made of one."""

from __future__ import annotations

from typing import Any, Final, TypeVar

import msgspec
from msgspec import Struct

from weft.errors import Invalid
from weft.loom import Loom
from weft.operations.registry import TOKEN, Operation

# Arguments that name things, rather than say something.
NOT_WORDS: Final = frozenset(
    {TOKEN, "id", "ids", "path", "request_id", "citation", "kind", "kinds", "scope", "project"}
)
Input = TypeVar("Input", bound=Struct)


def redacted_input(loom: Loom, operation: Operation, given: Input) -> Input:
    """What a write is given, without secrets; a read as it is. Raises Invalid where nothing acceptable is left."""
    if operation.effect == "read" or not loom.screen.redacts:
        return given
    before: dict[str, Any] = msgspec.to_builtins(given)
    made = {
        name: value if name in NOT_WORDS else loom.screen.redact_all(value, own=NOT_WORDS)
        for name, value in before.items()
    }
    if made == before:
        return given
    try:
        return msgspec.convert(made, type(given))
    except msgspec.ValidationError as problem:
        raise Invalid(
            f"{operation.name}: with its secrets redacted, {problem}", hint="leave the secrets out"
        ) from problem


def with_notes(loom: Loom, answer: Struct) -> Struct:
    """The answer, saying what was taken out and what could not be opened."""
    notes = loom.screen.notes
    told = getattr(answer, "notes", None)
    if not notes or not isinstance(told, tuple):
        return answer
    return msgspec.structs.replace(answer, notes=(*told, *(note for note in notes if note not in told)))
