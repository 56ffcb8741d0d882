"""Looking at what is there: the latest, one node with its history, one citation."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from weft.code.languages import language_of
from weft.errors import Invalid, NotFound
from weft.extract.sections import split_lines
from weft.gateway import remark
from weft.instants import to_iso
from weft.kinds import MENTION, UNSEARCHED_KINDS
from weft.log.chain import header_hash, payload_digest
from weft.log.citation import EventCitation, FileCitation, parse_citation
from weft.loom import Loom
from weft.operations.code_records import SYMBOL_KINDS, file_id, spans_of, symbol_prefix
from weft.operations.fields import KindNames, Limit, Moment
from weft.operations.moments import read_when
from weft.operations.receipts import KIND as RECEIPT
from weft.operations.registry import Operation
from weft.operations.showing import EventShown, NodeShown, flagged, show_events, show_nodes
from weft.operations.stamping import PRODUCED, TASK, status_of
from weft.projection.folds import moves_of
from weft.projection.moves import PutNode
from weft.retrieval.derived import DERIVED_FROM, without_descriptions
from weft.retrieval.subscriptions import as_subscriber, fits_a_topic
from weft.types import MAX_LIMIT, NOW, Event, Find, Neighbour, NodeVersion, Rewriting, When

MAX_CITED_BYTES = 10_000_000
MAX_CITED_LINES = 200
MAX_SECTIONS = 10_000
MAX_PASSED_OVER = 10_000
FOLLOWED = "a topic that you follow brings it: what fits the topic is shown, and nothing else of the event"


class Recent(Struct, frozen=True, kw_only=True):
    """Input of `recent`."""

    limit: Limit = 10
    kinds: KindNames | None = None
    everywhere: Annotated[bool, Meta(description="from every project")] = False


class NodeList(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Nodes, newest first."""

    nodes: tuple[NodeShown, ...]
    notes: tuple[str, ...] = ()


def recent(loom: Loom, given: Recent) -> NodeList:
    """Shows what was written last, newest first."""
    projects = None if given.everywhere else (loom.settings.project, None)
    found = _latest(loom, Find(kinds=given.kinds, projects=projects), given.limit)
    where = "any project" if given.everywhere else f"project {loom.settings.project}"
    notes = () if found else (f"nothing yet in {where}: `weft remember` begins",)
    shown = show_nodes(loom, found)
    return NodeList(nodes=shown, notes=(*notes, *flagged(shown)))


def _backstage(node: NodeVersion) -> bool:
    """Weft's own records, and what was only read out of something else."""
    return node.kind in UNSEARCHED_KINDS or DERIVED_FROM in node.props


def _latest(loom: Loom, find: Find, limit: int) -> tuple[NodeVersion, ...]:
    """The newest that fit. Records of weft's own working are passed over unless their kind is asked for."""
    kept: tuple[NodeVersion, ...] = ()
    for reach in (limit, 10 * limit, MAX_PASSED_OVER):
        nodes = loom.store.find(loom.viewer, When(), find, limit=reach).nodes
        kept = tuple(node for node in nodes if find.kinds or not _backstage(node))[:limit]
        if len(kept) == limit or len(nodes) < reach:
            break
    return kept


class Show(Struct, frozen=True, kw_only=True):
    """Input of `show`."""

    id: Annotated[str, Meta(min_length=1, max_length=1024, description="a node's id, its name, or a citation")]
    as_of: Annotated[Moment | None, Meta(description="as it was true then")] = None
    known_at: Annotated[Moment | None, Meta(description="as weft knew it then")] = None


