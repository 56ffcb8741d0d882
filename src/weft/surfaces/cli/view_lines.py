"""How the graph views of a question look on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click

from weft.operations.merging import ContextLinearized, SubgraphMerged
from weft.operations.view_nodes import ViewNode
from weft.operations.viewing import SemanticSearched, ViewExpanded
from weft.retrieval.views.ground import flat
from weft.surfaces.cli.lines import flag, notes_below

LINE_CHARACTERS = 160

Viewed = SemanticSearched | ViewExpanded | SubgraphMerged | ContextLinearized


def view_lines(answer: Viewed) -> Iterator[str]:
    """The lines of an answer, notes apart."""
    match answer:
        case SemanticSearched():
            for seed in answer.seed_entities:
                yield f"seed  {click.style(f'[{flat(seed.kind)}]', fg='cyan')} {flat(seed.name)}  {_dim(flat(seed.id))}"
            yield from _nodes(answer.matches)
        case ViewExpanded() | SubgraphMerged():
            yield from _nodes(answer.nodes)
        case ContextLinearized():
            yield answer.text
            yield _dim(f"{answer.line_count} lines, {answer.tokens} tokens, {answer.left_out} left out")
    if isinstance(answer, ViewExpanded):
        for chain in answer.chains:
            yield _dim(f"chain {' -> '.join(map(flat, chain))}")


def _nodes(nodes: Sequence[ViewNode]) -> Iterator[str]:
    for number, node in enumerate(nodes, start=1):
        words = flat(node.name or node.text)
        shown = words if len(words) <= LINE_CHARACTERS else words[: LINE_CHARACTERS - 1] + "…"
        views = f"  {' + '.join(node.views)}" if node.views else ""
        kind = click.style(f"[{flat(node.kind)}]", fg="cyan")
        yield f"{number:2}. {node.score:.3f}  {kind} {shown}{_dim(views)}{flag(node.flags)}"
        yield _dim(f"    {flat(node.id)}  {flat(node.citation)}  {node.valid_from[:10]}")
        if node.depth:
            yield _dim(f"    {flat(node.path)}")


def _dim(text: str) -> str:
    return click.style(text, dim=True)


def viewed_lines(answer: Viewed) -> None:
    """What a view of the graph found."""
    for line in view_lines(answer):
        click.echo(line)
    notes_below(answer.notes)
