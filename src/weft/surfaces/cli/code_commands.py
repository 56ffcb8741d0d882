"""`weft index`, `weft watch` and `weft graph edges`: a project's code in the graph, and its relations line by line."""

from __future__ import annotations

import signal
import threading
from typing import TYPE_CHECKING, Any, Final

import click

if TYPE_CHECKING:
    from weft.code.watch.watch import WatchedBatch
    from weft.memory.facade import Memory
    from weft.runtime.operation import Operation

PAGE: Final = 500  # relations that are read at a time
MOST_NOTES: Final = 5
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
    """Indexes what changed in the project's source code, then every save, until ctrl-C: a line for each batch.

    A server does the same for its workspaces: `weft serve` always, `weft mcp` with the setting watch.
    """
    from weft.code.watch.watch import Watcher
    from weft.core.errors import WeftError
    from weft.memory.facade import open  # noqa: A004 - the package's front door
    from weft.surfaces.cli.running import fail
    from weft.text.one_line import flat

    ended = threading.Event()
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, lambda *_: ended.set())
    try:
        with open() as memory:
            settings = memory.ctx.settings
            click.echo(f"watching {settings.root}, project {settings.project}; ctrl-C ends it")
            watcher = Watcher(memory.ctx, tell=_print, first=True).start()
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
    click.echo("ended" if whole else "interrupted: the next `weft index` continues")


def _print(batch: WatchedBatch) -> None:
    from weft.text.one_line import flat

    click.echo(flat(batch.line))


def print_edges(memory: Memory, operation: Operation, given: dict[str, Any], *, as_json: bool) -> None:
    """Prints relations between code, page by page; as JSON, an object a line.

    Notes go to the error output: a program may read what is printed.
    """
    import msgspec

    from weft.surfaces.cli.printing import faint, page
    from weft.surfaces.render.code import edge_line
    from weft.text.one_line import flat

    left: int | None = given.get("limit")
    after: int | None = given.get("after", 0)
    notes: dict[str, None] = {}
    written = page()
    while after is not None and left != 0:
        asked = {**given, "limit": PAGE if left is None else min(left, PAGE), "after": after}
        found: Any = memory.run(operation, asked, surface="cli")
        after, left = found.next, None if left is None else left - len(found.edges)
        notes |= dict.fromkeys(found.notes)
        for each in found.edges:
            bare = {"src": each.src, "rel": each.rel, "dst": each.dst}
            click.echo(msgspec.json.encode(bare) if as_json else edge_line(written, each.src, each.rel, each.dst))
    if after is not None and not as_json:
        click.echo(faint(f"and more: --after {after}"))
    for note in list(notes)[:MOST_NOTES]:
        click.echo(faint(f"note: {flat(note)}"), err=True)
