"""How passages of documents look on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from weft.context.wording import visible
from weft.surfaces.cli.lines import dim, notes_below, one_line

if TYPE_CHECKING:
    from weft.operations.code_docs import DocsFound


def docs_lines(answer: DocsFound) -> None:
    """One passage after another, each under its headings."""
    for number, passage in enumerate(answer.passages, start=1):
        click.echo(f"{number}. {click.style(one_line(passage.heading), bold=True)}  {dim(passage.citation)}")
        for line in visible(passage.text).splitlines():
            click.echo(f"   {line}")
    if not answer.passages:
        click.echo("nothing found")
    notes_below(answer.notes)
