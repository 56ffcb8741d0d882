"""Nodes beside the hits of a checkout: joined ones, open tasks, recent events, contradictions.

A few indexed reads, each bounded; none scans the store. A read that fails costs its part only and leaves a note.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from msgspec import Struct

from weft.context.arrange import RelationStep
from weft.context.wording import happened_at
from weft.conversations.turns import LATEST
from weft.core.errors import StoreError
from weft.core.kinds import DERIVED_FROM, PROVENANCE_RELATIONS, RECORD_KINDS, STRUCTURAL_KINDS
from weft.core.types import Find, NodeVersion, When
from weft.fleet.tasks import by_priority
from weft.retrieval.judging.superseded import replaced_among
from weft.retrieval.pipeline import Answer
from weft.runtime.call_context import CallContext
from weft.writing.checks.provenance import DONE, RAISED_DURING, TASK, conversation_key, status_of

WORK: Final = frozenset({"Task", "Feature", "Claim", "Handoff", "Proof"})
NEWEST: Final = 200  # nodes of the project that are read for its recent events
TASKS_READ: Final = 400  # of the project, the newest, that are searched for open ones
OPEN: Final = 12  # tasks at most that are only open: the most urgent
TURNS: Final = 12  # of the session
MOST_RECENT: Final = 40  # of these, the latest
RECENT: Final = 4  # lines
STEPS_OF_ONE: Final = 6
JOINED: Final = 8  # nodes at most
STARTS: Final = 8  # hits whose neighbours are read
COMPACTED: Final = 5  # lines that a compaction adds
CONFLICTS: Final = "contradictions"
REPLACED: Final = "replacements"
# Kinds without content of their own beside a hit.
NOT_JOINED: Final = RECORD_KINDS | STRUCTURAL_KINDS | {"Mention", "Chunk", "Message"}
RECENT_KINDS: Final = ("Digest", "Episode", "Event", "Memory", "Message", "Report")

Read = TypeVar("Read")


class BesideHits(Struct, frozen=True, kw_only=True):
    """Nodes beside the hits: joined ones with the steps to them, open tasks, recent events (oldest first).

    `bound` are the ids of tasks that belong to the hits, the session or the profile; `truncated` says that there are
    more recent events; `conflicts` are pairs of ids; `compacted` are nodes that a compaction for the purpose marked and
    that match the question. `unchecked` says that contradictions or replacements could not be read.
    """

    joined: tuple[tuple[NodeVersion, tuple[RelationStep, ...]], ...] = ()
    tasks: tuple[NodeVersion, ...] = ()
    bound: frozenset[str] = frozenset()
    recent: tuple[NodeVersion, ...] = ()
    truncated: bool = False
    conflicts: tuple[tuple[str, str], ...] = ()
    compacted: tuple[NodeVersion, ...] = ()
    unchecked: bool = False
    notes: tuple[str, ...] = ()


class _Reads:
    """Reads of which each may fail by itself."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.failed: set[str] = set()

    def read(self, what: str, ask: Callable[[], tuple[Read, ...]]) -> tuple[Read, ...]:
        try:
            return ask()
        except StoreError as problem:
            self.failed.add(what)
            self.notes.append(f"{what} could not be read: {problem.message}")
            return ()


def beside_hits(ctx: CallContext, answer: Answer, *, session: str | None, task: str) -> BesideHits:
    """The nodes beside the hits, of the projects and kinds asked for; none for an answer from the log."""
    if answer.degraded:
        return BesideHits()
    when, reads = answer.ask.when, _Reads()
    hits = [candidate.node for candidate in answer.ranked or ()]
    starts = [node.id for node in hits[:STARTS]]
    steps = reads.read(
        "relations of the hits",
        lambda: ctx.store.neighbours(ctx.viewer, when, starts, limit=STEPS_OF_ONE) if starts else (),
    )
    joined: dict[str, tuple[NodeVersion, list[RelationStep]]] = {}
    tasks: dict[str, NodeVersion] = {}
    for step in steps:
        node, rel = step.node, step.edge.rel
        if not (_is_here(answer, node) and _is_wanted(answer, node)) or node.id in starts:
            continue
        if node.kind == TASK and rel in PROVENANCE_RELATIONS:
            tasks[node.id] = node  # it made the hit, or was raised in the same conversation
        elif node.kind not in NOT_JOINED and rel not in PROVENANCE_RELATIONS and (node.text or node.summary):
            way = RelationStep(start=step.start, rel=rel, outward=step.edge.src == step.start)
            joined.setdefault(node.id, (node, []))[1].append(way)
    recent = reads.read("the session", lambda: _turns(ctx, session, when) if session else ())
    recent = recent or reads.read("recent events", lambda: _newest(ctx, answer, when))
    recent = tuple(node for node in recent if _is_wanted(answer, node))
    own = reads.read("tasks", lambda: _tasks(ctx, when, session, task))
    tasks |= {node.id: node for node in own if _is_here(answer, node)}
    bound = frozenset(tasks)
    tasks |= {node.id: node for node in reads.read("open tasks", lambda: _open(ctx, answer, when))}
    pairs = reads.read(CONFLICTS, lambda: _conflicts(ctx, when, [node.id for node in hits]))
    tasks = {each: node for each, node in tasks.items() if _is_wanted(answer, node)}
    ids = [*joined, *tasks, *(node.id for node in recent)]
    gone = reads.read(REPLACED, lambda: tuple(replaced_among(ctx, when, ids)))
    found = {node.id for node in hits}.union(gone)
    marked = reads.read("compacted memories", lambda: _compacted(ctx, answer))
    return BesideHits(
        joined=tuple((node, tuple(ways)) for node, ways in joined.values() if node.id not in found)[:JOINED],
        bound=bound,
        tasks=tuple(node for node in tasks.values() if node.id not in found and is_open(node)),
        recent=tuple(reversed([node for node in recent if node.id not in found][:RECENT])),
        truncated=len(recent) > RECENT,
        conflicts=pairs,
        compacted=marked,
        unchecked=bool(reads.failed & {CONFLICTS, REPLACED}),
        notes=tuple(reads.notes),
    )


