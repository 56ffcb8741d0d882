"""From what a structured write comes to, to an event in the log: decided from what stands, written once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from weft.append import ERASED_SINCE, Fence, erased_since
from weft.commits import Batch, Changes
from weft.errors import Away, Busy, Conflict
from weft.lexical import name_key
from weft.log.draft import Draft
from weft.log.kinds import payload_of
from weft.log.kinds.graph import Asserted, EdgeAssertion, NodeAssertion
from weft.log.kinds.memory import Remembered as MemoryRemembered
from weft.loom import Loom
from weft.operations.committing import REPEATED, Choice, Committed, decided
from weft.operations.remembered import Remembered
from weft.types import NodeVersion

EdgeKey = tuple[str, str, str]


class Planned(Struct, frozen=True, kw_only=True):
    """What one write comes to: its events, if there is anything to write, and what is said about it.

    `cites` is the position of the event that a caller is pointed at where nothing is written; `keys` and `kinds` are
    the names and words that were looked for, and among what.
    """

    id: str
    drafts: tuple[Draft, ...] = ()
    linked: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    cites: int | None = None
    keys: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset()


class SoFar:
    """What earlier writes of the same commit make: the store does not know of it yet."""

    def __init__(self) -> None:
        self.nodes: dict[str, NodeAssertion] = {}
        self.edges: dict[EdgeKey, EdgeAssertion] = {}
        self.events: dict[str, int] = {}  # nodes that stand, and the event that asserted each
        self.things: dict[tuple[Any, ...], tuple[NodeVersion, ...]] = {}  # by what was asked, as the store gave them
        self._by_key: dict[str, list[str]] = {}

    def add(self, node: NodeAssertion) -> None:
        """A node is made."""
        if node.id not in self.nodes:
            for key in {name_key(node.name), name_key(node.text)} - {""}:
                self._by_key.setdefault(key, []).append(node.id)
        self.nodes[node.id] = node

    def called(self, key: str) -> list[NodeAssertion]:
        """The nodes with this name or these words."""
        return [self.nodes[each] for each in self._by_key.get(key, ())]

    def take(self, planned: Planned) -> None:
        """What a plan makes is there for the plans after it."""
        for draft in planned.drafts:
            payload = draft.payload
            if isinstance(payload, MemoryRemembered):
                nodes: Sequence[NodeAssertion] = (*payload.entities, _main_of(payload))
            else:
                nodes = payload.nodes if isinstance(payload, Asserted) else ()
            for node in nodes:
                self.add(node)
            if isinstance(payload, MemoryRemembered | Asserted):
                self.edges |= {(edge.src, edge.rel, edge.dst): edge for edge in payload.edges}


def write(loom: Loom, plan: Callable[[SoFar], Planned], *, request_id: str | None) -> Remembered:
    """Writes what a plan comes to, so that nobody else writes in between what it was decided from."""

    def decide(pos: int) -> Choice[Planned]:
        planned = plan(SoFar())
        return Choice(told=planned, drafts=planned.drafts, fence=fence_of([planned], pos))

    planned, done = decided(loom, decide, request_id=request_id)
    return answer(loom, planned, done, done.citation if done else None)


def fence_of(plans: Sequence[Planned], pos: int) -> Fence | None:
    """What plans rest on: that nothing of the kinds looked at came to have the names and words looked for.

    And that nobody changed a node that is said again as a whole.
    """
    keys = frozenset[str]().union(*(planned.keys for planned in plans))
    kinds = frozenset[str]().union(*(planned.kinds for planned in plans))
    slots = frozenset(slot for planned in plans for slot in _said_again(planned))
    if not slots and (not keys or not kinds):
        return None

    def concerns(node: NodeVersion) -> bool:
        return node.slot in slots or name_key(node.name) in keys or name_key(node.text) in keys

    return Fence(pos=pos, kinds=tuple(sorted(kinds)) if keys else (), slots=tuple(sorted(slots)), concerns=concerns)


def _said_again(planned: Planned) -> Iterator[str]:
    """The slots of nodes that this asserts; new ones have none yet, and nobody can touch them."""
    for draft in planned.drafts:
        payload = draft.payload
        nodes = payload.entities if isinstance(payload, MemoryRemembered) else ()
        nodes = payload.nodes if isinstance(payload, Asserted) else nodes
        yield from (node.id for node in nodes if node.slot is None)


def answer(loom: Loom, planned: Planned, done: Committed | None, citation: str | None) -> Remembered:
    """What became of a plan; `citation` is that of its first event, if it wrote any."""
    if done is None or not planned.drafts:
        found = {} if planned.cites is None else loom.store.citations(loom.viewer, [planned.cites])
        return Remembered(
            status="duplicate_skip",
            id=planned.id,
            citation=found.get(planned.cites or 0, ""),
            linked=planned.linked,
            notes=(*planned.notes, "it stands like this already"),
        )
    return Remembered(
        status=done.status,
        id=planned.id,
        citation=citation or "",
        linked=planned.linked,
        notes=(*planned.notes, *done.notes),
    )


def answered(loom: Loom, request_id: str | None, is_it: Callable[[Any], str | None]) -> Remembered | None:
    """What became of an earlier call with this request id. `is_it` tells from a payload the id of what it wrote.

    The second time other things stand, so the same call would come to other events. Raises Conflict where the id was
    used for something else.
    """
    if request_id is None:
        return None
    try:
        found = loom.store.commit(
            loom.writer.account, lambda view: Batch(commit=None, events=view.request(request_id), changes=Changes())
        )
    except (Busy, Away):
        return None  # the write that follows meets the same, and says what becomes of it
    if not found.events:
        return None
    event = found.events[0]
    gone = erased_since(loom.store, loom.writer.account, event)
    payload = None if gone else payload_of(event)
    node_id = "" if payload is None else is_it(payload)  # what was erased since cannot be compared
    seen = loom.store.events(loom.viewer, session=event.session, after_seq=event.seq - 1, limit=1)
    theirs = event.actor != loom.writer.actor and not (seen and seen[0].pos == event.pos)
    if node_id is None or theirs:  # whose it was, and what, is not for others to learn
        raise Conflict(
            f"request id {request_id!r} was used for something else", hint="use a new request id for a new request"
        )
    notes = (REPEATED, ERASED_SINCE) if gone else (REPEATED,)
    return Remembered(status="duplicate_skip", id=node_id, citation=event.citation, notes=notes)


def asserts(payload: Any, kind: str, words: str) -> str | None:
    """The id of the node of a kind with this name or text, if the payload asserts one."""
    nodes = payload.nodes if isinstance(payload, Asserted) else ()
    if isinstance(payload, MemoryRemembered):
        nodes = (_main_of(payload),)
    return next((node.id for node in nodes if node.kind == kind and words in (node.name, node.text)), None)


def _main_of(payload: MemoryRemembered) -> NodeAssertion:
    fields: Mapping[str, Any] = asdict(payload)
    names = set(NodeAssertion.__struct_fields__) - {"kind"}
    return NodeAssertion(kind=payload.node_kind, **{name: fields[name] for name in names})
