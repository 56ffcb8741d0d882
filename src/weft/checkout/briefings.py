"""The briefing of a conversation, read back: its author, and its statements whose sources still exist."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from weft.context.briefing import PARTS, Briefing, BriefingStatement
from weft.core.errors import Forbidden, Invalid, NotFound
from weft.core.types import NOW, Guard, NodeVersion, When
from weft.log.citation import EventCitation, parse_citation
from weft.recall.cite import Cite, cite
from weft.retrieval.citations.resolve import event_of
from weft.runtime.call_context import CallContext
from weft.writing.checks.provenance import conversation_key, conversation_named
from weft.writing.checks.rights import write_guard
from weft.writing.checks.scope import write_scope

BRIEFING: Final = "Briefing"
MAX_SOURCES: Final = 3  # of one citation of a file: the events that recorded its lines


class SessionBriefing(Struct, frozen=True, kw_only=True):
    """A briefing: its node without statements whose source is gone, its citation, and its author."""

    node: NodeVersion
    citation: str
    by: str
    notes: tuple[str, ...] = ()


def briefing_id(conversation: str) -> str:
    """The id of the briefing of a conversation."""
    return f"{conversation}:briefing"


def left_by(ctx: CallContext, session: str, when: When = NOW) -> SessionBriefing | None:
    """The briefing of a conversation, by its name in this project or by its id; None if the caller may see none.

    A briefing with other rights than its conversation was not written in it, and is ignored. For a conversation that
    was never recorded, it must have the rights that this caller writes with.
    """
    key = conversation_key(ctx, session)
    found = ctx.store.nodes(ctx.viewer, when, [briefing_id(key)])
    node = next((each for each in found if each.kind == BRIEFING), None)
    if node is None or node.guard != _guard(ctx, key):
        return None
    briefing, gone = _standing(ctx, read_kept(node.props))
    if not briefing.count:
        return None
    citation = ctx.store.citations(ctx.viewer, [node.event]).get(node.event, "")
    if gone:
        lines = "1 statement is" if gone == 1 else f"{gone} statements are"
        kept = {name: value for name, value in node.props.items() if name not in PARTS}
        node = replace(node, text=briefing.text(), props={**kept, **briefing.props()})
        notes: tuple[str, ...] = (f"{lines} omitted from the briefing: their sources are gone or not visible",)
    else:
        notes = ()
    return SessionBriefing(node=node, citation=citation, by=_writer(ctx, citation), notes=notes)


def briefing_of(ctx: CallContext, session: str) -> NodeVersion | None:
    """The newest briefing of a conversation, without statements whose source is gone; None if there is none to see."""
    found = left_by(ctx, session)
    return None if found is None else found.node


def default_guard(ctx: CallContext) -> Guard:
    """The rights that this caller writes with, for a conversation that was never recorded."""
    project = write_scope(ctx, project=None, focus=None, level="project").project
    return write_guard(ctx, scope=None, agents=(), project=project)


def sources_of(ctx: CallContext, citation: str) -> tuple[str, ...] | None:
    """The events that a citation rests on, by their own citations; None where the caller can see none.

    An erased event, or one with another hash, does not count.
    """
    try:
        found = cite(ctx, Cite(citation=citation))
    except (Forbidden, Invalid, NotFound):
        return None
    if found.event is not None:
        return (found.citation,) if found.matches else None
    return tuple(dict.fromkeys(node.source for node in found.nodes if node.source))[:MAX_SOURCES]


def read_kept(props: Mapping[str, Any]) -> Briefing:
    """A briefing from how it is kept."""
    return Briefing(parts={name: tuple(_statements(props.get(name))) for name in PARTS})


def _statements(held: Any) -> Sequence[BriefingStatement]:
    said = [each for each in held if isinstance(each, Mapping)] if isinstance(held, list | tuple) else []
    return [
        BriefingStatement(text=str(each.get("text", "")), citations=tuple(map(str, each.get("citations", ()))))
        for each in said
    ]


def _standing(ctx: CallContext, briefing: Briefing) -> tuple[Briefing, int]:
    """The briefing without the statements of which a source is gone, and how many those are."""
    gone = {each for each in briefing.citations if sources_of(ctx, each) is None}
    parts = {
        name: tuple(said for said in part if gone.isdisjoint(said.citations)) for name, part in briefing.parts.items()
    }
    kept = Briefing(parts=parts)
    return kept, briefing.count - kept.count


def _guard(ctx: CallContext, key: str) -> Guard:
    known = conversation_named(ctx, key)
    return default_guard(ctx) if known is None else known.guard


def _writer(ctx: CallContext, citation: str) -> str:
    """The agent that wrote it; empty where the caller may not know."""
    read = parse_citation(citation) if citation else None
    event = event_of(ctx, read) if isinstance(read, EventCitation) else None
    return "" if event is None else event.actor.agent
