"""What an operation is. Every surface (command line, MCP, HTTP, reference) is derived from these values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import msgspec
from msgspec import Struct

from weft.context.budget import Profile
from weft.context.priorities import Priorities
from weft.errors import Invalid
from weft.loom import Loom
from weft.operations.listed import command_words
from weft.operations.mistakes import choices, in_words

Effect = Literal["read", "write", "destructive"]
# From where it may be called: over the network too; only on this machine, because it works on its files or tells of
# them; only as a command, because it says who may call.
Reach = Literal["anywhere", "machine", "terminal"]
TOKEN = "governance_token"  # noqa: S105 - the name of an argument
PRODUCED_BY = "produced_by_task_id"
MOST_NAMED = 5  # of what is not known
COMPACT_TOOLSETS = frozenset({"code", "fleet"})  # asked often, in the middle of work: their answers are short
ALIASES = {"producedByTaskId": PRODUCED_BY}  # as other systems write it


class Operation(Struct, frozen=True, kw_only=True):
    """One verb: its name, its input and output types, what it does to the store, and the function that does it."""

    name: str
    summary: str
    input: type[Struct]
    output: type[Struct]
    effect: Effect
    toolset: str
    run: Callable[[Loom, Any], Struct]
    arguments: tuple[str, ...] = ()
    rare: tuple[str, ...] = ()  # arguments that are taken, and left out of what every agent has to read
    eager: bool = False
    reach: Reach = "anywhere"
    profile: Profile | None = None  # of its answers to agents where they name none; without one, 4,000 tokens
    priorities: Priorities = {}  # of fields, by path, where they matter otherwise than usually
    budget: str = ""  # the argument that says how many tokens its context may cost, if it has one
    told: tuple[str, ...] = ()  # fields that a short answer is without, because its context tells as much
    spare: tuple[str, ...] = ()  # fields, by path, that the data of a compact answer is without: others tell as much

    def __post_init__(self) -> None:
        """A token and a task are taken by many and given by few: no operation has to say so."""
        if self.profile is None and self.toolset in COMPACT_TOOLSETS:
            msgspec.structs.force_setattr(self, "profile", "compact")
        seldom = [name for name in (TOKEN, PRODUCED_BY) if name in self.input.__struct_fields__]
        msgspec.structs.force_setattr(self, "rare", tuple(dict.fromkeys((*self.rare, *seldom))))

    @property
    def governed(self) -> bool:
        """Whether it takes a governance token: without one it changes nothing that is kept for all projects."""
        return TOKEN in self.input.__struct_fields__

    @property
    def command(self) -> str:
        """As typed on the command line: `weft add-fact`, `weft log show`."""
        return " ".join(("weft", *command_words(self.name)))

    @property
    def description(self) -> str:
        """The long help: the function's docstring."""
        return (self.run.__doc__ or self.summary).strip()


def read_input(operation: Operation, given: dict[str, Any]) -> Struct:
    """Validates a caller's arguments. Raises Invalid, naming the argument, for anything that does not fit."""
    known = operation.input.__struct_fields__
    if twice := [name for alias, name in ALIASES.items() if alias in given and name in given]:
        raise Invalid(f"{operation.name}: {twice[0]} is given twice", hint=f"send {twice[0]} once")
    given = {ALIASES.get(name, name): value for name, value in given.items()}
    unknown = [name for name in given if name not in known]
    if unknown:
        raise Invalid(
            f"{operation.name} has no argument {_few(unknown)}",
            hint=f"it takes {', '.join(known) or 'none'}",
        )
    try:
        made = msgspec.convert(given, operation.input, strict=True)
        msgspec.json.encode(made)  # what cannot be written as UTF-8 could be neither stored nor compared
    except UnicodeEncodeError as problem:
        raise Invalid(
            f"{operation.name}: an argument holds a lone surrogate, which is not text",
            hint="decode the source with errors='replace' before sending it",
        ) from problem
    except msgspec.ValidationError as problem:
        hint = choices(operation.input, str(problem)) or f"see `{operation.command} --help`"
        raise Invalid(f"{operation.name}: {in_words(str(problem))}", hint=hint) from problem
    return made


def _few(names: list[str]) -> str:
    """The first of them, each in short: a caller may send any number, of any length."""
    shown = [name[:80] for name in sorted(names)[:MOST_NAMED]]
    return ", ".join(shown) + (f" and {len(names) - len(shown):,} more" if len(names) > len(shown) else "")
