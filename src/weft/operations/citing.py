"""What a citation points at: an event and what it recorded, or lines of a file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from weft.errors import Invalid, NotFound
from weft.instants import to_iso
from weft.log.chain import header_hash, payload_digest
from weft.log.citation import EventCitation, FileCitation, parse_citation
from weft.loom import Loom
from weft.operations.earlier_lines import deleted_note, said_earlier
from weft.operations.fields import Moment
from weft.operations.file_lines import cited_lines
from weft.operations.file_now import compared
from weft.operations.moments import read_when
from weft.operations.reading import event_of
from weft.operations.registry import Operation
from weft.operations.showing import EventShown, NodeShown, flagged, show_events, show_nodes
from weft.projection.folds import moves_of
from weft.projection.moves import PutNode
from weft.retrieval.subscriptions import as_subscriber, fits_a_topic
from weft.types import MAX_LIMIT, Event, NodeVersion, Rewriting

FOLLOWED = "a topic that you follow brings it: what fits the topic is shown, and nothing else of the event"


class Cite(Struct, frozen=True, kw_only=True):
    """Input of `cite`."""

    citation: Annotated[
        str,
        Meta(min_length=1, max_length=4096, description="weft://<session>/events/<seq>#<hash> or file://<path>:<line>"),
    ]
    as_of: Annotated[Moment | None, Meta(description="a file's lines as they were true then")] = None
    known_at: Annotated[Moment | None, Meta(description="a file's lines as weft knew them then")] = None


class Cited(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a citation points at, and whether it still says what was cited; `now_at` is where a file says so now."""

    citation: str
    matches: bool
    event: EventShown | None = None
    nodes: tuple[NodeShown, ...] = ()
    lines: tuple[str, ...] = ()
    now_at: str = ""
    notes: tuple[str, ...] = ()


def cite(loom: Loom, given: Cite) -> Cited:
    """Prints what a citation points at: the event and what it recorded, or the lines of the file.

    Of a file that changed since it was ingested these are its lines as they were then, and where they stand now. A
    citation of a line does not say when it was taken: `known_at` does, and without it a note tells if the line said
    something else in one of the last versions that were read.
    """
    citation = parse_citation(given.citation)
    if isinstance(citation, EventCitation):
        if given.as_of is not None or given.known_at is not None:
            raise Invalid("an event never changes", hint="as_of and known_at are for citations of a file's lines")
        return _cite_event(loom, given.citation.strip(), citation)
    return _cite_file(loom, given, citation)


def _cite_event(loom: Loom, written: str, citation: EventCitation) -> Cited:
    event = event_of(loom, citation)
    if event is None:
        return _cite_followed(loom, written, citation)
    nodes = loom.store.asserted_by(loom.viewer, event.pos, limit=MAX_LIMIT)
    if event.kind == "memory.remembered":  # the memory itself is told last, after what it names: here it comes first
        nodes = (*nodes[-1:], *nodes[:-1])
    notes = _doubts(loom, citation, event, nodes)
    (told,), shown = show_events(loom, [event]), show_nodes(loom, nodes)
    replaced = _replaced(loom, event)
    return Cited(
        citation=event.citation,
        matches=not notes,
        event=told,
        nodes=shown,
        notes=(*notes, *replaced, *flagged(shown)),
    )


def _cite_followed(loom: Loom, written: str, citation: EventCitation) -> Cited:
    """What the event made and a followed topic brings, and nothing else of it: not even its payload."""
    follower = as_subscriber(loom)
    event = event_of(follower, citation)
    made = loom.store.asserted_by(follower.viewer, event.pos, limit=MAX_LIMIT) if event is not None else ()
    nodes = [node for node in made if fits_a_topic(loom, node)]
    if event is None or not nodes:
        raise NotFound(f"{written} points at nothing that you may see", hint="`weft log show` lists events")
    notes = _doubts(loom, citation, event, nodes)
    (told,) = show_events(loom, [event])
    told = replace(told, payload=None)
    shown = show_nodes(follower, nodes)
    notes_told = (*notes, FOLLOWED, *flagged(shown))
    return Cited(citation=event.citation, matches=not notes, event=told, nodes=shown, notes=notes_told)


def _doubts(loom: Loom, citation: EventCitation, event: Event, nodes: Sequence[NodeVersion]) -> tuple[str, ...]:
    """What speaks against this being what was cited: hashes are worked out again, words compared with the log's."""
    found = []
    if citation.prefix is not None and not event.hash.hex().startswith(citation.prefix):
        found.append(f"the hash does not match: the event is {event.citation}")
    told = loom.store.rewriting(loom.viewer, event) if event.rewritten else None
    if told is not None and told.why == "erased":
        found.append(f"what it said was erased, all or in part{_when(loom, told)}")
    payload_sound = payload_digest(event.salt or b"", event.payload or b"").hex() == (
        event.payload_hash.hex() if told is None else told.payload_hash
    )
    if not payload_sound or header_hash(event) != event.hash:
        found.append("the event was changed after it was sealed: `weft log verify` says more")
    moves = moves_of(loom.screen.event(event)) if payload_sound else ()
    asserted = {move.id: move.text for move in moves if isinstance(move, PutNode)}
    if any(node.id in asserted and node.text != asserted[node.id] for node in nodes):
        found.append("the graph says something else than the log: `weft rebuild` makes it again")
    return tuple(found)


def _when(loom: Loom, told: Rewriting) -> str:
    """When and by whom payloads were replaced, for those who may know what happens inside."""
    return f", {to_iso(told.at)} by {told.actor.agent}" if loom.viewer.audience == "internal" else ""


def _replaced(loom: Loom, event: Event) -> tuple[str, ...]:
    """That the payload is not the one that was sealed first, though nothing speaks against it."""
    told = loom.store.rewriting(loom.viewer, event) if event.rewritten else None
    if told is None or told.why != "resealed":
        return ()
    return (f"its sealed words were sealed anew with another key{_when(loom, told)}: the hash is of the first ones",)


def _cite_file(loom: Loom, given: Cite, citation: FileCitation) -> Cited:
    """The lines as they were ingested: where the file says something else now, that may never have been ingested."""
    written = given.citation.strip()
    when = loom.store.pin(loom.viewer, read_when(loom, as_of=given.as_of, known_at=given.known_at))
    found = cited_lines(loom, citation, when)
    then = given.as_of is not None or given.known_at is not None
    gone, first = ("", False) if then else deleted_note(loom, citation, found)
    if first:
        return Cited(citation=written, matches=False, notes=(gone,))
    earlier = None if then else said_earlier(loom, citation, found)
    if found is None and earlier is not None:
        shown = show_nodes(earlier.lines.loom, earlier.lines.nodes)
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
    now = compared(loom, citation, found, when)
    shown = show_nodes(found.loom, found.nodes)
    told = (gone, found.gap, "" if earlier is None else earlier.note, found.place, found.cut)
    notes = (*now.notes, *filter(None, told), *flagged(shown))
    return Cited(citation=written, matches=now.matches, nodes=shown, lines=now.lines, now_at=now.now_at, notes=notes)


OPERATIONS = (
    Operation(
        name="cite",
        summary="print what a citation points at, and whether it still matches",
        input=Cite,
        output=Cited,
        effect="read",
        toolset="core",
        run=cite,
        arguments=("citation",),
        eager=True,
        priorities={"matches": "required", "lines": "required"},
    ),
)
