"""How the log, and what is folded from it, look on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
import msgspec

from weft.retrieval.views.ground import flat
from weft.surfaces.cli.lines import dim, notes_below, one_line
from weft.surfaces.cli.tables import show_table

if TYPE_CHECKING:
    from weft.adopt import Adopted
    from weft.log.verify import Verified
    from weft.operations.logbook import Events, Exported, HeadShown
    from weft.operations.showing import EventShown
    from weft.operations.upkeep import Changed, Rebuilt


def event_lines(event: EventShown) -> None:
    """One event on two lines."""
    click.echo(f"{click.style(event.citation, bold=True)}  {event.kind}  {dim(event.recorded_at)}  by {event.agent}")
    if event.erased:
        click.echo(dim(f"    {erased_line(event)}"))
    if event.payload is not None:
        click.echo(f"    {one_line(msgspec.json.encode(event.payload).decode())}")


def events_lines(answer: Events) -> None:
    """Event after event."""
    for event in answer.events:
        event_lines(event)
    notes_below(answer.notes)


def verified_lines(answer: Verified) -> None:
    """Whether every hash fits."""
    if answer.problem is None:
        click.secho("every hash fits", fg="green")
    else:
        click.secho(answer.problem, fg="red")
    erased = f", {answer.erased} with payloads replaced (erased, or sealed anew)" if answer.erased else ""
    click.echo(f"{answer.events} events in {answer.commits} commits{erased}; head {answer.digest}")


def head_lines(answer: HeadShown) -> None:
    """The head of the log and of each session."""
    click.echo(answer.digest)
    click.echo(dim(f"account {answer.account}, position {answer.pos}, {answer.at or 'nothing written yet'}"))
    rows = [(flat(session.session), f"{session.seq:,}", session.hash[:16]) for session in answer.sessions]
    show_table(("session", "events", "hash"), rows, right=("events",))


def exported_lines(answer: Exported) -> None:
    """What was written where."""
    click.echo(f"{answer.events} events to {answer.path}; head {answer.digest}")


def adopted_lines(answer: Adopted) -> None:
    """What was taken in."""
    how = "exactly as they were" if answer.exact else "known from now on"
    click.echo(f"{answer.events} events taken in, {how}; {answer.already_there} were here; head {answer.digest}")


def rebuilt_lines(answer: Rebuilt) -> None:
    """Whether the graph is as it was."""
    if answer.equal:
        click.echo(f"{answer.events} events folded; {click.style('equal', fg='green')} to what stood before")
    elif answer.equal is None:
        click.echo(f"{answer.events} events folded")
    else:
        click.secho(f"{answer.events} events folded; what stood before was different", fg="yellow")
    click.echo(dim(answer.digest_after))
    notes_below(answer.notes)


def changed_lines(answer: Changed) -> None:
    """What came, went and changed."""
    click.echo(f"since {answer.since}")
    for sign, kinds in (("+", answer.added), ("-", answer.removed), ("~", answer.modified)):
        for kind, nodes in kinds.items():
            for node in nodes:
                words = dim(f"  {one_line(answer.words[node])}") if node in answer.words else ""
                click.echo(f"  {sign} [{flat(kind)}] {flat(node)}{words}")
    for edge in answer.edges_added:
        click.echo(f"  + {flat(edge)}")
    for edge in answer.edges_removed:
        click.echo(f"  - {flat(edge)}")
    for tx in answer.transactions:
        state = " (unfinished)" if tx.open else ""
        click.echo(dim(f"  {tx.id}  {tx.at[:19]}  {tx.kind} by {tx.agent}{state}"))
    notes_below(answer.notes)


def erased_line(event: EventShown) -> str:
    """What there is to say of an event that was erased."""
    return f"(erased {event.erased_at} by {flat(event.erased_by or '')})" if event.erased_at else "(erased)"
