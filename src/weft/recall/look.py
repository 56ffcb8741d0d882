"""Looking up nodes: the latest, or one with its history."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta, Struct

from weft.context.wording import happened_at
from weft.core.clock import MIN_INSTANT_US
from weft.core.errors import NotFound
from weft.core.kinds import DERIVED_FROM, UNSEARCHED_KINDS
from weft.core.types import MAX_LIMIT, NOW, Find, Neighbour, NodeVersion, When
from weft.recall.answer_limits import bounded
from weft.recall.chosen_fields import Fields, narrowed
from weft.recall.receipts import KIND as RECEIPT
from weft.recall.show_values import NodeShown, flagged, show_nodes
from weft.recall.what_became import reason_of, taken_back
from weft.retrieval.citations.document_parts import beside
from weft.retrieval.citations.resolve import resolve
from weft.runtime.call_context import CallContext
from weft.runtime.fields import KindNames, Limit, Moment
from weft.runtime.moments import read_when
from weft.runtime.operation import Operation
from weft.text.injection import remark
from weft.writing.checks.provenance import PRODUCED, TASK, status_of

LAST_WRITTEN = 500
MAX_PASSED_OVER = 10_000
MOST_SLOTS = 20  # of facts, whose former values are read
MOST_OF_SLOT = 50


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


def recent(ctx: CallContext, given: Recent) -> NodeList:
    """Shows the latest memories, newest first, by when they happened."""
    projects = None if given.everywhere else (ctx.settings.project, None)
    found = _latest(ctx, Find(kinds=given.kinds, projects=projects), given.limit)
    where = "any project" if given.everywhere else f"project {ctx.settings.project}"
    notes = () if found else (f"nothing yet in {where}: `weft remember` begins",)
    shown = show_nodes(ctx, found)
    nodes, skipped = narrowed(shown, given.fields)
    return bounded(NodeList(nodes=nodes, notes=(*notes, *skipped, *flagged(shown))), "nodes")


def _backstage(node: NodeVersion) -> bool:
    """Whether it is an internal record, or only extracted from another node."""
    return node.kind in UNSEARCHED_KINDS or DERIVED_FROM in node.props


def _latest(ctx: CallContext, find: Find, limit: int) -> tuple[NodeVersion, ...]:
    """The latest that match, by when they happened. Records of weft's own are skipped unless their kind is asked for.

    Those written down long ago are read only where the last ones do not suffice.
    """
    kept: list[NodeVersion] = []
    for reach in (max(LAST_WRITTEN, 10 * limit), MAX_PASSED_OVER):
        nodes = ctx.store.find(ctx.viewer, When(), find, limit=reach).nodes
        kept = [node for node in nodes if find.kinds or not _backstage(node)]
        if len(kept) >= limit or len(nodes) < reach:
            break
    return tuple(sorted(kept, key=happened_at, reverse=True)[:limit])


class Show(Struct, frozen=True, kw_only=True):
    """Input of `show`."""

    id: Annotated[str, Meta(min_length=1, max_length=1024, description="a node's id, its name, or a citation")]
    as_of: Annotated[Moment | None, Meta(description="as it was true then")] = None
    known_at: Annotated[Moment | None, Meta(description="as weft knew it then")] = None


class RelationShown(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A relation of the node; with the `project` of the other node if that is another one."""

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


