"""`weft serve`, as a command. The server itself is loaded when it is run."""

from __future__ import annotations

from collections.abc import Callable

import click

Start = Callable[..., None]


def serve_command(start: Start) -> click.Command:
    """The command; `start` is `weft.surfaces.http.serve.serve`."""

    @click.command("serve", short_help="serve agents and programs over HTTP: MCP at /mcp, operations at /api")
    @click.option("--host", metavar="ADDRESS", help="the address to listen on; else the setting host")
    @click.option("--port", type=click.IntRange(0, 65_535), help="the port; 0 for any free one; else the setting port")
    @click.option("--toolsets", metavar="NAMES", help="toolsets listed to every token, with commas between, or all")
    def serve(host: str | None, port: int | None, toolsets: str | None) -> None:
        """Serves MCP at /mcp and every operation at /api, to whoever shows a token that `weft token create` made.

        Ends on SIGTERM or ctrl-C: what was begun is answered first, for up to ten seconds. A second signal leaves at
        once.
        """
        from weft.errors import WeftError

        names = None if toolsets is None else [name.strip() for name in toolsets.split(",") if name.strip()]
        try:
            start(host, port, names, say=click.echo)
        except WeftError as problem:
            from weft.surfaces.cli.running import fail

            fail(problem, as_json=False)

    return serve
