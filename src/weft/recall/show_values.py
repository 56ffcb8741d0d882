"""Values as answers show them: times as text, internal columns omitted, a citation for every line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from weft.core.clock import to_iso
from weft.core.errors import StoreError
from weft.core.kinds import ERASED, VIEWS, views_of
from weft.core.types import MAX_IDS_PER_READ, NOW, Event, NodeVersion, Tx, Viewer
from weft.graph.folds import moves_of
from weft.graph.moves import PutNode
from weft.log.canonical import decode
from weft.recall.receipts import KIND as RECEIPT
from weft.retrieval.citations.file_ids import line_citation
from weft.retrieval.pipeline import Answer
from weft.retrieval.sources.subscriptions import cited
from weft.runtime.call_context import CallContext
from weft.text.injection import flags_of, remark

BEGINNING_CHARACTERS = 100


class NodeShown(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A version of a node, with when it holds, since when weft knows, and its citation.

    `flags` name the kinds of instructions that its words look like (see docs/gateway.md).
    """

    id: str
    kind: str
    name: str
    text: str
    citation: str
    valid_from: str
    valid_to: str | None = None
    recorded_at: str = ""
    retired_at: str | None = None
    project: str | None = None
    scope: str = ""
    agents: tuple[str, ...] = ()
    sensitive: bool = False
    views: tuple[str, ...] = ()
    summary: str = ""
    props: dict[str, Any] = field(default_factory=dict)
    source: str | None = None
    flags: tuple[str, ...] = ()


