"""`weft index` and `weft watch`: a project's code in the graph, once or as it is saved."""

from __future__ import annotations

import signal
import threading
from typing import TYPE_CHECKING, Final

import click

if TYPE_CHECKING:
    from weft.operations.watching import Batch

END_SECONDS: Final = 10.0


@click.command("index", short_help="read the project's source code into the graph: what changed, or all of it")
@click.argument("path", required=False, metavar="[PATH]")
@click.option("--full", is_flag=True, help="read every file again, and find communities")
@click.option("--commit", metavar="NAME", help="read the code as it was at a git commit, out of git")
@click.option("--json", "as_json", is_flag=True, help="print the answer as JSON")
def index_command(path: str | None, full: bool, commit: str | None, as_json: bool) -> None:  # noqa: FBT001 - as click gives them
    """Reads the project's source code into the graph: symbols, and what calls, imports, extends and tests what.

    PATH is a file or folder of the project; all of it if none is given. Files that did not change cost nothing. The
    same as `weft graph rebuild`.
    """
    from weft.operations import operation
    from weft.surfaces.cli.running import run

    if commit is not None:
        if path is not None or full:
            raise click.UsageError("--commit reads the whole workspace: leave PATH and --full out")
        run(operation("graph_index_commit"), {"commit": commit}, as_json=as_json)
        return
    values = {"mode": "full" if full else "incremental", "path": path}
    run(operation("graph_rebuild"), values, as_json=as_json)


@click.command("watch", short_help="index the project's source code whenever it is saved, until ctrl-C")
def watch_command() -> None:
    """Indexes what changed in the project's source code, then whatever is saved, until ctrl-C: a line for each batch.

    A server does the same for its workspaces: `weft serve` always, `weft mcp` with the setting watch.
    """
    from weft.errors import WeftError
    from weft.memory import open  # noqa: A004 - the package's front door
    from weft.operations.watching import Watcher
    from weft.retrieval.views.ground import flat
    from weft.surfaces.cli.running import fail

    ended = threading.Event()
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, lambda *_: ended.set())
    try:
        with open() as memory:
            settings = memory.loom.settings
            click.echo(f"watching {settings.root}, project {settings.project}; ctrl-C ends it")
            watcher = Watcher(memory.loom, tell=_print, first=True).start()
            told = ""
            while not ended.wait(0.2):
                if watcher.note != told:
                    told = watcher.note
                    if told:
                        click.echo(f"note:  {flat(told)}", err=True)
            watcher.stop()
            whole = watcher.join(END_SECONDS)
    except WeftError as problem:
        fail(problem, as_json=False)
    click.echo("ended" if whole else "ended while it indexed: the next `weft index` goes on with it")


def _print(batch: Batch) -> None:
    from weft.retrieval.views.ground import flat

    click.echo(flat(batch.line))
