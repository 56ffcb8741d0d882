"""Looking at what is there: the latest, one node with its history, one citation."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from weft.errors import Invalid, NotFound
from weft.gateway import remark
from weft.kinds import MENTION, UNSEARCHED_KINDS
from weft.log.citation import EventCitation, FileCitation, parse_citation
from weft.loom import Loom
from weft.operations.bounds import bounded
from weft.operations.document_parts import beside
from weft.operations.fields import KindNames, Limit, Moment
from weft.operations.file_lines import node_at
from weft.operations.moments import read_when
from weft.operations.narrowing import Fields, narrowed
from weft.operations.receipts import KIND as RECEIPT
from weft.operations.registry import Operation
from weft.operations.showing import NodeShown, flagged, show_nodes
from weft.operations.stamping import PRODUCED, TASK, status_of
from weft.retrieval.derived import DERIVED_FROM, without_descriptions
from weft.types import MAX_LIMIT, NOW, Event, Find, Neighbour, NodeVersion, When

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
    fields: Fields = None


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
    nodes, skipped = narrowed(shown, given.fields)
    return bounded(NodeList(nodes=nodes, notes=(*notes, *skipped, *flagged(shown))), "nodes")


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
    """A node, what it is joined to, every version of it, and the tasks that made it, in order.

    Of a chunk of a document, `previous` and `next` are the ids of those that stand before and after it.
    """

    node: NodeShown | None
    edges: tuple[EdgeShown, ...]
    history: tuple[NodeShown, ...]
    made_by: tuple[MadeBy, ...] = ()
    previous: str = ""
    next: str = ""
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
    before, after = beside(loom, current[0], when) if current else ("", "")
    return Shown(
        node=show_nodes(loom, current)[0] if current else None,
        edges=edges,
        history=versions,
        made_by=_made_by(loom, node_id),
        previous=before,
        next=after,
        notes=(*notes, *remark([(node_id, [flag for each in versions for flag in each.flags])])),
    )


def _edge(loom: Loom, node_id: str, step: Neighbour) -> EdgeShown:
    node, text = step.node, step.node.text[:80]
    text = node.summary or text if node.kind == "Chunk" else text  # where it stands: the headings above it
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
    if written.startswith(("weft://", "file://")):
        citation = parse_citation(written)
        if isinstance(citation, FileCitation):
            return node_at(loom, citation) or written
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
    event = event_of(loom, citation)
    return 0 if event is None else event.pos


def event_of(loom: Loom, citation: EventCitation) -> Event | None:
    """The event that a citation names, if the viewer may see it."""
    found = loom.store.events(loom.viewer, session=citation.session, after_seq=citation.seq - 1, limit=1)
    return found[0] if found and found[0].seq == citation.seq else None


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
        priorities={"edges": "high", "made_by": "medium", "history": "low"},
    ),
)