class EventShown(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An event of the log."""

    citation: str
    pos: int
    kind: str
    agent: str
    role: str
    recorded_at: str
    payload: Any
    hash: str
    occurred_at: str | None = None
    known_at: str | None = None
    caused_by: tuple[str, ...] = ()
    task: str | None = None
    conversation: str | None = None
    request_id: str | None = None
    erased: bool = False
    erased_at: str | None = None
    erased_by: str | None = None


class TxShown(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One logical change."""

    id: str
    kind: str
    agent: str
    session: str
    at: str
    counts: dict[str, int]
    git_commit: str | None = None
    files: tuple[str, ...] = ()
    open: bool = False


def show_tx(tx: Tx) -> TxShown:
    """One logical change, with when it was made."""
    return TxShown(
        id=tx.id,
        kind=tx.kind,
        agent=tx.agent,
        session=tx.session,
        at=to_iso(tx.at),
        counts=dict(tx.counts),
        git_commit=tx.git_commit,
        files=tx.files,
        open=tx.closed_pos is None,
    )


def show_nodes(ctx: CallContext, nodes: Sequence[NodeVersion]) -> tuple[NodeShown, ...]:
    """Nodes with their citations."""
    citations = ctx.store.citations(ctx.viewer, [node.event for node in nodes])
    return tuple(show_node(node, citations) for node in nodes)


def show_cited(
    ctx: CallContext, nodes: Sequence[NodeVersion], answer: Answer | None = None
) -> tuple[tuple[NodeShown, ...], tuple[str, ...]]:
    """Nodes with their citations, and notes: on citations that cannot be read, and on flagged nodes.

    `answer` is the answer that they belong to, if any: one from the log brings citations along, and nodes of a followed
    topic may be cited.
    """
    citations: Mapping[int, str] = {} if answer is None else answer.citations
    notes: tuple[str, ...] = ()
    try:
        if answer is None or not answer.degraded:
            citations = cited(ctx, nodes, followed=frozenset() if answer is None else answer.followed)
    except StoreError as problem:
        notes = (f"citations could not be read: {problem.message}",)
    shown = tuple(show_node(node, citations) for node in nodes)
    return shown, (*notes, *flagged(shown))


def beginnings(ctx: CallContext, ids: Sequence[str]) -> dict[str, str]:
    """The titles and beginnings of the texts of current nodes, by id; nodes without words are left out."""
    nodes = [
        node
        for start in range(0, len(ids), MAX_IDS_PER_READ)
        for node in ctx.store.nodes(ctx.viewer, NOW, ids[start : start + MAX_IDS_PER_READ])
    ]
    said = {node.id: _beginning(node)[:BEGINNING_CHARACTERS] for node in nodes}
    return {node_id: words for node_id, words in said.items() if words}


def _beginning(node: NodeVersion) -> str:
    words = node.text or node.summary
    titled = node.name and node.kind not in VIEWS["code"] | {"Fact"} and node.name not in words
    return f"{node.name}: {words}" if titled and words else words or node.name


def flagged(nodes: Iterable[NodeShown]) -> tuple[str, ...]:
    """A note if the words of some nodes look like instructions: these carry flags."""
    return remark((node.id, node.flags) for node in nodes)


def show_node(node: NodeVersion, citations: Mapping[int, str]) -> NodeShown:
    """One node; lines of a file are cited as such, with the event beside it.

    The properties of a receipt are left out: `weft answer` shows it.
    """
    event = citations.get(node.event, "")
    in_file = line_citation(node)
    interval = node.interval
    props = {} if node.kind == RECEIPT else dict(node.props)
    return NodeShown(
        id=node.id,
        kind=node.kind,
        name=node.name,
        text=node.text,
        citation=in_file or event,
        valid_from=to_iso(interval.valid_from),
        valid_to=None if interval.valid_to is None else to_iso(interval.valid_to),
        recorded_at=to_iso(node.recorded_at),
        retired_at=None if node.retired_at is None else to_iso(node.retired_at),
        project=node.guard.project,
        scope=node.guard.scope,
        agents=node.guard.agents,
        sensitive=node.guard.sensitive,
        views=views_of(node.kind),
        summary=node.summary,
        props=props,
        source=event if in_file else None,
        flags=flags_of(node.name, node.summary, node.text, props=props),
    )


def show_events(ctx: CallContext, events: Sequence[Event]) -> tuple[EventShown, ...]:
    """Events; the task and the conversation that one came of only as far as the viewer may see those."""
    shown = tuple(_show_erased(ctx, event) if event.rewritten else _show(ctx, event) for event in events)
    if ctx.viewer.operator:
        return shown
    named = list(dict.fromkeys(name for event in events for name in (event.task, event.conversation) if name))
    seen = {
        node.id
        for start in range(0, len(named), MAX_IDS_PER_READ)
        for node in ctx.store.nodes(ctx.viewer, NOW, named[start : start + MAX_IDS_PER_READ])
    }
    return tuple(
        replace(
            each,
            task=each.task if each.task in seen else None,
            conversation=each.conversation if each.conversation in seen else None,
        )
        for each in shown
    )


def _show(ctx: CallContext, event: Event) -> EventShown:
    return show_event(ctx.privacy.event(event), ctx.viewer)


def _show_erased(ctx: CallContext, event: Event) -> EventShown:
    """A rewritten event: that it was erased, if so, and the rest of its payload.

    When and by whom is for internal callers.
    """
    told, shown = ctx.store.rewriting(ctx.viewer, event), _show(ctx, event)
    if told is None or told.why != "erased":
        return shown
    puts = [move.id for move in moves_of(event) if isinstance(move, PutNode)]
    left = any(not each.startswith(ERASED) for each in puts) or not puts
    return replace(
        shown,
        payload=shown.payload if left else None,
        erased=True,
        erased_at=to_iso(told.at) if ctx.viewer.audience == "internal" else None,
        erased_by=told.actor.agent if ctx.viewer.audience == "internal" else None,
    )


def show_event(event: Event, viewer: Viewer) -> EventShown:
    """One event, its payload decoded; receipts in it are for operators only. See `show_events`."""
    payload = None if event.payload is None else decode(event.payload)
    return EventShown(
        citation=event.citation,
        pos=event.pos,
        kind=event.kind,
        agent=event.actor.agent,
        role=event.actor.role,
        recorded_at=to_iso(event.recorded_at),
        occurred_at=None if event.occurred_at is None else to_iso(event.occurred_at),
        known_at=None if event.known_at == event.recorded_at else to_iso(event.known_at),
        payload=payload if viewer.operator else _without_receipts(payload),
        hash=event.hash.hex(),
        caused_by=event.caused_by,
        task=event.task,
        conversation=event.conversation,
        request_id=event.request_id,
        erased=event.payload is None,
    )


def _without_receipts(payload: Any) -> Any:
    """A payload without the contents of receipts, which may name nodes that the viewer may not see."""
    if not isinstance(payload, dict) or not isinstance(payload.get("nodes"), list):
        return payload
    nodes = [
        {name: value for name, value in node.items() if name != "props"}
        if isinstance(node, dict) and node.get("kind") == RECEIPT
        else node
        for node in payload["nodes"]
    ]
    return {**payload, "nodes": nodes}
