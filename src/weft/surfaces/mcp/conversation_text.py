"""How conversations read to a model: lists of them, archiving, messages that come in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft.retrieval.views.ground import flat
from weft.surfaces.mcp.screen_text import screened
from weft.surfaces.mcp.words import QUOTED, Rendered, counted, facts, node_id, said

if TYPE_CHECKING:
    from weft.operations.archiving import SessionArchived
    from weft.operations.conversation_lists import ConversationShown, ConversationsShown
    from weft.operations.receiving import Received

_DONE = {"archived": "is archived", "brought_back": "is back in lists and searches", "unchanged": "stood so already"}
_KEPT = {
    "saved": "It is kept",
    "duplicate_skip": "It was kept already",
    "held": "It waits for a second message, and is kept with it",
    "turned_away": "It is turned away, and not kept",
}


def conversations(answer: ConversationsShown) -> Rendered:
    """One conversation a line, the latest first."""
    lines = "\n".join(map(_line, answer.conversations))
    of = f" of {answer.total:,}" if answer.total > len(answer.conversations) else ""
    what = counted(len(answer.conversations), "conversation")
    return Rendered(summary=f"{what}{of}, the latest first. {QUOTED}", blocks=(lines,) if lines else ())


def _line(shown: ConversationShown) -> str:
    return facts(
        node_id(shown.name),
        said(shown.title) if shown.title else "",
        counted(shown.turns, "turn"),
        f"{shown.first_at[:16]} to {shown.last_at[:16]}",
        "archived" if shown.archived else "",
    )


def archived(answer: SessionArchived) -> Rendered:
    """What became of it."""
    cited = f", as {flat(answer.citation)}" if answer.citation else ""
    return Rendered(summary=f"{node_id(answer.session)} {_DONE[answer.status]}{cited}.")


def received(answer: Received) -> Rendered:
    """What the message is, and where it is kept."""
    judged = screened(answer.screened)
    cited = f" as {flat(answer.turn.citation)}" if answer.turn is not None else ""
    where = f"{_KEPT[answer.status]} in {node_id(answer.session)}{cited}."
    return Rendered(summary=f"{judged.summary} {where}", blocks=judged.blocks)
