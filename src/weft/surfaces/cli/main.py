"""`weft`: one command per operation, made from the registry, and a few that are none.

Nothing but click and the index of operations is imported before a command is chosen: `weft --help` and completion have
to be quick. See `front_page` for exit codes.
"""

from __future__ import annotations

import os
import signal
from typing import Any

import click

from weft.surfaces.cli.capture_command import capture_command
from weft.surfaces.cli.completion import completion
from weft.surfaces.cli.context_command import context_command
from weft.surfaces.cli.front_page import FrontPage, help_command
from weft.surfaces.cli.index_command import index_command, watch_command
from weft.surfaces.cli.installing import COMMANDS as INSTALLING
from weft.surfaces.cli.migrating import migrate
from weft.surfaces.cli.serving import serve_command
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
    """Long-term memory for LLM agents: every word kept with its source, found again with a citation."""
    ctx.color = {"auto": None, "always": True, "never": False}[color]
    if color == "auto":
        from weft.config import surroundings

        ctx.color = False if surroundings().get("NO_COLOR") else None


@click.group(
    "mcp", invoke_without_command=True, short_help="serve an agent over MCP, or install weft in an agent's program"
)
@click.option("--toolsets", metavar="NAMES", help="toolsets to serve beside core, with commas between, or all")
@click.pass_context
def mcp(ctx: click.Context, toolsets: str | None) -> None:
    """Serves tools to an agent over MCP: those of core, and of other toolsets if asked for.

    The agent's program starts it: `weft mcp install` tells it to. See docs/clients.md and docs/mcp.md.
    """
    if ctx.invoked_subcommand is not None:
        return
    from weft.errors import WeftError

    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))  # nothing is begun; the server has a way of its own
    try:
        from weft.surfaces.mcp.server import serve  # the SDK takes half a second, so only here

        serve(None if toolsets is None else [name.strip() for name in toolsets.split(",") if name.strip()])
    except WeftError as problem:
        from weft.surfaces.cli.running import fail

        fail(problem, as_json=False)


def _start_server(*given: Any, **named: Any) -> None:
    from weft.surfaces.http.serve import serve  # the SDK, starlette and uvicorn, so only here

    serve(*given, **named)


# ---- commands that are no operations. Each is in a file of its own in this folder that imports nothing heavy before it
# is run, and is named in `sections`.

for command in INSTALLING:
    mcp.add_command(command)
weft.add_command(mcp)
weft.add_command(serve_command(_start_server))
weft.add_command(context_command)
weft.add_command(capture_command)
weft.add_command(index_command)
weft.add_command(watch_command)
weft.add_command(migrate)
weft.add_command(completion)
weft.add_command(help_command)


def main(arguments: list[str] | None = None) -> None:
    """The console script."""
    weft(args=arguments, prog_name="weft")
