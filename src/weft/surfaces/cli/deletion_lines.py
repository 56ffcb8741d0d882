"""How deletions and erasures look on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from weft.retrieval.views.ground import flat
from weft.surfaces.cli.lines import counted, dim, notes_below, one_line

if TYPE_CHECKING:
    from weft.operations.deleting import Deleted, DeletionList
    from weft.operations.erasing import Erasure


def deleted_lines(answer: Deleted) -> None:
    """What went or came back, by kind."""
    colour = "green" if answer.status == "saved" else "yellow"
    click.echo(f"{click.style(answer.status, fg=colour)}  {flat(answer.id)}  {answer.citation}".rstrip())
    if answer.nodes:
        click.echo(dim(f"{answer.nodes} nodes{_by_kind(answer.kinds)}"))
    notes_below(answer.notes)


def deletions_lines(answer: DeletionList) -> None:
    """One line for each deletion, and how long it can be undone."""
    for each in answer.deletions:
        grace = click.style("grace is over", fg="red") if each.over else f"until {each.until[:16].replace('T', ' ')}"
        grace = "cleared: `weft clear-graph --undo` brings it back" if each.cleared else grace
        click.echo(f"{click.style(f'[{flat(each.kind)}]', fg='cyan')} {one_line(each.name or each.id)}  {grace}")
        reason = f"  because {one_line(each.reason)}" if each.reason else ""
        click.echo(dim(f"    id {flat(each.id)}  {each.nodes} nodes  by {each.by} {each.at[:16]}{reason}"))
    notes_below(answer.notes)


def erasure_lines(answer: Erasure) -> None:
    """What goes or went, where, and what weft cannot reach."""
    done = answer.status == "erased"
    if not (done or answer.nodes or answer.events or answer.outbox or answer.audit or answer.files):
        notes_below(answer.notes)
        return
    click.echo(click.style("erased" if done else "would be erased", fg="red" if done else "yellow"))
    click.echo(f"  {counted(answer.nodes, 'node')}{_by_kind(answer.kinds)}")
    texts = f"{counted(answer.events, 'event')}, {counted(answer.texts, 'text')}"
    click.echo(f"  {texts}, {counted(answer.receipts, 'receipt')}")
    calls = counted(answer.audit, "record of a call", "records of calls")
    click.echo(f"  {counted(answer.outbox, 'waiting write')}, {calls}")
    for file in answer.files:
        click.echo(f"  the file {one_line(file)}")
    for each in answer.shown:
        click.echo(dim(f"    [{flat(each.kind)}] {one_line(each.words)}  {flat(each.id)}"))
    if len(answer.shown) < answer.nodes and answer.shown:
        click.echo(dim(f"    and {answer.nodes - len(answer.shown)} more"))
    if done:
        click.echo(f"at {answer.at} by {answer.by}")
    for citation in answer.citations:
        click.echo(dim(f"  {citation}"))
    if answer.out_of_reach:
        click.echo(f"out of weft's reach: {'; '.join(answer.out_of_reach)}")
    notes_below(answer.notes)


def _by_kind(kinds: dict[str, int]) -> str:
    return ": " + ", ".join(f"{count} {flat(kind)}" for kind, count in kinds.items()) if kinds else ""
