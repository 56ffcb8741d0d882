"""How checkouts and assembled contexts read to a model: the prompt itself, and in a sentence how far to trust it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft.surfaces.mcp.words import Rendered, counted, line

if TYPE_CHECKING:
    from weft.operations.assembling import Assembled
    from weft.operations.checking_out import Checkout
    from weft.operations.previous import PreviousContext


def checkout(answer: Checkout) -> Rendered:
    """The prompt; with diagnostics what was left out and why."""
    shown = answer.counts.get("shown", 0)
    quality = answer.quality
    if not answer.counts:
        return Rendered(summary="Checked out.", blocks=(answer.prompt,))
    if not shown:
        return Rendered(summary="Nothing is known of this.")
    missing = f", none on {', '.join(map(line, quality.missing))}" if quality.missing else ""
    trust = (
        f" Evidence {quality.evidence}{missing}."
        if quality.evidence != "none"
        else " Nothing answers the question itself."
    )
    blocks = [answer.prompt]
    applied = answer.diagnostics
    if applied is not None and applied.stages:
        policy = applied.policy
        said = [
            f"purpose {policy.purpose}: {policy.candidates} candidates, scored for {policy.scoring}",
            f"emphasis: {', '.join(map(line, policy.emphasis))}" if policy.emphasis else "",
            *map(line, policy.effects),
            f"left out: {', '.join(f'{number} {line(why)}' for why, number in applied.suppressed.items())}"
            if applied.suppressed
            else "",
        ]
        blocks.append("\n".join(filter(None, said)))
    return Rendered(summary=f"{counted(shown, 'line')} to begin with.{trust}", blocks=tuple(blocks))


def assembled(answer: Assembled) -> Rendered:
    """The block."""
    if not answer.context:
        return Rendered(summary="Nothing happened yet, and nothing is recalled.")
    cut = " (its end)" if answer.truncated else ""
    summary = f"{counted(answer.replayed, 'line')} of replay{cut}, {answer.recalled} recalled."
    return Rendered(summary=summary, blocks=(answer.context,))


def previous(answer: PreviousContext) -> Rendered:
    """The block."""
    if not answer.context:
        return Rendered(summary="There is no digest, no open task and no alert.")
    tasks, alerts = counted(answer.open_tasks, "open task"), counted(len(answer.alerts), "alert")
    return Rendered(summary=f"{tasks}, {alerts}.", blocks=(answer.context,))
