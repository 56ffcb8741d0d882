"""The briefing that a conversation left, as it may be told now: whose it is, and what of it still has its source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from weft.context.briefing import PARTS, Briefing, Statement
from weft.errors import Forbidden, Invalid, NotFound
from weft.log.citation import EventCitation, parse_citation
from weft.loom import Loom
from weft.operations.citing import Cite, cite
from weft.operations.reading import event_of
from weft.operations.rights import write_guard
from weft.operations.scoping import write_scope
from weft.operations.stamping import conversation_key, conversation_named
from weft.types import NOW, Guard, NodeVersion, When

BRIEFING: Final = "Briefing"
MAX_SOURCES: Final = 3  # of one citation of a file: the events that told its lines


class Left(Struct, frozen=True, kw_only=True):
    """A briefing: its node without statements whose source is gone, its citation, and who wrote it."""

    node: NodeVersion
    citation: str
    by: str
    notes: tuple[str, ...] = ()


def briefing_id(conversation: str) -> str:
    """The id of the briefing of a conversation."""
    return f"{conversation}:briefing"


def left_by(loom: Loom, session: str, when: When = NOW) -> Left | None:
    """The briefing of a conversation, by its name in this project or by its id; None if there is none to see.

    One that has other rights than its conversation was not written in it, and is not told. For a conversation that was
    never recorded, it must have the rights that this caller writes with.
    """
    key = conversation_key(loom, session)
    found = loom.store.nodes(loom.viewer, when, [briefing_id(key)])
    node = next((each for each in found if each.kind == BRIEFING), None)
    if node is None or node.guard != _guard(loom, key):
        return None
    briefing, gone = _standing(loom, read_kept(node.props))
    if not briefing.count:
        return None
    citation = loom.store.citations(loom.viewer, [node.event]).get(node.event, "")
    if gone:
        lines = "1 statement is" if gone == 1 else f"{gone} statements are"
        kept = {name: value for name, value in node.props.items() if name not in PARTS}
        node = replace(node, text=briefing.text(), props={**kept, **briefing.props()})
        notes: tuple[str, ...] = (f"{lines} left out of the briefing: what was cited is gone, or not yours to see",)
    else:
        notes = ()
    return Left(node=node, citation=citation, by=_writer(loom, citation), notes=notes)


def briefing_of(loom: Loom, session: str) -> NodeVersion | None:
    """The newest briefing of a conversation, as it may be told now; None if there is none to see."""
    found = left_by(loom, session)
    return None if found is None else found.node


def default_guard(loom: Loom) -> Guard:
    """What this caller writes with, of a conversation that was never recorded."""
    project = write_scope(loom, project=None, focus=None, level="project").project
    return write_guard(loom, scope=None, agents=(), project=project)


def sources_of(loom: Loom, citation: str) -> tuple[str, ...] | None:
    """The events that a citation rests on, by their own citations; None where it points at nothing to see.

    An event whose words were erased, and one whose hash is another, is nothing.
    """
    try:
        found = cite(loom, Cite(citation=citation))
    except (Forbidden, Invalid, NotFound):
        return None
    if found.event is not None:
        return (found.citation,) if found.matches else None
    return tuple(dict.fromkeys(node.source for node in found.nodes if node.source))[:MAX_SOURCES]


def read_kept(props: Mapping[str, Any]) -> Briefing:
    """A briefing from how it is kept."""
    return Briefing(parts={name: tuple(_statements(props.get(name))) for name in PARTS})


def _statements(held: Any) -> Sequence[Statement]:
    said = [each for each in held if isinstance(each, Mapping)] if isinstance(held, list | tuple) else []
    return [
        Statement(text=str(each.get("text", "")), citations=tuple(map(str, each.get("citations", ())))) for each in said
    ]


def _standing(loom: Loom, briefing: Briefing) -> tuple[Briefing, int]:
    """The briefing without the statements of which a source is gone, and how many those are."""
    gone = {each for each in briefing.citations if sources_of(loom, each) is None}
    parts = {
        name: tuple(said for said in part if gone.isdisjoint(said.citations)) for name, part in briefing.parts.items()
    }
    kept = Briefing(parts=parts)
    return kept, briefing.count - kept.count


def _guard(loom: Loom, key: str) -> Guard:
    known = conversation_named(loom, key)
    return default_guard(loom) if known is None else known.guard


def _writer(loom: Loom, citation: str) -> str:
    """The agent that wrote it; nothing where that is not to be seen."""
    read = parse_citation(citation) if citation else None
    event = event_of(loom, read) if isinstance(read, EventCitation) else None
    return "" if event is None else event.actor.agent
