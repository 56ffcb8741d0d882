"""Resolution of ids, citations and names to nodes or events."""

from __future__ import annotations

from weft.core.errors import Invalid
from weft.core.kinds import MENTION
from weft.core.types import MAX_LIMIT, Event, Find, When
from weft.log.citation import EventCitation, FileCitation, parse_citation
from weft.retrieval.citations.cited_lines import node_at
from weft.retrieval.judging.derived import without_descriptions
from weft.runtime.call_context import CallContext


def resolve(ctx: CallContext, written: str, when: When) -> str:
    """A node's id from an id, a citation, the path of a document, or a name that only one node has."""
    if written.startswith(("weft://", "file://")):
        citation = parse_citation(written)
        if isinstance(citation, FileCitation):
            return node_at(ctx, citation) or written
        nodes = ctx.store.asserted_by(ctx.viewer, _event_pos(ctx, citation), limit=MAX_LIMIT)
        if nodes:
            return nodes[-1].id
    if ctx.store.history(ctx.viewer, written, limit=1):
        return written
    document = f"{ctx.settings.project}/{written}"
    if ctx.store.history(ctx.viewer, document, limit=1):
        return document
    here = Find(names=(written,), projects=(ctx.settings.project, None))
    found = ctx.store.find(ctx.viewer, when, here, limit=MAX_LIMIT).nodes
    found = found or ctx.store.find(ctx.viewer, when, Find(names=(written,)), limit=MAX_LIMIT).nodes
    found = without_descriptions(tuple(node for node in found if node.kind != MENTION) or found)
    ids = tuple(dict.fromkeys(node.id for node in found))
    if len(ids) > 1:
        raise Invalid(f"{written[:80]!r} names {len(ids)} nodes", hint=f"give an id: {', '.join(ids[:5])}")
    return ids[0] if ids else written


def _event_pos(ctx: CallContext, citation: EventCitation) -> int:
    event = event_of(ctx, citation)
    return 0 if event is None else event.pos


def event_of(ctx: CallContext, citation: EventCitation) -> Event | None:
    """The event that a citation names, if the viewer may see it."""
    found = ctx.store.events(ctx.viewer, session=citation.session, after_seq=citation.seq - 1, limit=1)
    return found[0] if found and found[0].seq == citation.seq else None
