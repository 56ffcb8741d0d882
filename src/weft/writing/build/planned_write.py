"""Structured writes as plans: what each writes, joined into commits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from weft.append.append import ERASED_SINCE, Fence, erased_since, request_id_reused
from weft.core.commits import Batch, Changes
from weft.core.errors import Away, Busy
from weft.core.types import NodeVersion
from weft.log.draft import Draft
from weft.log.kinds import payload_of
from weft.log.kinds.graph import Asserted, EdgeAssertion, NodeAssertion
from weft.log.kinds.memory import Remembered as MemoryRemembered
from weft.runtime.call_context import CallContext
from weft.text.lexical import name_key
from weft.writing.build.commit import REPEATED, Committed, WriteDecision, decide_and_commit
from weft.writing.write_contract import WriteResult

EdgeKey = tuple[str, str, str]


class OwnCommit(Exception):
    """A write that cannot share a commit with the earlier ones."""


class PlannedWrite(Struct, frozen=True, kw_only=True):
    """One write: its events, if there is anything to write, and notes on it.

    `cites` is the position of the event to cite if nothing is written. `keys` and `kinds` are the names and texts that
    were looked up, and among which kinds of nodes. Without `depends` it is right whatever is current, and may wait.
    """

    id: str
    drafts: tuple[Draft, ...] = ()
    linked: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    cites: int | None = None
    keys: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset()
    depends: bool = True


class BatchState:
    """Nodes and edges of earlier writes of the same commit, which the store does not know yet."""

    def __init__(self) -> None:
        self.nodes: dict[str, NodeAssertion] = {}
        self.edges: dict[EdgeKey, EdgeAssertion] = {}
        self.events: dict[str, int] = {}  # existing nodes, and the event that asserted each
        self.things: dict[tuple[Any, ...], tuple[NodeVersion, ...]] = {}  # results of name lookups
        self.texts: list[MemoryRemembered] = []
        self._by_key: dict[str, list[str]] = {}

    def add(self, node: NodeAssertion) -> None:
        """Adds a node."""
        if node.id not in self.nodes:
            for key in {name_key(node.name), name_key(node.text)} - {""}:
                self._by_key.setdefault(key, []).append(node.id)
        self.nodes[node.id] = node

    def called(self, key: str) -> list[NodeAssertion]:
        """The nodes with this name or text."""
        return [self.nodes[each] for each in self._by_key.get(key, ())]

    def take(self, planned: PlannedWrite) -> None:
        """Makes the nodes and edges of a plan visible to later plans."""
        for draft in planned.drafts:
            payload = draft.payload
            if isinstance(payload, MemoryRemembered):
                nodes: Sequence[NodeAssertion] = (*payload.entities, _main_of(payload))
                self.texts.append(payload)
            else:
                nodes = payload.nodes if isinstance(payload, Asserted) else ()
            for node in nodes:
                self.add(node)
            if isinstance(payload, MemoryRemembered | Asserted):
                self.edges |= {(edge.src, edge.rel, edge.dst): edge for edge in payload.edges}


def write_planned(
    ctx: CallContext, plan: Callable[[BatchState], PlannedWrite], *, request_id: str | None
) -> WriteResult:
    """Decides and writes a plan atomically."""

    def decide(pos: int) -> WriteDecision[PlannedWrite]:
        planned = plan(BatchState())
        return WriteDecision(answer=planned, drafts=planned.drafts, fence=plan_fence([planned], pos))

    planned, done = decide_and_commit(ctx, decide, request_id=request_id)
    return planned_result(ctx, planned, done, done.citation if done else None)


def plan_fence(plans: Sequence[PlannedWrite], pos: int) -> Fence | None:
    """The condition that no node of these kinds got one of these names or texts, and that no node that is asserted
    again as a whole was changed.
    """
    keys = frozenset[str]().union(*(planned.keys for planned in plans))
    kinds = frozenset[str]().union(*(planned.kinds for planned in plans))
    slots = frozenset(slot for planned in plans if planned.depends for slot in _said_again(planned))
    if not slots and (not keys or not kinds):
        return None

    def concerns(node: NodeVersion) -> bool:
        return node.slot in slots or name_key(node.name) in keys or name_key(node.text) in keys

    return Fence(pos=pos, kinds=tuple(sorted(kinds)) if keys else (), slots=tuple(sorted(slots)), concerns=concerns)


def _said_again(planned: PlannedWrite) -> Iterator[str]:
    """The slots of asserted nodes that may exist already; new nodes get fresh slots."""
    for draft in planned.drafts:
        payload = draft.payload
        nodes = payload.entities if isinstance(payload, MemoryRemembered) else ()
        nodes = payload.nodes if isinstance(payload, Asserted) else nodes
        yield from (node.id for node in nodes if node.slot is None)


def planned_result(
    ctx: CallContext, planned: PlannedWrite, done: Committed | None, citation: str | None
) -> WriteResult:
    """The result of a plan; `citation` is that of its first event, if it wrote any."""
    if done is None or not planned.drafts:
        found = {} if planned.cites is None else ctx.store.citations(ctx.viewer, [planned.cites])
        return WriteResult(
            status="duplicate_skip",
            id=planned.id,
            citation=found.get(planned.cites or 0, ""),
            linked=planned.linked,
            notes=(*planned.notes, "nothing was written: it is stored like this already"),
        )
    return WriteResult(
        status=done.status,
        id=planned.id,
        citation=citation or "",
        linked=planned.linked,
        notes=(*planned.notes, *done.notes),
    )


def earlier_result(ctx: CallContext, request_id: str | None, is_it: Callable[[Any], str | None]) -> WriteResult | None:
    """The result of an earlier call with this request id. `is_it` returns the id of what a payload wrote, or None if it
    is something else.

    A repeated call would produce other events, since other things are known by now. Raises Conflict if the id was used
    for a different request.
    """
    if request_id is None:
        return None
    try:
        found = ctx.store.commit(
            ctx.writer.account, lambda view: Batch(commit=None, events=view.request(request_id), changes=Changes())
        )
    except (Busy, Away):
        return None  # the write that follows meets the same error and handles it
    if not found.events:
        return None
    event = found.events[0]
    gone = erased_since(ctx.store, ctx.writer.account, event)
    payload = None if gone else payload_of(event)
    node_id = "" if payload is None else is_it(payload)  # an erased payload cannot be compared
    seen = ctx.store.events(ctx.viewer, session=event.session, after_seq=event.seq - 1, limit=1)
    theirs = event.actor != ctx.writer.actor and not (seen and seen[0].pos == event.pos)
    if node_id is None or theirs:  # nothing is revealed about requests of others
        raise request_id_reused(request_id)
    notes = (REPEATED, ERASED_SINCE) if gone else (REPEATED,)
    return WriteResult(status="duplicate_skip", id=node_id, citation=event.citation, notes=notes)


def asserts(payload: Any, kind: str, words: str) -> str | None:
    """The id of the node of a kind with this name or text that the payload asserts, if any."""
    nodes = payload.nodes if isinstance(payload, Asserted) else ()
    if isinstance(payload, MemoryRemembered):
        nodes = (_main_of(payload),)
    return next((node.id for node in nodes if node.kind == kind and words in (node.name, node.text)), None)


def _main_of(payload: MemoryRemembered) -> NodeAssertion:
    fields: Mapping[str, Any] = asdict(payload)
    names = set(NodeAssertion.__struct_fields__) - {"kind"}
    return NodeAssertion(kind=payload.node_kind, **{name: fields[name] for name in names})
