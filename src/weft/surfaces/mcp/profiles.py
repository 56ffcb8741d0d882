"""`profile`: an argument of every tool that sets the size of its answer; operations do not see it."""

from __future__ import annotations

from typing import Any, Final

from weft.context.budget import PROFILE_TOKENS, context_tokens
from weft.core.errors import Invalid
from weft.runtime.operation import Operation
from weft.runtime.priorities import Profile
from weft.surfaces.mcp.answer import UNSAID

ARGUMENT: Final = "profile"
SCHEMA: Final = {"enum": list(PROFILE_TOKENS), "description": "length of the answer"}
OF_BOTH: Final = "balanced"  # is a way to rank, too, where an operation has a profile of its own
SAID: Final = "Each tool takes `profile`: answers of 300 tokens (compact), 1,200 (balanced) or whole (debug)."


def takes_profile(operation: Operation) -> bool:
    """Whether `profile` is the argument of this surface, and not one of the operation itself."""
    return ARGUMENT not in operation.input.__struct_fields__


def take_profile(operation: Operation, sent: dict[str, Any]) -> tuple[Profile | None, dict[str, Any]]:
    """The profile that was sent, if any, and the other arguments. Raises Invalid for an unknown profile.

    For an operation with a `profile` of its own, only values that it does not know are ours.
    """
    given = sent.get(ARGUMENT)
    ours = takes_profile(operation) or (isinstance(given, str) and given in PROFILE_TOKENS and given != OF_BOTH)
    if ARGUMENT not in sent or not ours:
        return None, sent
    rest = {name: value for name, value in sent.items() if name != ARGUMENT}
    if given is None or given == UNSAID:
        return None, rest
    for known in PROFILE_TOKENS:
        if given == known:
            return known, rest
    raise Invalid(
        f"{operation.name}: unknown profile {str(given)[:80]!r}",
        hint="profile is compact (300 tokens), balanced (1,200) or debug; omit it for the tool's default",
    )


def with_budget(operation: Operation, given: dict[str, Any], profile: Profile | None) -> dict[str, Any]:
    """The arguments, with the context budget of the profile unless the caller gave one."""
    if profile is None or not operation.budget or operation.budget in given:
        return given
    return {**given, operation.budget: context_tokens(profile)}