class EdgeShown(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A relation from or to the node shown; its `project` where what it leads to is of another than this one."""

    direction: str
    rel: str
    id: str
    kind: str
    name: str
    project: str | None = None


class MadeBy(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The task that made a node, or a version of it; or the conversation in which that was done."""

    id: str
    kind: str
    name: str
    status: str = ""


class Shown(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A node, what it is joined to, every version of it, and the tasks that made it, in order."""

    node: NodeShown | None
    edges: tuple[EdgeShown, ...]
    history: tuple[NodeShown, ...]
    made_by: tuple[MadeBy, ...] = ()
    notes: tuple[str, ...] = ()


def show(loom: Loom, given: Show) -> Shown:
    """Shows one node: what it says, when it held, what it is joined to, and how it changed."""
    when = loom.store.pin(loom.viewer, read_when(loom, as_of=given.as_of, known_at=given.known_at))
    node_id = resolve(loom, given.id, when)
    current = loom.store.nodes(loom.viewer, when, [node_id])
    history = loom.store.history(loom.viewer, node_id, limit=MAX_LIMIT)
    if not history:
        raise NotFound(
            f"there is no node {given.id[:80]!r} that you may see", hint="`weft recall` finds nodes by their words"
        )
    steps = loom.store.neighbours(loom.viewer, when, [node_id], limit=MAX_LIMIT)
    edges = tuple(_edge(loom, node_id, step) for step in steps)
    notes: tuple[str, ...] = () if current else ("it does not hold at the moment asked about; its history is below",)
    if history[0].kind == RECEIPT:
        notes += (f"it is a receipt: `weft answer {node_id}` prints the answer that it keeps",)
    versions = show_nodes(loom, history)
    return Shown(
        node=show_nodes(loom, current)[0] if current else None,
        edges=edges,
        history=versions,
        made_by=_made_by(loom, node_id),
        notes=(*notes, *remark([(node_id, [flag for each in versions for flag in each.flags])])),
    )


def _edge(loom: Loom, node_id: str, step: Neighbour) -> EdgeShown:
    node, text = step.node, step.node.text[:80]
    return EdgeShown(
        direction="out" if step.edge.src == node_id else "in",
        rel=step.edge.rel,
        id=node.id,
        kind=node.kind,
        name=text or node.name if node.kind == "Fact" else node.name or text,  # a fact's name is without its value
        project=node.guard.project if node.guard.project != loom.settings.project else None,
    )


def _made_by(loom: Loom, node_id: str) -> tuple[MadeBy, ...]:
    """Whatever moment is asked about: where a node came from is known today."""
    edges = loom.store.edges(loom.viewer, NOW, node_id, rel=PRODUCED, direction="in", before=None, limit=MAX_LIMIT)
    ids = list(dict.fromkeys(edge.src for edge in reversed(edges)))
    return tuple(
        MadeBy(
            id=node.id,
            kind=node.kind,
            name=node.name or node.text[:80],
            status=status_of(node) if node.kind == TASK else "",
        )
        for node in loom.store.nodes(loom.viewer, NOW, ids)
    )


def resolve(loom: Loom, written: str, when: When) -> str:
    """A node's id from an id, a citation, or a name that only one node has."""
    if written.startswith("weft://"):
        citation = parse_citation(written)
        if isinstance(citation, EventCitation):
            nodes = loom.store.asserted_by(loom.viewer, _event_pos(loom, citation), limit=MAX_LIMIT)
            if nodes:
                return nodes[-1].id
    if loom.store.history(loom.viewer, written, limit=1):
        return written
    found = loom.store.find(loom.viewer, when, Find(names=(written,)), limit=MAX_LIMIT).nodes
    found = without_descriptions(tuple(node for node in found if node.kind != MENTION) or found)
    ids = tuple(dict.fromkeys(node.id for node in found))
    if len(ids) > 1:
        raise Invalid(f"{written[:80]!r} names {len(ids)} nodes", hint=f"give an id: {', '.join(ids[:5])}")
    return ids[0] if ids else written


def _event_pos(loom: Loom, citation: EventCitation) -> int:
    event = _event(loom, citation)
    return 0 if event is None else event.pos


class Cite(Struct, frozen=True, kw_only=True):
    """Input of `cite`."""

    citation: Annotated[
        str,
        Meta(min_length=1, max_length=4096, description="weft://<session>/events/<seq>#<hash> or file://<path>:<line>"),
    ]


class Cited(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a citation points at, and whether it still says what was cited."""

    citation: str
    matches: bool
    event: EventShown | None = None
    nodes: tuple[NodeShown, ...] = ()
    lines: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def cite(loom: Loom, given: Cite) -> Cited:
    """Prints what a citation points at: the event and what it recorded, or the lines of the file."""
    citation = parse_citation(given.citation)
    if isinstance(citation, EventCitation):
        return _cite_event(loom, given.citation.strip(), citation)
    return _cite_file(loom, given.citation.strip(), citation)


def _cite_event(loom: Loom, written: str, citation: EventCitation) -> Cited:
    event = _event(loom, citation)
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
    event = _event(follower, citation)
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


def _event(loom: Loom, citation: EventCitation) -> Event | None:
    found = loom.store.events(loom.viewer, session=citation.session, after_seq=citation.seq - 1, limit=1)
    return found[0] if found and found[0].seq == citation.seq else None


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


def _cite_file(loom: Loom, written: str, citation: FileCitation) -> Cited:
    around = [node for node in _nodes_of_file(loom, citation.path) if _covers(node, citation.line)]
    if not around and loom.settings.keywords:
        follower = as_subscriber(loom)
        covers = [node for node in _nodes_of_file(follower, citation.path) if _covers(node, citation.line)]
        around, loom = [node for node in covers if fits_a_topic(loom, node)], follower
    node = max(around, key=lambda node: (_holds(node, citation.line), int(node.props["line"])), default=None)
    if node is None:
        raise NotFound(
            f"{written} points at nothing that was ingested in this project and that you may see",
            hint="`weft ingest` reads files",
        )
    spans = spans_of(node.props)
    numbers = [number for first, last in spans for number in range(first, last + 1)]
    ingested = dict(zip(numbers, split_lines(node.text), strict=False))
    last = next((last for first, last in spans if first <= citation.line <= last), citation.line)
    end = min(citation.end_line or last, last, citation.line + MAX_CITED_LINES - 1)
    on_disk = _read_lines(loom.settings.root, citation.path)
    matches = on_disk is not None and [on_disk[number - 1 : number] for number in numbers] == [
        [line] for line in ingested.values()
    ]
    notes: tuple[str, ...] = ()
    if on_disk is None:
        notes += ("the file cannot be read or is gone; these are the lines as they were ingested",)
    elif not matches:
        day = to_iso(node.recorded_at)[:10]
        notes += (f"the file changed since it was ingested on {day}; these are the lines as they were then",)
    if end < (citation.end_line or last):
        notes += (
            f"cut after line {end}: the section ends at line {last}, and {MAX_CITED_LINES} lines are shown at most",
        )
    # Where the file still says the same, these are its lines; where it does not, it may say what was never ingested.
    lines = tuple(ingested[number] for number in range(citation.line, end + 1) if number in ingested)
    shown = show_nodes(loom, [node])
    return Cited(citation=written, matches=matches, nodes=shown, lines=lines, notes=(*notes, *flagged(shown)))


def _nodes_of_file(loom: Loom, path: str) -> tuple[NodeVersion, ...]:
    """The sections of a document; the symbols of a source file, and what stands outside them."""
    project = loom.settings.project
    if language_of(path) is None:
        find = Find(kinds=("Section",), id_prefix=f"{project}/{path}#")
        sections = loom.store.find(loom.viewer, When(), find, limit=MAX_SECTIONS).nodes
        return tuple(node for node in sections if node.props.get("source") == path)
    find = Find(kinds=SYMBOL_KINDS, id_prefix=symbol_prefix(project, path))
    symbols = loom.store.find(loom.viewer, When(), find, limit=MAX_SECTIONS).nodes
    files = loom.store.nodes(loom.viewer, When(), [file_id(project, path)])
    return tuple(node for node in (*files, *symbols) if node.props.get("source") == path)


def _holds(node: NodeVersion, line: int) -> bool:
    """The line is in the node's own text, not only between its ends: a class does not hold its methods."""
    return any(first <= line <= last for first, last in spans_of(node.props))


def _covers(node: NodeVersion, line: int) -> bool:
    return int(node.props.get("line", 0)) <= line <= int(node.props.get("end_line", 0))


def _read_lines(root: Path, path: str) -> list[str] | None:
    """The file's lines, or None if it cannot be read. Never reads outside the project's directory."""
    try:
        target = (root / path).resolve()
        if not target.is_relative_to(root.resolve()) or not target.is_file():
            return None
        with target.open("rb") as file:
            return split_lines(file.read(MAX_CITED_BYTES).decode("utf-8-sig", errors="replace"))
    except (OSError, RuntimeError):  # the answer says so in a note; a loop of links is a RuntimeError
        return None


OPERATIONS = (
    Operation(
        name="recent",
        summary="show what was written last",
        input=Recent,
        output=NodeList,
        effect="read",
        toolset="memory",
        run=recent,
    ),
    Operation(
        name="show",
        summary="show one node, what it is joined to, and its history",
        input=Show,
        output=Shown,
        effect="read",
        toolset="memory",
        run=show,
        arguments=("id",),
    ),
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
    ),
)
