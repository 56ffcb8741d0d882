"""How the state of the code graph, and work on it, look on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from weft.operations.jobs import job_line
from weft.retrieval.views.ground import flat
from weft.surfaces.cli.ingest_lines import short_path, skipped_lines
from weft.surfaces.cli.lines import counted, dim, notes_below, one_line

if TYPE_CHECKING:
    from weft.operations.graph_health import GraphHealth
    from weft.operations.rebuilding import GraphRebuilt
    from weft.operations.workspaces import WorkspaceSet


def workspace_lines(answer: WorkspaceSet) -> None:
    """What code tools work on now."""
    click.echo(flat(answer.summary))
    notes_below(answer.notes)


def rebuilt_lines(answer: GraphRebuilt) -> None:
    """What was read, and what was left out."""
    click.echo(flat(answer.summary))
    for told in skipped_lines(answer):
        click.echo(dim(f"  {one_line(told)}"))
    notes_below(answer.notes)


def health_lines(answer: GraphHealth) -> None:
    """What is in the graph, what changed since, what is at work."""
    click.echo(flat(answer.summary))
    click.echo(f"workspace  {flat(answer.workspace)}")
    for title, counts in (("languages", answer.languages), ("symbols", answer.kinds), ("edges", answer.edges)):
        if counts:
            click.echo(f"{title:<9}  {', '.join(f'{name} {count:,}' for name, count in counts.items())}")
    if answer.files and answer.unresolved is not None:
        click.echo(f"{'left open':<9}  {answer.unresolved:,} unresolved, {answer.outside or 0:,} outside")
    if (tx := answer.latest_tx) is not None:
        commit = f", commit {tx.commit[:12]}" if tx.commit else ""
        click.echo(f"{'latest':<9}  {tx.kind} {tx.id} at {tx.at}{commit}; {counted(answer.tx_count, 'change')}")
    if answer.pending_changes:
        more = f" and {answer.pending_changes - len(answer.pending):,} more" if answer.pending_more else ""
        click.echo(f"{'changed':<9}  {one_line(', '.join(answer.pending))}{more}")
    note = f": {flat(answer.watcher.note)}" if answer.watcher.note else ""
    click.echo(f"{'watcher':<9}  {answer.watcher.state}{note}")
    for batch in answer.watcher.recent:
        click.echo(dim(f"  {one_line(batch)}"))
    if answer.vectors_pending:
        click.echo(f"{'vectors':<9}  {answer.vectors_pending:,} are still to be made")
    for job in answer.jobs:
        click.echo(f"{'job':<9}  {job.id}  {one_line(job_line(job))}")
    for each in answer.problems:
        click.echo(dim(f"  {one_line(f'{short_path(each.path)}: {each.reason}')}"))
    for hint in answer.hints:
        click.echo(f"hint:  {flat(hint)}", err=True)
    notes_below(answer.notes)
