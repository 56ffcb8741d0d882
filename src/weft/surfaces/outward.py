"""Server errors as reported to network callers, without paths of the server's files."""

from __future__ import annotations

from typing import Final

from weft.core.errors import Misconfigured, ModelError, StoreError, WeftError

OWN: Final = (StoreError, Misconfigured, ModelError)  # their messages name files, for the operator
WORDS: Final = {
    "busy": ("the store is busy; nothing was written", "try again in a moment"),
    "away": ("the store cannot be reached for now; nothing was written", "try again later"),
    "disk_full": ("the server's disk is full; nothing was written", "ask its operator to free some space"),
    "read_only": ("the store cannot be written", "ask the server's operator"),
    "corrupt": ("the store is damaged", "ask the server's operator to run `weft doctor`"),
    "model_error": ("a model that this needs cannot serve", "try again later, or ask the server's operator"),
    "misconfigured": ("the server is not set up as it should be", "ask its operator"),
}
OTHER: Final = ("the store cannot serve this", "ask the server's operator; its standard error says why")


def is_own(problem: WeftError) -> bool:
    """Whether the error is the server's, not the caller's."""
    return isinstance(problem, OWN)


def outward(problem: WeftError) -> WeftError:
    """The error as reported to a network caller; server errors get a general message."""
    if not is_own(problem):
        return problem
    message, hint = WORDS.get(problem.code, OTHER)
    return type(problem)(message, hint=hint)
