"""How proposals and compiled truths look on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from weft.surfaces.cli.lines import dim, notes_below, one_line

if TYPE_CHECKING:
    from weft.operations.proposals import ProposalList
    from weft.operations.tending import TruthCompiled


def proposals_lines(answer: ProposalList) -> None:
    """What stands, what is said instead, and where both come from."""
    for each in answer.proposals:
        about = f"{each.subject} {each.predicate.replace('_', ' ')}"
        click.echo(f"{click.style(each.status, fg='yellow')}  {one_line(f'{about}: {each.stands} → {each.proposed}')}")
        since = f" since {each.stands_since[:10]}" if each.stands_since else ", no more"
        click.echo(f"    stands{since}  {one_line(each.stands_text or each.stands)}")
        click.echo(dim(f"      {each.old_citation or each.old_fact}"))
        sure = "" if each.confidence is None else f", {each.confidence:.0%} sure"
        click.echo(f"    proposed {each.proposed_at[:10]}{sure}  {one_line(each.source_text or each.proposed)}")
        click.echo(dim(f"      {each.source_citation or each.citation}"))
        if each.reason:
            click.echo(dim(f"    because {one_line(each.reason)}"))
        click.echo(dim(f"    id {each.id}"))
        if each.status == "pending":
            click.echo(dim(f"    `weft proposal-review {each.id} accept` or `reject`"))
    notes_below(answer.notes)


def truth_lines(answer: TruthCompiled) -> None:
    """The summary, then its sources."""
    if answer.status == "failed":
        click.secho(answer.status, fg="red")
        notes_below(answer.notes)
        return
    click.echo(answer.text)
    click.echo(f"{click.style(answer.status, fg='green')}  {answer.citation}")
    click.echo(dim(f"id {answer.id}"))
    for number, source in enumerate(answer.sources, start=1):
        click.echo(dim(f"  [{number}] {source}"))
    notes_below(answer.notes)
