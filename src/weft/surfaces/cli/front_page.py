"""The top of the command line: its front page, its help, and its errors.

Every failure becomes one line that says what happened, one that says what to do, and one of EXIT_CODES.
"""

from __future__ import annotations

import errno
import os
import sys
from typing import Any, Final, NoReturn

import click

from weft.surfaces.cli.commands import OperationGroup
from weft.surfaces.cli.entry import INTERRUPTED
from weft.surfaces.cli.sections import EVERYDAY, SECTIONS

UNREAD: Final = 141
FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)  # of the output: stores have their own
EXAMPLES: Final = (
    'weft remember "Deploys freeze on Fridays." --keywords release',
    'weft recall "when do deploys freeze?"',
    "weft ingest docs",
    "weft recent --json | jq -r '.nodes[].citation'",
)
EXIT_CODES: Final = {
    0: "done",
    1: "failed, or found a problem",
    2: "the command line or an argument was wrong",
    INTERRUPTED: "interrupted",
    UNREAD: "the reader of the output is gone",
}
NEXT: Final = "`weft help all` lists every command; `weft help COMMAND` explains one."


class FrontPage(OperationGroup):
    """The group of all commands. Their errors end here, without a traceback."""

    def lines(self) -> dict[str, str]:
        """In the order of the sections; commands of no section come last."""
        found = super().lines()
        order = [name for names in SECTIONS.values() for name in names if name in found]
        return {name: found[name] for name in (*order, *(name for name in found if name not in order))}

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The everyday commands: `weft help all` lists the others."""
        lines = self.lines()
        for name in EVERYDAY:
            group, _, own = name.partition(" ")
            if own:
                command = self.commands[group]
                assert isinstance(command, click.Group)
                lines[name] = command.commands[own].get_short_help_str(limit=100)
        _write_section(formatter, "Everyday commands", {name: lines[name] for name in EVERYDAY})

    def all_commands(self, ctx: click.Context) -> str:
        """Every command with its line, by subject."""
        formatter = ctx.make_formatter()
        lines = self.lines()
        for title, names in SECTIONS.items():
            _write_section(formatter, title, {name: lines.pop(name) for name in names if name in lines})
        _write_section(formatter, "More", lines)
        return formatter.getvalue().strip("\n")

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Examples"):
            for line in EXAMPLES:
                formatter.write(f"{'':{formatter.current_indent}}{line}\n")
        codes = "; ".join(f"{code} {meaning}" for code, meaning in EXIT_CODES.items())
        for line in (f"Exit codes: {codes}.", NEXT):
            formatter.write_paragraph()
            formatter.write_text(line)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta["weft.json"] = "--json" in args
        if not args and not ctx.resilient_parsing:  # `weft` alone is a question, not a mistake
            click.echo(ctx.get_help())
            ctx.exit(0)
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as problem:
            _misused(ctx, problem)

    def main(self, *given: Any, **more: Any) -> Any:
        try:
            return super().main(*given, **more)
        except OSError as problem:
            if problem.errno not in FULL:
                raise
            _end_output()
            click.echo(f"error: the output cannot be written: {problem.strerror}", err=True)
            sys.exit(1)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("interrupted", err=True)
            ctx.exit(INTERRUPTED)
        except BrokenPipeError:
            _leave_quietly(ctx)
        except click.UsageError as problem:
            _misused(ctx, problem)
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except Exception as problem:
            if ctx.params.get("debug") or (isinstance(problem, OSError) and problem.errno in FULL):
                raise
            said = f"{type(problem).__name__}: {problem}".rstrip(": ")
            hint = "this is a fault in weft: run it as `weft --debug …` and report what that prints"
            _tell(ctx, said, hint, code="internal", exit_code=1)


COLUMN: Final = 22  # of the names, before their lines


def _write_section(formatter: click.HelpFormatter, title: str, lines: dict[str, str]) -> None:
    """Names and lines, each on one row: explanations in a line are cut first, then what does not fit."""
    if not lines:
        return
    with formatter.section(title):
        most = max(formatter.width - formatter.current_indent - min(max(map(len, lines)), COLUMN) - 4, 20)
        formatter.write_dl([(name, _cut(line, most)) for name, line in lines.items()], col_max=COLUMN)


def _cut(line: str, most: int) -> str:
    if len(line) <= most:
        return line
    for sign in (" (", ":", ","):
        short = line[: most + 1].rpartition(sign)[0]
        if len(short) > most // 2:
            return short
    return f"{line[: most - 1].rpartition(' ')[0]} …"


def _tell(ctx: click.Context, message: str, hint: str, *, code: str, exit_code: int) -> NoReturn:
    from weft.surfaces.cli.running import tell

    tell(message, hint, code=code, as_json=ctx.meta["weft.json"])
    ctx.exit(exit_code)


def _misused(ctx: click.Context, problem: click.UsageError) -> NoReturn:
    """A usage error of click, in the form of all other errors."""
    if isinstance(problem, click.exceptions.NoArgsIsHelpError):
        raise problem
    message = problem.format_message()
    at = problem.ctx or ctx
    usage = " ".join(at.get_usage().removeprefix("Usage:").split())
    hint = f"the usage is `{usage}`; see `{at.command_path} --help`"
    said = f"{message[:1].lower()}{message[1:]}".rstrip(".")
    _tell(ctx, said, hint, code="invalid", exit_code=problem.exit_code)


def _leave_quietly(ctx: click.Context) -> NoReturn:
    _end_output()
    ctx.exit(UNREAD)


def _end_output() -> None:
    """Sends the rest of the output to /dev/null, so that the end of the process does not fail on it."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())


@click.command("help", short_help="explain a command; `weft help all` lists every command")
@click.argument("command", nargs=-1)
@click.pass_context
def help_command(ctx: click.Context, command: tuple[str, ...]) -> None:
    """Explains a command and its options: `weft help log show` is `weft log show --help`.

    `weft help all` lists every command by subject.
    """
    assert ctx.parent is not None
    root = ctx.parent.command
    if command == ("all",) and isinstance(root, FrontPage):
        click.echo(root.all_commands(ctx.parent))
        return
    root.main([*command, "--help"], prog_name="weft")


COMPLETION: Final = """Prints the script with which a shell completes commands, options and choices.

\b
bash:  weft completion bash > ~/.local/share/bash-completion/completions/weft
zsh:   weft completion zsh > ~/.zfunc/_weft    (~/.zfunc in fpath, before compinit)
fish:  weft completion fish > ~/.config/fish/completions/weft.fish

For this shell only: eval "$(weft completion bash)".
"""


@click.command(
    "completion", help=COMPLETION, short_help="print the script that completes commands in bash, zsh or fish"
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Prints the script that a shell reads. The script asks `weft` for completions."""
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    assert found is not None
    click.echo(found(ctx.find_root().command, {}, "weft", "_WEFT_COMPLETE").source())
