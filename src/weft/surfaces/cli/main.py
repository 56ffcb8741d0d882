"""`weft`: one command per operation, made from the registry, and those that are no operations.

Nothing but click and the index of operations is imported before a command is chosen: `weft --help` and completion have
to be quick. See `front_page` for exit codes.
"""

from __future__ import annotations

import os
import signal

import click

from weft.surfaces.cli.code_commands import index_command, watch_command
from weft.surfaces.cli.front_page import FrontPage, completion, help_command
from weft.surfaces.cli.hook_commands import capture_command, context_command
from weft.surfaces.cli.installing import COMMANDS as INSTALLING
from weft.surfaces.cli.migrating import migrate
from weft.version import __version__


@click.group(
    cls=FrontPage,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.version_option(__version__, prog_name="weft")
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", help="when to use colours")
@click.option("--debug", is_flag=True, help="show the trace of an unexpected error")
@click.pass_context
def weft(ctx: click.Context, color: str, debug: bool) -> None:  # noqa: FBT001 - see FrontPage.invoke
    """Long-term memory for LLM agents: every word saved with its source, found again with a citation."""
    ctx.color = {"auto": None, "always": True, "never": False}[color]
    if color == "auto":
        from weft.runtime.settings.load import surroundings

        ctx.color = False if surroundings().get("NO_COLOR") else None


@click.group(
    "mcp", invoke_without_command=True, short_help="serve an agent over MCP, or install weft in an agent's program"
)
@click.option("--toolsets", metavar="NAMES", help="toolsets to list beside core, separated by commas, or all")
@click.pass_context
def mcp(ctx: click.Context, toolsets: str | None) -> None:
    """Serves tools to an agent over MCP: those of core, and of other toolsets if asked for.

    The agent's program starts it: `weft mcp install` sets that up. See docs/clients.md and docs/mcp.md.
    """
    if ctx.invoked_subcommand is not None:
        return
    from weft.core.errors import WeftError

    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))  # nothing has begun; the server handles it by itself
    try:
        from weft.surfaces.mcp.server import serve  # the SDK takes half a second, so only here

        serve(_names(toolsets))
    except WeftError as problem:
        _fail(problem)


@click.command("serve", short_help="serve agents and programs over HTTP: MCP at /mcp, operations at /api")
@click.option("--host", metavar="ADDRESS", help="the address to listen on; else the setting host")
@click.option("--port", type=click.IntRange(0, 65_535), help="the port; 0 for any free one; else the setting port")
@click.option("--toolsets", metavar="NAMES", help="toolsets listed to every token, separated by commas, or all")
@click.option("--workers", type=click.IntRange(1, 64), default=1, show_default=True, help="processes that run calls")
def serve_command(host: str | None, port: int | None, toolsets: str | None, workers: int) -> None:
    """Serves MCP at /mcp and every operation at /api, to callers with a token of `weft token create`.

    With --workers 2 or more, calls of /api run in that many processes, and SIGHUP replaces these one after the other
    without a lost call.

    Ends on SIGTERM or ctrl-C: calls that have begun are answered first, for up to ten seconds. A second signal ends it
    at once.
    """
    from weft.core.errors import WeftError

    try:
        from weft.surfaces.http.serve import serve  # the SDK, starlette and uvicorn, so only here

        serve(host, port, _names(toolsets), workers=workers, say=click.echo)
    except WeftError as problem:
        _fail(problem)


def _names(written: str | None) -> list[str] | None:
    return None if written is None else [name.strip() for name in written.split(",") if name.strip()]


def _fail(problem: Exception) -> None:
    from weft.core.errors import WeftError
    from weft.surfaces.cli.running import fail

    assert isinstance(problem, WeftError)
    fail(problem, as_json=False)


# ---- commands that are no operations: their modules import nothing heavy before they run. `sections` names them.

for command in INSTALLING:
    mcp.add_command(command)
for command in (
    mcp,
    serve_command,
    context_command,
    capture_command,
    index_command,
    watch_command,
    migrate,
    completion,
    help_command,
):
    weft.add_command(command)


def main(arguments: list[str] | None = None) -> None:
    """The console script."""
    weft(args=arguments, prog_name="weft")