class NodeDetails(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A node, its relations, all its versions, and the tasks that made it, in order.

    `reason` is why the present version was written, or why the node was withdrawn. `earlier` are the former values of
    its facts, or of the fact that it is. Of a chunk of a document, `previous` and `next` are the ids of its neighbours.
    """

    node: NodeShown | None
    edges: tuple[RelationShown, ...]
    history: tuple[NodeShown, ...]
    reason: str = ""
    earlier: tuple[NodeShown, ...] = ()
    made_by: tuple[MadeBy, ...] = ()
    previous: str = ""
    next: str = ""
    notes: tuple[str, ...] = ()


def show(ctx: CallContext, given: Show) -> NodeDetails:
    """Shows one node: its words, when it held, its relations, and its history."""
    when = ctx.store.pin(ctx.viewer, read_when(ctx, as_of=given.as_of, known_at=given.known_at))
    node_id = resolve(ctx, given.id, when)
    current = ctx.store.nodes(ctx.viewer, when, [node_id])
    history = ctx.store.history(ctx.viewer, node_id, limit=MAX_LIMIT)
    if not history:
        raise NotFound(
            f"there is no node {given.id[:80]!r} that you may see", hint="`weft recall` finds nodes by their words"
        )
    steps = ctx.store.neighbours(ctx.viewer, when, [node_id], limit=MAX_LIMIT)
    edges = tuple(_edge(ctx, node_id, step) for step in steps)
    notes: tuple[str, ...] = () if current else ("it does not hold at that time; its history is below",)
    if history[0].kind == RECEIPT:
        notes += (f"it is a receipt: `weft answer {node_id}` prints the answer that it keeps",)
    versions = show_nodes(ctx, history)
    before, after = beside(ctx, current[0], when) if current else ("", "")
    return NodeDetails(
        node=show_nodes(ctx, current)[0] if current else None,
        edges=edges,
        history=versions,
        earlier=show_nodes(ctx, _earlier(ctx, [*current, *(step.node for step in steps)], node_id, when)),
        made_by=_made_by(ctx, node_id),
        reason=_reason(ctx, current, history),
        previous=before,
        next=after,
        notes=(*notes, *remark([(node_id, [flag for each in versions for flag in each.flags])])),
    )


def _reason(ctx: CallContext, current: Sequence[NodeVersion], history: Sequence[NodeVersion]) -> str:
    if not current and all(each.retired_at is not None for each in history):
        return taken_back(ctx, history).reason
    return reason_of(ctx, current[0]) if current and len(history) > 1 else ""


def _earlier(ctx: CallContext, nodes: Sequence[NodeVersion], own: str, when: When) -> tuple[NodeVersion, ...]:
    """Earlier versions of these facts, latest first."""
    slots = dict.fromkeys(node.slot for node in nodes if node.kind == "Fact")
    found = [
        each
        for slot in list(slots)[:MOST_SLOTS]
        for each in ctx.store.current_in_slot(ctx.viewer, slot, after=MIN_INSTANT_US, limit=MOST_OF_SLOT)
        if each.id != own and each.interval.valid_to is not None and each.interval.valid_to <= (when.valid_at or 0)
    ]
    return tuple(sorted(found, key=lambda each: each.interval.valid_from, reverse=True))


def _edge(ctx: CallContext, node_id: str, step: Neighbour) -> RelationShown:
    node, text = step.node, step.node.text[:80]
    text = node.summary or text if node.kind == "Chunk" else text  # the headings above it
    return RelationShown(
        direction="out" if step.edge.src == node_id else "in",
        rel=step.edge.rel,
        id=node.id,
        kind=node.kind,
        name=text or node.name if node.kind == "Fact" else node.name or text,  # a fact's name is without its value
        project=node.guard.project if node.guard.project != ctx.settings.project else None,
    )


def _made_by(ctx: CallContext, node_id: str) -> tuple[MadeBy, ...]:
    """The producing task, as known now, whatever time is asked about."""
    edges = ctx.store.edges(ctx.viewer, NOW, node_id, rel=PRODUCED, direction="in", before=None, limit=MAX_LIMIT)
    ids = list(dict.fromkeys(edge.src for edge in reversed(edges)))
    return tuple(
        MadeBy(
            id=node.id,
            kind=node.kind,
            name=node.name or node.text[:80],
            status=status_of(node) if node.kind == TASK else "",
        )
        for node in ctx.store.nodes(ctx.viewer, NOW, ids)
    )


OPERATIONS = (
    Operation(
        name="recent",
        summary="show the latest memories",
        input=Recent,
        output=NodeList,
        effect="read",
        toolset="memory",
        run=recent,
    ),
    Operation(
        name="show",
        summary="show one node, its relations, and its history",
        input=Show,
        output=NodeDetails,
        effect="read",
        toolset="memory",
        run=show,
        arguments=("id",),
        priorities={"edges": "high", "made_by": "medium", "history": "low"},
    ),
)
