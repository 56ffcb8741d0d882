"""Commands, made when they are asked for.

Their names and lines come from the index of operations. A command with its options comes from its operation, and only
the module of that operation is imported.
"""

from __future__ import annotations

import sys
from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING, Any

import click

from weft.context.budget import DEBUG_TOKENS
from weft.runtime.operation_index import Listed, command_words, read_index
from weft.surfaces.cli.sections import DEFAULTS, GROUPS

if TYPE_CHECKING:
    from weft.runtime.operation import Operation

ASKED_FIRST = "approve"  # the command that asks before it is run
INPUT = "-"  # an argument that stands for standard input
READ_FROM_INPUT = ("text", "body", "message")  # those that it may stand for
ON_ONE_SCREEN = ("recall", "ask")  # on a terminal they show the places that answer, unless --full is given
SCREEN_TOKENS = 1_200
PROFILE = "profile"
PROFILES = ("compact", "balanced", "debug")


@cache
def index() -> dict[tuple[str, ...], Listed]:
    """Every operation that is a command, by the words that name it."""
    return {command_words(each.name): each for each in read_index().values()}


def every_operation() -> tuple[Operation, ...]:
    """Every operation that is a command, with its types: imports them all."""
    from weft.operations import OPERATIONS
    from weft.surfaces.bench import OPERATIONS as BENCHES

    return (*OPERATIONS, *BENCHES)


class OperationGroup(click.Group):
    """A group of commands that are operations: those whose words begin with `family`, or all at the top."""

    def __init__(self, *arguments: Any, family: tuple[str, ...] = (), **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._family = family
        self._default = DEFAULTS.get(family[0], "") if family else ""
        self._made: dict[str, click.Command | None] = {}

    def lines(self) -> dict[str, str]:
        """Every command of the help page, with its summary. Imports no operation."""
        depth = len(self._family)
        found = {
            words[depth]: GROUPS[words[0]] if len(words) > depth + 1 else each.summary
            for words, each in index().items()
            if words[:depth] == self._family
        }
        added = {
            name: command.get_short_help_str(limit=100) for name, command in self.commands.items() if not command.hidden
        }
        return {**found, **{name: line for name, line in added.items() if name not in found}}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.lines())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in self.commands:
            return self.commands[cmd_name]
        if cmd_name not in self._made:
            self._made[cmd_name] = self._make(cmd_name)
        return self._made[cmd_name]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if not ctx.resilient_parsing and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            meant = get_close_matches(args[0], self.list_commands(ctx), n=3)
            said = f" Did you mean {' or '.join(meant)}?" if meant else ""
            raise click.UsageError(f"No such command '{args[0]}'.{said}", ctx)
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Passes words that are no command of the group to the group's default command, if it has one."""
        own = (*self.list_commands(ctx), *ctx.help_option_names)
        # A shell that completes has given nothing yet: then it is told of every command.
        if self._default and (args[0] not in own if args else not ctx.resilient_parsing):
            args = [self._default, *args]
        elif self._family and args and args[0].startswith("-") and args[0] not in own and not ctx.resilient_parsing:
            raise click.UsageError(f"Missing command: {', '.join(self.list_commands(ctx))}.", ctx)
        return super().parse_args(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(self.lines().items()))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        from click.shell_completion import CompletionItem

        names = [CompletionItem(name, help=line) for name, line in self.lines().items() if name.startswith(incomplete)]
        default = self.get_command(ctx, self._default) if self._default and incomplete.startswith("-") else self
        assert default is not None
        return [*names, *click.Command.shell_complete(default, click.Context(default, parent=ctx), incomplete)]

    def _make(self, name: str) -> click.Command | None:
        words = (*self._family, name)
        if any(each[: len(words)] == words and len(each) > len(words) for each in index()):
            text = GROUPS[name]
            return OperationGroup(name, family=words, help=f"{text[0].upper()}{text[1:]}.", short_help=text)
        known = index().get(words)
        if known is None and not self._family:
            known = read_index().get(name.replace("-", "_"))  # an operation's own name will do: `weft run-hygiene`
        operation = _operation(known.name if known is not None else "_".join(words).replace("-", "_"), known)
        return None if operation is None else made_command(operation, name)


def _operation(name: str, known: Listed | None) -> Operation | None:
    from weft import operations

    if known is not None and known.module.startswith("weft.surfaces.bench."):
        from weft.surfaces.bench import OPERATIONS

        return next(each for each in OPERATIONS if each.name == name)
    try:
        return operations.operation(name)
    except KeyError:
        return None


class OperationCommand(click.Command):
    """A command whose help describes its arguments, too."""

    def __init__(self, *arguments: Any, lines: list[tuple[str, str]], **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._lines = lines

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if self._lines:
            with formatter.section("Arguments"):
                formatter.write_dl(self._lines)
        super().format_options(ctx, formatter)


def made_command(operation: Operation, name: str) -> click.Command:
    """The command of an operation: its arguments and options as parameters."""
    from weft.surfaces.cli.options import argument_lines, parameters

    def invoke(*, json: bool, **values: Any) -> None:
        from weft.surfaces.cli.running import run, run_short

        profile = values.pop(PROFILE, None) if operation.budget else None
        if operation.name in ON_ONE_SCREEN:
            full = values.pop("full")
            if values["max_tokens"] is None and (full or (sys.stdout.isatty() and not json)):
                values["max_tokens"] = DEBUG_TOKENS if full else SCREEN_TOKENS
        if profile is None:
            run(operation, values, as_json=json)
        else:
            run_short(operation, values, profile, as_json=json)

    options = parameters(operation)
    if operation.budget:
        help_line = "print the text alone, within 300 tokens (compact), 1,200 (balanced) or whole (debug)"
        options.append(click.Option([f"--{PROFILE}"], type=click.Choice(PROFILES), help=help_line))
    if operation.name in ON_ONE_SCREEN:
        options.append(click.Option(["--full"], is_flag=True, help="print whole texts, even on a terminal"))
    if operation.name == ASKED_FIRST:
        options.append(click.Option(["--yes"], is_flag=True, help="approve it without asking"))
    options.append(click.Option(["--json"], is_flag=True, help="print the answer as JSON"))
    return OperationCommand(
        name,
        lines=argument_lines(operation),
        params=options,
        callback=invoke,
        help=operation.description,
        short_help=operation.summary,
    )
