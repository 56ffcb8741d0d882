"""How symbols of code look on a terminal: packs, slices, explanations, what a change affects."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from weft.context.code_pack import known_line
from weft.context.tokens import count_tokens
from weft.retrieval.views.ground import flat
from weft.surfaces.cli.lines import all_lines, dim, notes_below, one_line, wrapped

if TYPE_CHECKING:
    from weft.context.code_pack import ContextPack, SymbolRef
    from weft.operations.code_explaining import CodeExplained
    from weft.operations.code_reach import Reached
    from weft.operations.impact import ImpactAnalyzed
    from weft.operations.slicing import SliceShown


def pack_lines(answer: ContextPack) -> None:
    """Prints the briefing as an agent reads it; into a pipe that alone."""
    click.echo(all_lines(answer.text))
    if sys.stdout.isatty():
        click.echo(dim(f"\n{count_tokens(answer.text):,} tokens"))
        notes_below(answer.notes)
        return
    for note in answer.notes:
        click.echo(f"note: {flat(note)}", err=True)


def slice_lines(answer: SliceShown) -> None:
    """The lines of a symbol with their numbers, then what it is joined to."""
    click.echo(click.style(wrapped(flat(answer.summary)), bold=True))
    for number, each in enumerate(all_lines(answer.code).split("\n"), start=answer.start_line):
        click.echo(f"{dim(f'{number:>5} ')} {each}".rstrip())
    _refs("called by", answer.callers)
    _refs("calls", answer.callees)
    _refs("tested by", answer.tests)
    _refs("also by that name", answer.others)
    for known in (*answer.decisions, *answer.learnings, *answer.documents):
        click.echo(wrapped(known_line(known), indent="    "))
    notes_below(answer.notes)


def explained_lines(answer: CodeExplained) -> None:
    """What the graph knows of it, one a line."""
    click.echo(click.style(wrapped(flat(answer.summary)), bold=True))
    click.echo(dim(answer.citation))
    if answer.signature:
        click.echo(one_line(answer.signature))
    _reached("used by", answer.callers)
    _reached("uses", answer.callees)
    _refs("tested by", answer.tests)
    _refs("extends", answer.bases)
    _refs("extended by", answer.implementations)
    _refs("holds", answer.members)
    if answer.unresolved:
        click.echo(wrapped(f"outside, or not resolved: {', '.join(map(flat, answer.unresolved))}"))
    for version in answer.history:
        until = f" to {version.valid_to[:19]}" if version.valid_to else ""
        click.echo(dim(f"  since {version.valid_from[:19]}{until}  {version.git_commit}  {version.citation}"))
    _refs("also by that name", answer.others)
    notes_below(answer.notes)


def impact_lines(answer: ImpactAnalyzed) -> None:
    """What is affected, the nearest first."""
    click.echo(click.style(wrapped(flat(answer.summary)), bold=True))
    _reached("direct", answer.direct)
    _reached("direct tests", answer.direct_tests)
    _reached("tests further away", answer.transitive_tests)
    _reached("further away", answer.transitive)
    notes_below(answer.notes)


def _refs(told: str, refs: Sequence[SymbolRef]) -> None:
    if refs:
        click.echo(f"{told}:")
    for each in refs:
        click.echo(f"  {one_line(each.name)}  {dim(flat(each.citation))}")


def _reached(told: str, found: Sequence[Reached]) -> None:
    if found:
        click.echo(f"{told}:")
    for each in found:
        via = dim(f" by way of {' < '.join(map(flat, each.via))}") if each.via else ""
        click.echo(f"  {one_line(each.name)}  {dim(flat(each.citation))}{via}")
