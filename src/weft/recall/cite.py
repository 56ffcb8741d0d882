"""Resolving a citation: the event and the nodes it recorded, or lines of a file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from weft.core.clock import to_iso
from weft.core.errors import Invalid, NotFound
from weft.core.types import MAX_LIMIT, Event, NodeVersion, RewriteRecord
from weft.documents.keep.earlier_lines import deleted_note, said_earlier
from weft.documents.keep.file_now import compared
from weft.graph.folds import moves_of
from weft.graph.moves import PutNode
from weft.log.chain import header_hash, payload_digest
from weft.log.citation import EventCitation, FileCitation, parse_citation
from weft.recall.show_values import EventShown, NodeShown, flagged, show_events, show_nodes
from weft.recall.what_became import Since, since_then
from weft.retrieval.citations.cited_lines import cited_lines
from weft.retrieval.citations.resolve import event_of
from weft.retrieval.sources.subscriptions import as_subscriber, fits_a_topic
from weft.runtime.call_context import CallContext
from weft.runtime.fields import Moment
from weft.runtime.moments import read_when
from weft.runtime.operation import Operation

FOLLOWED = "you see it by a topic that you follow: only the matching nodes of the event are shown"


class Cite(Struct, frozen=True, kw_only=True):
    """Input of `cite`."""

    citation: Annotated[
        str,
        Meta(min_length=1, max_length=4096, description="weft://<session>/events/<seq>#<hash> or file://<path>:<line>"),
    ]
    as_of: Annotated[Moment | None, Meta(description="a file's lines as they were true then")] = None
    known_at: Annotated[Moment | None, Meta(description="a file's lines as weft knew them then")] = None


class Cited(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The target of a citation, whether it still matches; `now_at` is the present place of the lines.

    `since` says of nodes that were corrected later, or are over, by what and why. The event still says what it said.
    """

    citation: str
    matches: bool
    event: EventShown | None = None
    nodes: tuple[NodeShown, ...] = ()
    since: tuple[Since, ...] = ()
    lines: tuple[str, ...] = ()
    now_at: str = ""
    notes: tuple[str, ...] = ()


def cite(ctx: CallContext, given: Cite) -> Cited:
    """Prints the target of a citation: the event and the nodes it recorded, or the lines of the file.

    If the file changed since it was ingested, these are the lines as they were then, and their present place. A
    citation of a line has no time: give `known_at`, or read the note if the line was different in one of the last
    versions.
    """
    citation = parse_citation(given.citation)
    if isinstance(citation, EventCitation):
        if given.as_of is not None or given.known_at is not None:
            raise Invalid("an event never changes", hint="as_of and known_at are for citations of a file's lines")
        return _cite_event(ctx, given.citation.strip(), citation)
    return _cite_file(ctx, given, citation)


def _cite_event(ctx: CallContext, written: str, citation: EventCitation) -> Cited:
    event = event_of(ctx, citation)
    if event is None:
        return _cite_followed(ctx, written, citation)
    nodes = ctx.store.asserted_by(ctx.viewer, event.pos, limit=MAX_LIMIT)
    if event.kind == "memory.remembered":  # the memory itself is recorded after the nodes it names, and shown first
        nodes = (*nodes[-1:], *nodes[:-1])
    notes = _doubts(ctx, citation, event, nodes)
    (told,), shown = show_events(ctx, [event]), show_nodes(ctx, nodes)
    replaced = _replaced(ctx, event)
    return Cited(
        citation=event.citation,
        matches=not notes,
        event=told,
        nodes=shown,
        since=since_then(ctx, event, nodes),
        notes=(*notes, *replaced, *flagged(shown)),
    )


def _cite_followed(ctx: CallContext, written: str, citation: EventCitation) -> Cited:
    """The nodes of the event that a followed topic brings, without its payload."""
    follower = as_subscriber(ctx)
    event = event_of(follower, citation)
    made = ctx.store.asserted_by(follower.viewer, event.pos, limit=MAX_LIMIT) if event is not None else ()
    nodes = [node for node in made if fits_a_topic(ctx, node)]
    if event is None or not nodes:
        raise NotFound(f"{written} points at nothing that you may see", hint="`weft log show` lists events")
    notes = _doubts(ctx, citation, event, nodes)
    (told,) = show_events(ctx, [event])
    told = replace(told, payload=None)
    shown = show_nodes(follower, nodes)
    notes_told = (*notes, FOLLOWED, *flagged(shown))
    return Cited(citation=event.citation, matches=not notes, event=told, nodes=shown, notes=notes_told)


