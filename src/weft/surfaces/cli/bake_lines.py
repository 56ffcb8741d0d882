"""How baked knowledge looks on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from weft.surfaces.cli.lines import all_lines, counted, dim, notes_below, one_line

if TYPE_CHECKING:
    from weft.operations.baking import AgentKnowledge, Baked


def baked_lines(answer: Baked) -> None:
    """The files of each agent, and what is not in them."""
    for agent in answer.agents:
        total = counted(agent.memories, "memory", "memories")
        click.echo(f"{agent.slug}: {total}, {agent.tagged} tagged for it, {agent.by_topic} by its topics")
        click.echo(dim(f"    {agent.full}"))
        click.echo(dim(f"    {agent.summary}  summed up by {agent.summed_up_by}"))
        if agent.left_out:
            click.echo(f"    {agent.left_out} had no room: --max-tokens makes more")
        if agent.left:
            told = ", ".join(f"{count} {one_line(why)}" for why, count in agent.left.items())
            click.echo(f"    not baked: {told}")
        for note in agent.notes:
            click.echo(dim(f"    {one_line(note)}"))
    notes_below(answer.notes)


def knowledge_lines(answer: AgentKnowledge) -> None:
    """The text as it is, and below it where it came from."""
    click.echo(all_lines(answer.text))
    live = "" if answer.live_memory else ", without live memory"
    click.echo(
        dim(f"{answer.slug}{live}: {answer.used}, baked {answer.baked_at[:16].replace('T', ' ')}, {answer.file}")
    )
    notes_below(answer.notes)
