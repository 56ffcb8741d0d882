"""How contexts that are to be put before a model look on a terminal; into a pipe they go as they are."""

from __future__ import annotations

import re
import shutil
import sys
import textwrap
from typing import TYPE_CHECKING, Final

import click

from weft.retrieval.views.ground import flat
from weft.surfaces.cli.lines import MAX_COLUMNS, counted, dim, notes_below

if TYPE_CHECKING:
    from weft.operations.assembling import Assembled
    from weft.operations.checking_out import Checkout
    from weft.operations.previous import PreviousContext

_LINE: Final = re.compile(r"(\d+\.) (\[[^\]]+\]) ")
COLOURS: Final = {"strong": "green", "fair": "cyan", "weak": "yellow", "none": "yellow"}


def checkout_lines(answer: Checkout) -> None:
    """Prints the prompt; on a terminal also how far to trust it and what was left out."""
    context_lines(answer.prompt, plain=answer.guidance)
    if answer.counts and sys.stdout.isatty():
        click.echo()
        for each in _below(answer):
            click.echo(each)
    if answer.diagnostics is not None and answer.diagnostics.stages:
        _diagnosed(answer)
    _notes(answer.notes)


def _below(answer: Checkout) -> list[str]:
    """One line on the evidence, one on the room, one on what was left out."""
    quality, spent = answer.quality, answer.token_use
    told = [
        click.style(f"evidence {quality.evidence}", fg=COLOURS.get(quality.evidence)),
        f"holds {quality.coverage:.0%} of the question's words",
    ]
    if quality.missing:
        told.append(f"not {', '.join(map(flat, quality.missing))}")
    if quality.newest_days is not None:
        told.append(
            "newest of today" if not quality.newest_days else f"newest of {counted(quality.newest_days, 'day')} ago"
        )
    if quality.conflicts:
        told.append(click.style(counted(len(quality.conflicts), "contradiction"), fg="yellow"))
    lines = [dim(" · ".join(told))]
    slots = ", ".join(f"{slot} {tokens:,}" for slot, tokens in spent.slots.items())
    lines.append(dim(f"{spent.prompt:,} of {spent.budget:,} tokens" + (f" ({slots})" if slots else "")))
    applied = answer.diagnostics
    if applied is not None and applied.suppressed:
        gone = ", ".join(f"{number} {flat(why)}" for why, number in applied.suppressed.items())
        lines.append(dim(f"left out: {gone}"))
    return lines


def _diagnosed(answer: Checkout) -> None:
    applied = answer.diagnostics
    assert applied is not None
    policy = applied.policy
    said = [
        f"purpose {policy.purpose}: {policy.candidates} candidates ({policy.recall_floor} or x {policy.multiplier})",
        f"scored for {policy.scoring}",
        f"emphasis {', '.join(policy.emphasis)}" if policy.emphasis else "",
        f"retention {policy.retention}",
        *policy.effects,
    ]
    for each in filter(None, said):
        click.echo(dim(f"  {flat(each)}"))
    total = sum(stage.milliseconds for stage in applied.stages)
    slow = sorted(applied.stages, key=lambda stage: -stage.milliseconds)[:5]
    named = ", ".join(f"{stage.stage} {stage.milliseconds:.1f}" for stage in slow)
    click.echo(dim(f"  {len(applied.stages)} stages, {total:.1f} ms: {named}"))


def assembled_lines(answer: Assembled) -> None:
    """Prints the block."""
    if answer.context:
        context_lines(answer.context)
    _notes(answer.notes)


def previous_lines(answer: PreviousContext) -> None:
    """Prints the block."""
    if answer.context:
        context_lines(answer.context)
    _notes(answer.notes)


def _notes(notes: tuple[str, ...]) -> None:
    """Below the text on a terminal; beside a pipe, which gets the text and nothing else."""
    if sys.stdout.isatty():
        notes_below(notes)
        return
    for note in notes:
        click.echo(f"note: {flat(note)}", err=True)


def context_lines(text: str, *, plain: tuple[str, ...] = ()) -> None:
    """A context: on a terminal wrapped and in colours, else as it is, so that it can be piped to a model.

    `plain` are lines of it that are neither headings nor memories.
    """
    if not sys.stdout.isatty():
        click.echo(text)
        return
    width = max(20, min(shutil.get_terminal_size().columns, MAX_COLUMNS))
    head, *lines = text.split("\n")
    click.echo(dim(_wrapped(head, width, "  ")))
    in_sources = False
    for line in lines:
        in_sources = in_sources or line == "Sources"
        click.echo(_wrapped(line, width, "") if line in plain else _styled(line, width, in_sources=in_sources))


def _styled(line: str, width: int, *, in_sources: bool) -> str:
    if not line:
        return ""
    if in_sources or line.startswith("("):
        return dim(_wrapped(line, width, "  "))
    if line.startswith("! "):
        return click.style(_wrapped(line, width, "  "), fg="yellow")
    found = _LINE.match(line)
    if found is None:
        return click.style(_wrapped(line, width, ""), bold=True)
    rows = _wrapped(line, width, "   ")
    number, kind = found.groups()
    return rows.replace(f"{number} {kind}", f"{dim(number)} {click.style(kind, fg='cyan')}", 1)


def _wrapped(line: str, width: int, indent: str) -> str:
    return textwrap.fill(line, width, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False)
