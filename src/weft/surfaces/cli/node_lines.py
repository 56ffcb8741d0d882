"""How memories, nodes and what a citation points at look on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
import msgspec

from weft.context.wording import visible
from weft.retrieval.views.ground import flat
from weft.surfaces.cli.lines import all_lines, arrow, dim, heading, notes_below, one_line, validity
from weft.surfaces.cli.log_lines import erased_line
from weft.surfaces.cli.work_lines import made_by_lines

if TYPE_CHECKING:
    from weft.operations.citing import Cited
    from weft.operations.reading import NodeList, Shown
    from weft.operations.remembered import Remembered
    from weft.operations.showing import NodeShown


def remembered_lines(answer: Remembered) -> None:
    """What became of a write, and what is like it."""
    colour = "red" if answer.status in ("failed", "blocked_scope") else "yellow" if answer.candidates else "green"
    click.echo(f"{click.style(answer.status, fg=colour)}  {answer.citation}".rstrip())
    if answer.id:
        click.echo(dim(f"id {answer.id}"))
    for alike in answer.candidates:
        differs = f", differs in {alike.differs_in}" if alike.differs_in else ""
        click.echo(
            f"{one_line(alike.title)}  {dim(f'id {alike.id}  {alike.citation}  alike {alike.score:.2f}{differs}')}"
        )
    if answer.supersedes:
        click.echo(dim(f"supersedes {', '.join(answer.supersedes)}"))
    notes_below(answer.notes)


def nodes_lines(answer: NodeList) -> None:
    """One node after another, newest first."""
    for node in answer.nodes:
        # A conversation without a title has no words of its own: its id leads to them.
        words = one_line(node.text or node.summary) or ("" if node.name else flat(node.id))
        click.echo(f"{dim(_told_at(node))}  {heading(node)}  {words}".rstrip())
        click.echo(dim(f"    {flat(node.citation)}"))
    notes_below(answer.notes)


def _told_at(node: NodeShown) -> str:
    """When it was said, of what is said in conversations; of anything else when it was written."""
    said = node.kind in ("Message", "Session") and not node.valid_from.startswith("0001")
    return (node.valid_from if said else node.recorded_at)[:19].replace("T", " ")


def shown_lines(answer: Shown) -> None:
    """A node with its text, what it is joined to and its history."""
    if answer.node is not None:
        click.echo(heading(answer.node))
        click.echo(all_lines(answer.node.text or answer.node.summary))
        click.echo(dim(f"{flat(answer.node.citation)}  {validity(answer.node)}"))
        project = flat(answer.node.project or "(all)")
        click.echo(dim(f"id {flat(answer.node.id)}  project {project}  scope {answer.node.scope}"))
        if answer.node.props:
            click.echo(dim(f"props {flat(msgspec.json.encode(answer.node.props).decode())}"))
    for way, other in (("previous", answer.previous), ("next", answer.next)):
        if other:
            click.echo(dim(f"{way} {flat(other)}"))
    notes_below(answer.notes)
    for edge in answer.edges:
        if (edge.rel, edge.direction) == ("PRODUCED", "in"):
            continue  # told below
        joined = f"{arrow(edge.rel, edge.direction)} [{flat(edge.kind)}]"
        where = f"  project {flat(edge.project)}" if edge.project else ""
        click.echo(f"  {joined} {one_line(edge.name)}  {dim(f'{flat(edge.id)}{where}')}")
    made_by_lines(answer.made_by)
    if len(answer.history) > 1:
        click.echo("history:")
        for version in answer.history:
            until = f"retired {version.retired_at[:19]}" if version.retired_at else "stands"
            click.echo(f"  {version.recorded_at[:19]}  {until}  {validity(version)}  {one_line(version.text)}")


def cited_lines(answer: Cited) -> None:
    """Whether the source still says so, and what it says."""
    mark = click.style("matches", fg="green") if answer.matches else click.style("differs", fg="red")
    click.echo(f"{flat(answer.citation)}  {mark}")
    if answer.event is not None:
        event = answer.event
        click.echo(dim(f"{event.kind}  recorded {event.recorded_at}  by {event.agent} ({event.role})  {event.hash}"))
        for node in answer.nodes:
            click.echo(f"{heading(node)}\n{all_lines(node.text)}")
        if event.erased:
            click.echo(erased_line(event))
        if not answer.nodes and event.payload is not None:
            click.echo(flat(msgspec.json.encode(event.payload).decode()))
    for line in answer.lines:
        click.echo(f"  {visible(line)}")
    notes_below(answer.notes)
