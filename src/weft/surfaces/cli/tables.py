"""Tables: drawn by rich on a terminal, aligned plain text elsewhere.

What stands in a cell has been made safe to print by its caller (`flat`, `one_line`).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

GAP = "  "


def show_table(headings: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[str] = ()) -> None:
    """Prints rows under headings; columns named in `right` are aligned there. Nothing where there are no rows.

    On a terminal it is as wide as that at most: long cells go on in the next line.
    """
    if not rows:
        return
    if sys.stdout.isatty():
        _draw(headings, rows, right)
        return
    widths = [max(map(len, column)) for column in zip(headings, *rows, strict=True)]
    for row in (headings, *rows):
        cells = (
            cell.rjust(width) if heading in right else cell.ljust(width)
            for heading, cell, width in zip(headings, row, widths, strict=True)
        )
        click.echo(GAP.join(cells).rstrip())


def _draw(headings: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[str]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    colourless = click.get_current_context().color is False
    table = Table(box=SIMPLE_HEAD, pad_edge=False, header_style="" if colourless else "bold")
    for heading in headings:
        table.add_column(heading, justify="right" if heading in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    Console(no_color=colourless, highlight=False).print(table)
