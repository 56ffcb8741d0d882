"""How projects, what to know of one, and writes that wait look on a terminal."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from weft.surfaces.cli.lines import dim, heading, notes_below, one_line

if TYPE_CHECKING:
    from weft.operations.pending import PendingDelivered, PendingShown, PendingShownAll
    from weft.operations.priority import ProjectContext
    from weft.operations.projects import ProjectsShown


def context_lines(answer: ProjectContext) -> None:
    """The items of each level under its name."""
    where = f"project {answer.project}" + (f", focus {answer.focus}" if answer.focus else "")
    click.echo(f"{click.style(answer.status, bold=True)}  {where}  {dim(answer.scope_state)}")
    level = ""
    for item in answer.items:
        if item.level != level:
            level = item.level
            click.echo(click.style(level, bold=True))
        click.echo(f"  {heading(item.node)}  {one_line(item.node.text or item.node.summary)}")
        click.echo(dim(f"      {item.node.citation}"))
    for one, other in answer.conflicts:
        click.secho(f"{one} conflicts with {other}", fg="yellow")
    if answer.hygiene_due:
        click.echo(dim("hygiene is due"))
    notes_below(answer.notes)


def projects_lines(answer: ProjectsShown) -> None:
    """One project a line, its focus areas below."""
    for project in answer.projects:
        mark = " (here)" if project.here else ""
        click.echo(f"{click.style(project.name, bold=True)}{mark}  {one_line(project.description)}".rstrip())
        for focus in project.focuses:
            click.echo(f"  {focus.name}  {one_line(focus.description)}".rstrip())
    notes_below(answer.notes)


def pending_lines(answer: PendingShownAll) -> None:
    """One write a line."""
    _writes(answer.waiting, "waits")
    _writes(answer.refused, "refused")
    notes_below(answer.notes)


def _writes(writes: Iterable[PendingShown], how: str) -> None:
    for each in writes:
        click.echo(
            f"{each.since[:19] or each.entry}  {how}  {', '.join(each.kinds)} by {each.agent}  {each.request_id}"
        )
        click.echo(dim(f"    {each.reason or each.problem}"))


def delivered_lines(answer: PendingDelivered) -> None:
    """How many went in."""
    click.echo(f"{answer.delivered} delivered, {answer.left} left")
    notes_below(answer.notes)
