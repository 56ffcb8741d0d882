"""`weft`: one command per operation, made from the registry.

Exit codes: 0 done, 1 the operation failed or found a problem, 2 the command line was wrong.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NoReturn

import click
import msgspec

from weft.bench import OPERATIONS as BENCHES
from weft.errors import Forbidden, Invalid, NotFound, WeftError
from weft.loom import Progress, no_progress
from weft.memory import Memory
from weft.operations import OPERATIONS
from weft.operations.registry import Operation
from weft.surfaces.cli.options import given_arguments, parameters
from weft.version import __version__

# Benches are commands only: they are for whoever works on weft, not for agents.
COMMANDS = (*OPERATIONS, *BENCHES)
ASKED_FIRST = "approve"  # the command that asks before it is run
GROUPS = {
    "log": "The log itself: show, verify, head, export, import.",
    "bench": "Measurements, each in a store of its own.",
}
EPILOG = "Begin with `weft remember TEXT` and `weft recall QUESTION`. Settings: `weft config`."


class OrderedGroup(click.Group):
    """Lists commands in the order of the registry."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)


@click.group(
    cls=OrderedGroup,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.version_option(__version__, prog_name="weft")
def weft() -> None:
    """Long-term memory for LLM agents: every word kept with its source, found again with a citation."""


def _command(operation: Operation, name: str) -> click.Command:
    def invoke(*, json: bool, **values: Any) -> None:
        _run(operation, values, as_json=json)

    options = parameters(operation)
    if operation.name == ASKED_FIRST:
        options.append(click.Option(["--yes"], is_flag=True, help="approve it without being asked: you have looked"))
    options.append(click.Option(["--json"], is_flag=True, help="print the answer as JSON"))
    return click.Command(
        name, params=options, callback=invoke, help=operation.description, short_help=operation.summary
    )


def _run(operation: Operation, values: dict[str, Any], *, as_json: bool) -> None:
    try:
        import weft as package

        yes = values.pop("yes", False) if operation.name == ASKED_FIRST else False
        given = given_arguments(operation.input, values)
        with package.open() as memory:
            with _progress(as_json) as progress:
                answer = _answer(memory, operation, given, progress, as_json=as_json, yes=yes)
            if not (operation.name == "log_export" and values.get("path") == "-"):  # standard output holds the log
                _show(answer, as_json=as_json)  # before the store is closed: nobody waits for the audit
    except WeftError as problem:
        _fail(problem, as_json=as_json)
    if not _sound(answer):
        sys.exit(1)


def _answer(
    memory: Memory, operation: Operation, given: dict[str, Any], progress: Progress, *, as_json: bool, yes: bool
) -> msgspec.Struct:
    if operation.name != ASKED_FIRST:
        return memory.run(operation, given, progress=progress, surface="cli")
    from weft.surfaces.cli.approving import approve_asking

    return approve_asking(memory, operation, given, yes=yes, plain=as_json)


def _show(answer: msgspec.Struct, *, as_json: bool) -> None:
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(answer), indent=2))
    else:
        from weft.surfaces.cli.render import render

        render(answer)


def _sound(answer: msgspec.Struct) -> bool:
    """False where the answer itself reports a problem: a broken chain, a failed self-test, a citation that differs."""
    return (
        getattr(answer, "problem", None) is None
        and getattr(answer, "ok", True)
        and getattr(answer, "matches", True)
        and getattr(answer, "equal", True) is not False
        and getattr(answer, "status", "") not in ("failed", "blocked_scope", "partial")
    )


def _fail(problem: WeftError, *, as_json: bool) -> NoReturn:
    if as_json:
        body = {"ok": False, "error_code": problem.code, "error": problem.message, "hint": problem.hint}
        click.echo(msgspec.json.format(msgspec.json.encode(body), indent=2))
    else:
        click.secho(f"error: {problem.message}", fg="red", err=True)
        if problem.hint:
            click.echo(f"hint:  {problem.hint}", err=True)
    sys.exit(2 if isinstance(problem, Invalid) and not isinstance(problem, NotFound | Forbidden) else 1)


class _progress:  # noqa: N801 - used as a function that makes a context
    """A bar on the terminal for anything that takes over a second; nothing elsewhere."""

    def __init__(self, as_json: bool) -> None:  # noqa: FBT001
        self._shown = not as_json and sys.stderr.isatty()
        self._bar: Any = None

    def __enter__(self) -> Progress:
        return self._advance if self._shown else no_progress

    def __exit__(self, *exception: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def _advance(self, what: str, done: int, total: int) -> None:
        if self._bar is None:
            from rich.console import Console
            from rich.progress import Progress as Bar

            self._bar = Bar(console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task(what, total=total)
            self._bar.start()
        self._bar.update(self._task, description=what, completed=done, total=total)


@click.command("mcp", short_help="serve an agent over MCP, on standard input and output")
@click.option("--toolsets", metavar="NAMES", help="toolsets to serve beside core, with commas between, or all")
def _mcp(toolsets: str | None) -> None:
    """Serves tools to an agent over MCP: those of core, and of other toolsets if asked for.

    The agent's program starts it: see docs/mcp.md.
    """
    try:
        from weft.surfaces.mcp.server import serve  # the SDK takes half a second, so only here

        serve(None if toolsets is None else [name.strip() for name in toolsets.split(",") if name.strip()])
    except WeftError as problem:
        _fail(problem, as_json=False)


def build(root: click.Group, operations: tuple[Operation, ...]) -> click.Group:
    """Adds one command per operation; `log_show` becomes `log show`."""
    groups: dict[str, click.Group] = {}
    for operation in operations:
        head, _, tail = operation.name.partition("_")
        if head in GROUPS and tail:
            if head not in groups:
                groups[head] = OrderedGroup(head, help=GROUPS[head])
                root.add_command(groups[head])
            groups[head].add_command(_command(operation, tail.replace("_", "-")))
        else:
            root.add_command(_command(operation, operation.name.replace("_", "-")))
    root.add_command(_mcp)
    return root


def main(arguments: list[str] | None = None) -> None:
    """The console script."""
    command: Callable[..., Any] = build(weft, COMMANDS) if not weft.commands else weft
    command(args=arguments, prog_name="weft")
