"""Redaction of secrets in the arguments of a write, before any id or slot is made from them.

Secrets are replaced in texts and in keys and values of properties. In names, which are stored as they are, they are
rejected.
"""

from __future__ import annotations

from typing import Any, Final, TypeVar

import msgspec
from msgspec import Struct

from weft.append.privacy import PrivacyFilter
from weft.core.errors import Invalid
from weft.runtime.call_context import CallContext
from weft.runtime.operation import TOKEN, Operation

# References to existing nodes, which are not stored.
POINTERS: Final = frozenset({TOKEN, "id", "ids", "path", "citation", "scope", "remove_keywords", "remove_agents"})
# Names, which are stored in clear and cannot be redacted.
NAMES: Final = frozenset(
    {"request_id", "session", "conversation", "project", "focus", "kind", "kinds", "agents", "keywords"}
)
CALLS: Final = frozenset({"items", "arguments"})  # arguments of another operation
# What is erased may itself be a secret.
GOING: Final = frozenset({"subject", "source", "session", "target", "project"})
Input = TypeVar("Input", bound=Struct)


def redacted_input(ctx: CallContext, operation: Operation, given: Input) -> Input:
    """The arguments of a write without secrets; those of a read unchanged.

    Raises Invalid, without quoting it, for a secret in a name, or if the redacted arguments are not acceptable.
    """
    if operation.effect == "read" or not ctx.privacy.redacts:
        return given
    before: dict[str, Any] = msgspec.to_builtins(given)
    made = _Arguments(ctx.privacy, operation).redacted(given)
    if made == before:
        return given
    try:
        return msgspec.convert(made, type(given))
    except msgspec.ValidationError as problem:
        raise Invalid(
            f"{operation.name}: after redaction of secrets, {problem}", hint="remove the secrets"
        ) from problem


class _Arguments:
    """The arguments of one call. Names and references are recognised among the operation's own fields only."""

    def __init__(self, privacy: PrivacyFilter, operation: Operation) -> None:
        self._privacy, self._operation = privacy, operation
        going = GOING if operation.effect == "destructive" else frozenset()
        self._names = (NAMES | frozenset(operation.names)) - going
        self._pointers = POINTERS | going

    def redacted(self, value: Any, *, name: str = "") -> Any:
        """A value of this name without secrets, as JSON."""
        if isinstance(value, Struct):
            return {each: self._argument(each, getattr(value, each)) for each in value.__struct_fields__}
        if isinstance(value, tuple):
            return [self.redacted(each, name=name) for each in value]
        if name in CALLS and isinstance(value, dict):  # invalid items are rejected by their own operation
            own = {each: said for each, said in value.items() if each in POINTERS}
            words = {each: said for each, said in value.items() if each not in POINTERS}
            return {**self._privacy.redact_all(words), **own}
        return self._privacy.redact_all(msgspec.to_builtins(value), name=name)

    def _argument(self, name: str, value: Any) -> Any:
        if name in self._pointers:
            return msgspec.to_builtins(value)
        if name in self._names:
            self._check(name, value)
            return msgspec.to_builtins(value)
        return self.redacted(value, name=name)

    def _check(self, name: str, value: Any) -> None:
        listed = value if isinstance(value, list | tuple) else (value,)
        if any(isinstance(each, str) and self._privacy.holds_secret(each) for each in listed):
            raise Invalid(
                f"{self._operation.name}: the argument {name} contains a secret",
                hint="names are stored in clear: choose one without the secret",
            )


def with_notes(ctx: CallContext, answer: Struct) -> Struct:
    """The answer, with notes on redacted secrets and on texts that could not be decrypted."""
    notes = ctx.privacy.notes
    told = getattr(answer, "notes", None)
    if not notes or not isinstance(told, tuple):
        return answer
    return msgspec.structs.replace(answer, notes=(*told, *(note for note in notes if note not in told)))