def _doubts(ctx: CallContext, citation: EventCitation, event: Event, nodes: Sequence[NodeVersion]) -> tuple[str, ...]:
    """Reasons why this is not what was cited: hashes are computed again, words compared with the log."""
    found = []
    if citation.prefix is not None and not event.hash.hex().startswith(citation.prefix):
        found.append(f"the hash does not match: the event is {event.citation}")
    told = ctx.store.rewriting(ctx.viewer, event) if event.rewritten else None
    if told is not None and told.why == "erased":
        found.append(f"its words were erased, all or in part{_when(ctx, told)}")
    payload_sound = payload_digest(event.salt or b"", event.payload or b"").hex() == (
        event.payload_hash.hex() if told is None else told.payload_hash
    )
    if not payload_sound or header_hash(event) != event.hash:
        found.append("the event was changed after it was recorded: run `weft log verify`")
    moves = moves_of(ctx.privacy.event(event)) if payload_sound else ()
    asserted = {move.id: move.text for move in moves if isinstance(move, PutNode)}
    if any(node.id in asserted and node.text != asserted[node.id] for node in nodes):
        found.append("the graph differs from the log: `weft rebuild` builds it again")
    return tuple(found)


def _when(ctx: CallContext, told: RewriteRecord) -> str:
    """When and by whom payloads were replaced, for internal callers."""
    return f", {to_iso(told.at)} by {told.actor.agent}" if ctx.viewer.audience == "internal" else ""


def _replaced(ctx: CallContext, event: Event) -> tuple[str, ...]:
    """Notes that the payload was legitimately replaced since it was recorded."""
    told = ctx.store.rewriting(ctx.viewer, event) if event.rewritten else None
    if told is None or told.why != "resealed":
        return ()
    return (f"its sealed words were sealed anew with another key{_when(ctx, told)}: the hash is of the first ones",)


def _cite_file(ctx: CallContext, given: Cite, citation: FileCitation) -> Cited:
    """The lines as ingested: the present lines of the file may never have been ingested."""
    written = given.citation.strip()
    when = ctx.store.pin(ctx.viewer, read_when(ctx, as_of=given.as_of, known_at=given.known_at))
    found = cited_lines(ctx, citation, when)
    then = given.as_of is not None or given.known_at is not None
    gone, first = ("", False) if then else deleted_note(ctx, citation, found)
    if first:
        return Cited(citation=written, matches=False, notes=(gone,))
    earlier = None if then else said_earlier(ctx, citation, found)
    if found is None and earlier is not None:
        shown = show_nodes(earlier.lines.ctx, earlier.lines.nodes)
        notes = (earlier.note, *flagged(shown))
        return Cited(
            citation=written,
            matches=False,
            nodes=shown,
            lines=earlier.lines.lines,
            now_at=earlier.now_at,
            notes=notes,
        )
    if found is None:
        raise NotFound(
            f"{written} points at nothing that was ingested in this project and that you may see",
            hint="`weft ingest` reads files",
        )
    now = compared(ctx, citation, found, when)
    shown = show_nodes(found.ctx, found.nodes)
    told = (gone, found.gap, "" if earlier is None else earlier.note, found.place, found.cut)
    notes = (*now.notes, *filter(None, told), *flagged(shown))
    return Cited(citation=written, matches=now.matches, nodes=shown, lines=now.lines, now_at=now.now_at, notes=notes)


OPERATIONS = (
    Operation(
        name="cite",
        summary="print the target of a citation, and whether it still matches",
        input=Cite,
        output=Cited,
        effect="read",
        toolset="core",
        run=cite,
        arguments=("citation",),
        eager=True,
        priorities={"matches": "required", "since": "required", "lines": "required"},
    ),
)
