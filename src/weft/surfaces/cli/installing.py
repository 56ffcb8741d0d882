"""`weft mcp install`, `uninstall` and `clients`: the commands; `install_steps` does the work.

Nothing heavy is imported before one of them runs.
"""

from __future__ import annotations

from typing import Any, Final

import click


class _Client(click.ParamType[str]):
    """The name of a client; the lookup reports unknown names."""

    name = "client"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return value

    def get_missing_message(self, param: click.Parameter, ctx: click.Context | None) -> str:
        return f"It is one of {', '.join(_names())}."

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[click.shell_completion.CompletionItem]:
        return [click.shell_completion.CompletionItem(name) for name in _names() if name.startswith(incomplete)]


def _names() -> tuple[str, ...]:
    from weft.surfaces.install.clients import NAMES

    return NAMES


CLIENT: Final = click.argument("client", metavar="CLIENT", type=_Client())
SCOPE: Final = click.option(
    "--scope",
    type=click.Choice(["user", "project"]),
    default="user",
    show_default=True,
    help="write your own configuration, or that of this project, which others share",
)
YES: Final = click.option("--yes", is_flag=True, help="change the files without asking")
DRY: Final = click.option("--dry-run", is_flag=True, help="show what would change, and change nothing")
JSON: Final = click.option("--json", "as_json", is_flag=True, help="print the answer as JSON")


@click.command("install", short_help="write weft into an agent's program: server, hooks, instructions")
@CLIENT
@SCOPE
@click.option(
    "--toolsets", metavar="NAMES", default="", help="toolsets to list beside core, separated by commas, or all"
)
@click.option(
    "--env", metavar="KEY=VALUE", multiple=True, help="a setting for this client only: WEFT_…; may be repeated"
)
@click.option("--no-hooks", is_flag=True, help="omit the hooks that recall and capture automatically")
@click.option("--no-instructions", is_flag=True, help="omit the instructions on when to use the memory")
@click.option(
    "--import-history/--no-import-history",
    default=None,
    help="import the conversations of this client; a terminal asks",
)
@YES
@DRY
@JSON
def install(*, as_json: bool, **given: Any) -> None:
    """Writes weft into the configuration of CLIENT: claude-code, claude-desktop, cursor, vscode or gemini.

    Shows every change as a diff and asks first. Each changed file is backed up beside itself; comments, order and
    formatting of everything else stay. `weft mcp uninstall CLIENT` takes it out again.
    """
    _run("install", given, as_json=as_json)


@click.command("uninstall", short_help="remove from an agent's program what install wrote")
@CLIENT
@SCOPE
@YES
@DRY
@JSON
def uninstall(*, as_json: bool, **given: Any) -> None:
    """Removes from the configuration of CLIENT what `weft mcp install` wrote there, and nothing else.

    Shows every change as a diff and asks first. A file that installing created is deleted. Memories stay.
    """
    _run("uninstall", given, as_json=as_json)


@click.command("clients", short_help="list the programs that weft can be installed for")
@JSON
def clients(*, as_json: bool) -> None:
    """Lists the programs that weft knows, which of them are on this machine, and where weft is installed."""
    _run("clients", {}, as_json=as_json)


COMMANDS: Final = (install, uninstall, clients)


def _run(step: str, given: dict[str, Any], *, as_json: bool) -> None:
    from weft.core.errors import WeftError
    from weft.surfaces.cli import install_steps

    try:
        done: bool = getattr(install_steps, step)(**given, as_json=as_json)
    except WeftError as problem:
        from weft.surfaces.cli.running import fail

        fail(problem, as_json=as_json)
    if not done:
        raise click.exceptions.Exit(1)
