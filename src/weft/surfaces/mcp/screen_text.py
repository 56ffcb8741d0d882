"""How a screened message reads to a model: the verdict, and of the message no words but quoted ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft.surfaces.mcp.words import Rendered, block, facts, line, said

if TYPE_CHECKING:
    from weft.operations.screening import Screened


def screened(answer: Screened) -> Rendered:
    """The verdict with its reasons, what the message is after, and what to search with."""
    steers = "It tries to steer the agent." if answer.injection else ""
    blocks = "It is not to be blocked or changed: this is advice." if answer.advisory else ""
    about = facts(answer.intent, f"language {answer.language}", answer.complexity, f"read by {answer.source}")
    reasons = [f"! {each.category}: {line(each.reason)}: {said(each.words)}" for each in answer.reasons]
    query = f"query:\n{block(answer.query)}" if answer.query else ""
    return Rendered(
        summary=" ".join(filter(None, (f"{answer.verdict} on channel {answer.channel}.", steers, blocks))),
        blocks=tuple(filter(None, (about, "\n".join(reasons), query))),
    )
