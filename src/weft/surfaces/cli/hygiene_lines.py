"""How hygiene looks on a terminal: a table for each check, with the command that mends it under each finding."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from weft.retrieval.views.ground import flat
from weft.surfaces.cli.lines import counted, dim, notes_below, one_line

if TYPE_CHECKING:
    from weft.operations.findings import CheckName, Finding
    from weft.operations.hygiene import HygieneReport
    from weft.operations.hygiene_apply import HygieneApplied
    from weft.operations.hygiene_checks import Checked
    from weft.operations.routing import AnalysisRouted

TITLES: dict[CheckName, str] = {
    "duplicate": "say the same",
    "decision": "old decisions",
    "pattern": "patterns to validate",
    "entity": "one name, several nodes",
    "write": "writes that are stuck",
}
COLOURS = {"saved": "green", "succeeded": "green", "partial": "yellow", "stale": "yellow"}


def report_lines(answer: HygieneReport) -> None:
    """Each check with how many it found, then its findings."""
    where = f"project {answer.project}" if answer.project else "what is kept for all projects"
    looked_at = f"{counted(answer.nodes, 'node')} looked at"
    click.echo(f"{_status(answer.status)}  {where}  {dim(looked_at)}")
    for check in answer.checks:
        _check(check)
    if answer.last_hygiene_at:
        click.echo(dim(f"last hygiene {answer.last_hygiene_at[:19].replace('T', ' ')}"))
    notes_below(answer.notes)


def _check(check: Checked) -> None:
    found = "not done" if check.problem else f"{'at least ' if check.at_least else ''}{check.found or 'none'}"
    click.echo(f"{click.style(f'{TITLES[check.check]:24}', bold=bool(check.found))} {found}")
    if check.problem:
        click.secho(f"  {one_line(check.problem)}", fg="red")
    for finding in check.findings:
        _finding(finding)
    if check.left_out:
        click.echo(dim(f"  and {check.left_out} more"))


def _finding(finding: Finding) -> None:
    mark = f"{finding.similarity:.3f}  " if finding.similarity is not None else ""
    click.echo(f"  {mark}{one_line(finding.why)}")
    for words in finding.shows:
        click.echo(dim(f"      > {one_line(words)}"))
    for command in (finding.fix, *finding.instead):
        click.echo(f"      {flat(command)}")


def applied_lines(answer: HygieneApplied) -> None:
    """One finding a line, with the command that undoes it."""
    click.echo(f"{_status(answer.status)}  {answer.done} of {len(answer.findings)} done")
    for each in answer.findings:
        click.echo(f"  {_status(each.status):6}  {flat(each.id)}  {dim(each.citation)}".rstrip())
        if each.why:
            click.echo(f"      {one_line(each.why)}")
        if each.undo:
            click.echo(dim(f"      undo: {flat(each.undo)}"))
        for note in each.notes:
            click.echo(dim(f"      note: {flat(note)}"))
    notes_below(answer.notes)


def routed_lines(answer: AnalysisRouted) -> None:
    """The mode, why, and the steps."""
    click.echo(f"{click.style(answer.mode, bold=True)}  {one_line(answer.rationale)}")
    for number, step in enumerate(answer.suggested_steps, start=1):
        click.echo(f"  {number}. {step}")


def _status(status: str) -> str:
    return click.style(status, fg=COLOURS.get(status, "red"))
