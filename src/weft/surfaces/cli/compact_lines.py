"""How briefings and compactions look on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from weft.surfaces.cli.lines import all_lines, counted, dim, notes_below, one_line

if TYPE_CHECKING:
    from weft.operations.compacting import Compacted
    from weft.operations.compacting_sessions import SessionCompacted, SessionStatus
    from weft.operations.projections import Projected


def session_compacted_lines(answer: SessionCompacted) -> None:
    """The briefing as it was kept, and whether it was time."""
    kept = f"{counted(answer.statements, 'statement')}, {answer.cited} with a source"
    click.echo(f"{answer.status}: the briefing of {one_line(answer.session)}  {dim(kept)}")
    click.echo(dim(f"    id {answer.id}  {answer.citation}"))
    if answer.text:
        click.echo(all_lines(answer.text))
    _due_line(answer.due, answer.share)
    notes_below(answer.notes)


def session_status_lines(answer: SessionStatus) -> None:
    """Whether it is time to compact, what to ask for, and the last briefing."""
    _due_line(answer.due, answer.share)
    if answer.prompt:
        click.echo(all_lines(answer.prompt))
    if answer.briefing:
        by = f" by {one_line(answer.briefed_by)}" if answer.briefed_by else ""
        click.echo(f"the last briefing  {dim((answer.briefed_at or '')[:16].replace('T', ' ') + by)}")
        click.echo(all_lines(answer.briefing))
        click.echo(dim(f"    {answer.citation}"))
    else:
        click.echo(dim("it has no briefing yet"))
    notes_below(answer.notes)


def _due_line(due: bool, share: float | None) -> None:  # noqa: FBT001
    """Whether it is time; nothing where that cannot be told: a note says so."""
    if share is not None:
        told = click.style("compaction is due", fg="yellow") if due else "compaction is not due"
        click.echo(f"{told}  {dim(f'{share:.0%} of the window is used')}")


def compacted_lines(answer: Compacted) -> None:
    """What was kept, collapsed and left out, and why."""
    total = f"{counted(answer.records, 'record')} of {counted(answer.memories, 'memory', 'memories')}"
    click.echo(f"{answer.status}: {total} for {answer.purpose} in {one_line(answer.project)}")
    for told, counts in (("kept", answer.kept), ("left out", answer.left)):
        if counts:
            click.echo(f"  {told}: {', '.join(f'{count:,} {one_line(why)}' for why, count in counts.items())}")
    if answer.collapsed:
        click.echo(f"  {answer.collapsed:,} stand behind an exemplar that cites them")
    covered = answer.covered
    click.echo(dim(f"  events {covered.first:,} to {covered.last:,}; the log stood at {covered.head:,}"))
    for row in answer.reported:
        click.echo(f"  {row.state}: {row.kind} {one_line(row.id)}  {dim(row.citation)}")
    if answer.file:
        click.echo(f"  written to {answer.file}")
    notes_below(answer.notes)


def projected_lines(answer: Projected) -> None:
    """One record a line, with its sources below."""
    for record in answer.records:
        name = f"{one_line(record.name)}: " if record.name and not record.text.startswith(record.name) else ""
        stale = click.style(f"  {record.stale}", fg="yellow") if record.stale else ""
        click.echo(f"[{record.kind}] {name}{one_line(record.text)}  {dim(f'{record.role}, {record.why}')}{stale}")
        more = f" and {record.more} more" if record.more else ""
        click.echo(dim(f"    {'  '.join(record.sources)}{more}"))
    gone = "".join(f", {count} {one_line(why)}" for why, count in answer.dropped.items())
    click.echo(dim(f"{len(answer.records)} of {answer.total}{gone}" if answer.total else "nothing is compacted"))
    notes_below(answer.notes)
