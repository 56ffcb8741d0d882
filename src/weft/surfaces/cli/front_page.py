"""The top of the command line: its front page, its help, and how a command ends that ends badly.

Whatever goes wrong becomes one line that says so, one that says what to do, and one of EXIT_CODES.
"""

from __future__ import annotations

import errno
import os
import sys
import textwrap
from typing import Any, Final, NoReturn

import click

from weft.surfaces.cli.commands import OperationGroup
from weft.surfaces.cli.entry import INTERRUPTED
from weft.surfaces.cli.sections import SECTIONS, Section

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
    UNREAD: "nobody reads the output any more",
}
NEXT: Final = "Next: `weft mcp install` gives an agent this memory; `weft help COMMAND` says all about a command."


class FrontPage(OperationGroup):
    """The group of all commands. What goes wrong in one of them ends here, without a traceback."""

    def lines(self) -> dict[str, str]:
        """In the order of the sections; what is in none comes last."""
        found = super().lines()
        order = [name for section in SECTIONS for name in (*section.shown, *section.more) if name in found]
        return {name: found[name] for name in (*order, *(name for name in found if name not in order))}

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        lines = self.lines()
        known = {name for section in SECTIONS for name in (*section.shown, *section.more)}
        rest = Section("More", (), tuple(name for name in lines if name not in known))
        room = formatter.width - formatter.current_indent
        for section in (*SECTIONS, rest):
            shown = {name: lines[name] for name in section.shown if name in lines}
            more = [name for name in section.more if name in lines]
            if not shown and not more:
                continue
            with formatter.section(section.title):
                if shown:
                    formatter.write_dl(_fitting(shown, room), col_max=COLUMN)
                if more:
                    _write_names(formatter, "also" if shown else "", more)

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


def _fitting(shown: dict[str, str], room: int) -> list[tuple[str, str]]:
    """Names and lines, each on one row: what explains a line is left out, and then what does not fit."""
    most = max(room - min(max(map(len, shown)), COLUMN) - 4, 20)
    return [(name, _cut(line, most)) for name, line in shown.items()]


def _cut(line: str, most: int) -> str:
    if len(line) <= most:
        return line
    for sign in (" (", ":", ","):
        short = line[: most + 1].rpartition(sign)[0]
        if len(short) > most // 2:
            return short
    return f"{line[: most - 1].rpartition(' ')[0]} …"


def _write_names(formatter: click.HelpFormatter, first: str, names: list[str]) -> None:
    """Names, as many on a row as fit; none is broken at its hyphen."""
    indent = " " * formatter.current_indent
    text = " ".join((first, ", ".join(names))).strip()
    rows = textwrap.wrap(text, formatter.width - len(indent), break_on_hyphens=False, break_long_words=False)
    formatter.write("".join(f"{indent}{row}\n" for row in rows))


def _tell(ctx: click.Context, message: str, hint: str, *, code: str, exit_code: int) -> NoReturn:
    from weft.surfaces.cli.running import tell

    tell(message, hint, code=code, as_json=ctx.meta["weft.json"])
    ctx.exit(exit_code)


def _misused(ctx: click.Context, problem: click.UsageError) -> NoReturn:
    """What click finds wrong, in the form of all other errors; help that nobody asked for by name stays help."""
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
    """What is still to be written at the end of the process goes nowhere, so that it complains of nothing."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())


@click.command("help", short_help="say all about a command, as its --help does")
@click.argument("command", nargs=-1)
@click.pass_context
def help_command(ctx: click.Context, command: tuple[str, ...]) -> None:
    """Says what a command does and what it takes: `weft help log show` is `weft log show --help`."""
    assert ctx.parent is not None
    ctx.parent.command.main([*command, "--help"], prog_name="weft")
