"""Answers about a workspace's code on a terminal: hits, communities, what is alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from weft.context.wording import visible
from weft.retrieval.views.ground import flat
from weft.surfaces.cli.lines import dim, notes_below, one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weft.operations.community_reading import CommunitiesListed, CommunityShown
    from weft.operations.graph_query import CodeHit, GraphAnswer
    from weft.operations.similar_code import SimilarCode


def answer_lines(answer: GraphAnswer) -> None:
    """Communities, then files with the symbols that answer."""
    if answer.mode == "hybrid" and answer.communities:
        click.echo(click.style("As a whole", bold=True))
    _communities(answer.communities)
    if answer.mode == "hybrid" and answer.hits:
        click.echo(click.style("In detail", bold=True))
    for number, hit in enumerate(answer.hits, start=1):
        _hit(number, hit)
    if not answer.communities and not answer.hits:
        click.echo(answer.summary)
    notes_below(answer.notes)


def _hit(number: int, hit: CodeHit) -> None:
    name = hit.path if hit.type == "File" else f"{flat(hit.name)}  {dim(f'{flat(hit.path)}:{hit.line}')}"
    click.echo(f"{number}. {click.style(one_line(name), bold=True) if hit.type == 'File' else name}")
    if hit.summary:
        click.echo(f"   {visible(hit.summary)}")
    for symbol in hit.symbols:
        told = f"  {visible(symbol.summary)}" if symbol.summary else ""
        click.echo(f"   {flat(symbol.name)}{dim(f':{symbol.line}')}{told}")


def _communities(communities: Sequence[CommunityShown]) -> None:
    for each in communities:
        click.echo(f"{click.style(one_line(each.label), bold=True)}  {visible(each.summary)}")


def communities_lines(answer: CommunitiesListed) -> None:
    """One community a line, the largest first."""
    click.echo(answer.summary)
    _communities(answer.communities)
    if answer.next_offset is not None:
        click.echo(dim(f"and more: --offset {answer.next_offset}"))
    notes_below(answer.notes)


def similar_lines(answer: SimilarCode) -> None:
    """What is alike, a line each: how much, what, where."""
    click.echo(f"{flat(answer.summary)}  {dim(flat(answer.element))}")
    for each in answer.similar:
        alike = "same" if each.same else f"{each.similarity:.2f}"
        told = f"  {visible(each.summary)}" if each.summary else ""
        click.echo(f"{alike:<5} {flat(each.name)}  {dim(f'{flat(each.path)}:{each.line}')}{told}")
    notes_below(answer.notes)
