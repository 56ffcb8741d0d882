"""The usual command lines of hooks, read without click: a hook that is answered by a resident loads nothing else.

Whatever is written otherwise, or wrongly, is left to click.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from weft.surfaces.hooks.deadline import DEADLINE, seconds_of
from weft.surfaces.hooks.hook import CLIENTS

if TYPE_CHECKING:
    from weft.surfaces.hooks.work import Command

BUDGET_TOKENS: Final = 1_200
MIN_BUDGET_TOKENS, MAX_BUDGET_TOKENS = 100, 100_000
_OPTIONS: Final = {"context": ("--hook", "--deadline", "--budget"), "capture": ("--hook", "--deadline")}


class PlainArguments(NamedTuple):
    """A hook's command line that was understood."""

    command: Command
    client: str | None
    deadline_s: float
    query: str | None
    budget: int


def read_plain(arguments: Sequence[str]) -> PlainArguments | None:
    """The command line of a hook; None for any other, and for one that click is to read."""
    if not arguments or arguments[0] not in _OPTIONS:
        return None
    command = cast("Command", arguments[0])
    options, words = _split(arguments[1:], _OPTIONS[command])
    client, budget = options.get("--hook"), options.get("--budget", str(BUDGET_TOKENS))
    deadline_s = seconds_of(options.get("--deadline", DEADLINE))
    known = client in CLIENTS if client is not None else command == "context"
    within = budget.isascii() and budget.isdigit() and MIN_BUDGET_TOKENS <= int(budget[:7]) <= MAX_BUDGET_TOKENS
    odd = any(word.startswith("-") for word in words) or len(words) > (command == "context")
    if odd or not known or not within or deadline_s is None:
        return None
    return PlainArguments(command, client, deadline_s, words[0] if words else None, int(budget))


def _split(arguments: Sequence[str], options: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """Options with their values, and what is none. What is not known stays among the latter, with its dash."""
    found: dict[str, str] = {}
    words: list[str] = []
    rest = iter(arguments)
    for each in rest:
        name, equals, value = each.partition("=")
        if name in options and name not in found:
            found[name] = value if equals else next(rest, "")
        else:
            words.append(each)
    return found, words
