"""How proposals and compiled truths look on a terminal."""

from __future__ import annotations

import click

from weft.operations.proposals import ProposalList
from weft.operations.tending import TruthCompiled
from weft.surfaces.cli.lines import dim, notes_below, one_line


def proposals_lines(answer: ProposalList) -> None:
    """What stands, what is said instead, and where both come from."""
    for each in answer.proposals:
        about = f"{each.subject} {each.predicate.replace('_', ' ')}"
        click.echo(f"{click.style(each.status, fg='yellow')}  {one_line(f'{about}: {each.stands} → {each.proposed}')}")
        click.echo(dim(f"    id {each.id}  proposed {each.proposed_at[:10]}  {each.source_citation or each.citation}"))
        click.echo(dim(f"    stands by {each.old_citation or each.old_fact}"))
        if each.reason:
            click.echo(dim(f"    because {one_line(each.reason)}"))
    notes_below(answer.notes)


def truth_lines(answer: TruthCompiled) -> None:
    """The summary, then its sources."""
    click.echo(answer.text)
    click.echo(f"{click.style(answer.status, fg='green')}  {answer.citation}")
    click.echo(dim(f"id {answer.id}"))
    for number, source in enumerate(answer.sources, start=1):
        click.echo(dim(f"  [{number}] {source}"))
    notes_below(answer.notes)
