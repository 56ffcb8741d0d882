"""How conversations look on a terminal: lists of them, archiving, messages that come in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from weft.retrieval.views.ground import flat
from weft.surfaces.cli.lines import dim, notes_below, one_line
from weft.surfaces.cli.screen_lines import screened_lines
from weft.surfaces.cli.tables import show_table

if TYPE_CHECKING:
    from weft.operations.archiving import SessionArchived
    from weft.operations.conversation_lists import ConversationShown, ConversationsShown
    from weft.operations.receiving import Received


def conversations_lines(answer: ConversationsShown) -> None:
    """One conversation a line, the latest first."""
    if not answer.conversations:
        click.echo("no conversations")
    headings = ("last", "first", "turns", "conversation", "title")
    show_table(headings, [_row(each) for each in answer.conversations], right=("turns",))
    notes_below(answer.notes)


def _row(shown: ConversationShown) -> tuple[str, ...]:
    title = one_line(shown.title) + ("  (archived)" if shown.archived else "")
    last, first = (each[:16].replace("T", " ") for each in (shown.last_at, shown.first_at))
    return last, first, f"{shown.turns:,}", flat(shown.name), title.strip()


def archived_lines(answer: SessionArchived) -> None:
    """What became of it."""
    title = f"  {one_line(answer.title)}" if answer.title else ""
    click.echo(f"{click.style(answer.status.replace('_', ' '), fg='green')}  {flat(answer.session)}{title}")
    if answer.citation:
        click.echo(dim(f"  {flat(answer.citation)}"))
    notes_below(answer.notes)


def received_lines(answer: Received) -> None:
    """Where the message is kept, and what it is."""
    cited = f"  {flat(answer.turn.citation)}" if answer.turn is not None else ""
    click.echo(f"{click.style(answer.status.replace('_', ' '), fg='green')}  {flat(answer.session)}{cited}")
    screened_lines(answer.screened)
    notes_below(answer.notes)
