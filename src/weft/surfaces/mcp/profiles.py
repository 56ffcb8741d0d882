"""`profile`: the argument that every tool takes and no operation knows of: how much of the answer is to be told."""

from __future__ import annotations

from typing import Any, Final

from weft.context.budget import PROFILE_TOKENS, Profile, context_tokens
from weft.errors import Invalid
from weft.operations.registry import Operation
from weft.surfaces.mcp.answer import UNSAID

ARGUMENT: Final = "profile"
SCHEMA: Final = {"enum": list(PROFILE_TOKENS)}
OF_BOTH: Final = "balanced"  # is a way to rank, too, where an operation has a profile of its own
SAID: Final = "Each tool takes `profile`: answers of 300 tokens (compact), 1,200 (balanced) or whole (debug)."


def takes_profile(operation: Operation) -> bool:
    """Whether the argument of that name is the surface's, and not one of the operation's own."""
    return ARGUMENT not in operation.input.__struct_fields__


def take_profile(operation: Operation, sent: dict[str, Any]) -> tuple[Profile | None, dict[str, Any]]:
    """The profile that was sent, if any, and everything else. Raises Invalid for one that there is not.

    To an operation that has a profile of its own, only words that cannot mean that one are ours.
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
        f"{operation.name}: there is no profile {str(given)[:80]!r}",
        hint="profile is compact (300 tokens), balanced (1,200) or debug; leave it out for the tool's own",
    )


def with_budget(operation: Operation, given: dict[str, Any], profile: Profile | None) -> dict[str, Any]:
    """The arguments, with a context as long as the profile has room for, unless the caller says how long."""
    if profile is None or not operation.budget or operation.budget in given:
        return given
    return {**given, operation.budget: context_tokens(profile)}