def is_open(node: NodeVersion) -> bool:
    """Whether it is work that is not finished."""
    return node.kind in WORK and status_of(node) not in DONE


def _is_here(answer: Answer, node: NodeVersion) -> bool:
    return answer.ask.projects is None or node.guard.project in answer.ask.projects


def _is_wanted(answer: Answer, node: NodeVersion) -> bool:
    return answer.ask.kinds is None or node.kind in answer.ask.kinds


def _compacted(ctx: CallContext, answer: Answer) -> tuple[NodeVersion, ...]:
    """Of the present only: a compaction says nothing of other times."""
    if answer.ask.purpose is None or answer.ask.as_of:
        return ()
    from weft.checkout.compaction.compaction_show import compacted_nodes

    nodes = compacted_nodes(ctx, answer.ask.purpose, answer.ask.query, limit=COMPACTED)
    return tuple(node for node in nodes if _is_here(answer, node) and _is_wanted(answer, node))


def _newest(ctx: CallContext, answer: Answer, when: When) -> tuple[NodeVersion, ...]:
    find = Find(kinds=RECENT_KINDS, projects=answer.ask.projects)
    nodes = ctx.store.find(ctx.viewer, when, find, limit=NEWEST).nodes
    own = [node for node in nodes if DERIVED_FROM not in node.props]
    return tuple(sorted(own, key=happened_at, reverse=True)[:MOST_RECENT])


def _open(ctx: CallContext, answer: Answer, when: When) -> tuple[NodeVersion, ...]:
    """The most urgent of the open tasks."""
    find = Find(kinds=(TASK,), projects=answer.ask.projects)
    found = ctx.store.find(ctx.viewer, when, find, limit=TASKS_READ).nodes
    return tuple(sorted(filter(is_open, found), key=by_priority)[:OPEN])


def _turns(ctx: CallContext, session: str, when: When) -> tuple[NodeVersion, ...]:
    """The last turns of a conversation, newest first."""
    find = Find(kinds=("Message",), id_prefix=f"{conversation_key(ctx, session)}#")
    return ctx.store.find(ctx.viewer, LATEST if when.valid_at is None else when, find, limit=TURNS).nodes


def _tasks(ctx: CallContext, when: When, session: str | None, named: str) -> tuple[NodeVersion, ...]:
    """Tasks raised in the session, and the one that a profile names by its title or id."""
    found: tuple[NodeVersion, ...] = ()
    if session:
        key = conversation_key(ctx, session)
        steps = ctx.store.neighbours(ctx.viewer, when, [key], rels=(RAISED_DURING,), direction="in", limit=20)
        found += tuple(step.node for step in steps)
    if named.strip():
        by_name = ctx.store.find(ctx.viewer, when, Find(names=(named,), kinds=(TASK,)), limit=3).nodes
        found += (*by_name, *(node for node in ctx.store.nodes(ctx.viewer, when, [named]) if node.kind == TASK))
    return found


def _conflicts(ctx: CallContext, when: When, ids: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Pairs among these that contradict each other."""
    if len(ids) < 2:
        return ()
    steps = ctx.store.neighbours(ctx.viewer, when, ids, rels=("CONFLICTS_WITH",), direction="out")
    among = set(ids)
    return tuple(
        sorted({(step.start, step.node.id) for step in steps if step.node.id in among and step.node.id != step.start})
    )
