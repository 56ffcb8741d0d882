"""How recorded calls look on a terminal: when, what, who and how it ended; then what went in and came out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from weft.surfaces.cli.lines import dim, notes_below, one_line

if TYPE_CHECKING:
    from weft.operations.auditing import ToolCallShown, ToolCallsShown


def calls_lines(answer: ToolCallsShown) -> None:
    """Newest first; the last line says how to see older ones."""
    if answer.session:
        click.echo(dim(f"session {answer.session}"))
    for call in answer.calls:
        _call(call)
    if answer.before:
        click.echo(dim(f"older ones: --before {answer.before}"))
    notes_below(answer.notes)


def _call(call: ToolCallShown) -> None:
    outcome = click.style(call.code, fg="red") if call.error else call.status
    name = click.style(call.operation, bold=True)
    when = dim(call.started[:19].replace("T", " "))
    who = dim(f"{call.surface} by {call.agent} in {call.session}")
    click.echo(f"{when}  {name}  {outcome}  {call.ms:.1f} ms  {who}")
    for sign, words, size in (("<", call.input, call.input_bytes), (">", call.output, call.output_bytes)):
        if size:
            click.echo(dim(f"    {sign} {one_line(words) if words else f'({size} bytes, not shown)'}"))
    if call.dropped:
        click.echo(dim(f"    {call.dropped} calls before this one are not recorded: too many came at once"))
