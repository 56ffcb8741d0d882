"""How reports, alerts and counts look on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from weft.surfaces.cli.lines import all_lines, counted, dim, notes_below, one_line
from weft.surfaces.cli.tables import show_table

if TYPE_CHECKING:
    from weft.operations.alerts import AlertsListed
    from weft.operations.publishing import Published
    from weft.operations.reports import ReportsListed, ReportsRead
    from weft.operations.statistics import Statistics


def reports_lines(answer: ReportsRead) -> None:
    """Each report under its title, whole."""
    for node in answer.reports:
        click.echo(f"{click.style(one_line(node.name), bold=True)}  {dim(node.valid_from[:16].replace('T', ' '))}")
        click.echo(all_lines(node.text))
        click.echo(dim(f"    {node.citation}"))
    notes_below(answer.notes)


def report_list_lines(answer: ReportsListed) -> None:
    """One report a line, without its body."""
    for report in answer.reports:
        about = ", ".join((*report.keywords, *filter(None, (report.source_workflow,))))
        at = report.occurred_at[:16].replace("T", " ")
        click.echo(f"{dim(at)}  {one_line(report.title)}  {dim(f'{report.characters:,} characters  {about}')}")
        click.echo(dim(f"    id {report.id}  {report.citation}"))
    click.echo(dim(f"{len(answer.reports)} of {answer.total}" if answer.total else "there is no such report"))
    if answer.next_offset is not None:
        click.echo(dim(f"`--offset {answer.next_offset}` shows older ones"))
    notes_below(answer.notes)


def alerts_lines(answer: AlertsListed) -> None:
    """One alert a line, how bad it is first."""
    colours = {"critical": "red", "warning": "yellow"}
    for node in answer.alerts:
        severity = str(node.props.get("severity", ""))
        over = "  suppressed" if "suppressed_at" in node.props else ""
        at = node.valid_from[:16].replace("T", " ")
        click.echo(f"{dim(at)}  {click.style(severity, fg=colours.get(severity))}  {one_line(node.text)}{dim(over)}")
        click.echo(dim(f"    id {node.id}  {node.citation}"))
    if answer.total > len(answer.alerts):
        click.echo(dim(f"{len(answer.alerts)} of {answer.total}"))
    notes_below(answer.notes)


def statistics_lines(answer: Statistics) -> None:
    """Counts, then views, then kinds."""
    click.echo(
        f"{answer.nodes:,} nodes, {answer.edges:,} relations, {answer.events:,} events in {answer.sessions:,} sessions"
        f"  {dim(answer.backend)}"
    )
    counted = [("view", *each) for each in answer.views.items()] + [("kind", *each) for each in answer.kinds.items()]
    rows = [(what, one_line(name), f"{count:,}") for what, name, count in counted if count]
    show_table(("", "name", "nodes"), rows, right=("nodes",))
    click.echo(
        f"waiting: {answer.open_proposals} proposals, {answer.active_alerts} alerts, {answer.waiting_writes} writes"
    )
    notes_below(answer.notes)


def published_lines(answer: Published) -> None:
    """Where the site is, and its pages."""
    click.echo(f"{counted(len(answer.pages), 'page')} in {answer.directory}  {dim(f'at a server: {answer.address}')}")
    for page in answer.pages:
        click.echo(f"  {page.file}  {one_line(page.title)}  {dim(page.citation)}")
    notes_below(answer.notes)
