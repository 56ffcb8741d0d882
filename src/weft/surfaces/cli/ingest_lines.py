"""How what was read in looks on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from weft.surfaces.cli.lines import counted, dim, notes_below

if TYPE_CHECKING:
    from weft.operations.ingesting import Ingested
    from weft.operations.recording import TurnsRecorded


def ingested_lines(answer: Ingested) -> None:
    """What was read, and what was left out."""
    read = f"{counted(answer.documents, 'document')} in {counted(answer.sections, 'section')}"
    if answer.files:
        read += f", {counted(answer.files, 'source file')} with {counted(answer.symbols, 'symbol')}"
    if answer.records:
        read = f"{counted(answer.records, 'record')} ({counted(answer.messages, 'turn')} of conversations)"
    click.echo(f"{read}; {answer.unchanged} unchanged; {len(answer.skipped)} skipped")
    if answer.revived:
        click.echo(f"{answer.revived} of them had been deleted, and are back")
    for skipped in answer.skipped:
        click.echo(dim(f"  {skipped.path}: {skipped.reason}"))
    notes_below(answer.notes)


def turns_lines(answer: TurnsRecorded) -> None:
    """The turns that were added."""
    click.echo(f"{click.style(answer.status, fg='green')}  {answer.session}")
    for turn in answer.turns:
        click.echo(f"  {turn.seq:5}  {turn.citation}  {dim(turn.id)}")
    notes_below(answer.notes)
