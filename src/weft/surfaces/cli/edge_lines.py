"""Relations between code, a line each however many there are; and what changed in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
import msgspec

from weft.retrieval.views.ground import flat
from weft.surfaces.cli.ingest_lines import short_path
from weft.surfaces.cli.lines import dim, notes_below, one_line

if TYPE_CHECKING:
    from weft.memory import Memory
    from weft.operations.code_diff import CodeChanged
    from weft.operations.code_history import CommitIndexed
    from weft.operations.graph_edges import EdgeShown, EdgesListed
    from weft.operations.registry import Operation

PAGE = 500  # as many as mostly fit into one answer
MOST_NOTES = 5


def edges_lines(answer: EdgesListed) -> None:
    """Relations, one a line."""
    for edge in answer.edges:
        click.echo(f"{flat(edge.src)}  {dim(edge.rel)}  {flat(edge.dst)}")
    if answer.next is not None:
        click.echo(dim(f"and more: --after {answer.next}"))


def changed_lines(answer: CodeChanged) -> None:
    """What came, went and is another now: a sign, the kind, and where."""
    click.echo(answer.summary)
    sides = (("+", "green", answer.added), ("-", "red", answer.removed), ("~", "yellow", answer.modified))
    for sign, colour, deltas in sides:
        for each in deltas:
            place = flat(f"{each.path}:{each.line}" if each.line else each.path)
            click.echo(f"{click.style(sign, fg=colour)} {each.type:<8} {flat(each.symbol or each.path)}  {dim(place)}")
    notes_below(answer.notes)


def commit_lines(answer: CommitIndexed) -> None:
    """What was read of a commit."""
    click.echo(answer.summary)
    for each in answer.skipped:
        click.echo(dim(one_line(f"without symbols: {short_path(each.path)}: {each.reason}")))
    notes_below(answer.notes)


def print_edges(memory: Memory, operation: Operation, given: dict[str, Any], *, as_json: bool) -> None:
    """All of them, page by page; with a limit, so many. As JSON, one object of src, rel and dst a line.

    Notes go to the error output: what is printed may be read by a program.
    """
    left: int | None = given.get("limit")
    after: int | None = given.get("after", 0)
    notes: dict[str, None] = {}
    while after is not None and left != 0:
        asked = {**given, "limit": PAGE if left is None else min(left, PAGE), "after": after}
        page: Any = memory.run(operation, asked, surface="cli")
        after, left = page.next, None if left is None else left - len(page.edges)
        notes |= dict.fromkeys(page.notes)
        _print(page if left == 0 else msgspec.structs.replace(page, next=None), as_json=as_json)
    for note in list(notes)[:MOST_NOTES]:
        click.echo(dim(f"note: {flat(note)}"), err=True)


def _print(page: Any, *, as_json: bool) -> None:
    if not as_json:
        edges_lines(page)
        return
    for edge in page.edges:
        click.echo(msgspec.json.encode(_bare(edge)))


def _bare(edge: EdgeShown) -> dict[str, str]:
    return {"src": edge.src, "rel": edge.rel, "dst": edge.dst}
