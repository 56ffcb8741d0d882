"""The definition of an operation. Every surface (command line, MCP, HTTP, reference) is derived from it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta, Struct

from weft.core.clock import parse_instant
from weft.core.errors import Invalid
from weft.runtime.argument_errors import choices, in_words
from weft.runtime.call_context import CallContext
from weft.runtime.fields import POINT_IN_TIME
from weft.runtime.operation_index import command_words
from weft.runtime.priorities import Priorities, Profile

Effect = Literal["read", "write", "destructive"]
# Where it may be called from: anywhere, the network included; this machine only, because it reads or reports its files;
# a terminal only, because it decides who may call.
Reach = Literal["anywhere", "machine", "terminal"]
# What the audit keeps of a call: arguments and answer; arguments only, where the answer is a secret, repeats records or
# is text without ids for an erasure to find; or neither, where the call names what it erases.
AuditedWords = Literal["all", "arguments", "none"]
TOKEN = "governance_token"  # noqa: S105 - the name of an argument
PRODUCED_BY = "produced_by_task_id"
MOST_NAMED = 5  # unknown arguments listed in an error
COMPACT_TOOLSETS = frozenset({"code", "fleet"})  # called often during work: their answers are short
# Spellings of other systems, and what they may be called here: the first that the operation takes.
ALIASES = {
    "producedByTaskId": (PRODUCED_BY,),
    "targetId": ("target",),
    "claimId": ("target",),
    "claimType": ("type",),
    "agentId": ("agent",),
    "taskId": ("task_id", "task", "id"),
    "featureId": ("feature",),
}
Input = TypeVar("Input", bound=Struct)


class Operation(Struct, frozen=True, kw_only=True):
    """One verb: its name, its input and output types, its effect on the store, and the function that runs it."""

    name: str
    summary: str
    input: type[Struct]
    output: type[Struct]
    effect: Effect
    toolset: str
    run: Callable[[CallContext, Any], Struct]
    arguments: tuple[str, ...] = ()  # positional on the command line and in Python, in this order
    rare: tuple[str, ...] = ()  # arguments omitted from the tool schema that every agent reads
    names: tuple[str, ...] = ()  # arguments kept in clear as names here, where others of that name hold text
    needs_live_memory: bool = True  # False: an agent without live memory may call it too
    audited_words: AuditedWords = "all"
    eager: bool = False
    reach: Reach = "anywhere"
    profile: Profile | None = None  # default profile of its answers to agents; None: 4,000 tokens
    priorities: Priorities = {}  # of fields, by path, where they differ from the usual ones
    budget: str = ""  # the argument that limits its context in tokens, if it has one
    told: tuple[str, ...] = ()  # fields that a short answer omits because its context says the same
    spare: tuple[str, ...] = ()  # fields, by path, that a compact answer omits because others say the same

    def __post_init__(self) -> None:
        """Marks the governance token and the producing task, which few calls use, as rare."""
        if self.profile is None and self.toolset in COMPACT_TOOLSETS:
            msgspec.structs.force_setattr(self, "profile", "compact")
        seldom = [name for name in (TOKEN, PRODUCED_BY) if name in self.input.__struct_fields__]
        msgspec.structs.force_setattr(self, "rare", tuple(dict.fromkeys((*self.rare, *seldom))))

    @property
    def governed(self) -> bool:
        """Whether it takes a governance token, without which it cannot change global memories."""
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
    meant = {name: meant_argument(name, known) for name in given}
    if twice := [name for alias, name in meant.items() if alias != name and name in given]:
        raise Invalid(f"{operation.name}: {twice[0]} is given twice", hint=f"send {twice[0]} once")
    given = {meant[name]: value for name, value in given.items()}
    unknown = [name for name in given if name not in known]
    if unknown:
        raise Invalid(
            f"{operation.name} has no argument {_few(unknown)}",
            hint=f"it takes {', '.join(known) or 'none'}",
        )
    try:
        made = msgspec.convert(given, operation.input, strict=True)
        msgspec.json.encode(made)  # text that is not UTF-8 can be neither stored nor compared
    except UnicodeEncodeError as problem:
        raise Invalid(
            f"{operation.name}: an argument is not valid UTF-8: it holds a lone surrogate",
            hint="convert the text to UTF-8 before sending it",
        ) from problem
    except msgspec.ValidationError as problem:
        hint = choices(operation.input, str(problem)) or f"see `{operation.command} --help`"
        raise Invalid(f"{operation.name}: {in_words(str(problem))}", hint=hint) from problem
    return made


def meant_argument(written: str, known: tuple[str, ...]) -> str:
    """The argument that a caller means by a name."""
    return next((name for name in ALIASES.get(written, ()) if name in known), written)


def _few(names: list[str]) -> str:
    """The first few names, shortened: a caller may send any number of any length."""
    shown = [name[:80] for name in sorted(names)[:MOST_NAMED]]
    return ", ".join(shown) + (f" and {len(names) - len(shown):,} more" if len(names) > len(shown) else "")


# ---- times


def with_resolved_times(made: Input, now_us: int) -> Input:
    """The input with each relative time ("yesterday") as ISO 8601. What names no time is left for `run` to refuse.

    For the call itself, at the last moment: an approval is of the caller's own words.
    """
    times = _times_of(type(made))
    resolved: dict[str, Any] = {}
    for name in made.__struct_fields__:
        value = getattr(made, name)
        if isinstance(value, tuple) and any(isinstance(each, Struct) for each in value):
            resolved[name] = tuple(
                with_resolved_times(each, now_us) if isinstance(each, Struct) else each for each in value
            )
        elif name in times and value is not None:
            resolved[name] = _resolved(value, now_us)
    return msgspec.structs.replace(made, **resolved) if resolved else made


def _resolved(written: str, now_us: int) -> str:
    try:
        parse_instant(written)
    except Invalid:
        from weft.text.extract.time.relative import read_relative

        return read_relative(written, now_us) or written
    return written


@cache
def _times_of(taken: type[Struct]) -> tuple[str, ...]:
    """The fields that are points in time."""
    return tuple(name for name, hint in get_type_hints(taken, include_extras=True).items() if _is_time(hint))


def _is_time(hint: Any) -> bool:
    metas = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    marked = any(isinstance(meta, Meta) and POINT_IN_TIME in (meta.extra or {}) for meta in metas)
    return marked or any(_is_time(each) for each in get_args(hint))
