"""How what was read in looks on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from weft.surfaces.cli.lines import counted, dim, notes_below, one_line

if TYPE_CHECKING:
    from weft.operations.ingesting import Ingested
    from weft.operations.rebuilding import GraphRebuilt
    from weft.operations.recording import TurnsRecorded


NAMED = 3  # files that are shown for each reason
PATH_CHARACTERS = 100


def ingested_lines(answer: Ingested) -> None:
    """What was read, and what was left out: by reason, with the first few names."""
    read = f"{counted(answer.documents, 'document')} in {counted(answer.sections, 'section')}"
    if answer.chunks:
        read += f" and {counted(answer.chunks, 'chunk')}"
    if answer.files:
        read += f", {counted(answer.files, 'source file')} with {counted(answer.symbols, 'symbol')}"
    if answer.records:
        read = f"{counted(answer.records, 'record')} ({counted(answer.messages, 'turn')} of conversations)"
    skipped = sum(answer.reasons.values())
    ignored = f"; {answer.ignored:,} ignored" if answer.ignored else ""
    if answer.nothing_read:
        click.echo(f"nothing was read; {skipped:,} skipped{ignored}")
    else:
        click.echo(f"{read}; {answer.unchanged:,} unchanged; {skipped:,} skipped{ignored}")
    if answer.revived:
        back = "had been deleted, and is back" if answer.revived == 1 else "had been deleted, and are back"
        click.echo(f"{answer.revived:,} of them {back}")
    if answer.ended:
        gone = "whose file is gone was ended; its" if answer.ended == 1 else "whose files are gone were ended; their"
        click.echo(f"{answer.ended:,} {gone} history stays")
    for line in skipped_lines(answer):
        click.echo(dim(f"  {one_line(line)}"))
    notes_below(answer.notes)


def skipped_lines(answer: Ingested | GraphRebuilt) -> list[str]:
    """One line for each reason; a lone file comes first in its own."""
    lines = []
    for reason, files in answer.reasons.items():
        told = [each for each in answer.skipped if each.sort == reason]
        names = [short_path(each.path) for each in told[:NAMED]]
        if files == 1 and told:
            lines.append(f"{names[0]}: {told[0].reason}")
            continue
        more = files - len(names)
        shown = ", ".join(names) + (f" and {more:,} more" if names and more else "")
        lines.append(f"{files:,} {reason}: {shown}" if names else f"{files:,} {reason}")
    return lines


def short_path(path: str) -> str:
    """A path that leaves room for what is said of it: of a very long one, its end."""
    return path if len(path) <= PATH_CHARACTERS else f"…{path[1 - PATH_CHARACTERS :]}"


def turns_lines(answer: TurnsRecorded) -> None:
    """The turns that were added."""
    click.echo(f"{click.style(answer.status, fg='green')}  {answer.session}")
    for turn in answer.turns:
        click.echo(f"  {turn.seq:5}  {turn.citation}  {dim(turn.id)}")
    notes_below(answer.notes)
